"""Linear tensor networks against the architectures that they stand for."""

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.papers.tensor_networks import tensor_network
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.starts import factors
from learning_dynamics.papers.tensor_networks.tensor_network import contractions, outputs, pair_contractions

ARCHITECTURES = ["diagonal", "convolutional", "short_filters", "fully_connected", "decomposable", "general"]


def draw(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def convolve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Circular convolution of the paper's section 3, indices from zero."""
    return np.array([sum(a[(i + j) % len(a)] * b[j] for j in range(len(b))) for i in range(len(a))])


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_diagonal_network_multiplies_entry_by_entry(depth):
    network = tensor_network.diagonal(4, depth)
    x, layers = draw(0, 4), list(draw(1, depth, 4))
    expected = np.sum(x * np.prod(layers, axis=0))
    assert outputs(network.data_tensor(x)[None], layers)[0] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("lengths", [(5, 5), (2, 5), (1, 5), (2, 3, 5), (5, 5, 5)])
def test_convolutional_network_convolves_layer_by_layer(lengths):
    network = tensor_network.convolutional(5, lengths)
    x, layers = draw(0, 5), [draw(index + 1, length) for index, length in enumerate(lengths)]
    expected = reduce(convolve, layers[:-1], x) @ layers[-1]
    assert outputs(network.data_tensor(x)[None], layers)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("widths", [(3, 4), (3, 4, 2), (2, 3, 4, 2)])
def test_fully_connected_network_multiplies_matrices(widths):
    network = tensor_network.fully_connected(widths)
    matrices = [draw(index, rows, columns) for index, (rows, columns) in enumerate(pairwise(widths))]
    x, last = draw(8, widths[0]), draw(9, widths[-1])
    layers = [W.ravel(order="F") for W in matrices] + [last]
    expected = reduce(np.matmul, matrices, x) @ last
    assert outputs(network.data_tensor(x)[None], layers)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_coefficients_give_the_outputs(architecture, depth):
    network = network_of(architecture, 4, depth, seed=5)
    states, X = draw(1, 6, sum(network.lengths)), draw(2, 3, 4)
    direct = [outputs(network.data_tensor(X), network.layers(state)) for state in states]
    np.testing.assert_allclose(network.coefficients(states) @ X.T, direct, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_contractions_are_the_gradient(depth):
    tensor = draw(0, *range(2, 2 + depth))
    layers = [draw(index + 1, length) for index, length in enumerate(tensor.shape)]
    for index, gradient in enumerate(contractions(tensor, layers)):
        step = draw(20 + index, len(gradient))
        moved = [*layers[:index], layers[index] + step, *layers[index + 1 :]]
        # multilinear: the difference is exact
        change = outputs(tensor[None], moved)[0] - outputs(tensor[None], layers)[0]
        assert gradient @ step == pytest.approx(change, rel=1e-10, abs=1e-11)


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("architecture", ["diagonal", "convolutional", "decomposable"])
def test_orthogonal_decomposition_rebuilds_the_data_tensor(architecture, depth):
    network = network_of(architecture, 4, depth, seed=3)
    x = draw(0, 4)
    rebuilt = np.zeros(network.lengths, dtype=complex)
    for j, value in enumerate(network.S @ x):
        rebuilt += value * reduce(np.multiply.outer, [vectors[:, j] for vectors in network.U])
    np.testing.assert_allclose(rebuilt, network.data_tensor(x), atol=1e-12)
    for vectors in network.U:
        np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(len(network.S)), atol=1e-12)


def test_filters_longer_than_the_input_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        tensor_network.convolutional(3, (4, 3))


@settings(max_examples=25)
@given(
    z=st.lists(st.floats(-50, 50).map(lambda value: round(value, 3)), min_size=2, max_size=5),
    imbalance=st.floats(1e-3, 1e3),
    architecture=st.sampled_from(["diagonal", "convolutional", "fully_connected"]),
)
def test_factors_start_at_the_coefficients_asked_for(z, imbalance, architecture):
    network = network_of(architecture, len(z), 2, seed=0)
    state = factors(architecture, np.array(z), imbalance)
    np.testing.assert_allclose(network.coefficients(state), z, atol=1e-9 * (1 + imbalance + np.abs(z).max()))
    if network.S is not None:
        first, second = (np.abs(layer @ U) ** 2 for layer, U in zip(network.layers(state), network.U, strict=True))
        np.testing.assert_allclose(first - second, imbalance, rtol=1e-6)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_pair_contractions_are_the_derivative_of_contractions(depth):
    tensor = draw(0, *range(2, 2 + depth))
    layers = [draw(index + 1, length) for index, length in enumerate(tensor.shape)]
    second = pair_contractions(tensor, layers)
    step = [draw(20 + index, len(layer)) for index, layer in enumerate(layers)]
    h = 1e-6
    ahead, behind = (
        np.concatenate(contractions(tensor, [v + sign * h * dv for v, dv in zip(layers, step, strict=True)]))
        for sign in (1, -1)
    )
    # central differences: h**2 of third derivatives, and rounding over h
    np.testing.assert_allclose(second @ np.concatenate(step), (ahead - behind) / (2 * h), rtol=1e-7, atol=1e-8)
