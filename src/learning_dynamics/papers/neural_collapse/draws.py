"""Draws of features on and off the central path: their arrays by size, their numerical errors, and checks of gaps.

A gap is the norm of a difference over the norm of what it is compared with: zero where an equation holds. A draw is a
random feature matrix of one of several sizes, or the start of a flow or descent.

Checks take rivals=, corrected= and others besides the parameters that they show (`judging.takes_rivals`). The decorator
names the parameter for which a rival and a correction have another argument.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from learning_dynamics.judging import Check, equal_on_every_draw, takes_rivals
from learning_dynamics.tidy import Draws, Quantity, Table, cached_per_table, select, settings_of

# pieces that claims' scopes share: for features that no flow moves, and for flows along the central path
GAUSSIAN_FEATURES = "Gaussian features of three sizes, within-class covariance of full rank"
RENORMALISED_FLOWS = "three sizes, zero global mean, within-class covariance the identity, eleven decades of time"

# Relative error of DOP853 along the renormalised flows, in units of its rtol. At rtol 1e-9 and 1e-10 it was at most 8,
# over 200 flows of three sizes and three scales of the signal; this 8 is doubled and rounded up.
RENORMALISED_FLOW_ERROR = 20.0
EPSILON = float(np.finfo(float).eps)  # relative rounding error of one operation
# Relative rounding error of gaps and losses. The gaps in `central_path.identities` invert two matrices: Sigma_W, with
# condition numbers up to 12, and the second moment of extended features without weight decay, with condition numbers up
# to 420. A thousand units are more than twice the larger of these numbers.
ROUNDING = 1000 * EPSILON
# Relative error of the central differences that measure speeds and curves. It is of the order of the square of their
# step, 1e-8 (`central_path.tangents.DIFFERENCE`); chosen: ten times that square
DIFFERENCE_ERROR = 1e-7


class Size(NamedTuple):
    """The size of a problem. One table has draws of several sizes, whose arrays have different shapes."""

    classes: int  # C
    examples: int  # N, of each class
    features: int  # P


SIZE_COLUMNS = list(Size._fields)


def integration_error(table: Table) -> float:
    """Return the relative error of the integrator at the tolerance of a table's flows."""
    return RENORMALISED_FLOW_ERROR * settings_of(table)["integration"]["rtol"]


def largest(table: Table, *quantities: Quantity, **where: str) -> np.ndarray:
    """Return the largest of several quantities, over times and indices, for each draw; nan if one of them is.

    `where` is as for `tidy.select`.
    """
    draws = Draws(table, **where)
    return np.max([draws.largest(quantity) for quantity in quantities], axis=0)


@cached_per_table
def by_size(table: Table, quantity: Quantity, **where: str | float) -> dict[Size, np.ndarray]:
    """Return a quantity by the size of its draws, shape (draws, times, entries); `where` as for `tidy.select`.

    Tables of features, which no flow moves, have one time.
    """
    arrays = {}
    for size, rows in select(table, quantity, **where).groupby(SIZE_COLUMNS):
        wide = rows.pivot(index=["seed", "time"], columns="index", values="value")
        # rows of `wide` are sorted by seed, then by time; columns are entries
        values = wide.to_numpy().reshape(rows["seed"].nunique(), -1, wide.shape[1])
        # `cached_per_table` hands the same dict to all callers, and makes only arrays that are returned bare read-only
        values.flags.writeable = False
        arrays[Size(*map(int, size))] = values
    return arrays


def times_of(table: Table) -> np.ndarray:
    """Return the recorded times."""
    return np.sort(table["time"].unique())


def decades_before_the_end(table: Table, count: int) -> list[int]:
    """Return `count` indices: of the last recorded time, and of those nearest to 1/10, 1/100, ... of it."""
    times = times_of(table)
    return [int(np.argmin(np.abs(times - times[-1] / 10.0**decade))) for decade in range(count)]


def over_sizes(of_size: Callable[..., np.ndarray], **quantities: dict[Size, np.ndarray]) -> np.ndarray:
    """Return ``of_size(size, **arrays)`` for the draws of every size, one size after the other.

    All quantities must have the same draws in the same order: `by_size` sorts them by size, then by seed.
    `of_size` takes the arrays of one size, as `by_size` has them, and returns an array with draws along its first axis.
    ``over_sizes(lambda size, omega: omega[:, -1].max(axis=1), omega=by_size(flows, OMEGA))`` is the largest singular
    value of each draw at the last time.
    """
    sizes = list(next(iter(quantities.values())))
    return np.concatenate(
        [of_size(size, **{name: arrays[size] for name, arrays in quantities.items()}) for size in sizes]
    )


def relative_error(values: np.ndarray, predicted: np.ndarray | float) -> np.ndarray:
    """Return the largest |value / prediction - 1| of each draw, shape (draws,); draws are the first axis."""
    return np.abs(values / predicted - 1).reshape(len(values), -1).max(axis=1)


@takes_rivals("errors")
def zero_on_every_draw(
    name: str, errors: np.ndarray, tolerance: float | np.ndarray, because: str, *, resolution: float = 1e-3
) -> Check:
    """Check that an error, relative already, is zero on every draw.

    Rivals and corrections are `errors` too, those of other predictions. A tolerance above `resolution`, the smallest
    error that matters, leaves the check undecided. By default that is a thousandth: far below what a wrong factor or
    sign of an equation changes.
    """
    return equal_on_every_draw(
        name, errors, 0.0, tolerance=tolerance, relative_to=1.0, because=because, resolution=resolution
    )


@takes_rivals("gap")
def no_gap(name: str, table: Table, gap: Quantity, *, tolerance: float = ROUNDING, because: str = "rounding") -> Check:
    """Check that a gap in a table is zero on every draw, the largest over times and indices.

    `gap` is the name of a quantity. Rivals and corrections are such names, of gaps that an altered equation leaves.
    """
    return zero_on_every_draw(name, largest(table, gap), tolerance, because)


@takes_rivals("tangent_map")
def no_gap_under_map(name: str, features: Table, gap: Quantity, tangent_map: str) -> Check:
    """Check that a gap of features is zero on every draw for a tangent map; rivals and corrections are other maps.

    `tangent_map` is a value of the column ``flow``: `ORTHOGONAL`, `PRINTED` or another of `central_path.quantities`.
    """
    return zero_on_every_draw(name, largest(features, gap, flow=tangent_map), ROUNDING, "rounding")
