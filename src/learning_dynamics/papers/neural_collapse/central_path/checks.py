"""Checks on the SNR singular values and on the loss, on fresh features, along flows and along descent.

Predictions are functions of time or of the singular values. To find the smallest error that would have been refused,
dynamics are `sped_up`, and a formula of a loss is `multiplied`.

Draws have several sizes. The function inside a check, mostly `error`, takes the arrays of one size and returns a number
for each draw, shape (draws,); `over_sizes` calls it for all. Shapes: `omega` (draws, times, C - 1), descending; a
quantity that is one number (draws, times, 1); of features there is one time.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from learning_dynamics.judging import Check, Checks, equal_on_every_draw, every_draw, takes_rivals
from learning_dynamics.papers.neural_collapse.central_path import theory
from learning_dynamics.papers.neural_collapse.central_path.quantities import (
    IN_WORDS,
    OMEGA,
    ORTHOGONAL,
    PRINTED,
    SINGULAR_VALUE_SPREAD,
    SPEED,
    TRACE,
)
from learning_dynamics.papers.neural_collapse.draws import (
    DIFFERENCE_ERROR,
    ROUNDING,
    UNIT,
    Size,
    by_size,
    decades_before_the_end,
    integration_error,
    over_sizes,
    relative_error,
    times_of,
    zero_on_every_draw,
)
from learning_dynamics.tidy import Quantity, Table, settings_of

FLOWS = (ORTHOGONAL, PRINTED)


@dataclass(frozen=True)
class Dynamics:
    """A prediction of the SNR singular values omega, for C classes of N examples.

    Attributes
    ----------
    speed : callable
        d omega / dt from omega, C, N.
    course : callable
        omega(t) from omega(0), t, C, N.
    asymptote : callable
        What omega(t) tends to, from t, C, N.
    exponent : float
        The power of t in the asymptote.
    """

    speed: Callable[[np.ndarray, int, int], np.ndarray]
    course: Callable[[np.ndarray, np.ndarray, int, int], np.ndarray]
    asymptote: Callable[[np.ndarray, int, int], np.ndarray]
    exponent: float


# Proposition 2: eq. 27, eq. 9 and Corollary 1
PAPER = Dynamics(
    theory.snr_velocity, theory.snr_closed_form, lambda time, _C, N: theory.snr_asymptote(time, N), exponent=0.25
)
# what the printed map and the described algorithm do (derived in `theory`)
ALGORITHM = Dynamics(theory.algorithm_velocity, theory.algorithm_closed_form, theory.algorithm_asymptote, exponent=0.5)


def sped_up(dynamics: Dynamics, factor: float) -> Dynamics:
    """Return dynamics whose clock runs faster by a factor: what was omega(t) is omega(factor t)."""
    return Dynamics(
        lambda omega, C, N: factor * dynamics.speed(omega, C, N),
        lambda start, time, C, N: dynamics.course(start, factor * time, C, N),
        lambda time, C, N: dynamics.asymptote(factor * time, C, N),
        dynamics.exponent,
    )


# half the speed doubles c1, c2 and c3 of eq. 9: c3 = N / 2 instead of N / 4
PAPER_AT_HALF_SPEED = sped_up(PAPER, 0.5)


@takes_rivals("dynamics", scaled=sped_up)
def check_course(flows: Table, flow: str, dynamics: Dynamics) -> Check:
    """Check omega(t) along a flow (eq. 9)."""
    times = times_of(flows)[:, None]
    course = dynamics.course

    def error(size: Size, omega: np.ndarray) -> np.ndarray:
        return relative_error(omega, course(omega[:, :1], times, size.classes, size.examples))

    return zero_on_every_draw(
        f"$\\omega_j(t)$ along the flow, {flow} map, relative error",
        over_sizes(error, omega=by_size(flows, OMEGA, flow=flow)),
        integration_error(flows),
        "the integrator's error: its tolerance times a calibrated 20",
    )


@takes_rivals("dynamics", scaled=sped_up)
def check_speed(features: Table, flow: str, dynamics: Dynamics) -> Check:
    """Check d omega / dt on fresh draws (eq. 27)."""
    predicted = dynamics.speed

    def error(size: Size, speed: np.ndarray, omega: np.ndarray) -> np.ndarray:
        return relative_error(speed, predicted(omega, size.classes, size.examples))

    return zero_on_every_draw(
        f"$d\\omega_j/dt$ on fresh draws, {flow} map, relative error",
        over_sizes(error, speed=by_size(features, SPEED, flow=flow), omega=by_size(features, OMEGA)),
        DIFFERENCE_ERROR,
        "error of central differences",
    )


@takes_rivals("dynamics", scaled=sped_up)
def check_variability(flows: Table, flow: str, dynamics: Dynamics) -> Check:
    """Check tr(pinv(Sigma_B) Sigma_W) along a flow: C sum_j 1 / omega_j(t)^2 (Theorem 3, NC1)."""
    times = times_of(flows)[:, None]
    course = dynamics.course

    def error(size: Size, trace: np.ndarray, omega: np.ndarray) -> np.ndarray:
        predicted = course(omega[:, :1], times, size.classes, size.examples)
        return relative_error(trace[..., 0], theory.trace_bound(predicted, size.classes))

    return zero_on_every_draw(
        f"NC1 along the flow, {flow} map, by its explicit dynamics, relative error",
        over_sizes(error, trace=by_size(flows, TRACE, flow=flow), omega=by_size(flows, OMEGA, flow=flow)),
        2 * integration_error(flows),
        "the integrator's error, of a square: twice its tolerance times a calibrated 20",
    )


def next_order(flow: str, omega: np.ndarray, classes: int) -> np.ndarray:
    """Return the next order of the expansion of omega(t) at late times, relative to omega, doubled (derived here).

    Orthogonal projection: eq. 9 is omega^4 + 4 C omega^2 = 4 t / N but for logarithms, so that omega^2 is
    sqrt(4 t / N) - 2 C, and omega its asymptote times 1 - C / omega^2. Printed map: omega^2 / 2 = t / (C N) - C log
    omega, so that omega is its asymptote times 1 - C log omega / omega^2.
    """
    if flow == ORTHOGONAL:
        return 2 * classes / omega**2
    return 2 * classes * np.log(omega) / omega**2


@takes_rivals("dynamics", scaled=sped_up)
def check_asymptote(flows: Table, flow: str, dynamics: Dynamics) -> Check:
    """Check the ratio of omega to its asymptote at the last time, to the next order of the expansion, doubled."""
    times = times_of(flows)
    last = len(times) - 1
    asymptote = dynamics.asymptote

    def error(size: Size, omega: np.ndarray) -> np.ndarray:
        return np.abs(omega[:, last] / asymptote(times[last], size.classes, size.examples) - 1).max(axis=1)

    return zero_on_every_draw(
        "$\\omega_j$ over its asymptote at the last time, minus one",
        over_sizes(error, omega=by_size(flows, OMEGA, flow=flow)),
        _largest_next_order(flows, flow, last),
        "at least twice the next order of the expansion",
        resolution=0.05,
    )


@takes_rivals("dynamics")
def check_exponent(flows: Table, flow: str, dynamics: Dynamics) -> Check:
    """Check the exponent of omega in t over the last decade, to the next order of the expansion.

    omega is its asymptote times 1 - r, with r half of `next_order`. The exponent is off by r times the power with which
    r falls: by r / 2 for r = C / omega^2, which falls as t^(-1/2), and by r for r = C log omega / omega^2, which falls
    as 1/t. The tolerance, `next_order`, is four times and twice as much.
    """
    times = times_of(flows)
    last, decade_before = decades_before_the_end(flows, 2)

    def error(_: Size, omega: np.ndarray) -> np.ndarray:
        growth = np.log(omega[:, last] / omega[:, decade_before])
        exponents = growth / np.log(times[last] / times[decade_before])
        return np.abs(exponents - dynamics.exponent).max(axis=1)

    return zero_on_every_draw(
        f"exponent over the last decade, minus {dynamics.exponent:g}",
        over_sizes(error, omega=by_size(flows, OMEGA, flow=flow)),
        _largest_next_order(flows, flow, decade_before),
        "at least twice the next order of the expansion",
        resolution=np.inf,
    )


def _largest_next_order(flows: Table, flow: str, time_index: int) -> np.ndarray:
    """Return the largest `next_order` of each draw's singular values at a time, shape (draws,)."""

    def of_size(size: Size, omega: np.ndarray) -> np.ndarray:
        return next_order(flow, omega[:, time_index], size.classes).max(axis=1)

    return over_sizes(of_size, omega=by_size(flows, OMEGA, flow=flow))


