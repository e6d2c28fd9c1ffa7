"""Bounds on how fast the loss falls: their constants from torch's gradients, losses from scipy's integrator.

The claims then read tables in which one loss, one speed or one constant is altered: `put`, `multiply` and `rewrite`
return an alteration, which `verdict` and `evaluation_on` apply to copies of a claim's tables.

L is the loss, and in exponents the number of layers; r are its derivatives by the outputs. At the start the square of
every layer's singular coordinates exceeds that of the last layer's by alpha^2 lambda, with the initial scale alpha. S
is the matrix by which a diagonal or convolutional network has the singular values S x on a point x, and s_min the least
singular value of a matrix.
"""

import functools
from itertools import pairwise

import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from learning_dynamics.papers.tensor_networks import points, starts
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.rates import metrics, runs, theory
from tests.papers.tensor_networks import plain
from tests.papers.tensor_networks.plain import (
    claim_setting,
    evaluation_on,
    multiply,
    put,
    read,
    rewrite,
    run_settings,
    verdict,
)

INPUTS = 3
X, Y = np.array([[1.0, 2.0, -0.5]]), np.array([0.8])
ALPHA, LAMBDA = 0.6, 1.7
DECOMPOSABLE = ["diagonal", "convolutional"]


def level_layers(architecture, depth, alpha=ALPHA, lambda_=LAMBDA):
    """Return a state in which the bounds are sharp: alpha times layers with singular coordinates of equal squares.

    The last layer is zero; the squares of all others' singular coordinates are lambda.
    """
    if architecture == "diagonal":
        layer = np.full(INPUTS, np.sqrt(lambda_))
    elif architecture == "fully_connected":
        layer = np.sqrt(lambda_) * np.eye(INPUTS).ravel()
    else:
        layer = np.zeros(INPUTS)
        layer[0] = np.sqrt(INPUTS * lambda_)  # the unitary transform of which is constant, the root of lambda
    return alpha * np.concatenate([layer] * (depth - 1) + [np.zeros(INPUTS)])


def slope_ratio(architecture, depth):
    """Return |grad L|^2 over |X^T r|^2 at level layers, where the output is zero and r is -y."""
    loss = plain.loss_of(architecture, depth, X, Y, "squared")
    slope = plain.gradient(loss, level_layers(architecture, depth))
    return slope @ slope / np.sum((X.T @ -Y) ** 2)


EACH_DECOMPOSABLE = pytest.mark.parametrize("architecture", DECOMPOSABLE)


@pytest.mark.parametrize("depth", [2, 3, 4])
@EACH_DECOMPOSABLE
def test_the_constant_of_decomposable_networks_is_that_at_level_layers(architecture, depth):
    """There the gradient's square has the least ratio to that of X^T r: alpha^(2L-2) lambda^(L-1) s_min(S)^2 (61)."""
    network = network_of(architecture, INPUTS, depth, 0)
    constant = theory.decomposable_constant(network, ALPHA, LAMBDA)
    assert constant == pytest.approx(slope_ratio(architecture, depth), rel=1e-12)


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_the_constant_of_products_of_matrices_is_that_at_level_layers(depth):
    """By (84) it is alpha^(2L-2) lambda^(L-1)."""
    constant = theory.matrix_constant(depth, ALPHA, LAMBDA)
    assert constant == pytest.approx(slope_ratio("fully_connected", depth), rel=1e-12)


@EACH_DECOMPOSABLE
def test_the_constant_of_one_point_is_that_at_level_layers(architecture):
    """By (73) it is alpha^2 lambda |s|^2, with the singular values s of M(x)."""
    network = network_of(architecture, INPUTS, 2, 0)
    constant = theory.one_point_constant(network, X[0], ALPHA, LAMBDA)
    # it is relative to r^2, the ratio to |X^T r|^2 = |x|^2 r^2
    assert constant == pytest.approx(slope_ratio(architecture, 2) * (X[0] @ X[0]), rel=1e-12)


def test_the_constant_of_a_network_with_several_singular_values_has_the_smallest():
    network = network_of("decomposable", INPUTS, 3, 1)
    smallest_square = np.linalg.eigvalsh(network.S.T @ network.S)[0]
    constant = theory.decomposable_constant(network, ALPHA, LAMBDA)
    assert constant == pytest.approx(ALPHA**4 * LAMBDA**2 * smallest_square, rel=1e-10)


