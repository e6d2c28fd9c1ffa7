"""Readings of a grid for claims and figures: values by member, shapes of the rank's course, differences of shares."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from learning_dynamics.evidence import LEVEL, Estimate, share
from learning_dynamics.judging import Check, Checks, share_of_draws, takes_rivals
from learning_dynamics.tidy import Quantity, Table, remembered, select

START, FIRST, RARE_BEGIN, RARE_LEARNED, END = 1, 2, 3, 4, 5  # places of phases.metrics.MOMENTS
# texts that several claims share: a scope, a criterion, a reason to leave draws out
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
    rows = select(table, quantity, measure=measure, threshold=threshold, **where)
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


def scales(table: Table, **where: Any) -> np.ndarray:
    """Return the scale at which each member starts, in the order of `values`."""
    return members(table, **where)["scale"].to_numpy()


def class_sizes(table: Table, **where: Any) -> np.ndarray:
    """Return each member's class sizes, shape (members, classes), in the order of `values`."""
    return np.array(list(map(sizes_of, members(table, **where)["counts"])))


def pairs_in_order(times: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return each member's share of pairs of classes of different size of which the larger is learned first.

    Parameters
    ----------
    times, sizes : ndarray, shape (members, classes)
        Pairs that are never learned, at infinite times, are not in order; a member with a time of nan is nan.
    """
    larger = sizes[:, :, None] > sizes[:, None, :]
    earlier = times[:, :, None] < times[:, None, :]
    shares = (larger & earlier).sum(axis=(1, 2)) / larger.sum(axis=(1, 2))
    return np.where(np.isnan(times).any(axis=1), np.nan, shares)


def shapes(table: Table, measure: str, threshold: float, **where: Any) -> pd.Series:
    """Return each member's course of the rank: F a fall, R a rise, in order, at most four; missing if it failed."""
    swings = values(table, "swing", None, measure, threshold, **where)
    courses = ["".join("F" if swing < 0 else "R" for swing in row if swing) for row in swings]
    return pd.Series(courses, dtype=object).mask(np.isnan(swings).any(axis=1))


def monotone(table: Table, measure: str, threshold: float, **where: Any) -> np.ndarray:
    """Return which members' rank never falls after a rise, counted from the warm-up's trough; False for nan.

    A rise from a random start and a fall before the trough belong to the warm-up.
    """
    return values(table, "fall", 0, measure, threshold, **where) < threshold


def first_two(course: Table, quantity: Quantity) -> pd.DataFrame:
    """Return a quantity's first two entries along a course, by seed and time: a column for each."""
    rows = select(course, quantity, index=[1, 2])
    return rows.pivot_table(index=["seed", "time"], columns="index", values="value")


def share_of(holds: Any) -> Estimate:
    """Return the share of draws of which something is true, with Wilson's interval."""
    return share(np.sum(holds), len(holds))


def share_difference(first: np.ndarray, second: np.ndarray) -> Estimate:
    """Return the difference of two independent shares, with Newcombe's interval from Wilson's."""
    tests = [(np.mean(part), stats.binomtest(int(np.sum(part)), len(part))) for part in (first, second)]
    (p, first_interval), (q, second_interval) = (
        (proportion, test.proportion_ci(LEVEL, method="wilson")) for proportion, test in tests
    )
    lower = p - q - np.hypot(p - first_interval.low, second_interval.high - q)
    upper = p - q + np.hypot(first_interval.high - p, q - second_interval.low)
    return Estimate(
        float(p - q), float(lower), float(upper), len(first) + len(second), "difference of shares (Newcombe)"
    )


def fall_rows(region: Table, quantity: Quantity, population: str, threshold: float) -> pd.DataFrame:
    """Return the rows of a quantity at a threshold.

    Added columns: fallen, whether the fall reaches the threshold, and ratio, the largest class over the smallest.
    """
    rows = select(region, quantity, population=population, threshold=threshold)
    return rows.assign(fallen=rows["value"] >= threshold, ratio=rows["counts"].map(ratio))


def narrowest(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the fewest dimensions."""
    return rows[rows["dimension"] == rows["dimension"].min()]


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
    name: str, holds: np.ndarray, undecided: np.ndarray, typical: float, excluded: Mapping[str, int] | None = None
) -> Check:
    """Check that something is true of a `typical` share of the draws, or more."""
    return share_of_draws(name, holds, at_least=typical, undecided=undecided, because=MORE, excluded=excluded)


def most_small_starts(
    name: str,
    holds: np.ndarray,
    undecided: np.ndarray,
    typical: float,
    scale: np.ndarray,
    small: float,
    rivals: Mapping[str, np.ndarray],
    reason: str = NOT_UNIFORM,
) -> Checks:
    """Check the same of the draws that start at scales up to `small`, then of those of each such scale."""
    chosen = scale <= small

    def check(name: str, at: np.ndarray, excluded: Mapping[str, int] | None = None) -> Check:
        others = {phrase: other[at] for phrase, other in rivals.items()}
        return most_draws(name, holds[at], undecided[at], typical, excluded, rivals=others)

    yield check(name, chosen, {reason: int((~chosen).sum())})
    for start in np.unique(scale[chosen]):
        yield check(f"of those that start at scale {start:g}", scale == start)
