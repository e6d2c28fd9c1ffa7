"""The closed form of the path to an interpolator, against layers that are integrated one by one."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from learning_dynamics.papers.tensor_networks.regression.interactive import _path


@pytest.mark.parametrize("depth", [2, 3, 4])
@pytest.mark.parametrize("scale", [0.05, 0.7, 5.0])
@pytest.mark.parametrize("point", [(1.0, 2.0), (-1.5, 0.7)], ids=str)
def test_layers_pass_along_it(depth, scale, point):
    x = np.array(point)

    def flow(_time, flat):
        layers = flat.reshape(depth, 2)
        residual = 1 - x @ layers.prod(axis=0)
        others = [np.delete(layers, layer, axis=0).prod(axis=0) for layer in range(depth)]
        return (residual * x * others).ravel()

    start = np.full((depth, 2), scale)
    start[-1] = 0.0
    found = solve_ivp(flow, (0, 1e6), start.ravel(), "LSODA", rtol=1e-10, atol=1e-13)
    passed = found.y.T.reshape(-1, depth, 2).prod(axis=1)
    path = _path(x, scale, depth)
    # both by how much of the label is explained; between its points the path is drawn straight
    on_path = np.array([np.interp(passed @ x, path @ x, coefficient) for coefficient in path.T]).T
    np.testing.assert_allclose(on_path, passed, rtol=0, atol=3e-3 * np.abs(passed).max())
    np.testing.assert_allclose(path[-1], passed[-1], rtol=0, atol=1e-6)