@pytest.mark.parametrize("initial", [0.01, 1.0, 30.0])
def test_the_bound_solves_the_inequality_as_an_equation(initial):
    """The inequality of appendices D.1.1 and E.1.1 is dL/dt <= -c L^2; here c is 0.7."""
    times = np.array([0.0, 0.1, 1.0, 10.0])
    loss = solve_ivp(lambda _t, L: -0.7 * L**2, (0, 10), [initial], t_eval=times, rtol=1e-11, atol=1e-14).y[0]
    log_bound = theory.log_bound(np.log(initial), 0.7, times, factor=initial)
    # a thousand steps of the integrator
    np.testing.assert_allclose(log_bound, np.log(loss), rtol=0, atol=1e-8)


IMBALANCE = 4.0
START_MARGINS = [-1.0, 2.0]
# of two data sets and two margins: the position among the members, the data set and the margin
DRAWS = [(0, 0, -1.0), (1, 0, 2.0), (2, 1, -1.0), (3, 1, 2.0)]
LOG_LOG_TIMES = np.linspace(0, 1.2, 4)  # log(1 + log(1 + t))


@functools.cache
def exponential_losses():
    """The flow of the exponential loss on single points, and its table."""
    data = points.separable(samples=1, inputs=INPUTS, margin=0.5, seeds=2, seed=5)
    trajectory = plain.trajectory_with_settings(
        runs.exponential_loss,
        data,
        networks=DECOMPOSABLE,
        depths=[2, 3],
        imbalance=IMBALANCE,
        margins=START_MARGINS,
        last=1.2,
        records=4,
        rtol=1e-9,
        atol=1e-12,
        seed=5,
    )
    return trajectory, metrics.exponential_loss(trajectory)


EACH_DEPTH = pytest.mark.parametrize("depth", [2, 3])
EACH_SEED = pytest.mark.parametrize("seed", [0, 1])
EACH_MARGIN = pytest.mark.parametrize("margin", START_MARGINS)
EACH_DRAW = pytest.mark.parametrize(("position", "seed", "margin"), DRAWS)


@EACH_DEPTH
@EACH_DECOMPOSABLE
@EACH_DRAW
def test_the_exponential_loss_falls_as_an_integrator_has_it(architecture, depth, position, seed, margin):
    trajectory, table = exponential_losses()
    loss = plain.loss_of(
        architecture, depth, trajectory.constants["X"][seed], trajectory.constants["y"][seed], "exponential"
    )
    start = trajectory.series[f"{architecture}_{depth}"][position, 0]
    states = plain.flow(loss, start, np.expm1(np.expm1(LOG_LOG_TIMES)))
    expected = [np.log(float(loss(torch.tensor(state)))) for state in states]
    log_losses = read(table, "log_loss", network=architecture, depth=depth, seed=seed, start_margin=margin)
    # the exponent's cap changes it by 1e-3 rtol^(1/4), 6e-6 of itself, and exponents are margins of up to seven
    np.testing.assert_allclose(log_losses, expected, rtol=0, atol=4e-5)


@EACH_DEPTH
@EACH_DECOMPOSABLE
@EACH_DRAW
def test_a_start_has_the_margin_asked_for(architecture, depth, position, seed, margin):
    trajectory, _ = exponential_losses()
    start = trajectory.series[f"{architecture}_{depth}"][position, 0]
    beta = plain.beta_of(architecture, INPUTS, depth, start)
    x, label = trajectory.constants["X"][seed, 0], trajectory.constants["y"][seed, 0]
    assert label * (x @ beta) == pytest.approx(margin, rel=1e-9)


def test_exponential_losses_are_recorded_at_equal_distances_of_log_log_t():
    _, table = exponential_losses()
    log_times = read(table, "log_loss", "log_time", network="diagonal", depth=2, seed=0, start_margin=2.0)
    np.testing.assert_allclose(log_times, np.expm1(LOG_LOG_TIMES))


def square_of_singular_values(architecture, depth):
    """Return the square of all singular values of S; a convolutional S is d^((L-1)/2) times a unitary matrix."""
    return INPUTS ** (depth - 1) if architecture == "convolutional" else 1