# -- distances that vanish --------------------------------------------------------------------------------------------


def vanishing_checks(
    flows: Table, quantity: Quantity, flow: str, *, powers: Mapping[str, float], order: int = 1, scaled: bool = False
) -> Checks:
    """Yield checks that a distance falls as a power of the spread of singular values, which falls as 1/t.

    The exponent cannot be read at the end of a flow. Example: after eleven decades of time a spread of 8e-10 is left,
    less than the integrator's error of 2e-9, so that what is measured there may be that error. The exponent is read
    over the latest decade at whose end the spread is still a hundred times the integrator's error; of the rest of the
    flow only what is left at its last time is bounded, by what the law leaves and the error together.

    Parameters
    ----------
    quantity
        The distance, one number at each time; its spread of singular values is `SINGULAR_VALUE_SPREAD`.
    order : int
        The power of the spread that the distance falls as.
    powers : mapping from str to float
        Wrong exponents of the spread in t, by rivals' phrases.
    scaled : bool
        Whether the smallest error of the exponent that would have been refused is found.
    """
    times, error = times_of(flows), integration_error(flows)
    count = int(np.log10(times[-1] / times[1]))  # of decades between the first time after 0 and the last
    # indices of where each decade of time ends and starts, the latest decade first
    decades = list(itertools.pairwise(decades_before_the_end(flows, count)))

    def late_fall(distance: np.ndarray, spread: np.ndarray, next_orders: np.ndarray) -> list[float]:
        """Return four numbers of one draw, from series of shape (times,).

        They are the exponent and its tolerance; what is left of the distance at the last time, and its bound.
        """
        visible = [(end, start) for end, start in decades if spread[end] > 100 * error]
        if not visible:
            return [np.nan, 0.0, np.nan, np.nan]
        end, start = visible[0]
        exponent = np.log(distance[end] / distance[start]) / np.log(times[end] / times[start])
        tolerance = order * (next_orders[start] + error / spread[end])
        share_left = distance[-1] / distance[end]
        spread_left = (times[end] / times[-1]) ** (1 - next_orders[end])  # by its law, 1/t to the next order
        bound = (spread_left + 2 * error / spread[end]) ** order
        return [exponent, tolerance, share_left, bound]

    def late_falls(size: Size, distance: np.ndarray, spread: np.ndarray, omega: np.ndarray) -> np.ndarray:
        next_orders = next_order(flow, omega, size.classes).max(axis=2)  # shape (draws, times)
        draws = zip(distance[..., 0], spread[..., 0], next_orders, strict=True)
        return np.array([late_fall(*series) for series in draws])  # shape (draws, 4)

    exponents, tolerances, shares_left, bounds = over_sizes(
        late_falls,
        distance=by_size(flows, quantity, flow=flow),
        spread=by_size(flows, SINGULAR_VALUE_SPREAD, flow=flow),
        omega=by_size(flows, OMEGA, flow=flow),
    ).T
    yield equal_on_every_draw(
        f"exponent in $t$ of {IN_WORDS[quantity]}, {flow} map, minus its prediction",
        exponents,
        -1.0 * order,
        tolerance=tolerances,
        relative_to=1.0,
        resolution=0.25 * order,
        because="next order of the expansion, and the integrator's error in the spread",
        rivals={phrase: power * order for phrase, power in powers.items()},
        scaled=scaled,
    )
    yield every_draw(
        f"{IN_WORDS[quantity]} at the last time over that at the end of the decade of the exponent, {flow} map",
        shares_left,
        at_most=bounds,
        because="what its law leaves to the next order, and twice the integrator's error",
    )


