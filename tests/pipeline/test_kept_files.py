"""Which files runs leave on disk, and in which order and for how long jobs may run.

A run does not repeat its data set, and a run with `temporary: true` leaves no file once it is measured.
"""

import re

import pytest

from learning_dynamics.pipeline.store.arrays import load_arrays
from tests.pipeline.conftest import PAPER, toy

SLOW = "results/toy/runs/slow.npz"


@pytest.fixture(scope="module")
def temporary(tmp_path_factory):
    """The made-up paper, built with a temporary run; not to be changed."""
    workspace = toy(tmp_path_factory.mktemp("temporary") / "project")
    workspace.configure("runs", "slow", "temporary", value=True)
    workspace.snakemake()
    return workspace


def test_the_file_of_a_temporary_run_is_deleted_once_it_is_measured(temporary):
    assert not list(temporary.folder.glob("results/toy/scratch/*"))
    assert (temporary.folder / "results/toy/metrics/slow.parquet").exists()


def test_the_files_of_other_runs_are_kept(temporary):
    assert (temporary.folder / "results/toy/runs/descent.npz").exists()


def test_a_temporary_run_whose_file_is_gone_is_up_to_date(temporary):
    assert "Nothing to be done" in temporary.snakemake("--dry-run").stdout
    assert temporary.cli("check").returncode == 0


def test_temporary_runs_are_made_again_to_be_measured_otherwise(temporary, tmp_path):
    workspace = temporary.copy(tmp_path / "project")
    workspace.configure("runs", "slow", "measure", value={"every": 2})
    # `fast` extends `slow`; `slow--steps-20` is `slow` with the other number of steps that `robustness:` has for it
    again = {f"results/toy/scratch/{run}.npz" for run in ("slow", "fast", "slow--steps-20")}
    assert again <= workspace.would_run()


@pytest.fixture(scope="module")
def with_data(tmp_path_factory):
    """The made-up paper, built with a run that has its data among its constants, which its metrics take as `data`."""
    workspace = toy(tmp_path_factory.mktemp("data") / "project")
    runs, metrics = f"{PAPER}/growth/runs.py", f"{PAPER}/growth/metrics.py"
    workspace.edit(runs, '{"x": np.array(states).T})', '{"x": np.array(states).T}, dict(data))')
    workspace.edit(metrics, "import Trajectory", "import Arrays, Trajectory")
    workspace.edit(metrics, "trajectory: Trajectory, *", "trajectory: Trajectory, data: Arrays, *")
    workspace.edit(metrics, "x[:, 0])", 'data["x"])')
    workspace.snakemake()
    return workspace


def test_the_file_of_a_run_does_not_repeat_its_data_but_names_their_fingerprint(with_data):
    arrays, record = load_arrays(with_data.folder / SLOW)
    assert set(arrays) == {"time", "series/x"}
    _, record_of_data = load_arrays(with_data.folder / "results/toy/data/starts.npz")
    assert record["data"] == record_of_data["fingerprint"]


def test_a_trajectory_that_is_read_has_its_data_again(with_data):
    starts, _ = load_arrays(with_data.folder / "results/toy/data/starts.npz")
    (of_trajectory,) = with_data.values("ld.trajectory('toy', 'slow').constants['x'].tolist()")
    assert of_trajectory == starts["x"].tolist()


@pytest.mark.parametrize("function", ["trajectory", "simulate"])
def test_a_trajectory_is_measured_with_its_data_to_the_table_of_the_run(with_data, function):
    measured = f"ld.measure('toy', 'slow', ld.{function}('toy', 'slow'))"
    assert with_data.values(f"{measured}.equals(ld.table('toy', 'slow'))") == [True]


WITHOUT_PROFILE = ("--workflow-profile", "none")  # Snakemake's own output, which has resources and priorities


def test_jobs_that_share_a_gpu_are_given_more_time(clean):
    clean.configure("runs", "slow", "resources", value={"gpu": 1, "gpu_mb": 3000, "runtime": 10})
    planned = clean.snakemake("--dry-run", SLOW, "--config", "sharing=3", *WITHOUT_PROFILE).stdout

    def resources_of(output):
        """Return what the job with an output asks for, as {"gpu=1", ...}."""
        (line,) = re.findall(rf"output: {re.escape(output)}.*?resources: ([^\n]*)", planned, re.DOTALL)
        return set(line.split(", "))

    # three jobs share a GPU, and each has three times its runtime
    assert {"runtime=30", "gpu=1", "gpu_mb=3000"} <= resources_of(SLOW)
    assert "runtime=10" in resources_of("results/toy/data/starts.npz")  # without a GPU its own


def test_measuring_has_priority_over_the_next_run(clean):
    """Few trajectories of temporary runs are then on disk at a time."""
    clean.configure("runs", "slow", "temporary", value=True)
    planned = clean.snakemake("--dry-run", "toy_metrics", *WITHOUT_PROFILE).stdout
    priorities = {}
    for rule, lines in re.findall(r"^rule (\w+):\n((?:    .*\n)*)", planned, re.MULTILINE):
        priority = re.search(r"priority: (\d+)", lines)
        priorities[rule] = int(priority[1]) if priority else 0  # a priority of 0 is not printed
    assert priorities["run"] == priorities["scratch_run"] == priorities["data"]
    assert priorities["metrics"] > priorities["run"]
