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

SIZE, OBSERVED = 6, 22  # rows and columns, and entries that are observed
SETTINGS = {
    "depth": 3,
    "scales": [0.3, 0.1],
    "learning_rates": [0.5],
    "optimiser": "gradient_descent",
    "stop": 0.1,
    "max_steps": 400,
    "precision": "double",
    "seed": 5,
}


@pytest.fixture(scope="module")
def data():
    """Two draws: matrices `truth` of rank 2, and `mask`, true where an entry is observed, (2, SIZE, SIZE)."""
    return low_rank(size=SIZE, rank=2, observed=OBSERVED, draws=2, seed=3)


def measures_by_definition(W, truth, mask):
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
    rng = list(generators(SETTINGS["seed"], "deep_linear.completion", 2))[draw]
    # entries have standard deviation scale^(1/N) n^(-1/2) in each of N = 3 layers
    layers = list(rng.standard_normal((3, SIZE, SIZE)) * scale ** (1 / 3) / np.sqrt(SIZE))
    loss = plain.observed(data["truth"][draw], data["mask"][draw])
    layers, losses = plain.descend_until(
        layers, loss, SETTINGS["learning_rates"][0], SETTINGS["stop"], SETTINGS["max_steps"]
    )
    return plain.multiply(layers), losses


every_completion = pytest.mark.parametrize(("draw", "scale"), list(itertools.product([0, 1], SETTINGS["scales"])))


@every_completion
def test_completions_are_those_of_plain_descent_from_gaussian_layers(data, completions, draw, scale):
    W, losses = plain_descent(data, draw, scale)
    rows = select(completions, draw=draw, scale=scale)
    measured = rows.set_index("quantity")["value"]
    assert measured["steps"] == len(losses) - 1
    assert rows["converged"].all() == (losses[-1] <= SETTINGS["stop"])
    expected = measures_by_definition(W, data["truth"][draw], data["mask"][draw])
    # rounding over some hundred steps
    np.testing.assert_allclose(measured[list(expected)], list(expected.values()), rtol=1e-7)


@every_completion
def test_norm_and_rank_of_the_matrix_to_complete_are_those_by_definition(data, completions, draw, scale):
    truth, mask = data["truth"][draw], data["mask"][draw]
    measured = select(completions, draw=draw, scale=scale).set_index("quantity")["value"]
    expected = measures_by_definition(truth, truth, mask)
    # the root of W^T W has the root of rounding, 1e-8, for each singular value that is zero
    assert measured["true_nuclear_norm"] == pytest.approx(expected["nuclear_norm"], rel=1e-5)
    assert measured["true_effective_rank"] == pytest.approx(expected["effective_rank"], rel=1e-5)


def test_nothing_is_measured_of_what_diverged(data):
    measures = measures_of(np.full((2, SIZE, SIZE), np.inf), data["truth"], data["mask"])
    of_completed = {name: values for name, values in measures.items() if not name.startswith("true")}
    for name, values in of_completed.items():
        np.testing.assert_array_equal(values, np.nan, err_msg=name)


@pytest.fixture(scope="module")
def minimisers(data):
    """Metrics of made-up minimisers: the first draw's is off on an observed entry, the second's on another entry."""
    minimiser = data["truth"].copy()
    rows, columns = np.nonzero(data["mask"][0])
    minimiser[0, rows[3], columns[3]] -= 0.25
    rows, columns = np.nonzero(~data["mask"][1])
    minimiser[1, rows[3], columns[3]] += 0.5
    solved = {"truth": data["truth"], "mask": data["mask"], "minimiser": minimiser, "gap": np.array([1e-4, 2e-4])}
    return trajectory_and_table(runs.nuclear_norm, metrics.nuclear_norm, {}, solved)[1]


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        pytest.param("misfit", [0.25, 0.0], id="the misfit is the largest error on an observed entry"),
        pytest.param("error", [0.25**2 / SIZE**2, 0.5**2 / SIZE**2], id="the error is a mean over all entries"),
    ],
)
def test_minimisers_are_measured(minimisers, quantity, expected):
    np.testing.assert_allclose(by_draw(minimisers, quantity, draw="draw")[:, 0], expected, rtol=0, atol=1e-15)


def test_the_gap_is_the_solvers(minimisers):
    np.testing.assert_array_equal(by_draw(minimisers, "gap", draw="draw")[:, 0], [1e-4, 2e-4])


# -- made-up tables --------------------------------------------------------------------------------

SCALE, LARGEST_SCALE = 1e-6, 1e-3  # where networks are judged, and the largest of the grid
WOBBLE = np.array([-0.1, -0.06, -0.02, 0.02, 0.06, 0.1])  # of six draws around their mean


def network_table(*, error, norm, rank, at_largest_scale=None, converged=True):
    """Return the table of six draws at two scales and two learning rates; numbers at the larger rate are wrong.

    Parameters
    ----------
    error, norm, rank : float
        Geometric mean over draws of the error, nuclear norm, and mean of the effective rank.
    at_largest_scale : dict, optional
        Those of the three that are others at the largest scale.
    """
    means = {"error": error, "norm": norm, "rank": rank}
    rows = []
    for scale, changed in ((SCALE, {}), (LARGEST_SCALE, at_largest_scale or {})):
        mean = means | changed
        for (rate, factor), (draw, wobble) in itertools.product([(20.0, 50.0), (10.0, 1.0)], enumerate(WOBBLE)):
            measured = {
                "error": mean["error"] * 10**wobble * factor,
                "nuclear_norm": mean["norm"] * factor,
                "effective_rank": mean["rank"] + wobble,
                "observed": 2000.0,
            }
            cell = {"depth": 2, "scale": scale, "learning_rate": rate, "draw": draw, "converged": converged}
            rows += [{**cell, "quantity": name, "value": value} for name, value in measured.items()]
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"scales": [SCALE, LARGEST_SCALE]}
    return table


