"""End-to-end dynamics, balance and the preconditioner against layers by torch and scipy; judges on doctored tables."""

import dataclasses
import functools
import itertools
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy
import torch

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear import networks
from learning_dynamics.papers.deep_linear.end_to_end import metrics, runs
from learning_dynamics.papers.deep_linear.end_to_end.claims import log_of_turning_value
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import by_draw, select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.shared import put, trajectory_and_table, verdict_on
from tests.support import evaluation, named_after_its_call, trajectory_of

# -- gradient flow of layers, and the end-to-end dynamics ------------------------------------------

INITS = ["balanced", "gaussian"]  # layers at the start
FLOW_DEPTHS = [2, 3]
INPUTS, OUTPUTS, WIDTH = 3, 2, 4
RANK = min(INPUTS, OUTPUTS)  # number of singular values of an end-to-end matrix
TOLERANCES = {"rtol": 1e-9, "atol": 1e-12}
SETTINGS = {
    "depths": FLOW_DEPTHS,
    "inputs": INPUTS,
    "width": WIDTH,
    "outputs": OUTPUTS,
    "start": 0.4,
    "horizon": 2.0,
    "points": 5,
    "step": 0.05,
    "seeds": 1,
    "seed": 2,
    **TOLERANCES,
}
# absolute: two integrations with relative tolerances of 1e-9, whose errors add up along the flow, differ by less
PATH_ERROR = 1e-7

every_flow = pytest.mark.parametrize(("init", "depth"), list(itertools.product(INITS, FLOW_DEPTHS)))
every_depth = pytest.mark.parametrize("depth", FLOW_DEPTHS)


@functools.cache
def flows(init):
    """Return the run from balanced or from Gaussian layers, one draw at each depth, and its metrics."""
    return trajectory_and_table(runs.end_to_end_flow, metrics.end_to_end_flow, SETTINGS | {"init": init})


def series(init, depth, name):
    """Return what the run recorded of one flow under a name: the first axis is time."""
    trajectory, _ = flows(init)
    return trajectory.series[name][FLOW_DEPTHS.index(depth)]


def measured(init, depth, quantity, **where):
    """Return a quantity of one flow at every time, shape (times,)."""
    _, table = flows(init)
    return by_draw(table, quantity, depth=depth, **where)[0]


def spectra(init, depth, quantity, *, column="value"):
    """Return several values of a quantity, in the table's order, at each time: shape (times, values)."""
    _, table = flows(init)
    rows = select(table, quantity, depth=depth)
    return np.array([at_one_time[column] for _, at_one_time in rows.groupby("time")])


def target_of(init, depth):
    trajectory, _ = flows(init)
    return trajectory.constants["target"][FLOW_DEPTHS.index(depth)]


@functools.cache
def plain_path(init, depth):
    """Return the layers of one flow at the recorded times, by torch and scipy, from the run's start."""
    trajectory, _ = flows(init)
    widths = [INPUTS, *[WIDTH] * (depth - 1), OUTPUTS]
    start = networks.unpack(series(init, depth, "layers")[0], widths)
    return plain.flow(start, plain.squared_loss(target_of(init, depth)), trajectory.time)


def products(path):
    """Return the end-to-end matrices of layers at several times: shape (times, outputs, inputs)."""
    return np.array([plain.multiply(layers) for layers in path])


@every_flow
def test_singular_values_are_those_of_layers_by_scipy(init, depth):
    values = np.linalg.svd(products(plain_path(init, depth)), compute_uv=False)
    for index in range(1, RANK + 1):
        np.testing.assert_allclose(
            measured(init, depth, "sigma", index=index),
            values[:, index - 1],
            rtol=0,
            atol=PATH_ERROR,
            err_msg=f"{index=}",
        )


@every_flow
def test_the_norm_is_that_of_layers_by_scipy(init, depth):
    expected = np.linalg.norm(products(plain_path(init, depth)), axis=(1, 2))
    np.testing.assert_allclose(measured(init, depth, "norm"), expected, rtol=0, atol=PATH_ERROR)


@every_flow
@pytest.mark.parametrize(
    ("quantity", "equation"), [("difference", "direct"), ("one_layer_fewer", "one_layer_fewer")], ids=["N", "N - 1"]
)
def test_distances_from_the_equations_of_both_depths_are_those_of_layers_by_scipy(init, depth, quantity, equation):
    apart = products(plain_path(init, depth)) - series(init, depth, equation)
    expected = np.linalg.norm(apart, axis=(1, 2))
    np.testing.assert_allclose(measured(init, depth, quantity), expected, rtol=0, atol=PATH_ERROR)


