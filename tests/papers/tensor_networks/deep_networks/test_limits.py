"""Limits of deep fully connected networks by scipy's integrator, layers by their singular values, altered tables."""

import functools
import itertools

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.deep_networks import metrics, runs
from learning_dynamics.tidy import select
from tests.papers.tensor_networks import plain
from tests.papers.tensor_networks.plain import evaluation_on, multiply, put, read, rewrite, verdict

SIZE = 3
SETTINGS = {"depths": [2, 3], "scales": [0.5, 1.0], "residual": 1e-10, "rtol": 1e-12, "atol": 1e-15, "seed": 6}


def matrices(state, depth):
    flat = np.split(state, [SIZE**2 * layer for layer in range(1, depth)])
    return [W.reshape(SIZE, SIZE).T for W in flat[:-1]] + [flat[-1][:, None]]


@pytest.fixture(scope="module", params=["identity", "descending", "gaussian"])
def flown(request):
    data = points.regression(samples=2, inputs=SIZE, seeds=2, seed=6)
    return plain.trajectory_with_settings(runs.deep_regression, data, init=request.param, **SETTINGS)


def first_of_ratios(length, lacking, depth):
    """q with q (q^2 + lacking)^((depth-1)/2) = length."""
    return scipy.optimize.brentq(lambda q: q * (q**2 + lacking) ** ((depth - 1) / 2) - length, 0.0, 1e3, xtol=1e-14)


@pytest.mark.parametrize("depth", [2, 3])
def test_alignment_on_the_way_by_other_means(flown, depth):
    X, y, start = (flown.constants[name][1] for name in ("X", "y", f"start_{depth}"))
    loss, first = plain.loss_of("fully_connected", depth, X, y, "squared"), matrices(start, depth)
    gram = [np.linalg.norm(A.T @ A - B @ B.T, 2) for A, B in itertools.pairwise(first)]
    bounds = [2 * gram[0]]
    if depth == 3:
        bounds = [2 * gram[0] + gram[1] + np.sum(first[1] ** 2) - np.sum(first[2] ** 2), 2 * gram[1]]
    ratios = []
    for state in plain.flow(loss, start, np.r_[0.0, np.geomspace(1e-3, 60.0, 120)])[1:]:  # at scale one
        decompositions = [np.linalg.svd(A) for A in matrices(state, depth)]
        pairs = zip(itertools.pairwise(decompositions), bounds, strict=True)
        ratios.append(max((1 - (a[2][0] @ b[0][:, 0]) ** 2) * b[1][0] ** 2 / bound for (a, b), bound in pairs))
    found = select(
        metrics.deep_regression(flown), "misalignment_over_bound_on_the_way", seed=1, depth=depth, scale=1.0
    )["value"].item()
    # early layers from the identity have equal singular values but for rounding, and so any vectors
    assert found == pytest.approx(max(ratios), rel=0.05, abs=1e-4)


