"""Which files runs leave on disk: no data set twice, and no trajectory that a run does not keep."""

import re

import numpy as np

from learning_dynamics.pipeline.store.arrays import load_arrays
from tests.pipeline.conftest import PAPER

RUNS = {name: f"results/toy/runs/{name}.npz" for name in ("slow", "fast", "slow--steps-20")}


def in_scratch(runs):
    """The files of runs whose files are deleted once they are measured."""
    return {run.replace("/runs/", "/scratch/") for run in runs}


def test_files_go_once_they_are_measured_and_nothing_is_made_again(clean):
    clean.configure("runs", "slow", "temporary", value=True)
    clean.snakemake()
    assert not list(clean.folder.glob("results/toy/scratch/*"))
    assert (clean.folder / "results/toy/runs/descent.npz").exists()
    assert (clean.folder / "results/toy/metrics/slow.parquet").exists()
    assert "Nothing to be done" in clean.snakemake("--dry-run").stdout
    assert clean.stage("check").returncode == 0
    # who measures otherwise needs the run again
    clean.configure("runs", "slow", "measure", value={"every": 2})
    assert in_scratch(RUNS.values()) <= clean.would_run()


def test_a_run_does_not_repeat_the_data_that_its_metrics_are_given(clean):
    # the run puts its data among its constants, and its metrics take them as an argument
    runs, metrics = f"{PAPER}/growth/runs.py", f"{PAPER}/growth/metrics.py"
    clean.edit(runs, '{"x": np.array(states).T})', '{"x": np.array(states).T}, dict(data))')
    clean.edit(metrics, "import Trajectory", "import Arrays, Trajectory")
    clean.edit(metrics, "trajectory: Trajectory, *", "trajectory: Trajectory, data: Arrays, *")
    clean.edit(metrics, "x[:, 0])", 'data["x"])')
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


WITHOUT_PROFILE = ("--workflow-profile", "none")  # Snakemake's own output, which has resources and priorities


def test_jobs_that_share_a_gpu_are_given_more_time(clean):
    clean.configure("runs", "slow", "resources", value={"gpu": 1, "gpu_mb": 3000, "runtime": 10})
    planned = clean.snakemake("--dry-run", RUNS["slow"], "--config", "sharing=3", *WITHOUT_PROFILE).stdout
    (asked,) = re.findall(r"output: results/toy/runs/slow\.npz.*?resources: ([^\n]*)", planned, re.DOTALL)
    assert {"runtime=30", "gpu=1", "gpu_mb=3000"} <= set(asked.split(", "))
    (alone,) = re.findall(r"output: results/toy/data/starts\.npz.*?resources: ([^\n]*)", planned, re.DOTALL)
    assert "runtime=10" in alone.split(", ")


def test_a_run_is_measured_before_the_next_one_begins(clean):
    planned = clean.snakemake("--dry-run", "toy_metrics", *WITHOUT_PROFILE).stdout
    blocks = re.findall(r"^rule (\w+):\n((?:    .*\n)*)", planned, re.MULTILINE)
    ranks = {rule: int(next(iter(re.findall(r"priority: (\d+)", block)), 0)) for rule, block in blocks}  # 0 is not said
    assert ranks["metrics"] > ranks["run"] == ranks["data"]