@EACH_DEPTH
@EACH_DECOMPOSABLE
@EACH_SEED
@EACH_MARGIN
def test_the_constant_of_the_bound_on_the_exponential_loss(architecture, depth, seed, margin):
    """By appendix D.1.1 it is lambda^(L-1) s_min(S)^2 gamma^2; the l2 margin gamma of one point is its norm."""
    trajectory, table = exponential_losses()
    x = trajectory.constants["X"][seed, 0]
    constant = read(table, "bound_constant", network=architecture, depth=depth, seed=seed, start_margin=margin)
    expected = IMBALANCE ** (depth - 1) * square_of_singular_values(architecture, depth) * (x @ x)
    # the margin is a convex solver's
    np.testing.assert_allclose(constant, expected, rtol=1e-6)


@EACH_DECOMPOSABLE
@EACH_SEED
@EACH_MARGIN
def test_the_constant_of_the_bound_on_the_exponential_loss_of_one_point(architecture, seed, margin):
    """By appendix E.1.1 it is lambda |s|^2 of two layers, with the singular values s of M(x)."""
    trajectory, table = exponential_losses()
    x = trajectory.constants["X"][seed, 0]
    constant = read(table, "one_point_bound_constant", network=architecture, seed=seed, start_margin=margin)
    expected = IMBALANCE * square_of_singular_values(architecture, depth=2) * (x @ x)
    np.testing.assert_allclose(constant, expected, rtol=1e-12)


def test_the_bound_on_the_exponential_loss_of_two_points_has_their_margin():
    """Of orthogonal points of lengths 1 and 2 the l2 margin is 2 / sqrt(5), in the direction (2, 1)."""
    data = points.given(points=[[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]], labels=[1.0, 1.0])
    trajectory = plain.trajectory_with_settings(
        runs.exponential_loss,
        data,
        networks=["diagonal"],
        depths=[2],
        imbalance=IMBALANCE,
        margins=[2.0],
        last=0.1,
        records=2,
        rtol=1e-6,
        atol=1e-9,
        seed=5,
    )
    constant = read(metrics.exponential_loss(trajectory), "bound_constant").item()
    # the margin is a convex solver's
    assert constant == pytest.approx(IMBALANCE * 2**2 / 5, rel=1e-6)


@functools.cache
def squared_losses(architecture, horizon=2.0, weights="equal"):
    """The data, one point, and the table of the flow of the squared loss on it at half the horizon and at its end."""
    data = points.regression(samples=1, inputs=INPUTS, seeds=1, seed=5)
    trajectory = plain.trajectory_with_settings(
        runs.squared_loss,
        data,
        networks=[architecture],
        depths=[2, 3],
        weights=weights,
        scales=[0.5, 2.0],
        horizon=horizon,
        points=3,
        rtol=1e-10,
        atol=1e-13,
        seed=5,
    )
    return data, metrics.squared_loss(trajectory)


EACH_SCALE = pytest.mark.parametrize("scale", [0.5, 2.0])


@pytest.mark.parametrize("architecture", plain.ARCHITECTURES)
@EACH_DEPTH
@EACH_SCALE
def test_the_squared_loss_falls_as_an_integrator_has_it(architecture, depth, scale):
    data, table = squared_losses(architecture)
    loss = plain.loss_of(architecture, depth, data["X"][0], data["y"][0], "squared")
    start = level_layers(architecture, depth, alpha=scale, lambda_=1.0)
    slope = plain.gradient(loss, start)
    rate = slope @ slope / float(loss(torch.tensor(start)))  # the bound is the first rate of level layers
    times = np.array([1.0, 2.0])  # in units of 1 / rate
    _, *states = plain.flow(loss, start, np.array([0.0, *times]) / rate)
    log_falls = [np.log(float(loss(torch.tensor(start)) / loss(torch.tensor(state)))) for state in states]
    speeds = read(table, "speed", depth=depth, scale=scale)
    # a thousand times the integrator's rtol
    np.testing.assert_allclose(speeds, log_falls / times, rtol=1e-7)


def random_start(architecture, depth):
    """Return the weights, shape (INPUTS,), and the layers that `squared_losses` has from random weights."""
    drawn = starts.weighted_matrices if architecture == "fully_connected" else starts.weighted_layers
    eta, layers = drawn(network_of(architecture, INPUTS, depth, 5), "random", 1, 5)
    return eta[0], layers[0]