@every_flow
def test_singular_values_of_the_end_to_end_equation_are_measured(init, depth):
    values = np.linalg.svd(series(init, depth, "direct"), compute_uv=False)
    for index in range(1, RANK + 1):
        np.testing.assert_allclose(
            measured(init, depth, "direct", index=index), values[:, index - 1], rtol=0, atol=1e-12, err_msg=f"{index=}"
        )


# errors that the classical Runge-Kutta method may make: in steps of 0.05 some times 0.05^4, which is 6e-6, and in half
# steps a sixteenth of that, or a little more
FIXED_STEPS = {"in_steps": 1e-4, "in_half_steps": 1e-5}
# places along the second axis of recorded states, shape (times, 3, OUTPUTS, INPUTS): by which their W was integrated
LAYERS, EQUATION, EQUATION_OF_ONE_LAYER_FEWER = 0, 1, 2


@every_flow
@pytest.mark.parametrize(("name", "accuracy"), FIXED_STEPS.items())
def test_fixed_steps_lead_along_the_layers_and_the_equation(init, depth, name, accuracy):
    states = series(init, depth, name)
    W, direct = products(plain_path(init, depth)), series(init, depth, "direct")
    np.testing.assert_allclose(states[:, LAYERS], W, rtol=0, atol=accuracy, err_msg="layers")
    np.testing.assert_allclose(states[:, EQUATION], direct, rtol=0, atol=accuracy, err_msg="equation")


@every_flow
@pytest.mark.parametrize(
    ("quantity", "equation"), [("order", EQUATION), ("order_fewer", EQUATION_OF_ONE_LAYER_FEWER)], ids=["N", "N - 1"]
)
def test_an_order_is_log2_of_the_largest_distance_in_steps_over_that_in_half_steps(init, depth, quantity, equation):
    largest_distance = {}
    for name in FIXED_STEPS:
        states = series(init, depth, name)
        largest_distance[name] = np.linalg.norm(states[:, LAYERS] - states[:, equation], axis=(1, 2)).max()
    # at order p half the step divides the distance by 2^p
    expected = np.log2(largest_distance["in_steps"] / largest_distance["in_half_steps"])
    assert measured(init, depth, quantity).item() == pytest.approx(expected)


@every_depth
def test_the_equation_has_the_product_of_balanced_layers(depth):
    W = products(plain_path("balanced", depth))
    np.testing.assert_allclose(series("balanced", depth, "direct"), W, rtol=0, atol=PATH_ERROR)


@every_depth
def test_the_equation_of_one_layer_fewer_has_the_product_of_that_many_balanced_layers(depth):
    trajectory, _ = flows("balanced")
    first, target = products(plain_path("balanced", depth))[0], target_of("balanced", depth)
    path = plain.flow(plain.balanced_layers(first, depth - 1), plain.squared_loss(target), trajectory.time)
    np.testing.assert_allclose(series("balanced", depth, "one_layer_fewer"), products(path), rtol=0, atol=PATH_ERROR)


@every_depth
def test_the_law_of_rates_integrates_to_the_singular_values_of_balanced_layers(depth):
    values = np.linalg.svd(products(plain_path("balanced", depth)), compute_uv=False)
    by_the_law = series("balanced", depth, "integrated")[:, 0]  # along the second axis two wrong laws are at 1 and 2
    np.testing.assert_allclose(by_the_law, values, rtol=0, atol=PATH_ERROR)


def gram_movements(path):
    """Return by quantity, at each time, how far Gram matrices of neighbouring layers have moved from their start.

    `drift` is of differences, `sum_drift` of sums, and `gram_drift` of W W^T itself, all layers as one vector.
    """
    stacked = {"drift": [], "sum_drift": [], "gram_drift": []}
    for layers in path:
        # of each layer but the last: W_{j+1}^T W_{j+1} and W_j W_j^T
        pairs = [(above.T @ above, below @ below.T) for below, above in pairwise(layers)]
        stacked["drift"].append(np.concatenate([(upper - lower).ravel() for upper, lower in pairs]))
        stacked["sum_drift"].append(np.concatenate([(upper + lower).ravel() for upper, lower in pairs]))
        stacked["gram_drift"].append(np.concatenate([lower.ravel() for _, lower in pairs]))
    return {name: np.linalg.norm(np.array(rows) - rows[0], axis=1) for name, rows in stacked.items()}


@every_flow
@pytest.mark.parametrize("quantity", ["drift", "sum_drift", "gram_drift"])
def test_movements_of_gram_matrices_are_those_of_layers_by_scipy(init, depth, quantity):
    expected = gram_movements(plain_path(init, depth))[quantity]
    np.testing.assert_allclose(measured(init, depth, quantity), expected, rtol=0, atol=PATH_ERROR)


# -- the map from gradients to velocities along these flows, J J^T by torch ------------------------


