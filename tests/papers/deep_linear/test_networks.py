"""Deep linear networks: balanced layers by their definition, and the preconditioner and gradients against torch."""

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
    # rounding makes errors of some hundred times 2e-16, relative to the matrices that are compared
    np.testing.assert_allclose(networks.product(layers), W, rtol=0, atol=1e-13 * size)
    # Gram matrices of layers have at most the norm size^(2/N), which is below the larger of 1 and size^2
    assert networks.imbalance(layers) <= 1e-13 * max(size, 1) ** 2


LAYERS = [np.diag([1.0, 2.0]), np.eye(2), 3.0 * np.eye(2)]


@pytest.mark.parametrize(
    "layers",
    [
        pytest.param(LAYERS, id="the last two differ most"),
        pytest.param(LAYERS[::-1], id="the first two differ most"),
    ],
)
def test_imbalance_is_the_largest_difference_of_neighbouring_grams(layers):
    # Gram matrices of LAYERS are diag(1, 4), I and 9 I: neighbours differ by diag(0, 3) and 8 I, of norms 3 and 11.3
    assert networks.imbalance(layers) == pytest.approx(np.linalg.norm(8 * np.eye(2)))


@pytest.mark.parametrize(
    "widths",
    [
        pytest.param([3, 2, 3], id="a hidden layer of 2 for a matrix of rank 3"),
        pytest.param([3, 3, 4], id="4 outputs for 3 rows"),
        pytest.param([4, 3, 3], id="4 inputs for 3 columns"),
    ],
)
def test_widths_that_do_not_fit_the_matrix_are_refused(widths):
    with pytest.raises(ValueError, match=r"do not fit a matrix of shape \(3, 3\)"):
        networks.balanced_layers(np.eye(3), widths)


ROUNDING = 1e-12  # some thousand times 2e-16, of entries of order one to ten
every_network = pytest.mark.parametrize(
    ("shape", "depth"), [(shape, depth) for shape in ((3, 3), (2, 4), (1, 3)) for depth in (1, 2, 3, 4)]
)


@every_network
def test_the_end_to_end_velocity_is_that_of_balanced_layers_by_torch(shape, depth):
    """Layers follow -J^T G, with J = d vec(W) / d(layers), so that dW/dt = -J J^T G: the preconditioner is J J^T."""
    W, gradient = np.random.default_rng(depth).standard_normal((2, *shape))
    J = plain.jacobian(plain.balanced_layers(W, depth))
    velocity = networks.end_to_end_velocity(W, gradient, depth)
    np.testing.assert_allclose(velocity, -(J @ (J.T @ gradient.ravel())).reshape(shape), rtol=0, atol=ROUNDING)


@every_network
def test_factors_of_the_preconditioner_are_its_eigenvalues_by_torch(shape, depth):
    """The preconditioner is J J^T, with J = d vec(W) / d(layers)."""
    W = np.random.default_rng(depth).standard_normal(shape)
    J = plain.jacobian(plain.balanced_layers(W, depth))
    singular_values = np.linalg.svd(W, compute_uv=False)
    factors = networks.preconditioner_factors(singular_values, shape, depth)
    ascending = np.sort(factors, axis=None)  # all entries as one vector, as eigenvalues are
    np.testing.assert_allclose(ascending, np.linalg.eigvalsh(J @ J.T), rtol=0, atol=ROUNDING)


@every_network
def test_gradients_of_layers_are_torchs(shape, depth):
    W, target = np.random.default_rng(depth).standard_normal((2, *shape))
    layers = plain.balanced_layers(W, depth)
    by_layer = networks.layer_gradients(layers, W - target)  # of half the squared distance from the target
    expected_by_layer = plain.gradients(layers, plain.squared_loss(target))
    for number, (gradient, expected) in enumerate(zip(by_layer, expected_by_layer, strict=True), start=1):
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=ROUNDING, err_msg=f"layer {number}")
