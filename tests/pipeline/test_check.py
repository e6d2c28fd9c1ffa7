"""`check` compares every output on disk with the configuration."""

import shutil

from learning_dynamics.pipeline.commands import cli
from tests.pipeline.conftest import PAPER

RUN = "results/toy/runs/descent.npz"
SLOW, FAST = "results/toy/metrics/slow.parquet", "results/toy/metrics/fast.parquet"


def test_files_that_are_not_what_they_should_be_are_named(workspace):
    path = workspace.folder.joinpath
    shutil.copy2(path(SLOW), path(FAST))
    path(SLOW).write_bytes(path(SLOW).read_bytes()[:100])
    path("results/toy/metrics/descent.parquet").write_bytes(b"")
    path("results/toy/data/starts.npz").write_text("somebody's own")
    path("results/toy/parts.parquet").unlink()
    path("results/toy/parts.parquet").mkdir()
    flipped = (RUN, "figures/toy/decay.png")
    for file in flipped:
        content = bytearray(path(file).read_bytes())
        content[len(content) // 2] ^= 1
        path(file).write_bytes(bytes(content))
    checked = workspace.stage("check")
    assert checked.returncode == 1
    spoilt = {"results/toy/metrics/descent.parquet", "results/toy/data/starts.npz", "results/toy/parts.parquet"}
    assert {line.split(": ")[1] for line in checked.stderr.splitlines()} == spoilt | {SLOW, FAST, *flipped}
    assert "Traceback" not in checked.stderr


def test_a_drawing_that_was_cut_short_is_named(workspace):
    for kind in ("svg", "pdf"):  # one has its fingerprint at the beginning
        file = workspace.folder / f"figures/toy/growth.{kind}"
        file.write_bytes(file.read_bytes()[:-20])
        checked = workspace.stage("check")
        assert checked.stderr == f"error: figures/toy/growth.{kind}: is cut short; delete it and run snakemake again\n"
        assert "figures/toy/growth.pdf" in workspace.would_run()
        workspace.snakemake()


def test_an_edited_formula_and_an_edited_setting_make_stale(workspace):
    workspace.edit(f"{PAPER}/growth/theory.py", "(1 + rate)", "(1.0 + rate)")
    workspace.configure("runs", "descent", "seeds", value=6)
    stale = {line.split(": ")[1] for line in workspace.stage("check").stderr.splitlines()}
    assert stale == {
        *(f"results/toy/metrics/{name}.parquet" for name in ("slow", "fast", "slow--steps-20", "descent")),
        "results/toy/runs/descent.npz",
        *(f"results/toy/{name}.parquet" for name in ("claims", "parts", "again")),
        *(f"figures/toy/{name}.{kind}" for name in ("decay", "growth") for kind in ("pdf", "png", "svg")),
        *("results/claims.parquet", "results/verdicts.txt", "figures/index.html", "figures/toy.html"),
    }


def test_files_of_others_are_counted(workspace):
    for path in ("results/toy/notes.txt", "figures/toy/mine.png", "results/bench.csv"):
        (workspace.folder / path).write_text("somebody's own\n")
    checked = workspace.stage("check")
    assert (checked.returncode, checked.stdout) == (0, "22 outputs checked, 0 stale or damaged; 3 other files\n")


def test_from_another_folder_nothing_is_said_to_be_right(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for command in ("check", "summary"):
        assert cli.main([command]) == 1
        assert "neither results nor figures lie here; go to the project's folder: cd " in capsys.readouterr().err
