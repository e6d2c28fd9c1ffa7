"""Growth rates and statistics of the noise-driven process, with the names and checks that claims use."""

import itertools
from collections.abc import Mapping

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.evidence import Estimate
from learning_dynamics.judging import Check, at_least, at_most, equal
from learning_dynamics.tidy import Quantity, Table, select

# by quantity, index and dimension: a growth rate with its interval, and its prediction
Rates = Mapping[tuple[Quantity, int, int], tuple[Estimate, float]]


def rates_of(exponents: Table) -> Rates:
    """Return all growth rates of a table."""
    return {
        (row.quantity, row.number, row.inputs): (
            Estimate(row.value, row.lower, row.upper, row.paths, "mean over paths (t)"),
            row.predicted,
        )
        for row in exponents.rename(columns={"index": "number"}).itertuples(index=False)
    }


def dimensions_of(rates: Rates, least: int = 2) -> list[int]:
    """Return the dimensions from `least` on that rates were measured in, ascending."""
    return sorted({inputs for _, _, inputs in rates if inputs >= least})


def within(value: float, half_width: float, draws: int, how: str) -> Estimate:
    """Return an estimate by its value and the half-width of its interval."""
    return Estimate(value, value - half_width, value + half_width, draws, how)


def signs_of(rates: Rates, index: int, quantity: Quantity = "exponent") -> tuple[list[int], list[int]]:
    """Return the dimensions above one in which a rate's interval lies below zero, and those in which it lies above."""
    estimates = {inputs: rates[quantity, index, inputs][0] for inputs in dimensions_of(rates)}
    lows = [inputs for inputs, estimate in estimates.items() if estimate.upper < 0]
    return lows, [inputs for inputs, estimate in estimates.items() if estimate.lower > 0]


def _rate_name(quantity: Quantity, index: int, inputs: int) -> str:
    names = {
        "commutator": "commutators",
        "angle": "the angle between rows and $a$",
        "volume": "the volume of $d - 1$ columns",
    }
    subject = names.get(quantity, rf"$\sigma_{index}(W)$")
    return f"almost sure growth rate of {subject}, d = {inputs}"


def sign_of(rates: Rates, quantity: Quantity, index: int, inputs: int, sign: int) -> Check:
    """Check that a rate lies above zero, or below."""
    estimate, _ = rates[quantity, index, inputs]
    compare = at_least if sign > 0 else at_most
    return compare(_rate_name(quantity, index, inputs), estimate, 0.0, because="grows" if sign > 0 else "decays")


def rises(rates: Rates, quantity: Quantity, index: int, inputs: list[int]) -> list[Check]:
    """Check that a rate rises from each of these dimensions to the next, the intervals' widths added."""
    checks = []
    for lower, higher in itertools.pairwise(inputs):
        before, after = (rates[quantity, index, dimension][0] for dimension in (lower, higher))
        difference = _difference(before, after, "difference of means (t)")
        name = f"{_rate_name(quantity, index, higher)}, less that for d = {lower}"
        checks.append(at_least(name, difference, 0.0, because="rises with the dimension"))
    return checks


def _difference(before: Estimate, after: Estimate, how: str) -> Estimate:
    """Return what an estimate exceeds another by, the intervals' widths added."""
    return within(after.value - before.value, before.uncertainty + after.uncertainty, after.draws, how)


def as_derived(
    rates: Rates, quantity: Quantity, index: int, inputs: int, rivals: Mapping[str, float] | None = None
) -> Check:
    """Check that a rate is the one that was derived."""
    estimate, predicted = rates[quantity, index, inputs]
    # twice the 95 % half-width, for many dimensions are judged at once; and a tenth of what extrapolation took away
    return equal(
        _rate_name(quantity, index, inputs),
        estimate,
        predicted,
        tolerance=estimate.uncertainty + 0.1 * _scheme(rates, inputs),
        resolution=0.1,
        because="four standard errors, and the scheme's next order",
        rivals=rivals,
    )


def _scheme(rates: Rates, inputs: int) -> float:
    return abs(rates["scheme", 0, inputs][0].value)


def errors_of(rates: Rates, inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Return all d + 1 rates of a dimension, and the errors that `as_derived` allows them, shapes (d + 1,)."""
    estimates = [rates["exponent", index, inputs][0] for index in range(1, inputs + 2)]
    values = np.array([estimate.value for estimate in estimates])
    return values, np.array([2 * estimate.uncertainty + 0.1 * _scheme(rates, inputs) for estimate in estimates])


def statistic(table: Table, quantity: Quantity, name: str, at: float) -> Estimate:
    """Return an ensemble statistic at a recorded time.

    Raises
    ------
    ProjectError
        If nothing is recorded then: what it is compared with is known at that time alone.
    """
    rows = select(table, quantity, statistic=name)
    row = rows.loc[(rows["time"] - at).abs().idxmin()]
    if not np.isclose(row["time"], at, rtol=1e-9):
        raise ProjectError(f"`{quantity}`: nothing is recorded at time {at:g}; the nearest time is {row['time']:g}")
    return Estimate(row["value"], row["lower"], row["upper"], int(row["paths"]), f"{name} over paths")


def increase(table: Table, quantity: Quantity, early: float, late: float) -> Estimate:
    """Return the growth of a mean between two times, the intervals' widths added."""
    before, after = (statistic(table, quantity, "mean", time) for time in (early, late))
    return _difference(before, after, "difference of means (normal)")


def power_name(quantity: Quantity) -> str:
    """Return the moment that a quantity is the mean of, as TeX."""
    layer, _, power = quantity.split("_")
    return f"$|W|^{{{power}}}$" if layer == "hidden" else rf"$|a|^{{{power}}} + |\bar a|^{{{power}}}$"


def number_ranges(numbers: list[int], but: list[int] | None = None) -> str:
    """Return whole numbers, but some, as a person would write them, runs as ranges; `none` for none."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers) - set(but or ())):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs) or "none"
