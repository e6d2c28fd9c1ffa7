"""Layers under gradient flow against torch's gradients and scipy's integrator, and what they conserve."""

import copy
import itertools

import numpy as np
import pytest
import torch

from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.network import metrics, runs
from learning_dynamics.tidy import select
from tests.papers.tensor_networks import plain
from tests.papers.tensor_networks.plain import evaluation_on, off_relative, put, verdict

SETTINGS = {
    "networks": ["diagonal", "convolutional", "fully_connected"],
    "depths": [2, 3],
    "horizon": 2.0,
    "points": 4,
    "rtol": 1e-10,
    "atol": 1e-12,
    "seed": 3,
}


@pytest.fixture(scope="module")
def trajectory():
    data = points.regression(samples=2, inputs=3, seeds=2, seed=3)
    return plain.trajectory_with_settings(runs.flow, data, scale=0.7, **SETTINGS)


@pytest.mark.parametrize("depth", SETTINGS["depths"])
@pytest.mark.parametrize("architecture", SETTINGS["networks"])
def test_layers_follow_the_gradient(trajectory, architecture, depth):
    X, y = (trajectory.constants[name][1] for name in "Xy")
    states = trajectory.series[f"{architecture}_{depth}"][1]
    loss = plain.loss_of(architecture, depth, X, y, "squared")
    np.testing.assert_allclose(trajectory.time, [0, 2 / 3, 4 / 3, 2])
    # a hundred local tolerances
    np.testing.assert_allclose(states, plain.flow(loss, states[0], trajectory.time), rtol=0, atol=1e-8)


def test_the_start_is_of_the_size_asked_for(trajectory):
    larger = plain.trajectory_with_settings(
        runs.flow, {name: trajectory.constants[name] for name in "Xy"}, scale=1.4, **{**SETTINGS, "horizon": 1e-3}
    ).series
    starts = [np.concatenate([found[name][:, 0].ravel() for name in found]) for found in (larger, trajectory.series)]
    np.testing.assert_allclose(starts[0], 2 * starts[1], rtol=1e-14)


