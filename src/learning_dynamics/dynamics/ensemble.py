"""Many small independent systems moved as one batch: gradient flow, and gradient descent.

Gradient flow takes Dormand and Prince's order 8(5,3) pair with scipy's coefficients, error estimate and
interpolant, and gives each member steps of its own: up to rounding, a member's trajectory does not depend on
which others share its batch.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import DOP853

from learning_dynamics.errors import DivergenceError

Field = Callable[[np.ndarray, np.ndarray], np.ndarray]

STAGES = DOP853.n_stages
SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0  # as in scipy's Runge-Kutta methods
EXPONENT = -1 / (DOP853.error_estimator_order + 1)


def flow(
    field: Field, initial: np.ndarray, times: np.ndarray, *, rtol: float, atol: float, max_steps: int = 20_000
) -> np.ndarray:
    """Integrate d(state)/dt = field(state) for every member and record the states at `times`.

    Parameters
    ----------
    field : callable
        (states, members) to derivatives: states of shape (some, size), and the indices of the members
        that they belong to.
    initial : ndarray, shape (members, size)
        The states at ``times[0]``.
    times : ndarray, shape (times,), ascending
        When to record.
    rtol, atol : float
        Local error bounds, held by each member in the root mean square over its components.
    max_steps : int
        Bound on the steps of a member, rejected ones included.

    Returns
    -------
    ndarray, shape (members, times, size)

    Raises
    ------
    DivergenceError
        If a member's state leaves the finite numbers, its step size underflows, or its steps run out.
    """
    members = np.arange(len(initial))
    recorded = np.full((len(initial), len(times), initial.shape[1]), np.nan)
    recorded[:, 0] = initial
    next_record = np.ones(len(initial), dtype=int)
    state, time = initial.astype(float), np.full(len(initial), float(times[0]))
    slope = field(state, members)
    step = _first_step(state, slope, rtol, atol)
    last_rejected = np.zeros(len(initial), dtype=bool)
    if len(times) == 1:
        return recorded
    for _ in range(max_steps):
        moving = members[next_record < len(times)]
        if not moving.size:
            return recorded
        h = step[moving, None]
        stages = _stages(field, state[moving], slope[moving], h, moving)
        with np.errstate(over="ignore", invalid="ignore"):
            new_state = state[moving] + h * _combine(DOP853.B, stages[:STAGES])
            stages[STAGES] = field(new_state, moving)
            error = _error(stages, state[moving], new_state, h, rtol, atol)
        accepted = error < 1
        factor = np.where(error > 0, SAFETY * np.where(error > 0, error, 1.0) ** EXPONENT, GROW)
        largest = np.where(last_rejected[moving] | ~accepted, 1.0, GROW)
        step[moving] = h[:, 0] * np.nan_to_num(np.clip(factor, SHRINK, largest), nan=SHRINK)
        last_rejected[moving] = ~accepted
        if (step[moving] <= 1e-14 * np.maximum(time[moving], 1e-10)).any():
            worst = moving[np.argmin(step[moving])]
            raise DivergenceError(f"member {worst}: the flow's step size underflowed at time {time[worst]:g}")
        done = moving[accepted]
        reached = time[done] + h[accepted, 0]
        _record(
            field, recorded, next_record, times, done, time[done], reached, state[done], new_state[accepted],
            stages[:, accepted], h[accepted],
        )  # fmt: skip
        time[done], state[done], slope[done] = reached, new_state[accepted], stages[STAGES, accepted]
    behind = members[next_record < len(times)]
    raise DivergenceError(
        f"member {behind[0]}: {max_steps} steps taken by time {time[behind[0]]:g} of {times[-1]:g}; "
        "shorten the horizon, or loosen rtol"
    )


def descent(field: Field, initial: np.ndarray, learning_rate: float, record_at: np.ndarray) -> np.ndarray:
    """Take steps state += learning_rate * field(state) and record the states after given numbers of steps.

    Parameters
    ----------
    field, initial
        As in `flow`.
    record_at : ndarray of int, shape (records,), ascending
        Numbers of steps; 0 records the initial states.

    Returns
    -------
    ndarray, shape (members, records, size)

    Raises
    ------
    DivergenceError
        If a member's state leaves the finite numbers.
    """
    members = np.arange(len(initial))
    recorded = np.empty((len(initial), len(record_at), initial.shape[1]))
    state, taken = initial.astype(float), 0
    for index, steps in enumerate(record_at):
        for _ in range(int(steps) - taken):
            with np.errstate(over="ignore", invalid="ignore"):
                state = state + learning_rate * field(state, members)
        taken = int(steps)
        if not np.isfinite(state).all():
            member = members[~np.isfinite(state).all(axis=1)][0]
            raise DivergenceError(f"member {member}: gradient descent diverged by step {taken}; lower learning_rate")
        recorded[:, index] = state
    return recorded


def _combine(weights: np.ndarray, stages: np.ndarray) -> np.ndarray:
    count, members, size = stages.shape
    return (weights @ stages.reshape(count, -1)).reshape(members, size)


def _first_step(state: np.ndarray, slope: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """Return a cautious first step: one that changes a state by a hundredth of itself."""
    size = np.linalg.norm(state / (atol + rtol * np.abs(state)), axis=1)
    change = np.linalg.norm(slope / (atol + rtol * np.abs(state)), axis=1)
    return np.where(change > 0, 0.01 * np.maximum(size, 1e-5) / np.where(change > 0, change, 1.0), 1e-3)


def _stages(field: Field, state: np.ndarray, slope: np.ndarray, h: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Return the method's slopes, shape (stages + 1, members, size), the last left to be filled."""
    stages = np.empty((STAGES + 1, *state.shape))
    stages[0] = slope
    with np.errstate(over="ignore", invalid="ignore"):
        for index in range(1, STAGES):
            stages[index] = field(state + h * _combine(DOP853.A[index, :index], stages[:index]), members)
    return stages


