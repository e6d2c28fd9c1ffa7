"""Two-layer linear networks written out plainly, their flow by scipy, moments of noise, and numbers read off tables."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from tests.support import trajectory_of


def flow(X, Y, W1, W2, times):
    """Return both layers at the times, by scipy: gradient flow of |X W1 W2 - Y|^2 / 2 from the given layers.

    Errors are some hundreds of scipy's relative tolerance of 1e-11, so that numbers of order one agree to 1e-8.
    """
    shape, split = W1.shape, W1.size

    def minus_gradient(_time, state):
        W1, W2 = state[:split].reshape(shape), state[split:].reshape(-1, Y.shape[1])
        R = X.T @ (Y - X @ W1 @ W2)
        return np.concatenate([(R @ W2.T).ravel(), (W1.T @ R).ravel()])

    start = np.concatenate([W1.ravel(), W2.ravel()])
    states = solve_ivp(minus_gradient, (0, times[-1]), start, "RK45", t_eval=times, rtol=1e-11, atol=1e-14).y.T
    return states[:, :split].reshape(-1, *shape), states[:, split:].reshape(-1, *W2.shape)


def at_rest(X, Y, W1, W2, late):
    """Return both layers at the time `late`, by which scipy's flow from the given ones must have come to rest."""
    hidden, output = flow(X, Y, W1, W2, np.array([0.0, late]))
    assert np.linalg.norm(X @ hidden[-1] @ output[-1] - Y) < 1e-10 * np.linalg.norm(Y), f"not at rest at time {late}"
    return hidden[-1], output[-1]


def spectrum(matrices, count=None):
    """Return singular values, descending, the first `count` or all: roots of eigenvalues of the smaller Gram matrix."""
    transposed = np.swapaxes(matrices, -1, -2)
    gram = matrices @ transposed if matrices.shape[-2] <= matrices.shape[-1] else transposed @ matrices
    return np.sqrt(np.linalg.eigvalsh(gram).clip(0))[..., ::-1][..., :count]


def by_time(table, quantity, *, column="value", **where):
    """Return a quantity, shape (times, entries), from the rows whose other columns are as `where` says.

    `column` is `value`, what is measured, or the one that goes with it, as `predicted`.
    """
    rows = table[table["quantity"] == quantity]
    for name, wanted in where.items():
        rows = rows[rows[name] == wanted]
    return rows.pivot(index="time", columns="index", values=column).to_numpy()


def swaps(weights):
    """Return D_j A_j for each weight D_j, shape (d, d + 1, d + 1), where A_j swaps coordinate j and the last.

    Under noise of these weights a column m of W above a^T, of d + 1 entries, moves by dm = sum_j dB_j D_j A_j m.
    """
    size = len(weights) + 1
    matrices = np.zeros((len(weights), size, size))
    for number, weight in enumerate(weights):
        matrices[number, number, -1] = matrices[number, -1, number] = weight
    return matrices


def second_moments(weights, start, time):
    """Return E|w_j|^2 of each row of W, and E|a|^2, from |w_j(0)|^2 as in `start` and a(0) = 0.

    With W above a^T as one matrix M of d + 1 rows, dM = sum_j dB_j D_j A_j M (see `swaps`), so that E M M^T solves a
    linear equation, whose solution is the exponential of the sum of D_j A_j (x) D_j A_j.
    """
    generator = sum(np.kron(swap, swap) for swap in swaps(weights))
    size = len(weights) + 1
    moment = (expm(generator * time) @ np.diag([*start, 0.0]).ravel()).reshape(size, size)
    return np.diag(moment)[:-1], moment[-1, -1]


def noise_step(columns, noise):
    """Return W above a^T, shape (paths, d + 1, columns), after one of Euler's steps of dW = dB a^T, da = W^T dB.

    `noise` is dB, shape (paths, d).
    """
    W, a = columns[:, :-1], columns[:, -1:]
    return columns + np.concatenate([noise[:, :, None] * a, noise[:, None] @ W], axis=1)


def trajectory_and_table(run, measure, settings, *data, measuring=None, **unrecorded):
    """Return a run's trajectory, and its table of metrics.

    `data` is the run's data set, if it takes one. `settings` are those of the run that its metrics may read,
    `unrecorded` its others, as its seed; `measuring` are settings of the metrics themselves.
    """
    trajectory = trajectory_of(run, *data, **settings, **unrecorded)
    trajectory.settings = settings
    return trajectory, measure(trajectory, **(measuring or {}))
