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
SMALL = {"depths": [1, 2], "rates": 5, "lowest_rate": 1e-3, "highest_rate": 0.3, "max_steps": 100, "tolerance": 1.0}


@pytest.fixture(scope="module")
def overlaid():
    return plan(ROOT / "workflow/config/gas_sensor.yaml", papers=[PAPER])


@pytest.fixture
def archive(tmp_path):
    """Rows of the format that UCI serves, in two batches, a second gas among them; labels of a linear teacher."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((SAMPLES, FEATURES))
    labels = 100 + 10 * features @ rng.standard_normal(FEATURES) / np.sqrt(FEATURES) + 10 * rng.standard_normal(SAMPLES)
    lines = [
        f"{ETHANOL};{label:.6f} " + " ".join(f"{i}:{value:.6f}" for i, value in enumerate(row, start=1))
        for label, row in zip(labels, features, strict=True)
    ]
    half = SAMPLES // 2
    with zipfile.ZipFile(tmp_path / "gas.zip", "w") as file:
        file.writestr("batch1.dat", "\n".join([*lines[:half], "2;5.0 1:1.0"]))
        file.writestr("batch2.dat", "\n".join(lines[half:]))
    return tmp_path / "gas.zip"


def test_an_archive_of_that_format_is_decided(overlaid, archive, tmp_path):
    source = tmp_path / "regression.npz"
    drawn = with_settings(overlaid, overlaid.job("data", PAPER, "regression"), file=str(archive))
    do_job(data.execute, drawn, source, {})
    spec = overlaid.claim(PAPER, CLAIM)
    for role in spec["runs"].values():
        name = role["name"]
        assert overlaid.run(PAPER, name)["settings"]["seeds"] >= 5, "enough starts for an interval"
        ran = with_settings(overlaid, overlaid.job("run", PAPER, name), drawn.fingerprint, **SMALL)
        do_job(run.execute, ran, tmp_path / f"{name}.npz", {"data": str(source)})
        measured = with_settings(overlaid, overlaid.job("metrics", PAPER, name), ran.fingerprint)
        do_job(metrics.execute, measured, tmp_path / f"{name}.parquet", {"run": str(tmp_path / f"{name}.npz")})
    roles = {role: {"name": one["name"], "sweep": one["sweep"]} for role, one in spec["runs"].items()}
    tables = load_tables(tmp_path, roles)
    found = evaluate_claim(CLAIM, paper_function(PAPER, "claims", spec["function"]), tables, spec["settings"])
    assert found.verdict in ("reproduced", "not reproduced", "undecided")
    assert found.judgement.headline.draws == overlaid.run(PAPER, "l4")["settings"]["seeds"]
    assert np.isfinite(found.judgement.headline.value)
    assert found.rivals, found
