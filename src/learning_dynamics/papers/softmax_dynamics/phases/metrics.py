"""Effective ranks, learning of classes, alignment and separation along the toy's flows.

Series and constants of the runs, for V classes and d dimensions:

- features `f`, (members, times, examples, d), and the classifier `W`, (members, times, d, V)
- `labels`, one-hot, (members, examples, V), with examples sorted by class
- of a grid also `counts`, (members, V), class sizes as the configuration lists them, largest first, and `init` and
  `scale`, (members,). Its members are flows from every combination of class sizes, kind of start, scale and draw.

All members have equally many classes and examples. A rank is (members, times), a probability (members, times, V).
Moments are places along times, (members, 5), in the order of `grids.Moment`. Times are flow time, which is learning
rate times steps. The column `seed` has the number of the draw within its cell.
"""

import functools

import numpy as np

from learning_dynamics.papers.softmax_dynamics import cells, falls, starts, theory
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics.grids import (
    ALIGNMENT,
    FINAL,
    LEARNING_TIME,
    RANK,
    REACHED,
    SEPARATION_F,
    SEPARATION_W,
    SWING,
    TAIL,
    Moment,
)
from learning_dynamics.papers.softmax_dynamics.phases.quantities import CLASS, FEATURE, LOSS, PROBABILITY, RATE, SIGMA
from learning_dynamics.papers.softmax_dynamics.spectra import (
    SPECTRA,
    Population,
    alignment,
    population,
    ranks_of,
    separation,
    sorted_svd,
)
from learning_dynamics.settings import Fraction, Natural, Positive
from learning_dynamics.tidy import INDEX, QUANTITY, SEED, TIME, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory

VALUE = Column("value", "float", "measured; empty where a member's flow could not be integrated", nullable=True)
TOY = (SEED, TIME, QUANTITY, INDEX, VALUE)
GRID = (
    cells.COUNTS,
    cells.SKEWED,
    Column("init", "str", "balanced or gaussian", draw=True),
    cells.FEATURES_SCALE,
    cells.MEMBER,
    Column("measure", "str", "rankme_centred, rankme or effective_rank, of classes with class_; empty for none"),
    cells.THRESHOLD,
    QUANTITY,
    Column("index", "int", "1, 2, ...: swings in their order, classes by size, or moments; 0 for scalars"),
    Column("value", "float", "measured; empty for a class never learned, and for a failed flow", nullable=True),
)


@columns(*TOY)
def toy(trajectory: Trajectory, *, coordinates: Natural, populations: list[Population]) -> Tables:
    """Measure one cell's flows over time; nan where a flow failed.

    Quantities
    ----------
    `spectra.ranks_of`
        Of the populations that `populations` names.
    sigma
        Singular values of the features, the largest first.
    rate
        Derivatives of ``sigma`` in time, u_k^T (df/dt) v_k with the features' singular vectors (Lemma B.1).
    probability
        By class, the mean over the class's examples of the probability that an example's own class gets; under the
        squared loss, of the output.
    alignment
        |cos| of the angle between the leading eigenvectors of f^T f and W W^T.
    separation_f, separation_w
        Distance between the mean of the largest class and the mean of all others, of features and of the classifier's
        columns; in units of the root mean square distance of a point from its own of the two means. Infinite where
        points agree with their means.
    loss
        The loss of the run, cross-entropy or squared, summed over examples.
    feature_x, feature_y
        First and second coordinate of the features, by example, for the first `coordinates` members only. A member
        whose flow failed has the coordinates of its start at all times.
    class_x, class_y
        First and second coordinate of the classifier's columns, by class, for the same members as ``feature_x``.
    """
    f, W, failed = starts.finite_factors(trajectory)
    labels, loss = trajectory.constants["labels"], trajectory.settings["loss"]
    sigma, rate = _rates(f, W, labels, loss)
    # mask of the examples of the first class listed, the largest; all members have the same labels, so that those of
    # the first serve for all
    group = labels[0].argmax(axis=-1) == 0
    quantities = ranks_of(f, labels, populations) | {
        SIGMA: sigma,
        RATE: rate,
        PROBABILITY: class_probabilities(f, W, labels, loss),
        ALIGNMENT: alignment(f, W),
        SEPARATION_F: separation(f, group),
        SEPARATION_W: separation(np.swapaxes(W, -1, -2), np.arange(W.shape[-1]) == 0),
        LOSS: model.summed_loss(f, W, labels[:, None], loss),
    }
    table = rows(quantities, {"seed": np.arange(len(f)), "time": trajectory.time})
    # members are draws here, so that the column `seed` has their numbers
    table.loc[failed[table["seed"]], "value"] = np.nan
    yield table
    in_plane = {
        name: points[:coordinates, ..., axis]
        for names, points in ((FEATURE, f), (CLASS, np.swapaxes(W, -1, -2)))
        for axis, name in enumerate(names)
    }
    yield rows(in_plane, {"seed": np.arange(len(f))[:coordinates], "time": trajectory.time})


