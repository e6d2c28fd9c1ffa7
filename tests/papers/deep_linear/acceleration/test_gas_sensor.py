"""The overlay for the gas-sensor data: its whole way from an archive to a verdict, at reduced size."""

import zipfile

import numpy as np
import pytest

from learning_dynamics.datasets.regression_tables import ETHANOL, FEATURES, SAMPLES
from learning_dynamics.pipeline.commands import data, metrics, run
from learning_dynamics.pipeline.commands.claims import evaluate_claim
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.roles import load_tables
from tests.support import ROOT, do_job, plan, with_settings

PAPER, CLAIM = "deep_linear", "depth_accelerates_l4_gas_sensor"
# settings of runs that take seconds
SMALL = {"depths": [1, 2], "rates": 5, "lowest_rate": 1e-3, "highest_rate": 0.3, "max_steps": 100, "tolerance": 1.0}


@pytest.fixture(scope="module")
def gas_sensor_plan():
    return plan(ROOT / "workflow/config/gas_sensor.yaml", papers=[PAPER])


@pytest.fixture
def archive(tmp_path):
    """An archive of the format that UCI serves: rows of ethanol with labels of a linear teacher, in two batches.

    The first batch has a row of another gas besides.
    """
    rng = np.random.default_rng(0)
    features = rng.standard_normal((SAMPLES, FEATURES))
    labels = 100 + 10 * features @ rng.standard_normal(FEATURES) / np.sqrt(FEATURES) + 10 * rng.standard_normal(SAMPLES)
    lines = [
        f"{ETHANOL};{label:.6f} " + " ".join(f"{i}:{value:.6f}" for i, value in enumerate(row, start=1))
        for label, row in zip(labels, features, strict=True)
    ]
    half = SAMPLES // 2
    with zipfile.ZipFile(tmp_path / "gas.zip", "w") as file:
        of_another_gas = "2;5.0 1:1.0"  # gas; label, and one feature by its number
        file.writestr("batch1.dat", "\n".join([*lines[:half], of_another_gas]))
        file.writestr("batch2.dat", "\n".join(lines[half:]))
    return tmp_path / "gas.zip"


def test_the_claim_is_judged_on_an_archive_of_ucis_format(gas_sensor_plan, archive, tmp_path):
    data_file = tmp_path / "regression.npz"
    data_job = with_settings(gas_sensor_plan, gas_sensor_plan.job("data", PAPER, "regression"), file=str(archive))
    do_job(data.execute, data_job, data_file, {})

    claim = gas_sensor_plan.claim(PAPER, CLAIM)
    runs_by_role = {role: {"name": run["name"], "sweep": run["sweep"]} for role, run in claim["runs"].items()}
    for run_of_role in runs_by_role.values():
        name = run_of_role["name"]
        trajectory = tmp_path / f"{name}.npz"
        run_job = with_settings(gas_sensor_plan, gas_sensor_plan.job("run", PAPER, name), data_job.fingerprint, **SMALL)
        do_job(run.execute, run_job, trajectory, {"data": str(data_file)})
        metrics_job = with_settings(gas_sensor_plan, gas_sensor_plan.job("metrics", PAPER, name), run_job.fingerprint)
        do_job(metrics.execute, metrics_job, tmp_path / f"{name}.parquet", {"run": str(trajectory)})

    tables = load_tables(tmp_path, runs_by_role)
    judged = evaluate_claim(CLAIM, paper_function(PAPER, "claims", claim["function"]), tables, claim["settings"])
    # such small runs may have any verdict but `untested`, that of other data
    assert judged.verdict in ("reproduced", "not reproduced", "undecided")
    headline = judged.judgement.headline
    assert np.isfinite(headline.value)
    assert headline.draws == gas_sensor_plan.run(PAPER, "l4")["settings"]["seeds"]
    assert judged.rivals, "rivals are judged as well"


@pytest.mark.parametrize("role", ["l4", "l2"])
def test_runs_on_the_gas_sensor_data_have_enough_starts_for_an_interval(gas_sensor_plan, role):
    name = gas_sensor_plan.claim(PAPER, CLAIM)["runs"][role]["name"]
    # Student's interval of a mean reaches 1.2 standard deviations to either side with five starts, and 9 with two
    assert gas_sensor_plan.run(PAPER, name)["settings"]["seeds"] >= 5
