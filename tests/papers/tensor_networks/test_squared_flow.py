"""Flows of the squared loss to their limit: where they end, and those that do not arrive."""

from dataclasses import replace

import numpy as np

from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.tensor_networks import squared_flow, tensor_network
from learning_dynamics.papers.tensor_networks.deep_networks import flow as deep_flow
from learning_dynamics.papers.tensor_networks.squared_flow import Limit, flow_limit

POINT = {"X": np.array([[1.0, 2.0]]), "y": np.array([1.0]), "integration": Limit(1e-9, 1e-12, 1e-9)}


def test_a_flow_that_stays_at_a_saddle_is_returned_from_there():
    np.testing.assert_array_equal(flow_limit(tensor_network.diagonal(2, 2), start=np.zeros(4), **POINT), np.zeros(4))


def test_a_deep_flow_ends_where_no_residual_is_larger_than_asked():
    rng, limit = np.random.default_rng(65), Limit(rtol=1e-11, atol=1e-14, residual=1e-9)
    X, y = rng.standard_normal((5, 6)), rng.standard_normal(5)
    end, _ = deep_flow.flow_limit(X, y, rng.standard_normal(4 * 36 + 6) / np.sqrt(6), limit)
    assert np.abs(X @ deep_flow.coefficients(end, 6) - y).max() <= 1.001e-9 * np.abs(y).max()
    # where they are small enough from the start, nothing moves
    np.testing.assert_array_equal(deep_flow.flow_limit(X, y, end, replace(limit, residual=1e-8))[0], end)


def test_flows_that_the_integrator_gives_up_are_nan(monkeypatch):
    def gives_up(*_, **__):
        raise DivergenceError("out of steps")

    monkeypatch.setattr(squared_flow, "integrate", gives_up)
    monkeypatch.setattr(deep_flow, "flow", gives_up)
    assert np.isnan(flow_limit(tensor_network.diagonal(2, 2), start=np.ones(4), **POINT)).all()
    limit, path = deep_flow.flow_limit(start=np.ones(6), **POINT)
    assert np.isnan(limit).all()
    assert np.isnan(path).all()