# -- descent ----------------------------------------------------------------------------------------------------------


def rounding_of_steps(descent: Table) -> float:
    """Return a unit of rounding for each of the steps of the smallest size."""
    return UNIT * (settings_of(descent)["horizon"] / min(settings_of(descent)["steps"]))


@takes_rivals("dynamics", scaled=sped_up)
def check_limit_of_small_steps(descent: Table, dynamics: Dynamics) -> Check:
    """Check omega(t) of the descent at the last time, in the limit of small steps.

    The error of a step size is of first order in it, so that the line through the results of two gives the limit. Of
    the three smallest, the smaller two give it; how far the larger two put it elsewhere is the tolerance.
    """
    smallest, middle, largest = sorted(settings_of(descent)["steps"])[:3]
    omega_of = {step: by_size(descent, OMEGA, step=step) for step in (smallest, middle, largest)}
    end, course = times_of(descent)[-1], dynamics.course

    def at_step_zero(omega: np.ndarray, omega_of_larger: np.ndarray, step: float, larger: float) -> np.ndarray:
        """Return omega at the last time on the line through both step sizes, at zero, shape (draws, C - 1)."""
        final, final_of_larger = omega[:, -1], omega_of_larger[:, -1]
        return final + (final - final_of_larger) * step / (larger - step)

    def error(size: Size, fine: np.ndarray, coarse: np.ndarray) -> np.ndarray:
        predicted = course(fine[:, 0], end, size.classes, size.examples)
        return relative_error(at_step_zero(fine, coarse, smallest, middle), predicted)

    def extrapolation_error(_: Size, fine: np.ndarray, coarse: np.ndarray, coarsest: np.ndarray) -> np.ndarray:
        limit = at_step_zero(fine, coarse, smallest, middle)
        return relative_error(at_step_zero(coarse, coarsest, middle, largest), limit)

    return zero_on_every_draw(
        "$\\omega_j$ at the last time, steps extrapolated to zero, relative error",
        over_sizes(error, fine=omega_of[smallest], coarse=omega_of[middle]),
        over_sizes(extrapolation_error, fine=omega_of[smallest], coarse=omega_of[middle], coarsest=omega_of[largest]),
        "difference of two extrapolations",
    )


