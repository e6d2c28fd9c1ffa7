"""The flow in logarithmic time against the flow in time, and far beyond it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.log_time import log_time_flow, residual_directions
from learning_dynamics.papers.tensor_networks.tensor_network import contractions

X = np.array([[1.0, 2.0], [0.0, -3.0]])
Y = np.array([1.0, -1.0])


@pytest.mark.parametrize(("architecture", "depth"), [("diagonal", 2), ("convolutional", 2), ("fully_connected", 3)])
def test_logarithmic_time_is_time(architecture, depth):
    network = network_of(architecture, 2, depth, seed=0)
    start = 0.6 + 0.1 * np.random.default_rng(0).standard_normal(sum(network.lengths))
    tensors = network.data_tensor(X)

    def field(_t, state):
        weights = Y * np.exp(-Y * (X @ network.coefficients(state)))
        return np.concatenate(contractions(np.tensordot(weights, tensors, axes=1), network.layers(state)))

    direct = solve_ivp(field, (0, np.expm1(5.0)), start, method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
    flow = log_time_flow(network, X, Y, start, np.array([0.0, 5.0]), rtol=1e-10, atol=1e-12)
    # LSODA's global error here is below 100 local tolerances
    np.testing.assert_allclose(flow.states[-1], direct, rtol=1e-8)


def test_nothing_overflows_beyond_the_largest_float():
    network = network_of("diagonal", 2, 2, seed=0)
    taus = np.array([0.0, 1e3, 1e5])  # t = exp(1e5)
    flow = log_time_flow(network, X, Y, np.array([1.0, 1.0, 0.0, 0.0]), taus, rtol=1e-9, atol=1e-12)
    margins = network.coefficients(flow.states) @ (Y[:, None] * X).T
    assert np.isfinite(flow.states).all()
    # the loss falls like 1/t up to powers of log t
    np.testing.assert_allclose(margins.min(axis=1)[1:] / taus[1:], 1.0, atol=0.02)
    directions = residual_directions(network, X, Y, flow.states)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0, rtol=1e-14)
