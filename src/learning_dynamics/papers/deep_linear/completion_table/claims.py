"""Matrix completion: the slides' tables, row by row.

A row prints, of one matrix of 100 rows that was completed from 5000 or 2000 entries, the reconstruction error over all
entries, the nuclear norm and the effective rank, which is exp of the entropy of the singular values' shares of their
sum. `minimiser` is the table of the matrices of least nuclear norm that fit the observed entries to within a slack;
`deep` is that of networks of one depth, which start from Gaussian layers whose entries have standard deviation s^(1/N)
n^(-1/2) at the scale s. A draw is a matrix with its observed entries; its error, ours, is a mean square.

Besides its own parameters every check takes `rivals` and others, and so does a function with @takes_rivals
(`judging.takes_rivals`). A rival is another number instead of the printed one.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.interpolate import KroghInterpolator, interp1d

from learning_dynamics.evidence import median
from learning_dynamics.judging import Check, Claim, Facts, Reason, claim, equal, takes_rivals
from learning_dynamics.papers.deep_linear.completion_table.printed import (
    DEPTH_2,
    DEPTH_3,
    ENTRIES_2K,
    ENTRIES_5K,
    MINIMISATION,
    NOTEBOOK_DEPTH_2_2K,
    NOTEBOOK_ERROR_2K_DEPTH_3,
    NOTEBOOK_ERRORS_5K,
    NOTEBOOK_MINIMISER_2K,
    NOTEBOOK_TRUE_NORM_2K,
    PRINTED,
    SIZE_AND_ENTRIES,
    Row,
    measured_row,
)
from learning_dynamics.papers.deep_linear.quantities import OBSERVED_ENTRIES, SIZE
from learning_dynamics.papers.deep_linear.tables import values_by_draw
from learning_dynamics.settings import NonNegative, Positive
from learning_dynamics.tidy import Table, settings_of

# Settings of these claims, whose values are in workflow/config/deep_linear.yaml:
# - scale, of rows of networks: initialisation scale s at which they are judged, one of the run's `scales`; the slides
#   print none
# - decades_left_open, of all rows but the 2K rows of nuclear norm min and depth 2: by how many decades a mean square
#   error may change, because a run stops at a training loss or the solver at an accuracy; chosen. The authors' code
#   leaves the accuracy of its solver, SCS, at its default. On two of our draws with 5000 entries SCS 2.1.4 ends at a
#   mean square error 0.06 decades below ours with an accuracy of 1e-5, up to 0.08 above with 1e-4, and 0.32 and 0.35
#   above with 1e-3; all three have been defaults
# - unit, of all rows: whether the printed error is read as a mean square or as the root of one
#
# A row is judged by `_row_checks` alone, which compares its three numbers with `PRINTED`.

MATRICES = "matrices with the slides' size, rank and numbers of entries (at default scale)"
READING = (
    "medians over draws; the printed error read as a mean square, as in the authors' code, and as its root among the "
    "varied thresholds; the slides show one draw, so that a number outside of the median's interval but within our "
    "draws' range is undecided"
)
ONE_DRAW = "one draw may have this value; the median does not"
SCOPE = f"{MATRICES}, at one initialisation scale, which the slides do not print; {READING}"
SCOPE_OF_MINIMISER = f"{MATRICES}; {READING}"
Unit = Literal["mean square", "root"]  # of the printed error; the authors' code computes mean squares
# Of a row's error: the most decades that interval and tolerance may have together; else its check is undecided. Half of
# the distance of the rivals, errors ten times as large and as small
RESOLUTION = 0.5


@claim(
    "Slide 31, Table, 5K observations, nuclear norm min",
    quantifier="an average",
    scope=SCOPE_OF_MINIMISER,
    empirical=True,
)
def table_5k_nuclear_norm(minimiser: Table, *, decades_left_open: NonNegative, unit: Unit) -> Claim:
    r"""Nuclear-norm minimisation from 5000 entries: error 8e-7 as a mean square, nuclear norm 221, effective rank 5.

    The 95 % interval of each median over draws, widened, must contain the printed number. For the error it is widened
    by rounding, or by what the solver leaves open if that is more. For the nuclear norm, less that of the matrix to
    complete, it is widened by one, because both norms are rounded to whole numbers; for the effective rank by a half.
    The slides show one draw. So a printed number that is outside of that interval, but within the range of our draws,
    widened alike, is undecided.

    The median error over {draws} draws is {error:.1e}. The slack of $10^{-3}$ that nuclear-norm minimisation leaves
    each observed entry, and the solver's accuracy, set it. Our solver proves how near it is to the minimum; that of the
    authors, at its default accuracy, violates the slack, and its error is larger. The authors' public notebook shows
    {notebook:.0e} (read off its picture), which by their code is a mean square. If the printed error is read as the
    root of one, the row does not hold; less slack, with which it might, is not tried.
    """
    yield from _row_checks(ENTRIES_5K, MINIMISATION, minimiser, decades_left_open=decades_left_open, unit=unit)
    yield Facts(error=_medians(minimiser).error, notebook=NOTEBOOK_ERRORS_5K[MINIMISATION])


@claim("Slide 31, Table, 5K observations, depth 2", quantifier="an average", scope=SCOPE, empirical=True)
def table_5k_depth_2(deep: Table, *, scale: Positive, decades_left_open: NonNegative, unit: Unit) -> Claim:
    r"""Depth 2 from 5000 entries: error 5e-6 as a mean square, nuclear norm 221, effective rank 5.

    The training loss at which descent stops and the initialisation scale, which the slides do not print, set the error.
    At scale {scale:g} the median over {draws} draws is {error:.1e}. So the row holds if the slides' runs stop where
    ours do. The interval of each median, widened by rounding or by what the stop leaves open, must contain the printed
    number (`table_5k_nuclear_norm`). The authors' public notebook shows {notebook:.0e} (read off its picture), which by
    their code is a mean square. If the printed error is read as the root of one, the row does not hold; a stop so tight
    that it could is not tried.
    """
    yield from _row_checks(ENTRIES_5K, DEPTH_2, deep, decades_left_open=decades_left_open, unit=unit, scale=scale)
    yield Facts(scale=scale, error=_medians(deep, scale).error, notebook=NOTEBOOK_ERRORS_5K[DEPTH_2])


@claim("Slide 31, Table, 5K observations, depth 3", quantifier="an average", scope=SCOPE, empirical=True)
def table_5k_depth_3(deep: Table, *, scale: Positive, decades_left_open: NonNegative, unit: Unit) -> Claim:
    r"""Depth 3 from 5000 entries: error 4e-6 as a mean square, nuclear norm 221, effective rank 5.

    As at depth 2, the training loss at which descent stops sets the error; here the initialisation scale hardly
    matters. At scale {scale:g} the median over {draws} draws is {error:.1e}. So the row holds if the slides' runs stop
    where ours do. The interval of each median, widened by rounding or by what the stop leaves open, must contain the
    printed number (`table_5k_nuclear_norm`). The authors' public notebook shows {notebook:.0e} (read off its picture),
    which by their code is a mean square. If the printed error is read as the root of one, the row does not hold; a stop
    so tight that it could is not tried.
    """
    yield from _row_checks(ENTRIES_5K, DEPTH_3, deep, decades_left_open=decades_left_open, unit=unit, scale=scale)
    yield Facts(scale=scale, error=_medians(deep, scale).error, notebook=NOTEBOOK_ERRORS_5K[DEPTH_3])


NOT_AS_SQUARE = Reason(
    "in our runs from 2000 entries the printed error and rank do not occur together if the error is a mean square; in "
    "the authors' notebook, from 2000 entries of another matrix, they do not either (read off its picture)"
)


@claim(
    "Slide 32, Table, 2K observations, nuclear norm min",
    quantifier="an average",
    scope=SCOPE_OF_MINIMISER,
    empirical=True,
)
def table_2k_nuclear_norm(minimiser: Table, *, unit: Unit) -> Claim:
    r"""Nuclear-norm minimisation from 2000 entries: error 2e-1 as a mean square, nuclear norm 217, effective rank 8.

    The interval of each median, widened by rounding, must contain the printed number (`table_5k_nuclear_norm`). The
    solver's accuracy is far below this error, and nothing is allowed for it. The median error over {draws} draws is
    {error:.2g} as a mean square, and {root:.2g} as its root. The nuclear norm less the matrix's own is {norm:.2g}; the
    slides print 217, which is 4 below the 221 that we take for the matrix's own. The effective rank is {rank:.2g}. The
    mean square is nearer to a tenth of the printed error than to the printed error.

    The authors' code computes mean squares. In the picture of their public notebook (numbers are read off it) the
    minimiser from 2000 entries has an error of about {notebook_error:.2g}, a nuclear norm {notebook_below:.2g} below
    its target's and an effective rank of about {notebook_rank:.2g}. Its target has the nuclear norm
    {notebook_true:.4g}: it is another matrix than the slides'.
    """
    # what the solver leaves open is far less than this error: no decades are allowed for it
    yield from _row_checks(ENTRIES_2K, MINIMISATION, minimiser, decades_left_open=0.0, unit=unit)
    if unit == "mean square":
        yield NOT_AS_SQUARE
    medians = _medians(minimiser)
    yield Facts(error=medians.error, root=medians.error**0.5, norm=medians.norm_difference, rank=medians.rank)
    yield Facts(
        notebook_error=NOTEBOOK_MINIMISER_2K.error,
        notebook_below=-NOTEBOOK_MINIMISER_2K.norm_difference,
        notebook_rank=NOTEBOOK_MINIMISER_2K.rank,
        notebook_true=NOTEBOOK_TRUE_NORM_2K,
    )


@claim(
    "Slide 32, Table, 2K observations, depth 2",
    quantifier="an average",
    scope=SCOPE,
    empirical=True,
)
def table_2k_depth_2(deep: Table, *, scale: Positive, unit: Unit) -> Claim:
    r"""Depth 2 from 2000 entries: error 6e-2 as a mean square, nuclear norm 220, effective rank 6.

    The row depends on the initialisation scale, which the slides do not print. At {scale:g} the median error over
    {draws} draws is {error:.2g} as a mean square and {root:.2g} as its root, with an effective rank of {rank:.2g}; the
    mean squares are {smallest_error:.2g} to {largest_error:.2g}. At {largest_scale:g}, the largest scale of the grid,
    the median is {error_at_largest_scale:.2g}, with an effective rank of {rank_at_largest_scale:.2g}: this is the
    printed error, but not the printed rank. The interval of each median, widened by rounding alone, must contain the
    printed number.

    The authors' code computes mean squares. In the picture of their public notebook (numbers are read off it, and the
    matrix is another than the slides') depth 2 from 2000 entries has errors of about {notebook_errors} at scales
    {notebook_scales}, with effective ranks of about {notebook_ranks}.
    """
    # as for the minimiser: the stop leaves far less open than this error
    yield from _row_checks(ENTRIES_2K, DEPTH_2, deep, decades_left_open=0.0, unit=unit, scale=scale)
    if unit == "mean square":
        yield NOT_AS_SQUARE
    medians, errors = _medians(deep, scale), measured_row(deep, scale).error
    yield Facts(scale=scale, error=medians.error, root=medians.error**0.5, rank=medians.rank)
    yield Facts(smallest_error=np.min(errors), largest_error=np.max(errors))
    largest_scale = max(settings_of(deep)["scales"])
    from_largest = measured_row(deep, largest_scale)
    yield Facts(
        largest_scale=largest_scale,
        error_at_largest_scale=10 ** np.median(np.log10(from_largest.error)),
        rank_at_largest_scale=np.median(from_largest.rank),
    )
    errors_by_scale, ranks_by_scale = zip(*NOTEBOOK_DEPTH_2_2K.values(), strict=True)
    yield Facts(
        notebook_scales=_listed(NOTEBOOK_DEPTH_2_2K),
        notebook_errors=_listed(errors_by_scale),
        notebook_ranks=_listed(ranks_by_scale),
    )


@claim(
    "Slide 32, Tables, 2K observations, nuclear norm min",
    quantifier="an average",
    origin="ours",
    scope="matrices of the slides' size and rank, Gaussian factors; minimisers from 1300 to 2000 entries",
    empirical=True,
)
def table_2k_error_is_a_root(minimisers: Sequence[Table]) -> Claim:
    r"""At the effective rank and at the nuclear norm that the slides print for nuclear-norm minimisation from 2000
    entries, our minimisers' error has the printed 2e-1 as its root, not as its mean square.

    The median over draws of the error's root must be the printed error, once where our minimisers have the printed
    effective rank, 8, and once where they have the printed nuclear norm. The tolerances are {tolerance_at_rank:.2g} and
    {tolerance_at_norm:.2g} decades: the error of rounding, of the printed error and of the printed rank or norm, and
    that of interpolation.

    Minimisers are matrices of least nuclear norm that fit the entries. As the number of entries varies, their error,
    nuclear norm and effective rank move together: a printed norm or rank says which error belongs to it. At the printed
    rank the mean square is {square_at_rank:.2g} and its root {root_at_rank:.2g}; at the printed nuclear norm they are
    {square_at_norm:.2g} and {root_at_norm:.2g}. The printed nuclear norm is 217. We compare nuclear norms less that of
    the matrix to complete, which the slides do not print; we take 221 for it, the norm of the matrices that they show
    to be recovered. Between numbers of entries the logarithm of the error is taken along straight lines. Of {draws}
    draws {extrapolated_at_rank} do not reach the printed rank and {extrapolated_at_norm} the printed norm; there the
    last line is continued. The error of the lines is taken to be their distance from a polynomial through all numbers
    of entries.

    The slides do not name the unit of their errors; the authors' code computes mean squares. Either the slides' column
    has two units, or this row is mistaken, or it belongs to another matrix. What we measure does not decide which.
    """
    printed = PRINTED[ENTRIES_2K][MINIMISATION]
    by_entries = [measured_row(table) for table in minimisers]  # a table for each number of entries
    log_squares = [np.log10(row.error) for row in by_entries]
    # a printed rank of 8 is 7.5 to 8.5
    at_rank = _log_error_at(
        printed.rank, rounding=0.5, quantity=[row.rank for row in by_entries], log_squares=log_squares
    )
    # the printed norm and that of the matrix to complete are rounded by up to a half each, their difference by one
    at_norm = _log_error_at(
        printed.norm_difference,
        rounding=1.0,
        quantity=[row.norm_difference for row in by_entries],
        log_squares=log_squares,
    )
    rounding = _rounding_in_decades(printed.error)

    def estimate_and_tolerance(at_printed: _LogErrorAt, power: float) -> dict[str, Any]:
        """Return estimate and tolerance, in decades, if the printed error is a power of the mean square.

        The power is 1/2 for the root. It multiplies the errors of the mean square's logarithm too.
        """
        return {
            "estimate": median(power * at_printed.log_square),
            "tolerance": rounding + power * at_printed.largest_error,
        }

    for quantity, at_printed in (("effective rank", at_rank), ("nuclear norm", at_norm)):
        root = estimate_and_tolerance(at_printed, power=0.5)  # the claim
        mean_square = estimate_and_tolerance(at_printed, power=1.0)  # the rival
        yield equal(
            f"log10 of the error that goes with the printed {quantity}, {MINIMISATION}",
            **root,
            predicted=np.log10(printed.error),
            # half of the rival's distance: if the root is the printed error e, its square is log10(1 / e) decades below
            resolution=abs(np.log10(printed.error)) / 2,
            because="rounding of both as printed, and interpolation",
            rivals={"it is a mean square": mean_square},
        )
    yield Facts(
        tolerance_at_rank=estimate_and_tolerance(at_rank, power=0.5)["tolerance"],
        tolerance_at_norm=estimate_and_tolerance(at_norm, power=0.5)["tolerance"],
        square_at_rank=10 ** np.median(at_rank.log_square),
        root_at_rank=10 ** np.median(at_rank.log_square / 2),
        square_at_norm=10 ** np.median(at_norm.log_square),
        root_at_norm=10 ** np.median(at_norm.log_square / 2),
        extrapolated_at_rank=at_rank.n_extrapolated,
        extrapolated_at_norm=at_norm.n_extrapolated,
    )


class _LogErrorAt(NamedTuple):
    """log10 of the mean square error where a quantity has a printed value, with its errors in decades.

    All arrays have the shape (draws,).
    """

    log_square: np.ndarray
    by_rounding: np.ndarray  # how far it moves if the printed value is off by its rounding
    by_interpolation: np.ndarray  # how far a polynomial through all numbers of entries is from the straight lines
    is_extrapolated: np.ndarray  # of bool: whether no number of entries reaches the printed value

    @property
    def largest_error(self) -> float:
        """The most that a draw may be off, in decades; the median over draws is then off by no more."""
        return float(np.max(self.by_rounding + self.by_interpolation))

    @property
    def n_extrapolated(self) -> int:
        """How many draws have the value beyond those of all numbers of entries."""
        return int(self.is_extrapolated.sum())


def _log_error_at(
    printed: float, *, rounding: float, quantity: Sequence[np.ndarray], log_squares: Sequence[np.ndarray]
) -> _LogErrorAt:
    """Return log10 of the mean square error where a quantity has its printed value.

    It is linear between neighbouring numbers of entries; beyond the ends the last line is continued. The error of the
    lines is estimated by the next order: a polynomial through all numbers of entries, a parabola if there are three. A
    draw whose quantity neither rises nor falls with every step of these numbers is nan: it may have several errors at
    the value. Its own errors are zero then, so that the nan alone leaves the check undecided.

    Parameters
    ----------
    printed, rounding : float
        The value, and by how much it may be off.
    quantity, log_squares : sequence of ndarray, shape (draws,)
        The quantity and log10 of the mean square error at each number of entries.
    """
    quantity_by_draw, logs_by_draw = np.transpose(quantity), np.transpose(log_squares)  # shape (draws, settings) each
    log_square = np.full(len(quantity_by_draw), np.nan)
    by_rounding, by_interpolation = np.zeros((2, len(quantity_by_draw)))
    for draw, (values, logs) in enumerate(zip(quantity_by_draw, logs_by_draw, strict=True)):
        steps = np.diff(values)
        if not (np.all(steps > 0) or np.all(steps < 0)):
            continue
        line = interp1d(values, logs, fill_value="extrapolate")
        log_square[draw] = line(printed)
        by_rounding[draw] = np.max(np.abs(line([printed - rounding, printed + rounding]) - line(printed)))
        by_interpolation[draw] = np.abs(KroghInterpolator(values, logs)(printed) - line(printed))
    is_extrapolated = (printed < quantity_by_draw.min(axis=1)) | (printed > quantity_by_draw.max(axis=1))
    return _LogErrorAt(log_square, by_rounding, by_interpolation, is_extrapolated)


@claim("Slide 32, Table, 2K observations, depth 3", quantifier="an average", scope=SCOPE, empirical=True)
def table_2k_depth_3(deep: Table, *, scale: Positive, decades_left_open: NonNegative, unit: Unit) -> Claim:
    r"""Depth 3 from 2000 entries: error 3e-5 as a mean square, nuclear norm 221, effective rank 5.

    The interval of each median, widened by rounding or by what the stop of descent leaves open, must contain the
    printed number (`table_5k_nuclear_norm`). At initialisation scale {scale:g} the median error over {draws} draws is
    {error:.1e}, the largest {largest_error:.1e}.

    The training loss at which descent stops sets the error. So the row holds if the slides' runs stop where ours do.
    The authors' public notebook shows {notebook:.0e} (read off its picture), which by their code is a mean square. If
    the printed error is read as the root of one, the row does not hold; a stop so tight that it could is not tried. The
    interval of the error reaches at most {reach_of_interval:.2g} decades from the median. Draws differ more than with
    5000 entries, because fewer entries magnify the training loss that is left. If that distance and what the stop
    leaves open exceed {resolution:g} decades together, an error several times as large would pass as well, and the row
    is undecided.
    """
    yield from _row_checks(ENTRIES_2K, DEPTH_3, deep, decades_left_open=decades_left_open, unit=unit, scale=scale)
    errors = measured_row(deep, scale).error
    yield Facts(scale=scale, error=_medians(deep, scale).error, largest_error=np.max(errors))
    yield Facts(
        resolution=RESOLUTION,
        reach_of_interval=median(np.log10(errors)).uncertainty,
        notebook=NOTEBOOK_ERROR_2K_DEPTH_3,
    )


def _medians(table: Table, scale: float | None = None) -> Row:
    """Return the medians over draws of what a row has; of the error that of its logarithm."""
    row = measured_row(table, scale)
    error = 10 ** np.median(np.log10(row.error))  # the median of logarithms, as `_row_checks` has it
    return Row(float(error), float(np.median(row.norm_difference)), float(np.median(row.rank)))


def _listed(numbers: Iterable[float]) -> str:
    """Return numbers as a text prints several: ``1, 2``."""
    return ", ".join(f"{number:g}" for number in numbers)


def _rounding_in_decades(printed: float) -> float:
    """Return by how many decades an error may differ from the one digit to which it is rounded.

    6e-2 stands for 5.5e-2 to 6.5e-2; the smaller side, log10(6.5 / 6), is allowed both ways.
    """
    digit = int(f"{printed:.0e}"[0])
    return float(np.log10((digit + 0.5) / digit))


def _row_checks(
    observed: str, method: str, table: Table, *, decades_left_open: float, unit: Unit, scale: float | None = None
) -> Claim:
    """Yield checks of a printed row: medians of log10 of the error, nuclear norm less the target's, effective rank.

    Each median's interval, widened by the tolerance, must contain the printed number (`_check_of_median`). The target
    is the matrix to complete. Its nuclear norm differs from draw to draw, so that differences from it are compared;
    that of the slides' matrix is `TRUE_NORM`.

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
    log_errors = power * np.log10(measured.error)
    left_open = power * decades_left_open  # in decades of the printed error: a root has half of a mean square's

    @takes_rivals("error", scaled=True)
    def check_of_error(error: float) -> Check:
        """Check that the median of log10 of the error is that of a printed number."""
        error = max(error, 1e-300)  # the search for the smallest refused error multiplies the printed one, by zero too
        rounding = _rounding_in_decades(error)
        by_stop = f"the interval, and a factor of {10**left_open:.2g} that the stop, or the solver, leaves open"
        because = "the interval, and rounding as printed" if left_open <= rounding else by_stop
        return _check_of_median(
            "log10 of the reconstruction error, median",
            log_errors,
            np.log10(error),
            tolerance=max(left_open, rounding),
            resolution=RESOLUTION,
            because=because,
        )

    # rivals: one step of the printed power of ten, chosen
    check = check_of_error(
        printed.error,
        rivals={"an error ten times larger": 10 * printed.error, "an error ten times smaller": printed.error / 10},
    )
    if median(log_errors).uncertainty + left_open > RESOLUTION:  # `equal` leaves it undecided too; this says why
        check = check.as_undecided("errors of so few draws differ too much to tell the printed one from others")
    yield check
    yield _check_of_median(
        "nuclear norm less the target's, median of differences",
        measured.norm_difference,
        printed.norm_difference,
        tolerance=1.0,  # both norms are printed rounded, each by half of one at most
        resolution=3.0,  # chosen: below the distance of the rival, five
        because="both are printed rounded",
        rivals={"a nuclear norm of five more": printed.norm_difference + 5},  # chosen: beyond the tolerance
        scaled=False,  # the page prints the smallest error that `check_of_error` refuses, of no other check
    )
    yield _check_of_median(
        "effective rank, median",
        measured.rank,
        printed.rank,
        tolerance=0.5,  # the printed rank is a whole number
        resolution=2.0,  # the distance of the rival, which is chosen
        because="rounding as printed",
        rivals={"an effective rank of two more": printed.rank + 2},
        scaled=False,  # as for the nuclear norm
    )
    size = int(values_by_draw(table, SIZE)[0])
    entries = int(values_by_draw(table, OBSERVED_ENTRIES)[0])
    if (size, entries) != SIZE_AND_ENTRIES[observed]:
        yield Reason(f"not the slides' matrices: {size} × {size}, {entries} entries observed")


@takes_rivals("predicted", scaled=True)
def _check_of_median(
    name: str, values: np.ndarray, predicted: float, *, tolerance: float, resolution: float, because: str
) -> Check:
    """Check that a number of one draw is in the interval of our draws' median, widened by the tolerance.

    Outside of it, but within the range of the draws, widened alike, it is undecided: one draw may have it.
    """
    check = equal(name, median(values), predicted, tolerance=tolerance, resolution=resolution, because=because)
    is_within_range = np.min(values) - tolerance <= predicted <= np.max(values) + tolerance
    return check.as_undecided(ONE_DRAW) if check.state == "fails" and is_within_range else check
