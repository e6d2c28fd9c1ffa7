import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics.invariants import metrics, runs
from tests.support import called

SETTINGS = {
    "counts": [2, 1], "dimension": 2, "inputs": 4, "correlations": [0.0, 0.5], "scale": 0.3, "seeds": 3, "start": 0.1,
    "horizon": 20.0, "points": 8, "rtol": 1e-10, "atol": 1e-14, "looser": 100.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def departure():
    trajectory = called(runs.linear_inputs, **SETTINGS, seed=2)
    trajectory.settings = SETTINGS
    table = metrics.linear_inputs(trajectory)
    return table.groupby(["quantity", "correlation", "seed"])["value"].max()


def test_linear_features_on_orthonormal_inputs_move_as_free_ones(departure):
    assert (departure["departure"].loc[0.0] < departure["looser"].loc[0.0]).all()
    # two integrations of some hundred steps at a hundred times rtol
    assert (departure["looser"].loc[0.0] < 1e-5).all()


def test_correlated_inputs_leave_the_reduction(departure):
    assert (departure["departure"].loc[0.5] > 0.05).all()


def test_both_flows_start_together():
    trajectory = called(runs.linear_inputs, **SETTINGS, seed=2)
    np.testing.assert_allclose(trajectory.series["linear"][:, 0], trajectory.series["free"][:, 0], atol=1e-15)