@pytest.mark.parametrize("architecture", plain.ARCHITECTURES)
@EACH_DEPTH
@EACH_SCALE
def test_from_random_weights_speeds_are_in_units_of_the_bound_with_the_least(architecture, depth, scale):
    data, table = squared_losses(architecture, horizon=0.2, weights="random")
    loss = plain.loss_of(architecture, depth, data["X"][0], data["y"][0], "squared")
    eta, layers = random_start(architecture, depth)
    level = level_layers(architecture, depth, alpha=scale, lambda_=(eta**2).min())
    slope = plain.gradient(loss, level)
    rate = slope @ slope / float(loss(torch.tensor(level)))  # the bound is the first rate of level layers
    times = np.array([0.1, 0.2])  # in units of 1 / rate: from large weights the loss soon is near rounding
    start = scale * layers
    _, *states = plain.flow(loss, start, np.array([0.0, *times]) / rate)
    log_falls = [np.log(float(loss(torch.tensor(start)) / loss(torch.tensor(state)))) for state in states]
    # a thousand times the integrator's rtol
    np.testing.assert_allclose(read(table, "speed", depth=depth, scale=scale), log_falls / times, rtol=1e-7)


@pytest.mark.parametrize("architecture", plain.ARCHITECTURES)
@EACH_DEPTH
def test_the_rate_with_the_largest_weight_is_listed_once_for_each_draw(architecture, depth):
    _, table = squared_losses(architecture, weights="random")
    sizes = np.abs(random_start(architecture, depth)[0])
    ratio = (sizes.max() / sizes.min()) ** (2 * depth - 2)
    np.testing.assert_allclose(read(table, "rate_of_largest", depth=depth, scale=2.0), [ratio], rtol=1e-12)


@EACH_DEPTH
def test_random_matrices_fulfil_theorem_6_1_with_the_least_square_as_lambda(depth):
    eta, layers = random_start("fully_connected", depth)
    *vectors, last = plain.layers_of("fully_connected", INPUTS, depth, layers)
    matrices = [vector.reshape(INPUTS, INPUTS).T for vector in vectors]  # columns are stored one after the other
    for first, second in pairwise(matrices):
        np.testing.assert_allclose(first.T @ first, second @ second.T, rtol=0, atol=1e-14)
    imbalance = matrices[-1].T @ matrices[-1] - np.outer(last, last)
    assert np.linalg.eigvalsh(imbalance)[0] == pytest.approx((eta**2).min(), rel=1e-12)


@EACH_DECOMPOSABLE
@EACH_SCALE
def test_speeds_in_units_of_both_bounds_agree_on_one_point(architecture, scale):
    """All singular values of S are equal: (62) and (73) have the same rate, as s_min(S)^2 |x|^2 is |s|^2."""
    _, table = squared_losses(architecture)
    speeds = read(table, "speed", depth=2, scale=scale)
    np.testing.assert_allclose(read(table, "one_point_speed", scale=scale), speeds, rtol=1e-10)


def test_no_speed_is_measured_once_the_loss_is_near_the_integrators_error():
    """From layers that hardly move it falls like its bound: to e^-20 at half the horizon, and to e^-40 at its end."""
    _, table = squared_losses("diagonal", horizon=40.0)
    halfway, at_end = read(table, "speed", depth=2, scale=2.0)
    assert np.isfinite(halfway)
    assert np.isnan(at_end)  # `metrics.LOWEST` is e^-32


# the claims on the squared loss, with the quantity and a network that each reads, and the speed that it asks for
SPEED_CLAIMS = [
    pytest.param("equation_62", "speed", "diagonal", 1.0, id="equation_62"),
    pytest.param("equation_73", "one_point_speed", "diagonal", 1.0, id="equation_73"),
    pytest.param("section_h_1", "speed", "fully_connected", 0.5, id="section_h_1"),  # half of what inequalities give
]


@pytest.mark.parametrize(("claim", "quantity", "network", "bound"), SPEED_CLAIMS)
@pytest.mark.parametrize(("share", "expected"), [(0.9, "reproduced"), (1.1, "contradicted")])
def test_a_loss_that_falls_more_slowly_than_its_bound_is_refused(claim, quantity, network, bound, share, expected):
    lacking = share * claim_setting(claim, "tolerance")  # of the bound
    where = {"network": network, "depth": 2, "seed": 1, "scale": 30.0, "time": 0.1}
    assert verdict(claim, put(quantity, bound * (1 - lacking), **where)) == expected


