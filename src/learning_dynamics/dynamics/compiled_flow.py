"""Gradient flow of small systems, compiled: the vector field and the integrator run without Python between them.

The method is Dormand and Prince's of order 8(5,3), with scipy's coefficients, error estimate, choice of steps and
interpolant. The loop is ours, and differs in four things. A step cut short to land on a time does not shorten the
next. A flow whose next step is below ten units in the last place of the time has failed, where scipy takes a step of
ten. The first step does not depend on the last time. A relative tolerance below a hundred roundings is used as it is,
where scipy raises it.

Importing this module takes a quarter of a second, which is numba's: leave it to modules that run a flow. Compiled code
is kept beside the source, or in the user's cache where that cannot be written.
"""

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numba import types
from scipy.integrate import DOP853

from learning_dynamics.dynamics.compilation import compiled
from learning_dynamics.dynamics.gradient_flow import Flow
from learning_dynamics.errors import DivergenceError

FLOATS = types.float64[::1]
INTEGERS = types.int64[::1]
# (state, data, shape, slope): writes d(state)/dt into slope; data and shape are as in `flows`
FIELD = types.void(FLOATS, FLOATS, INTEGERS, FLOATS)
# (state, data, shape): whether the flow has arrived
CONDITION = types.boolean(FLOATS, FLOATS, INTEGERS)

STAGES = DOP853.n_stages
# contiguous copies: what is compiled with a view into another array is not kept
A, B, E3, E5, D, A_EXTRA = (
    np.array(table, order="C") for table in (DOP853.A, DOP853.B, DOP853.E3, DOP853.E5, DOP853.D, DOP853.A_EXTRA)
)
SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0  # SAFETY, MIN_FACTOR and MAX_FACTOR of scipy.integrate._ivp.rk
EXPONENT = -1 / (DOP853.error_estimator_order + 1)
ARRIVED, OUT_OF_STEPS, UNDERFLOW = 0, 1, 2


@compiled(CONDITION)
def never(state: np.ndarray, data: np.ndarray, shape: np.ndarray) -> bool:
    """Return False: a condition that holds of no state."""
    return False


@dataclass(frozen=True)
class Flows:
    """Flows of many systems, each as it would be alone.

    Attributes
    ----------
    states : ndarray, shape (members, times, size)
        The states at each requested time.
    final_states : ndarray, shape (members, size)
    final_times : ndarray, shape (members,)
    steps, evaluations : ndarray of int, shape (members,)
        See `gradient_flow.Flow`.
    failures : dict of int to str
        Why a member did not get through, by its place; its states and final state are nan, and its final time is where
        it failed.
    """

    states: np.ndarray
    final_states: np.ndarray
    final_times: np.ndarray
    steps: np.ndarray
    evaluations: np.ndarray
    failures: dict[int, str]


def flow(
    field: Any, data: np.ndarray, shape: tuple[int, ...], initial: np.ndarray, times: np.ndarray, **settings: Any
) -> Flow:
    """Integrate d(state)/dt = field(state) and record it at `times`.

    Parameters
    ----------
    data : ndarray, any shape
    initial : ndarray, shape (size,)
    field, shape, times, **settings
        As in `flows`.

    Raises
    ------
    DivergenceError
        If the step size underflows, as it does where a state leaves the finite numbers, or the steps run out.
    """
    found = flows(field, np.ravel(data)[None], shape, np.asarray(initial)[None], times, **settings)
    if found.failures:
        raise DivergenceError(found.failures[0])
    return Flow(
        found.states[0],
        found.final_states[0],
        float(found.final_times[0]),
        int(found.steps[0]),
        int(found.evaluations[0]),
    )


