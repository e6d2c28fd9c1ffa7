"""What runs leave on disk: counted before any starts, no data set twice, and gone once measured where that is asked."""

import re

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.store.arrays import load_arrays
from learning_dynamics.pipeline.study import disk_space
from tests.pipeline.conftest import PAPER

RUNS = {name: f"results/toy/runs/{name}.npz" for name in ("slow", "fast", "slow--steps-20")}
ON_IMAGES = (
    ("growth/runs.py", '{"x": np.array(states).T})', '{"x": np.array(states).T}, dict(data))'),
    ("growth/metrics.py", "trajectory: Trajectory, *", "trajectory: Trajectory, data: Arrays, *"),
    ("growth/metrics.py", "import Trajectory", "import Arrays, Trajectory"),
    ("growth/metrics.py", "x[:, 0])", 'data["x"])'),
)


@pytest.mark.parametrize(
    ("sizes", "at_once", "expected"),
    [
        ([(5, True), (3, True)], 1, 5 + 3 + 5),  # both files, and one resume point
        ([(5, False), (3, False)], 1, 2 * 5),  # a file that goes, and its resume point
        ([(5, False), (3, False)], 2, 2 * 5 + 2 * 3),
        ([(5, True), (3, False)], 1, 5 + 6),
        ([(5, True), (3, False)], 9, 5 + 5 + 6),
    ],
)
def test_what_is_on_disk_at_the_same_time(sizes, at_once, expected):
    assert disk_space.max_disk_use(sizes, at_once) == expected


@pytest.mark.parametrize(("limits", "fits"), [([4, None, 1], True), ([4, None, None], False), ([4, 1, None], True)])
def test_the_disk_is_held_against_what_is_under_way_at_once(limits, fits, configured, tmp_path, monkeypatch):
    block = {"kind": "growth.growth", "data": "starts", "rate": 0.01, "steps": 40, "measure": {"every": 1}}
    project = configured("runs.slow", block | {"keep": False, "resources": {"disk_mb": 4000}})
    monkeypatch.setattr(disk_space.shutil, "disk_usage", lambda folder: type("", (), {"free": 9 * 10**9}))
    runs = [(project, "toy", name) for name in ("slow", "fast", "slow--steps-20")]  # `fast` is like `slow`
    if fits:
        disk_space.check_disk_space(runs, limits, tmp_path)
    else:
        with pytest.raises(ProjectError, match=r"3 runs take up to 24\.0 GB of disk, and 9\.0 are free"):
            disk_space.check_disk_space(runs, limits, tmp_path)


def test_nothing_starts_that_the_disk_cannot_hold(clean):
    clean.configure("runs", "slow", "resources", value={"disk_mb": 10**9})
    ended = clean.snakemake(check=False)
    assert ended.returncode == 1
    assert "3 runs take up to" in ended.stderr
    assert not list(clean.folder.glob("results/toy/*/*.npz"))


def test_files_go_once_they_are_measured_and_nothing_is_made_again(clean):
    clean.configure("runs", "slow", "keep", value=False)
    clean.snakemake()
    assert not any((clean.folder / run).exists() for run in RUNS.values())
    assert (clean.folder / "results/toy/runs/descent.npz").exists()
    assert (clean.folder / "results/toy/metrics/slow.parquet").exists()
    assert "Nothing to be done" in clean.snakemake("--dry-run").stdout
    assert clean.stage("check").returncode == 0
    # who measures otherwise needs the run again
    clean.configure("runs", "slow", "measure", value={"every": 2})
    assert set(RUNS.values()) <= clean.would_run()


def test_a_run_does_not_repeat_the_data_that_its_metrics_are_given(clean):
    for file, old, new in ON_IMAGES:
        clean.edit(f"{PAPER}/{file}", old, new)
    clean.snakemake()
    arrays, record = load_arrays(clean.folder / RUNS["slow"])
    assert set(arrays) == {"time", "series/x"}
    starts, made = load_arrays(clean.folder / "results/toy/data/starts.npz")
    assert record["data"] == made["fingerprint"]
    read = clean.python(
        "-c",
        "import learning_dynamics as ld; run = ld.trajectory('toy', 'slow'); print(list(run.constants['x']));"
        "table = ld.measure('toy', 'slow', run); assert table.equals(ld.table('toy', 'slow'));"
        "assert ld.measure('toy', 'slow', ld.simulate('toy', 'slow')).equals(table)",
    )
    assert read.returncode == 0, read.stderr
    np.testing.assert_allclose(np.array(eval(read.stdout, {"np": np})), starts["x"])
    planned = clean.snakemake("--dry-run", "--forceall", "-p", "results/toy/metrics/slow.parquet").stdout
    (command,) = re.findall("python -m learning_dynamics metrics .*", planned)
    assert "--data results/toy/data/starts.npz" in command
    without = command.replace("--data results/toy/data/starts.npz", "").split(">")[0]
    ended = clean.run("sh", "-c", f"export PYTHONPATH=src; {without}")
    assert "--data: `growth.growth` measures on the run's data set; name its .npz" in ended.stderr


def test_jobs_that_share_a_gpu_are_given_more_time(clean):
    clean.configure("runs", "slow", "resources", value={"gpu": 1, "gpu_mb": 3000, "runtime": 10})
    planned = clean.snakemake("--dry-run", RUNS["slow"], "--config", "sharing=3").stdout
    (asked,) = re.findall(r"output: results/toy/runs/slow\.npz.*?resources: ([^\n]*)", planned, re.DOTALL)
    assert {"runtime=30", "gpu=1", "gpu_mb=3000"} <= set(asked.split(", "))
    (alone,) = re.findall(r"output: results/toy/data/starts\.npz.*?resources: ([^\n]*)", planned, re.DOTALL)
    assert "runtime=10" in alone.split(", ")
