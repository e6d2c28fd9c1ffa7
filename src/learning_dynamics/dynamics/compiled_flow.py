"""Gradient flow of small systems, compiled: the vector field and the integrator run without Python between them.

The method is Dormand and Prince's of order 8(5,3), with scipy's coefficients, error estimate, choice of steps and
interpolant; only the loop is ours. Import this module where a flow is to run, and not before: numba takes a quarter of
a second. What it compiles is kept beside the source, or in the user's cache where that cannot be written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from scipy.integrate import DOP853

from learning_dynamics.dynamics.gradient_flow import Flow
from learning_dynamics.errors import DivergenceError

VECTOR = types.float64[::1]
SHAPE = types.int64[::1]
# (state, data, shape, slope): writes d(state)/dt into slope; data and shape are whatever the field needs to know
FIELD = types.void(VECTOR, VECTOR, SHAPE, VECTOR)
# (state, data, shape): whether the flow has arrived
CONDITION = types.boolean(VECTOR, VECTOR, SHAPE)

STAGES = DOP853.n_stages
# copies that lie in one piece: what is compiled with a view into another array is not kept
A, B, E3, E5, D, A_EXTRA = (
    np.array(table, order="C") for table in (DOP853.A, DOP853.B, DOP853.E3, DOP853.E5, DOP853.D, DOP853.A_EXTRA)
)
SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
EXPONENT = -1 / (DOP853.error_estimator_order + 1)
ARRIVED, OUT_OF_STEPS, UNDERFLOW = 0, 1, 2


def compiled(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for one signature when its module is imported, from a cache on disk where there is one."""

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(signature, cache=True)(function)
        except RuntimeError:  # nowhere to write: neither beside the source nor in the user's cache
            return numba.njit(signature)(function)

    return decorate


@compiled(CONDITION)
def never(state: np.ndarray, data: np.ndarray, shape: np.ndarray) -> bool:
    """Return False: a condition that holds of no state."""
    return False


def flow(
    field: Any,
    data: np.ndarray,
    shape: tuple[int, ...],
    initial: np.ndarray,
    times: np.ndarray,
    *,
    rtol: float,
    atol: float,
    until: Any = never,
    last_time: float = np.inf,
    max_steps: int = 100_000,
    land: bool = False,
) -> Flow:
    """Integrate d(state)/dt = field(state) and record it at `times`; see `gradient_flow.integrate`, which this follows.

    Parameters
    ----------
    field : compiled function of signature `FIELD`
    data : ndarray, shape (any,)
        Numbers that the field and the condition read.
    shape : tuple of int
        How they, and the state, are to be read.
    until : compiled function of signature `CONDITION`

    Raises
    ------
    DivergenceError
        If the step size underflows, as it does where a state leaves the finite numbers, or the steps run out.
    """
    end = float(times[-1] if until is never else max(last_time, times[-1]))
    states = np.empty((len(times), len(initial)))
    state = np.array(initial, dtype=float)
    outcome, time, steps, evaluations = _flow(
        field, until, np.ascontiguousarray(data, dtype=float).ravel(), np.array(shape, dtype=np.int64), state,
        np.asarray(times, dtype=float), end, rtol, atol, max_steps, land, states,
    )  # fmt: skip
    if outcome == OUT_OF_STEPS:
        raise DivergenceError(
            f"gradient flow ran out of steps: {steps} taken by time {time:g}; raise max_steps, or use a stiff method"
        )
    if outcome == UNDERFLOW:
        raise DivergenceError(f"gradient flow diverged at time {time:g} (step {steps}): its step size underflowed")
    return Flow(states, state, time, steps, evaluations)


@numba.njit
def _advance(
    h: float, weights: np.ndarray, slopes: np.ndarray, count: int, state: np.ndarray, moved: np.ndarray
) -> None:
    """Write state + h sum_j weights_j slopes_j into `moved`."""
    moved[:] = 0.0
    for stage in range(count):
        weight = weights[stage]
        if weight != 0.0:
            for i in range(len(state)):
                moved[i] += weight * slopes[stage, i]
    for i in range(len(state)):
        moved[i] = state[i] + h * moved[i]


@numba.njit
def _error(h: float, slopes: np.ndarray, old: np.ndarray, new: np.ndarray, rtol: float, atol: float) -> float:
    """Return the error estimate of a step in units of its tolerance."""
    fifth = third = 0.0
    for i in range(len(old)):
        five = three = 0.0
        for stage in range(STAGES + 1):
            five += E5[stage] * slopes[stage, i]
            three += E3[stage] * slopes[stage, i]
        scale = atol + rtol * max(abs(old[i]), abs(new[i]))
        fifth += (five / scale) ** 2
        third += (three / scale) ** 2
    if fifth == 0.0 and third == 0.0:
        return 0.0
    return abs(h) * fifth / np.sqrt((fifth + 0.01 * third) * len(old))


