"""Flows of the exponential loss and what is measured of them, against other methods.

Flows are compared with scipy's integrator of the loss itself; measures with torch's derivatives of it at the layers
themselves, with optima by scipy, and with made-up flows whose powers of log t are known.

- log t is short for 1 + log(1 + t), and log log t, the time of all flows here, for the logarithm of that. A network of
  L layers grows like (log t)^(1/L): recorded states are all layers v_1, ..., v_L in one vector, divided by that.
- beta are the coefficients, f(x) = x^T beta. X^T r is the sum of all points x_i with the residuals of the exponential
  loss as weights (7), and M(x) the data tensor, f(x) = M(x) contracted with all layers (6).
- A diagonal or convolutional network has beta = S^T rho (24), with a matrix S and the entrywise product rho of all
  layers in singular coordinates, which are the entries themselves, or those of the Fourier transform.
"""

import functools

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp
from scipy.optimize import linprog, minimize, minimize_scalar

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.classification import metrics, runs, theory
from learning_dynamics.trajectories import Trajectory
from tests.papers.tensor_networks import plain
from tests.papers.tensor_networks.plain import read
from tests.support import metrics_table

ACCURATE = {"sharpness": 1e12, "rtol": 1e-10, "atol": 1e-14, "seed": 2}  # a cap so high leaves the exponent as it is
TWO_POINTS = points.given(points=[[1.0, 2.0], [0.0, -3.0]], labels=[1.0, -1.0])
MEMBER = 1  # the data set that is compared

EACH_ARCHITECTURE = pytest.mark.parametrize("architecture", plain.ARCHITECTURES)
EACH_DEPTH = pytest.mark.parametrize("depth", [2, 3])


@functools.cache
def separable():
    """Two data sets of two points with three inputs."""
    return points.separable(samples=2, inputs=3, margin=0.5, seeds=2, seed=2)


def unit(vector):
    return vector / np.linalg.norm(vector)


def angle(one, other):
    """Return the angle between two vectors in degrees."""
    return np.degrees(np.arccos(np.clip(unit(one) @ unit(other), -1, 1)))


# -- flows -------------------------------------------------------------------------------------------------------------


def assert_flow(architecture, depth, X, y, *, log_log_times, states):
    """Assert that states are those of the loss's own flow, divided by (1 + log(1 + t))^(1/L)."""
    loss = plain.loss_of(architecture, depth, X, y, "exponential")
    integrated = plain.flow(loss, states[0], np.expm1(np.expm1(log_log_times)))
    undivided = states * np.exp(log_log_times / depth)[:, None]
    # up to a thousand steps, each with an error of rtol, 1e-10, of states of order one
    np.testing.assert_allclose(undivided, integrated, rtol=0, atol=1e-7)


def flows_from_random_layers(scale=0.8, **settings):
    """Follow flows on both data sets until a log log t of 1/2, and then of 1."""
    times = {"last": 0.5, "records": 4, "doublings": 1}
    settings = {"scale": scale, **settings, **times, **ACCURATE}
    return plain.trajectory_with_settings(runs.from_random_layers, separable(), **settings)


@EACH_ARCHITECTURE
@pytest.mark.parametrize(("depth", "zero"), [(2, "first"), (3, "first"), (3, "middle"), (2, "last"), (3, "last")])
def test_flows_from_random_layers_are_those_of_the_loss(architecture, depth, zero):
    trajectory = flows_from_random_layers(networks=[architecture], depth=depth, zero=zero)
    data, states = separable(), trajectory.series[architecture][MEMBER]
    assert_flow(architecture, depth, data["X"][MEMBER], data["y"][MEMBER], log_log_times=trajectory.time, states=states)


@EACH_ARCHITECTURE
@pytest.mark.parametrize(
    ("depth", "zero", "place"), [(2, "first", 0), (3, "first", 0), (3, "middle", 1), (2, "last", 1), (3, "last", 2)]
)
def test_the_layer_that_is_named_is_zero_and_no_other(architecture, depth, zero, place):
    start = flows_from_random_layers(networks=[architecture], depth=depth, zero=zero).series[architecture][MEMBER, 0]
    layers = plain.layers_of(architecture, 3, depth, start)
    assert [layer.any() for layer in layers] == [layer != place for layer in range(depth)]


@EACH_ARCHITECTURE
def test_random_layers_are_in_proportion_to_the_scale(architecture):
    settings = {"networks": [architecture], "depth": 2, "zero": "last"}
    start, start_twice_as_large = (
        flows_from_random_layers(scale=scale, **settings).series[architecture][:, 0] for scale in (0.8, 1.6)
    )
    np.testing.assert_allclose(start_twice_as_large, 2 * start)


def test_flows_are_recorded_densely_at_the_start_and_then_at_a_doubling():
    """Four records are at squares of equal distances up to 1/2; one doubling adds another at 1."""
    trajectory = flows_from_random_layers(networks=["diagonal"], depth=2, zero="last")
    np.testing.assert_allclose(trajectory.time, [0, 0.5 / 9, 0.5 * 4 / 9, 0.5, 1.0])


@pytest.mark.parametrize("architecture", ["diagonal", "convolutional"])
def test_starts_of_which_no_layer_is_zero_are_within_the_condition_of_theorem_2(architecture):
    starts = flows_from_random_layers(networks=[architecture], depth=2, zero="none").series[architecture][:, 0]
    first, last = starts[:, :3], starts[:, 3:]
    if architecture == "convolutional":  # the singular vectors are those of the Fourier transform
        first, last = np.fft.fft(first), np.fft.fft(last)
    assert (np.abs(last) > 1e-3).all()  # no coordinate is zero but for rounding, 1e-16
    # the condition is |first|^2 >= |last|^2 + lambda in each coordinate; `starts.within_condition` keeps a tenth off
    assert (np.abs(last) < 0.9 * np.abs(first)).all()


@pytest.mark.parametrize(
    ("networks", "depth", "zero"),
    [
        (["diagonal"], 3, "none"),  # the condition is known of two layers
        (["general"], 2, "none"),  # and of decomposable networks
        (["diagonal"], 2, "middle"),  # of two layers none is a middle one
    ],
)
def test_starts_that_do_not_exist_are_refused(networks, depth, zero):
    with pytest.raises(ProjectError, match="zero: "):
        flows_from_random_layers(networks=networks, depth=depth, zero=zero)


