"""The command `check` compares every output on disk with the configuration, and names those that do not fit."""

import shutil
import subprocess
import sys

import pytest

from tests.pipeline.conftest import PAPER

SLOW, FAST = "results/toy/metrics/slow.parquet", "results/toy/metrics/fast.parquet"


def files_named(checked):
    """Return the files of which `check` says that something is wrong, one a line: `error: FILE: what`."""
    return {line.split(": ")[1] for line in checked.stderr.splitlines()}


def replace_by_another_run(path):
    shutil.copy2(path.with_name("slow.parquet"), path)


def cut_in_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def cut_its_end(path):
    path.write_bytes(path.read_bytes()[:-20])


def empty(path):
    path.write_bytes(b"")


def overwrite(path):
    path.write_text("somebody's own")


def replace_by_a_folder(path):
    path.unlink()
    path.mkdir()


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


SPOILERS = {
    FAST: replace_by_another_run,  # by `SLOW`, while that is whole
    SLOW: cut_in_half,
    "results/toy/metrics/descent.parquet": empty,
    "results/toy/data/starts.npz": overwrite,
    "results/toy/checks.parquet": replace_by_a_folder,
    "results/toy/runs/descent.npz": flip_a_bit,
    "figures/toy/decay.png": flip_a_bit,
    # both have their fingerprint at the beginning
    "figures/toy/growth.svg": cut_its_end,
    "figures/toy/growth.pdf": cut_its_end,
}


@pytest.fixture(scope="module")
def checked_spoilt(built, tmp_path_factory):
    """What `check` says of the made-up paper, of whose outputs some are spoilt."""
    workspace = built.copy(tmp_path_factory.mktemp("spoilt") / "project")
    for file, spoil in SPOILERS.items():
        spoil(workspace.folder / file)
    return workspace.cli("check")


@pytest.mark.parametrize(
    "file", [pytest.param(file, id=f"{spoil.__name__} {file}") for file, spoil in SPOILERS.items()]
)
def test_a_spoilt_output_is_named(checked_spoilt, file):
    assert file in files_named(checked_spoilt)


def test_only_spoilt_outputs_are_named_a_line_each(checked_spoilt):
    assert checked_spoilt.returncode == 1
    assert files_named(checked_spoilt) == set(SPOILERS)
    assert len(checked_spoilt.stderr.splitlines()) == len(SPOILERS)


@pytest.mark.parametrize("file", [file for file, spoil in SPOILERS.items() if spoil is cut_its_end])
def test_a_drawing_without_its_end_is_called_cut_short(checked_spoilt, file):
    assert f"error: {file}: is cut short; delete it and run snakemake again\n" in checked_spoilt.stderr


# all that is made from the claims of the paper
FROM_CLAIMS = {
    *(f"results/toy/{name}.parquet" for name in ("claims", "checks", "variations")),
    *("results/claims.parquet", "results/verdicts.txt", "figures/index.html", "figures/toy.html"),
}


def pictures(name):
    """Return the files of a figure."""
    return {f"figures/toy/{name}.{kind}" for kind in ("pdf", "png", "svg")}


def test_an_edited_formula_makes_all_stale_that_is_made_with_it(workspace):
    workspace.edit(f"{PAPER}/growth/theory.py", "(1 + rate)", "(1.0 + rate)")
    # metrics compare with this theory, and `slow--steps-20` is the run that `robustness:` adds; runs do not use it
    metrics = {f"results/toy/metrics/{name}.parquet" for name in ("slow", "fast", "slow--steps-20")}
    assert files_named(workspace.cli("check")) == metrics | pictures("growth") | FROM_CLAIMS


def test_an_edited_setting_makes_all_stale_that_is_made_with_it(workspace):
    workspace.configure("runs", "descent", "seeds", value=6)
    run = {"results/toy/runs/descent.npz", "results/toy/metrics/descent.parquet"}
    assert files_named(workspace.cli("check")) == run | pictures("decay") | FROM_CLAIMS


def test_in_a_folder_without_outputs_check_says_where_it_looked(workspace):
    below = workspace.folder / "below"
    below.mkdir()
    environment = workspace.environment | {"PYTHONPATH": str(workspace.folder / "src")}
    command = [sys.executable, "-m", "learning_dynamics", "check"]
    checked = subprocess.run(command, cwd=below, env=environment, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.startswith("0 outputs checked")
    assert f"none of this configuration in {below / 'results'}" in checked.stdout
