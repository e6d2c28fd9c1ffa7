"""Flows of the squared loss to their limit: where they end, and what is returned of those that do not arrive."""

from dataclasses import replace

import numpy as np

from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.tensor_networks import squared_flow, tensor_network
from learning_dynamics.papers.tensor_networks.deep_networks import flow as deep_flow
from learning_dynamics.papers.tensor_networks.squared_flow import Limit, flow_limit

ONE_POINT = {"X": np.array([[1.0, 2.0]]), "y": np.array([1.0]), "integration": Limit(1e-9, 1e-12, residual=1e-9)}
INPUTS = 6
ACCURATE = Limit(rtol=1e-11, atol=1e-14, residual=1e-9)


def test_a_flow_from_a_saddle_ends_at_the_saddle():
    """All layers zero: the gradient is zero, and residuals stay as large as the labels."""
    saddle = np.zeros(4)  # two layers of two entries
    end = flow_limit(tensor_network.diagonal(2, 2), start=saddle, **ONE_POINT)
    np.testing.assert_array_equal(end, saddle)


def deep_flow_to_its_limit():
    """Return five points, their labels, and where the flow of five fully connected layers ends on them."""
    rng = np.random.default_rng(65)
    X, y = rng.standard_normal((5, INPUTS)), rng.standard_normal(5)
    start = rng.standard_normal(4 * INPUTS**2 + INPUTS) / np.sqrt(INPUTS)  # four matrices and a vector
    end, _ = deep_flow.flow_limit(X, y, start, ACCURATE)
    return X, y, end


def test_a_deep_flow_ends_where_no_residual_is_larger_than_the_accuracy_asked_for():
    X, y, end = deep_flow_to_its_limit()
    residuals = X @ deep_flow.coefficients(end, INPUTS) - y
    # rounding of the product of five layers, 1e-15, is a millionth of the accuracy; a thousandth is allowed
    assert np.abs(residuals).max() <= 1.001 * ACCURATE.residual * np.abs(y).max()


def test_a_deep_flow_whose_residuals_are_small_at_the_start_does_not_move():
    X, y, end = deep_flow_to_its_limit()
    end_again, _ = deep_flow.flow_limit(X, y, end, replace(ACCURATE, residual=10 * ACCURATE.residual))
    np.testing.assert_array_equal(end_again, end)


def give_up(*_, **__):
    raise DivergenceError("out of steps")


def test_the_limit_of_a_flow_that_the_integrator_gives_up_is_nan(monkeypatch):
    monkeypatch.setattr(squared_flow, "integrate", give_up)
    assert np.isnan(flow_limit(tensor_network.diagonal(2, 2), start=np.ones(4), **ONE_POINT)).all()


def test_limit_and_path_of_a_deep_flow_that_the_integrator_gives_up_are_nan(monkeypatch):
    monkeypatch.setattr(deep_flow, "flow", give_up)
    limit, path = deep_flow.flow_limit(start=np.ones(6), **ONE_POINT)  # two layers: a 2 x 2 matrix and a vector
    assert np.isnan(limit).all()
    assert np.isnan(path).all()