@functools.cache
def flows_from_coefficients():
    """Flows of diagonal networks from two coefficients at two scales; directions vary fastest along the first axis."""
    settings = {"networks": ["diagonal"], "scales": [0.5, 1.0], "directions": 2, "imbalance": 1.0}
    times = {"last": 1.0, "records": 4}
    return plain.trajectory_with_settings(runs.from_coefficients, TWO_POINTS, **settings, **times, **ACCURATE)


EACH_START = pytest.mark.parametrize(
    ("position", "scale", "direction"), [(0, 0.5, 0), (1, 0.5, 1), (2, 1.0, 0), (3, 1.0, 1)]
)


@pytest.mark.parametrize("position", range(4))
def test_flows_from_given_coefficients_are_those_of_the_loss(position):
    trajectory = flows_from_coefficients()
    states = trajectory.series["diagonal"][position]
    X, y = TWO_POINTS["X"][0], TWO_POINTS["y"][0]
    assert_flow("diagonal", 2, X, y, log_log_times=trajectory.time, states=states)


def test_flows_from_given_coefficients_are_recorded_at_equal_distances():
    np.testing.assert_allclose(flows_from_coefficients().time, np.linspace(0, 1, 4))


@pytest.mark.parametrize("direction", [0, 1])
def test_given_coefficients_are_in_proportion_to_the_square_of_the_scale(direction):
    starts = flows_from_coefficients().series["diagonal"][:, 0]
    at_half, at_one = (plain.beta_of("diagonal", 2, 2, starts[position]) for position in (direction, 2 + direction))
    np.testing.assert_allclose(at_one, 4 * at_half)


@EACH_START
def test_the_table_of_given_coefficients_has_each_by_its_scale_and_direction(position, scale, direction):
    trajectory = flows_from_coefficients()
    table = metrics.from_coefficients(trajectory, window=[0.1, 2.0])
    beta = plain.beta_of("diagonal", 2, 2, trajectory.series["diagonal"][position, -1])
    expected = (TWO_POINTS["y"][0] * (TWO_POINTS["X"][0] @ beta)).min()
    margin = read(table, "margin", log_log_time=1.0, scale=scale, direction=direction)
    np.testing.assert_allclose(margin, expected)


# two data sets of one point
SINGLE_POINTS = points.given(points=[[1.5, 1.0, -0.3], [0.5, -2.0, 1.0]], labels=[1.0, -1.0], separate=True)


@functools.cache
def flows_from_many_starts():
    """Flows of two starts on each single point, and their table."""
    settings = {"networks": ["diagonal", "convolutional"], "depths": [2, 3], "starts": 2, "scale": 0.8}
    times = {"last": 0.5, "doublings": 1}
    trajectory = plain.trajectory_with_settings(runs.from_many_starts, SINGLE_POINTS, **settings, **times, **ACCURATE)
    return trajectory, metrics.from_many_starts(trajectory)


def states_of_start(architecture, depth, start):
    trajectory, _ = flows_from_many_starts()
    return trajectory.series[f"{architecture}_{depth}"][MEMBER, :, start]  # times, parameters


EACH_OF_MANY_STARTS = pytest.mark.parametrize("start", [0, 1])
EACH_DECOMPOSABLE = pytest.mark.parametrize("architecture", ["diagonal", "convolutional"])


@EACH_DECOMPOSABLE
@EACH_DEPTH
def test_many_starts_differ(architecture, depth):
    first, second = (states_of_start(architecture, depth, start)[0] for start in (0, 1))
    assert not np.allclose(first, second)


@EACH_DECOMPOSABLE
@EACH_DEPTH
@EACH_OF_MANY_STARTS
def test_each_of_many_starts_is_followed_by_itself(architecture, depth, start):
    trajectory, _ = flows_from_many_starts()
    X, y = SINGLE_POINTS["X"][MEMBER], SINGLE_POINTS["y"][MEMBER]
    states = states_of_start(architecture, depth, start)
    assert_flow(architecture, depth, X, y, log_log_times=trajectory.time, states=states)


@EACH_DECOMPOSABLE
@EACH_DEPTH
@EACH_OF_MANY_STARTS
def test_direction_and_margin_of_many_starts_are_those_of_the_coefficients(architecture, depth, start):
    _, table = flows_from_many_starts()
    x = SINGLE_POINTS["X"][MEMBER, 0]  # whose label is -1
    beta = plain.beta_of(architecture, 3, depth, states_of_start(architecture, depth, start)[-1])
    flow = {"network": architecture, "depth": depth, "seed": MEMBER, "start": start, "log_log_time": 1.0}
    np.testing.assert_allclose(read(table, "direction", **flow), unit(beta))
    np.testing.assert_allclose(read(table, "margin", **flow), -x @ beta)


@EACH_DEPTH
@EACH_OF_MANY_STARTS
def test_the_quasi_norm_excess_of_many_starts_is_over_the_solution_with_one_entry(depth, start):
    """On one point that solution has the largest entry of x alone, -2: its quasi-norm's power is 2^(-2/L)."""
    _, table = flows_from_many_starts()
    x, power = SINGLE_POINTS["X"][MEMBER, 0], 2 / depth
    beta = plain.beta_of("diagonal", 3, depth, states_of_start("diagonal", depth, start)[-1])
    size = np.sum(np.abs(beta / (x @ beta)) ** power)
    flow = {"network": "diagonal", "depth": depth, "seed": MEMBER, "start": start, "log_log_time": 1.0}
    np.testing.assert_allclose(read(table, "quasi_norm_excess", **flow), size / 2**-power - 1)


@functools.cache
def opposed_layers():
    """Two diagonal layers on each of two single points that start opposed, at two scales, and their table."""
    data = points.given(points=[[2.0, -1.4], [0.5, 1.0]], labels=[1.0, -1.0], separate=True)
    trajectory = plain.trajectory_with_settings(
        runs.from_opposed_layers, data, scales=[0.3, 1.0], horizon=3.0, points=4, rtol=1e-9, atol=1e-12, seed=2
    )
    return data, trajectory, metrics.from_opposed_layers(trajectory)


