"""Metrics of flows: a flow that was lost is empty, and leaves its siblings as they are."""

import numpy as np

from learning_dynamics.papers.deep_linear.end_to_end import metrics, runs
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
