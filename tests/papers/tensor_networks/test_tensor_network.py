"""Data tensors of the architectures against networks written layer by layer, torch's derivatives, and definitions."""

import itertools
import re
from functools import reduce

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.papers.tensor_networks import tensor_network
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.one_point import one_point_condition
from learning_dynamics.papers.tensor_networks.starts import factors, within_condition
from learning_dynamics.papers.tensor_networks.tensor_network import contractions, outputs, pair_contractions
from tests.papers.tensor_networks import plain

ARCHITECTURES = ["diagonal", "convolutional", "short_filters", "fully_connected", "decomposable", "general"]


def gaussian(seed: int, *shape: int) -> np.ndarray:
    """Return standard normal entries in an array of the given shape."""
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("lengths", [(5, 5), (2, 5), (1, 5), (2, 3, 5), (5, 5, 5, 5)])
@pytest.mark.parametrize("architecture", ["diagonal", "convolutional"])
def test_a_diagonal_or_convolutional_network_has_the_output_of_its_layers(architecture, lengths):
    if architecture == "diagonal":
        network = tensor_network.diagonal(5, len(lengths))
    else:
        network = tensor_network.convolutional(5, lengths)
    x, layers = gaussian(0, 5), [gaussian(index + 1, length) for index, length in enumerate(network.lengths)]
    expected = x @ plain.coefficients(architecture, [torch.tensor(layer) for layer in layers]).numpy()
    assert outputs(network.data_tensor(x)[None], layers)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("widths", [(3, 4), (3, 4, 2), (2, 3, 4, 2)])
def test_a_fully_connected_network_multiplies_matrices(widths):
    network = tensor_network.fully_connected(widths)
    matrices = [gaussian(index, rows, columns) for index, (rows, columns) in enumerate(itertools.pairwise(widths))]
    x, last = gaussian(8, widths[0]), gaussian(9, widths[-1])
    layers = [W.ravel(order="F") for W in matrices] + [last]  # columns are stored one after the other
    expected = reduce(np.matmul, matrices, x) @ last
    assert outputs(network.data_tensor(x)[None], layers)[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_outputs_are_products_of_coefficients_and_inputs(architecture, depth):
    network = network_of(architecture, 4, depth, seed=5)
    states, X = gaussian(1, 6, sum(network.lengths)), gaussian(2, 3, 4)
    expected = [outputs(network.data_tensor(X), network.layers(state)) for state in states]
    np.testing.assert_allclose(network.coefficients(states) @ X.T, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_contractions_are_the_gradient_and_pair_contractions_the_hessian(depth):
    """Derivatives of a tensor contracted with all layers, by the layers."""
    shape = tuple(range(2, 2 + depth))
    tensor, state = gaussian(0, *shape), gaussian(1, sum(shape))
    layers = np.split(state, np.cumsum(shape)[:-1])

    def contracted(state):
        product = torch.tensor(tensor)
        for layer in torch.split(state, shape):
            product = torch.tensordot(layer, product, 1)
        return product

    gradient = plain.gradient(contracted, state)
    np.testing.assert_allclose(np.concatenate(contractions(tensor, layers)), gradient, rtol=0, atol=1e-12)
    hessian = torch.autograd.functional.hessian(contracted, torch.tensor(state))
    np.testing.assert_allclose(pair_contractions(tensor, layers), hessian, rtol=0, atol=1e-12)


@pytest.fixture(params=itertools.product(["diagonal", "convolutional", "decomposable"], [2, 3]), ids=str)
def decomposable_network(request):
    architecture, depth = request.param
    return network_of(architecture, 4, depth, seed=3)


def test_singular_values_and_vectors_rebuild_the_data_tensor(decomposable_network):
    x = gaussian(0, 4)
    rebuilt = np.zeros(decomposable_network.lengths, dtype=complex)
    for j, singular_value in enumerate(decomposable_network.S @ x):
        rebuilt += singular_value * reduce(np.multiply.outer, [U[:, j] for U in decomposable_network.U])
    np.testing.assert_allclose(rebuilt, decomposable_network.data_tensor(x), rtol=0, atol=1e-12)


def test_each_layer_has_singular_vectors_and_they_are_orthonormal(decomposable_network):
    assert len(decomposable_network.U) == decomposable_network.depth
    for layer, U in enumerate(decomposable_network.U):
        gram = U.conj().T @ U
        np.testing.assert_allclose(gram, np.eye(len(decomposable_network.S)), rtol=0, atol=1e-12, err_msg=f"{layer=}")


@pytest.mark.parametrize("lengths", [(4, 3), (3, 4), (2, 3, 4)])
def test_filters_longer_than_the_input_are_refused(lengths):
    with pytest.raises(ValueError, match=re.escape(f"filters of lengths {list(lengths)} do not fit 3 inputs")):
        tensor_network.convolutional(3, lengths)


COEFFICIENTS = st.lists(st.floats(-50, 50).map(lambda value: round(value, 3)), min_size=2, max_size=5)
IMBALANCES = st.floats(1e-3, 1e3)


@settings(max_examples=25)
@given(z=COEFFICIENTS, imbalance=IMBALANCES, architecture=st.sampled_from(plain.ARCHITECTURES))
def test_factors_start_at_the_coefficients_asked_for(z, imbalance, architecture):
    network = network_of(architecture, len(z), 2, seed=0)
    state = factors(architecture, np.array(z), imbalance)
    # layers' squares are at most of this size, and their products have its rounding, a few times 1e-16
    size = 1 + imbalance + np.abs(z).max()
    np.testing.assert_allclose(network.coefficients(state), z, rtol=0, atol=1e-13 * size)


@settings(max_examples=25)
@given(z=COEFFICIENTS, imbalance=IMBALANCES, architecture=st.sampled_from(["diagonal", "convolutional"]))
def test_squares_of_the_singular_coordinates_of_factors_differ_by_the_imbalance(z, imbalance, architecture):
    network = network_of(architecture, len(z), 2, seed=0)
    layers = network.layers(factors(architecture, np.array(z), imbalance))
    first, second = (np.abs(layer @ U) ** 2 for layer, U in zip(layers, network.U, strict=True))
    # squares of the order of 100 are subtracted, whose rounding is 1e-14; the least imbalance is 1e-3
    np.testing.assert_allclose(first - second, imbalance, rtol=1e-9)


@pytest.mark.parametrize("architecture", ["general", "short_filters", "decomposable"])
def test_random_starts_within_the_condition_of_theorem_5_fulfil_it(architecture):
    network = network_of(architecture, 4, 2, seed=1)
    tensor = network.data_tensor(np.array([1.0, -0.3, 0.4, 2.0]))
    rng = np.random.default_rng(2)
    for draw in range(20):
        layers = network.layers(within_condition(tensor, rng))
        assert one_point_condition(tensor, *layers) > 0, f"{draw=}"
