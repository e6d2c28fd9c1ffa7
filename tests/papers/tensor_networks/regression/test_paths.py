"""The closed form of the path to an interpolator (Lemma 5.1), which a figure draws, against integrated layers."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from learning_dynamics.papers.tensor_networks.regression.interactive import flow_path


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("scale", [0.05, 0.7, 5.0])
@pytest.mark.parametrize("point", [(1.0, 2.0), (-1.5, 0.7)], ids=str)
def test_the_path_in_closed_form_is_that_of_the_layers_under_gradient_flow(depth, scale, point):
    """Diagonal layers on one point with the label 1: all but the last start at the scale, the last at zero."""
    x = np.array(point)

    def flow(_time, flat):
        layers = flat.reshape(depth, 2)
        residual = 1 - x @ layers.prod(axis=0)
        others = [np.delete(layers, layer, axis=0).prod(axis=0) for layer in range(depth)]
        return (residual * x * others).ravel()

    start = np.full((depth, 2), scale)
    start[-1] = 0.0
    solution = solve_ivp(flow, (0, 1e6), start.ravel(), "LSODA", rtol=1e-10, atol=1e-13)
    integrated = solution.y.T.reshape(-1, depth, 2).prod(axis=1)  # coefficients at each step
    assert integrated[-1] @ x == pytest.approx(1, abs=1e-9), "not at the label yet"
    path = flow_path(x, scale, depth)

    # points on both curves that have the same output
    on_path = np.array([np.interp(integrated @ x, path @ x, coefficient) for coefficient in path.T]).T
    # the path is a polygon of 41 points: an arc of 1 / 40 that turns by one radian is up to 1 / 320 from its chord
    np.testing.assert_allclose(on_path, integrated, rtol=0, atol=3e-3 * np.abs(integrated).max())
    # a thousand steps, each with an error of rtol
    np.testing.assert_allclose(path[-1], integrated[-1], rtol=0, atol=1e-7)
