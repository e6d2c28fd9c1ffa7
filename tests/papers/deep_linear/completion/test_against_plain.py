"""Completed matrices: runs compared with descent by torch, measures by definition, and claims on made-up tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy

from learning_dynamics.datasets.matrix_completion import low_rank
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear.completed_matrices import measures_of
from learning_dynamics.papers.deep_linear.completion import figures, metrics, runs
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import by_draw, select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.shared import trajectory_and_table
from tests.support import evaluation

SIZE = 6  # rows, and columns
OBSERVED = 22  # entries that are observed
DRAWS = 2
SETTINGS = {
    "depth": 3,
    "scales": [0.3, 0.1],
    "learning_rates": [0.5],
    "optimiser": "gradient_descent",
    "stop": 0.1,
    "max_steps": 20,  # not enough for every completion
    "precision": "double",
    "seed": 5,
}


@pytest.fixture(scope="module")
def data():
    """Matrices `truth` of rank 2, and `mask`, true where an entry is observed: shape (DRAWS, SIZE, SIZE)."""
    return low_rank(size=SIZE, rank=2, observed=OBSERVED, draws=DRAWS, seed=3)


def measures_by_definition(W, truth, mask):
    """Return what is measured of a completed matrix W, by quantity."""
    return {
        "error": np.mean((W - truth) ** 2),
        "train_loss": np.mean((W - truth)[mask] ** 2),
        # the trace of the root of W^T W
        "nuclear_norm": np.trace(scipy.linalg.sqrtm(W.T @ W)).real,
        "effective_rank": np.exp(scipy.stats.entropy(np.linalg.svd(W, compute_uv=False))),
        "size": SIZE,
        "observed": OBSERVED,
    }


@pytest.fixture(scope="module")
def completions(data):
    """Metrics of the run under SETTINGS."""
    return trajectory_and_table(runs.completion, metrics.completion, SETTINGS, data)[1]


def plain_descent(data, draw, scale):
    """Return the matrix that plain descent ends at, shape (SIZE, SIZE), and the loss at every step."""
    rng = list(generators(SETTINGS["seed"], "deep_linear.completion", DRAWS))[draw]
    # entries have standard deviation scale^(1/N) n^(-1/2) in each of N layers
    depth = SETTINGS["depth"]
    start = list(rng.standard_normal((depth, SIZE, SIZE)) * scale ** (1 / depth) / np.sqrt(SIZE))
    loss = plain.loss_on_observed(data["truth"][draw], data["mask"][draw])
    (rate,) = SETTINGS["learning_rates"]
    layers, losses = plain.descend_until(start, loss, rate, SETTINGS["stop"], SETTINGS["max_steps"])
    return plain.multiply(layers), losses


every_completion = pytest.mark.parametrize(("draw", "scale"), list(itertools.product([0, 1], SETTINGS["scales"])))


@every_completion
def test_completions_are_those_of_plain_descent_from_gaussian_layers(data, completions, draw, scale):
    W, losses = plain_descent(data, draw, scale)
    rows = select(completions, draw=draw, scale=scale)
    measured = rows.set_index("quantity")["value"]
    assert measured["steps"] == len(losses) - 1
    assert set(rows["converged"]) == {losses[-1] <= SETTINGS["stop"]}
    expected = measures_by_definition(W, data["truth"][draw], data["mask"][draw])
    # the root of W^T W has up to the root of rounding, 1e-8, for a singular value near zero
    np.testing.assert_allclose(measured[list(expected)], list(expected.values()), rtol=1e-7)


def test_some_completions_converge_and_others_do_not(completions):
    assert set(completions["converged"]) == {True, False}


@every_completion
def test_norm_and_rank_of_the_matrix_to_complete_are_those_by_definition(data, completions, draw, scale):
    truth, mask = data["truth"][draw], data["mask"][draw]
    measured = select(completions, draw=draw, scale=scale).set_index("quantity")["value"]
    expected = measures_by_definition(truth, truth, mask)
    # the root of W^T W has the root of rounding, 1e-8, for each singular value that is zero
    assert measured["true_nuclear_norm"] == pytest.approx(expected["nuclear_norm"], rel=1e-5)
    assert measured["true_effective_rank"] == pytest.approx(expected["effective_rank"], rel=1e-5)


def test_nothing_is_measured_of_a_completion_that_diverged(data):
    measures = measures_of(np.full((DRAWS, SIZE, SIZE), np.inf), data["truth"], data["mask"])
    of_completion = {"error", "train_loss", "nuclear_norm", "effective_rank"}
    assert of_completion <= set(measures)
    for name, values in measures.items():
        if not name.startswith("true"):  # those are of the matrix to complete
            np.testing.assert_array_equal(values, np.nan, err_msg=name)


def one_entry(mask):
    """Return row and column of one entry, neither the first nor the last, where a mask is true."""
    return tuple(np.argwhere(mask)[3])


@pytest.fixture(scope="module")
def minimisers(data):
    """Metrics of made-up minimisers: one is off by 0.25 on an observed entry, the other by 0.5 on one that is not."""
    first, second = data["truth"].copy()  # one of each draw
    first[one_entry(data["mask"][0])] -= 0.25
    second[one_entry(~data["mask"][1])] += 0.5
    solved = {
        "truth": data["truth"],
        "mask": data["mask"],
        "minimiser": np.array([first, second]),
        "gap": np.array([1e-4, 2e-4]),
    }
    return trajectory_and_table(runs.nuclear_norm, metrics.nuclear_norm, {}, solved)[1]


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        pytest.param("misfit", [0.25, 0.0], id="misfit, the largest error on an observed entry"),
        pytest.param("error", [0.25**2 / SIZE**2, 0.5**2 / SIZE**2], id="error, a mean square over all entries"),
        pytest.param("gap", [1e-4, 2e-4], id="gap, the solver's"),
    ],
)
def test_of_minimisers_misfit_error_and_gap_are_measured(minimisers, quantity, expected):
    np.testing.assert_allclose(by_draw(minimisers, quantity, draw="draw")[:, 0], expected, rtol=0, atol=1e-15)


# -- made-up tables --------------------------------------------------------------------------------

SCALE, LARGEST_SCALE = 1e-6, 1e-3  # where networks are judged, and the largest of the grid
WOBBLE = np.array([-0.1, -0.06, -0.02, 0.02, 0.06, 0.1])  # of six draws around their mean: decades of errors, ranks


def network_table(*, error, norm, rank, at_largest_scale=None, converged=True):
    """Return the table of six draws at two scales and two learning rates, of which claims read the smaller.

    At the larger one errors and norms are fifty times as large.

    Parameters
    ----------
    error, norm, rank : float
        Geometric mean over draws of the error, nuclear norm, and mean of the effective rank.
    at_largest_scale : dict, optional
        Those of the three that are others at the largest scale.
    """
    means = {SCALE: {"error": error, "norm": norm, "rank": rank}}
    means[LARGEST_SCALE] = means[SCALE] | (at_largest_scale or {})
    factors = {10.0: 1.0, 20.0: 50.0}  # by learning rate
    rows = []
    for scale, rate, draw in itertools.product(means, factors, range(len(WOBBLE))):
        measured = {
            "error": means[scale]["error"] * 10 ** WOBBLE[draw] * factors[rate],
            "nuclear_norm": means[scale]["norm"] * factors[rate],
            "effective_rank": means[scale]["rank"] + WOBBLE[draw],
            "observed": 2000.0,
        }
        cell = {"depth": 2, "scale": scale, "learning_rate": rate, "draw": draw, "converged": converged}
        rows += [{**cell, "quantity": name, "value": value} for name, value in measured.items()]
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"scales": [SCALE, LARGEST_SCALE]}
    return table


def minimiser_table(*, error, norm, rank, misfit=1e-3, gap=1e-4):
    """Return the table of six minimisers.

    On draws where `network_table` has high errors theirs are low; ranks of both are high on the same draws.
    """
    rows = []
    for draw, wobble in enumerate(WOBBLE[::-1]):
        measured = {
            "error": error * 10**wobble,
            "nuclear_norm": norm,
            "effective_rank": rank - wobble,
            "misfit": misfit,
            "gap": gap,
            "observed": 2000.0,
        }
        rows += [{"draw": draw, "quantity": name, "value": value} for name, value in measured.items()]
    return pd.DataFrame(rows)


def test_the_figure_refuses_a_third_learning_rate_for_which_it_has_no_kind_of_line():
    two_rates = network_table(error=1e-3, norm=101.0, rank=6.0)
    minimiser = minimiser_table(error=1e-1, norm=100.0, rank=8.0)
    third_rate = two_rates[two_rates["learning_rate"] == 10.0].assign(learning_rate=5.0)
    with pytest.raises(ProjectError, match="3 learning rates"):
        figures.completion([pd.concat([two_rates, third_rate])], [two_rates], minimiser, minimiser)


# -- judges ----------------------------------------------------------------------------------------

# What claims require, of means over draws:
#
# depth_beats_nuclear_norm_2k: errors of networks are below the minimiser's, at depth 3 by `decades` or more, and that
#     one is as far above the squared misfit
# depth_3_beats_depth_2_2k: errors at depth 3 are `decades` or more below those at depth 2
# deep_has_larger_nuclear_norm: networks' norms exceed the minimiser's, by more than with many entries and than the gaps
# depth_lowers_effective_rank: ranks fall from the minimiser to depth 2, and from there to depth 3, by more than ranks
#     differ with many entries
#
# By role, means with which all hold; roles in `many` are of so many entries that all three recover the matrix
MEANS = {
    "depth_2": {"error": 1e-3, "norm": 101.0, "rank": 6.0},
    "depth_3": {"error": 1e-5, "norm": 102.0, "rank": 5.0},
    "minimiser": {"error": 1e-1, "norm": 100.0, "rank": 8.0},
    "depth_2_many": {"error": 1e-6, "norm": 100.02, "rank": 5.0},
    "depth_3_many": {"error": 1e-6, "norm": 100.02, "rank": 5.1},
    "minimiser_many": {"error": 1e-6, "norm": 100.0, "rank": 5.05},
}
NETWORKS = [role for role in MEANS if role.startswith("depth")]
ROLES = {
    "depth_beats_nuclear_norm_2k": list(MEANS),
    "depth_3_beats_depth_2_2k": NETWORKS,
    "deep_has_larger_nuclear_norm": list(MEANS),
    "depth_lowers_effective_rank": list(MEANS),
}
DECADES = {"depth_beats_nuclear_norm_2k": {"decades": 2.0}, "depth_3_beats_depth_2_2k": {"decades": 1.0}}


def evaluation_with(claim, **changes):
    """Return what a claim says of MEANS, some of them changed by role, as in ``depth_2={"error": 1e-2}``."""
    tables = {}
    for role in ROLES[claim]:
        make = network_table if role in NETWORKS else minimiser_table
        tables[role] = make(**MEANS[role] | changes.get(role, {}))
    return evaluation("deep_linear", claim, tables, scale=SCALE, **DECADES.get(claim, {}))


@pytest.mark.parametrize("claim", ROLES)
def test_a_claim_that_holds_is_reproduced(claim):
    assert evaluation_with(claim).verdict == "reproduced"


@pytest.mark.parametrize(
    ("claim", "role", "within", "beyond"),
    [
        # Depth 3 is two decades or more below the minimiser's error of 1e-1, depth 2 below it at all, and that error
        # two decades or more above the squared misfit. Draws differ: intervals reach 0.16 decades, the last one 0.08
        ("depth_beats_nuclear_norm_2k", "depth_3", {"error": 10**-3.2}, {"error": 10**-2.8}),
        ("depth_beats_nuclear_norm_2k", "depth_2", {"error": 10**-1.2}, {"error": 10**-0.8}),
        ("depth_beats_nuclear_norm_2k", "minimiser", {"misfit": 10**-1.55}, {"misfit": 10**-1.45}),
        # depth 3's error of 1e-5 is one decade or more below depth 2's of 1e-3, on every draw by as much
        ("depth_3_beats_depth_2_2k", "depth_3", {"error": 0.9e-4}, {"error": 1.1e-4}),
        ("depth_3_beats_depth_2_2k", "depth_2", {"error": 1.1e-4}, {"error": 0.9e-4}),
        # the excess over 100 is that with many entries, 2e-4, and more than the two solutions' gaps, 2e-4 together
        ("deep_has_larger_nuclear_norm", "depth_2", {"norm": 100.041}, {"norm": 100.039}),
        ("deep_has_larger_nuclear_norm", "depth_3", {"norm": 100.041}, {"norm": 100.039}),
        # from the minimiser's rank of 8 to depth 2, and from its 6 to depth 3, ranks fall by more than the largest
        # difference with many entries, which is 0.1
        ("depth_lowers_effective_rank", "depth_2", {"rank": 7.89}, {"rank": 7.91}),
        ("depth_lowers_effective_rank", "depth_3", {"rank": 5.89}, {"rank": 5.91}),
    ],
)
def test_a_claim_holds_up_to_its_bound_and_not_beyond(claim, role, within, beyond):
    assert evaluation_with(claim, **{role: within}).verdict == "reproduced"
    assert evaluation_with(claim, **{role: beyond}).verdict == "not reproduced"


@pytest.mark.parametrize("claim", ROLES)
def test_runs_that_did_not_converge_decide_nothing(claim):
    assert evaluation_with(claim, depth_3={"converged": False}).judgement.state == "undecided"


def test_the_excess_of_the_norm_is_that_with_few_entries_less_that_with_many():
    excess = evaluation_with("deep_has_larger_nuclear_norm").judgement.headline.value
    # at depth 2, over the minimiser's 100: 101 with few entries, 100.02 with many
    assert excess == pytest.approx(0.01 - 2e-4)


# the excess is 0.0098; the other of the two gaps is 0.0001
@pytest.mark.parametrize("role", ["minimiser", "minimiser_many"])
@pytest.mark.parametrize(("gap", "verdict"), [(0.0096, "reproduced"), (0.0098, "not reproduced")])
def test_the_excess_of_the_norm_must_exceed_the_sum_of_the_solvers_gaps(role, gap, verdict):
    assert evaluation_with("deep_has_larger_nuclear_norm", **{role: {"gap": gap}}).verdict == verdict


def test_facts_on_errors_are_decades_below_the_minimiser():
    judged = evaluation_with("depth_beats_nuclear_norm_2k", depth_2={"at_largest_scale": {"error": 1e-2}})
    # the minimiser's error is 1e-1, those of networks 1e-5 at depth 3, and 1e-3 and 1e-2 at depth 2
    assert judged.facts["value"] == pytest.approx(4.0)
    assert judged.facts["decades_depth_2_below"] == pytest.approx(2.0)
    assert judged.facts["decades_depth_2_below_at_largest_scale"] == pytest.approx(1.0)


def test_facts_on_ranks_are_differences_from_the_minimiser():
    judged = evaluation_with("depth_lowers_effective_rank", depth_2={"at_largest_scale": {"rank": 7.5}})
    # the minimiser's rank is 8, those of depth 2 are 6 and 7.5
    assert judged.facts["value"] == pytest.approx(2.0)
    assert judged.facts["difference_at_largest_scale"] == pytest.approx(0.5)


def evaluation_of_recovery(error, *, of_one_draw=None):
    """Return what the claim on many entries says of errors with this geometric mean; one draw may have another."""
    many = minimiser_table(error=error, norm=100.0, rank=5.0)
    few = minimiser_table(error=0.1, norm=100.0, rank=8.0)
    if of_one_draw is not None:
        many.loc[(many["quantity"] == "error") & (many["draw"] == 3), "value"] = of_one_draw
    return evaluation("deep_linear", "nuclear_norm_recovers_5k", {"many": many, "few": few}, factor=10.0)


@pytest.mark.parametrize(
    ("error", "of_one_draw", "verdict"),
    [
        pytest.param(0.5e-5, None, "reproduced", id="all draws are below the bound"),
        pytest.param(2e-5, None, "not reproduced", id="all draws are above it"),
        pytest.param(1e-6, 0.99e-5, "reproduced", id="one draw is just below it"),
        pytest.param(1e-6, 1.01e-5, "not reproduced", id="one draw is just above it"),
    ],
)
def test_every_draw_is_recovered_to_within_ten_times_the_squared_slack(error, of_one_draw, verdict):
    """The slack on observed entries is 1e-3, so that the bound is 1e-5."""
    assert evaluation_of_recovery(error, of_one_draw=of_one_draw).verdict == verdict


def test_the_error_that_decides_recovery_is_that_of_the_worst_draw():
    worst = 0.5e-5 * 10 ** max(WOBBLE)
    assert evaluation_of_recovery(0.5e-5).judgement.headline.value == pytest.approx(worst)
