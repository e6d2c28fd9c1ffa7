"""Layers under gradient flow against torch's gradients and scipy's integrator, what they conserve, and activations.

Conserved quantities and outputs are compared with those computed here layer by layer. Claims then read tables at smoke
scale in which one thing is altered: `put` and the like return an alteration, which `verdict` and `evaluation_on` apply
to copies of a claim's tables.

Layers are v_1, ..., v_L; those of a fully connected network are square matrices W_1, ..., W_(L-1), column by column,
and a vector w_L, in formulas W_L. U_l takes a layer to its singular coordinates: the entries themselves where diagonal,
and the unitary Fourier transform where convolutional.
"""

import copy
import functools
import itertools

import numpy as np
import pytest
import torch

from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.network import metrics, runs
from tests.papers.tensor_networks import plain
from tests.papers.tensor_networks.plain import (
    evaluation_on,
    off_prediction_relative,
    put,
    read,
    run_settings,
    verdict,
)

INPUTS = 3
DEPTHS = [2, 3]
SETTINGS = {
    "networks": plain.ARCHITECTURES,
    "depths": DEPTHS,
    "horizon": 2.0,
    "points": 4,
    "rtol": 1e-10,
    "atol": 1e-12,
    "seed": 3,
}
MEMBER = 1  # the data set that is compared


@pytest.fixture(scope="module")
def trajectory():
    """The flow of each network on two data sets."""
    data = points.regression(samples=2, inputs=INPUTS, seeds=2, seed=3)
    return plain.trajectory_with_settings(runs.flow, data, scale=0.7, **SETTINGS)


def data_set(trajectory):
    """Return X and y of the data set that is compared."""
    return trajectory.constants["X"][MEMBER], trajectory.constants["y"][MEMBER]


EACH_DEPTH = pytest.mark.parametrize("depth", DEPTHS)
EACH_ARCHITECTURE = pytest.mark.parametrize("architecture", plain.ARCHITECTURES)


@EACH_DEPTH
@EACH_ARCHITECTURE
def test_layers_follow_the_gradient(trajectory, architecture, depth):
    states = trajectory.series[f"{architecture}_{depth}"][MEMBER]
    loss = plain.loss_of(architecture, depth, *data_set(trajectory), "squared")
    # a hundred times the integrator's rtol, as errors of its steps add up; states are of order one
    np.testing.assert_allclose(states, plain.flow(loss, states[0], trajectory.time), rtol=0, atol=1e-8)


def test_flows_are_recorded_at_equal_distances_until_the_horizon(trajectory):
    np.testing.assert_allclose(trajectory.time, [0, 2 / 3, 4 / 3, 2])


def test_starts_are_in_proportion_to_the_scale(trajectory):
    data = {name: trajectory.constants[name] for name in ("X", "y")}
    settings = SETTINGS | {"horizon": 1e-3}  # the start alone is compared
    twice_as_large = plain.trajectory_with_settings(runs.flow, data, scale=1.4, **settings)
    for name, states in trajectory.series.items():
        start = states[:, 0]
        np.testing.assert_allclose(twice_as_large.series[name][:, 0], 2 * start, rtol=1e-14, err_msg=name)


def gram_differences(layers):
    """Return what a fully connected network conserves, what it does not, and the largest entry of W_l^T W_l.

    Conserved is W_l^T W_l - W_(l+1) W_(l+1)^T, entry by entry (80, 81); W_l W_l^T - W_(l+1) W_(l+1)^T is not.
    """
    matrices = [layer.reshape(INPUTS, INPUTS).T for layer in layers[:-1]] + [layers[-1][:, None]]
    conserved, others = [], []
    for W, V in itertools.pairwise(matrices):
        conserved.append(W.T @ W - V @ V.T)
        others.append(W @ W.T - V @ V.T)
    return np.ravel(conserved), np.ravel(others), max(np.abs(W.T @ W).max() for W in matrices)


def size_differences(sizes):
    """Return what a decomposable network conserves, what it does not, and the largest square of a size.

    Sizes are |U_l^T v_l|, in singular coordinates. The difference of their squares from those of the last layer is
    conserved (21); that of the sizes themselves is not.
    """
    last = sizes[-1]
    conserved = [size**2 - last**2 for size in sizes]
    others = [size - last for size in sizes]
    return np.ravel(conserved), np.ravel(others), np.max(sizes) ** 2


def differences(architecture, depth, state):
    """Return what a network conserves, what it does not, and the largest term of the differences."""
    layers = plain.layers_of(architecture, INPUTS, depth, state)
    if architecture == "fully_connected":
        return gram_differences(layers)
    if architecture == "convolutional":
        layers = [np.fft.fft(layer, norm="ortho") for layer in layers]
    return size_differences(np.abs(layers))


