"""Two-layer linear networks written out plainly, their flow by scipy, and numbers read off tables."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from tests.support import trajectory_of


def flow(X, Y, first, second, times):
    """Return both layers at the times, by scipy, from any layers."""
    shape, split = first.shape, first.size

    def slope(_time, state):
        W, a = state[:split].reshape(shape), state[split:].reshape(second.shape)
        error = X.T @ (Y - X @ W @ a)
        return np.concatenate([(error @ a.T).ravel(), (W.T @ error).ravel()])

    start = np.concatenate([first.ravel(), second.ravel()])
    found = solve_ivp(slope, (0, times[-1]), start, "RK45", t_eval=times, rtol=1e-11, atol=1e-14).y.T
    return found[:, :split].reshape(-1, *shape), found[:, split:].reshape(-1, *second.shape)


def spectrum(matrices, count=None):
    """Singular values over leading axes, by way of eigenvalues of the smaller Gram matrix."""
    turned = np.swapaxes(matrices, -1, -2)
    gram = matrices @ turned if matrices.shape[-2] <= matrices.shape[-1] else turned @ matrices
    return np.sqrt(np.linalg.eigvalsh(gram).clip(0))[..., ::-1][..., :count]


def by_time(table, quantity, column="value", **where):
    """Return an array of shape (times, entries)."""
    rows = table[table["quantity"] == quantity]
    for name, wanted in where.items():
        rows = rows[rows[name] == wanted]
    return rows.pivot(index="time", columns="index", values=column).to_numpy()


def swaps(weights):
    """Matrices that swap coordinate j and the last, times the weights: of what noise moves a column of (W, a) by."""
    size = len(weights) + 1
    found = np.zeros((len(weights), size, size))
    for number, weight in enumerate(weights):
        found[number, number, -1] = found[number, -1, number] = weight
    return found


def second_moments(weights, start, time):
    """E|w_j|^2 of each row and E|a|^2, from the exponential of the whole second moment of (W, a).

    The columns of W above a^T as one matrix M of d + 1 rows: dM = sum_j dB_j D_j A_j M, A_j swapping row j and the
    last, so that E M M^T solves a linear equation.
    """
    generator = sum(np.kron(swap, swap) for swap in swaps(weights))
    moment = (expm(generator * time) @ np.diag([*start, 0.0]).ravel()).reshape(swaps(weights)[0].shape)
    return np.diag(moment)[:-1], moment[-1, -1]


def noise_step(columns, kicks):
    """Return W above a^T, paths first, after one of Euler's steps of dW = dB a^T, da = W^T dB."""
    W, a = columns[:, :-1], columns[:, -1:]
    return columns + np.concatenate([kicks[:, :, None] * a, kicks[:, None] @ W], axis=1)


def trajectory_and_table(run, measure, settings, *data, measuring=None, **further):
    """Return a run's trajectory, and its metrics; `measuring` are settings of the metrics, `further` of the run."""
    trajectory = trajectory_of(run, *data, **settings, **further)
    trajectory.settings = settings
    return trajectory, measure(trajectory, **(measuring or {}))
