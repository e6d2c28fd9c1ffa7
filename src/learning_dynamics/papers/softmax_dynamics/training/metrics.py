"""Phases of the rank under combined optimisers, and which trainings have learned their examples.

Shapes: `examples` and `classes` (members, records, d) are no numbers of these but eigenvalues of the features'
covariance over them, with zeros behind a member's own d; `probabilities` (members, records, V); `loss` (members,
records, 2), the mean of the examples' and the largest; `counts` (members, V), class sizes without zeros; what else
tells members apart is (members,). Times count steps. The argument `steps` lists after how many steps a course is
measured, the run's setting `steps` is how many there are.
"""

import functools

import numpy as np

from learning_dynamics.measures.spectra import effective_rank
from learning_dynamics.papers.softmax_dynamics import cells, falls
from learning_dynamics.settings import Count, Fraction, Positive
from learning_dynamics.tidy import QUANTITY, Column, Tables, columns
from learning_dynamics.trajectories import Trajectory

CELLS = (
    Column("method", "str", "SGD, momentum, Adam (decay in the gradient) or AdamW (off the parameters)", draw=True),
    Column("learning_rate", "float", "learning rate; under momentum the effective one", draw=True),
    Column("decay", "float", "weight decay", draw=True),
    Column("batch", "int", "examples in a minibatch; 0 for all", draw=True),
    Column("steps", "int", "after how many steps the course ends of which this is measured"),
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


@columns(*CELLS)
def combinations(
    trajectory: Trajectory, *, steps: list[Count], thresholds: list[Positive], lower: Fraction, upper: Fraction
) -> Tables:
    """Measure RankMe, centred, over examples and over classes, along the course up to each number of `steps`.

    Ranks and their falls are nan where training left the finite numbers, at any step.

    Quantities
    ----------
    `outcomes`
        Of neither population.
    end
        The rank at the end, by population.
    peak
        The rank where it is highest since the warm-up's trough, its lowest until the first class is learned, by
        population.
    `falls.falls_by_window`
        By population and threshold.
    `falls.three_phases`
        By population and threshold.
    """
    sizes = trajectory.constants["counts"]
    failed = np.asarray(trajectory.undecided, dtype=bool)
    of_members = functools.partial(cells.member_rows, trajectory, failed)
    # failed members are set to where everything is defined, and masked
    ranks = {
        name: effective_rank(np.where(failed[:, None, None], 1.0, trajectory.series[name]))
        for name in ("examples", "classes")
    }
    for end in steps:
        until_end = trajectory.time <= end
        learned_or_diverged = outcomes(trajectory, until_end)
        yield cells.member_rows(trajectory, np.zeros_like(failed), learned_or_diverged, steps=end, population="")
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
    """Return which members have learned, and which have diverged, at the last of `records`, shape (members,) each.

    A training that has done neither is under way.

    Quantities
    ----------
    learned
        1 where at the end every example's own class has a probability above one half, that is, no example's loss
        reaches log 2, and where none had a probability below the least number of double precision on the way, 0
        elsewhere. Parameters that explode under large steps may end with no loss.
    diverged
        1 where the mean loss at the end is above log V, that of uniform predictions, from which small starts begin, or
        training left the finite numbers, then or later; 0 elsewhere.
    """
    loss = trajectory.series["loss"][:, records]
    mean, largest = np.moveaxis(loss[:, -1], -1, 0)
    # the largest loss of an example, at any record
    exploded = loss[..., 1].max(axis=1) > -np.log(np.finfo(float).tiny)
    failed = np.asarray(trajectory.undecided, dtype=bool)
    uniform = np.log(trajectory.constants["counts"].shape[1])
    return {
        cells.HAS_LEARNED: (~failed & ~exploded & (largest < -np.log(falls.LEARNED))).astype(float),
        "diverged": (failed | ~(mean <= uniform)).astype(float),
    }