def descending_eigenvalues(layers):
    """Return the eigenvalues of J J^T, with J = d vec(W) / d(layers)."""
    J = plain.jacobian(layers)
    return np.linalg.eigvalsh(J @ J.T)[::-1]


# absolute, of eigenvalues: ten times that of the layers, of which they are sums of products
EIGENVALUE_ERROR = 10 * PATH_ERROR


@every_flow
def test_eigenvalues_are_those_of_the_layers_jacobian(init, depth):
    expected = [descending_eigenvalues(layers) for layers in plain_path(init, depth)]
    np.testing.assert_allclose(spectra(init, depth, "eigenvalue"), expected, rtol=0, atol=EIGENVALUE_ERROR)


@every_depth
def test_eigenvalues_of_balanced_layers_are_those_predicted(depth):
    expected = [descending_eigenvalues(layers) for layers in plain_path("balanced", depth)]
    predicted = spectra("balanced", depth, "eigenvalue", column="predicted")
    np.testing.assert_allclose(predicted, expected, rtol=0, atol=EIGENVALUE_ERROR)


@every_depth
def test_eigenvalues_predicted_for_one_layer_fewer_are_those_of_that_many(depth):
    """Those of balanced layers with the same product. The measured values beside them are those of all layers."""
    path = plain_path("balanced", depth)
    expected = [descending_eigenvalues(plain.balanced_layers(W, depth - 1)) for W in products(path)]
    predicted = spectra("balanced", depth, "eigenvalue_fewer", column="predicted")
    np.testing.assert_allclose(predicted, expected, rtol=0, atol=EIGENVALUE_ERROR)
    np.testing.assert_array_equal(
        spectra("balanced", depth, "eigenvalue_fewer"), spectra("balanced", depth, "eigenvalue")
    )


@every_flow
def test_the_least_eigenvalue_at_the_nearest_singular_matrix_is_zero_as_by_torch(init, depth):
    expected = []
    for W in products(plain_path(init, depth)):
        U, values, Vt = np.linalg.svd(W)
        # W has two singular values, and the nearest singular matrix only the first of them
        singular = values[0] * np.outer(U[:, 0], Vt[0])
        expected.append(descending_eigenvalues(plain.balanced_layers(singular, depth))[-1])
    np.testing.assert_allclose(expected, 0, atol=1e-12)
    np.testing.assert_allclose(measured(init, depth, "eigenvalue_at_singular"), expected, rtol=0, atol=1e-12)


@every_flow
def test_misalignment_is_that_of_the_first_eigenvector_and_u_1_v_1(init, depth):
    """It is one less the squared cosine of the angle between them."""
    expected = []
    for layers in plain_path(init, depth):
        J = plain.jacobian(layers)
        _, vectors = np.linalg.eigh(J @ J.T)  # eigenvalues ascend: the last vector belongs to the largest
        U, _, Vt = np.linalg.svd(plain.multiply(layers))
        cosine = vectors[:, -1] @ np.outer(U[:, 0], Vt[0]).ravel()
        expected.append(1 - cosine**2)
    np.testing.assert_allclose(measured(init, depth, "misalignment"), expected, rtol=0, atol=EIGENVALUE_ERROR)


# -- rates of singular values, by differences ------------------------------------------------------


def factors_by_differences(layers, loss, gradient):
    """Return how many times as fast descent on layers moves each singular value of W as descent on W itself.

    `gradient` is that of the loss at W. Differences are central, in steps of 1e-6.
    """
    W, gradients, step = plain.multiply(layers), plain.gradients(layers, loss), 1e-6

    def singular_values(rate):
        """Return those after a step on the layers, and after one on W: shape (2, r)."""
        through_layers = plain.multiply(
            [layer - rate * change for layer, change in zip(layers, gradients, strict=True)]
        )
        return np.linalg.svd(np.array([through_layers, W - rate * gradient]), compute_uv=False)

    through_layers, of_w_itself = singular_values(step) - singular_values(-step)
    return through_layers / of_w_itself


# relative: rounding of 1e-16 is 1e-10 of a movement of order 1e-6, which a step makes, and more of slower movements
DIFFERENCES_ERROR = 1e-4


def at_second_time(init, depth, column):
    """Return the rate factors of both singular values at the second recorded time."""
    return spectra(init, depth, "rate_factor", column=column)[1]


@every_flow
def test_rate_factors_are_those_by_differences(init, depth):
    layers, target = plain_path(init, depth)[1], target_of(init, depth)
    expected = factors_by_differences(layers, plain.squared_loss(target), plain.multiply(layers) - target)
    np.testing.assert_allclose(at_second_time(init, depth, "value"), expected, rtol=DIFFERENCES_ERROR)
    if init == "balanced":
        np.testing.assert_allclose(at_second_time(init, depth, "predicted"), expected, rtol=DIFFERENCES_ERROR)


