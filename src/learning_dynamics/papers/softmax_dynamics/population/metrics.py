"""Phases of the rank over examples and over classes, from one row of features for each class.

Shapes: `f` (members, times, V, d), a row for each class, and `W` (members, times, d, V), with zeros behind a member's
own d; so f W is square, and a class's own logit is on its diagonal. `counts` (members, V), class sizes; `dimension` and
`scale` (members,). Times are flow time; windows are pairs of places along times, (members,) each.
"""

import functools
from collections.abc import Sequence

import numpy as np

from learning_dynamics.measures.spectra import effective_rank
from learning_dynamics.papers.softmax_dynamics import cells, falls, starts
from learning_dynamics.papers.softmax_dynamics import models as model
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

    Under the squared loss the output of a class is read for its probability.

    Quantities
    ----------
    net
        Change of the rank while the rarest classes are learned: from where the probability of the first of them passes
        `lower` to where those of all have passed `upper`.
    end
        The rank at the end.
    peak
        The rank where it is highest since the warm-up's trough, its lowest until the first class is learned.
    fall
        Deepest fall of the rank after a rise, fall and rise by at least the threshold, since the warm-up's trough. 0
        where nothing falls so.
    fall_rare
        Deepest part of such a fall while the rarest classes are learned (see ``net``).
    fall_since_rare
        The part of such a fall from where the first of the rarest classes passes `lower` to the end.
    `falls.three_phases`
        By threshold.
    length_order
        Slope of log(|f_c|^2 / f_c w_c), a class's squared length over its margin at the end, on log(n_c), its size,
        over classes c; of neither population. nan where classes are equal, or a margin is not positive.
    """
    return _ranks_and_falls(
        trajectory, loss=trajectory.settings["loss"], thresholds=thresholds, lower=lower, upper=upper
    )


def _ranks_and_falls(
    trajectory: Trajectory, *, loss: model.Loss, thresholds: Sequence[float], lower: float, upper: float
) -> Tables:
    """Yield the rows of all quantities of `class_flows`."""
    sizes = trajectory.constants["counts"]
    f, W, failed = starts.finite_factors(trajectory)
    outputs = f @ W
    own = model.softmax(outputs) if loss == "cross_entropy" else outputs
    # rows are classes: row c's own class is in column c
    probabilities = np.diagonal(own, axis1=-2, axis2=-1)
    windows = falls.windows(probabilities, sizes, lower, upper)
    of_members = functools.partial(cells.member_rows, trajectory, failed=failed)
    yield of_members({"length_order": length_orders(f[:, -1], W[:, -1], sizes)}, population="")
    # a row is the mean of a class: over examples it counts by the class's size
    for population, weights in (("examples", sizes.astype(float)), ("classes", np.ones(sizes.shape))):
        series = weighted_rankme(f, weights[:, None])
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
    """Measure as `class_flows` does; a cell has one member.

    Quantities
    ----------
    `class_flows`
        All of them.
    """
    return _ranks_and_falls(trajectory, loss="cross_entropy", thresholds=thresholds, lower=lower, upper=upper)


def length_orders(f: np.ndarray, W: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return each member's slope of log(|f_c|^2 / f_c w_c) on log(n_c) over classes c, shape (members,).

    nan where classes are equal, or the margin f_c w_c of one is not positive.

    Parameters
    ----------
    f, W : ndarray, shapes (members, classes, d) and (members, d, classes)
    sizes : ndarray, shape (members, classes)
    """
    margins = np.einsum("mcd,mdc->mc", f, W)  # f_c w_c, row c of f with column c of W
    valid = (margins > 0).all(axis=1) & (sizes.max(axis=1) > sizes.min(axis=1))
    # Ordinary least squares with y = log(|f_c|^2 / f_c w_c) and x = log(n_c) less its mean. Members that are not valid
    # get ones in place of what has no logarithm or is divided by, and nan at the end.
    y = np.log(np.where(valid[:, None], np.sum(f**2, axis=-1) / np.where(margins > 0, margins, 1.0), 1.0))
    x = np.log(sizes) - np.log(sizes).mean(axis=1, keepdims=True)
    spread = np.where(valid, np.sum(x**2, axis=1), 1.0)
    return np.where(valid, np.sum(x * y, axis=1) / spread, np.nan)


def weighted_rankme(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return RankMe of rows with weights, about their weighted mean.

    Parameters
    ----------
    points : ndarray, shape (..., rows, d)
    weights : ndarray, shape (..., rows)

    Returns
    -------
    ndarray, shape (...)
    """
    # shape (..., rows, 1)
    share = (weights / weights.sum(axis=-1, keepdims=True))[..., None]
    centred = points - np.sum(share * points, axis=-2, keepdims=True)
    covariance = np.swapaxes(centred, -1, -2) @ (share * centred)
    return effective_rank(np.clip(np.linalg.eigvalsh(covariance), 0.0, None))
