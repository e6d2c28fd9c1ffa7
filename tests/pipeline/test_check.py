"""`check` compares every output on disk with the configuration."""

import shutil
import subprocess
import sys

from tests.pipeline.conftest import PAPER

RUN = "results/toy/runs/descent.npz"
SLOW, FAST = "results/toy/metrics/slow.parquet", "results/toy/metrics/fast.parquet"


def test_files_that_are_not_what_they_should_be_are_named(workspace):
    path = workspace.folder.joinpath
    shutil.copy2(path(SLOW), path(FAST))
    path(SLOW).write_bytes(path(SLOW).read_bytes()[:100])
    path("results/toy/metrics/descent.parquet").write_bytes(b"")
    path("results/toy/data/starts.npz").write_text("somebody's own")
    path("results/toy/checks.parquet").unlink()
    path("results/toy/checks.parquet").mkdir()
    cut = ("figures/toy/growth.svg", "figures/toy/growth.pdf")  # one has its fingerprint at the beginning
    for file in cut:
        path(file).write_bytes(path(file).read_bytes()[:-20])
    flipped = (RUN, "figures/toy/decay.png")
    for file in flipped:
        content = bytearray(path(file).read_bytes())
        content[len(content) // 2] ^= 1
        path(file).write_bytes(bytes(content))
    checked = workspace.cli("check")
    assert checked.returncode == 1
    spoilt = {"results/toy/metrics/descent.parquet", "results/toy/data/starts.npz", "results/toy/checks.parquet"}
    assert {line.split(": ")[1] for line in checked.stderr.splitlines()} == spoilt | {SLOW, FAST, *flipped, *cut}
    for file in cut:
        assert f"error: {file}: is cut short; delete it and run snakemake again\n" in checked.stderr, file
    assert "Traceback" not in checked.stderr


def test_an_edited_formula_and_an_edited_setting_make_stale(workspace):
    workspace.edit(f"{PAPER}/growth/theory.py", "(1 + rate)", "(1.0 + rate)")
    workspace.configure("runs", "descent", "seeds", value=6)
    checked = workspace.cli("check")
    stale = {line.split(": ")[1] for line in checked.stderr.splitlines()}
    assert stale == {
        *(f"results/toy/metrics/{name}.parquet" for name in ("slow", "fast", "slow--steps-20", "descent")),
        "results/toy/runs/descent.npz",
        *(f"results/toy/{name}.parquet" for name in ("claims", "checks", "variations")),
        *(f"figures/toy/{name}.{kind}" for name in ("decay", "growth") for kind in ("pdf", "png", "svg")),
        *("results/claims.parquet", "results/verdicts.txt", "figures/index.html", "figures/toy.html"),
    }


def test_a_folder_without_outputs_is_said(workspace):
    below = workspace.folder / "below"
    below.mkdir()
    environment = workspace.environment | {"PYTHONPATH": str(workspace.folder / "src")}
    command = [sys.executable, "-m", "learning_dynamics", "check"]
    checked = subprocess.run(command, cwd=below, env=environment, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert "0 outputs checked" in checked.stdout
    assert f"none of this configuration in {below / 'results'}" in checked.stdout