@every_flow
def test_predicted_rate_factors_are_the_slides_powers_of_singular_values(init, depth):
    values = np.linalg.svd(plain.multiply(plain_path(init, depth)[1]), compute_uv=False)
    # the singular values' own relative error is `PATH_ERROR` over the smallest, and some times that in their powers
    np.testing.assert_allclose(at_second_time(init, depth, "predicted"), depth * values ** (2 - 2 / depth), rtol=1e-5)


@pytest.mark.parametrize("init", INITS)
def test_a_lost_flow_has_no_values_and_the_other_keeps_its_own(init):
    trajectory, table = flows(init)
    with_lost_flow = {name: values.copy() for name, values in trajectory.series.items()}
    for values in with_lost_flow.values():
        values[FLOW_DEPTHS.index(3)] = np.nan
    remeasured = metrics.end_to_end_flow(dataclasses.replace(trajectory, series=with_lost_flow))
    assert remeasured[remeasured["depth"] == 3]["value"].isna().all()
    at_depth_2 = table["depth"] == 2
    np.testing.assert_array_equal(remeasured[at_depth_2]["value"], table[at_depth_2]["value"])


def test_wrong_laws_start_with_their_own_rates():
    """Over a short time singular values move by the law's rate, by that over N, and by that times sigma^(1/N)."""
    settings = SETTINGS | {"init": "balanced", "horizon": 1e-4, "points": 2, "depths": [3]}
    trajectory = trajectory_of(runs.end_to_end_flow, **settings)
    # singular values by each law, shape (2, r): at the start and at the end
    law, without_factor, other_exponent = np.moveaxis(trajectory.series["integrated"][0], 1, 0)
    moved = law[1] - law[0]
    # N is 3; rates change by about 1e-4 of themselves in a time of 1e-4
    np.testing.assert_allclose((without_factor[1] - without_factor[0]) * 3, moved, rtol=1e-3)
    np.testing.assert_allclose((other_exponent[1] - other_exponent[0]) / law[0] ** (1 / 3), moved, rtol=1e-3)


# -- velocities at one matrix, through balanced layers of every depth ------------------------------

SMALLEST, LARGEST = 0.05, 2.0  # bounds of the singular values
VELOCITY_DEPTHS, VELOCITY_SEEDS = [1, 2, 5], [0, 1]


@pytest.fixture(scope="module")
def velocities():
    """The run of velocities at one matrix for each of two seeds, at three depths, and its metrics."""
    bounds = {"smallest": SMALLEST, "largest": LARGEST}
    settings = {"depths": VELOCITY_DEPTHS, "size": 3, **bounds, "seeds": len(VELOCITY_SEEDS), "seed": 8}
    return trajectory_and_table(runs.balanced_velocity, metrics.balanced_velocity, settings)


every_velocity = pytest.mark.parametrize(("seed", "depth"), list(itertools.product(VELOCITY_SEEDS, VELOCITY_DEPTHS)))


def matrix_and_gradient(trajectory, seed, depth):
    """Return W of one member of the run, and the loss's gradient there."""
    of_seed, of_depth = trajectory.constants["member"] == seed, trajectory.constants["depth"] == depth
    (place,) = np.flatnonzero(of_seed & of_depth)
    return trajectory.series["end_to_end"][place, 0], trajectory.constants["gradient"][place]


@every_velocity
def test_factors_at_one_matrix_are_those_of_layers_by_torch(velocities, seed, depth):
    trajectory, table = velocities
    W, gradient = matrix_and_gradient(trajectory, seed, depth)

    def loss(end_to_end):
        """Return a loss that has this gradient everywhere."""
        return (end_to_end * torch.tensor(gradient)).sum()

    rows = select(table, "factor", depth=depth, seed=seed)
    expected = factors_by_differences(plain.balanced_layers(W, depth), loss, gradient)
    np.testing.assert_allclose(rows["value"], expected, rtol=DIFFERENCES_ERROR)
    np.testing.assert_allclose(rows["predicted"], rows["value"], rtol=1e-9)  # the law is exact: rounding is left


@every_velocity
def test_singular_values_of_the_matrix_are_measured(velocities, seed, depth):
    trajectory, table = velocities
    W, _ = matrix_and_gradient(trajectory, seed, depth)
    sigma = select(table, "sigma", depth=depth, seed=seed)["value"]
    np.testing.assert_allclose(sigma, np.linalg.svd(W, compute_uv=False))


@every_velocity
def test_one_singular_value_is_in_each_third_of_the_range_of_logarithms(velocities, seed, depth):
    trajectory, _ = velocities
    W, _ = matrix_and_gradient(trajectory, seed, depth)
    ascending = np.linalg.svd(W, compute_uv=False)[::-1]
    edges = np.geomspace(SMALLEST, LARGEST, 4)  # of three intervals
    assert np.all((edges[:-1] <= ascending) & (ascending <= edges[1:])), f"{ascending} between {edges}"