@pytest.mark.parametrize(("position", "seed", "scale"), [(0, 0, 0.3), (1, 0, 1.0), (2, 1, 0.3), (3, 1, 1.0)])
def test_opposed_layers_shrink_as_their_equation_says(position, seed, scale):
    """Every size falls like exp(-|x_j| s), with ds/dt = L = exp(sum_j |x_j| size_j^2)."""
    data, trajectory, table = opposed_layers()
    rates, start = np.abs(data["X"][seed, 0]), np.abs(trajectory.series["states"][position, 0, :2])
    times = np.arange(4.0)

    def sizes_at(s):
        return start * np.exp(-np.outer(s, rates))

    def loss_at(s):
        return np.exp(sizes_at(s) ** 2 @ rates)

    s = solve_ivp(lambda _t, s: loss_at(s), (0, 3), [0.0], t_eval=times, rtol=1e-10, atol=1e-12).y[0]
    draw = {"seed": seed, "scale": scale}
    # a hundred times the integrator's rtol, 1e-9
    np.testing.assert_allclose(read(table, "largest_parameter", **draw), sizes_at(s).max(axis=1), rtol=1e-7)
    np.testing.assert_allclose(read(table, "loss", **draw), loss_at(s), rtol=1e-7)
    np.testing.assert_allclose(read(table, "largest_parameter", "time", **draw), times)


# -- measures at every time --------------------------------------------------------------------------------------------


def made_up_flow(architecture, log_log_times, states, *, X, y, depth=2, **integration):
    """Return a trajectory with given states, (times, parameters), of one draw, or of several along a first axis."""
    settings = {"networks": [architecture], "depth": depth, "scale": 0.8, "seed": 2}
    settings["integration"] = {"sharpness": 1e7, "rtol": 1e-10, "atol": 1e-14, **integration}
    series = {architecture: np.reshape(states, (-1, len(log_log_times), states.shape[-1]))}
    data = {"X": np.reshape(X, (-1, *X.shape[-2:])), "y": np.reshape(y, (-1, X.shape[-2]))}
    return Trajectory(log_log_times, series, data, settings)


ANY_WINDOW = [0.1, 2.0]  # of fits of powers, which these tests do not read
LOG_LOG_TIMES = np.array([0.0, 0.4, 0.9, 1.3])
EACH_POSITION = pytest.mark.parametrize("position", [1, 3])  # among these times, one on the way and the last


@functools.cache
def random_flow(architecture, depth):
    """Return a made-up flow near random states that classify both data sets, and its table."""
    rng, data = np.random.default_rng(0), separable()
    parameters = sum(plain.lengths_of(architecture, 3, depth))
    states = []
    for X, y in zip(data["X"], data["y"], strict=True):
        end = rng.standard_normal(parameters)
        while (y * (X @ plain.beta_of(architecture, 3, depth, end))).min() < 0.1:
            end = rng.standard_normal(parameters)
        moves = 0.05 * rng.standard_normal((len(LOG_LOG_TIMES), parameters))
        moves[-1] = 0.0
        states.append(end + moves)
    flow = made_up_flow(
        architecture, LOG_LOG_TIMES, np.array(states), X=data["X"], y=data["y"], depth=depth, sharpness=1e12
    )
    return flow, metrics.from_random_layers(flow, window=ANY_WINDOW)


def measurement(quantity, architecture, depth, position):
    """Return what the table has of the data set at a time."""
    _, table = random_flow(architecture, depth)
    return read(table, quantity, seed=MEMBER, log_log_time=LOG_LOG_TIMES[position]).item()


def X_and_y():
    """Return the data set that is compared."""
    data = separable()
    return data["X"][MEMBER], data["y"][MEMBER]


def state_of(architecture, depth, position):
    """Return all layers themselves: those recorded are divided by (1 + log(1 + t))^(1/L)."""
    flow, _ = random_flow(architecture, depth)
    return flow.series[architecture][MEMBER, position] * np.exp(LOG_LOG_TIMES[position] / depth)


def layers_of(architecture, depth, position):
    return plain.layers_of(architecture, 3, depth, state_of(architecture, depth, position))


def beta_of(architecture, depth, position):
    """Return the coefficients of all layers themselves."""
    return plain.beta_of(architecture, 3, depth, state_of(architecture, depth, position))


def margin_of(architecture, depth, position):
    """Return the least margin."""
    X, y = X_and_y()
    return (y * (X @ beta_of(architecture, depth, position))).min()


def push_of(architecture, depth, position):
    """Return the direction in which the loss pushes the coefficients, that of -X^T r."""
    X, y = X_and_y()
    return unit(X.T @ (y * np.exp(-y * (X @ beta_of(architecture, depth, position)))))


def data_sum():
    """Return sum_i y_i x_i."""
    X, y = X_and_y()
    return y @ X


def output_on(x, architecture, depth):
    """Return the network's output on an input as a function of all layers in one torch vector."""
    lengths = plain.lengths_of(architecture, 3, depth)
    return lambda state: torch.tensor(x) @ plain.coefficients(architecture, torch.split(state, lengths))


EXACT = {"rel": 1e-9, "abs": 1e-12}  # rounding, of sums that cancel
OF_AN_ANGLE = 1e-5  # degrees: a cosine near one has the rounding 1e-16, and the angle its root


@EACH_ARCHITECTURE
@EACH_DEPTH
def test_the_table_has_the_depth_and_the_scale_of_the_run(architecture, depth):
    _, table = random_flow(architecture, depth)
    assert set(table["depth"]) == {depth}
    assert set(table["scale"]) == {0.8}


@EACH_ARCHITECTURE
@EACH_DEPTH
@EACH_POSITION
def test_the_margin_is_the_least_over_log_t(architecture, depth, position):
    log_t = np.exp(LOG_LOG_TIMES[position])  # 1 + log(1 + t)
    expected = margin_of(architecture, depth, position) / log_t
    assert measurement("margin", architecture, depth, position) == pytest.approx(expected, **EXACT)


@EACH_ARCHITECTURE
@EACH_DEPTH
@EACH_POSITION
def test_misalignments_are_one_minus_the_cosine_to_a_downhill_gradient(architecture, depth, position):
    """By (14) the gradient is that of the loss; that of the sum of all margins is a rival."""
    state, (X, y) = state_of(architecture, depth, position), X_and_y()
    loss = plain.loss_of(architecture, depth, X, y, "exponential")
    downhill = {
        "misalignment": -plain.gradient(loss, state),
        "misalignment_data": plain.gradient(output_on(data_sum(), architecture, depth), state),
    }
    for quantity, direction in downhill.items():
        expected = 1 - unit(direction) @ unit(state)
        assert measurement(quantity, architecture, depth, position) == pytest.approx(expected, **EXACT), quantity


