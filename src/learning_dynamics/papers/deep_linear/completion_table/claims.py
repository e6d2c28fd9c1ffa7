"""Matrix completion: the slides' tables, row by row."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy.interpolate import interp1d

from learning_dynamics.evidence import median
from learning_dynamics.judging import Check, Claim, Facts, Reason, claim, equal, takes_rivals
from learning_dynamics.papers.deep_linear.completion_table.printed import (
    DEPTH_2,
    DEPTH_3,
    ENTRIES_2K,
    ENTRIES_5K,
    MINIMISATION,
    PRINTED,
    SIZE_AND_ENTRIES,
    Row,
    RowByDraw,
    measured_row,
)
from learning_dynamics.papers.deep_linear.quantities import OBSERVED_ENTRIES, SIZE
from learning_dynamics.papers.deep_linear.tables import values_by_draw
from learning_dynamics.settings import NonNegative, Positive
from learning_dynamics.tidy import Table, settings_of

# Settings of these claims, whose values stand in workflow/config/deep_linear.yaml:
# - scale: initialisation scale s at which networks are judged, one of the run's `scales`; the slides print none
# - decades_left_open: by how many decades a mean square error may change, because a run stops at a training loss or
#   the solver at an accuracy
# - unit: whether the printed error is read as a mean square or as the root of one
#
# A row is judged by `_row_checks` alone, which compares its three numbers with `PRINTED`.

MATRICES = "matrices with the slides' size, rank and numbers of entries (at default scale)"
READING = (
    "medians over draws; the printed error read as a mean square, and as its root among the varied thresholds; the "
    "slides show one draw"
)
SCOPE = f"{MATRICES}, at one initialisation scale; {READING} and do not print its scale"
SCOPE_OF_MINIMISER = f"{MATRICES}; {READING}"
Unit = Literal["mean square", "root"]  # of the printed error; the authors' code computes mean squares
RESOLUTION = 0.5  # decades: with a wider interval an error ten times as large could pass beside the printed one


@claim(
    "Slide 31, Table, 5K observations, nuclear norm min",
    quantifier="an average",
    scope=SCOPE_OF_MINIMISER,
    empirical=True,
)
def table_5k_nuclear_norm(minimiser: Table, *, decades_left_open: NonNegative, unit: Unit) -> Claim:
    r"""Nuclear-norm minimisation from 5000 entries: error 8e-7 as a mean square, nuclear norm 221, effective rank 5.

    The 95 % interval of each median, widened, must contain the printed number. For the error it is widened by rounding,
    or by what the solver leaves open if that is more. For the nuclear norm, less the matrix's own norm, it is widened
    by one; for the effective rank by a half. The median error over {draws} draws is {error:.1e}. The slack of $10^{-3}$
    that nuclear-norm minimisation leaves each observed entry, and the solver's accuracy, set it. If the printed error
    is read as the root of a mean square, the row does not hold; less slack, with which it might, is not tried. By
    another claim, `table_2k_error_is_a_root`, all errors of the slides' table are roots: that claim and this one cannot
    both be right.
    """
    yield from _row_checks(ENTRIES_5K, MINIMISATION, minimiser, decades_left_open=decades_left_open, unit=unit)
    yield Facts(error=_medians(minimiser).error)


@claim("Slide 31, Table, 5K observations, depth 2", quantifier="an average", scope=SCOPE, empirical=True)
def table_5k_depth_2(deep: Table, *, scale: Positive, decades_left_open: NonNegative, unit: Unit) -> Claim:
    r"""Depth 2 from 5000 entries: error 5e-6 as a mean square, nuclear norm 221, effective rank 5.

    The training loss at which descent stops and the initialisation scale, which the slides do not print, set the error.
    At scale {scale:g} the median over {draws} draws is {error:.1e}. So the row holds if the slides' runs stop where
    ours do. If the printed error is read as the root of a mean square, the row does not hold; a stop so tight that it
    could is not tried. By another claim, `table_2k_error_is_a_root`, all errors of the slides' table are roots: that
    claim and this one cannot both be right.
    """
    yield from _row_checks(ENTRIES_5K, DEPTH_2, deep, decades_left_open=decades_left_open, unit=unit, scale=scale)
    yield Facts(scale=scale, error=_medians(deep, scale).error)


@claim("Slide 31, Table, 5K observations, depth 3", quantifier="an average", scope=SCOPE, empirical=True)
def table_5k_depth_3(deep: Table, *, scale: Positive, decades_left_open: NonNegative, unit: Unit) -> Claim:
    r"""Depth 3 from 5000 entries: error 4e-6 as a mean square, nuclear norm 221, effective rank 5.

    As at depth 2, the training loss at which descent stops sets the error; here the initialisation scale hardly
    matters. At scale {scale:g} the median over {draws} draws is {error:.1e}. So the row holds if the slides' runs stop
    where ours do. If the printed error is read as the root of a mean square, the row does not hold; a stop so tight
    that it could is not tried. By another claim, `table_2k_error_is_a_root`, all errors of the slides' table are roots:
    that claim and this one cannot both be right.
    """
    yield from _row_checks(ENTRIES_5K, DEPTH_3, deep, decades_left_open=decades_left_open, unit=unit, scale=scale)
    yield Facts(scale=scale, error=_medians(deep, scale).error)


NOT_AS_SQUARE = (
    "in our runs from 2000 entries the printed error and rank do not occur together if the error is a mean square"
)


@claim(
    "Slide 32, Table, 2K observations, nuclear norm min",
    quantifier="an average",
    scope=SCOPE_OF_MINIMISER,
    empirical=True,
    reason=f"{NOT_AS_SQUARE}; if it is the root of one they do (`table_2k_error_is_a_root`)",
)
def table_2k_nuclear_norm(minimiser: Table, *, unit: Unit) -> Claim:
    r"""Nuclear-norm minimisation from 2000 entries: error 2e-1 as a mean square, nuclear norm 217, effective rank 8.

    The 95 % interval of each median, widened by rounding, must contain the printed number. For the error it is widened
    by half a unit of the printed digit. For the nuclear norm, less the matrix's own norm, it is widened by one; for the
    effective rank by a half. The median error over {draws} draws is {error:.2g} as a mean square, and {root:.2g} as its
    root. The nuclear norm less the matrix's own is {norm:.2g}; the slides print 217, which is 4 below the 221 that we
    take for the matrix's own. The effective rank is {rank:.2g}. The mean square is nearer to a tenth of the printed
    error than to the printed error. The solver's accuracy is far below this error, and nothing is allowed for it.
    """
    # what the solver leaves open is far less than this error: no decades are allowed for it
    yield from _row_checks(ENTRIES_2K, MINIMISATION, minimiser, decades_left_open=0.0, unit=unit)
    medians = _medians(minimiser)
    yield Facts(error=medians.error, root=medians.error**0.5, norm=medians.norm_difference, rank=medians.rank)


@claim(
    "Slide 32, Table, 2K observations, depth 2",
    quantifier="an average",
    scope=SCOPE,
    empirical=True,
    reason=NOT_AS_SQUARE,
)
def table_2k_depth_2(deep: Table, *, scale: Positive, unit: Unit) -> Claim:
    r"""Depth 2 from 2000 entries: error 6e-2 as a mean square, nuclear norm 220, effective rank 6.

    The row depends on the initialisation scale, which the slides do not print. At {scale:g} the median error over
    {draws} draws is {error:.2g} as a mean square and {root:.2g} as its root, with an effective rank of {rank:.2g}. At
    {largest_scale:g}, the largest scale of the grid, the mean square is {error_at_largest_scale:.2g}, with an effective
    rank of {rank_at_largest_scale:.2g}: this is the printed error, but not the printed rank.
    """
    yield from _row_checks(ENTRIES_2K, DEPTH_2, deep, decades_left_open=0.0, unit=unit, scale=scale)
    medians = _medians(deep, scale)
    yield Facts(scale=scale, error=medians.error, root=medians.error**0.5, rank=medians.rank)
    largest_scale = max(settings_of(deep)["scales"])
    from_largest = measured_row(deep, largest_scale)
    yield Facts(
        largest_scale=largest_scale,
        error_at_largest_scale=10 ** np.median(np.log10(from_largest.error)),
        rank_at_largest_scale=np.median(from_largest.rank),
    )


@claim(
    "Slide 32, Tables, 2K observations, nuclear norm min",
    quantifier="an average",
    origin="ours",
    scope="matrices of the slides' size and rank, "
    "Gaussian factors; minimisers from 1300 to 2000 entries; depth 2 from 2000 entries, scales 1e-6 to 1e-3",
    empirical=True,
)
def table_2k_error_is_a_root(minimisers: Sequence[Table], deep: Table) -> Claim:
    r"""The error that the slides print for nuclear-norm minimisation from 2000 entries is the root of a mean square
    error.

    With another number of entries the error would be another, but the slides print no other number. As the number of
    entries varies, the error, the nuclear norm and the effective rank of minimisers move together: a printed norm or
    rank says which error belongs to it. At the printed rank the mean square is {square_at_rank:.2g} and its root
    {root_at_rank:.2g}; at the printed nuclear norm they are {square_at_norm:.2g} and {root_at_norm:.2g}. (Draws that do
    not reach a printed number within the sweep are continued along its last line.) Rounding of the printed error, and
    of the printed rank or norm, is allowed {rounding:g} decades. For depth 2 from 2000 entries the scale is varied
    instead. There the mean square at the printed rank is {square_depth_2:.2g} and its root {root_depth_2:.2g}, which
    would fit as well. But with fewer entries and a smaller scale a mean square can fit that row, so that it decides
    nothing. A column has one unit: if this row is a root, all six are. The four rows that hold as mean squares then do
    so because the stop of the run sets their error.
    """
    printed, printed_depth_2 = PRINTED[ENTRIES_2K][MINIMISATION], PRINTED[ENTRIES_2K][DEPTH_2]
    # log10 of the mean square error by draw, where a quantity has its printed value
    by_entries = [measured_row(table) for table in minimisers]
    at_rank = _log_error_at(printed.rank, [row.rank for row in by_entries], by_entries)
    at_norm = _log_error_at(printed.norm_difference, [row.norm_difference for row in by_entries], by_entries)
    by_scale = [measured_row(deep, scale) for scale in sorted(settings_of(deep)["scales"])]
    at_rank_depth_2 = _log_error_at(printed_depth_2.rank, [row.rank for row in by_scale], by_scale)

    # in decades: the printed 2e-1 stands for errors that differ from it by log10(2.5 / 1.5) / 2 = 0.11 on average; the
    # norm, off by up to one as a difference of rounded ones, adds 0.04 at least, the rank, off by a half, 0.06
    rounding = 0.15

    @takes_rivals("power", scaled=True)
    def error_is_power(quantity: str, log_square: np.ndarray, power: float) -> Check:
        """Check that the printed error is a power of the mean square: 1/2 for the root."""
        return equal(
            f"log10 of the error that goes with the printed {quantity}, {MINIMISATION}",
            median(power * log_square),
            np.log10(printed.error),
            tolerance=rounding,
            resolution=RESOLUTION,
            because="rounding of both as printed",
        )

    for quantity, log_square in (("effective rank", at_rank), ("nuclear norm", at_norm)):
        yield error_is_power(
            quantity, log_square, 0.5, rivals={"it is a mean square": 1.0, "it is a fourth root": 0.25}
        )
    yield Facts(
        rounding=rounding,
        square_at_rank=10 ** np.median(at_rank),
        root_at_rank=10 ** np.median(at_rank / 2),
        square_at_norm=10 ** np.median(at_norm),
        root_at_norm=10 ** np.median(at_norm / 2),
        square_depth_2=10 ** np.median(at_rank_depth_2),
        root_depth_2=10 ** np.median(at_rank_depth_2 / 2),
    )


def _log_error_at(value: float, quantity: Sequence[np.ndarray], sweep: Sequence[RowByDraw]) -> np.ndarray:
    """Return log10 of the mean square error where a quantity has some value, shape (draws,).

    Linear between neighbouring settings of a sweep; beyond its ends the last line is continued.

    Parameters
    ----------
    quantity : sequence of ndarray, shape (draws,)
        At each setting of the sweep.
    sweep : sequence of RowByDraw
        The rows at these settings.
    """
    quantity_by_draw = np.transpose(quantity)  # shape (draws, settings), as the next
    log_error_by_draw = np.transpose(np.log10([row.error for row in sweep]))
    lines = [
        interp1d(values, logs, fill_value="extrapolate")
        for values, logs in zip(quantity_by_draw, log_error_by_draw, strict=True)
    ]
    return np.array([line(value) for line in lines])


@claim("Slide 32, Table, 2K observations, depth 3", quantifier="an average", scope=SCOPE, empirical=True)
def table_2k_depth_3(deep: Table, *, scale: Positive, decades_left_open: NonNegative, unit: Unit) -> Claim:
    r"""Depth 3 from 2000 entries: error 3e-5 as a mean square, nuclear norm 221, effective rank 5.

    The 95 % interval of each median, widened, must contain the printed number. For the error it is widened by what the
    stop of descent leaves open, or by rounding if that is more. For the nuclear norm, less the matrix's own norm, it is
    widened by one; for the effective rank by a half. At initialisation scale {scale:g} the median error over {draws}
    draws is {error:.1e}, the largest {largest:.1e}.

    The training loss at which descent stops sets the error. So the row holds if the slides' runs stop where ours do. If
    the printed error is read as the root of a mean square, the row does not hold; a stop so tight that it could is not
    tried. By another claim, `table_2k_error_is_a_root`, all errors of the slides' table are roots: that claim and this
    one cannot both be right. The interval of the error reaches at most {spread:.2g} decades from the median. Draws
    differ more than with 5000 entries, because fewer entries magnify the training loss that is left. If that distance
    and what the stop leaves open exceed {resolution:g} decades together, an error several times as large would pass as
    well, and the row is undecided.
    """
    yield from _row_checks(ENTRIES_2K, DEPTH_3, deep, decades_left_open=decades_left_open, unit=unit, scale=scale)
    errors = measured_row(deep, scale).error
    yield Facts(scale=scale, error=_medians(deep, scale).error, largest=np.max(errors))
    yield Facts(resolution=RESOLUTION, spread=median(np.log10(errors)).uncertainty)


def _medians(table: Table, scale: float | None = None) -> Row:
    """Return the medians over draws of what a row has; of the error that of its logarithm."""
    row = measured_row(table, scale)
    error = 10 ** np.median(np.log10(row.error))  # the median of logarithms, as `_row_checks` has it
    return Row(float(error), float(np.median(row.norm_difference)), float(np.median(row.rank)))


def _leading_digit(number: float) -> int:
    """Return the one digit that is left of a number when it is rounded: 6 of 0.063."""
    return int(f"{number:.0e}"[0])


def _row_checks(
    observed: str, method: str, table: Table, *, decades_left_open: float, unit: Unit, scale: float | None = None
) -> Claim:
    """Yield checks of a printed row: medians of log10 of the error, nuclear norm less the target's, effective rank.

    Each median's interval, widened by the tolerance, must contain the printed number. The target is the matrix to
    complete. Its nuclear norm differs from draw to draw, so that differences from it are compared; that of the slides'
    matrix is `TRUE_NORM`.

    Parameters
    ----------
    observed : str
        `ENTRIES_5K` or `ENTRIES_2K`: which table of `PRINTED`.
    method : str
        `MINIMISATION`, `DEPTH_2` or `DEPTH_3`: which row of it.
    decades_left_open : float
        Decades of a mean square error that the stop of a run, or the solver's accuracy, leaves open.
    unit : str
        Whether the printed error is read as a mean square or as the root of one.
    scale : float, optional
        Of networks, the initialisation scale; minimisers have none.
    """
    printed, measured = PRINTED[observed][method], measured_row(table, scale)
    power = 0.5 if unit == "root" else 1.0  # of the mean square error, which is measured
    log_error = median(power * np.log10(measured.error))
    left_open = power * decades_left_open  # in decades of the printed error: a root has half of a mean square's

    @takes_rivals("error", scaled=True)
    def error_is(error: float) -> Check:
        """Check that the median of log10 of the error is that of a printed number."""
        error = max(error, 1e-300)  # the search for the smallest refused error tries zero too
        # example: 6e-2 stands for 5.5e-2 to 6.5e-2; the smaller side, log10(6.5 / 6) decades, is allowed both ways
        digit = _leading_digit(error)
        rounding = np.log10((digit + 0.5) / digit)
        by_stop = f"the interval, and a factor of {10**left_open:.2g} that the stop, or the solver, leaves open"
        because = "the interval, and rounding as printed" if left_open <= rounding else by_stop
        return equal(
            "log10 of the reconstruction error, median",
            log_error,
            np.log10(error),
            tolerance=max(left_open, rounding),
            resolution=RESOLUTION,
            because=because,
        )

    check = error_is(
        printed.error,
        rivals={"an error ten times larger": 10 * printed.error, "an error ten times smaller": printed.error / 10},
    )
    if log_error.uncertainty + left_open > RESOLUTION:  # `equal` leaves it undecided too; this says why
        check = check.as_undecided("errors of so few draws differ too much to tell the printed one from others")
    yield check
    yield equal(
        "nuclear norm less the target's, median of differences",
        median(measured.norm_difference),
        printed.norm_difference,
        tolerance=1.0,  # two norms are rounded, each by half of one at most
        resolution=3.0,  # below the distance of the rival, five
        because="both are printed rounded",
        rivals={"a nuclear norm of five more": printed.norm_difference + 5},
        scaled=False,
    )
    yield equal(
        "effective rank, median",
        median(measured.rank),
        printed.rank,
        tolerance=0.5,
        resolution=2.0,  # the distance of the rival
        because="rounding as printed",
        rivals={"an effective rank of two more": printed.rank + 2},
        scaled=False,
    )
    size = int(values_by_draw(table, SIZE)[0])
    entries = int(values_by_draw(table, OBSERVED_ENTRIES)[0])
    if (size, entries) != SIZE_AND_ENTRIES[observed]:
        yield Reason(f"not the slides' matrices: {size} × {size}, {entries} entries observed")