@pytest.mark.parametrize("seed", VELOCITY_SEEDS)
def test_every_depth_has_the_matrix_and_the_gradient_of_its_seed(velocities, seed):
    trajectory, _ = velocities
    first, *others = (np.array(matrix_and_gradient(trajectory, seed, depth)) for depth in VELOCITY_DEPTHS)
    for depth, other in zip(VELOCITY_DEPTHS[1:], others, strict=True):
        np.testing.assert_array_equal(other, first, err_msg=f"{depth=}")


def test_seeds_have_matrices_and_gradients_of_their_own(velocities):
    trajectory, _ = velocities
    of_first_seed, of_second_seed = (
        np.array(matrix_and_gradient(trajectory, seed, depth=2)) for seed in VELOCITY_SEEDS
    )
    assert not np.isclose(of_first_seed, of_second_seed).any()


def test_bounds_of_a_spectrum_in_the_wrong_order_are_refused():
    with pytest.raises(ProjectError, match=r"smallest \(2\) must be at most largest \(1\)"):
        runs.balanced_velocity(depths=[2], size=2, smallest=2.0, largest=1.0, seeds=1, seed=0)


@pytest.mark.parametrize(("fewer", "more"), [(2, 3), (3, 4), (2, 8), (7, 8)])
def test_a_factor_is_the_same_for_both_depths_at_the_turning_value(fewer, more):
    def log_factor(log_sigma, depth):
        """Return log(N sigma^(2 - 2/N))."""
        return np.log(depth) + (2 - 2 / depth) * log_sigma

    def difference(log_sigma):
        return log_factor(log_sigma, more) - log_factor(log_sigma, fewer)

    assert log_of_turning_value(fewer, more) == pytest.approx(scipy.optimize.brentq(difference, -50.0, 50.0))


# -- how descent and small starts leave balance ----------------------------------------------------


@pytest.mark.parametrize("rate", [0.1, 0.05])  # the coarsest, and once halved
def test_descent_leaves_balance_by_as_much_as_plain_descent(rate):
    settings = {
        "depth": 3,
        "inputs": 3,
        "width": 4,
        "outputs": 2,
        "start": 0.5,
        "horizon": 0.4,
        "coarsest": 0.1,
        "halvings": 1,
        "seeds": 1,
        "seed": 6,
    }
    _, table = trajectory_and_table(runs.balancedness_descent, metrics.balancedness_descent, settings)
    (rng,) = generators(settings["seed"], "deep_linear.balancedness_descent", settings["seeds"])
    shape = (settings["outputs"], settings["inputs"])
    target = rng.standard_normal(shape)
    layers = plain.balanced_layers(settings["start"] * rng.standard_normal(shape), settings["depth"])
    steps = round(settings["horizon"] / rate)
    ended = plain.descend(layers, plain.squared_loss(target), rate, steps)
    _, drift_at_end = gram_movements([layers, ended])["drift"]
    assert select(table, "drift", learning_rate=rate)["value"].item() == pytest.approx(drift_at_end)


def largest_imbalance(layers):
    """Return the largest norm by which Gram matrices of neighbouring layers differ."""
    return max(np.linalg.norm(above.T @ above - below @ below.T) for below, above in pairwise(layers))


def largest_spectral_norm(layers):
    return max(np.linalg.norm(layer, 2) for layer in layers)


@pytest.mark.parametrize("scale", [0.0, 0.3], ids=["identity layers", "Gaussian layers of scale 0.3"])
def test_balance_relative_to_layers_and_their_growth_are_those_of_layers_by_scipy(scale):
    depth = size = 3
    horizon = 1.0
    settings = {"depth": depth, "size": size, "scales": [0.3], "horizon": horizon, "seeds": 1, "seed": 1, **TOLERANCES}
    _, table = trajectory_and_table(runs.approximate_balance, metrics.approximate_balance, settings)
    (rng,) = generators(1, "deep_linear.approximate_balance", 1)
    target = rng.standard_normal((size, size)) / np.sqrt(size)
    normal = [rng.standard_normal((size, size)) for _ in range(depth)]
    is_identity = scale == 0.0  # as the run names it
    layers = [np.eye(size)] * depth if is_identity else [scale * layer for layer in normal]
    duration = horizon if is_identity else horizon / scale ** (depth - 2)
    start, end = plain.flow(layers, plain.squared_loss(target), np.array([0.0, duration]))
    expected = {
        "imbalance_at_start": largest_imbalance(start) / largest_spectral_norm(end) ** 2,
        "imbalance_at_end": largest_imbalance(end) / largest_spectral_norm(end) ** 2,
        "relative_imbalance": largest_imbalance(start) / largest_spectral_norm(start) ** 2,
        "layer_growth": largest_spectral_norm(end) / largest_spectral_norm(start),
    }
    rows = select(table, scale=scale).set_index("quantity")["value"]
    assert rows[list(expected)].to_dict() == pytest.approx(expected, abs=PATH_ERROR)