@EACH_ARCHITECTURE
@EACH_DEPTH
@EACH_POSITION
def test_parameters_have_moved_by_the_distance_of_unit_vectors_from_the_last(architecture, depth, position):
    state, end = (state_of(architecture, depth, place) for place in (position, -1))
    expected = np.linalg.norm(unit(state) - unit(end))
    assert measurement("parameters_moved", architecture, depth, position) == pytest.approx(expected, **EXACT)


@EACH_ARCHITECTURE
@EACH_DEPTH
@EACH_POSITION
def test_layer_share_errors_are_from_equal_shares_and_from_shares_of_the_lengths(architecture, depth, position):
    """Each layer's share of the squared norm of all; by appendix C.1 these become equal."""
    squares = np.array([layer @ layer for layer in layers_of(architecture, depth, position)])
    shares = squares / squares.sum()
    lengths = np.array(plain.lengths_of(architecture, 3, depth))
    predicted = {"layer_share_error": 1 / depth, "layer_share_error_lengths": lengths / lengths.sum()}
    for quantity, shares_predicted in predicted.items():
        expected = np.abs(shares - shares_predicted).max()
        assert measurement(quantity, architecture, depth, position) == pytest.approx(expected, **EXACT), quantity


@EACH_ARCHITECTURE
@EACH_DEPTH
@EACH_POSITION
def test_the_growth_power_is_that_of_log_t_in_the_norm_to_the_power_of_the_depth(architecture, depth, position):
    state = state_of(architecture, depth, position)
    expected = depth * np.log(np.linalg.norm(state)) / LOG_LOG_TIMES[position]
    assert measurement("growth_power", architecture, depth, position) == pytest.approx(expected, **EXACT)


@EACH_ARCHITECTURE
@EACH_DEPTH
@EACH_POSITION
@pytest.mark.parametrize("quantity", ["singular_residual", "singular_residual_data", "singular_residual_coefficients"])
def test_singular_residuals_are_those_of_unit_layers_against_gradients_of_an_output(
    architecture, depth, position, quantity
):
    """Layers are singular vectors of M(x) where they solve (8); by Theorem 1 they do for the x along -X^T r.

    Rivals are the data's sum and the last coefficients as x.
    """
    inputs = {
        "singular_residual": push_of(architecture, depth, position),
        "singular_residual_data": data_sum(),
        "singular_residual_coefficients": beta_of(architecture, depth, -1),
    }
    directions = [unit(layer) for layer in layers_of(architecture, depth, position)]
    state, output = np.concatenate(directions), output_on(inputs[quantity], architecture, depth)
    singular_value = float(output(torch.tensor(state)))
    gradients = plain.layers_of(architecture, 3, depth, plain.gradient(output, state))
    distances = [np.linalg.norm(g - singular_value * v) for g, v in zip(gradients, directions, strict=True)]
    expected = max(distances) / singular_value if singular_value > 0 else 1.0
    assert measurement(quantity, architecture, depth, position) == pytest.approx(expected, **EXACT)


@EACH_ARCHITECTURE
@EACH_POSITION
def test_the_top_gap_of_two_layers_is_to_the_largest_singular_value(architecture, position):
    """Of M(x) for the x along -X^T r; by Theorem 2 two layers tend to its vectors."""
    first, second = layers_of(architecture, 2, position)
    output = output_on(push_of(architecture, 2, position), architecture, 2)
    hessian = torch.autograd.functional.hessian(output, torch.tensor(state_of(architecture, 2, position))).numpy()
    M = hessian[: len(first), len(first) :]  # derivatives by one layer and the other: the data tensor
    expected = 1 - unit(first) @ M @ unit(second) / np.linalg.norm(M, 2)
    assert measurement("top_gap", architecture, 2, position) == pytest.approx(expected, **EXACT)


@EACH_DEPTH
@EACH_POSITION
def test_distances_of_fully_connected_networks_are_between_unit_vectors(depth, position):
    """The coefficients' from that of -X^T r, to which they tend by (15), and from the data's sum, a rival."""
    direction = unit(beta_of("fully_connected", depth, position))
    others = {
        "distance_from_push": push_of("fully_connected", depth, position),
        "distance_from_data_sum": unit(data_sum()),
    }
    for quantity, other in others.items():
        expected = np.linalg.norm(direction - other)
        assert measurement(quantity, "fully_connected", depth, position) == pytest.approx(expected, **EXACT), quantity


@EACH_DECOMPOSABLE
@EACH_DEPTH
@EACH_POSITION
def test_dense_shares_are_of_the_smallest_of_three_entries(architecture, depth, position):
    """By Remark 3 rho becomes sparse: as many entries are left as there are points, here two. The third is outside.

    Rivals are that beta is sparse, or S beta.
    """
    beta = beta_of(architecture, depth, position)
    # S is the identity, or a multiple of the Fourier transform; multiples change no share
    rho, S_beta = beta, beta
    if architecture == "convolutional":
        rho, S_beta = np.fft.ifft(beta), np.fft.fft(beta)
    vectors = {"dense_share_rho": rho, "dense_share_beta": beta, "dense_share_s_beta": S_beta}
    for quantity, vector in vectors.items():
        expected = np.abs(vector).min() / np.abs(vector).sum()
        assert measurement(quantity, architecture, depth, position) == pytest.approx(expected, **EXACT), quantity


def sum_of_sizes(vector):
    return np.abs(vector).sum()


def largest_size(vector):
    return np.abs(vector).max()


def transformed(vector):
    return np.fft.fft(vector, norm="ortho")