def flows(
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
) -> Flows:
    """Integrate d(state)/dt = field(state) for each of many systems; see `gradient_flow.integrate`, which this follows.

    Without a condition a flow ends on the last of `times`, whatever `last_time` is; `integrate` ends with the step that
    passes it.

    Parameters
    ----------
    field : compiled function of signature `FIELD`
    data : ndarray, shape (members, numbers)
        Numbers that the field and the condition read.
    shape : tuple of int
        How they, and the states, are to be read, for example (samples, inputs, width).
    initial : ndarray, shape (members, size)
    times : ndarray, shape (times,), ascending
    until : compiled function of signature `CONDITION`
    rtol, atol, last_time, max_steps, land
        As in `gradient_flow.integrate`.
    """
    members = len(initial)
    # without a condition the flow ends on the last time: one that never holds would be waited for until `last_time`
    end = float(times[-1] if until is never else max(last_time, times[-1]))
    states, final_states = np.empty((members, len(times), initial.shape[1])), np.array(initial, dtype=float, order="C")
    outcomes, final_times = np.empty(members, dtype=np.int64), np.empty(members)
    steps, evaluations = np.empty((2, members), dtype=np.int64)
    _flows(
        field,
        until,
        np.ascontiguousarray(data, dtype=float),
        np.array(shape, dtype=np.int64),
        final_states,
        np.ascontiguousarray(times, dtype=float),
        end,
        rtol,
        atol,
        max_steps,
        land,
        states,
        outcomes,
        final_times,
        steps,
        evaluations,
    )
    failures = {}
    for member in np.flatnonzero(outcomes != ARRIVED):
        taken, time = steps[member], final_times[member]
        if outcomes[member] == OUT_OF_STEPS:
            reason = f"ran out of steps: {taken} taken by time {time:g}; raise max_steps, or use a stiff method"
        else:
            reason = f"diverged at time {time:g} (step {taken}): its step size underflowed"
            if not taken:
                reason += "; raise atol, or begin with finite numbers"
        failures[int(member)] = f"gradient flow {reason}"
        states[member] = final_states[member] = np.nan
    return Flows(states, final_states, final_times, steps, evaluations, failures)


# inlined by numba: flows of small systems take 0.6 of the time
@numba.njit(inline="always")
def _sum(weights: np.ndarray, slopes: np.ndarray, count: int, total: np.ndarray) -> None:
    """Write sum_j weights_j slopes_j over the first `count` slopes into `total`."""
    total[:] = 0.0
    for stage in range(count):
        weight = weights[stage]
        if weight != 0.0:
            for i in range(len(total)):
                total[i] += weight * slopes[stage, i]


@numba.njit
def _advance(
    h: float, weights: np.ndarray, slopes: np.ndarray, count: int, state: np.ndarray, moved: np.ndarray
) -> None:
    """Write state + h sum_j weights_j slopes_j into `moved`."""
    _sum(weights, slopes, count, moved)
    for i in range(len(state)):
        moved[i] = state[i] + h * moved[i]


@numba.njit
def _take_step(
    field: Any, data: np.ndarray, shape: np.ndarray, state: np.ndarray, h: float, slopes: np.ndarray, moved: np.ndarray
) -> None:
    """Write the state after a step into `moved`, and its stages' slopes into `slopes`, where ``slopes[0]`` is given."""
    for stage in range(1, STAGES):
        _advance(h, A[stage], slopes, stage, state, moved)
        field(moved, data, shape, slopes[stage])
    _advance(h, B, slopes, STAGES, state, moved)
    field(moved, data, shape, slopes[STAGES])


@numba.njit
def _error(h: float, slopes: np.ndarray, old: np.ndarray, new: np.ndarray, rtol: float, atol: float) -> float:
    """Return the error estimate of a step in units of its tolerance."""
    fifth = third = 0.0  # sums over entries of squared error estimates, of order five and of order three
    for i in range(len(old)):
        five = three = 0.0
        for stage in range(STAGES + 1):
            five += E5[stage] * slopes[stage, i]
            three += E3[stage] * slopes[stage, i]
        scale = atol + rtol * max(abs(old[i]), abs(new[i]))
        fifth += (five / scale) ** 2
        third += (three / scale) ** 2
    both = fifth + 0.01 * third  # the weight is DOP853's
    return 0.0 if both == 0.0 else abs(h) * fifth / np.sqrt(both * len(old))  # nan where a slope is no number


