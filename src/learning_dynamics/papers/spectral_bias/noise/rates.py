"""Growth rates and statistics of the noise-driven process, read off tables, and the checks that claims make of them.

The process is dW = dB a^T, da = W^T dB in d dimensions, which tables call `inputs`. lambda_1 >= ... >= lambda_{d+1} are
the almost sure growth rates of the directions of W with a^T as a last row, (W, a); lambda_i, i <= d, is that of
sigma_i(W).
"""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import Estimate
from learning_dynamics.judging import NOT_CLAIMED, Check, Facts, at_least, at_most, equal, takes_rivals
from learning_dynamics.papers.spectral_bias.noise import quantities
from learning_dynamics.tidy import Quantity, Table, select


@dataclass(frozen=True)
class Rate:
    """The almost sure growth rate of something in dimension d, per unit of time.

    Attributes
    ----------
    name : str
        In words, as the page prints it.
    d : int
        The dimension d.
    measured : Estimate
        Along long paths, extrapolated to step zero, with its 95 % interval.
    derived : float
        By `theory.lyapunov_exponents`: lambda_1 + ... + lambda_p is (d - 1 - p) / 2 times the mean of y^2 / (1 + y^2)
        under the density y^{p-1} (1 + y^2)^{(d-p-1)/2} exp(-(d-1) y^2 / 2), p <= d (docs/noise_spectrum.md).
    extrapolated : float
        By how much the extrapolation to step zero changed a rate: the largest change over the rates of this dimension.
    """

    name: str
    d: int
    measured: Estimate
    derived: float
    extrapolated: float

    @property
    def tolerance(self) -> float:
        """How far the derived rate may be outside the interval of the measured one.

        Many rates are judged at once, so that the interval's half-width is allowed once more: four standard errors
        together. A tenth of `extrapolated`, which is of first order in the step, is allowed for the terms of next
        order. These are smaller by a factor of about the step times the fastest rate, 0.04 in the configuration; the
        tenth is chosen.
        """
        return self.measured.uncertainty + 0.1 * self.extrapolated


class Rates:
    """All growth rates of a table of `metrics.noise_exponents`, by what grows and the dimension."""

    def __init__(self, exponents: Table) -> None:
        self._rows = {
            (row.quantity, row.number, row.inputs): row
            for row in exponents.rename(columns={"index": "number"}).itertuples(index=False)
        }

    def dimensions(self, lowest: int = 2) -> list[int]:
        """Return the dimensions from `lowest` on that rates were measured in, ascending."""
        return sorted({d for _, _, d in self._rows if d >= lowest})

    def of_sigma(self, index: int, d: int) -> Rate:
        """Return lambda_i, the rate of the singular value sigma_i(W); the last, i = d + 1, is of no singular value."""
        return self._rate(rf"$\sigma_{index}(W)$", quantities.DIRECTION_RATE, index, d)

    def of_directions(self, d: int) -> list[Rate]:
        """Return the rates of all d + 1 directions of (W, a), descending."""
        return [self.of_sigma(index, d) for index in range(1, d + 2)]

    def of_commutators(self, d: int) -> Rate:
        """Return the rate of the commutators of W's rows with a, lambda_1 + lambda_2."""
        return self._rate("commutators", quantities.COMMUTATOR_RATE, 0, d)

    def of_ratio(self, d: int) -> Rate:
        """Return the rate of sigma_2(W) / sigma_1(W), lambda_2 - lambda_1.

        As W nears rank one relative to its size, its rows align with a, in probability: almost surely they do not,
        since a passes zero at arbitrarily late times, where the angle is right (docs/noise_spectrum.md).
        """
        return self._rate(r"$\sigma_2(W) / \sigma_1(W)$", quantities.RATIO_RATE, 0, d)

    def of_volume(self, d: int) -> Rate:
        """Return the rate of the volume of the first d - 1 directions, lambda_1 + ... + lambda_(d - 1)."""
        return self._rate("the volume of $d - 1$ columns", quantities.VOLUME_RATE, 0, d)

    def _rate(self, subject: str, quantity: Quantity, index: int, d: int) -> Rate:
        row = self._rows[quantity, index, d]
        difference = self._rows[quantities.DIFFERENCE_BETWEEN_STEPS, 0, d]
        return Rate(
            name=f"almost sure growth rate of {subject}, d = {d}",
            d=d,
            measured=Estimate(
                value=row.value, lower=row.lower, upper=row.upper, draws=row.paths, how="mean over paths (t)"
            ),
            derived=row.predicted,
            extrapolated=abs(difference.value),
        )


def below_zero(rates: list[Rate]) -> list[int]:
    """Return the dimensions in which the rate's interval is below zero."""
    return [rate.d for rate in rates if rate.measured.upper < 0]


def above_zero(rates: list[Rate]) -> list[int]:
    """Return the dimensions in which the rate's interval is above zero."""
    return [rate.d for rate in rates if rate.measured.lower > 0]


def grows(rate: Rate) -> Check:
    """Check that a rate is above zero: on almost every path the quantity grows, as exp(rate * t)."""
    return at_least(rate.name, rate.measured, 0.0, because="grows")


def decays(rate: Rate) -> Check:
    """Check that a rate is below zero: on almost every path the quantity decays, as exp(rate * t)."""
    return at_most(rate.name, rate.measured, 0.0, because="decays")


