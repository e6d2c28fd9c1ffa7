"""Vanishing scales: the time to a loss and the limits, against what is known of them."""

from __future__ import annotations

import numpy as np
import pytest

from learning_dynamics.claims import evaluate
from learning_dynamics.datasets.regression import gaussian
from learning_dynamics.papers.spectral_bias.scale import claims, metrics, runs


@pytest.fixture(scope="module")
def table():
    data = gaussian(samples=3, inputs=5, outputs=1, seeds=2, seed=4)
    settings = {"gammas": [1.0, 1e-6, 1e-9], "width": 5, "loss_share": 0.01, "points": 21, "residual": 1e-8}
    settings |= {"patience": 1e4, "rtol": 1e-10, "atol": 1e-22}
    trajectory = runs.scaled_flow(data, **settings, seed=0)
    trajectory.settings = settings
    found = metrics.scaled_flow(trajectory, others=10)
    found.attrs["settings"] = settings
    return found


def test_the_time_grows_with_the_logarithm_of_the_scale(table):
    found = evaluate(claims.time_to_loss, {"flow": table}, {"largest": 1e-6})
    assert found.verdict == "reproduced"
    assert found.refuses < 1e-2


def test_a_time_that_grows_otherwise_is_refused(table):
    slower = table.copy()
    rows = (slower["quantity"] == "time_to_loss") & (slower["gamma"] == 1e-9)
    slower.loc[rows, "value"] *= 1.01
    assert evaluate(claims.time_to_loss, {"flow": slower}, {"largest": 1e-6}).verdict == "contradicted"


def test_one_scale_has_no_slope(table):
    with pytest.raises(ValueError, match="a slope needs two"):
        evaluate(claims.time_to_loss, {"flow": table}, {"largest": 1e-9})


def test_no_interpolator_has_a_smaller_nuclear_norm(table):
    least = table.loc[table["quantity"] == "other_interpolators", "value"]
    assert (least > -1e-9).all()
    assert np.isfinite(least).all()