@numba.njit
def _prepare_interpolant(
    field: Any, data: np.ndarray, shape: np.ndarray, state: np.ndarray, h: float, slopes: np.ndarray, higher: np.ndarray
) -> None:
    """Write the slopes of a step's further stages into `slopes`, and D @ slopes into `higher`."""
    point = np.empty(len(state))
    for extra in range(len(A_EXTRA)):
        stage = STAGES + 1 + extra
        _advance(h, A_EXTRA[extra], slopes, stage, state, point)
        field(point, data, shape, slopes[stage])
    for power in range(len(D)):
        _sum(D[power], slopes, len(slopes), higher[power])


@numba.njit
def _interpolate(
    h: float, slopes: np.ndarray, old: np.ndarray, new: np.ndarray, x: float, higher: np.ndarray, value: np.ndarray
) -> None:
    """Write the state at share x of a step into `value` (Hairer, Norsett and Wanner 1993, section II.6).

    `higher` is as `_prepare_interpolant` writes it.
    """
    for i in range(len(old)):
        # the change over the step, and what it would be at the first slope alone and at the last slope alone
        change, by_first, by_last = new[i] - old[i], h * slopes[0, i], h * slopes[STAGES, i]
        between = 0.0
        # the factors are x and 1 - x in turn, x first
        for power in range(len(D) - 1, -1, -1):
            between = (between + h * higher[power, i]) * (x if (len(D) - 1 - power) % 2 == 0 else 1 - x)
        # the lowest three coefficients; with the four above there are seven
        between = (between + 2 * change - by_last - by_first) * x
        between = (between + by_first - change) * (1 - x)
        value[i] = old[i] + (between + change) * x


@numba.njit
def _first_step(
    field: Any, data: np.ndarray, shape: np.ndarray, state: np.ndarray, slope: np.ndarray, rtol: float, atol: float
) -> float:
    """Return a first step by the rule of Hairer, Norsett and Wanner (1993), section II.4, with its numbers."""
    scale = atol + rtol * np.abs(state)
    # as there, d0, d1 and d2 are sizes of the state and of its first and second derivative, in units of the tolerance
    d0, d1 = np.sqrt(np.mean((state / scale) ** 2)), np.sqrt(np.mean((slope / scale) ** 2))
    h0 = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    if h0 == 0.0:  # in units of the tolerance the slope is no finite number: there is no such step
        return 0.0
    ahead = np.empty_like(slope)
    field(state + h0 * slope, data, shape, ahead)
    d2 = np.sqrt(np.mean(((ahead - slope) / scale) ** 2)) / h0
    h1 = max(1e-6, h0 * 1e-3) if d1 <= 1e-15 and d2 <= 1e-15 else (0.01 / max(d1, d2)) ** -EXPONENT
    return min(100 * h0, h1)


