"""Completion from more and more entries: runs against torch and cvxpy, and the judge on made-up thresholds."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.datasets import matrix_completion
from learning_dynamics.papers.deep_linear.enough_entries import metrics, runs
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.shared import trajectory_and_table
from tests.support import evaluation

SIZE = 5  # rows, and columns
OBSERVED = [12, 18]  # numbers of observed entries
DRAWS = 2
SETTINGS = {
    "depth": 2,
    "scales": [0.3, 0.1],
    "learning_rate": 0.5,
    "stop": 0.05,
    "max_steps": 12,  # not enough for every network
    "precision": "double",
    "seed": 6,
}


@pytest.fixture(scope="module")
def data():
    """Matrices `truth` of rank 1, and `mask`, true where one of two sets of observed entries has an entry.

    Shapes are (DRAWS, SIZE, SIZE) and (DRAWS, 2, SIZE, SIZE), with sets in the order of OBSERVED.
    """
    return matrix_completion.nested(size=SIZE, rank=1, observed=OBSERVED, draws=DRAWS, seed=4)


@pytest.fixture(scope="module")
def networks(data):
    """Metrics of networks of depth 2 under SETTINGS."""
    return trajectory_and_table(runs.networks, metrics.networks, SETTINGS, data)[1]


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize("observed", OBSERVED)
@pytest.mark.parametrize("scale", SETTINGS["scales"])
def test_networks_are_plain_descent(data, networks, draw, observed, scale):
    truth, mask = data["truth"][draw], data["mask"][draw, OBSERVED.index(observed)]
    rng = list(generators(SETTINGS["seed"], "deep_linear.enough_entries", DRAWS))[draw]
    # entries have standard deviation scale^(1/N) n^(-1/2) in each of N = 2 layers
    start = list(rng.standard_normal((2, SIZE, SIZE)) * scale ** (1 / 2) / np.sqrt(SIZE))
    stop, max_steps = SETTINGS["stop"], SETTINGS["max_steps"]
    loss = plain.loss_on_observed(truth, mask)
    layers, losses = plain.descend_until(start, loss, SETTINGS["learning_rate"], stop, max_steps)
    W = plain.multiply(layers)
    expected = {
        "error": np.mean((W - truth) ** 2),
        "beyond_rank": np.linalg.svd(W, compute_uv=False)[1],  # the second singular value: the rank is 1
        "train_loss": losses[-1],
    }
    rows = select(networks, draw=draw, observed=observed, scale=scale)
    assert rows.set_index("quantity")["value"][list(expected)].to_dict() == pytest.approx(expected)
    assert set(rows["converged"]) == {losses[-1] <= stop}


def test_some_networks_converge_and_others_do_not(networks):
    assert set(networks["converged"]) == {True, False}


def test_nuclear_norms_of_minimisers_are_cvxpys(data):
    cvxpy = pytest.importorskip("cvxpy")
    settings = {"slack": 1e-3, "accuracy": 1e-6, "iterations": 5000}
    _, table = trajectory_and_table(runs.minimisers, metrics.minimisers, settings, data)
    draw, observed = 1, OBSERVED[0]
    truth, mask = data["truth"][draw], data["mask"][draw, 0]
    W = cvxpy.Variable((SIZE, SIZE))
    fits = cvxpy.abs(cvxpy.multiply(mask, W - truth)) <= settings["slack"]
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.normNuc(W)), [fits])
    problem.solve(solver=cvxpy.SCS, eps=1e-8)
    measured = select(table, draw=draw, observed=observed).set_index("quantity")["value"]
    # the solver's accuracy is a relative gap of 1e-6, and cvxpy's is of that order
    assert measured["nuclear_norm"] == pytest.approx(problem.value, rel=1e-5)
    assert measured["gap"] <= settings["accuracy"]


# -- the judge: does depth 3 need fewer entries than depth 2, and that fewer than the convex program? --------------

GRID = [100, 200, 400, 800, 1600]  # numbers of observed entries
SCALE = 1e-4  # initialisation scale at which networks are judged
LARGEST_RECOVERED_ERROR = 0.01  # up to which a matrix counts as recovered


def threshold_table(thresholds, *, scale=None, open_below=()):
    """Return errors that are small, those of a recovered matrix, from each draw's threshold on.

    Of the draws in `open_below` runs with fewer entries than that did not converge. Of networks, which have a scale,
    errors at a larger scale as well, which is not to be read: there all are one.
    """
    rows = [
        {
            "draw": draw,
            "observed": count,
            "quantity": "error",
            "value": LARGEST_RECOVERED_ERROR * (0.5 if count >= threshold else 2.0),
            "converged": not (draw in open_below and count < threshold),
        }
        for draw, threshold in enumerate(thresholds)
        for count in GRID
    ]
    table = pd.DataFrame(rows)
    if scale is None:
        return table.drop(columns="converged")
    at_larger_scale = table.assign(scale=100 * scale, value=1.0)
    return pd.concat([at_larger_scale, table.assign(scale=scale)], ignore_index=True)


def evaluation_of_tables(tables):
    settings = {"scale": SCALE, "recovered": LARGEST_RECOVERED_ERROR}
    return evaluation("deep_linear", "depth_3_needs_fewer_entries", tables, **settings)


def evaluation_with(*, convex=(800,) * 5, depth_2=(400,) * 5, depth_3=(200,) * 5, open_below=()):
    """Return what the claim says of thresholds of five draws, which by default are in the claimed order.

    Of the draws in `open_below` runs of depth 3 with fewer entries than the threshold did not converge.
    """
    tables = {
        "convex": threshold_table(convex),
        "depth_2": threshold_table(depth_2, scale=SCALE),
        "depth_3": threshold_table(depth_3, scale=SCALE, open_below=open_below),
    }
    return evaluation_of_tables(tables)


def test_thresholds_in_the_claimed_order_are_reproduced():
    assert evaluation_with().verdict == "reproduced"


@pytest.mark.parametrize(
    "thresholds",
    [
        pytest.param({"convex": [200] * 5, "depth_2": [800] * 5, "depth_3": [400] * 5}, id="convex needs fewest"),
        pytest.param({"depth_2": [200] * 5, "depth_3": [400] * 5}, id="depth 2 needs fewer than depth 3"),
        pytest.param(
            {"convex": [200, 400, 800, 400, 200], "depth_3": [200, 400, 800, 400, 200]},
            id="convex needs as many as depth 3",
        ),
    ],
)
def test_thresholds_in_another_order_are_not_reproduced(thresholds):
    assert evaluation_with(**thresholds).verdict == "not reproduced"


@pytest.mark.parametrize(
    "thresholds",
    [
        pytest.param({"convex": [np.inf] * 5}, id="the convex program recovers no draw"),
        pytest.param({"convex": [800] * 4 + [np.inf]}, id="the convex program recovers all draws but one"),
        pytest.param({"depth_2": [400] * 4 + [np.inf]}, id="depth 2 recovers all draws but one"),
        pytest.param({"depth_3": [200] * 4 + [np.inf]}, id="depth 3 recovers all draws but one"),
    ],
)
def test_thresholds_beyond_the_grid_decide_nothing(thresholds):
    assert evaluation_with(**thresholds).judgement.state == "undecided"


def test_of_the_convex_program_the_number_before_its_threshold_is_compared():
    """Its threshold may be anywhere above that number: 400 of the grid is before 800."""
    judged = evaluation_with(convex=[800] * 5, depth_3=[200] * 5)
    assert judged.judgement.headline.value == pytest.approx(np.log2(400 / 200))
    assert judged.facts["convex_over_depth_3"] == pytest.approx(400 / 200)


def test_thresholds_in_the_text_are_medians_over_draws():
    facts = evaluation_with(
        convex=[800, 800, 800, 800, 1600], depth_2=[200, 400, 400, 400, 1600], depth_3=[100, 200, 200, 200, 400]
    ).facts
    assert (facts["threshold_convex"], facts["threshold_depth_2"], facts["threshold_depth_3"]) == (800, 400, 200)


@pytest.mark.parametrize("draws", [(), (0, 1)])
def test_thresholds_of_networks_that_did_not_converge_are_counted(draws):
    assert evaluation_with(open_below=draws).facts["thresholds_in_doubt"] == len(draws)


def evaluation_with_unconverged(*, role, observed):
    """Return what the claim says of thresholds 800, 400 and 200, in the claimed order.

    The runs of one depth with these numbers of observed entries did not converge.
    """
    tables = {
        "convex": threshold_table([800] * 5),
        "depth_2": threshold_table([400] * 5, scale=SCALE),
        "depth_3": threshold_table([200] * 5, scale=SCALE),
    }
    tables[role].loc[tables[role]["observed"].isin(observed), "converged"] = False
    return evaluation_of_tables(tables)


def test_depth_3_has_the_largest_threshold_that_it_may_have():
    """Of runs that have small errors and did not converge none counts as recovered."""
    judged = evaluation_with_unconverged(role="depth_3", observed=[200, 400, 800])
    assert judged.verdict == "not reproduced"
    assert judged.facts["threshold_depth_3"] == 1600, "the first number whose runs have small errors and converged"


@pytest.mark.parametrize(
    ("observed", "state"),
    [
        pytest.param([], "holds", id="400 as it is"),
        pytest.param([200], "undecided", id="200, as many as depth 3"),
        pytest.param([100, 200], "fails", id="100, fewer than depth 3"),
    ],
)
def test_depth_2_has_the_smallest_threshold_that_it_may_have(observed, state):
    """Runs that have large errors and did not converge count as recovered."""
    assert evaluation_with_unconverged(role="depth_2", observed=observed).judgement.state == state


# -- the judge of nuclear-norm minimisation alone -----------------------------------------------------------------

SLACK = 1e-3  # of minimisers on observed entries
FACTOR = 10.0
RECOVERED = FACTOR * SLACK**2  # the largest error of a recovered matrix


def evaluation_of_minimisers(from_fewest, from_most):
    """Return what the claim says of five draws' errors from the fewest and from the most entries.

    The claim: every draw is recovered from the most entries, and none from the fewest.
    """
    draws = pd.MultiIndex.from_product([range(5), GRID], names=["draw", "observed"]).to_frame(index=False)
    errors = draws.assign(quantity="error", value=0.1)
    errors.loc[errors["observed"] == GRID[0], "value"] = from_fewest
    errors.loc[errors["observed"] == GRID[-1], "value"] = from_most
    errors.attrs = {"settings": {"slack": SLACK}, "draw": ("draw",)}
    return evaluation("deep_linear", "enough_entries", {"convex": errors}, factor=FACTOR)


ERRORS_FROM_FEWEST, ERRORS_FROM_MOST = [0.5, 0.4, 0.5, 0.5, 0.5], [1e-6, 1e-6, 2e-6, 1e-6, 1e-6]


def test_recovery_from_many_entries_and_not_from_few_is_reproduced():
    assert evaluation_of_minimisers(ERRORS_FROM_FEWEST, ERRORS_FROM_MOST).verdict == "reproduced"


def test_the_outermost_numbers_of_entries_and_errors_are_facts():
    judged = evaluation_of_minimisers(ERRORS_FROM_FEWEST, ERRORS_FROM_MOST)
    assert judged.judgement.headline.value == 2e-6, "the largest error from the most entries"
    assert (judged.facts["fewest"], judged.facts["most"]) == (GRID[0], GRID[-1])
    assert judged.facts["smallest_error_from_fewest"] == 0.4, "the least error from the fewest entries"


@pytest.mark.parametrize(
    ("of_last_draw", "verdict"),
    [
        pytest.param(0.99 * RECOVERED, "reproduced", id="just recovered"),
        pytest.param(1.01 * RECOVERED, "not reproduced", id="just not recovered"),
        pytest.param(np.nan, "undecided", id="the solver failed"),
    ],
)
def test_every_draw_must_be_recovered_from_the_most_entries(of_last_draw, verdict):
    assert evaluation_of_minimisers([0.5] * 5, [1e-6] * 4 + [of_last_draw]).verdict == verdict


@pytest.mark.parametrize(
    ("of_last_draw", "verdict"),
    [
        pytest.param(1.01 * RECOVERED, "reproduced", id="just not recovered"),
        pytest.param(0.99 * RECOVERED, "not reproduced", id="just recovered"),
    ],
)
def test_no_draw_may_be_recovered_from_the_fewest_entries(of_last_draw, verdict):
    assert evaluation_of_minimisers([0.5] * 4 + [of_last_draw], [1e-6] * 5).verdict == verdict


def test_draws_that_no_number_of_entries_recovers_are_not_reproduced():
    assert evaluation_of_minimisers([0.5] * 5, [0.5] * 5).verdict == "not reproduced"