@columns(*GRID)
def flow_grid(
    trajectory: Trajectory,
    *,
    thresholds: list[Positive],
    lower: Fraction,
    upper: Fraction,
    populations: list[Population],
) -> Tables:
    """Measure each member of a grid; nan where its flow failed.

    There are five moments, in this order: the start; the first class is learned; the rarest classes begin to be
    learned, just before the first of their probabilities passes `lower`; the rarest classes are learned, as all of
    their probabilities have passed `upper`; the end. From ``rank`` to ``net`` a quantity is measured for each rank in
    the column ``measure``, and from ``swing`` on for each rank and each threshold, the least change of the rank that
    counts as a fall or a rise.

    Quantities
    ----------
    learning_time
        By class, the flow time at which its probability passes one half for good: the mean over the class's examples
        of the probability that an example's own class gets; under the squared loss, of the output. nan for a class that
        is never learned.
    final
        By class, its probability (see ``learning_time``) at the end.
    reached
        Flow time of each moment.
    rate_1, rate_2
        Derivatives in time of the features' two largest singular values, u_k^T (df/dt) v_k with their singular vectors,
        at each moment.
    alignment
        |cos| of the angle between the leading eigenvectors of f^T f and W W^T, at each moment.
    separation_f, separation_w
        Distance between the mean of the largest class and the mean of all others, of features and of the classifier's
        columns, at each moment; in units of the root mean square distance of a point from its own of the two means.
        Infinite where points agree with their means.
    sigma_1, sigma_2
        The features' two largest singular values, at each moment.
    variance_1, variance_2
        The two largest eigenvalues of the features' covariance about their mean, at each moment.
    direction
        |cos| of the angle between the features' leading right singular vector at each moment and that when the rarest
        classes are learned.
    class_sigma_1, class_sigma_2, class_variance_1, class_variance_2, class_direction
        ``sigma_1`` to ``direction`` of the features' class means, each counting once, instead of the features of all
        examples.
    rank
        The rank at each moment.
    `falls.warm_up_and_growth`
        By rank.
    tail
        Change of the rank over the last half decade of time.
    net
        Change of the rank from the moment at which the rarest classes begin to be learned to that at which they are.
    swing
        Changes of the rank at its first four swings, in their order: a rise by the threshold or more is positive, a
        fall by it or more negative. 0 after the last swing.
    `falls.falls_by_window`
        By rank and threshold.
    `falls.three_phases`
        By rank and threshold.
    """
    f, W, failed = starts.finite_factors(trajectory)
    constants, loss, times = trajectory.constants, trajectory.settings["loss"], trajectory.time
    counts, labels = constants["counts"], constants["labels"]
    probabilities = class_probabilities(f, W, labels, loss)
    windows = falls.windows(probabilities, counts, lower, upper)  # fields are places along times, (members,)
    members = np.arange(len(f))
    rare_begin, rare_learned = windows.rare
    records = {  # where in the series each moment is, of each member
        Moment.START: np.zeros_like(members),
        Moment.FIRST_LEARNED: windows.learning[0],
        Moment.RARE_BEGIN: rare_begin,
        Moment.RARE_LEARNED: rare_learned,
        Moment.END: np.full_like(members, len(times) - 1),
    }
    moments = np.stack([records[moment] for moment in Moment], axis=1)

    def at_moments(series: np.ndarray) -> np.ndarray:
        """Return a series, shape (members, times, ...), at each member's moments, shape (members, 5, ...)."""
        return series[members[:, None], moments]

    # Mask of the examples of the largest class, the first one listed, shape (members, examples). `separation` takes one
    # mask for all of its points: members whose first class is equally large have the same and are measured together.
    largest = labels[..., 0] > 0
    separated = np.empty(f.shape[:2])
    for pattern in np.unique(largest, axis=0):
        group = np.all(largest == pattern, axis=1)  # mask of such members; in `toy` a group is of examples
        separated[group] = separation(f[group], pattern)
    _, rate = _rates(f, W, labels, loss)
    of_members = functools.partial(cells.member_rows, trajectory, failed=failed, measure="")
    learned = falls.learned_at(times, probabilities)  # shape (members, V); infinite for a class never learned
    yield of_members(
        {
            LEARNING_TIME: np.where(np.isinf(learned), np.nan, learned),
            FINAL: probabilities[:, -1],
            REACHED: times[moments],
            "rate_1": at_moments(rate[..., 0]),
            "rate_2": at_moments(rate[..., 1]),
            ALIGNMENT: at_moments(alignment(f, W)),
            SEPARATION_F: at_moments(separated),
            SEPARATION_W: at_moments(separation(np.swapaxes(W, -1, -2), np.arange(W.shape[-1]) == 0)),
        }
    )
    for population_name in populations:
        # shape (members, 5, rows, d), with a row for each example or for each class
        points = at_moments(population(f, labels, population_name))
        _, sigma, V = sorted_svd(points)
        _, spread, _ = sorted_svd(points - points.mean(axis=-2, keepdims=True))
        # `spread` are singular values of points about their mean; squared, over the number of rows, they are
        # eigenvalues of the covariance
        variances = spread**2 / points.shape[-2]
        leading, names = V[..., 0], SPECTRA[population_name]  # right singular vectors, shape (members, 5, d)
        # shape (members, 1, d), with an axis of length one for the moments
        when_rare_are_learned = leading[:, [list(Moment).index(Moment.RARE_LEARNED)]]
        yield of_members(
            {
                names.sigma_1: sigma[..., 0],
                names.sigma_2: sigma[..., 1],
                names.variance_1: variances[..., 0],
                names.variance_2: variances[..., 1],
                names.direction: np.abs(np.sum(leading * when_rare_are_learned, axis=-1)),
            }
        )
    # the first record at or after half a decade before the end
    before_end = np.searchsorted(times, times[-1] / np.sqrt(10))
    for name, series in ranks_of(f, labels, populations).items():
        tail, net = series[:, -1] - series[:, before_end], falls.net_change(series, windows.rare)
        about_trough = falls.warm_up_and_growth(series, windows)
        yield of_members({RANK: at_moments(series), TAIL: tail, falls.NET: net} | about_trough, measure=name)
        for threshold in thresholds:
            # chosen: four swings, those of three phases (a fall, a rise, a fall) and one more
            swings = {SWING: falls.swings(series, threshold, 4)}
            phases = falls.three_phases(series, threshold, windows)
            of_threshold = swings | falls.falls_by_window(series, threshold, windows) | phases
            yield of_members(of_threshold, measure=name, threshold=threshold)


def class_probabilities(f: np.ndarray, W: np.ndarray, labels: np.ndarray, loss: str) -> np.ndarray:
    """Return for each class the mean, over its examples, of the probability that an example's own class gets.

    Under the squared loss the output, which is a logit, takes the place of the probability.

    Parameters
    ----------
    f, W : ndarray, shapes (members, times, examples, d) and (members, times, d, classes)
    labels : ndarray, shape (members, examples, classes)
        One-hot.

    Returns
    -------
    ndarray, shape (members, times, classes)
    """
    outputs = f @ W
    if loss == "cross_entropy":
        outputs = model.softmax(outputs)
    return np.sum(outputs * labels[:, None], axis=-2) / labels.sum(axis=1)[:, None]


def _rates(f: np.ndarray, W: np.ndarray, labels: np.ndarray, loss: model.Loss) -> tuple[np.ndarray, np.ndarray]:
    """Return the singular values of f and their derivatives in time, (members, times, values) each (Lemma B.1)."""
    df, _ = model.derivatives(f, W, labels[:, None], loss)
    U, S, V = sorted_svd(f)
    return S, theory.singular_value_rates(U, df, V)