# -- judges ---------------------------------------------------------------------------------------

# relative tolerances of runs at smoke scale; the claims' amplification, 100, allows errors up to a hundred times them
RTOL = 1e-11  # of flows of layers
RTOL_OF_APPROXIMATE_BALANCE = 1e-9


@named_after_its_call
def miss_prediction(quantity, share, *, index):
    """Return an alteration of one value of a balanced flow, of depth 3, at the last time.

    It becomes its prediction plus a share of the largest value along that flow.
    """

    def alter(tables):
        table = tables["balanced"]
        along_flow = (table["quantity"] == quantity) & (table["depth"] == 3)
        at_end = along_flow & (table["index"] == index) & (table["time"] == table["time"].max())
        (row,) = table.index[at_end]
        table.loc[row, "value"] = table.loc[row, "predicted"] + share * table.loc[along_flow, "value"].max()
        return tables

    return alter


def at_end_of_flow(table, quantity, depth):
    """Return which rows have a quantity of the flow of some depth at the last time."""
    return (table["quantity"] == quantity) & (table["depth"] == depth) & (table["time"] == table["time"].max())


@named_after_its_call
def leave_at_singular(share, *, depth):
    """Return an alteration: the nearest singular matrix at the end has a least eigenvalue above zero.

    It is a share of the largest eigenvalue at W.
    """

    def alter(tables):
        table = tables["balanced"]
        largest = table.loc[at_end_of_flow(table, "eigenvalue", depth), "value"].max()
        table.loc[at_end_of_flow(table, "eigenvalue_at_singular", depth), "value"] = share * largest
        return tables

    return alter


@named_after_its_call
def exceed_bound(share, *, depth):
    """Return an alteration: the least eigenvalue at the end is its bound plus a share of the largest eigenvalue.

    The bound is sigma_min^(2 - 2/N).
    """

    def alter(tables):
        table = tables["balanced"]
        sigma_min = table.loc[at_end_of_flow(table, "sigma", depth), "value"].min()
        eigenvalues = table.loc[at_end_of_flow(table, "eigenvalue", depth), "value"]
        table.loc[eigenvalues.idxmin(), "value"] = sigma_min ** (2 - 2 / depth) + share * eigenvalues.max()
        return tables

    return alter


# What claims require, to 100 relative tolerances of the integrator:
#
# CONSERVED: the differences of neighbouring Gram matrices do not move, along flows from balanced or Gaussian layers
# LAW: singular values are those predicted
# SEMIDEFINITE: eigenvalues are those predicted; misalignment is a millionth or less
# POSITIVE: the least eigenvalue is at least sigma_min^(2 - 2/N), and zero at the nearest singular matrix
# BALANCE: the imbalance at the end is of second order in the scale, and zero from identity layers; layers grow twofold
CONSERVED, LAW = "balancedness_flow", "singular_value_dynamics"
SEMIDEFINITE, POSITIVE, BALANCE = "preconditioner_psd", "preconditioner_positive", "approximate_balance"
LEAST_OF_EIGENVALUES = 3 * 4  # the last index: of gradients with 3 rows and 4 columns, at smoke scale


def above_zero(values):
    return values > 0


@pytest.mark.parametrize(
    ("claim", "alter"),
    [
        (CONSERVED, put("drift", 90 * RTOL, role="gaussian")),
        (LAW, miss_prediction("sigma", 90 * RTOL, index=1)),
        (SEMIDEFINITE, miss_prediction("eigenvalue", 90 * RTOL, index=LEAST_OF_EIGENVALUES)),
        (SEMIDEFINITE, put("misalignment", 0.9e-6, depth=2, role="balanced")),
        (POSITIVE, leave_at_singular(90 * RTOL, depth=3)),
        (POSITIVE, exceed_bound(-90 * RTOL, depth=2)),
        (POSITIVE, exceed_bound(1e-3, depth=2)),
        # scale 0 means identity layers
        (BALANCE, put("imbalance_at_end", 90 * RTOL_OF_APPROXIMATE_BALANCE, scale=0.0, seed=0)),
        (BALANCE, put("layer_growth", 2.1, scale=above_zero, seed=1)),
    ],
)
def test_values_within_their_bound_are_reproduced(claim, alter):
    assert verdict_on(claim, alter, amplification=100.0) == "reproduced"


