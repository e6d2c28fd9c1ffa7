"""What draws say of a quantity: estimates with intervals, shares, orders of convergence, optima over grids."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import scipy

from learning_dynamics.errors import CheckError

LEVEL = 0.95  # of intervals; chosen: as is usual
REPEATED = 1e-9  # relative difference below which two draws are one; chosen: nine digits do not agree by chance
# a size below which numbers are rounding errors; chosen: 4500 roundings of a number of order one in double precision
ROUNDING = 1e-12


@dataclass(frozen=True)
class Estimate:
    """A number estimated from draws, with its 95 % interval.

    Attributes
    ----------
    value, lower, upper : float
    draws : int
        Independent draws behind it.
    how : str
        What the value is of the draws, and how its interval was found: ``mean (t)``, ``median (order statistics)``.
    missing : int
        Draws among them that gave no number.
    """

    value: float
    lower: float
    upper: float
    draws: int
    how: str
    missing: int = 0

    @property
    def uncertainty(self) -> float:
        """The larger distance from the value to an end of the interval."""
        return float(max(self.value - self.lower, self.upper - self.value))

    def draws_to_decide(self, bound: float) -> int | None:
        """Return about how many draws it takes until the interval no longer contains the bound.

        Value and spread are taken to stay as they are. None where no number of draws would do: bound and value are
        equal up to rounding.
        """
        gap, end = abs(self.value - bound), self.lower if bound < self.value else self.upper
        half_width = abs(self.value - end)
        if not np.isfinite(gap) or not np.isfinite(half_width) or gap <= np.finfo(float).eps * half_width:
            return None
        return int(np.ceil(self.draws * (half_width / gap) ** 2))

    def __neg__(self) -> Estimate:
        return Estimate(-self.value, -self.upper, -self.lower, self.draws, self.how, self.missing)


def distinct(values: Sequence[float] | np.ndarray) -> int:
    """Return how many numbers differ, of one or several for each draw: those that agree to nine digits count once.

    Numbers of at most four digits (counts, ranks, a cosine of one) and rounding errors may agree by themselves: they
    count each, as does a draw without a number.

    Parameters
    ----------
    values : array_like, shape (draws, ...)
    """
    numbers = np.atleast_1d(np.asarray(values, dtype=float))
    numbers = numbers.reshape(len(numbers), numbers[0].size if len(numbers) else 0)
    rows = numbers[np.isfinite(numbers).all(axis=1)]
    sizes = np.maximum(np.abs(rows), ROUNDING)
    # times `digits`, a number has four digits before its point: one of at most four digits is then whole
    digits = 10.0 ** (3 - np.floor(np.log10(sizes)))
    is_distinctive = (np.abs(rows * digits - np.round(rows * digits)) > REPEATED * sizes * digits) & (sizes > ROUNDING)
    rows = rows[is_distinctive.any(axis=1)]
    # one number for each draw, a weighted sum of its entries: neighbours in the order of these sums count as different
    # if they differ by more than REPEATED of the weighted sum of absolute entries of the later one
    weights = np.sqrt(np.arange(2, 2 + numbers.shape[1]))
    sums, sizes = rows @ weights, np.abs(rows) @ weights
    order = np.argsort(sums)
    return len(numbers) - int((np.diff(sums[order]) <= REPEATED * sizes[order][1:]).sum())


def _with_repeats(method: str, values: np.ndarray) -> str:
    n_distinct = distinct(values)
    return method if n_distinct == len(values) else f"{method}; {n_distinct} of the {len(values)} numbers differ"


def _one_per_draw(values: Sequence[float] | np.ndarray) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1:
        raise CheckError(f"an average over draws takes one number for each draw (has shape {array.shape})")
    return array


def mean(values: Sequence[float] | np.ndarray) -> Estimate:
    """Mean over draws, interval by Student's t; of fewer than two draws, or with one not finite, it is infinite."""
    values = _one_per_draw(values)
    if len(values) < 2 or not np.isfinite(values).all():
        value = float(values.mean()) if len(values) else np.nan
        missing = int((~np.isfinite(values)).sum())
        return Estimate(value, -np.inf, np.inf, len(values), "mean (t)", missing)
    half = _student(len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return Estimate(
        float(values.mean()),
        float(values.mean() - half),
        float(values.mean() + half),
        len(values),
        _with_repeats("mean (t)", values),
    )


def median(values: Sequence[float] | np.ndarray) -> Estimate:
    """Median over draws, interval by order statistics; infinite where there are too few draws for the level.

    A draw that is nan has no place in the order: the median is nan then, and its interval infinite.
    """
    ordered = np.sort(_one_per_draw(values))
    count = len(ordered)
    missing = int(np.isnan(ordered).sum())
    if missing:
        return Estimate(np.nan, -np.inf, np.inf, count, "median (order statistics)", missing)
    rank = _rank_beside_median(count)
    lower, upper = (ordered[rank - 1], ordered[count - rank]) if rank else (-np.inf, np.inf)
    value = float(np.median(ordered)) if count else np.nan
    how = _with_repeats("median (order statistics)", ordered)
    return Estimate(value, float(lower), float(upper), count, how)


@functools.cache
def _rank_beside_median(count: int) -> int:
    """Return r: the r-th smallest and largest enclose the median with 1 - 2 P(Bin(n, 1/2) < r); 0 where none do."""
    rank = int(scipy.stats.binom.ppf((1 - LEVEL) / 2, count, 0.5)) if count else 0
    while rank > 0 and 2 * scipy.stats.binom.cdf(rank - 1, count, 0.5) > 1 - LEVEL:
        rank -= 1
    return rank


@functools.cache
def _student(degrees: int) -> float:
    """Return how many standard errors an interval extends to each side of a mean, by Student's t."""
    return float(scipy.stats.t.ppf((1 + LEVEL) / 2, degrees))


def share(successes: int, trials: int) -> Estimate:
    """Share of draws, interval by Wilson's score."""
    if not trials:
        return Estimate(np.nan, 0.0, 1.0, 0, "share (Wilson)")
    interval = scipy.stats.binomtest(int(successes), int(trials)).proportion_ci(LEVEL, method="wilson")
    return Estimate(successes / trials, float(interval.low), float(interval.high), int(trials), "share (Wilson)")


def difference(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray) -> Estimate:
    """Mean of the differences of paired draws, interval by Student's t."""
    return mean(np.asarray(first, dtype=float) - np.asarray(second, dtype=float))


def slope(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> Estimate:
    """Least-squares slope of y against x, interval by Student's t of the residuals; of logarithms it is an order."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(x) < 3:
        value = float((y[-1] - y[0]) / (x[-1] - x[0])) if len(x) == 2 else np.nan
        return Estimate(value, -np.inf, np.inf, len(x), "slope (t)")
    fit = scipy.stats.linregress(x, y)
    half = _student(len(x) - 2) * fit.stderr
    return Estimate(float(fit.slope), float(fit.slope - half), float(fit.slope + half), len(x), "slope (t)")


@dataclass(frozen=True)
class Optimum:
    """The best of several settings: which were tried, which was best, and whether it is at an end of the grid."""

    grid: tuple[float, ...]
    at: float
    value: float
    at_edge: bool = field(default=False)

    def __str__(self) -> str:
        return f"{self.in_words} at {self.at:.3g}{', at its edge' if self.at_edge else ''}"

    @property
    def in_words(self) -> str:
        """Of how many settings it is the best, without its place."""
        return f"best of {len(self.grid)} values from {min(self.grid):.3g} to {max(self.grid):.3g}"


def optimum(
    grid: Sequence[float] | np.ndarray,
    values: Sequence[float] | np.ndarray,
    best: Literal["least", "greatest"] = "least",
) -> Optimum:
    """Choose the best setting of a grid, and say where on the grid it lies.

    Values that are not finite (a diverging learning rate) are never best, and bound the grid on their side: an
    optimum beside one of them is not at an edge. A best value that an end of the grid shares is at its edge.

    Raises
    ------
    ValueError
        If there are no settings, or not one value for each.
    """
    if len(grid) == 0 or len(grid) != len(values):
        raise ValueError(f"no settings to choose from, or not one value for each: {len(grid)} and {len(values)}")
    grid, values = np.asarray(grid, dtype=float), np.asarray(values, dtype=float)
    order = np.argsort(grid)
    grid, values = grid[order], values[order]
    score = np.where(np.isfinite(values), values if best == "least" else -values, np.inf)
    best_index = int(np.argmin(score))
    at_edge = score[best_index] in (score[0], score[-1])
    return Optimum(tuple(grid), float(grid[best_index]), float(values[best_index]), bool(at_edge))
