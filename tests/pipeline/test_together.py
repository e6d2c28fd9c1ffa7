"""Short data sets, runs and metrics of a topic share a process."""

import pytest
import yaml

from learning_dynamics.pipeline.plan.config_files import read_yaml
from learning_dynamics.pipeline.store.tables import read_table
from tests.pipeline.conftest import Workspace


@pytest.fixture
def short(clean) -> Workspace:
    """The made-up paper without `resources`, of which nothing is built."""
    file = "workflow/config/toy.yaml"
    config = read_yaml(clean.folder / file)
    for block in (config["data"]["starts"], config["runs"]["descent"], config["runs"]["slow"]):
        del block["resources"]
    clean.write(file, yaml.safe_dump(config, sort_keys=False))
    return clean


def test_a_topic_is_one_job_and_its_files_are_those_of_jobs_of_their_own(short, built):
    short.configure("runs", "slow", "temporary", value=True)
    printed = short.snakemake("toy_metrics", "--logger", "lines").stderr
    jobs = sorted(line.split()[1] for line in printed.splitlines() if " runs_toy_" in line)
    assert jobs == ["runs_toy_data", "runs_toy_decay", "runs_toy_growth"]
    assert not list(short.folder.glob("results/toy/scratch/*"))
    for name in ("slow", "fast", "slow--steps-20", "descent"):
        table, record = (workspace.folder / f"results/toy/metrics/{name}.parquet" for workspace in (short, built))
        assert read_table(table).equals(read_table(record))
    assert "Nothing to be done" in short.snakemake("toy_metrics", "--dry-run").stdout


def test_of_a_topic_that_fails_each_run_that_failed_is_named(short):
    short.configure("runs", "fast", "rate", value=1e300)
    ended = short.snakemake("toy_metrics", check=False)
    (log,) = short.folder.glob("results/toy/logs/together/growth.log")
    assert ended.returncode
    assert "1 of 6 jobs failed; run fast: growth left the finite numbers" in log.read_text()
    assert (short.folder / "results/toy/metrics/descent.parquet").exists()


@pytest.mark.parametrize(("n_values", "shared"), [(20, True), (21, False)])
def test_members_of_a_long_sweep_have_jobs_of_their_own(configured, n_values, shared):
    configured("runs.slow.resources", ...)
    values = [number / 1000 for number in range(1, n_values + 1)]
    sweep = {"extends": "slow", "sweep": {"rate": values}, "provenance": {"rate": {"chosen": "a scan"}}}
    jobs = configured("runs.scan", sweep).together["toy", "growth"]
    assert any(name.startswith("scan") for _, name in jobs) == shared


@pytest.mark.parametrize("key", ["resources", "measure_resources"])
def test_a_run_with_resources_has_a_job_of_its_own(configured, key):
    for run in ("descent", "slow"):
        configured(f"runs.{run}.resources", ...)
    assert ("run", "slow") in configured("runs.slow.measure", {"every": 1}).together["toy", "growth"]
    jobs = configured(f"runs.slow.{key}", {"runtime": 3}).together.get(("toy", "growth"), [])
    assert not {"slow", "fast"} & {name for _, name in jobs}  # `fast` extends it