@numba.njit
def _interpolate(h: float, slopes: np.ndarray, old: np.ndarray, new: np.ndarray, x: float, value: np.ndarray) -> None:
    """Write the state at share x of a step into `value` (Hairer, Norsett and Wanner 1993, section II.6)."""
    for i in range(len(old)):
        change, first, last = new[i] - old[i], h * slopes[0, i], h * slopes[STAGES, i]
        between = 0.0
        for power in range(len(D) - 1, -1, -1):
            higher = 0.0
            for stage in range(len(slopes)):
                higher += D[power, stage] * slopes[stage, i]
            between = (between + h * higher) * (x if (len(D) - 1 - power) % 2 == 0 else 1 - x)
        # the lowest three coefficients; with the four of D there are seven
        between = (between + 2 * change - last - first) * x
        between = (between + first - change) * (1 - x)
        value[i] = old[i] + (between + change) * x


@numba.njit
def _first_step(
    field: Any, data: np.ndarray, shape: np.ndarray, state: np.ndarray, slope: np.ndarray, rtol: float, atol: float
) -> float:
    """Return a first step by the rule of Hairer, Norsett and Wanner (1993), section II.4."""
    scale = atol + rtol * np.abs(state)
    d0, d1 = np.sqrt(np.mean((state / scale) ** 2)), np.sqrt(np.mean((slope / scale) ** 2))
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    ahead = np.empty_like(slope)
    field(state + h0 * slope, data, shape, ahead)
    d2 = np.sqrt(np.mean(((ahead - slope) / scale) ** 2)) / h0
    h1 = max(1e-6, h0 * 1e-3) if d1 <= 1e-15 and d2 <= 1e-15 else (0.01 / max(d1, d2)) ** -EXPONENT
    return min(100 * h0, h1)


@compiled(
    types.Tuple((types.int64, types.float64, types.int64, types.int64))(
        types.FunctionType(FIELD), types.FunctionType(CONDITION), VECTOR, SHAPE, VECTOR, VECTOR, types.float64,
        types.float64, types.float64, types.int64, types.boolean, types.float64[:, ::1],
    )
)  # fmt: skip
def _flow(
    field: Any,
    until: Any,
    data: np.ndarray,
    shape: np.ndarray,
    state: np.ndarray,
    times: np.ndarray,
    end: float,
    rtol: float,
    atol: float,
    max_steps: int,
    land: bool,
    states: np.ndarray,
) -> tuple[int, float, int, int]:
    """Fill `states`, leave the last state in `state`; return the outcome, the last time, steps and evaluations."""
    size, recorded = len(state), 0
    slopes, moved = np.empty((STAGES + 1 + len(A_EXTRA), size)), np.empty(size)
    while recorded < len(times) and times[recorded] <= times[0]:
        states[recorded] = state
        recorded += 1
    time, steps, evaluations = times[0], 0, 2
    field(state, data, shape, slopes[0])
    h = _first_step(field, data, shape, state, slopes[0], rtol, atol)
    while recorded < len(times) or (time < end and not until(state, data, shape)):
        if steps >= max_steps:
            return OUT_OF_STEPS, time, steps, evaluations
        bound = times[recorded] if land and recorded < len(times) else end
        rejected = False
        while True:
            if not h >= 10 * (np.nextafter(time, np.inf) - time):
                return UNDERFLOW, time, steps, evaluations
            taken = min(h, bound - time)
            for stage in range(1, STAGES):
                _advance(taken, A[stage], slopes, stage, state, moved)
                field(moved, data, shape, slopes[stage])
            _advance(taken, B, slopes, STAGES, state, moved)
            field(moved, data, shape, slopes[STAGES])
            evaluations += STAGES
            error = _error(taken, slopes, state, moved, rtol, atol)
            if error < 1:
                break
            h = taken * max(SHRINK, SAFETY * error**EXPONENT) if np.isfinite(error) else taken * SHRINK
            rejected = True
        grown = GROW if error == 0 else min(GROW, SAFETY * error**EXPONENT)
        before, time = time, bound if taken == bound - time else time + taken
        # a step cut short to end on a time says nothing against the longer one that was due
        h = max(taken * (min(1.0, grown) if rejected else grown), h if taken < h else 0.0)
        steps += 1
        if recorded < len(times) and times[recorded] <= time:
            if land:
                states[recorded] = moved
                recorded += 1
            else:
                for extra in range(len(A_EXTRA)):
                    stage = STAGES + 1 + extra
                    point = np.empty(size)
                    _advance(taken, A_EXTRA[extra], slopes, stage, state, point)
                    field(point, data, shape, slopes[stage])
                evaluations += len(A_EXTRA)
                while recorded < len(times) and times[recorded] <= time:
                    _interpolate(taken, slopes, state, moved, (times[recorded] - before) / taken, states[recorded])
                    recorded += 1
        state[:] = moved
        slopes[0] = slopes[STAGES]
    return ARRIVED, time, steps, evaluations