@pytest.mark.parametrize(("claim", "quantity", "network", "bound"), SPEED_CLAIMS)
def test_times_without_a_speed_are_left_out(claim, quantity, network, bound):
    where = {"network": network, "depth": 2, "seed": 1, "scale": 30.0}
    slow_before = put(quantity, 0.5 * bound, time=0.1, **where)
    without_others = rewrite(quantity, lambda rows: rows["value"].where(rows["time"] == 0.1), **where)
    assert verdict(claim, slow_before, without_others) == "contradicted"


@pytest.mark.parametrize("claim", ["equation_62", "equation_73"])
def test_a_rate_larger_by_the_tolerance_would_be_refused_where_the_bound_is_sharp(claim):
    assert evaluation_on(claim).min_detectable_error == pytest.approx(claim_setting(claim, "tolerance"), rel=1e-3)


def test_no_slightly_larger_rate_would_be_refused_where_twice_the_bound_holds():
    assert np.isnan(evaluation_on("section_h_1").min_detectable_error)


@pytest.mark.parametrize(("claim", "other_network"), [("equation_62", "fully_connected"), ("section_h_1", "diagonal")])
def test_a_claim_on_the_squared_loss_does_not_judge_other_networks(claim, other_network):
    assert verdict(claim, put("speed", 0.1, network=other_network)) == "reproduced"


LARGEST = {
    "equation_62": "the largest $\\bar\\eta_j^2$",
    "equation_73": "the largest $\\bar\\eta_j^2$",
    "section_h_1": "the largest eigenvalue",
}


@pytest.mark.parametrize(("claim", "rival"), LARGEST.items())
def test_the_largest_weight_is_a_rival_that_equal_weights_do_not_tell_apart(claim, rival):
    def verdict_of_rival(*alterations):
        rivals = evaluation_on(claim, *alterations).rivals
        return next(rivals[name] for name in rivals if name.startswith(rival))

    assert verdict_of_rival() == "contradicted"
    assert verdict_of_rival(put("rate_of_largest", 1.0)) == "reproduced"


CONSTANTS = {"section_d_1_1": "bound_constant", "section_e_1_1": "one_point_bound_constant"}
EACH_BOUND = pytest.mark.parametrize(("claim", "constant"), CONSTANTS.items())


@EACH_BOUND
def test_a_constant_twice_as_large_on_one_draw_contradicts_the_corrected_bound(claim, constant):
    """At its closest this draw's loss is between a half and two thirds of its bound, which is inverse to it."""
    draw = {"network": "diagonal", "depth": 2, "seed": 1, "start_margin": 5.0}
    assert verdict(claim, multiply(constant, 1.5, **draw)) == "corrected"
    assert verdict(claim, multiply(constant, 2.0, **draw)) == "contradicted"


@EACH_BOUND
def test_a_smaller_constant_leaves_the_corrected_bound(claim, constant):
    assert verdict(claim, multiply(constant, 0.9)) == "corrected"


@pytest.mark.parametrize(
    ("claim", "other_constant"),
    [("section_d_1_1", "one_point_bound_constant"), ("section_e_1_1", "bound_constant")],
)
def test_a_bound_does_not_read_the_constant_of_the_other(claim, other_constant):
    assert verdict(claim, multiply(other_constant, 1e3)) == "corrected"


def losses_that_exceed_the_bound(constant, excess):
    """Let losses start at one, and the logarithms of one data set's exceed that of the bound after the start.

    From one the printed bound and the corrected one are both 1 / (1 + c t).
    """
    c = 2.0

    def log_losses(rows):
        after_start = (rows["log_time"] > 0) & (rows["seed"] == 1)
        log_bound = -np.log1p(c * np.expm1(rows["log_time"]))
        return log_bound + excess * after_start

    return put(constant, c), rewrite("log_loss", log_losses)


@EACH_BOUND
@pytest.mark.parametrize(("share", "expected"), [(0.9, "reproduced"), (1.1, "contradicted")])
def test_a_loss_may_exceed_its_bound_by_the_integrators_error_and_no_more(claim, constant, share, expected):
    error = 1e3 * run_settings("loss_one_point")["integration"]["rtol"]
    assert verdict(claim, *losses_that_exceed_the_bound(constant, share * error)) == expected


@EACH_BOUND
def test_the_excess_over_the_printed_bound_is_stated_as_a_factor(claim, constant):
    facts = evaluation_on(claim, *losses_that_exceed_the_bound(constant, np.log(7))).facts
    assert facts["printed_factor"] == pytest.approx(7)