@pytest.mark.parametrize(
    ("claim", "alter"),
    [
        (CONSERVED, put("drift", 110 * RTOL, depth=2, role="balanced")),
        (CONSERVED, put("drift", 110 * RTOL, depth=3, role="gaussian")),
        (LAW, miss_prediction("sigma", 110 * RTOL, index=1)),
        (LAW, miss_prediction("sigma", -110 * RTOL, index=3)),
        (SEMIDEFINITE, miss_prediction("eigenvalue", 110 * RTOL, index=LEAST_OF_EIGENVALUES)),
        (SEMIDEFINITE, miss_prediction("eigenvalue", -110 * RTOL, index=2)),
        (SEMIDEFINITE, put("misalignment", 1.1e-6, depth=2, role="balanced")),
        (POSITIVE, leave_at_singular(110 * RTOL, depth=3)),
        (POSITIVE, exceed_bound(-110 * RTOL, depth=2)),
        (POSITIVE, put("sigma", 0.5, add=True, depth=3, index=3)),  # raises the bound above the least eigenvalue
        (BALANCE, put("imbalance_at_end", 110 * RTOL_OF_APPROXIMATE_BALANCE, scale=0.0, seed=0)),
        (BALANCE, put("layer_growth", 1.9, scale=above_zero, seed=1)),
    ],
)
def test_values_beyond_their_bound_contradict_the_claim(claim, alter):
    assert verdict_on(claim, alter, amplification=100.0) == "contradicted"


@pytest.mark.parametrize(
    ("claim", "alter"),
    [
        (CONSERVED, put("drift", np.nan, depth=3, role="gaussian")),
        (POSITIVE, put("eigenvalue", np.nan, depth=2, index=LEAST_OF_EIGENVALUES)),
    ],
)
def test_a_value_that_is_not_a_number_decides_nothing(claim, alter):
    assert verdict_on(claim, alter, amplification=100.0) == "undecided"


@pytest.mark.parametrize(
    ("alter", "verdict"),
    [
        (put("order", 2.1, depth=2, role="balanced"), "reproduced"),
        (put("order", 1.9, depth=2, role="balanced"), "contradicted"),
        (put("order", np.nan, depth=3, role="balanced"), "undecided"),
        # rivals: where one has the order too, tables do not tell it from the claim
        (put("order_fewer", 4.0, role="balanced"), "undecided"),
        (put("order", 4.0, role="gaussian"), "undecided"),
    ],
)
def test_the_distance_from_the_equation_alone_must_fall_with_order_two_or_more(alter, verdict):
    """Rivals are the equation of one layer fewer, and the same one for layers that are not balanced."""
    assert verdict_on("end_to_end_dynamics", alter, least_order=2.0) == verdict


# a pure power has one order at all steps: then an error of a thousandth is allowed
@pytest.mark.parametrize(
    ("order", "verdict"),
    [
        (1 + 0.9e-3, "reproduced"),
        (1 - 0.9e-3, "reproduced"),
        (1 + 1.1e-3, "contradicted"),
        (1 - 1.1e-3, "contradicted"),
    ],
)
def test_the_drift_must_be_of_first_order_in_the_step(order, verdict):
    power = put("drift", lambda rows: 0.3 * rows["learning_rate"] ** order, learning_rate=above_zero)
    assert verdict_on("balancedness_gd_first_order", power) == verdict


# of a pure power, an error of a hundredth
@pytest.mark.parametrize(
    ("order", "verdict"),
    [
        (2 + 0.9e-2, "reproduced"),
        (2 - 0.9e-2, "reproduced"),
        (2 + 1.1e-2, "contradicted"),
        (2 - 1.1e-2, "contradicted"),
    ],
)
def test_the_imbalance_at_the_end_must_be_of_second_order_in_the_scale(order, verdict):
    power = put("imbalance_at_end", lambda rows: 0.3 * rows["scale"] ** order, scale=above_zero)
    assert verdict_on(BALANCE, power) == verdict


# -- judge of factors by depth, on made-up factors -----------------------------------------------------------------

LAYERS_ADDED = (2, 3, 4, 6, 8)  # numbers of layers, each compared with the next


SINGULAR_VALUES = (2.0, 0.4, 0.1)


def evaluation_of_factors(law, values=SINGULAR_VALUES, reading="each factor"):
    """Return what the claim says of singular values whose factor is `law(singular value, number of layers)`."""
    rows = [
        {"depth": depth, "seed": 0, "quantity": quantity, "index": index, "value": value, "predicted": np.nan}
        for depth in LAYERS_ADDED
        for index, sigma in enumerate(values, start=1)
        for quantity, value in (("sigma", sigma), ("factor", law(sigma, depth)))
    ]
    table = pd.DataFrame(rows)
    table.attrs = {"settings": {}, "draw": ("depth", "seed")}
    return evaluation("deep_linear", "larger_depth_larger_factors", {"factors": table}, rounding=1e-9, reading=reading)