# -- the spectral loss ------------------------------------------------------------------------------------------------


Formula = Callable[[np.ndarray, int], np.ndarray]  # a loss from the SNR singular values and C


def multiplied(formula: Formula, factor: float) -> Formula:
    """Return a formula times a factor."""
    return lambda omega, C: factor * formula(omega, C)


@takes_rivals("formula", scaled=multiplied)
def check_loss_of_features(features: Table, quantity: Quantity, formula: Formula) -> Check:
    """Check a loss of raw features against a formula."""

    def error(size: Size, loss: np.ndarray, omega: np.ndarray) -> np.ndarray:
        return relative_error(loss[..., 0], formula(omega, size.classes))

    errors = over_sizes(error, loss=by_size(features, quantity), omega=by_size(features, OMEGA))
    return zero_on_every_draw(f"{IN_WORDS[quantity]} of raw features, relative error", errors, ROUNDING, "rounding")


@takes_rivals("formula", scaled=multiplied)
def check_loss_along_flows(flows: Table, quantity: Quantity, formula: Formula) -> Check:
    """Check a loss along both flows against a formula, in units of 1 + omega_max^2 / C."""

    def error(size: Size, loss: np.ndarray, omega: np.ndarray) -> np.ndarray:
        relative = np.abs(loss[..., 0] / (formula(omega, size.classes)) - 1)
        return (relative / (1 + omega[..., 0] ** 2 / size.classes)).max(axis=1)

    def errors(flow: str) -> np.ndarray:
        return over_sizes(error, loss=by_size(flows, quantity, flow=flow), omega=by_size(flows, OMEGA, flow=flow))

    return zero_on_every_draw(
        f"{IN_WORDS[quantity]} along both flows, relative error",
        np.concatenate([errors(flow) for flow in FLOWS]),
        ROUNDING,
        "rounding, in units of $1+\\omega^2/C$",
    )
