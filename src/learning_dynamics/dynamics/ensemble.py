"""Many small independent systems moved by gradient descent as one batch."""

from collections.abc import Callable

import numpy as np

from learning_dynamics.errors import DivergenceError

Field = Callable[[np.ndarray, np.ndarray], np.ndarray]


def descent(field: Field, initial: np.ndarray, learning_rate: float, record_at: np.ndarray) -> np.ndarray:
    """Take steps state += learning_rate * field(state) and record the states after given numbers of steps.

    Parameters
    ----------
    field : callable
        (states, members) to derivatives: states of shape (some, size), and the indices of the members
        that they belong to.
    initial : ndarray, shape (members, size)
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
