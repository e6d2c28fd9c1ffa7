"""Claims on rows of the slides' tables, on made-up completions with known errors, norms and ranks.

A row prints an error, a nuclear norm and an effective rank. In `ROWS` are the four rows that hold. At the end of this
file is the claim on the unit of the error that another row prints.
"""

import itertools

import numpy as np
import pandas as pd
import pytest

from tests.support import evaluation

TRUE_NORM = 223.0  # nuclear norm of the matrix to complete; the slides' own has 221, and differences are compared
SCALE, OTHER_SCALE = 1e-6, 1e-3  # initialisation scales; rows are judged at the first
RATE, OTHER_RATE = 10.0, 20.0  # learning rates, of which the smaller is read
WOBBLE = np.array([-0.05, -0.03, -0.01, 0.01, 0.03, 0.05])  # of six draws: decades of errors, norms and ranks
ROWS = {  # by claim, its row as printed: error, norm less the true one, rank, and number of observed entries
    "table_5k_nuclear_norm": (8e-7, 0.0, 5.0, 5000),
    "table_5k_depth_2": (5e-6, 0.0, 5.0, 5000),
    "table_5k_depth_3": (4e-6, 0.0, 5.0, 5000),
    "table_2k_depth_3": (3e-5, 0.0, 5.0, 2000),
}


def completion_table(error, norm, rank, observed, *, size=100, converged=True, spread=1.0, wobbles=WOBBLE):
    """Return the table of some draws at two scales and two rates; errors at the larger rate are a hundred times wrong.

    `norm` is less the true one. Errors and norms differ between draws by `wobbles` times `spread`, ranks by `wobbles`.
    """
    rows = []
    for rate, scale, draw in itertools.product((RATE, OTHER_RATE), (SCALE, OTHER_SCALE), range(len(wobbles))):
        wobble = spread * wobbles[draw]
        measured = {
            "error": error * 10**wobble * (1.0 if rate == RATE else 100.0),
            "nuclear_norm": TRUE_NORM + norm + wobble,
            "true_nuclear_norm": TRUE_NORM,
            "effective_rank": rank + wobbles[draw],
            "size": size,
            "observed": observed,
        }
        cell = {"depth": 2, "scale": scale, "learning_rate": rate, "draw": draw, "converged": converged}
        rows += [{**cell, "quantity": name, "value": value} for name, value in measured.items()]
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"scales": [SCALE, OTHER_SCALE]}
    return table


def minimiser_table(*row, **options):
    """Return a table with one number for each draw and quantity, as minimisation has: those that rows are judged by."""
    table = completion_table(*row, **options)
    return table[(table["scale"] == SCALE) & (table["learning_rate"] == RATE)].reset_index(drop=True)


def evaluation_with(claim, error, norm, rank, observed, unit="mean square", **options):
    """Return what a row's claim says of completions with this error, norm (less the true one) and rank."""
    row, settings = (error, norm, rank, observed), {"decades_left_open": 0.3, "unit": unit}
    if claim == "table_5k_nuclear_norm":
        return evaluation("deep_linear", claim, {"minimiser": minimiser_table(*row, **options)}, **settings)
    return evaluation("deep_linear", claim, {"deep": completion_table(*row, **options)}, scale=SCALE, **settings)


@pytest.mark.parametrize("claim", ROWS)
def test_a_row_as_printed_is_reproduced(claim):
    printed_error, *_ = ROWS[claim]
    judged = evaluation_with(claim, *ROWS[claim])
    assert judged.verdict == "reproduced", judged
    assert judged.facts["error"] == pytest.approx(printed_error)


@pytest.mark.parametrize("claim", ROWS)
def test_a_mean_square_as_printed_is_not_reproduced_if_roots_are_read(claim):
    assert evaluation_with(claim, *ROWS[claim], unit="root").verdict == "not reproduced"


@pytest.mark.parametrize("claim", ROWS)
def test_a_root_as_printed_is_not_reproduced_if_mean_squares_are_read(claim):
    printed_error, *rest = ROWS[claim]
    assert evaluation_with(claim, printed_error**2, *rest, unit="mean square").verdict == "not reproduced"


# a stop leaves 0.3 decades of a mean square open, and so 0.15 of its root; the median's interval adds 0.05
@pytest.mark.parametrize("claim", ROWS)
@pytest.mark.parametrize(("decades", "verdict"), [(0.34, "reproduced"), (0.36, "not reproduced")])
def test_if_roots_are_read_mean_squares_may_be_off_by_as_much_as_a_stop_leaves_open(claim, decades, verdict):
    printed_error, *rest = ROWS[claim]
    assert evaluation_with(claim, printed_error**2 * 10**decades, *rest, unit="root").verdict == verdict