def _error(stages: np.ndarray, old: np.ndarray, new: np.ndarray, h: np.ndarray, rtol: float, atol: float) -> np.ndarray:
    """Return each member's error estimate in units of its tolerance; a state that is not finite has nan."""
    scale = atol + rtol * np.maximum(np.abs(old), np.abs(new))
    fifth = np.sum((_combine(DOP853.E5, stages) / scale) ** 2, axis=1)
    third = np.sum((_combine(DOP853.E3, stages) / scale) ** 2, axis=1)
    below = np.sqrt((fifth + 0.01 * third) * old.shape[1])
    return np.where(below > 0, np.abs(h[:, 0]) * fifth / np.where(below > 0, below, 1.0), 0.0)


def _record(
    field: Field, recorded: np.ndarray, next_record: np.ndarray, times: np.ndarray, members: np.ndarray,
    start: np.ndarray, end: np.ndarray, old: np.ndarray, new: np.ndarray, stages: np.ndarray, h: np.ndarray,
) -> None:  # fmt: skip
    """Fill in the recorded times that the accepted steps passed, from the method's interpolant."""
    passed = np.searchsorted(times, end, side="right")
    rows = np.flatnonzero(passed > next_record[members])
    if not rows.size:
        return
    interpolants = _interpolants(field, old[rows], new[rows], stages[:, rows], h[rows], members[rows])
    while rows.size:
        record = next_record[members[rows]]
        x = ((times[record] - start[rows]) / h[rows, 0])[:, None]
        value = np.zeros_like(old[rows])
        for power, coefficients in enumerate(interpolants[::-1]):
            value = (value + coefficients) * (x if power % 2 == 0 else 1 - x)
        recorded[members[rows], record] = old[rows] + value
        next_record[members[rows]] += 1
        further = passed[rows] > next_record[members[rows]]
        rows, interpolants = rows[further], interpolants[:, further]


def _interpolants(
    field: Field, old: np.ndarray, new: np.ndarray, stages: np.ndarray, h: np.ndarray, members: np.ndarray
) -> np.ndarray:
    """Return the coefficients of the order 7 interpolant (Hairer, Norsett and Wanner 1993, section II.6)."""
    extended = np.empty((STAGES + 1 + len(DOP853.A_EXTRA), *old.shape))
    extended[: STAGES + 1] = stages
    for index, weights in enumerate(DOP853.A_EXTRA, start=STAGES + 1):
        extended[index] = field(old + h * _combine(weights[:index], extended[:index]), members)
    change = new - old
    first, last = extended[0], extended[STAGES]
    higher = h * np.stack([_combine(weights, extended) for weights in DOP853.D])
    return np.concatenate([np.stack([change, h * first - change, 2 * change - h * (last + first)]), higher])
