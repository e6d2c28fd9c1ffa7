"""Flows, balance and the preconditioner against layers followed by torch and scipy; judges on doctored tables."""

import dataclasses
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

INPUTS, OUTPUTS, WIDTH = 3, 2, 4
TOLERANCES = {"rtol": 1e-9, "atol": 1e-12}
SETTINGS = {
    "init": "balanced",
    "depths": [2, 3],
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


@pytest.fixture(scope="module", params=["balanced", "gaussian"])
def flows(request):
    return request.param, *trajectory_and_table(
        runs.end_to_end_flow, metrics.end_to_end_flow, SETTINGS | {"init": request.param}
    )


def layers_by_scipy(trajectory, member):
    """Return a flow's depth and target, and its layers at recorded times by torch and scipy, from the same start."""
    depth, target = int(trajectory.constants["depth"][member]), trajectory.constants["target"][member]
    widths = [INPUTS, *[WIDTH] * (depth - 1), OUTPUTS]
    start = networks.unpack(trajectory.series["layers"][member, 0], widths)
    return depth, target, plain.flow(start, plain.squared(target), trajectory.time)


def factors_of(layers, loss, gradient):
    """Return by differences how much faster the layers' descent moves singular values than the gradient alone."""
    W, changes, step = plain.multiply(layers), plain.gradients(layers, loss), 1e-6

    def moved(by):
        through_layers = plain.multiply([layer - by * change for layer, change in zip(layers, changes, strict=True)])
        return np.linalg.svd(np.array([through_layers, W - by * gradient]), compute_uv=False)

    through_layers, alone = moved(step) - moved(-step)
    return through_layers / alone


@pytest.mark.parametrize("member", [0, 1])
def test_flows_and_what_is_measured_of_them(flows, member):
    init, trajectory, table = flows
    depth, target, path = layers_by_scipy(trajectory, member)
    W = np.array([plain.multiply(layers) for layers in path])
    values = np.linalg.svd(W, compute_uv=False)
    rows = table[table["depth"] == depth]
    for index in (1, 2):
        np.testing.assert_allclose(
            by_draw(rows, "sigma", index=index)[0], values[:, index - 1], rtol=0, atol=1e-7, err_msg=f"{index=}"
        )
    np.testing.assert_allclose(by_draw(rows, "norm")[0], np.linalg.norm(W, axis=(1, 2)), rtol=0, atol=1e-7)
    direct = trajectory.series["direct"][member]
    np.testing.assert_allclose(
        by_draw(rows, "difference")[0], np.linalg.norm(W - direct, axis=(1, 2)), rtol=0, atol=1e-7
    )
    fewer = trajectory.series["one_layer_fewer"][member]
    np.testing.assert_allclose(
        by_draw(rows, "one_layer_fewer")[0], np.linalg.norm(W - fewer, axis=(1, 2)), rtol=0, atol=1e-7
    )
    # by fixed steps: the same flows, to the fourth order of the step, and the order that is read off them
    for direct_place, quantity in ((1, "order"), (2, "order_fewer")):
        largest = []
        for name, accuracy in (("in_steps", 1e-3), ("in_half_steps", 1e-4)):
            states = trajectory.series[name][member]
            np.testing.assert_allclose(states[:, 0], W, rtol=0, atol=accuracy, err_msg=name)
            np.testing.assert_allclose(states[:, 1], direct, rtol=0, atol=accuracy, err_msg=name)
            largest.append(np.linalg.norm(states[:, 0] - states[:, direct_place], axis=(1, 2)).max())
        assert by_draw(rows, quantity)[0] == pytest.approx(np.log2(largest[0] / largest[1])), quantity
    second = np.linalg.svd(direct, compute_uv=False)[:, 1]
    np.testing.assert_allclose(by_draw(rows, "direct", index=2)[0], second, rtol=0, atol=1e-12)
    if init == "balanced":
        np.testing.assert_allclose(direct, W, rtol=0, atol=1e-7)
        np.testing.assert_allclose(trajectory.series["integrated"][member, :, 0], values, rtol=0, atol=1e-7)
        # one layer fewer follows the balanced layers of that depth
        other = plain.flow(plain.balanced(W[0], depth - 1), plain.squared(target), trajectory.time)
        np.testing.assert_allclose(fewer, [plain.multiply(each) for each in other], rtol=0, atol=1e-7)
    for quantity, expected in gram_movements(path).items():
        np.testing.assert_allclose(by_draw(rows, quantity)[0], expected, rtol=0, atol=1e-7, err_msg=f"{quantity=}")


def gram_movements(path):
    """Return by quantity, at each time, how far Gram matrices of neighbouring layers have moved from their start.

    `drift` is of differences, `sum_drift` of sums, and `gram_drift` of W W^T itself, all layers as one vector.
    """
    stacked = {"drift": [], "sum_drift": [], "gram_drift": []}
    for layers in path:
        pairs = [(up.T @ up, down @ down.T) for down, up in pairwise(layers)]
        stacked["drift"].append(np.concatenate([(a - b).ravel() for a, b in pairs]))
        stacked["sum_drift"].append(np.concatenate([(a + b).ravel() for a, b in pairs]))
        stacked["gram_drift"].append(np.concatenate([b.ravel() for _, b in pairs]))
    return {name: np.linalg.norm(np.array(rows) - rows[0], axis=1) for name, rows in stacked.items()}


@pytest.mark.parametrize("member", [0, 1])
def test_eigenvalues_are_those_of_the_layers_jacobian(flows, member):
    init, trajectory, table = flows
    depth, _, path = layers_by_scipy(trajectory, member)
    rows = table[table["depth"] == depth]
    for place, layers in enumerate(path):
        J = plain.jacobian(layers)
        values, vectors = np.linalg.eigh(J @ J.T)
        at = rows[np.isclose(rows["time"], trajectory.time[place])]
        measured = select(at, "eigenvalue")
        np.testing.assert_allclose(measured["value"], values[::-1], rtol=0, atol=1e-6, err_msg=f"{place=}")
        if init == "balanced":
            np.testing.assert_allclose(measured["predicted"], values[::-1], rtol=0, atol=1e-6, err_msg=f"{place=}")
            other = plain.jacobian(plain.balanced(plain.multiply(layers), depth - 1))
            expected = np.linalg.eigvalsh(other @ other.T)[::-1]
            fewer = select(at, "eigenvalue_fewer")
            np.testing.assert_allclose(fewer["predicted"], expected, rtol=0, atol=1e-6, err_msg=f"{place=}")
            np.testing.assert_allclose(fewer["value"], values[::-1], rtol=0, atol=1e-6, err_msg=f"{place=}")
        U, found, Vt = np.linalg.svd(plain.multiply(layers))
        # without its last singular value W is singular, and so is the map of layers that carry roots of what is left
        at_singular = plain.jacobian(plain.balanced(found[0] * np.outer(U[:, 0], Vt[0]), depth))
        expected = np.linalg.eigvalsh(at_singular @ at_singular.T)[0]
        assert select(at, "eigenvalue_at_singular")["value"].item() == pytest.approx(expected, abs=1e-12), f"{place=}"
        assert expected == pytest.approx(0, abs=1e-12), f"{place=}"
        along = vectors[:, -1] @ np.kron(U[:, 0], Vt[0])
        assert select(at, "misalignment")["value"].item() == pytest.approx(1 - along**2, abs=1e-6), f"{place=}"


@pytest.mark.parametrize("member", [0, 1])
def test_rates_of_singular_values_are_differences_of_them(flows, member):
    init, trajectory, table = flows
    depth, target, path = layers_by_scipy(trajectory, member)
    W = plain.multiply(path[1])
    factors = factors_of(path[1], plain.squared(target), W - target)
    at = select(table[table["depth"] == depth], "rate_factor", time=trajectory.time[1])
    np.testing.assert_allclose(at["value"], factors, rtol=1e-4)
    values = np.linalg.svd(W, compute_uv=False)
    np.testing.assert_allclose(at["predicted"], depth * values ** (2 - 2 / depth), rtol=1e-5)
    if init == "balanced":
        np.testing.assert_allclose(at["predicted"], factors, rtol=1e-4)


def test_a_lost_flow_is_empty_and_its_sibling_is_not(flows):
    _, trajectory, table = flows
    series = {name: values.copy() for name, values in trajectory.series.items()}
    for values in series.values():
        values[1] = np.nan
    found = metrics.end_to_end_flow(dataclasses.replace(trajectory, series=series))
    assert found[found["depth"] == 3]["value"].isna().all()
    kept = table["depth"] == 2
    np.testing.assert_array_equal(found[kept]["value"], table[kept]["value"])


def test_wrong_laws_start_with_their_own_rates():
    """Over a short time singular values move by the law's rate, by that over N, and by that times sigma^(1/N)."""
    settings = SETTINGS | {"horizon": 1e-4, "points": 2, "depths": [3]}
    trajectory = trajectory_of(runs.end_to_end_flow, **settings)
    law, without, other = np.moveaxis(trajectory.series["integrated"][0], 1, 0)
    moved = law[1] - law[0]
    np.testing.assert_allclose((without[1] - without[0]) * 3, moved, rtol=1e-3)
    np.testing.assert_allclose((other[1] - other[0]) / law[0] ** (1 / 3), moved, rtol=1e-3)


SMALLEST, LARGEST = 0.05, 2.0  # bounds of the singular values
DEPTHS = [1, 2, 5]


@pytest.fixture(scope="module")
def velocities():
    """The run of velocities at one matrix for each of two seeds, at three depths, and its metrics."""
    settings = {"depths": DEPTHS, "size": 3, "smallest": SMALLEST, "largest": LARGEST, "seeds": 2, "seed": 8}
    return trajectory_and_table(runs.balanced_velocity, metrics.balanced_velocity, settings)


# members of the run by their place: all depths of the first seed, then of the second
every_velocity = pytest.mark.parametrize(
    ("place", "depth", "seed"), [(place, DEPTHS[place % 3], place // 3) for place in range(6)]
)


@every_velocity
def test_factors_at_one_matrix_are_those_of_layers_by_torch(velocities, place, depth, seed):
    trajectory, table = velocities
    W, G = trajectory.series["end_to_end"][place, 0], trajectory.constants["gradient"][place]

    def loss(end_to_end):
        return (end_to_end * torch.tensor(G)).sum()  # of gradient G everywhere

    measured = select(table, "factor", depth=depth, seed=seed)
    # differences of singular values by steps of 1e-6
    np.testing.assert_allclose(measured["value"], factors_of(plain.balanced(W, depth), loss, G), rtol=1e-4)
    np.testing.assert_allclose(measured["predicted"], measured["value"], rtol=1e-9)


@every_velocity
def test_one_singular_value_is_in_each_third_of_the_range_of_logarithms(velocities, place, depth, seed):
    trajectory, table = velocities
    values = np.linalg.svd(trajectory.series["end_to_end"][place, 0], compute_uv=False)
    np.testing.assert_allclose(select(table, "sigma", depth=depth, seed=seed)["value"], values)
    edges = np.geomspace(SMALLEST, LARGEST, 4)
    # of ascending values: how many edges each is above
    assert np.searchsorted(edges, values[::-1]).tolist() == [1, 2, 3]


def test_every_depth_has_the_matrix_and_the_gradient_of_its_seed(velocities):
    trajectory, _ = velocities
    for values in (trajectory.series["end_to_end"], trajectory.constants["gradient"]):
        of_seeds = values.reshape(2, 3, -1)  # seeds, depths
        np.testing.assert_array_equal(of_seeds, np.broadcast_to(of_seeds[:, :1], of_seeds.shape))
        assert not np.isclose(of_seeds[0, 0], of_seeds[1, 0]).any()


def test_bounds_of_a_spectrum_in_the_wrong_order_are_refused():
    with pytest.raises(ProjectError, match=r"smallest .* must be at most largest"):
        runs.balanced_velocity(depths=[2], size=2, smallest=2.0, largest=1.0, seeds=1, seed=0)


@pytest.mark.parametrize(("fewer", "more"), [(2, 3), (3, 4), (2, 8), (7, 8)])
def test_a_factor_is_the_same_for_both_depths_at_the_turning_value(fewer, more):
    turn = scipy.optimize.brentq(
        lambda x: np.log(fewer) + (2 - 2 / fewer) * x - np.log(more) - (2 - 2 / more) * x, -50.0, 50.0
    )
    assert log_of_turning_value(fewer, more) == pytest.approx(turn)


def test_steps_leave_balance_as_plain_descent_does():
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
    (rng,) = generators(6, "deep_linear.balancedness_descent", 1)
    target = rng.standard_normal((2, 3))
    layers = plain.balanced(0.5 * rng.standard_normal((2, 3)), 3)
    for rate, steps in ((0.1, 4), (0.05, 8)):
        ended = plain.descend(layers, plain.squared(target), rate, steps)
        expected = gram_movements([layers, ended])["drift"][1]
        assert select(table, "drift", learning_rate=rate)["value"].item() == pytest.approx(expected), f"{rate=}"


def test_small_layers_are_measured_against_what_they_become():
    settings = {"depth": 3, "size": 3, "scales": [0.3], "horizon": 1.0, "seeds": 1, "seed": 1, **TOLERANCES}
    _, table = trajectory_and_table(runs.approximate_balance, metrics.approximate_balance, settings)
    (rng,) = generators(1, "deep_linear.approximate_balance", 1)
    target = rng.standard_normal((3, 3)) / np.sqrt(3)
    normal = [rng.standard_normal((3, 3)) for _ in range(3)]
    for scale, layers in ((0.0, [np.eye(3)] * 3), (0.3, [0.3 * layer for layer in normal])):
        last = 1.0 / (scale or 1.0)
        start, end = plain.flow(layers, plain.squared(target), np.array([0.0, last]))
        sizes = [max(np.linalg.norm(layer, 2) for layer in each) for each in (start, end)]
        apart = [max(np.linalg.norm(up.T @ up - down @ down.T) for down, up in pairwise(each)) for each in (start, end)]
        expected = {
            "imbalance_at_start": apart[0] / sizes[1] ** 2,
            "imbalance_at_end": apart[1] / sizes[1] ** 2,
            "relative_imbalance": apart[0] / sizes[0] ** 2,
            "layer_growth": sizes[1] / sizes[0],
        }
        for name, value in expected.items():
            assert select(table, name, scale=scale)["value"].item() == pytest.approx(value, abs=1e-7), name


# -- judges ---------------------------------------------------------------------------------------

RTOL = 1e-11  # of the flows at hand


@named_after_its_call
def set_share(quantity, share, **where):
    """Place a value at a share of the largest of its draw beside its prediction, at one place."""

    def alter(tables):
        table = tables["balanced"]
        chosen = (table["quantity"] == quantity) & (table["depth"] == 3)
        for column, wanted in where.items():
            chosen &= table[column] == wanted
        last = table.index[chosen & (table["time"] == table["time"].max())][0]
        largest = table.loc[(table["quantity"] == quantity) & (table["depth"] == 3), "value"].max()
        table.loc[last, "value"] = table.loc[last, "predicted"] + share * largest
        return tables

    return alter


CONSERVED, LAW = "balancedness_flow", "singular_value_dynamics"
SEMIDEFINITE, POSITIVE, BALANCE = "preconditioner_psd", "preconditioner_positive", "approximate_balance"


def above_zero(values):
    return values > 0


@pytest.mark.parametrize(
    ("claim", "alter", "inside"),
    [
        (CONSERVED, put("drift", 50 * RTOL, role="gaussian"), True),
        (CONSERVED, put("drift", 200 * RTOL, depth=2, role="balanced"), False),
        (CONSERVED, put("drift", 200 * RTOL, depth=3, role="gaussian"), False),
        (CONSERVED, put("drift", np.nan, depth=3, role="gaussian"), False),
        (LAW, set_share("sigma", 50 * RTOL, index=1), True),
        (LAW, set_share("sigma", 200 * RTOL, index=1), False),
        (LAW, set_share("sigma", -200 * RTOL, index=3), False),
        (SEMIDEFINITE, set_share("eigenvalue", 50 * RTOL, index=12), True),
        (SEMIDEFINITE, set_share("eigenvalue", 200 * RTOL, index=12), False),
        (SEMIDEFINITE, set_share("eigenvalue", -200 * RTOL, index=2), False),
        (SEMIDEFINITE, put("misalignment", 0.5e-6, depth=2, role="balanced"), True),
        (SEMIDEFINITE, put("misalignment", 2e-6, depth=2, role="balanced"), False),
        (POSITIVE, put("eigenvalue_at_singular", 1e-12), True),
        (POSITIVE, put("eigenvalue_at_singular", 2e-3, depth=3), False),
        (POSITIVE, put("eigenvalue", 1e-3, add=True, index=12), True),
        (POSITIVE, put("eigenvalue", -2e-3, depth=2, index=12), False),
        (POSITIVE, put("eigenvalue", np.nan, depth=2, index=12), False),
        (POSITIVE, put("sigma", 0.5, add=True, depth=3, index=3), False),
        (BALANCE, put("imbalance_at_end", 2e-7, scale=0.0, seed=0), False),
        (BALANCE, put("layer_growth", 1.0, scale=above_zero, seed=1), False),
    ],
)
def test_values_beyond_the_tolerance_are_refused(claim, alter, inside):
    assert verdict_on(claim, amplification=100.0) == "reproduced"
    assert (verdict_on(claim, alter, amplification=100.0) == "reproduced") == inside


@pytest.mark.parametrize(
    ("alter", "expected"),
    [
        (put("order", 2.1, depth=2, role="balanced"), "reproduced"),
        (put("order", 1.9, depth=2, role="balanced"), "contradicted"),
        (put("order", np.nan, depth=3, role="balanced"), "undecided"),
        # a layer fewer, or layers that are not balanced, may not follow the equation as well
        (put("order_fewer", 4.0, role="balanced"), "undecided"),
        (put("order", 4.0, role="gaussian"), "undecided"),
    ],
)
def test_layers_and_equation_part_as_the_integrators_errors_do(alter, expected):
    assert verdict_on("end_to_end_dynamics", least_order=2.0) == "reproduced"
    assert verdict_on("end_to_end_dynamics", alter, least_order=2.0) == expected


@pytest.mark.parametrize(
    ("claim", "quantity", "setting", "order", "expected"),
    [
        ("balancedness_gd_first_order", "drift", "learning_rate", 1.0, "reproduced"),
        ("balancedness_gd_first_order", "drift", "learning_rate", 1.2, "contradicted"),
        ("balancedness_gd_first_order", "drift", "learning_rate", 0.8, "contradicted"),
        (BALANCE, "imbalance_at_end", "scale", 2.0, "reproduced"),
        (BALANCE, "imbalance_at_end", "scale", 2.1, "contradicted"),
        (BALANCE, "imbalance_at_end", "scale", 1.9, "contradicted"),
    ],
)
def test_an_order_is_that_of_the_smallest_steps_or_starts(claim, quantity, setting, order, expected):
    alter = put(quantity, lambda rows: 0.3 * rows[setting] ** order, **{setting: above_zero})
    assert verdict_on(claim, alter) == expected


# -- factors by depth, made up -------------------------------------------------------------------------------------


def evaluation_of_factors(law, values=(2.0, 0.4, 0.1), depths=(2, 3, 4, 6, 8), reading="each factor"):
    """Return what the claim says of singular values whose factor is `law(singular value, number of layers)`."""
    rows = [
        {"depth": depth, "seed": 0, "quantity": quantity, "index": index, "value": value, "predicted": np.nan}
        for depth in depths
        for index, sigma in enumerate(values, start=1)
        for quantity, value in (("sigma", sigma), ("factor", law(sigma, depth)))
    ]
    table = pd.DataFrame(rows)
    table.attrs = {"settings": {}, "draw": ("depth", "seed")}
    return evaluation("deep_linear", "larger_depth_larger_factors", {"factors": table}, rounding=1e-9, reading=reading)


def factor(sigma, depth):
    return depth * sigma ** (2 - 2 / depth)


def ratios_that_shrink(sigma, depth):
    return depth * sigma ** (1 / depth)


def test_factors_as_derived_correct_the_sentence():
    assert evaluation_of_factors(factor).verdict == "corrected"


def all_sped_up_alike(sigma, depth):
    return 100**depth * factor(sigma, depth)


@pytest.mark.parametrize("law", [factor, all_sped_up_alike])
def test_read_of_ratios_the_sentence_holds(law):
    assert evaluation_of_factors(law, reading="ratios").verdict == "reproduced"


def ratios_below_one_that_grow(sigma, depth):
    return depth * sigma ** (-1 / depth)


def ratios_that_grow_less_and_less_and_shrink_at_last(sigma, depth):
    return factor(sigma, depth) if depth < 8 else 1.001 * factor(sigma, 6) ** 0.999


def ratios_that_grow_to_the_last(sigma, depth):
    return factor(sigma, depth) if depth < 8 else 0.999 * factor(sigma, 6) ** 1.001


@pytest.mark.parametrize(
    ("law", "verdict"),
    [
        (ratios_that_shrink, "contradicted"),
        (ratios_below_one_that_grow, "contradicted"),
        (ratios_that_grow_less_and_less_and_shrink_at_last, "contradicted"),
        (ratios_that_grow_to_the_last, "reproduced"),
        (lambda sigma, depth: depth * sigma, "undecided"),  # ratios that stay
    ],
)
def test_read_of_ratios_each_must_exceed_one_and_grow_with_every_layer(law, verdict):
    assert evaluation_of_factors(law, reading="ratios").verdict == verdict


def test_values_that_few_layers_slow_down_and_many_speed_up_are_facts():
    facts = evaluation_of_factors(factor, reading="ratios").facts
    assert (facts["fewest"], facts["most"]) == (2, 8)
    for layers, value in ((2, facts["slow_at_fewest"]), (8, facts["slow_at_most"])):
        assert factor(value, layers) == pytest.approx(1.0)


def test_read_of_ratios_it_counts_factors_below_one_that_grow_all_the_same():
    growing = 0
    for sigma in (0.4, 0.1):
        for fewer, more in pairwise((2, 3, 4, 6, 8)):
            growing += factor(sigma, fewer) < 1 and factor(sigma, more) > factor(sigma, fewer)
    facts = evaluation_of_factors(factor, reading="ratios").facts
    assert facts["slowed"] == growing > 0


def test_where_no_small_factor_turns_the_sentence_holds_as_it_stands():
    found = evaluation_of_factors(lambda sigma, depth: sigma**depth)
    assert found.judgement.state == "holds"
    assert found.corrected.state == "fails"


def a_large_factor_that_falls_once(sigma, depth):
    return factor(sigma, depth) * (0.5 if (sigma, depth) == (2.0, 8) else 1.0)


def a_small_factor_that_rises_once(sigma, depth):
    return factor(sigma, depth) * (1.6 if (sigma, depth) == (0.1, 3) else 1.0)


@pytest.mark.parametrize("law", [a_large_factor_that_falls_once, a_small_factor_that_rises_once, ratios_that_shrink])
def test_factors_that_move_otherwise_are_contradicted(law):
    assert evaluation_of_factors(law).verdict == "contradicted"


def test_a_factor_at_its_turn_and_ratios_that_stay_decide_nothing():
    assert evaluation_of_factors(lambda sigma, depth: depth).verdict == "undecided"
    # two layers and three have one factor at (2/3)^3
    assert evaluation_of_factors(factor, values=(2.0, (2 / 3) ** 3, 0.01)).corrected.state == "undecided"
