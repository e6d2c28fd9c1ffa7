"""Phases of the rank over examples and over classes, for classes of many examples.

f has a row of features of length d for each example, and the classifier W a column for each of V classes. Series and
constants of trajectories are in the docstring of `runs`. Members are draws, cell by cell; a cell is one combination of
the constants, and the column `seed` has the number of the draw.

Times are flow time. A window is a pair of places along times, the first and the last, (members,) each. A threshold is
the least change of the rank that counts as a fall or a rise. A population is what the rank is taken over: examples,
where a class counts as often as it has examples, or classes, where it counts once.
"""

import functools
from collections.abc import Sequence

import numpy as np

from learning_dynamics.measures.spectra import effective_rank
from learning_dynamics.papers.softmax_dynamics import cells, falls
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import QUANTITY, Column, Tables, columns
from learning_dynamics.trajectories import Trajectory

COLUMNS = (
    cells.COUNTS,
    cells.SKEWED,
    cells.DIMENSION,
    cells.SCALE,
    cells.MEMBER,
    cells.POPULATION,
    cells.THRESHOLD,
    QUANTITY,
    Column(
        "value", "float", "measured; empty where a flow could not be integrated, or nothing is defined", nullable=True
    ),
)


@columns(*COLUMNS)
def class_flows(trajectory: Trajectory, *, thresholds: list[Positive], lower: Fraction, upper: Fraction) -> Tables:
    """Measure RankMe, centred, over examples and over classes; nan where a flow failed.

    The probability of a class is the mean over its examples of that of their own label; under the squared loss it
    is the mean output. All but ``length_order`` is measured by population, and falls and phases by threshold as
    well.

    Quantities
    ----------
    net
        Change of the rank while the rarest classes are learned: from where the probability of the first of them passes
        `lower` to where those of all have passed `upper`.
    end
        The rank at the end.
    peak
        The highest rank from the warm-up's trough on. At the trough the rank is lowest until the first class is
        learned.
    fall
        Depth of the rank's deepest fall after a rise. Fall and rise are by the threshold or more, and happen after the
        warm-up's trough (see ``peak``). 0 if there is no such fall.
    fall_rare
        Depth of the deepest part of such a fall (see ``fall``) while the rarest classes are learned (see ``net``).
    fall_since_rare
        Depth of the deepest part of such a fall (see ``fall``) from where the probability of the first of the rarest
        classes passes `lower` to the end.
    `falls.three_phases`
        By threshold.
    length_order
        Slope of log(|f_c|^2 / f_c w_c) on log(n_c) over classes c, at the end, by least squares; the column
        ``population`` is empty. f_c is the mean row of f of class c, w_c its column of W, f_c w_c the class's
        margin, and n_c its size. nan where classes are equal, or a margin is not positive.
    """
    return _ranks_and_falls(trajectory, thresholds=thresholds, lower=lower, upper=upper)


def _ranks_and_falls(trajectory: Trajectory, *, thresholds: Sequence[float], lower: float, upper: float) -> Tables:
    """Yield the rows of all quantities of `class_flows`."""
    sizes, failed = trajectory.constants["counts"], trajectory.undecided
    assert failed is not None
    # a member that failed gets its start at all times, since eigenvalues need finite matrices; its rows are empty
    means, covariance, probabilities, W = (
        np.where(failed.reshape(-1, *[1] * (series.ndim - 1)), series[:, :1], series).astype(float)
        for series in (trajectory.series[name] for name in ("means", "covariance", "probabilities", "W"))
    )
    windows = falls.windows(probabilities, sizes, lower, upper)
    of_members = functools.partial(cells.member_rows, trajectory, failed=failed)
    yield of_members({"length_order": length_orders(means[:, -1], W[:, -1], sizes)}, population="")
    about_mean = means - means.mean(axis=-2, keepdims=True)
    covariance_of_means = np.swapaxes(about_mean, -1, -2) @ about_mean / sizes.shape[1]
    for population, matrices in (("examples", covariance), ("classes", covariance_of_means)):
        series = effective_rank(np.clip(np.linalg.eigvalsh(matrices), 0.0, None))
        net = {falls.NET: falls.net_change(series, windows.rare)}
        yield of_members(net | falls.end_and_peak(series, windows), population=population)
        for threshold in thresholds:
            depths = falls.falls_by_window(series, threshold, windows)
            of_threshold = {name: depths[name] for name in (falls.FALL, falls.FALL_RARE, falls.FALL_SINCE)}
            of_threshold |= falls.three_phases(series, threshold, windows)
            yield of_members(of_threshold, population=population, threshold=threshold)


@columns(*COLUMNS)
def growing_directions(
    trajectory: Trajectory, *, thresholds: list[Positive], lower: Fraction, upper: Fraction
) -> Tables:
    """Measure each flow of `runs.growing_directions` as `class_flows` does; a cell has one member, without chance.

    Quantities
    ----------
    `class_flows`
        All of them.
    """
    return _ranks_and_falls(trajectory, thresholds=thresholds, lower=lower, upper=upper)


def length_orders(f: np.ndarray, W: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return each member's slope of log(|f_c|^2 / f_c w_c) on log(n_c) over classes c, shape (members,).

    f_c is the mean row of f of class c, w_c its column of W, f_c w_c the class's margin, and n_c its size. nan where
    classes are equal, or a margin is not positive.

    Parameters
    ----------
    f, W : ndarray, shapes (members, classes, d) and (members, d, classes)
    sizes : ndarray, shape (members, classes)
        The sizes n_c.
    """
    margins = np.einsum("mcd,mdc->mc", f, W)  # f_c w_c, row c of f with column c of W
    valid = (margins > 0).all(axis=1) & (sizes.max(axis=1) > sizes.min(axis=1))
    # Ordinary least squares with y = log(|f_c|^2 / f_c w_c) and x = log(n_c) less its mean. Members that are not valid
    # get ones where there would be no logarithm, or a division by zero, and nan at the end.
    y = np.log(np.where(valid[:, None], np.sum(f**2, axis=-1) / np.where(margins > 0, margins, 1.0), 1.0))
    x = np.log(sizes) - np.log(sizes).mean(axis=1, keepdims=True)
    spread = np.where(valid, np.sum(x**2, axis=1), 1.0)
    return np.where(valid, np.sum(x * y, axis=1) / spread, np.nan)
