"""Draws of features on and off the central path: how tables tell them apart, and the errors to expect of them."""

from collections.abc import Callable

import numpy as np

from learning_dynamics.judging import Check, equal_on_every_draw, takes_rivals
from learning_dynamics.tidy import Draws, Quantity, Table, remembered, select, settings_of

# Relative error of DOP853 along the renormalised flows in units of its rtol: at most 8 over 200 flows from three sizes
# and three scales of the signal, at rtol 1e-9 and 1e-10; doubled and rounded up.
RENORMALISED_FLOW_ERROR = 20.0
# Rounding errors of the identities, relative; the matrices that are inverted have condition numbers below 100
UNIT = float(np.finfo(float).eps)
ROUNDING = 1000 * UNIT
# Error of the central differences that measure speeds and curves, relative: the square of their step, tenfold
DIFFERENCE_ERROR = 1e-7
SIZE = ["classes", "examples", "features"]

Sized = tuple[tuple[int, int, int, np.ndarray], ...]  # classes, examples, features and values of each size


def integration_error(table: Table) -> float:
    """Relative error of the integrator at the tolerance that the flows ran with."""
    return RENORMALISED_FLOW_ERROR * settings_of(table)["integration"]["rtol"]


def largest(table: Table, *quantities: Quantity, **where: str) -> np.ndarray:
    """Return the largest of several quantities, over times and indices, for each draw; nan if one of them is."""
    draws = Draws(table, **where)
    return np.max([draws.worst(quantity) for quantity in quantities], axis=0)


@remembered
def by_size(table: Table, quantity: Quantity, flow: str | None = None) -> Sized:
    """Return classes, examples, features, and a quantity as an array, shape (draws, times, entries), for each size."""
    chosen = select(table, quantity, **({} if flow is None else {"flow": flow}))
    arrays = []
    for (classes, examples, features), rows in chosen.groupby(SIZE):
        wide = rows.pivot(index=["seed", "time"], columns="index", values="value")
        values = wide.to_numpy().reshape(rows["seed"].nunique(), -1, wide.shape[1])
        values.flags.writeable = False
        arrays.append((int(classes), int(examples), int(features), values))
    return tuple(arrays)


def times_of(table: Table) -> np.ndarray:
    """Return the recorded times."""
    return np.sort(table["time"].unique())


def over_sizes(reduce: Callable[..., np.ndarray], *quantities: Sized) -> np.ndarray:
    """Return ``reduce(*values, classes, examples, features)``, of each draw, over all sizes of what `by_size` gives."""
    return np.concatenate(
        [reduce(*(values for *_, values in parts), *parts[0][:3]) for parts in zip(*quantities, strict=True)]
    )


def relative_error(values: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """Return the largest |value / prediction - 1| of each draw, shape (draws,); draws are the first axis."""
    return np.abs(values / predicted - 1).reshape(len(values), -1).max(axis=1)


@takes_rivals("errors")
def zero_on_every_draw(
    name: str, errors: np.ndarray, tolerance: float | np.ndarray, because: str, *, resolution: float = 1e-3
) -> Check:
    """Check that an error, relative to one, is zero on every draw; `resolution` is what it must tell from zero.

    Rivals and corrections are the errors that other predictions make.
    """
    return equal_on_every_draw(
        name, errors, 0.0, tolerance=tolerance, relative_to=1.0, because=because, resolution=resolution
    )


@takes_rivals("flow", "gap")
def no_gap(
    name: str,
    table: Table,
    gap: Quantity,
    tolerance: float = ROUNDING,
    because: str = "rounding",
    *,
    flow: str | None = None,
) -> Check:
    """Check that a relative gap is zero on every draw; rivals are other maps where `flow` is given, else other gaps."""
    where = {} if flow is None else {"flow": flow}
    return zero_on_every_draw(name, largest(table, gap, **where), tolerance, because)


def decades_back(table: Table, count: int) -> list[int]:
    """Return the places of the last recorded time and of those nearest to whole decades before it, latest first."""
    times = times_of(table)
    return [int(np.argmin(np.abs(times - times[-1] / 10.0**decade))) for decade in range(count)]
