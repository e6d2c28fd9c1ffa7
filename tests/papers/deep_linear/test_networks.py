"""Deep linear networks: gradients, balance, and the preconditioner."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.papers.deep_linear import networks as deep_linear
from tests.papers.deep_linear import plain


def layers_of(depth, seed=0, inputs=4, width=5, outputs=3):
    rng = np.random.default_rng(seed)
    widths = [inputs, *[width] * (depth - 1), outputs]
    return [rng.standard_normal((rows, columns)) for rows, columns in zip(widths[1:], widths[:-1], strict=True)]


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_layer_gradients_match_differences(depth):
    layers, target = layers_of(depth), np.ones((3, 4))

    def loss(moved):
        return 0.5 * np.sum((deep_linear.product(moved) - target) ** 2)

    found = deep_linear.layer_gradients(layers, deep_linear.product(layers) - target)
    step = 1e-6
    for j in range(depth):
        direction = np.random.default_rng(9).standard_normal(layers[j].shape)
        ends = [loss([*layers[:j], layers[j] + sign * step * direction, *layers[j + 1 :]]) for sign in (1, -1)]
        # central differences: rounding of the loss over the step, far above the step squared
        np.testing.assert_allclose(np.sum(found[j] * direction), (ends[0] - ends[1]) / (2 * step), rtol=1e-6)


def test_gradients_broadcast_over_members():
    layers = [np.stack([a, 2 * a]) for a in layers_of(3)]
    gradient = np.random.default_rng(1).standard_normal((2, 3, 4))
    both = deep_linear.layer_gradients(layers, gradient)
    for member in range(2):
        alone = deep_linear.layer_gradients([layer[member] for layer in layers], gradient[member])
        for joint, single in zip(both, alone, strict=True):
            np.testing.assert_allclose(joint[member], single, rtol=1e-13)


@settings(max_examples=30)
@given(depth=st.integers(1, 6), outputs=st.integers(1, 4), extra=st.integers(0, 3), seed=st.integers(0, 99))
def test_balanced_layers_are_balanced_and_have_the_product_asked_for(depth, outputs, extra, seed):
    W = np.random.default_rng(seed).standard_normal((outputs, 4))
    widths = [4, *[min(outputs, 4) + extra] * (depth - 1), outputs]
    layers = deep_linear.balanced_layers(W, widths)
    size = np.linalg.norm(W)
    np.testing.assert_allclose(deep_linear.product(layers), W, atol=1e-13 * size)
    assert deep_linear.imbalance(layers) <= 1e-13 * max(size, 1) ** 2


def test_too_narrow_layers_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        deep_linear.balanced_layers(np.eye(3), [3, 2, 3])


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (1, 3)])
def test_preconditioner_agrees_with_the_velocity_and_its_spectrum(depth, shape):
    rng = np.random.default_rng(depth)
    W, gradient = rng.standard_normal(shape), rng.standard_normal(shape)
    P = plain.preconditioner(W, depth)
    velocity = deep_linear.end_to_end_velocity(W, gradient, depth)
    np.testing.assert_allclose(-(P @ gradient.ravel()).reshape(shape), velocity, atol=1e-12)
    values = np.linalg.svd(W, compute_uv=False)
    expected = np.sort(deep_linear.preconditioner_factors(values, W.shape, depth).ravel())
    np.testing.assert_allclose(np.linalg.eigvalsh(P), expected, atol=1e-12)


def test_packing_keeps_every_layer():
    layers = layers_of(3)
    for layer, back in zip(layers, deep_linear.unpack(deep_linear.pack(layers), [4, 5, 5, 3]), strict=True):
        np.testing.assert_array_equal(layer, back)
