"""Phases of the rank by optimiser, rate, weight decay and batch, and which trainings have learned their examples.

Series, recorded at times that count steps:

- `examples`, `classes`, (members, records, d): eigenvalues of the features' covariance about their mean, over all
  examples and over class means; zeros beyond a member's own d
- `probabilities`, (members, records, V): for each class the mean, over its examples, of the probability that an
  example's own class gets
- `loss`, (members, records, 2): the mean and the largest of the examples' cross-entropies

Constants: `counts`, (members, V), the class sizes, all above 0; `method`, `learning_rate`, `decay`, `batch`,
`dimension` and `scale`, (members,). Members are draws, cell by cell; a cell is one combination of the constants, and
the column `seed` has the number of the draw within it. The run's setting `steps` is the length of a training. The
argument `steps` lists numbers of steps: the training is measured as if it ended there. A population is `examples` or
`classes`.
"""

import functools

import numpy as np

from learning_dynamics.measures.spectra import effective_rank
from learning_dynamics.papers.softmax_dynamics import cells, falls
from learning_dynamics.settings import Count, Fraction, Positive
from learning_dynamics.tidy import QUANTITY, Column, Tables, columns
from learning_dynamics.trajectories import Trajectory

COLUMNS = (
    Column("method", "str", "SGD, momentum, Adam (decay in the gradient) or AdamW (off the parameters)", draw=True),
    Column("learning_rate", "float", "learning rate; under momentum the effective one", draw=True),
    Column("decay", "float", "weight decay", draw=True),
    Column("batch", "int", "examples in a minibatch; 0 for all", draw=True),
    Column("steps", "int", "number of steps after which the training is measured, as if it ended there"),
    cells.COUNTS,
    cells.SKEWED,
    cells.DIMENSION,
    cells.SCALE,
    cells.MEMBER,
    cells.POPULATION,
    cells.THRESHOLD,
    QUANTITY,
    Column("value", "float", "measured; empty where training left the finite numbers", nullable=True),
)


@columns(*COLUMNS)
def combinations(
    trajectory: Trajectory, *, steps: list[Count], thresholds: list[Positive], lower: Fraction, upper: Fraction
) -> Tables:
    """Measure outcomes and effective ranks of trainings, as if they ended after each number of `steps`.

    The effective rank is RankMe of centred features: exp of the entropy of the eigenvalues of their covariance, each as
    a share of their sum. It is measured for each population, all examples or class means. Ranks and their falls are nan
    for a member whose training left the finite numbers at any step, even at a step after the end that is measured.

    Quantities
    ----------
    `outcomes`
        Whether a training has learned, and whether it has diverged. The column ``population`` is empty.
    end
        The rank at the end, by population.
    peak
        The highest rank from the warm-up's trough on, by population. At the trough the rank is lowest until the first
        class is learned.
    `falls.falls_by_window`
        Deepest falls of the rank after a rise, at any time and while classes are learned. By population and threshold.
    `falls.three_phases`
        Whether warm-up, growth and compression follow one another. By population and threshold.
    """
    sizes = trajectory.constants["counts"]
    failed = np.asarray(trajectory.undecided, dtype=bool)
    of_members = functools.partial(cells.member_rows, trajectory, failed=failed)
    # failed members get ones, and zeros for probabilities, for which all below is defined; `of_members` puts nan
    # instead of their results
    ranks = {
        name: effective_rank(np.where(failed[:, None, None], 1.0, trajectory.series[name]))
        for name in ("examples", "classes")
    }
    for end in steps:
        until_end = trajectory.time <= end  # mask of records, (records,)
        learned_or_diverged = outcomes(trajectory, until_end)
        # no member counts as failed here, so that `diverged` is 1 and not nan for those that did
        yield of_members(learned_or_diverged, failed=np.zeros_like(failed), steps=end, population="")
        probabilities = np.where(failed[:, None, None], 0.0, trajectory.series["probabilities"])[:, until_end]
        windows = falls.windows(probabilities, sizes, lower, upper)
        for population, rank in ranks.items():
            series = rank[:, until_end]
            yield of_members(falls.end_and_peak(series, windows), steps=end, population=population)
            for threshold in thresholds:
                phases = falls.three_phases(series, threshold, windows)
                of_threshold = falls.falls_by_window(series, threshold, windows) | phases
                yield of_members(of_threshold, steps=end, population=population, threshold=threshold)


def outcomes(trajectory: Trajectory, records: np.ndarray) -> dict[str, np.ndarray]:
    """Return which members have learned, and which have diverged, at the last of some records, shape (members,) each.

    `records` is a mask of the recorded times, shape (times,): those up to the end. A training that has done neither is
    still under way.

    Quantities
    ----------
    learned
        1 under two conditions, else 0. At the end the own class of every example has a probability above one half (a
        loss below log 2). At no record until then has such a probability been below the smallest normal number of
        double precision. The second condition excludes parameters that explode under large steps, as they may end with
        no loss.
    diverged
        1 where the mean loss at the end is above log V, that of uniform predictions, from which small starts begin, or
        where training left the finite numbers at any step of the run; 0 elsewhere.
    """
    loss = trajectory.series["loss"][:, records]
    mean, largest = np.moveaxis(loss[:, -1], -1, 0)  # at the end, shape (members,) each
    # The loss of an example is minus the logarithm of its own class's probability. `loss[..., 1]` is the largest loss
    # at each record.
    exploded = loss[..., 1].max(axis=1) > -np.log(np.finfo(float).tiny)
    failed = np.asarray(trajectory.undecided, dtype=bool)  # of the whole run, also beyond `records`
    uniform = np.log(trajectory.constants["counts"].shape[1])
    # a mean of nan is not <= uniform, and so counts as diverged
    return {
        cells.HAS_LEARNED: (~failed & ~exploded & (largest < -np.log(falls.LEARNED))).astype(float),
        "diverged": (failed | ~(mean <= uniform)).astype(float),
    }