@pytest.mark.parametrize("depth", [2, 3])
def test_limits_and_layers_by_other_means(flown, depth):
    X, y, start = (flown.constants[name][1] for name in ("X", "y", f"start_{depth}"))
    loss = plain.loss_of("fully_connected", depth, X, y, "squared")
    table = metrics.deep_regression(flown)
    least, sparse, first = np.linalg.pinv(X) @ y, plain.least_l1(X, y), matrices(start, depth)
    unfitted = np.sqrt(2) * 1e-10 * np.abs(y).max() / np.linalg.svd(X)[1][-1] / np.linalg.norm(least)
    differences = [A.T @ A - B @ B.T for A, B in itertools.pairwise(first)]
    for place, scale in enumerate((0.5, 1.0)):
        value = select(table, seed=1, depth=depth, scale=scale).set_index("quantity")["value"]
        state = flown.series[f"flow_{depth}"][1, place]
        np.testing.assert_allclose(
            state,
            plain.flow(loss, scale * start, np.array([0.0, 60.0]))[-1],
            rtol=0,
            atol=1e-6,
            err_msg=f"{place=} {scale=}",
        )
        W = matrices(state, depth)
        beta = functools.reduce(np.matmul, W)[:, 0]
        decompositions = [np.linalg.svd(A) for A in W]
        tops = [s[0] * np.outer(U[:, 0], Vt[0]) for U, s, Vt in decompositions]
        angles = [1 - (a[2][0] @ b[0][:, 0]) ** 2 for a, b in itertools.pairwise(decompositions)]
        gram = [np.linalg.norm(difference, 2) for difference in differences]
        bounds = [2 * gram[0]]
        if depth == 3:
            bounds = [2 * gram[0] + gram[1] + np.sum(first[1] ** 2) - np.sum(first[2] ** 2), 2 * gram[1]]
        allowed = np.array(angles) * [s[0] ** 2 for _, s, _ in decompositions[1:]] / scale**2 / bounds
        outside = scale * np.linalg.norm(scipy.linalg.null_space(X).T @ first[0], 2)
        lacking = scale**2 * sum(max(0.0, -np.linalg.eigvalsh(difference)[0]) for difference in differences)
        apart = 0.0
        for _ in range(200):  # the distance, and the length of the coefficients that it is part of
            length = np.hypot(np.linalg.norm(least), apart)
            apart = outside * length / first_of_ratios(length, lacking, depth)
        # from the identity the limit is the least-norm interpolator, but for the residual and the solver
        for name, expected, error in (
            ("distance_from_least_l2", np.linalg.norm(beta - least) / np.linalg.norm(least), 1e-8),
            ("distance_from_least_l1", np.linalg.norm(beta - sparse) / np.linalg.norm(sparse), 0),
            ("residual", np.abs(X @ beta - y).max() / np.abs(y).max(), 1e-13),
            ("distance_from_rank_one", max(map(np.linalg.norm, map(np.subtract, W[:-1], tops))), 1e-8),
            ("misalignment", max(angles), 1e-12),
            ("misalignment_over_bound", max(allowed), 1e-11),
            ("distance_bound_of_residual", unfitted, 0),
            ("distance_bound", apart / np.linalg.norm(least) + unfitted, 0),
        ):
            assert value[name] == pytest.approx(expected, rel=1e-5, abs=error), name
        assert value["distance_from_least_l2"] <= value["distance_bound"], f"{place=} {scale=}"


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_starts_fulfil_their_conditions(flown, seed, depth):
    W = matrices(flown.constants[f"start_{depth}"][seed], depth)
    margins = [np.linalg.eigvalsh(A.T @ A - B @ B.T).min() for A, B in itertools.pairwise(W)]
    if flown.settings["init"] == "identity":
        np.testing.assert_allclose(margins, [0.0] * (depth - 2) + [1.0], rtol=0, atol=1e-12)
    elif flown.settings["init"] == "descending":
        assert min(margins) >= -1e-12
        assert margins[-1] > 0.1
    else:
        assert np.linalg.norm(W[0]) < 3 * np.sqrt(SIZE)


def test_a_start_with_its_last_layers_zero_stays():
    data = points.regression(samples=2, inputs=SIZE, seeds=1, seed=6)
    found = plain.trajectory_with_settings(runs.deep_regression, data, init="silent", **SETTINGS)
    np.testing.assert_array_equal(read(metrics.deep_regression(found), "residual"), 1.0)
    assert [W.any() for W in matrices(found.constants["start_3"][0], 3)] == [True, False, False]


ONE = {"seed": 1, "depth": 3, "scale": 0.03}


@pytest.mark.parametrize(
    ("residual", "where", "expected"),
    [
        (0.9e-10, {"role": "descending", **ONE}, "reproduced"),
        (2e-10, {"role": "descending", **ONE}, "contradicted"),
        (2e-10, {"role": "identity", **ONE, "scale": 0.1}, "contradicted"),
        (1 + 0.5e-10, {"role": "silent", "seed": 1, "depth": 3}, "reproduced"),
        (1 + 2e-10, {"role": "silent", "seed": 1, "depth": 3}, "contradicted"),
    ],
)
def test_theorem_6_convergence_refuses_one_residual(residual, where, expected):
    assert verdict("theorem_6_convergence", put("residual", residual, **where)) == expected