@EACH_ARCHITECTURE
@EACH_DEPTH
@EACH_POSITION
@pytest.mark.parametrize(
    ("quantity", "norm", "dual_norm"),
    [
        ("gap_l2", np.linalg.norm, np.linalg.norm),
        ("gap_l1", sum_of_sizes, largest_size),
        ("gap_dft_l1", lambda z: sum_of_sizes(transformed(z)), lambda z: largest_size(transformed(z))),
    ],
    ids=["gap_l2", "gap_l1", "gap_dft_l1"],
)
def test_gaps_are_to_the_largest_margins_at_unit_norm(quantity, norm, dual_norm, architecture, depth, position):
    """The largest margin of (1) at unit norm is the least dual norm of an average of the labelled points y_i x_i."""
    X, y = X_and_y()
    first, second = y[:, None] * X

    def dual_norm_of_average(weight):
        return dual_norm(weight * first + (1 - weight) * second)

    largest_margin = minimize_scalar(dual_norm_of_average, bounds=(0, 1), options={"xatol": 1e-10}).fun
    beta, margin = beta_of(architecture, depth, position), margin_of(architecture, depth, position)
    expected = 1 - margin / norm(beta) / largest_margin
    # the weight errs by `xatol`, and dual norms have slopes of order one
    assert measurement(quantity, architecture, depth, position) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("architecture", "depth", "gap"),
    [
        ("fully_connected", 2, "gap_l2"),
        ("fully_connected", 3, "gap_l2"),
        ("diagonal", 2, "gap_l1"),
        ("convolutional", 2, "gap_dft_l1"),
    ],
)
@EACH_POSITION
def test_a_networks_own_gap_is_in_the_norm_of_its_corollary(architecture, depth, gap, position):
    """Corollary 1 is on fully connected networks; Corollaries 2 and 3, with two layers, on the others."""
    expected = measurement(gap, architecture, depth, position)
    assert measurement("gap_own", architecture, depth, position) == pytest.approx(expected, abs=1e-8)


@EACH_ARCHITECTURE
@EACH_DEPTH
@EACH_POSITION
def test_residuals_have_turned_by_the_angle_from_their_last_direction(architecture, depth, position):
    push, last_push = (push_of(architecture, depth, place) for place in (position, -1))
    expected = angle(push, last_push)
    assert measurement("turn_of_residuals", architecture, depth, position) == pytest.approx(expected, abs=OF_AN_ANGLE)


@EACH_DEPTH
@EACH_POSITION
def test_the_angle_of_fully_connected_networks_is_to_the_l2_max_margin(depth, position):
    X, y = X_and_y()
    margins = {"type": "ineq", "fun": lambda z: y * (X @ z) - 1}
    best = minimize(lambda z: z @ z, np.linalg.pinv(X) @ y, constraints=margins, options={"ftol": 1e-14}).x
    expected = angle(beta_of("fully_connected", depth, position), best)
    # degrees: scipy's minimiser has the root of its `ftol` in radians, or better
    assert measurement("angle", "fully_connected", depth, position) == pytest.approx(expected, abs=1e-5)


@EACH_POSITION
def test_the_angle_of_two_diagonal_layers_is_to_the_l1_max_margin(position):
    expected = angle(beta_of("diagonal", 2, position), plain.least_l1(*X_and_y(), classification=True))
    assert measurement("angle", "diagonal", 2, position) == pytest.approx(expected, abs=OF_AN_ANGLE)


@EACH_DEPTH
def test_the_quasi_norm_excess_on_one_point_is_over_the_solution_with_one_entry(depth):
    """It is on the largest entry, -2: its quasi-norm's power is 2^(-2/L)."""
    X, layer, power = np.array([[0.5, -2.0, 1.0]]), np.array([0.3, 1.1, -0.4]), 2 / depth
    states = np.tile(layer, (2, depth))  # two times, equal layers
    flow = made_up_flow("diagonal", np.array([0.0, 1.0]), states, X=X, y=-np.ones(1), depth=depth)
    excess = read(metrics.from_random_layers(flow, window=ANY_WINDOW), "quasi_norm_excess")
    rho = layer**depth
    size = np.sum(np.abs(rho / (rho @ X[0])) ** power)
    np.testing.assert_allclose(excess, size / 2**-power - 1)


@functools.cache
def stationary_point(depth):
    """Return what is measured where two entries of rho are stationary for the l_(2/L) norm, and the third is zero.

    The residuals there are to have the multipliers of that point, w: as weights are exp(-e^tau g) of the margins g,
    these differ by log(w) e^(-tau), which an iteration finds.
    """
    X, y = np.array([[1.0, 0.3, -0.4], [-0.2, 1.1, 0.5]]), np.ones(2)
    power, log_log_time, margins = 2 / depth, 1.3, np.ones(2)
    for _ in range(200):
        rho = np.append(np.linalg.solve(X[:, :2], margins), 0.0)
        # sum_i w_i x_i is proportional to |rho|^(power - 2) rho on the support
        w = np.linalg.solve(X[:, :2].T, np.abs(rho[:2]) ** (power - 2) * rho[:2])
        margins = 1 - np.log(w / w.max()) / np.exp(log_log_time)
    layer = np.abs(rho) ** (1 / depth)
    state = np.concatenate([layer] * (depth - 1) + [np.sign(rho) * layer])
    flow = made_up_flow(
        "diagonal", np.array([0.0, log_log_time]), np.stack([state, state]), X=X, y=y, depth=depth, sharpness=1e15
    )
    return metrics.from_random_layers(flow, window=ANY_WINDOW)


@EACH_DEPTH
def test_the_residual_of_a_stationary_point_is_zero_for_its_own_norm(depth):
    # rounding, a thousandfold
    assert read(stationary_point(depth), "stationarity_residual").item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("depth", "quantity"),
    [(2, "stationarity_residual_l2"), (3, "stationarity_residual_l2"), (3, "stationarity_residual_l1")],
)
def test_the_residual_of_a_stationary_point_is_not_zero_for_another_norm(depth, quantity):
    # multipliers of another norm are others by a share of order one
    assert read(stationary_point(depth), quantity).item() > 0.05


def test_the_residual_for_the_l1_norm_is_that_of_two_layers():
    assert read(stationary_point(2), "stationarity_residual_l1").item() == pytest.approx(0, abs=1e-12)


# -- powers of log t ---------------------------------------------------------------------------------------------------

# What vanishes does so like a power of 1 / log t, that is exponentially in log log t. Powers that are no theory's, 0.37
# and 0.41, and factors are arbitrary.
TIMES = np.linspace(0, 12, 49)  # of log log t
WINDOW = [6.0, 9.0]
IN_WINDOW = np.clip(TIMES, *WINDOW) == TIMES
ONES = np.ones(len(TIMES))


def fitted_power(share):
    """Return the power of 1 / log t in a series at `TIMES`: minus the slope of its logarithm within the window."""
    return -np.polyfit(TIMES[IN_WINDOW], np.log(share[IN_WINDOW]), 1)[0]


