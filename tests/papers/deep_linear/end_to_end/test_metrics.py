"""Metrics of flows: a flow that was lost is empty, and leaves its siblings as they are."""

import numpy as np
import pytest

from learning_dynamics.papers.deep_linear import networks
from learning_dynamics.papers.deep_linear.end_to_end import metrics, runs
from tests.papers.deep_linear import plain
from tests.support import called

SETTINGS = {"init": "balanced", "depths": [2], "inputs": 3, "width": 3, "outputs": 2, "start": 0.3, "horizon": 1.0,
            "points": 3, "seeds": 2, "rtol": 1e-8, "atol": 1e-11, "seed": 0}  # fmt: skip


def test_a_lost_flow_is_empty_and_its_sibling_is_not():
    trajectory = called(runs.end_to_end_flow, **SETTINGS)
    trajectory.settings = SETTINGS
    whole = metrics.end_to_end_flow(trajectory)
    for series in trajectory.series.values():
        series[1] = np.nan
    found = metrics.end_to_end_flow(trajectory)
    assert found[found["seed"] == 1]["value"].isna().all()
    kept = whole["seed"] == 0
    np.testing.assert_array_equal(found[kept]["value"], whole[kept]["value"])


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_the_preconditioner_of_balanced_layers_is_that_of_their_product(depth):
    W = np.random.default_rng(depth).standard_normal((3, 4))
    layers = networks.balanced_layers(W, [4, *[5] * (depth - 1), 3])
    # rounding of matrix powers of a well-conditioned matrix
    np.testing.assert_allclose(
        networks.preconditioner_of_layers(layers), plain.preconditioner(W, depth), rtol=0, atol=1e-10
    )
