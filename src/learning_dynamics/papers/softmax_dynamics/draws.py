"""Readings of a grid for claims and figures: values by member, shapes of the rank's course, differences of shares."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from learning_dynamics.evidence import LEVEL, Estimate
from learning_dynamics.judging import Check, Checks, share_of_draws, takes_rivals
from learning_dynamics.tidy import Quantity, Table, remembered, select

START, FIRST, RARE_BEGIN, RARE_LEARNED, END = 1, 2, 3, 4, 5  # places of phases.metrics.MOMENTS
# texts that several claims share: a scope, a criterion, a reason to leave draws out
TREATED = "skewed classes of 8 examples, V = 4, d = 2, cross-entropy, gradient flow from four scales"
MORE = "more often than not"
NOT_UNIFORM = "starts of larger scale, whose predictions are not near uniform"


def at_threshold(table: Table, quantity: Quantity, threshold: float, **where: Any) -> pd.DataFrame:
    """Return the rows of a quantity at a threshold, 0 for what needs none."""
    rows = select(table, quantity, **where)
    return rows[np.isclose(rows["threshold"], threshold)]


@remembered
def values(
    table: Table, quantity: Quantity, index: int | None = 0, measure: str = "", threshold: float = 0.0, **where: Any
):
    """Return a quantity by member, in the grid's order; with ``index=None`` a row for each member.

    Returns
    -------
    ndarray, shape (members,) or (members, entries)
    """
    rows = at_threshold(table, quantity, threshold, measure=measure, **where)
    if index is not None:
        return select(rows, index=index)["value"].to_numpy()
    return rows["value"].to_numpy().reshape(-1, rows["index"].nunique())


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
    courses = ["".join("F" if swing < 0 else "R" for swing in row if swing) for row in swings]
    return np.array(
        [None if np.isnan(row).any() else course for course, row in zip(courses, swings, strict=True)], object
    )


def monotone(table: Table, measure: str, threshold: float, **where: Any) -> np.ndarray:
    """Return which members' rank never falls after a rise, counted from the warm-up's trough; False for nan.

    A rise from a random start and a fall before the trough belong to the warm-up.
    """
    return values(table, "fall", 0, measure, threshold, **where) < threshold


def first_two(course: Table, quantity: Quantity) -> pd.DataFrame:
    """Return a quantity's first two entries along a course, by seed and time: a column for each."""
    rows = select(course, quantity, index=[1, 2])
    return rows.pivot_table(index=["seed", "time"], columns="index", values="value")


def share_difference(first: np.ndarray, second: np.ndarray) -> Estimate:
    """Return the difference of two independent shares, with Newcombe's interval from Wilson's."""
    tests = [(np.mean(part), stats.binomtest(int(np.sum(part)), len(part))) for part in (first, second)]
    (p, first_interval), (q, second_interval) = (
        (share, test.proportion_ci(LEVEL, method="wilson")) for share, test in tests
    )
    lower = p - q - np.hypot(p - first_interval.low, second_interval.high - q)
    upper = p - q + np.hypot(first_interval.high - p, q - second_interval.low)
    return Estimate(
        float(p - q), float(lower), float(upper), len(first) + len(second), "difference of shares (Newcombe)"
    )


def fall_rows(region: Table, quantity: Quantity, population: str, threshold: float) -> pd.DataFrame:
    """Return the rows of a quantity at a threshold; column `fallen` says whether the fall reaches the threshold."""
    rows = at_threshold(region, quantity, threshold, population=population)
    return rows.assign(fallen=rows["value"] >= threshold)


def times_by_scale(flows: Sequence[Table]) -> pd.DataFrame:
    """Return when classes are learned, a row for each cell, draw and class, a column for each scale, smallest first."""
    rows = pd.concat(flows).set_index(["counts", "dimension", "seed", "index", "scale"])["value"]
    return rows.unstack("scale")  # noqa: PD010 - a series


def slopes_by_scale(times: pd.DataFrame) -> pd.DataFrame:
    """Return slopes of learning times on log(1 / scale) between the two smallest scales, a column for each class."""
    smallest, larger = times.columns[:2]
    return ((times[smallest] - times[larger]) / np.log(larger / smallest)).unstack("index")  # noqa: PD010 - a series


def sizes_of(counts: str) -> list[int]:
    """Return the class sizes that a cell's name joins by dashes."""
    return [int(size) for size in counts.split("-")]


def ratio(counts: str) -> float:
    """Return the size of the largest class over that of the smallest."""
    sizes = sizes_of(counts)
    return max(sizes) / min(sizes)


@takes_rivals("holds")
def most_draws(
    name: str, holds: np.ndarray, undecided: np.ndarray, typical: float, left_out: Mapping[str, int] | None = None
) -> Check:
    """Check that something is true of a `typical` share of the draws, or more."""
    return share_of_draws(name, holds, at_least=typical, undecided=undecided, because=MORE, left_out=left_out)


def most_small_starts(
    name: str,
    holds: np.ndarray,
    undecided: np.ndarray,
    typical: float,
    scale: np.ndarray,
    small: float,
    reason: str = NOT_UNIFORM,
) -> Checks:
    """Check the same of the draws that start at scales up to `small`, then of those of each such scale."""
    chosen = scale <= small
    yield most_draws(name, holds[chosen], undecided[chosen], typical, {reason: int((~chosen).sum())})
    for start in np.unique(scale[chosen]):
        at = scale == start
        yield most_draws(f"of those that start at scale {start:g}", holds[at], undecided[at], typical)


def by_scale(numbers: np.ndarray, scale: np.ndarray, statistic: Callable = np.mean) -> dict[float, float]:
    """Return a statistic of the draws that start at each scale."""
    return {float(start): float(statistic(numbers[scale == start])) for start in np.unique(scale)}
