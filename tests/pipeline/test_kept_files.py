"""Which files runs leave on disk: no data set twice, and no trajectory that a run does not keep; when jobs run."""

import json
import re

import numpy as np

from learning_dynamics.pipeline.store.arrays import load_arrays
from tests.pipeline.conftest import PAPER

RUNS = {name: f"results/toy/runs/{name}.npz" for name in ("slow", "fast", "slow--steps-20")}


def in_scratch(runs):
    """The files of runs whose files are deleted once they are measured."""
    return {run.replace("/runs/", "/scratch/") for run in runs}


def test_a_temporary_run_goes_once_it_is_measured_and_is_not_made_again(clean):
    clean.configure("runs", "slow", "temporary", value=True)
    clean.snakemake()
    assert not list(clean.folder.glob("results/toy/scratch/*"))
    assert (clean.folder / "results/toy/runs/descent.npz").exists()
    assert (clean.folder / "results/toy/metrics/slow.parquet").exists()
    assert "Nothing to be done" in clean.snakemake("--dry-run").stdout
    assert clean.cli("check").returncode == 0
    # who measures otherwise needs the run again, `fast`, which extends it, and the run that the claim varies
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
    code = """
import json
import learning_dynamics as ld

run = ld.trajectory("toy", "slow")
table = ld.measure("toy", "slow", run)
assert table.equals(ld.table("toy", "slow"))
assert ld.measure("toy", "slow", ld.simulate("toy", "slow")).equals(table)
print(json.dumps(run.constants["x"].tolist()))
"""
    read = clean.python("-c", code)
    assert read.returncode == 0, read.stderr
    np.testing.assert_allclose(json.loads(read.stdout), starts["x"])


WITHOUT_PROFILE = ("--workflow-profile", "none")  # Snakemake's own output, which has resources and priorities


def test_jobs_that_share_a_gpu_are_given_more_time(clean):
    clean.configure("runs", "slow", "resources", value={"gpu": 1, "gpu_mb": 3000, "runtime": 10})
    planned = clean.snakemake("--dry-run", RUNS["slow"], "--config", "sharing=3", *WITHOUT_PROFILE).stdout
    (asked,) = re.findall(r"output: results/toy/runs/slow\.npz.*?resources: ([^\n]*)", planned, re.DOTALL)
    assert {"runtime=30", "gpu=1", "gpu_mb=3000"} <= set(asked.split(", "))
    (alone,) = re.findall(r"output: results/toy/data/starts\.npz.*?resources: ([^\n]*)", planned, re.DOTALL)
    assert "runtime=10" in alone.split(", ")


def test_measuring_has_priority_over_the_next_run(clean):
    """So that few trajectories of temporary runs are there at a time."""
    clean.configure("runs", "slow", "temporary", value=True)
    planned = clean.snakemake("--dry-run", "toy_metrics", *WITHOUT_PROFILE).stdout
    ranks = {}
    for rule, block in re.findall(r"^rule (\w+):\n((?:    .*\n)*)", planned, re.MULTILINE):
        rank = re.search(r"priority: (\d+)", block)
        ranks[rule] = int(rank[1]) if rank else 0  # a priority of 0 is not printed
    assert ranks["metrics"] > ranks["run"] == ranks["scratch_run"] == ranks["data"]