def factor(sigma, depth):
    """Return the factor that the slide derives."""
    return depth * sigma ** (2 - 2 / depth)


def ratios_that_shrink(sigma, depth):
    return depth * sigma ** (1 / depth)


def ratios_that_stay(sigma, depth):
    return depth * sigma


def equal_factors(sigma, depth):
    return depth


def each_layer_speeds_all_up_alike(sigma, depth):
    return 100**depth * factor(sigma, depth)


# Read of each factor, as corrected: with a further layer factors of large singular values grow and those of small ones
# fall, and ratios of neighbouring ones grow.


def test_factors_as_derived_correct_the_sentence_about_each_factor():
    assert evaluation_of_factors(factor).verdict == "corrected"


def a_large_factor_that_falls_once(sigma, depth):
    return factor(sigma, depth) * (0.5 if (sigma, depth) == (2.0, 8) else 1.0)  # from 6 layers to 8


def a_small_factor_that_rises_once(sigma, depth):
    return factor(sigma, depth) * (1.6 if (sigma, depth) == (0.1, 3) else 1.0)  # from 2 layers to 3


@pytest.mark.parametrize("law", [a_large_factor_that_falls_once, a_small_factor_that_rises_once, ratios_that_shrink])
def test_factors_that_move_otherwise_than_corrected_are_contradicted(law):
    assert evaluation_of_factors(law).verdict == "contradicted"


def test_factors_that_never_turn_let_the_printed_sentence_hold_and_not_the_correction():
    """Factors sigma^N are above one and grow, or are below one and fall, with every layer."""
    judged = evaluation_of_factors(lambda sigma, depth: sigma**depth)
    assert judged.judgement.state == "holds"
    assert judged.corrected.state == "fails"


def test_ratios_that_stay_at_one_decide_nothing():
    assert evaluation_of_factors(equal_factors).verdict == "undecided"


def test_a_factor_that_stays_from_one_depth_to_the_next_decides_nothing():
    turning_value = (2 / 3) ** 3  # 2 sigma and 3 sigma^(4/3) are the same: two layers and three have one factor
    assert evaluation_of_factors(factor, values=(2.0, turning_value, 0.01)).corrected.state == "undecided"


# Read of ratios: of two neighbouring factors that of the larger singular value is the larger, by a ratio that grows
# with every layer.


@pytest.mark.parametrize("law", [factor, each_layer_speeds_all_up_alike])
def test_ratios_that_exceed_one_and_grow_reproduce_the_sentence_about_ratios(law):
    assert evaluation_of_factors(law, reading="ratios").verdict == "reproduced"


def ratios_below_one_that_grow(sigma, depth):
    return depth * sigma ** (-1 / depth)


def ratios_that_grow_and_shrink_with_the_last_layers(sigma, depth):
    return factor(sigma, depth) if depth < 8 else 1.001 * factor(sigma, 6) ** 0.999


def ratios_that_grow_by_a_little_with_the_last_layers(sigma, depth):
    return factor(sigma, depth) if depth < 8 else 0.999 * factor(sigma, 6) ** 1.001


@pytest.mark.parametrize(
    ("law", "verdict"),
    [
        (ratios_that_shrink, "contradicted"),
        (ratios_below_one_that_grow, "contradicted"),
        (ratios_that_grow_and_shrink_with_the_last_layers, "contradicted"),
        (ratios_that_grow_by_a_little_with_the_last_layers, "reproduced"),
        (ratios_that_stay, "undecided"),
    ],
)
def test_read_of_ratios_each_must_exceed_one_and_grow_with_every_layer(law, verdict):
    assert evaluation_of_factors(law, reading="ratios").verdict == verdict


@pytest.mark.parametrize(("layers", "fact"), [(2, "sigma_of_factor_one_at_fewest"), (8, "sigma_of_factor_one_at_most")])
def test_the_singular_value_whose_factor_is_one_is_a_fact(layers, fact):
    """Smaller ones are slowed down with so many layers: the fewest, 2, or the most, 8."""
    facts = evaluation_of_factors(factor, reading="ratios").facts
    assert (facts["fewest_layers"], facts["most_layers"]) == (min(LAYERS_ADDED), max(LAYERS_ADDED))
    assert factor(facts[fact], layers) == pytest.approx(1.0)


def test_factors_below_one_that_grow_as_a_layer_is_added_are_counted():
    n_growing = 0
    for sigma in SINGULAR_VALUES:
        for fewer, more in pairwise(LAYERS_ADDED):
            n_growing += factor(sigma, fewer) < 1 and factor(sigma, more) > factor(sigma, fewer)
    assert n_growing > 0
    assert evaluation_of_factors(factor, reading="ratios").facts["factors_that_grow"] == n_growing