@pytest.mark.parametrize("depth", SETTINGS["depths"])
@pytest.mark.parametrize("architecture", SETTINGS["networks"])
def test_invariants_by_other_means(trajectory, architecture, depth):
    X, y = (trajectory.constants[name][1] for name in "Xy")
    trajectory = copy.deepcopy(trajectory)
    states = trajectory.series[f"{architecture}_{depth}"]
    states[:, 1:] += 0.01  # off the flow, so that something drifts
    table = metrics.flow(trajectory)

    def terms(state):
        layers = np.split(state, np.cumsum(plain.lengths_of(architecture, 3, depth))[:-1])
        if architecture == "fully_connected":
            W = [layer.reshape(len(layer) // 3, 3).T if len(layer) > 3 else layer[:, None] for layer in layers]
            own = [a.T @ a - b @ b.T for a, b in itertools.pairwise(W)]
            other = [a @ a.T - b @ b.T for a, b in itertools.pairwise(W)]
            size = max(np.abs(w.T @ w).max() for w in W)
        else:
            sizes = [abs(np.fft.fft(v, norm="ortho") if architecture == "convolutional" else v) for v in layers]
            own, other = ([v**power - sizes[-1] ** power for v in sizes] for power in (2, 1))
            size = max(v.max() for v in sizes) ** 2
        return *(np.concatenate([v.ravel() for v in each]) for each in (own, other)), size

    own, other, _ = terms(states[1, 0])
    for time, state in zip(trajectory.time, states[1], strict=True):
        found = select(table, network=architecture, depth=depth, seed=1, time=time).set_index("quantity")["value"]
        own_then, other_then, size = terms(state)
        loss = float(plain.loss_of(architecture, depth, X, y, "squared")(torch.tensor(state)))
        expected = [abs(own_then - own).max(), abs(other_then - other).max(), size, loss]
        np.testing.assert_allclose(
            found[["drift", "other_drift", "largest_term", "loss"]],
            expected,
            rtol=1e-10,
            atol=1e-13,
            err_msg=f"{time=}",
        )


def test_a_contraction_sums_over_one_axis_after_the_other():
    found = plain.trajectory_with_settings(runs.contraction, lengths=[4, 3, 2], inputs=3, member=1, seed=5)
    series = {name: array[0, 0] for name, array in found.series.items()}
    M, v1, v2, v3 = (series[name] for name in ("tensor_0", "vector_1", "vector_2", "vector_3"))
    np.testing.assert_allclose(series["tensor_1"], np.einsum("ijk,i->jk", M, v1))
    np.testing.assert_allclose(series["tensor_2"], np.einsum("ijk,i,j->k", M, v1, v2))
    np.testing.assert_allclose(series["tensor_3"], np.einsum("ijk,i,j,k->", M, v1, v2, v3))
    table = metrics.contraction(found)
    for name, array in series.items():
        rows = table[table["array"] == name]
        index = rows[["axis_1", "axis_2", "axis_3"]].to_numpy()[:, : array.ndim]
        assert len(rows) == array.size, f"{name=}"
        np.testing.assert_array_equal(rows["value"], [array[tuple(place)] for place in index], err_msg=f"{name=}")


@pytest.mark.parametrize(("claim", "network"), [("conservation", "convolutional"), ("equation_80", "fully_connected")])
def test_a_drift_of_two_tolerances_of_one_draw_is_refused(claim, network):
    where = {"network": network, "depth": 3, "seed": 1}
    found = evaluation_on(claim)
    size = found.judgement.headline
    assert size.draws == {"conservation": 12, "equation_80": 4}[claim]
    # the tolerance: a hundred times the integrator's 1e-10, of the largest term
    assert verdict(claim, put("largest_term", 1.0, **where), put("drift", 0.9e-8, **where)) == "reproduced"
    assert verdict(claim, put("largest_term", 1.0, **where), put("drift", 1.1e-8, **where)) == "contradicted"
    other = {"conservation": "fully_connected", "equation_80": "diagonal"}[claim]
    assert verdict(claim, put("drift", 1.0, network=other)) == "reproduced"
    assert evaluation_on(claim, put("loss", 1.0), put("loss", 4.0, time=0.0)).facts["moved"] == 0.25


@pytest.mark.parametrize("name", ["identity", "tanh", "relu", "sigmoid", "softplus"])
def test_outputs_with_an_activation_by_hand(name):
    act, rng = runs.ACTIVATIONS[name], np.random.default_rng(0)
    values = np.array([-1.3, 0.0, 0.7])
    known = torch.nn.Identity() if name == "identity" else getattr(torch.nn.functional, name)
    np.testing.assert_allclose(act(values), known(torch.tensor(values)))
    x, v, w, u = rng.standard_normal((4, 3))
    W, V = rng.standard_normal((2, 3, 3))
    hidden = act(np.array([np.roll(x, -place) @ v for place in range(3)]))
    convolved = act(np.array([np.roll(hidden, -place) @ w for place in range(3)])) @ u
    assert runs.layer_by_layer("convolutional", x, [v, w, u], act) == pytest.approx(convolved)
    assert runs.layer_by_layer("diagonal", x, [v, w, u], act) == pytest.approx(act(act(x * v) * w) @ u)
    layers = [W.ravel(order="F"), V.ravel(order="F"), u]
    assert runs.layer_by_layer("fully_connected", x, layers, act) == pytest.approx(act(act(x @ W) @ V) @ u)
    tensor, layers = rng.standard_normal((3, 2, 4)), [rng.standard_normal(size) for size in (3, 2, 4)]
    first = act(np.einsum("ijk,i->jk", tensor, layers[0]))
    expected = act(np.einsum("jk,j->k", first, layers[1])) @ layers[2]
    assert runs.contracted(tensor, layers, act) == pytest.approx(expected)


def test_outputs_are_measured_in_both_ways():
    settings = {"networks": ["diagonal", "convolutional"], "activations": ["tanh", "sigmoid"], "depths": [2, 3]}
    found = plain.trajectory_with_settings(runs.forward, **settings, inputs=2, draws=2, seed=1)
    table = metrics.forward(found)
    np.testing.assert_array_equal(plain.read(table, "activation_at_zero", activation="sigmoid"), 0.5)
    outputs = select(table, "output")
    for (architecture, name, depth), rows in outputs.groupby(["network", "activation", "depth"]):
        series = found.series[f"{architecture}_{name}_{depth}"][:, 0]
        np.testing.assert_array_equal(rows[["value", "predicted"]], series, err_msg=f"{architecture=} {name=} {depth=}")
        agree = architecture == "convolutional" or depth == 2 or name == "tanh"
        assert np.allclose(series[:, 0], series[:, 1], rtol=1e-10) == agree, f"{architecture=} {name=} {depth=}"


def test_the_tensor_formulation_is_corrected_where_zeros_pass_the_activation():
    agree = {"network": "diagonal", "activation": "tanh", "depth": 3, "seed": 1}
    assert verdict("tensor_formulation", off_relative("output", 0.5e-10, **agree)) == "corrected"
    assert verdict("tensor_formulation", off_relative("output", 2e-10, **agree)) == "contradicted"
    differ = agree | {"activation": "softplus"}
    assert verdict("tensor_formulation", off_relative("output", -2e-6, **differ)) == "corrected"
    assert verdict("tensor_formulation", off_relative("output", 0.5e-6, **differ)) == "contradicted"
    apart = evaluation_on("tensor_formulation", off_relative("output", 3e-6, **differ)).facts["apart"]
    assert apart == pytest.approx(3e-6, rel=1e-5)
