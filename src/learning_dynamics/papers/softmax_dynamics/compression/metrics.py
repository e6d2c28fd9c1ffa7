"""Falls of the effective rank over the maps.

Series, with zeros behind a member's own number of dimensions d and of classes V:

- `gram`, (members, records, d, d): f^T f, where f has a row of features for each example
- `sums`, (members, records, V, d): the sum of the rows of f over each class's examples
- `probabilities`, (members, records, V): for each class the mean, over its examples, of the probability that an
  example's own class gets

Constants: `counts`, (members, V), the class sizes, with zeros behind a member's own V; `variant` and `amount`, what is
changed in plain gradient descent and to what, `dimension` and `scale`, (members,). Members are draws, cell by cell; a
cell is one combination of the constants. Times are numbers of steps: 0, then evenly spaced in the logarithm. A place is
an index of a record, and a window a pair of places, the first and the last, (members,) each. A rank's measure is its
name in the column `measure`, and a threshold is the least change of the rank that counts as a fall or a rise.
"""

import functools
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import effective_rank
from learning_dynamics.papers.softmax_dynamics import cells, falls
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import QUANTITY, Column, Tables, columns
from learning_dynamics.trajectories import Trajectory

MAP = (
    Column("variant", "str", "what is changed: gradient descent (nothing), learning rate, momentum, ...", draw=True),
    Column("amount", "float", "to what", draw=True),
    cells.COUNTS,
    cells.CLASSES,
    cells.SKEWED,
    cells.DIMENSION,
    cells.SCALE,
    cells.MEMBER,
    Column("measure", "str", "rankme_centred or rankme, over examples, and with class_ before, over means of classes"),
    cells.THRESHOLD,
    QUANTITY,
    Column("value", "float", "measured; empty where training diverged", nullable=True),
)


@columns(*MAP)
def descent_map(trajectory: Trajectory, *, thresholds: list[Positive], lower: Fraction, upper: Fraction) -> Tables:
    """Measure what is learned, and by how much the rank falls meanwhile, in each member of a map.

    All quantities are measured for each rank in the column ``measure``, falls for each threshold as well.

    Quantities
    ----------
    net
        Change of the rank while the rarest classes are learned: from where the probability of the first of them passes
        `lower` to where those of all have passed `upper`. nan where training diverged.
    learned
        1 where at the end the probability of every class, the mean over its examples, is above `upper`, 0 elsewhere;
        nan where training diverged. It is the same for every rank.
    `falls.falls_by_window`
        By rank and threshold.
    fall_before, fall_after
        Depth of the deepest part of such a fall (see ``fall``) in a window just before, and just after, the window of
        ``fall_rare``. Each has as many records as that window, or fewer where the training begins or ends.
    """
    sizes = trajectory.constants["counts"]
    classes = (sizes > 0).sum(axis=1)
    # numbers of examples, shape (members, 1, 1, 1), for records, d and d
    examples = sizes.sum(axis=1)[:, None, None, None]
    failed = np.asarray(trajectory.undecided, dtype=bool)
    mask = failed[:, None, None]  # shape (members, 1, 1); of the failed members
    # a member that failed gets matrices whose eigenvalues are defined; `member_rows` makes its rows nan
    gram = np.where(mask[..., None], np.eye(trajectory.series["gram"].shape[-1]), trajectory.series["gram"])
    sums = np.where(mask[..., None], 0.0, trajectory.series["sums"])
    total = sums.sum(axis=2)  # shape (members, records, d), as `centre`
    # shape (members, records, V, d); zero for the classes that only pad the array, whose size counts as one here
    means = sums / np.maximum(sizes, 1)[:, None, :, None]
    # Sums over classes: `second` of m m^T for the mean m of a class, (members, records, d, d), `centre` of m, (members,
    # records, d). `centre` over the number of classes is the mean.
    second, centre = np.swapaxes(means, -1, -2) @ means, means.sum(axis=2)
    probabilities = np.where(mask, 0.0, trajectory.series["probabilities"])
    # Covariances times the number of rows, examples or classes: the rank does not depend on a factor. Those about the
    # mean are the sum of products less t t^T / n, with the sum t of n rows.
    covariances = {
        "rankme_centred": gram - total[..., :, None] * total[..., None, :] / examples,
        "rankme": gram,
        "class_rankme_centred": second - centre[..., :, None] * centre[..., None, :] / classes[:, None, None, None],
        "class_rankme": second,
    }
    of_members = functools.partial(cells.member_rows, trajectory, failed=failed)
    windows = falls.windows(probabilities, sizes, lower, upper)
    learned = ((probabilities[:, -1] > upper) | (sizes == 0)).all(axis=1)
    for measure, covariance in covariances.items():
        # of failed members the sums are zero above, and so are covariances of class means, which then have no rank
        covariance = np.where(failed[:, None, None, None], np.eye(covariance.shape[-1]), covariance)
        series = effective_rank(np.clip(np.linalg.eigvalsh(covariance), 0.0, None))
        quantities: dict[str, Any] = {falls.NET: falls.net_change(series, windows.rare), cells.HAS_LEARNED: learned}
        yield of_members(quantities, measure=measure)
        trough = falls.troughs(series, windows.learning[0])
        for threshold in thresholds:
            quantities = falls.falls_by_window(series, threshold, windows) | {
                name: falls.falls_within(series, threshold, window, trough)
                for name, window in _adjacent_windows(windows.rare, series.shape[1] - 1).items()
            }
            yield of_members(quantities, measure=measure, threshold=threshold)


@columns(*MAP)
def variants_map(
    trajectory: Trajectory, *, thresholds: list[Positive], lower: Fraction, upper: Fraction
) -> pd.DataFrame:
    """Measure each training of `runs.variants_map` as `descent_map` does.

    Quantities
    ----------
    `descent_map`
        All of them.
    """
    return descent_map(trajectory, thresholds=thresholds, lower=lower, upper=upper)


@columns(*MAP)
def adamw_map(trajectory: Trajectory, *, thresholds: list[Positive], lower: Fraction, upper: Fraction) -> pd.DataFrame:
    """Measure each training of `runs.adamw_map` as `descent_map` does.

    Quantities
    ----------
    `descent_map`
        All of them.
    """
    return descent_map(trajectory, thresholds=thresholds, lower=lower, upper=upper)


def _adjacent_windows(window: tuple[np.ndarray, np.ndarray], last: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the windows of equal length just before and just after a window, by the quantity of the fall in each.

    A window is a pair of places, its first and its last, (members,) each; neighbours share a place. A window that would
    go beyond the series, whose last place is `last`, is cut.
    """
    begin, end = window
    length = end - begin
    return {
        "fall_before": (np.maximum(begin - length, 0), begin),
        "fall_after": (end, np.minimum(end + length, last)),
    }
