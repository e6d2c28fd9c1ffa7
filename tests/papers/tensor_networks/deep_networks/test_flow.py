from dataclasses import replace

import numpy as np
import pytest

from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.tensor_networks.deep_networks import flow
from learning_dynamics.papers.tensor_networks.squared_flow import Limit
from tests.papers.tensor_networks import plain

LIMIT = Limit(rtol=1e-11, atol=1e-14, residual=1e-9)


def drawn(inputs, depth):
    rng = np.random.default_rng(10 * inputs + depth)
    X, y = rng.standard_normal((inputs - 1, inputs)), rng.standard_normal(inputs - 1)
    return X, y, rng.standard_normal((depth - 1) * inputs**2 + inputs) / np.sqrt(inputs)


def field_of(X, y, state, depth):
    slope = np.full_like(state, np.nan)
    flow.field(state, np.r_[X.ravel(), y, 0.0], np.array([*X.shape, depth]), slope)
    return slope


@pytest.mark.parametrize(("inputs", "depth"), [(2, 2), (3, 3), (6, 2), (2, 5), (6, 5)])
def test_the_field_is_minus_the_gradient(inputs, depth):
    X, y, state = drawn(inputs, depth)
    expected = -plain.gradient(plain.loss_of("fully_connected", depth, X, y, "squared"), state)
    np.testing.assert_allclose(
        field_of(X, y, state, depth), expected, rtol=0, atol=1e-14 * np.abs(expected).max()
    )  # fmt: skip


def test_the_flow_ends_where_no_residual_is_larger_than_asked():
    X, y, start = drawn(6, 5)
    end = flow.flow_limit(X, y, start, LIMIT)
    assert np.abs(X @ flow.coefficients(end, 6) - y).max() <= 1.001e-9 * np.abs(y).max()
    # where they are small enough from the start, nothing moves
    np.testing.assert_array_equal(flow.flow_limit(X, y, end, replace(LIMIT, residual=1e-8)), end)


def test_a_flow_that_the_integrator_gives_up_is_nan(monkeypatch):
    def gives_up(*_, **__):
        raise DivergenceError("out of steps")

    monkeypatch.setattr(flow, "flow", gives_up)
    X, y, start = drawn(3, 2)
    assert np.isnan(flow.flow_limit(X, y, start, LIMIT)).all()
