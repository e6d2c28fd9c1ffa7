"""Layers under gradient flow against torch's gradients and scipy's integrator, and what they conserve."""

import copy
import itertools

import numpy as np
import pytest

from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.network import metrics, runs
from tests.papers.tensor_networks import plain
from tests.papers.tensor_networks.plain import judged, setting, verdict

SETTINGS = {"networks": ["diagonal", "convolutional", "fully_connected"], "depths": [2, 3], "horizon": 2.0,
            "points": 4, "rtol": 1e-10, "atol": 1e-12, "seed": 3}  # fmt: skip


@pytest.fixture(scope="module")
def trajectory():
    data = points.regression(samples=2, inputs=3, seeds=2, seed=3)
    return plain.simulated(runs.flow, data, scale=0.7, **SETTINGS)


@pytest.mark.parametrize("depth", SETTINGS["depths"])
@pytest.mark.parametrize("architecture", SETTINGS["networks"])
def test_layers_follow_the_gradient(trajectory, architecture, depth):
    X, y = (trajectory.constants[name][1] for name in "Xy")
    states = trajectory.series[f"{architecture}_{depth}"][1]
    loss = plain.loss_of(architecture, depth, X, y, "squared")
    np.testing.assert_allclose(trajectory.time, [0, 2 / 3, 4 / 3, 2])
    # a hundred local tolerances
    np.testing.assert_allclose(states, plain.flow(loss, states[0], trajectory.time), atol=1e-8)


def test_the_start_is_of_the_size_asked_for(trajectory):
    larger = plain.simulated(
        runs.flow, {name: trajectory.constants[name] for name in "Xy"}, scale=1.4, **{**SETTINGS, "horizon": 1e-3}
    ).series
    starts = [np.concatenate([found[name][:, 0].ravel() for name in found]) for found in (larger, trajectory.series)]
    np.testing.assert_allclose(starts[0], 2 * starts[1], rtol=1e-14)


