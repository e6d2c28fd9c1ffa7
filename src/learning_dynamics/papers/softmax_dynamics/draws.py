"""What claims and figures read of a grid: values by member, shapes of the rank's course, differences of shares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from learning_dynamics.evidence import LEVEL, Estimate
from learning_dynamics.tidy import Quantity, Table, remembered, select

START, FIRST, RARE_BEGIN, RARE_LEARNED, END = 1, 2, 3, 4, 5  # places of phases.metrics.MOMENTS
# what claims say alike of scope, of criteria, and of draws that they leave out
TREATED = "skewed classes of 8 examples, V = 4, d = 2, cross-entropy, gradient flow from four scales"
MORE = "more often than not"
NOT_UNIFORM = "starts of larger scale, whose predictions are not near uniform"


@remembered
def values(
    table: Table, quantity: Quantity, index: int | None = 0, measure: str = "", threshold: float = 0.0, **where: Any
):
    """Return a quantity by member, in the grid's order; with ``index=None`` a row for each member.

    Returns
    -------
    ndarray, shape (members,) or (members, entries)
    """
    chosen = select(table, quantity, measure=measure, **where)
    chosen = chosen[np.isclose(chosen["threshold"], threshold)]
    if index is not None:
        return select(chosen, index=index)["value"].to_numpy()
    return chosen["value"].to_numpy().reshape(-1, chosen["index"].nunique())


def learning_times(table: Table, **where: Any) -> np.ndarray:
    """Return when each class is learned, shape (members, classes): infinite if never, nan where the flow failed."""
    times, final = values(table, "learned", None, **where), values(table, "final", None, **where)
    return np.where(np.isnan(times) & ~np.isnan(final), np.inf, times)


def members(table: Table, **where: Any) -> pd.DataFrame:
    """Return counts, init, scale and seed of the members in the order of `values`."""
    return select(table, "sigma_1", index=1, **where)[["counts", "init", "scale", "seed"]].reset_index(drop=True)


def shapes(table: Table, measure: str, threshold: float, **where: Any) -> np.ndarray:
    """Return each member's course of the rank: F a fall, R a rise, in their order, at most four; None if it failed."""
    swings = values(table, "swing", None, measure, threshold, **where)
    words = ["".join("F" if swing < 0 else "R" for swing in row if swing) for row in swings]
    return np.array([None if np.isnan(row).any() else word for word, row in zip(words, swings, strict=True)], object)


def monotone(table: Table, measure: str, threshold: float, **where: Any) -> np.ndarray:
    """Return of which members nothing falls after a rise once the warm-up has reached its trough; nan fails.

    What the rank does before that is the warm-up itself: a rise from a random start and a fall belong to it.
    """
    return values(table, "fall", 0, measure, threshold, **where) < threshold


def first_two(course: Table, quantity: Quantity) -> pd.DataFrame:
    """Return a quantity's first two entries along a course, by seed and time: a column for each."""
    rows = select(course, quantity, index=[1, 2])
    return rows.pivot_table(index=["seed", "time"], columns="index", values="value")


def share_difference(first: np.ndarray, second: np.ndarray) -> Estimate:
    """Return the difference of two independent shares, with Newcombe's interval from Wilson's."""
    found = [(np.mean(part), stats.binomtest(int(np.sum(part)), len(part))) for part in (first, second)]
    (p, one), (q, two) = ((share, test.proportion_ci(LEVEL, method="wilson")) for share, test in found)
    lower = p - q - np.hypot(p - one.low, two.high - q)
    upper = p - q + np.hypot(one.high - p, q - two.low)
    return Estimate(
        float(p - q), float(lower), float(upper), len(first) + len(second), "difference of shares (Newcombe)"
    )


def fallen(region: Table, quantity: Quantity, population: str, threshold: float) -> pd.DataFrame:
    """Return the rows of a quantity and a threshold, with whether as much as the threshold falls in `fallen`."""
    rows = select(region, quantity, population=population)
    rows = rows[np.isclose(rows["threshold"], threshold)]
    return rows.assign(fallen=rows["value"] >= threshold)


def times_by_scale(flows: Sequence[Table]) -> pd.DataFrame:
    """Return when classes are learned, a row for each cell, draw and class, a column for each scale, smallest first."""
    rows = pd.concat(flows).set_index(["counts", "dimension", "seed", "index", "scale"])["value"]
    return rows.unstack("scale")  # noqa: PD010 - a series


def slopes_by_scale(times: pd.DataFrame) -> pd.DataFrame:
    """Return slopes of such times on log(1 / scale) between the two smallest scales, a column for each class."""
    smallest, larger = times.columns[:2]
    return ((times[smallest] - times[larger]) / np.log(larger / smallest)).unstack("index")  # noqa: PD010 - a series


def sizes_of(counts: str) -> list[int]:
    """Return the class sizes that a cell's name joins by dashes."""
    return [int(size) for size in counts.split("-")]


def ratio(counts: str) -> float:
    """Return the size of the largest class over that of the smallest."""
    sizes = sizes_of(counts)
    return max(sizes) / min(sizes)