@compiled(
    types.Tuple((types.int64, types.float64, types.int64, types.int64))(
        types.FunctionType(FIELD),
        types.FunctionType(CONDITION),
        FLOATS,
        INTEGERS,
        FLOATS,
        FLOATS,
        types.float64,
        types.float64,
        types.float64,
        types.int64,
        types.boolean,
        types.float64[:, ::1],
    )
)
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
    """Fill `states`, leave the last state in `state`; return the outcome, the last time, steps and evaluations.

    A step ends where its error allows. Take ``times = [0, 1, 2, 3]`` and steps that end at 0.7 and at 2.5. With
    `land` the first ends at 0.7, the second on 1, and the next ones not beyond 2 and 3: states are those
    of the method itself, to its full order. Without `land` the second step passes 1 and 2, and both states are read
    off its interpolant, for ``len(A_EXTRA)`` further evaluations. `recorded` counts the times that have their state.
    The flow goes on while times are left, and after them to `end` as long as `until` is false.
    """
    size, recorded = len(state), 0
    slopes, moved = np.empty((STAGES + 1 + len(A_EXTRA), size)), np.empty(size)
    higher = np.empty((len(D), size))
    # times that repeat the first have the initial state
    while recorded < len(times) and times[recorded] <= times[0]:
        states[recorded] = state
        recorded += 1
    # two evaluations of the field come first: the one below, and one in `_first_step`
    time, steps, evaluations = times[0], 0, 2
    field(state, data, shape, slopes[0])
    h = _first_step(field, data, shape, state, slopes[0], rtol, atol)
    # slopes[0] is the slope at the state: the last stage of an accepted step is the first of the next
    while recorded < len(times) or (time < end and not until(state, data, shape)):
        if steps >= max_steps:
            return OUT_OF_STEPS, time, steps, evaluations
        bound = times[recorded] if land and recorded < len(times) else end
        rejected = False
        while True:
            # not `<`, which is false of nan: h is nan where the start is not finite
            if not h >= 10 * (np.nextafter(time, np.inf) - time):
                return UNDERFLOW, time, steps, evaluations
            step = min(h, bound - time)
            _take_step(field, data, shape, state, step, slopes, moved)
            evaluations += STAGES
            error = _error(step, slopes, state, moved, rtol, atol)
            if error < 1:
                break
            h = step * max(SHRINK, SAFETY * error**EXPONENT) if np.isfinite(error) else step * SHRINK
            rejected = True
        grown = GROW if error == 0 else min(GROW, SAFETY * error**EXPONENT)
        if rejected:
            grown = min(1.0, grown)
        # a step cut short to end on a time says nothing against the longer one that was due
        was_cut = step < h
        h = max(step * grown, h if was_cut else 0.0)
        before = time
        time = bound if step == bound - time else time + step
        steps += 1
        if recorded < len(times) and times[recorded] <= time:
            if land:
                states[recorded] = moved
                recorded += 1
            else:
                _prepare_interpolant(field, data, shape, state, step, slopes, higher)
                evaluations += len(A_EXTRA)
                while recorded < len(times) and times[recorded] <= time:
                    share = (times[recorded] - before) / step
                    _interpolate(step, slopes, state, moved, share, higher, states[recorded])
                    recorded += 1
        state[:] = moved
        slopes[0] = slopes[STAGES]
    return ARRIVED, time, steps, evaluations


@compiled(
    types.void(
        types.FunctionType(FIELD),
        types.FunctionType(CONDITION),
        types.float64[:, ::1],
        INTEGERS,
        types.float64[:, ::1],
        FLOATS,
        types.float64,
        types.float64,
        types.float64,
        types.int64,
        types.boolean,
        types.float64[:, :, ::1],
        INTEGERS,
        FLOATS,
        INTEGERS,
        INTEGERS,
    )
)
def _flows(
    field: Any,
    until: Any,
    data: np.ndarray,
    shape: np.ndarray,
    final_states: np.ndarray,
    times: np.ndarray,
    end: float,
    rtol: float,
    atol: float,
    max_steps: int,
    land: bool,
    states: np.ndarray,
    outcomes: np.ndarray,
    final_times: np.ndarray,
    steps: np.ndarray,
    evaluations: np.ndarray,
) -> None:
    """Follow one member after another, as `_flow` does, from initial states in `final_states`."""
    for member in range(len(final_states)):
        outcomes[member], final_times[member], steps[member], evaluations[member] = _flow(
            field,
            until,
            data[member],
            shape,
            final_states[member],
            times,
            end,
            rtol,
            atol,
            max_steps,
            land,
            states[member],
        )