@EACH_DEPTH
@EACH_ARCHITECTURE
def test_drifts_are_changes_of_differences_that_are_computed_layer_by_layer(trajectory, architecture, depth):
    trajectory = copy.deepcopy(trajectory)
    states = trajectory.series[f"{architecture}_{depth}"]
    states[:, 1:] += 0.01  # off the flow, so that what is conserved drifts too
    table = metrics.flow(trajectory)
    loss = plain.loss_of(architecture, depth, *data_set(trajectory), "squared")

    conserved_at_start, other_at_start, _ = differences(architecture, depth, states[MEMBER, 0])
    for time, state in zip(trajectory.time, states[MEMBER], strict=True):
        conserved, other, largest_term = differences(architecture, depth, state)
        expected = {
            "drift": np.abs(conserved - conserved_at_start).max(),
            "other_drift": np.abs(other - other_at_start).max(),
            "largest_term": largest_term,
            "loss": float(loss(torch.tensor(state))),
        }
        for quantity, number in expected.items():
            measured = read(table, quantity, network=architecture, depth=depth, seed=MEMBER, time=time)
            np.testing.assert_allclose(measured, number, rtol=1e-10, atol=1e-13, err_msg=f"{quantity=} {time=}")


@functools.cache
def contraction():
    """A random tensor of order three that is contracted with a vector along each axis."""
    return plain.trajectory_with_settings(runs.contraction, lengths=[4, 3, 2], inputs=3, member=1, seed=5)


def arrays_of_contraction():
    """Return the tensors and vectors by name; series have an axis for members and one for times before their own."""
    return {name: array[0, 0] for name, array in contraction().series.items()}


def test_a_contraction_sums_over_one_axis_after_the_other():
    """As figure 2 shows it."""
    arrays = arrays_of_contraction()
    M, v1, v2, v3 = (arrays[name] for name in ("tensor_0", "vector_1", "vector_2", "vector_3"))
    np.testing.assert_allclose(arrays["tensor_1"], np.einsum("ijk,i->jk", M, v1))
    np.testing.assert_allclose(arrays["tensor_2"], np.einsum("ijk,i,j->k", M, v1, v2))
    np.testing.assert_allclose(arrays["tensor_3"], np.einsum("ijk,i,j,k->", M, v1, v2, v3))


@pytest.mark.parametrize("name", ["tensor_0", "tensor_1", "tensor_2", "tensor_3", "vector_1", "vector_2", "vector_3"])
def test_the_table_of_a_contraction_has_a_row_for_each_entry_of_an_array(name):
    array = arrays_of_contraction()[name]
    table = metrics.contraction(contraction())
    rows = table[table["array"] == name]
    assert len(rows) == array.size
    axes = ["axis_1", "axis_2", "axis_3"][: array.ndim]
    for entry in rows.to_dict("records"):
        place = tuple(entry[axis] for axis in axes)
        assert entry["value"] == array[place], f"{place=}"


EACH_CONSERVATION_LAW = pytest.mark.parametrize(
    ("claim", "network"), [("conservation", "convolutional"), ("equation_80", "fully_connected")]
)


@EACH_CONSERVATION_LAW
@pytest.mark.parametrize(("tolerances", "expected"), [(0.9, "reproduced"), (1.1, "contradicted")])
def test_the_drift_of_one_draw_is_refused_beyond_the_integrators_error(claim, network, tolerances, expected):
    where = {"network": network, "depth": 3, "seed": 1}
    # 100 is `squared_flow.FLOW_ERROR`; in units of the largest term
    tolerance = 100 * run_settings("conservation")["integration"]["rtol"]
    drifting = put("drift", tolerances * tolerance, **where)
    assert verdict(claim, put("largest_term", 1.0, **where), drifting) == expected


@pytest.mark.parametrize(("claim", "other_network"), [("conservation", "fully_connected"), ("equation_80", "diagonal")])
def test_a_conservation_law_is_not_judged_on_networks_with_another(claim, other_network):
    assert verdict(claim, put("drift", 1.0, network=other_network)) == "reproduced"


@pytest.mark.parametrize("claim", ["conservation", "equation_80"])
def test_a_conservation_law_says_to_which_share_the_loss_falls(claim):
    falls_to_a_quarter = [put("loss", 1.0), put("loss", 4.0, time=0.0)]
    assert evaluation_on(claim, *falls_to_a_quarter).facts["median_loss_ratio"] == 1 / 4


ACTIVATIONS = {
    "identity": torch.nn.Identity(),
    "tanh": torch.nn.functional.tanh,
    "relu": torch.nn.functional.relu,
    "sigmoid": torch.nn.functional.sigmoid,
    "softplus": torch.nn.functional.softplus,
}
EACH_ACTIVATION = pytest.mark.parametrize("name", ACTIVATIONS)


@EACH_ACTIVATION
def test_activations_are_those_of_torch(name):
    values = np.array([-1.3, 0.0, 0.7])
    np.testing.assert_allclose(runs.ACTIVATIONS[name](values), ACTIVATIONS[name](torch.tensor(values)))