# the tolerances are 0.3 decades, which the stop leaves open, 1 of the nuclear norm, and 0.5 of the rank; the medians'
# intervals, which for six draws are their range, add 0.05 to each
@pytest.mark.parametrize("claim", ROWS)
@pytest.mark.parametrize(
    ("decades", "norm_off", "rank_off", "verdict"),
    [
        pytest.param(0.36, 0.0, 0.0, "not reproduced", id="error too large"),
        pytest.param(-0.36, 0.0, 0.0, "not reproduced", id="error too small"),
        pytest.param(0.0, 1.06, 0.0, "not reproduced", id="norm too large"),
        pytest.param(0.0, -1.06, 0.0, "not reproduced", id="norm too small"),
        pytest.param(0.0, 0.0, 0.56, "not reproduced", id="rank too large"),
        pytest.param(0.0, 0.0, -0.56, "not reproduced", id="rank too small"),
        pytest.param(0.34, 1.04, 0.54, "reproduced", id="all within, above"),
        pytest.param(-0.34, -1.04, -0.54, "reproduced", id="all within, below"),
    ],
)
def test_errors_norms_and_ranks_must_be_those_printed_to_the_tolerance(claim, decades, norm_off, rank_off, verdict):
    error, norm, rank, observed = ROWS[claim]
    judged = evaluation_with(claim, error * 10**decades, norm + norm_off, rank + rank_off, observed)
    assert judged.verdict == verdict, judged


@pytest.mark.parametrize("claim", ROWS)
def test_a_row_that_fails_on_matrices_of_another_size_has_that_as_a_reason(claim):
    error, norm, rank, observed = ROWS[claim]
    on_smaller_matrices = evaluation_with(claim, error * 10, norm, rank, observed, size=50)
    assert f"not the slides' matrices: 50 × 50, {observed} entries" in on_smaller_matrices.reason
    on_the_slides_size = evaluation_with(claim, error * 10, norm, rank, observed)
    assert "not the slides'" not in on_the_slides_size.reason


@pytest.mark.parametrize(
    ("claim", "options"),
    [
        # the median's interval, 0.5 decades, and what the stop leaves open, 0.3, exceed half a decade together
        pytest.param("table_2k_depth_3", {"spread": 10.0}, id="errors differ by up to a decade"),
        pytest.param("table_5k_depth_2", {"converged": False}, id="no run converged"),
    ],
)
def test_draws_that_differ_too_much_or_did_not_converge_decide_nothing(claim, options):
    assert evaluation_with(claim, *ROWS[claim], **options).judgement.state == "undecided"


# -- a number of one draw beside forty draws: in the median's interval, in their range, or beyond ------------------

FORTY = np.linspace(-1.0, 1.0, 40)  # the interval of their median is from -1/3 to 1/3


def evaluation_of_forty(decades=0.0, norm_off=0.0, rank_off=0.0):
    """Return what the row of depth 3 says of forty draws whose medians are off so far from the printed numbers."""
    error, norm, rank, observed = ROWS["table_2k_depth_3"]
    row = (error * 10**decades, norm + norm_off, rank + rank_off, observed)
    table = completion_table(*row, spread=0.3, wobbles=FORTY)
    settings = {"scale": SCALE, "decades_left_open": 0.1, "unit": "mean square"}
    return evaluation("deep_linear", "table_2k_depth_3", {"deep": table}, **settings)


# How far a printed number may be from the median of forty draws:
#
#                        tolerance   + median's interval   + draws' range
#   error, in decades    0.1         + 0.1 = 0.2           + 0.3 = 0.4
#   nuclear norm         1.0         + 0.1 = 1.1           + 0.3 = 1.3
#   effective rank       0.5         + 0.33 = 0.83         + 1.0 = 1.5
@pytest.mark.parametrize(
    ("off", "state"),
    [
        ({"decades": 0.19}, "holds"),
        ({"decades": 0.21}, "undecided"),
        ({"decades": -0.39}, "undecided"),
        ({"decades": 0.41}, "fails"),
        ({"decades": -0.41}, "fails"),
        ({"norm_off": 1.09}, "holds"),
        ({"norm_off": 1.29}, "undecided"),
        ({"norm_off": -1.31}, "fails"),
        ({"rank_off": 0.82}, "holds"),
        ({"rank_off": -1.49}, "undecided"),
        ({"rank_off": 1.51}, "fails"),
        # a rank that no draw has decides, though one draw may have the error
        ({"decades": 0.21, "rank_off": 1.51}, "fails"),
    ],
)
def test_a_number_between_the_medians_interval_and_the_draws_range_is_undecided(off, state):
    judged = evaluation_of_forty(**off)
    assert judged.judgement.state == state
    assert ("one draw may have this value; the median does not" in judged.reason) == (state == "undecided")


