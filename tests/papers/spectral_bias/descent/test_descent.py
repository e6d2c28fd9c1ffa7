"""Discrete descent: when directions turn, and what is refused."""

import pytest

from learning_dynamics.datasets import regression, whitened
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias.descent import metrics, runs


def measured(data, **given):
    settings = {"gamma": 0.01, "step": 0.05, "steps": 400} | given
    trajectory = runs.linear_descent(data, **settings)
    trajectory.settings = settings
    return trajectory, metrics.linear_descent(trajectory)


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
