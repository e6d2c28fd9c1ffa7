"""Everything that lies there is held against the configuration."""

from __future__ import annotations

import shutil

import pytest

from tests.pipeline.conftest import PAPER

SLOW, FAST = "results/toy/metrics/slow.parquet", "results/toy/metrics/fast.parquet"


def test_what_was_built_is_of_this_configuration(built):
    checked = built.stage("check")
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout == "17 outputs in results and figures checked, 0 stale or foreign\n"


def test_nothing_built_is_nothing_stale(clean):
    assert clean.stage("check").stdout.startswith("0 outputs in results and figures checked")


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda folder: shutil.copy2(folder / SLOW, folder / FAST), [FAST]),
        (lambda folder: (folder / SLOW).write_bytes((folder / SLOW).read_bytes()[:100]), [SLOW]),
        (lambda folder: (folder / SLOW).write_bytes(b""), [SLOW]),
        (lambda folder: (folder / "results/toy/data/starts.npz").write_text("x"), ["results/toy/data/starts.npz"]),
        (lambda folder: ((folder / SLOW).unlink(), (folder / SLOW).mkdir()), [SLOW]),
    ],
    ids=["swapped", "truncated", "empty", "foreign", "folder"],
)
def test_files_that_are_not_what_they_should_be_are_named(workspace, spoil, named):
    spoil(workspace.folder)
    checked = workspace.stage("check")
    assert checked.returncode == 1
    assert [line.split(": ")[1] for line in checked.stderr.splitlines()] == named
    assert "Traceback" not in checked.stderr


def test_an_edited_formula_and_an_edited_setting_make_stale(workspace):
    workspace.edit(f"{PAPER}/growth/theory.py", "(1 + rate)", "(1.0 + rate)")
    workspace.configure("runs", "descent", "seeds", value=6)
    stale = {line.split(": ")[1] for line in workspace.stage("check").stderr.splitlines()}
    assert stale == {
        *(f"results/toy/metrics/{name}.parquet" for name in ("slow", "fast", "slow--steps-20", "descent")),
        "results/toy/runs/descent.npz",
        *(f"results/toy/{name}.parquet" for name in ("claims", "parts", "variants", "sensitivity")),
        *(f"figures/toy/{name}.{kind}" for name in ("decay", "growth") for kind in ("pdf", "png")),
    }
