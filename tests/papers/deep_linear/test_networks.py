"""Deep linear networks: balanced layers, gradients, and the preconditioner."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.papers.deep_linear import networks
from tests.papers.deep_linear import plain


@settings(max_examples=30)
@given(depth=st.integers(1, 6), outputs=st.integers(1, 4), extra=st.integers(0, 3), seed=st.integers(0, 99))
def test_balanced_layers_are_balanced_and_have_the_product_asked_for(depth, outputs, extra, seed):
    W = np.random.default_rng(seed).standard_normal((outputs, 4))
    widths = [4, *[outputs + extra] * (depth - 1), outputs]
    layers = networks.balanced_layers(W, widths)
    size = np.linalg.norm(W)
    np.testing.assert_allclose(networks.product(layers), W, rtol=0, atol=1e-13 * size)
    assert networks.imbalance(layers) <= 1e-13 * max(size, 1) ** 2  # Grams: `size` ** (2 / depth)


def test_imbalance_is_the_largest_difference_of_neighbouring_grams():
    layers = [np.diag([1.0, 2.0]), np.eye(2), 3.0 * np.eye(2)]
    for order in (layers, layers[::-1]):  # of the multiples of the identity it is 8 sqrt(2), of the other two 3
        assert networks.imbalance(order) == pytest.approx(8 * np.sqrt(2))


@pytest.mark.parametrize("widths", [[3, 2, 3], [3, 3, 4], [4, 3, 3]], ids=["too narrow", "outputs", "inputs"])
def test_widths_that_do_not_fit_are_refused(widths):
    with pytest.raises(ValueError, match="do not fit"):
        networks.balanced_layers(np.eye(3), widths)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (1, 3)])
def test_velocity_eigenvalues_of_the_preconditioner_and_gradients_are_torchs(depth, shape):
    rng = np.random.default_rng(depth)
    W, gradient, target = (rng.standard_normal(shape) for _ in range(3))
    layers = plain.balanced(W, depth)
    J = plain.jacobian(layers)
    # layers follow -J^T G, so that dW/dt = -J J^T G: the preconditioner is J J^T
    velocity = networks.end_to_end_velocity(W, gradient, depth)
    np.testing.assert_allclose(velocity, -(J @ (J.T @ gradient.ravel())).reshape(shape), rtol=0, atol=1e-12)
    values = np.linalg.svd(W, compute_uv=False)
    factors = np.sort(networks.preconditioner_factors(values, W.shape, depth).ravel())
    np.testing.assert_allclose(factors, np.linalg.eigvalsh(J @ J.T), rtol=0, atol=1e-12)
    by_layer = networks.layer_gradients(layers, W - target)  # of ||W - target||^2 / 2
    expected_by_layer = plain.gradients(layers, plain.squared(target))
    for number, (found, expected) in enumerate(zip(by_layer, expected_by_layer, strict=True), start=1):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12, err_msg=f"layer {number}")