def with_equal_layers(rho):
    """Return states of two diagonal layers of equal sizes whose products are rho, shape (times, entries)."""
    sizes = np.sqrt(np.abs(rho))
    return np.concatenate([sizes, np.sign(rho) * sizes], axis=1)


@functools.cache
def powers_of_an_angle():
    """Return the powers measured of a path that comes to the l1 classifier, (0, 1/2), like (log t)^-0.37.

    There is a power for each time but the first.
    """
    times = np.linspace(0, 20, 81)
    # before 5 it is at the classifier, so that a fit outside the window would be another
    off = np.exp(-0.37 * times)[:, None] * np.array([0.5, 0.0]) * (times > 5)[:, None]
    states = with_equal_layers(np.array([0.0, 0.5]) + off)
    flow = made_up_flow("diagonal", times, states, X=TWO_POINTS["X"], y=TWO_POINTS["y"])
    return read(metrics.from_random_layers(flow, window=[8.0, 12.0]), "angle_power")


def test_the_power_of_an_angle_is_that_of_the_path_within_the_window():
    # the angle is its tangent up to the cube, of (e^(-0.37 * 8))^2 = 3e-3 of it, which adds to the power
    assert powers_of_an_angle()[-1] == pytest.approx(0.37, rel=1e-3)


def test_the_power_of_an_angle_is_at_the_last_time_alone():
    assert np.isnan(powers_of_an_angle()[:-1]).all()


@pytest.mark.parametrize(
    ("network", "expected"),
    [
        ("fully_connected", 1 / 2),  # one over the number of layers
        ("diagonal", 1 - 1 / 2),  # X^T r is along (1, 2)
        ("convolutional", 1 - 1 / 3),  # whose transform is along (3, -1)
    ],
)
def test_angles_on_the_papers_points_have_predicted_powers(network, expected):
    """Points are those of section 6, of which the first alone keeps a weight in X^T r.

    With two decomposable layers the power is 1 - s, with s the second singular value of M(X^T r) over the first.
    """
    table = metrics_table("tensor_networks", "settling")
    predicted = read(table, "angle_power", "predicted", network=network, log_log_time=table["log_log_time"].max())
    # the singular values are those of a flow that still settles
    np.testing.assert_allclose(predicted, expected, rtol=0, atol=1e-3)


def test_nothing_is_predicted_of_convolutional_networks_on_the_papers_points():
    """The margins of both points are the least, and rho has one entry: two multipliers are not unique."""
    table = metrics_table("tensor_networks", "settling")
    last = table["log_log_time"].max()
    predicted = read(table, "vanishing_power", "predicted", network="convolutional", log_log_time=last)
    assert np.isnan(predicted).all()


def two_random_points(seed):
    """Return features, labels, the classifier of least l1 norm and the multipliers, by linear programs.

    The multipliers lambda_i of the margins have the largest sum for which no entry of the push, the sum of all
    lambda_i y_i features_i, exceeds one in size.
    """
    features, labels = np.random.default_rng(seed).standard_normal((2, 4)), np.array([1.0, -1.0])
    signed = labels[:, None] * features
    multipliers = linprog(-np.ones(2), A_ub=np.vstack([signed.T, -signed.T]), b_ub=np.ones(8)).x
    return features, labels, plain.least_l1(features, labels, classification=True), multipliers


# of seed 7 one point alone supports the classifier, which has one entry; of the others both do, and it has two
EACH_PAIR_OF_POINTS = pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 7])


@EACH_PAIR_OF_POINTS
def test_pushes_at_the_limit_are_those_of_the_dual_program(seed):
    features, labels, largest, multipliers = two_random_points(seed)
    pushes, _ = theory.pushes_at_the_limit(features, labels, largest)
    # linear programs end at vertices, which are exact but for rounding
    np.testing.assert_allclose(pushes, (multipliers * labels) @ features, rtol=0, atol=1e-8)


@EACH_PAIR_OF_POINTS
def test_pushes_respond_to_multipliers_as_sizes_on_the_support_do(seed):
    features, labels, largest, multipliers = two_random_points(seed)
    _, response = theory.pushes_at_the_limit(features, labels, largest)
    # the response to real pushes is exact: what remains is rounding, far below these changes
    changes = 1e-6 * np.random.default_rng(seed).standard_normal(2) * (multipliers > 0)
    changed_pushes = ((multipliers + changes) * labels) @ features
    moved = np.abs(changed_pushes) - np.abs((multipliers * labels) @ features)
    on_support = np.abs(largest) > 1e-9
    # the response's first columns are by sizes, the others by phases, which do not change
    by_size = response[:, : on_support.sum()]
    np.testing.assert_allclose(by_size @ moved[on_support], moved, rtol=0, atol=1e-11)


def test_pushes_respond_to_sizes_and_phases_on_a_complex_support():
    features = np.array([[0.5 + 0.2j, 0.3 - 0.1j, 0.2j], [0.5 - 0.2j, 0.1 + 0.4j, 0.3]])
    phase = np.exp(0.7j)
    features[:, 0] /= phase
    # both margins of (phase, 0, 0) are 1/2, and the multipliers are ones
    pushes, response = theory.pushes_at_the_limit(features, np.ones(2), np.array([phase, 0.0, 0.0]))
    np.testing.assert_allclose(pushes, features.sum(axis=0), rtol=0, atol=1e-12)
    changed_pushes = (np.ones(2) + 1e-6 * np.array([1.0, -2.0])) @ features
    moved, turned = np.abs(changed_pushes) - np.abs(pushes), np.angle(changed_pushes[0] / pushes[0])
    # of second order in changes of 1e-6 is 1e-12, times numbers of order one
    np.testing.assert_allclose(response @ [moved[0], turned], moved, rtol=0, atol=1e-11)


def test_nothing_is_predicted_where_the_support_has_more_entries_than_tight_margins():
    pushes, _ = theory.pushes_at_the_limit(np.array([[1.0, 1.0]]), np.ones(1), np.array([0.5, 0.5]))
    assert np.isnan(pushes).all()