@pytest.mark.parametrize("depth", SETTINGS["depths"])
@pytest.mark.parametrize("architecture", SETTINGS["networks"])
def test_invariants_by_other_means(trajectory, architecture, depth):
    X, y = (trajectory.constants[name] for name in "Xy")
    trajectory = copy.deepcopy(trajectory)
    trajectory.series[f"{architecture}_{depth}"][:, 1:] += 0.01  # off the flow, so that something drifts
    states = trajectory.series[f"{architecture}_{depth}"]
    table = metrics.flow(trajectory)
    table = table[(table["network"] == architecture) & (table["depth"] == depth)]
    lengths = plain.lengths_of(architecture, 3, depth)
    for (seed, time), rows in table.groupby(["seed", "time"]):
        terms = []
        for state in (states[seed, 0], states[seed, np.argmin(abs(trajectory.time - time))]):
            layers = np.split(state, np.cumsum(lengths)[:-1])
            if architecture == "fully_connected":
                W = [layer.reshape(len(layer) // 3, 3).T if len(layer) > 3 else layer[:, None] for layer in layers]
                own = [a.T @ a - b @ b.T for a, b in itertools.pairwise(W)]
                other = [a @ a.T - b @ b.T for a, b in itertools.pairwise(W)]
                size = max(np.abs(w.T @ w).max() for w in W)
            else:
                sizes = [abs(np.fft.fft(v, norm="ortho") if architecture == "convolutional" else v) for v in layers]
                own, other = ([v**power - sizes[-1] ** power for v in sizes] for power in (2, 1))
                size = max(v.max() for v in sizes) ** 2
            terms.append((np.concatenate([v.ravel() for v in own]), np.concatenate([v.ravel() for v in other]), size))
        loss = float(plain.loss_of(architecture, depth, X[seed], y[seed], "squared")(plain.torch.tensor(state)))
        expected = {
            "drift": abs(terms[1][0] - terms[0][0]).max(), "other": abs(terms[1][1] - terms[0][1]).max(),
            "size": terms[1][2], "loss": loss,
        }  # fmt: skip
        found = rows.set_index("quantity")["value"]
        for quantity, value in expected.items():
            assert found[quantity] == pytest.approx(value, rel=1e-10, abs=1e-13), quantity


def test_a_contraction_sums_over_one_axis_after_the_other():
    found = plain.simulated(runs.contraction, lengths=[4, 3, 2], inputs=3, member=1, seed=5)
    series = {name: array[0, 0] for name, array in found.series.items()}
    M, v1, v2, v3 = (series[name] for name in ("tensor_0", "vector_1", "vector_2", "vector_3"))
    np.testing.assert_allclose(series["tensor_1"], sum(v1[i] * M[i] for i in range(4)))
    np.testing.assert_allclose(series["tensor_2"], np.einsum("ijk,i,j->k", M, v1, v2))
    np.testing.assert_allclose(series["tensor_3"], np.einsum("ijk,i,j,k->", M, v1, v2, v3))
    table = metrics.contraction(found)
    for name, array in series.items():
        rows = table[table["array"] == name]
        index = rows[["axis_1", "axis_2", "axis_3"]].to_numpy()[:, : array.ndim]
        assert len(rows) == array.size
        np.testing.assert_array_equal(rows["value"], [array[tuple(place)] for place in index])


@pytest.mark.parametrize(("claim", "network"), [("conservation", "convolutional"), ("equation_80", "fully_connected")])
def test_a_drift_of_two_tolerances_of_one_draw_is_refused(claim, network):
    where = {"network": network, "depth": 3, "seed": 1}
    found = judged(claim)
    size = found.judgement.headline
    assert size.draws == {"conservation": 12, "equation_80": 4}[claim]
    # the tolerance: a hundred times the integrator's 1e-10, of the largest term
    assert verdict(claim, setting("size", 1.0, **where), setting("drift", 0.9e-8, **where)) == "reproduced"
    assert verdict(claim, setting("size", 1.0, **where), setting("drift", 1.1e-8, **where)) == "contradicted"
    other = {"conservation": "fully_connected", "equation_80": "diagonal"}[claim]
    assert verdict(claim, setting("drift", 1.0, network=other)) == "reproduced"
    assert judged(claim, setting("loss", 1.0), setting("loss", 4.0, time=0.0)).facts["moved"] == 0.25


def by_loops(tensor, layers, activation):
    """The tensor formulation by sums over one index after the other."""
    *hidden, last = layers
    for layer in hidden:
        shape = tensor.shape[1:]
        tensor = activation(
            np.array([layer @ tensor[(slice(None), *place)] for place in np.ndindex(shape)]).reshape(shape)
        )
    return last @ tensor


def test_outputs_with_an_activation_by_loops_and_by_torch():
    settings = {
        "networks": ["diagonal", "convolutional", "fully_connected"], "activations": ["tanh", "sigmoid", "softplus"],
        "depths": [2, 3], "inputs": 2, "draws": 2, "seed": 1,
    }  # fmt: skip
    found = plain.simulated(runs.forward, **settings)
    table = metrics.forward(found)
    known = {"tanh": plain.torch.tanh, "sigmoid": plain.torch.sigmoid, "softplus": plain.torch.nn.functional.softplus}
    rng = np.random.default_rng(0)
    for name, function in known.items():

        def numpy_function(t, function=function):
            return function(plain.torch.tensor(t)).numpy()

        rows = table[(table["activation"] == name) & (table["quantity"] == "at_zero")]
        np.testing.assert_allclose(rows["value"], numpy_function(np.zeros(1))[0])
        x, v, w, u = rng.standard_normal((4, 2))
        W, V = rng.standard_normal((2, 2, 2))
        act = runs.ACTIVATIONS[name]
        swapped = np.array([[x[0], x[1]], [x[1], x[0]]])  # of x the circulant, which is the convolution's tensor
        hidden = numpy_function(swapped @ v)
        convolved = numpy_function(np.array([hidden[0] * w[0] + hidden[1] * w[1], hidden[1] * w[0] + hidden[0] * w[1]]))
        assert runs.layer_by_layer("convolutional", x, [v, w, u], act) == pytest.approx(convolved @ u)
        assert runs.layer_by_layer("diagonal", x, [v, w, u], act) == pytest.approx(
            numpy_function(numpy_function(x * v) * w) @ u
        )
        deep = numpy_function(numpy_function(x @ W) @ V) @ u
        layers = [W.ravel(order="F"), V.ravel(order="F"), u]
        assert runs.layer_by_layer("fully_connected", x, layers, act) == pytest.approx(deep)
        tensor, layers = rng.standard_normal((3, 2, 4)), [rng.standard_normal(size) for size in (3, 2, 4)]
        assert runs.contracted(tensor, layers, act) == pytest.approx(by_loops(tensor, layers, numpy_function))
    for (architecture, name, depth), rows in table[table["quantity"] == "output"].groupby(
        ["network", "activation", "depth"]
    ):
        series = found.series[f"{architecture}_{name}_{depth}"][:, 0]
        np.testing.assert_array_equal(rows.sort_values("seed")[["value", "predicted"]], series)
        agree = architecture == "convolutional" or depth == 2 or name == "tanh"
        assert np.allclose(series[:, 0], series[:, 1], rtol=1e-10) == agree


def test_the_tensor_formulation_is_corrected_where_zeros_pass_the_activation():

    def outputs(relative, **where):
        def alter(tables):
            table = tables["outputs"]
            rows = table["quantity"] == "output"
            for column, value in where.items():
                rows &= table[column] == value
            assert rows.any()
            table.loc[rows, "predicted"] = 2.0
            table.loc[rows, "value"] = 2.0 * (1 + relative)

        return alter

    agree = {"network": "diagonal", "activation": "tanh", "depth": 3, "seed": 1}
    assert verdict("tensor_formulation", outputs(0.5e-10, **agree)) == "corrected"
    assert verdict("tensor_formulation", outputs(2e-10, **agree)) == "contradicted"
    differ = agree | {"activation": "softplus"}
    assert verdict("tensor_formulation", outputs(-2e-6, **differ)) == "corrected"
    assert verdict("tensor_formulation", outputs(0.5e-6, **differ)) == "contradicted"
    assert judged("tensor_formulation", outputs(3e-6, **differ)).facts["apart"] == pytest.approx(3e-6, rel=1e-5)
