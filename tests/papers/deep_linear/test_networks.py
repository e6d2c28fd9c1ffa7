"""Deep linear networks: gradients, balance, and the preconditioner."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.papers.deep_linear import networks as deep_linear
from tests.papers.deep_linear import plain


@settings(max_examples=30)
@given(depth=st.integers(1, 6), outputs=st.integers(1, 4), extra=st.integers(0, 3), seed=st.integers(0, 99))
def test_balanced_layers_are_balanced_and_have_the_product_asked_for(depth, outputs, extra, seed):
    W = np.random.default_rng(seed).standard_normal((outputs, 4))
    widths = [4, *[min(outputs, 4) + extra] * (depth - 1), outputs]
    layers = deep_linear.balanced_layers(W, widths)
    size = np.linalg.norm(W)
    np.testing.assert_allclose(deep_linear.product(layers), W, rtol=0, atol=1e-13 * size)
    assert deep_linear.imbalance(layers) <= 1e-13 * max(size, 1) ** 2


def test_too_narrow_layers_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        deep_linear.balanced_layers(np.eye(3), [3, 2, 3])


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (1, 3)])
def test_velocity_preconditioner_and_gradients_are_those_of_layers_by_torch(depth, shape):
    rng = np.random.default_rng(depth)
    W, gradient = rng.standard_normal(shape), rng.standard_normal(shape)
    layers = plain.balanced(W, depth)
    J = plain.jacobian(layers)
    velocity = deep_linear.end_to_end_velocity(W, gradient, depth)
    np.testing.assert_allclose(velocity, -(J @ (J.T @ gradient.ravel())).reshape(shape), rtol=0, atol=1e-12)
    values = np.linalg.svd(W, compute_uv=False)
    factors = np.sort(deep_linear.preconditioner_factors(values, W.shape, depth).ravel())
    np.testing.assert_allclose(factors, np.linalg.eigvalsh(J @ J.T), rtol=0, atol=1e-12)
    found = deep_linear.layer_gradients(layers, W - gradient)
    expected_gradients = plain.gradients(layers, plain.squared(gradient))
    for number, (layer, expected) in enumerate(zip(found, expected_gradients, strict=True), start=1):
        np.testing.assert_allclose(layer, expected, rtol=0, atol=1e-12, err_msg=f"{number=}")