# margins are 1 and 1.001
@pytest.mark.parametrize(("nearly", "is_predicted"), [(5e-4, True), (2e-3, False)])
def test_nothing_is_predicted_where_the_cap_cannot_tell_margins_from_the_least(nearly, is_predicted):
    features, largest = np.array([[1.0, 0.3], [1.001, 0.2]]), np.array([1.0, 0.0])
    pushes, _ = theory.pushes_at_the_limit(features, np.ones(2), largest, nearly=nearly)
    assert np.isfinite(pushes).all() == is_predicted


# One point, whose multiplier is one over its largest entry: pushes are 1, 0.4 and 0.15 in size, powers 0.6 and 0.85.
ONE_POINT, LABEL = np.array([[2.0, 0.8, -0.3]]), np.array([-1.0])
PUSHES = np.abs(ONE_POINT[0, 1:]) / 2  # of the two entries that vanish
POWERS = 1 - PUSHES
SMALL = 0.02  # what vanishes, at the time zero


def rho_on_one_point():
    """Return products of the layers of which the first stays and two vanish with their powers, shape (times, 3).

    The last has not yet the sign of what pushes it.
    """
    sizes = np.stack([ONES, *(SMALL * np.exp(-power * TIMES) for power in POWERS)], axis=1)
    return sizes * LABEL * np.sign(ONE_POINT[0]) * [1, 1, -1]


def powers_on_one_point(atol=1e-14):
    """Return what is measured of that path by an integrator with an absolute tolerance."""
    flow = made_up_flow("diagonal", TIMES, with_equal_layers(rho_on_one_point()), X=ONE_POINT, y=LABEL, atol=atol)
    return metrics.from_random_layers(flow, window=WINDOW)


def entries_on_one_point(quantity, column="value"):
    """Return a quantity at all times and entries: those of the two that vanish, at the last time."""
    return read(powers_on_one_point(), quantity, column)


def test_local_powers_are_those_of_the_path():
    # the l1 norm falls by the shares of what vanishes, 5e-4 at the window's start, which changes powers by as much
    np.testing.assert_allclose(entries_on_one_point("vanishing_power"), POWERS, rtol=0, atol=1e-3)


def test_local_powers_are_predicted_by_the_multiplier():
    # a convex solver finds the support
    np.testing.assert_allclose(entries_on_one_point("vanishing_power", "predicted"), POWERS, rtol=0, atol=1e-6)


def test_the_remaining_distance_is_the_share_of_what_vanishes_at_the_windows_start():
    left = np.sum(SMALL * np.exp(-POWERS * WINDOW[0]))
    # both entries have that of the path
    np.testing.assert_allclose(entries_on_one_point("remaining_distance"), [left / (1 + left)] * 2, rtol=0, atol=1e-9)


def test_the_phase_cosine_is_minus_one_for_an_entry_of_the_wrong_sign():
    np.testing.assert_allclose(entries_on_one_point("phase_cosine"), [1.0, -1.0], rtol=0, atol=1e-9)


def test_the_uncertainty_of_a_power_is_by_what_does_not_grow_like_log_t():
    """The margin, the entry on the support, and their difference times the push; the push itself where signs differ."""
    rho = rho_on_one_point()
    l1_norm = np.abs(rho).sum(axis=1)
    margin_power, support_power = fitted_power(LABEL * (rho @ ONE_POINT[0]) / l1_norm), fitted_power(1 / l1_norm)
    opposed = PUSHES * (1 - np.array([1.0, -1.0]))  # one less the cosine
    expected = np.abs(margin_power) + np.abs(support_power) + PUSHES * np.abs(margin_power - support_power) + opposed
    np.testing.assert_allclose(entries_on_one_point("power_uncertainty"), expected, rtol=0, atol=1e-6)


def test_powers_of_entries_that_the_integrator_does_not_resolve_are_nan():
    # layers, the roots of what vanishes, are 0.14 e^(-0.3 * 9) = 0.01 at most where the window ends; entries below
    # `metrics.FLOOR`, a thousand, times the integrator's error, here 1e-4, are not resolved
    assert np.isnan(read(powers_on_one_point(atol=1e-4), "vanishing_power")).all()


def powers_outside(outside, X=((1.0, 0.0), (3.0, 1.0)), sharpness=1e7):
    """Return what is measured of a fully connected network whose coefficients are (1, outside).

    The first point alone supports the classifier, (1, 0), and the second input is outside its span. The first layer
    has the coefficients in its first column, and the second is (1, 0).
    """
    first = np.stack([ONES, outside, 0 * ONES, 0 * ONES], axis=1)
    states = np.concatenate([first, np.tile([1.0, 0.0], (len(TIMES), 1))], axis=1)
    flow = made_up_flow("fully_connected", TIMES, states, X=np.array(X), y=np.ones(len(X)), sharpness=sharpness)
    return metrics.from_random_layers(flow, window=WINDOW)


OUTSIDE = 0.3 * np.exp(-0.41 * TIMES)


def test_the_local_power_of_a_fully_connected_network_is_of_the_share_outside():
    """Outside the span of the support vectors."""
    # the length falls by half the square of the share, 3e-4 at the window's start
    np.testing.assert_allclose(read(powers_outside(OUTSIDE), "vanishing_power"), 0.41, rtol=0, atol=1e-3)


def test_the_power_of_a_fully_connected_network_is_predicted_as_one_over_its_layers():
    np.testing.assert_allclose(read(powers_outside(OUTSIDE), "vanishing_power", "predicted"), 1 / 2)


def test_the_remaining_distance_of_a_fully_connected_network_is_one_less_the_cosine():
    """At the window's start."""
    at_start = OUTSIDE[np.isclose(TIMES, WINDOW[0])]
    expected = 1 - 1 / np.sqrt(1 + at_start**2)
    np.testing.assert_allclose(read(powers_outside(OUTSIDE), "remaining_distance"), expected)


def test_the_uncertainty_of_a_fully_connected_network_is_the_power_of_its_length():
    expected = fitted_power(np.hypot(1, OUTSIDE))  # the later layer does not turn
    np.testing.assert_allclose(read(powers_outside(OUTSIDE), "power_uncertainty"), expected, rtol=1e-6)


# margins are 1 and 1.001; a cap leaves those open that exceed the least by less than `metrics.NEARLY`, 100, over it
@pytest.mark.parametrize(("sharpness", "is_predicted"), [(1e6, True), (1e4, False)])
def test_nothing_is_predicted_of_margins_that_the_cap_cannot_tell_apart(sharpness, is_predicted):
    """Of a fully connected network."""
    table = powers_outside(OUTSIDE, X=((1.0, 0.0), (1.001, 0.0)), sharpness=sharpness)
    assert np.isfinite(read(table, "vanishing_power", "predicted")) == is_predicted


