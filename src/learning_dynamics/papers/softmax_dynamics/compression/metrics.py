"""Falls of the effective rank over the maps.

Shapes: `gram` (members, records, d, d), f^T f; `sums` (members, records, V, d), of f over the examples of each class;
`probabilities` (members, records, V); all with zeros behind a member's own d and V. `counts` (members, V), class sizes,
has zeros there too; `variant`, `amount`, `dimension` and `scale` (members,). Times count steps, and are evenly spaced
in the logarithm after the first, 0; windows are pairs of places among records, (members,) each.
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

    Quantities are by measure of the rank, and falls by threshold as well.

    Quantities
    ----------
    net
        Change of the rank while the rarest classes are learned, from `lower` to `upper`; nan where training diverged.
    learned
        1 where the mean probability of every class, over its own examples, is above `upper` at the end, 0 elsewhere;
        nan where training diverged.
    `falls.falls_by_window`
        By threshold.
    fall_before, fall_after
        Deepest part of such a fall (see ``fall``) just before, and just after, the time of ``fall_rare``: in as many
        records as that has, as far as the course goes.
    """
    sizes = trajectory.constants["counts"]
    classes = (sizes > 0).sum(axis=1)
    # number of examples, with axes of length one for records, d and d
    examples = sizes.sum(axis=1)[:, None, None, None]
    failed = np.asarray(trajectory.undecided, dtype=bool)
    mask = failed[:, None, None]
    # a member that failed gets matrices whose eigenvalues are defined; its rows become nan in `member_rows`
    gram = np.where(mask[..., None], np.eye(trajectory.series["gram"].shape[-1]), trajectory.series["gram"])
    sums = np.where(mask[..., None], 0.0, trajectory.series["sums"])
    total = sums.sum(axis=2)  # shape (members, records, d), as `centre`
    # shape (members, records, V, d); of classes that only pad the array zero
    means = sums / np.maximum(sizes, 1)[:, None, :, None]
    # sums over classes: of the means' products, shape (members, records, d, d), and of the means
    second, centre = np.swapaxes(means, -1, -2) @ means, means.sum(axis=2)
    probabilities = np.where(mask, 0.0, trajectory.series["probabilities"])
    # covariances up to a factor, on which the rank does not depend
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
    """Measure each member as `descent_map` does.

    Quantities
    ----------
    `descent_map`
        All of them.
    """
    return descent_map(trajectory, thresholds=thresholds, lower=lower, upper=upper)


@columns(*MAP)
def adamw_map(trajectory: Trajectory, *, thresholds: list[Positive], lower: Fraction, upper: Fraction) -> pd.DataFrame:
    """Measure each member as `descent_map` does.

    Quantities
    ----------
    `descent_map`
        All of them.
    """
    return descent_map(trajectory, thresholds=thresholds, lower=lower, upper=upper)


def _adjacent_windows(window: tuple[np.ndarray, np.ndarray], last: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the windows of equal length just before and just after a window, by the quantity of the fall in each.

    Where the series, whose last place is `last`, begins or ends, they are shorter.
    """
    begin, end = window
    length = end - begin
    return {
        "fall_before": (np.maximum(begin - length, 0), begin),
        "fall_after": (end, np.minimum(end + length, last)),
    }
