"""Checks of distances that vanish along a flow, as a power of the spread of singular values (Corollaries 1 and 2).

With the largest and the least of the SNR singular values omega_j the spread is omega_max / omega_min - 1. It falls as
1/t: every omega runs along the same curve, each behind the largest by a fixed time. A draw is one start of a flow.
"""

import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from learning_dynamics.judging import Checks, equal_on_every_draw, every_draw
from learning_dynamics.papers.neural_collapse.central_path.predictions import twice_next_order
from learning_dynamics.papers.neural_collapse.central_path.quantities import IN_WORDS, OMEGA, SINGULAR_VALUE_SPREAD
from learning_dynamics.papers.neural_collapse.draws import (
    Size,
    by_size,
    decades_before_the_end,
    integration_error,
    over_sizes,
    times_of,
)
from learning_dynamics.tidy import Quantity, Table


class LateFall(NamedTuple):
    """How a distance falls late in a flow: numbers of one draw, or of all, shape (draws,)."""

    exponent: float | np.ndarray  # in t, over the latest decade that shows it
    tolerance: float | np.ndarray  # of the exponent
    share_left: float | np.ndarray  # the distance at the last time, over that at the end of the decade
    largest_share: float | np.ndarray  # largest `share_left` that the law and the integrator's error allow


# how many times the integrator's error a spread must be for its fall to be visible; chosen: the error is then at most a
# hundredth of the spread
VISIBLE = 100
UNSEEN = LateFall(np.nan, 0.0, np.nan, np.nan)  # no decade shows the exponent: undecided


def vanishing_checks(
    flows: Table,
    quantity: Quantity,
    flow: str,
    *,
    wrong_exponents: Mapping[str, float],
    power_of_spread: int = 1,
    scaled: bool = False,
) -> Checks:
    """Yield checks that a distance falls as a power of the spread of singular values, which falls as 1/t.

    The exponent cannot be read at the end of a flow. Example: after eleven decades of time a spread of 8e-10 is left,
    less than the integrator's error of 2e-9, so that what is measured there may be that error. The exponent is read
    over the latest decade of time at whose end the spread is still `VISIBLE` times the integrator's error. Of the rest
    of the flow only the distance at the last time is bounded: by what the law, 1/t to that power, leaves of it, and by
    the error.

    Parameters
    ----------
    quantity
        The distance, one number at each time. The spread itself is `SINGULAR_VALUE_SPREAD`.
    flow : str
        The flow along which it is measured, by its tangent map: `ORTHOGONAL` or `PRINTED` (`quantities`).
    wrong_exponents : mapping from str to float
        Exponents of the spread in t that it does not have, by rivals' phrases; the right one is -1.
    power_of_spread : int
        The power of the spread that the distance falls as.
    scaled : bool
        Whether the smallest error of the exponent that would have been refused is found.
    """
    fall = _late_fall(flows, quantity, flow, power_of_spread)
    yield equal_on_every_draw(
        f"exponent in $t$ of {IN_WORDS[quantity]}, {flow} map, minus its prediction",
        fall.exponent,
        -1.0 * power_of_spread,
        tolerance=fall.tolerance,
        relative_to=1.0,  # the difference of two exponents is not divided by anything
        # half of the difference between -1 and the exponent of the nearest rival, -1/2
        resolution=0.25 * power_of_spread,
        because="next order of the expansion, and the integrator's error in the spread",
        rivals={phrase: exponent * power_of_spread for phrase, exponent in wrong_exponents.items()},
        scaled=scaled,
    )
    # no rival alters this check: the exponent above refuses them
    yield every_draw(
        f"{IN_WORDS[quantity]} at the last time over that at the end of the decade of the exponent, {flow} map",
        fall.share_left,
        at_most=fall.largest_share,
        because="what its law leaves to the next order, and twice the integrator's error",
    )


def _late_fall(flows: Table, quantity: Quantity, flow: str, power_of_spread: int) -> LateFall:
    """Return how a distance falls late in each draw's flow, numbers of shape (draws,)."""
    times, error = times_of(flows), integration_error(flows)
    count = int(np.log10(times[-1] / times[1]))  # of decades between the first time after 0 and the last
    # indices of where each decade of time ends and starts, the latest decade first
    decades = list(itertools.pairwise(decades_before_the_end(flows, count)))

    def of_draw(distance: np.ndarray, spread: np.ndarray, next_orders: np.ndarray) -> LateFall:
        """Return the fall of one draw, from series of shape (times,)."""
        visible = [(end, start) for end, start in decades if spread[end] > VISIBLE * error]
        if not visible:
            return UNSEEN
        end, start = visible[0]
        spread_left = (times[end] / times[-1]) ** (1 - next_orders[end])  # by its law, 1/t to the next order
        return LateFall(
            exponent=np.log(distance[end] / distance[start]) / np.log(times[end] / times[start]),
            # of the spread: what the expansion leaves out, most at the start of the decade, and the error, most at its
            # end; a power of the spread has that multiple of them
            tolerance=power_of_spread * (next_orders[start] + error / spread[end]),
            share_left=distance[-1] / distance[end],
            # twice: the last spread is off by one error, and so is the spread that it is divided by
            largest_share=(spread_left + 2 * error / spread[end]) ** power_of_spread,
        )

    def of_size(size: Size, distance: np.ndarray, spread: np.ndarray, omega: np.ndarray) -> np.ndarray:
        next_orders = twice_next_order(flow, omega, size.classes).max(axis=2)  # shape (draws, times)
        draws = zip(distance[..., 0], spread[..., 0], next_orders, strict=True)
        return np.array([of_draw(*series) for series in draws])  # shape (draws, 4), the fields of `LateFall`

    falls = over_sizes(
        of_size,
        distance=by_size(flows, quantity, flow=flow),
        spread=by_size(flows, SINGULAR_VALUE_SPREAD, flow=flow),
        omega=by_size(flows, OMEGA, flow=flow),
    )
    return LateFall(*falls.T)