def test_theorem_6_convergence_counts_flows_from_outside_and_does_not_judge_them():
    facts = evaluation_on("theorem_6_convergence").facts
    assert facts["stuck"] == 10
    assert facts["gaussian_converged"] <= facts["gaussian_flows"] == 40
    stuck = evaluation_on("theorem_6_convergence", put("residual", 1.0, role="gaussian", seed=1))
    assert (stuck.verdict, stuck.facts["gaussian_converged"]) == ("reproduced", 40 * 3 // 5)


def powers(quantity, power, level=1.0, **where):
    """Let a quantity fall like a power of the scale."""
    return rewrite(quantity, lambda rows: level * (1 + 0.01 * rows["seed"]) * rows["scale"] ** power, **where)


both_parts_of_theorem_6_2 = pytest.mark.parametrize(
    ("claim", "role"), [("theorem_6_bias", "descending"), ("theorem_6_any_directions", "gaussian")]
)


@both_parts_of_theorem_6_2
@pytest.mark.parametrize(("power", "expected"), [(0.55, "reproduced"), (0.45, "contradicted")])
def test_theorem_6_2_asks_for_a_power_of_the_distance(claim, role, power, expected):
    assert (
        verdict(claim, multiply("distance_bound", 1e6, role=role), powers("distance_from_least_l2", power, role=role))
        == expected
    )


@both_parts_of_theorem_6_2
def test_theorem_6_2_holds_every_draw_to_its_bound_at_any_scale(claim, role):
    assert evaluation_on(claim).facts["nearest"] <= 1
    lines = powers("distance_from_least_l2", 1.0, role=role), powers("distance_bound", 1.0, 1.01, role=role)
    within = evaluation_on(claim, *lines)
    assert within.verdict == "reproduced"
    assert within.facts["nearest"] == pytest.approx(1 / 1.01)
    for scale in (0.01, 1.0):
        beyond = multiply("distance_bound", 0.98, role=role, scale=scale, seed=1, depth=3)
        assert verdict(claim, *lines, beyond) == "contradicted", f"{scale=}"


@both_parts_of_theorem_6_2
def test_theorem_6_2_leaves_out_what_stays_at_the_saddle_and_is_undecided_of_what_was_given_up(claim, role):
    stuck = evaluation_on(
        claim, put("residual", 1.0, role=role, seed=1), put("distance_from_least_l2", 9.0, role=role, seed=1)
    )
    assert stuck.verdict == "reproduced"
    assert stuck.judgement.headline.excluded.startswith("4 left out")
    lost = evaluation_on(claim, put("distance_from_least_l2", np.nan, role=role, seed=1, scale=0.01))
    assert lost.verdict not in ("reproduced", "contradicted")


def test_theorem_6_2_from_the_identity_allows_what_the_residual_does():
    one = {"role": "identity", "seed": 1, "depth": 3, "scale": 0.1}
    exact = put("distance_bound_of_residual", 1e-9, **one)
    assert verdict("theorem_6_bias", exact, put("distance_from_least_l2", 0.9e-9, **one)) == "reproduced"
    assert verdict("theorem_6_bias", exact, put("distance_from_least_l2", 1.1e-9, **one)) == "contradicted"


@pytest.mark.parametrize(
    ("power", "expected"),
    [
        (1.0, "corrected"),
        (1.09, "corrected"),
        (1.12, "contradicted"),
        (0.88, "contradicted"),
        (2.0, "reproduced"),
        (1.88, "contradicted"),
    ],
)
def test_equation_88_is_corrected_by_a_power_of_one(power, expected):
    assert verdict("equation_88", powers("distance_from_rank_one", power)) == expected


@pytest.mark.parametrize(("factor", "expected"), [(1.2, "corrected"), (1.5, "contradicted")])
def test_equation_88_is_refused_by_one_draw_of_another_order(factor, expected):
    one = multiply("distance_from_rank_one", factor, role="gaussian", **ONE | {"scale": 0.01})
    assert verdict("equation_88", one) == expected


@pytest.mark.parametrize("quantity", ["misalignment_over_bound", "misalignment_over_bound_on_the_way"])
@pytest.mark.parametrize("role", ["descending", "gaussian"])
def test_equation_93_is_held_to_its_bound(role, quantity):
    assert verdict("equation_93", put(quantity, 0.99, role=role, **ONE)) == "reproduced"
    assert verdict("equation_93", put(quantity, 1.01, role=role, **ONE)) == "contradicted"


def test_equation_93_is_held_to_its_order():
    assert verdict("equation_93", powers("misalignment", 2.1)) == "reproduced"
    assert verdict("equation_93", powers("misalignment", 1.9)) == "contradicted"


def test_equation_93_fits_nothing_that_is_below_rounding_at_the_smallest_scale():
    few = evaluation_on("equation_93", multiply("misalignment", 1e-30, seed=1))
    assert few.judgement.checks[1].excluded == "8 left out: below rounding at the smallest scale"


def test_equation_93_says_which_power_and_how_small():
    level = evaluation_on("equation_93", powers("misalignment", 3.0), powers("misalignment_over_bound", 1.0, 0.01))
    assert level.facts["power"] == pytest.approx(3.0)
    assert level.facts["small"] == pytest.approx(1.02e-4)


def test_dominated_layers_and_the_least_eigenvalues_of_their_products():
    found = plain.trajectory_with_settings(runs.dominated_layers, depths=[3, 4], size=3, draws=20, seed=1)
    table = metrics.dominated_layers(found)
    for depth, draw in itertools.product((3, 4), range(20)):
        W = list(found.series[f"matrices_{depth}"][draw, 0])
        w = found.series[f"last_{depth}"][draw, 0]
        for above, below in zip(W, [*W[1:], w[:, None]], strict=True):
            least = np.linalg.eigvalsh(above.T @ above - below @ below.T).min()
            assert least > -1e-10, f"{depth=} {draw=}"
        product, inner = functools.reduce(np.matmul, W), W[-1].T @ W[-1]
        remainder = inner - np.outer(w, w)
        smallest = np.linalg.norm(product, -2) ** 2
        lam, top = np.linalg.norm(remainder, -2), np.linalg.norm(remainder, 2)
        expected = {
            "product_over_least": smallest / lam ** (depth - 1),
            "product_over_largest": smallest / top ** (depth - 1),
        }
        middle, last = (functools.reduce(np.matmul, [matrix] * (depth - 1)) for matrix in (inner, remainder))
        for name, larger, smaller in (
            ("first_difference", product.T @ product, middle),
            ("second_difference", middle, last),
        ):
            least = np.linalg.eigvals(larger - smaller).real.min()
            expected[name] = least / np.linalg.norm(larger, 2)
        for name, number in expected.items():
            value = read(table, name, depth=depth, seed=draw)
            np.testing.assert_allclose(value, number, rtol=1e-5, atol=1e-12, err_msg=f"{name} {depth=} {draw=}")


def test_equation_84_is_corrected_step_by_step():
    one = {"seed": 7, "depth": 5}
    assert verdict("equation_84", put("product_over_least", 1 - 2e-12, **one)) == "contradicted"
    assert verdict("equation_84", put("product_over_least", 1 - 0.5e-12, **one)) == "corrected"
    one = {"seed": 7, "depth": 3}
    assert verdict("equation_84", put("first_difference", -2e-12, **one)) == "contradicted"
    assert verdict("equation_84", put("first_difference", -0.5e-12, **one)) == "corrected"
    assert verdict("equation_84", put("first_difference", 0.0), put("second_difference", 0.0)) != "corrected"


def test_equation_84_counts_draws_that_break_a_step():
    facts = evaluation_on("equation_84").facts
    assert facts["draws"] == 400
    assert facts["break_second"] == facts["three_or_more"] == 600
    assert evaluation_on("equation_84", put("first_difference", 0.0)).facts["break_first"] == 0