@pytest.mark.parametrize(
    ("share_at_the_windows_end", "is_measured"),
    [
        (0.0, False),  # as of a first layer that is zero at the start
        (0.99e-10, False),  # a little below fifty times `metrics.RESTS`, 2e-12
        (1.01e-10, True),
    ],
)
def test_the_power_of_a_share_outside_is_measured_above_rounding(share_at_the_windows_end, is_measured):
    table = powers_outside(share_at_the_windows_end * np.exp(-0.41 * (TIMES - WINDOW[1])))
    assert np.isfinite(read(table, "vanishing_power")) == is_measured


@functools.cache
def powers_while_later_layers_turn(depth, apart):
    """Return what is measured of layers whose later ones turn, and the power with which that takes the part outside.

    Of two inputs the second is outside the span. The product of the later layers turns to an angle `apart` from where
    nothing of the part outside is left. That part of the first layer is so small that lengths do not change.
    """
    times, rotation = np.linspace(0, 14, 113), np.array([[0.8, 0.6], [-0.6, 0.8]])
    angle = apart + np.exp(-times / 2)
    product = np.stack([np.cos(angle), np.sin(angle)], axis=-1)  # of the later layers
    outside = 1e-3 * np.exp(-times / depth)[:, None] * [0.0, 1.0]
    first = np.stack([product, outside], axis=-1).reshape(len(times), 4)
    middle = [np.tile(rotation.T.ravel(), (len(times), 1))] * (depth - 2)
    last = product
    for _ in middle:
        last = last @ rotation  # rotates back, so that the product is as without the middle layers
    growing = last * np.exp(0.01 * times)[:, None]  # which leaves all shares as they are
    states = np.concatenate([first, *middle, growing], axis=1)
    flow = made_up_flow("fully_connected", times, states, X=np.array([[1.0, 0.0]]), y=np.ones(1), depth=depth)
    in_window = (times >= 9) & (times <= 12)
    turning = -np.polyfit(times[in_window], np.log(np.sin(angle[in_window])), 1)[0]
    return metrics.from_random_layers(flow, window=[9.0, 12.0]), turning


@EACH_DEPTH
@pytest.mark.parametrize("apart", [1.0, 0.3, 0.1])
def test_later_layers_that_turn_against_the_part_outside_add_their_power(depth, apart):
    table, turning = powers_while_later_layers_turn(depth, apart)
    np.testing.assert_allclose(read(table, "vanishing_power"), 1 / depth + turning, rtol=0, atol=1e-6)
    np.testing.assert_allclose(read(table, "vanishing_power", "predicted"), 1 / depth)


@EACH_DEPTH
@pytest.mark.parametrize("apart", [1.0, 0.3, 0.1])
def test_the_power_by_which_later_layers_turn_counts_as_uncertainty(depth, apart):
    table, turning = powers_while_later_layers_turn(depth, apart)
    assert turning > 0
    # the length's own power is 0.01: of `growing`
    np.testing.assert_allclose(read(table, "power_uncertainty"), 0.01 + turning, rtol=0, atol=1e-6)


def test_a_lag_of_the_phase_on_the_support_adds_to_the_uncertainty(monkeypatch):
    """Its lag moves the multipliers, and with them the push of the other entry, here by half of the lag."""
    X = np.array([[2.0, 0.8]])
    sizes = np.stack([ONES, np.sqrt(SMALL) * np.exp(-0.3 * TIMES)], axis=1)
    flow = made_up_flow("diagonal", TIMES, np.concatenate([sizes, sizes], axis=1), X=X, y=np.ones(1))

    def uncertainty_with(lag):
        pushes, response = np.array([np.exp(1j * lag), 0.4]), np.array([[1.0, 0.0], [0.0, 0.5]])
        monkeypatch.setattr(metrics, "pushes_at_the_limit", lambda *_: (pushes, response))
        return read(metrics.from_random_layers(flow, window=WINDOW), "power_uncertainty").item()

    assert uncertainty_with(0.01) - uncertainty_with(0.0) == pytest.approx(0.5 * 0.01)


@pytest.mark.parametrize(
    ("architecture", "is_resolved"),
    [
        ("diagonal", True),  # an error is relative to the entry
        ("decomposable", False),  # stored entries mix coordinates, and have errors relative to the largest
    ],
)
def test_small_coordinates_are_resolved_only_where_they_are_stored_by_themselves(architecture, is_resolved):
    """Small are those far below the largest."""
    X, network = np.array([[2.0, 0.8]]), network_of(architecture, 2, 2, 2)
    (features,) = X @ network.S.T
    is_small = np.abs(features) < np.abs(features).max()
    # 1e-4 and less of the largest, which a thousand times the integrator's rtol does not resolve
    sizes = np.where(is_small, 1e-4 * np.exp(-0.3 * TIMES)[:, None], 1.0)
    first, second = network.U
    states = np.concatenate([sizes @ first.T, (sizes * np.sign(features)) @ second.T], axis=1)
    flow = made_up_flow(architecture, TIMES, states, X=X, y=np.ones(1), rtol=1e-7)
    powers = read(metrics.from_random_layers(flow, window=WINDOW), "vanishing_power")
    assert len(powers) == is_small.sum()
    assert np.isfinite(powers).all() == is_resolved


def test_the_part_that_grows_has_its_power_however_near_it_is_to_its_rival():
    """With the sum u and the difference w of both layers rho is (u^2 - w^2) / 4, which has just become positive."""
    power, X = 0.6, np.array([[2.0, 0.8]])
    u = 0.1 * np.exp(-0.5 * power * TIMES)
    w = 0.1 * np.exp(-0.5 * (2 - power) * TIMES) * np.exp(0.5 * (2 - 2 * power) * 5.9)  # as large as u at 5.9
    states = np.stack([ONES, (u + w) / 2, ONES, (u - w) / 2], axis=1)
    table = metrics.from_random_layers(made_up_flow("diagonal", TIMES, states, X=X, y=np.ones(1)), window=WINDOW)
    np.testing.assert_array_equal(read(table, "phase_cosine"), 1.0)
    np.testing.assert_allclose(read(table, "vanishing_power"), power, rtol=0, atol=1e-3)
