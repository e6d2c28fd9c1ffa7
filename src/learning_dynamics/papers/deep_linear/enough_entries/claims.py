"""How many observed entries are enough, by method.

A draw is a matrix of low rank to complete, whose entries have mean square one, with nested sets of observed entries;
their numbers are the column `observed`, the grid. An error is the mean square over all entries. `convex` has the
matrices of least nuclear norm that fit the observed entries to within a slack, `depth_2` and `depth_3` those that
networks of depth N complete by descent from Gaussian layers of scale s, with entries of standard deviation s^(1/N)
n^(-1/2) for n rows.

Besides its own parameters every check takes `rivals` and others (`judging.takes_rivals`). A rival that is a mapping
replaces arguments: {"values": x} and {"estimate": x} have the check judge x. It is refused if at least one of the
claim's checks then fails or is undecided.
"""

import numpy as np

from learning_dynamics.evidence import Estimate, mean
from learning_dynamics.judging import Claim, Facts, at_least, claim, every_draw
from learning_dynamics.papers.deep_linear.enough_entries.thresholds import number_before, thresholds
from learning_dynamics.papers.deep_linear.quantities import ERROR
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, select, settings_of

# Settings of these claims, whose values are in workflow/config/deep_linear.yaml:
# - factor, of `enough_entries`: largest mean square error of a matrix that is recovered perfectly, in units of the
#   squared slack on observed entries; chosen
# - scale, of `depth_3_needs_fewer_entries`: initialisation scale s from which networks are judged, one of the run's
#   `scales`
# - recovered, of the same claim: largest mean square error over all entries of a matrix that is recovered, relative to
#   the mean square entry, which is one; chosen

MATRICES = "Gaussian low-rank matrices, smaller than the slides' at default scale; nested sets of observed entries"


@claim("Slide 26, Setting: matrix completion", quantifier="all draws", scope=MATRICES, empirical=True)
def enough_entries(convex: Table, *, factor: Positive) -> Claim:
    r"""Nuclear-norm minimisation perfectly recovers a low-rank matrix if observations are sufficiently many.

    The slide cites this result. A matrix is recovered if its mean square error over all entries is at most {factor:g}
    times the square of the slack, the error that the minimisation may leave on an observed entry. From {most} entries
    the largest error over {draws} draws is {value:.1e}. From {fewest} entries, the fewest tried, no draw is recovered,
    and the least error is {smallest_error_from_fewest:.2g}: "sufficiently many" is a number between the two.
    """
    numbers = np.sort(convex["observed"].unique())
    errors_from_fewest, errors_from_second_most, errors_from_most = (
        _errors(select(convex, observed=numbers[place])) for place in (0, -2, -1)
    )
    largest_error = factor * settings_of(convex)["slack"] ** 2
    because = f"{factor:g} times the square of the slack on observed entries"
    yield every_draw(
        "mean square error over all entries, from the largest number of entries",
        errors_from_most,
        at_most=largest_error,
        because=because,
        # another number of entries is said to be enough: the check judges the errors from that number
        rivals={
            "no number of entries is enough": {"values": errors_from_fewest},
            "the number before the largest is enough": {"values": errors_from_second_most},
        },
    )
    yield every_draw(
        "mean square error over all entries, from the smallest number of entries",
        errors_from_fewest,
        at_least=largest_error,
        because=f"more than {because}",
        rivals={"every number of entries is enough": {"values": errors_from_most}},
    )
    yield Facts(
        factor=factor, fewest=numbers.min(), most=numbers.max(), smallest_error_from_fewest=errors_from_fewest.min()
    )