def minimiser_table(*, error, norm, rank, misfit=1e-3, gap=1e-4):
    """Return the table of six minimisers, whose errors and ranks are high where those of `network_table` are low."""
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


def test_the_figure_refuses_more_learning_rates_than_it_has_kinds_of_lines():
    table = network_table(error=1e-3, norm=101.0, rank=6.0)
    minimiser = minimiser_table(error=1e-1, norm=100.0, rank=8.0)
    third = table[table["learning_rate"] == 10.0].assign(learning_rate=5.0)
    with pytest.raises(ProjectError, match="3 learning rates"):
        figures.completion([pd.concat([table, third])], [table], minimiser, minimiser)


# -- judges ----------------------------------------------------------------------------------------

# by role, means with which all claims hold
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
    """Return what a claim says if arguments of some roles' tables are changed, as in ``depth_2={"error": 1e-2}``."""
    tables = {}
    for role in ROLES[claim]:
        make = network_table if role in NETWORKS else minimiser_table
        tables[role] = make(**MEANS[role] | changes.get(role, {}))
    return evaluation("deep_linear", claim, tables, scale=SCALE, **DECADES.get(claim, {}))


@pytest.mark.parametrize("claim", ROLES)
def test_a_claim_that_holds_is_reproduced(claim):
    assert evaluation_with(claim).verdict == "reproduced"


@pytest.mark.parametrize(
    ("claim", "role", "change"),
    [
        # less than two decades below the minimiser's error of 0.1, and above it
        ("depth_beats_nuclear_norm_2k", "depth_3", {"error": 2e-3}),
        ("depth_beats_nuclear_norm_2k", "depth_2", {"error": 2e-1}),
        # less than one decade between depths 2 and 3
        ("depth_3_beats_depth_2_2k", "depth_3", {"error": 2e-4}),
        ("depth_3_beats_depth_2_2k", "depth_2", {"error": 5e-5}),
        # an excess of 3e-4 is 1e-4 beyond that with many entries; the solver's gaps are 2e-4
        ("deep_has_larger_nuclear_norm", "depth_2", {"norm": 100.03}),
        ("deep_has_larger_nuclear_norm", "depth_3", {"norm": 100.03}),
        # above the minimiser's rank, and above that of depth 2
        ("depth_lowers_effective_rank", "depth_2", {"rank": 8.1}),
        ("depth_lowers_effective_rank", "depth_3", {"rank": 6.1}),
    ],
)
def test_a_claim_that_fails_at_one_depth_is_not_reproduced(claim, role, change):
    assert evaluation_with(claim, **{role: change}).verdict == "not reproduced"


@pytest.mark.parametrize("claim", ROLES)
def test_runs_that_did_not_converge_decide_nothing(claim):
    assert evaluation_with(claim, depth_3={"converged": False}).judgement.state == "undecided"


def test_the_excess_of_the_norm_is_that_with_few_entries_less_that_with_many():
    excess = evaluation_with("deep_has_larger_nuclear_norm").judgement.headline.value
    assert excess == pytest.approx(0.01 - 2e-4)


@pytest.mark.parametrize(
    ("role", "gap", "verdict"),
    [
        ("minimiser", 0.003, "reproduced"),
        ("minimiser", 0.012, "not reproduced"),
        ("minimiser_many", 0.012, "not reproduced"),
    ],
)
def test_the_excess_of_0_0098_must_exceed_the_sum_of_the_solvers_gaps(role, gap, verdict):
    assert evaluation_with("deep_has_larger_nuclear_norm", **{role: {"gap": gap}}).verdict == verdict


def test_facts_on_errors_are_decades_below_the_minimiser():
    judged = evaluation_with("depth_beats_nuclear_norm_2k", depth_2={"at_largest_scale": {"error": 1e-2}})
    assert judged.facts["value"] == pytest.approx(4.0)
    assert judged.facts["depth_2_below"] == pytest.approx(2.0)
    assert judged.facts["depth_2_below_at_largest_scale"] == pytest.approx(1.0)


def test_facts_on_ranks_are_differences_from_the_minimiser():
    judged = evaluation_with("depth_lowers_effective_rank", depth_2={"at_largest_scale": {"rank": 7.5}})
    assert judged.facts["value"] == pytest.approx(2.0)
    assert judged.facts["at_largest_scale"] == pytest.approx(0.5)


def evaluation_of_recovery(error, *, fourth=None):
    """Return what the claim on many entries says of errors with this geometric mean; the fourth may be another."""
    many = minimiser_table(error=error, norm=100.0, rank=5.0)
    few = minimiser_table(error=0.1, norm=100.0, rank=8.0)
    if fourth is not None:
        many.loc[(many["quantity"] == "error") & (many["draw"] == 3), "value"] = fourth
    return evaluation("deep_linear", "nuclear_norm_recovers_5k", {"many": many, "few": few}, factor=10.0)


@pytest.mark.parametrize(
    ("error", "fourth", "verdict"),
    [(0.5e-5, None, "reproduced"), (2e-5, None, "not reproduced"), (1e-6, 1.0, "not reproduced")],
)
def test_every_draw_is_recovered_to_within_ten_times_the_squared_slack(error, fourth, verdict):
    """The slack on observed entries is 1e-3, so that the bound is 1e-5."""
    assert evaluation_of_recovery(error, fourth=fourth).verdict == verdict


def test_the_error_that_decides_recovery_is_that_of_the_worst_draw():
    worst = 0.5e-5 * 10 ** max(WOBBLE)
    assert evaluation_of_recovery(0.5e-5).judgement.headline.value == pytest.approx(worst)