@EACH_ACTIVATION
@pytest.mark.parametrize("architecture", plain.ARCHITECTURES)
def test_an_activation_is_applied_after_each_layer_but_the_last(architecture, name):
    """Diagonal (3), convolutional (4) and fully connected (5) networks of three layers."""
    activation, rng = runs.ACTIVATIONS[name], np.random.default_rng(0)
    x, first, second, last = rng.standard_normal((4, INPUTS))
    W, V = rng.standard_normal((2, INPUTS, INPUTS))
    layers = [first, second, last]
    if architecture == "diagonal":
        expected = activation(activation(x * first) * second) @ last
    elif architecture == "convolutional":
        hidden = activation(np.array([np.roll(x, -place) @ first for place in range(INPUTS)]))
        expected = activation(np.array([np.roll(hidden, -place) @ second for place in range(INPUTS)])) @ last
    else:
        layers = [W.ravel(order="F"), V.ravel(order="F"), last]
        expected = activation(activation(x @ W) @ V) @ last
    assert runs.layer_by_layer(architecture, x, layers, activation) == pytest.approx(expected)


@EACH_ACTIVATION
def test_an_activation_is_applied_after_each_contraction_but_the_last(name):
    """Equation (2), with a tensor of order three."""
    activation, rng = runs.ACTIVATIONS[name], np.random.default_rng(0)
    tensor = rng.standard_normal((3, 2, 4))
    first, second, last = (rng.standard_normal(size) for size in (3, 2, 4))
    matrix = activation(np.einsum("ijk,i->jk", tensor, first))
    expected = activation(np.einsum("jk,j->k", matrix, second)) @ last
    assert runs.contracted(tensor, [first, second, last], activation) == pytest.approx(expected)


@functools.cache
def outputs():
    """Outputs of networks by the tensor formulation and layer by layer, and their table."""
    settings = {"networks": ["diagonal", "convolutional"], "activations": ["tanh", "sigmoid"], "depths": [2, 3]}
    trajectory = plain.trajectory_with_settings(runs.forward, **settings, inputs=2, draws=2, seed=1)
    return trajectory, metrics.forward(trajectory)


def test_the_value_of_the_sigmoid_at_zero_is_measured():
    _, table = outputs()
    np.testing.assert_array_equal(read(table, "activation_at_zero", activation="sigmoid"), 0.5)


@pytest.mark.parametrize("architecture", ["diagonal", "convolutional"])
@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
@EACH_DEPTH
def test_an_output_of_the_tensor_is_predicted_by_that_of_the_layers(architecture, name, depth):
    trajectory, table = outputs()
    by_tensor, by_layers = trajectory.series[f"{architecture}_{name}_{depth}"][:, 0].T
    where = {"network": architecture, "activation": name, "depth": depth}
    np.testing.assert_array_equal(read(table, "output", **where), by_tensor)
    np.testing.assert_array_equal(read(table, "output", "predicted", **where), by_layers)


@pytest.mark.parametrize("architecture", ["diagonal", "convolutional"])
@pytest.mark.parametrize("name", ["tanh", "sigmoid"])
@EACH_DEPTH
def test_both_outputs_differ_only_where_zeros_of_a_deep_tensor_pass_an_activation(architecture, name, depth):
    trajectory, _ = outputs()
    by_tensor, by_layers = trajectory.series[f"{architecture}_{name}_{depth}"][:, 0].T
    # a first contraction leaves a matrix with zeros off its diagonal, which the sigmoid turns into 1/2; with two layers
    # it leaves a vector, without zeros
    differ = architecture == "diagonal" and name == "sigmoid" and depth == 3
    assert np.allclose(by_tensor, by_layers, rtol=1e-10) != differ


@pytest.mark.parametrize(("error", "expected"), [(0.9e-10, "corrected"), (1.1e-10, "contradicted")])
def test_where_zeros_stay_zero_the_tensor_formulation_may_err_by_rounding(error, expected):
    """The criterion is 1e-10; tanh is zero at zero."""
    where = {"network": "diagonal", "activation": "tanh", "depth": 3, "seed": 1}
    assert verdict("tensor_formulation", off_prediction_relative("output", error, **where)) == expected


WHERE_ZEROS_DO_NOT_STAY = {"network": "diagonal", "activation": "softplus", "depth": 3, "seed": 1}


@pytest.mark.parametrize(("error", "expected"), [(-1.1e-6, "corrected"), (0.9e-6, "contradicted")])
def test_where_zeros_do_not_stay_zero_the_tensor_formulation_differs(error, expected):
    """The criterion is 1e-6, in size; softplus is log 2 at zero."""
    alteration = off_prediction_relative("output", error, **WHERE_ZEROS_DO_NOT_STAY)
    assert verdict("tensor_formulation", alteration) == expected


def test_the_tensor_formulation_says_how_far_outputs_are_apart_at_least():
    alteration = off_prediction_relative("output", 3e-6, **WHERE_ZEROS_DO_NOT_STAY)
    # differences are relative to the larger output, which is larger by 3e-6
    assert evaluation_on("tensor_formulation", alteration).facts["least_difference"] == pytest.approx(3e-6, rel=1e-5)