@takes_rivals("grows_or_decays")
def has_sign(rate: Rate, grows_or_decays: Callable[[Rate], Check]) -> Check:
    """Check the sign of a rate by one of the functions `grows` and `decays`.

    `printed`, `corrected` and `rivals`, which the decorator adds, are each one of these two functions, or NOT_CLAIMED.
    `printed=NOT_CLAIMED` says that the paper's sentence takes no part in the check, and `corrected=NOT_CLAIMED` that
    the correction takes none. A check with both is there for its rivals alone.
    """
    return grows_or_decays(rate)


def rises_as_corrected(rates: list[Rate], *, rival: str = "") -> Iterator[Check]:
    """Check that rates, given by ascending dimension, rise from each dimension to the next.

    The half-widths of both rates are added up for the interval of a difference. The correction alone claims the rise,
    and the paper's sentence takes no part. `rival` is the phrase of a rival that claims a fall: it is judged by the
    difference with the other sign.
    """
    for before, after in itertools.pairwise(rates):
        difference = _difference(before.measured, after.measured, "difference of means (t)")
        opposite = _difference(after.measured, before.measured, "difference of means (t)")
        yield at_least(
            f"{after.name}, less that for d = {before.d}",
            difference,
            0.0,
            because="rises with the dimension",
            printed=NOT_CLAIMED,
            rivals={rival: {"estimate": opposite}} if rival else None,
        )


def equals_derived(rate: Rate, **options: Any) -> Check:
    """Check that a measured rate is the derived one, by the formula in `Rate.derived` (docs/noise_spectrum.md).

    `options` are those of `equal`, `printed` and `rivals` among them.
    """
    return equal(
        rate.name,
        rate.measured,
        rate.derived,
        tolerance=rate.tolerance,
        resolution=0.1,  # chosen: what rivals of `proposition_4_1_b` and `noise_low_rank` are off by
        because="four standard errors, and the scheme's next order",
        **options,
    )


# -- statistics over paths -------------------------------------------------------------------------------------------


def statistic(table: Table, quantity: Quantity, name: str = quantities.MEAN, *, at: float) -> Estimate:
    """Return a statistic over paths at a recorded time.

    Raises
    ------
    ProjectError
        If nothing is recorded then: what it is compared with is known at that time alone.
    """
    row = _row_at(table, quantity, name, at)
    return Estimate(
        value=row["value"],
        lower=row["lower"],
        upper=row["upper"],
        draws=int(row["paths"]),
        how=f"{name} over paths",
    )


def predicted_mean(table: Table, quantity: Quantity, *, at: float) -> float:
    """Return the exact mean of a quantity at a recorded time, as `metrics.noise_process` predicts it."""
    return float(_row_at(table, quantity, quantities.MEAN, at)["predicted"])


def increase(table: Table, quantity: Quantity, early: float, late: float) -> Estimate:
    """Return by how much a mean over paths grows between two times, both intervals' half-widths added."""
    before, after = (statistic(table, quantity, at=time) for time in (early, late))
    return _difference(before, after, "difference of means (normal)")


def estimate_within(value: float, half_width: float, *, draws: int, how: str) -> Estimate:
    """Return an estimate whose interval reaches a half-width to each side of its value."""
    return Estimate(value=value, lower=value - half_width, upper=value + half_width, draws=draws, how=how)


def extra_half_widths(standard_errors: float) -> float:
    """Return by how many half-widths a number of standard errors exceeds a 95 % interval, of 1.96 to each side.

    Four standard errors are 2.04 half-widths. `equal` allows one by itself, so that its tolerance is the other 1.04.
    """
    return standard_errors / 1.96 - 1


def _row_at(table: Table, quantity: Quantity, name: str, time: float) -> pd.Series:
    """Return the row of a statistic at a recorded time; a `ProjectError` if nothing is recorded then."""
    rows = select(table, quantity, statistic=name)
    nearest = rows.loc[(rows["time"] - time).abs().idxmin()]
    # recorded times are sums of steps, equal to those asked for up to rounding
    if not np.isclose(nearest["time"], time, rtol=1e-9):
        raise ProjectError(
            f"`{quantity}`: nothing is recorded at time {time:g}; the nearest time is {nearest['time']:g}"
        )
    return nearest


def _difference(before: Estimate, after: Estimate, how: str) -> Estimate:
    """Return `after` less `before`, both intervals' half-widths added."""
    half_width = before.uncertainty + after.uncertainty
    return estimate_within(after.value - before.value, half_width, draws=after.draws, how=how)


def number_ranges(numbers: Iterable[int]) -> str:
    """Return whole numbers as a person would write them: ``2, 5 to 10``, or ``none``."""
    runs: list[list[int]] = []  # of consecutive numbers
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in runs]
    return ", ".join(texts) or "none"


def signs_in_words(rates: list[Rate], judged: Collection[int], *, separator: str) -> Facts:
    """Return the facts that a claim prints of the signs of rates in several dimensions.

    They are {falling} and {rising}, the dimensions in which the rate is below zero and above it with its whole
    interval; {open}, ``; open for 5 to 7`` after the separator ``; ``, or nothing if there are no others; {judged}, in
    which a sign is judged; and {between}, in which none is.
    """
    measured = {rate.d for rate in rates}
    falling, rising = below_zero(rates), above_zero(rates)
    undecided = measured - {*falling, *rising}
    return Facts(
        falling=number_ranges(falling),
        rising=number_ranges(rising),
        open=f"{separator}open for {number_ranges(undecided)}" if undecided else "",
        judged=number_ranges(judged),
        between=number_ranges(measured - {*judged}),
    )