@pytest.mark.parametrize("decades", np.linspace(0.2, 0.6, 9))
def test_of_six_draws_whose_range_is_the_medians_interval_no_number_is_undecided(decades):
    """The error holds up to 0.35 decades, the tolerance and the largest wobble, and fails beyond."""
    printed_error, *rest = ROWS["table_5k_depth_2"]
    judged = evaluation_with("table_5k_depth_2", printed_error * 10**decades, *rest)
    assert judged.judgement.state != "undecided"


# -- the unit of the printed error of nuclear-norm minimisation from 2000 entries ----------------------------------

PRINTED_ERROR, PRINTED_NORM, PRINTED_RANK = 0.2, -4.0, 8.0  # of the row; the norm is less the true one
# decades by which the printed error rises as the rank rises by one, and as the norm falls by two. Half a rank, or a
# norm of one, is the rounding of the slides' numbers: it makes 0.06 decades
DECADES_BY_RANK = 0.12


def evaluation_of_minimisers(ranks_off, power=2.0, off=0.0, bend=0.0):
    """Return what the claim says of minimisers from several numbers of entries, one for each of `ranks_off`.

    Where the rank and the norm are those printed, log10 of the error, a mean square, is `power` times that of the
    printed error and `off` decades: the power is 2 if the row prints roots, 1 if mean squares. With the rank it rises
    along a line, or with `bend` along a parabola.
    """
    tables = []
    for rank_off in ranks_off:
        log_error = np.log10(PRINTED_ERROR) + off + DECADES_BY_RANK * rank_off + bend * rank_off**2
        row = (10 ** (power * log_error), PRINTED_NORM - 2 * rank_off, PRINTED_RANK + rank_off, 2000)
        tables.append(minimiser_table(*row, spread=0.05))
    return evaluation("deep_linear", "table_2k_error_is_a_root", {"minimisers": tables})


REACHING = (-1.0, 1.0, 3.0)  # ranks less the printed one: of three settings, the first two enclose it
NOT_REACHING = (1.0, 2.0, 3.0)


def test_the_rounding_counts_to_the_side_on_which_the_error_moves_more():
    flatter_above, steeper_above = (
        evaluation_of_minimisers((-2.0, 0.0, 2.0), bend=bend).facts["tolerance_at_rank"] for bend in (-0.02, 0.02)
    )
    assert flatter_above == pytest.approx(steeper_above, abs=0.003)


@pytest.mark.parametrize("ranks_off", [REACHING, NOT_REACHING], ids=["interpolated", "extrapolated"])
@pytest.mark.parametrize(
    ("power", "verdict"),
    [
        pytest.param(2.0, "reproduced", id="roots"),
        pytest.param(1.0, "not reproduced", id="mean squares"),
    ],
)
def test_the_printed_error_must_be_a_root(ranks_off, power, verdict):
    judged = evaluation_of_minimisers(ranks_off, power)
    assert judged.verdict == verdict, judged


def test_errors_at_the_printed_rank_and_norm_are_facts():
    facts = evaluation_of_minimisers(REACHING).facts
    # ranks and norms of draws differ by up to 0.05 and 0.0025, and errors by 0.0025 decades
    assert facts["root_at_rank"] == pytest.approx(PRINTED_ERROR, rel=0.02)
    assert facts["square_at_norm"] == pytest.approx(PRINTED_ERROR**2, rel=0.04)


@pytest.mark.parametrize(("ranks_off", "count"), [(REACHING, 0), (NOT_REACHING, len(WOBBLE))])
def test_draws_that_do_not_reach_the_printed_rank_or_norm_are_counted(ranks_off, count):
    facts = evaluation_of_minimisers(ranks_off).facts
    assert (facts["extrapolated_at_rank"], facts["extrapolated_at_norm"]) == (count, count)


# Allowed are log10(2.5 / 2) = 0.097 decades for the printed digit and 0.06 for that of the rank, together 0.157; the
# interval adds at most 0.01
@pytest.mark.parametrize(
    ("off", "verdict"),
    [(0.15, "reproduced"), (-0.15, "reproduced"), (0.175, "not reproduced"), (-0.175, "not reproduced")],
)
def test_a_root_may_be_off_by_the_rounding_of_the_printed_error_and_rank(off, verdict):
    assert evaluation_of_minimisers(REACHING, off=off).verdict == verdict


def test_a_root_may_also_be_off_by_what_a_parabola_differs_from_the_lines():
    straight, bent = (evaluation_of_minimisers(REACHING, bend=bend).facts for bend in (0.0, 0.03))
    # midway between ranks one below and one above, the line is 0.03 decades above the parabola; ranks of draws differ
    for tolerance in ("tolerance_at_rank", "tolerance_at_norm"):
        assert bent[tolerance] - straight[tolerance] == pytest.approx(0.03, abs=0.003)


def test_ranks_that_rise_and_fall_along_the_sweep_decide_nothing():
    assert evaluation_of_minimisers((-1.0, 3.0, 1.0)).judgement.state == "undecided"
