"""Completion from more and more entries: runs against torch and cvxpy, and the judge on made-up thresholds."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.datasets.matrix_completion import nested
from learning_dynamics.papers.deep_linear.enough_entries import metrics, runs
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.shared import trajectory_and_table
from tests.support import evaluation

SETTINGS = {
    "depth": 2,
    "scales": [0.3, 0.1],
    "learning_rate": 0.5,
    "stop": 0.05,
    "max_steps": 12,
    "precision": "double",
    "seed": 6,
}


@pytest.fixture(scope="module")
def data():
    return nested(size=5, rank=1, observed=[12, 18], draws=2, seed=4)


def test_networks_are_plain_descent_for_every_set_of_entries(data):
    _, table = trajectory_and_table(runs.networks, metrics.networks, SETTINGS, data)
    for draw, rng in enumerate(generators(6, "deep_linear.enough_entries", 2)):
        normal, truth = rng.standard_normal((2, 5, 5)), data["truth"][draw]
        for mask, observed in zip(data["mask"][draw], (12, 18), strict=True):
            for scale in SETTINGS["scales"]:
                layers = list(normal * scale**0.5 / np.sqrt(5))
                layers, losses = plain.descend_until(layers, plain.observed(truth, mask), 0.5, 0.05, 12)
                W = plain.multiply(layers)
                rows = select(table, draw=draw, observed=observed, scale=scale)
                row = rows.set_index("quantity")["value"]
                case = f"{draw=}, {observed=}, {scale=}"
                assert row["error"] == pytest.approx(np.mean((W - truth) ** 2)), case
                assert row["beyond_rank"] == pytest.approx(np.linalg.svd(W, compute_uv=False)[1]), case
                assert row["train_loss"] == pytest.approx(losses[-1]), case
                assert rows["converged"].all() == (losses[-1] <= 0.05), case
    assert table["converged"].nunique() == 2, "both kinds of ends are compared with the loop"


def test_minimisers_are_cvxpys(data):
    cvxpy = pytest.importorskip("cvxpy")
    given = {"slack": 1e-3, "accuracy": 1e-6, "iterations": 5000}
    _, table = trajectory_and_table(runs.minimisers, metrics.minimisers, given, data)
    truth, mask = data["truth"][1], data["mask"][1, 0]
    W = cvxpy.Variable((5, 5))
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.normNuc(W)), [cvxpy.abs(cvxpy.multiply(mask, W - truth)) <= 1e-3])
    problem.solve(solver=cvxpy.SCS, eps=1e-8)
    row = select(table, draw=1, observed=12).set_index("quantity")["value"]
    assert row["nuclear_norm"] == pytest.approx(problem.value, rel=1e-5)
    assert row["gap"] <= 1e-6


# -- the judge ------------------------------------------------------------------------------------

GRID = [100, 200, 400, 800, 1600]
SCALE = 1e-4


def threshold_table(thresholds, *, scale=None, open_below=()):
    """Return errors that are small from each draw's threshold on.

    Of the draws in `open_below` runs with fewer entries than that did not converge. Errors of a network are at two
    scales, at the larger of which, which is not to be read, all are one.
    """
    rows = [
        {
            "draw": draw,
            "observed": count,
            "quantity": "error",
            "value": 0.005 if count >= first else 0.02,
            "converged": not (draw in open_below and count < first),
        }
        for draw, first in enumerate(thresholds)
        for count in GRID
    ]
    table = pd.DataFrame(rows)
    if scale is None:
        return table.drop(columns="converged")
    wrong = table.assign(scale=100 * scale, value=1.0)
    return pd.concat([wrong, table.assign(scale=scale)], ignore_index=True)


def evaluation_with(convex, two, three, **open_below):
    """Return what the comparison says of thresholds of five draws: of the convex program, of depth 2 and of depth 3."""
    tables = {
        "convex": threshold_table(convex),
        "depth_2": threshold_table(two, scale=SCALE),
        "depth_3": threshold_table(three, scale=SCALE, **open_below),
    }
    return evaluation("deep_linear", "depth_3_needs_fewer_entries", tables, scale=SCALE, recovered=0.01)


def test_thresholds_in_the_claimed_order_are_reproduced():
    assert evaluation_with([800] * 5, [400] * 5, [200] * 5).verdict == "reproduced"


@pytest.mark.parametrize(
    ("convex", "two", "three"),
    [
        pytest.param([200] * 5, [800] * 5, [400] * 5, id="the convex program needs fewest"),
        pytest.param([800] * 5, [200] * 5, [400] * 5, id="depth 2 needs fewer than depth 3"),
        pytest.param([200, 400, 800, 400, 200], [400] * 5, [200, 400, 800, 400, 200], id="convex as depth 3"),
    ],
)
def test_thresholds_in_another_order_are_not_reproduced(convex, two, three):
    assert evaluation_with(convex, two, three).verdict == "not reproduced"


@pytest.mark.parametrize(
    "thresholds",
    [
        pytest.param(([np.inf] * 5, [400] * 5, [200] * 5), id="the convex program recovers no draw"),
        pytest.param(([800] * 4 + [np.inf], [400] * 5, [200] * 5), id="the convex program recovers all draws but one"),
        pytest.param(([800] * 5, [400] * 4 + [np.inf], [200] * 5), id="depth 2 recovers all draws but one"),
        pytest.param(([800] * 5, [400] * 5, [200] * 4 + [np.inf]), id="depth 3 recovers all draws but one"),
    ],
)
def test_thresholds_beyond_the_grid_decide_nothing(thresholds):
    assert evaluation_with(*thresholds).judgement.state == "undecided"


def test_of_the_convex_program_the_number_before_its_threshold_is_compared():
    """Its threshold may be anywhere above that number: 400 of the grid is before 800."""
    found = evaluation_with([800] * 5, [400] * 5, [200] * 5)
    assert found.judgement.headline.value == pytest.approx(np.log2(400 / 200))
    assert found.facts["factor"] == pytest.approx(400 / 200)


def test_thresholds_in_the_text_are_medians_over_draws():
    found = evaluation_with([800, 800, 800, 800, 1600], [200, 400, 400, 400, 1600], [100, 200, 200, 200, 400])
    expected = {"of_convex": 800, "of_2": 400, "of_3": 200, "unknown": 0}
    assert {name: found.facts[name] for name in expected} == expected


def test_thresholds_of_networks_that_did_not_converge_are_counted():
    assert evaluation_with([800] * 5, [400] * 5, [200] * 5, open_below=(0, 1)).facts["unknown"] == 2


def evaluation_with_open_runs(depth, counts):
    """Return what the claim says of thresholds in the claimed order.

    At one depth the runs with so many entries (`counts`) did not converge.
    """
    table = threshold_table([400 if depth == 2 else 200] * 5, scale=SCALE)
    table.loc[table["observed"].isin(counts), "converged"] = False
    tables = {
        "convex": threshold_table([800] * 5),
        "depth_2": threshold_table([400] * 5, scale=SCALE),
        "depth_3": threshold_table([200] * 5, scale=SCALE),
    }
    tables |= {f"depth_{depth}": table}
    return evaluation("deep_linear", "depth_3_needs_fewer_entries", tables, scale=SCALE, recovered=0.01)


def test_depth_3_has_the_largest_threshold_that_it_may_have():
    """Its runs that count as recovered had not converged."""
    found = evaluation_with_open_runs(3, [200, 400, 800])
    assert found.verdict == "not reproduced"
    assert found.facts["of_3"] == 1600


def test_depth_2_has_the_smallest_threshold_that_it_may_have():
    """Its runs that count as not recovered had not converged: it may need as many entries as depth 3, or fewer."""
    assert evaluation_with_open_runs(2, []).verdict == "reproduced"
    assert evaluation_with_open_runs(2, [200]).judgement.state == "undecided"
    assert evaluation_with_open_runs(2, [100, 200]).verdict == "not reproduced"


# -- the judge of nuclear-norm minimisation alone -----------------------------------------------------------------

SLACK = 1e-3


def evaluation_of_minimisers(from_fewest, from_most):
    """Return what the slide's sentence gets of five draws' errors from the fewest and from the most entries."""
    draws = pd.MultiIndex.from_product([range(5), GRID], names=["draw", "observed"]).to_frame(index=False)
    errors = draws.assign(quantity="error", value=0.1)
    errors.loc[errors["observed"] == GRID[0], "value"] = from_fewest
    errors.loc[errors["observed"] == GRID[-1], "value"] = from_most
    errors.attrs = {"settings": {"slack": SLACK}, "draw": ("draw",)}
    return evaluation("deep_linear", "enough_entries", {"convex": errors}, factor=10.0)


def test_recovery_from_many_entries_and_not_from_few_is_reproduced():
    found = evaluation_of_minimisers([0.5, 0.4, 0.5, 0.5, 0.5], [1e-6, 1e-6, 2e-6, 1e-6, 1e-6])
    assert found.verdict == "reproduced"
    assert (found.facts["fewest"], found.facts["most"], found.facts["least"]) == (100, 1600, 0.4)
    assert found.judgement.headline.value == 2e-6


# ten times the squared slack is 1e-5
@pytest.mark.parametrize(
    ("from_fewest", "from_most", "verdict"),
    [
        pytest.param([0.5] * 5, [1e-6] * 4 + [0.99e-5], "reproduced", id="the last draw is just recovered"),
        pytest.param([0.5] * 5, [1e-6] * 4 + [1.01e-5], "not reproduced", id="the last draw is just not recovered"),
        pytest.param([0.5] * 5, [0.5] * 5, "not reproduced", id="no draw ever is"),
        pytest.param([0.5] * 4 + [1.01e-5], [1e-6] * 5, "reproduced", id="the fewest entries are just too few"),
        pytest.param([0.5] * 4 + [0.99e-5], [1e-6] * 5, "not reproduced", id="they are enough for one draw"),
        pytest.param([0.5] * 5, [1e-6] * 4 + [np.nan], "undecided", id="the solver failed on one draw"),
    ],
)
def test_every_draw_must_be_recovered_from_the_most_entries_and_none_from_the_fewest(from_fewest, from_most, verdict):
    assert evaluation_of_minimisers(from_fewest, from_most).verdict == verdict
