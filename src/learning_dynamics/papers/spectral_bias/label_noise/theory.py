"""Moments of the process dW = X^T dB a^T, da = W^T X^T dB that appendix D puts in place of label-noise descent.

Each function starts it from a(0) = 0. X = U D V^T, and u_j is the mean square of the j-th row of V^T W.
"""

import numpy as np
from scipy.sparse import csr_array, eye_array, kron
from scipy.sparse.linalg import expm_multiply


def output_second_moment(weights: np.ndarray, start: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return E|a|^2 for dW = X^T dB a^T, da = W^T X^T dB from a(0) = 0, at times of the process, shape (times,).

    With X = U D V^T and u_j the mean square of the j-th row of V^T W, u_j' = D_j^2 E|a|^2 and
    E|a|^2' = sum_j D_j^2 u_j, so that E|a|^2 = sum_j D_j^2 u_j(0) sinh(k t) / k with k^2 = sum_j D_j^4.

    Parameters
    ----------
    weights : ndarray, shape (samples,)
        The singular values D_j of X.
    start : ndarray, shape (samples,)
        u_j(0), squared norms of the rows of V^T W(0).
    time : ndarray, shape (times,)
    """
    rate = np.sqrt(np.sum(weights**4))
    return np.sum(weights**2 * start) * np.sinh(rate * time) / rate


def row_growth(weights: np.ndarray, start: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return u_j(t) - u_j(0) of the process in `output_second_moment`, shape (times, samples).

    It is the integral of u_j' = D_j^2 E|a|^2, D_j^2 sum_i D_i^2 u_i(0) (cosh(k t) - 1) / k^2 with k^2 = sum_j D_j^4.
    """
    rate = np.sqrt(np.sum(weights**4))
    return weights**2 * np.sum(weights**2 * start) * ((np.cosh(rate * time) - 1) / rate**2)[:, None]


def deviations(weights: np.ndarray, start: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return standard deviations over paths of |row j of V^T W|^2, for each j, and of |a|^2: (times, samples + 1).

    With V^T W above a^T as M, shape (samples + 1, d), the process is dM = sum_j D_j A_j M dB_j, where A_j swaps row j
    with the last and clears all others. The squared norms are the diagonal of S = M M^T, and their mean squares are
    entries of the mean of T = S (x) S, of four indices. By Ito's formula this mean obeys dT/dt = sum_j D_j^2 (sum over
    pairs of the four indices of A_j applied to both) T, from S = diag(u(0), 0).

    Parameters are those of `output_second_moment`.
    """
    size = len(weights) + 1
    generator = csr_array((size**4, size**4))
    for number, weight in enumerate(weights):
        # D_j A_j as a matrix, and its action on each of the four indices
        swap = csr_array(([weight, weight], ([number, size - 1], [size - 1, number])), shape=(size, size))
        swaps = [
            kron(kron(eye_array(size**position), swap), eye_array(size ** (3 - position))) for position in range(4)
        ]
        generator += sum(swaps[i] @ swaps[j] for i in range(4) for j in range(i))
    start_matrix = np.diag([*start, 0.0]).ravel()
    # T at each time, as a vector: shape (times, size^4)
    squares = np.stack([expm_multiply(t * generator, np.kron(start_matrix, start_matrix)) for t in time])
    # S_ij S_kl is entry number ((i size + j) size + k) size + l: those with i = j = k = l are squares of squared norms
    diagonal = np.arange(size) * (size**3 + size**2 + size + 1)
    means = np.hstack([start + row_growth(weights, start, time), output_second_moment(weights, start, time)[:, None]])
    return np.sqrt(np.maximum(squares[:, diagonal] - means**2, 0.0))


def euler_output_second_moment(weights: np.ndarray, start: np.ndarray, step: float, steps: int) -> float:
    """Return E|a|^2 after a number of steps of the descent's recursion, without its drift, from a(0) = 0.

    Each step has u_j += step * D_j^2 v and v += step * sum_j D_j^2 u_j for v = E|a|^2 and the u_j of
    `output_second_moment`. `step` is that of the process's time, the square of the descent's step times its noise.
    """
    squares, u, v = weights**2, start.copy(), 0.0
    for _ in range(steps):
        u, v = u + step * squares * v, v + step * float(np.sum(squares * u))
    return v