@claim(
    "Slides 26, 31 and 32, Setting: matrix completion; few and many observations",
    quantifier="an average",
    origin="ours",
    scope=f"{MATRICES}, plain descent from one small initialisation scale",
    empirical=True,
)
def depth_3_needs_fewer_entries(
    depth_2: Table, depth_3: Table, convex: Table, *, scale: Positive, recovered: Fraction
) -> Claim:
    r"""Depth 3 recovers a low-rank matrix from fewer entries than nuclear-norm minimisation, and from no more than
    depth 2.

    A draw's threshold is the smallest number of observed entries from which on the mean square error over all entries
    stays at most {recovered:g} of the mean square entry. Numbers of entries form a grid, and the true threshold is
    between this one and the one before. So for nuclear-norm minimisation the one before is taken, which is against the
    claim. A draw with a threshold beyond the grid leaves the claim undecided. Networks that did not reach their
    training loss are counted against the claim ({thresholds_in_doubt} thresholds depend on such networks). So counted,
    nuclear-norm minimisation needs {convex_over_depth_3:.2g} times as many entries as depth 3, the geometric mean over
    {draws} draws. Median thresholds are {threshold_convex:.0f} for nuclear-norm minimisation and, from initialisation
    scale {scale:g}, {threshold_depth_2:.0f} at depth 2 and {threshold_depth_3:.0f} at depth 3.
    """
    # a lower and an upper bound on thresholds, shape (draws,); they differ where a network missed its training loss,
    # and agree for the minimiser
    threshold_convex, _ = thresholds(convex, recovered)
    lower_2, upper_2 = thresholds(select(depth_2, scale=scale), recovered)
    lower_3, upper_3 = thresholds(select(depth_3, scale=scale), recovered)
    # ratios take the bounds that are against the claim: lower ones in the numerator, upper ones in the denominator;
    # draws of all tables are the same matrices, in the same order
    grid = np.sort(convex["observed"].unique()).astype(float)  # numbers of entries
    before_convex, before_3 = number_before(grid, threshold_convex), number_before(grid, lower_3)
    # A rival exchanges methods, and the checks judge the ratios of thresholds after the exchange. The first check
    # refuses the rivals that have `before_3` in the numerator. By `no_difference` the second check compares depth 3
    # with itself, and then fails or is undecided. `depth_2_fewer` exchanges depths 2 and 3
    convex_fewest, no_difference = "nuclear-norm minimisation needs fewest", "depth makes no difference"
    depth_2_fewer = "depth 2 needs fewer than depth 3"
    yield at_least(
        "log2 of the number of entries before the threshold of nuclear-norm minimisation over depth 3's threshold",
        _mean_log2(before_convex, upper_3),
        0.0,
        because="wherever thresholds are between neighbouring numbers of entries",
        rivals={
            convex_fewest: {"estimate": _mean_log2(before_3, threshold_convex)},
            no_difference: {"estimate": _mean_log2(before_3, upper_3)},
            "nuclear-norm minimisation needs what depth 3 needs": {"estimate": _mean_log2(before_3, upper_3)},
            depth_2_fewer: {"estimate": _mean_log2(before_convex, upper_2)},
        },
    )
    yield at_least(
        "log2 of the threshold, depth 2 over depth 3",
        _mean_log2(lower_2, upper_3),
        0.0,
        because="depth 3 needs no more than depth 2",
        rivals={
            convex_fewest: {"estimate": _mean_log2(lower_2, threshold_convex)},
            no_difference: {"estimate": _mean_log2(lower_3, upper_3)},
            depth_2_fewer: {"estimate": _mean_log2(lower_3, upper_2)},
        },
    )
    yield Facts(
        threshold_convex=np.median(threshold_convex),
        threshold_depth_2=np.median(upper_2),
        threshold_depth_3=np.median(upper_3),
        scale=scale,
        recovered=recovered,
        thresholds_in_doubt=int(np.sum(lower_2 < upper_2) + np.sum(lower_3 < upper_3)),
        convex_over_depth_3=2 ** _mean_log2(before_convex, upper_3).value,
    )


def _errors(rows: Table) -> np.ndarray:
    """Return the mean square errors of rows that have one each draw, shape (draws,)."""
    return select(rows, ERROR)["value"].to_numpy()


def _mean_log2(numerator: np.ndarray, denominator: np.ndarray) -> Estimate:
    """Return the mean over draws of log2 of ratios of numbers of entries.

    A threshold beyond the grid is infinite, and the number before it nan: its draw gives the mean no number.
    """
    with np.errstate(invalid="ignore"):
        return mean(np.log2(numerator) - np.log2(denominator))
