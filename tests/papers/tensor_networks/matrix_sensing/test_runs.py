"""Matrix sensing in two bases, and its velocities."""

import numpy as np
import pytest

from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.matrix_sensing.runs import _pushes, matrix_sensing
from learning_dynamics.papers.tensor_networks.squared_flow import Limit

LIMIT = Limit(rtol=1e-11, atol=1e-14, residual=1e-11)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_velocities_are_the_negative_gradient(depth):
    rng = np.random.default_rng(0)
    layers, sensors, y = rng.standard_normal((depth, 3, 3)), rng.standard_normal((2, 3, 3)), rng.standard_normal(2)

    def loss(at):
        return 0.5 * np.sum(_pushes(at, sensors, y)[1] ** 2)

    step, h = rng.standard_normal(layers.shape), 1e-6
    slope = (loss(layers + h * step) - loss(layers - h * step)) / (2 * h)
    assert np.sum(_pushes(layers, sensors, y)[0] * step) == pytest.approx(-slope, rel=1e-6)


def test_both_bases_have_the_same_limit_at_two_layers():
    data = points.commuting_sensors(samples=2, size=3, seeds=1, seed=0)
    found = [
        matrix_sensing(data, basis=basis, depths=[2], scales=[0.5], integration=LIMIT).series["product_2"]
        for basis in ("eigen", "generic")
    ]
    # a hundred tolerances of the integrator each
    np.testing.assert_allclose(found[0], found[1], atol=2e-9)
