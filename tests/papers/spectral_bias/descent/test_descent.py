"""Discrete descent: its steps are the loss's gradient, by finite differences."""

import numpy as np
import pytest

from learning_dynamics.datasets import regression, whitened
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.descent import metrics, runs


def measured(data, **given):
    settings = {"gamma": 0.01, "step": 0.05, "steps": 400} | given
    trajectory = runs.linear_descent(data, **settings)
    trajectory.settings = settings
    return trajectory, metrics.linear_descent(trajectory)


def test_a_step_is_minus_the_gradient():
    data = regression.conditioned(samples=3, inputs=3, outputs=1, condition=2.0, seeds=1, seed=0)
    trajectory, _ = measured(data)
    W, a = trajectory.series["W1"][0, 10:12], trajectory.series["W2"][0, 10:12]
    rng, shift = np.random.default_rng(0), 1e-6
    direction_W, direction_a = rng.standard_normal(W[0].shape), rng.standard_normal(a[0].shape)
    losses = [
        two_layer.loss(W[0] + side * shift * direction_W, a[0] + side * shift * direction_a, data["X"][0], data["Y"][0])
        for side in (1, -1)
    ]
    slope = (losses[0] - losses[1]) / (2 * shift)
    taken = (np.sum((W[1] - W[0]) * direction_W) + np.sum((a[1] - a[0]) * direction_a)) / 0.05
    # central difference: rounding of the loss over the shift
    assert slope == pytest.approx(-taken, rel=1e-7, abs=1e-9)


def test_directions_stay_on_whitened_data_and_turn_on_others():
    kept = measured(whitened.orthogonal(inputs=3, outputs=1, seeds=2, seed=0))[1]
    turned = measured(regression.conditioned(samples=3, inputs=3, outputs=1, condition=3.0, seeds=2, seed=0))[1]
    sines = [table.loc[table["quantity"] == "output_turning", "value"].max() for table in (kept, turned)]
    assert sines[0] < 1e-12
    assert sines[1] > 1e-2


def test_several_outputs_are_refused():
    data = whitened.orthogonal(inputs=3, outputs=2, seeds=1, seed=0)
    with pytest.raises(ProjectError, match="one output"):
        runs.linear_descent(data, gamma=0.1, step=0.1, steps=1)
