"""Moments of the process dW = X^T dB a^T, da = W^T X^T dB that appendix D puts in place of label-noise descent.

Each function starts the process from a(0) = 0. X = U D V^T is the singular value decomposition of the data; the
singular values D_j are called weights. u_j is the mean over paths of the squared norm of the j-th row of V^T W, and
u_j(0) is called `start`.
"""

import numpy as np
from scipy.sparse import csr_array, eye_array, kron
from scipy.sparse.linalg import expm_multiply


def output_second_moment(weights: np.ndarray, start: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return E|a|^2 at times of the process, shape (times,).

    As u_j' = D_j^2 E|a|^2 and (E|a|^2)' = sum_j D_j^2 u_j, E|a|^2 is sum_j D_j^2 u_j(0) sinh(k t) / k with
    k^2 = sum_j D_j^4; k is `rate`.

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
    """Return u_j(t) - u_j(0), shape (times, samples); parameters are those of `output_second_moment`.

    It is the integral of u_j' = D_j^2 E|a|^2, which is D_j^2 (sum_i D_i^2 u_i(0)) (cosh(k t) - 1) / k^2 with
    k^2 = sum_i D_i^4.
    """
    rate = np.sqrt(np.sum(weights**4))
    return weights**2 * np.sum(weights**2 * start) * ((np.cosh(rate * time) - 1) / rate**2)[:, None]


def deviations(weights: np.ndarray, start: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return standard deviations over paths of squared norms: of each row of V^T W, and last of a.

    Let M, shape (samples + 1, d), have the rows of V^T W and then a^T as the last row. The process is
    dM = sum_j D_j A_j M dB_j, where A_j swaps row j with the last and clears all others. The squared norms are the
    diagonal of S = M M^T, and their mean squares are entries of the mean of T, the tensor product of S with S, which
    has four indices. By Ito's formula this mean obeys dT/dt = sum_j D_j^2 sum_pairs A_j A_j T, from
    S = diag(u(0), 0). The inner sum is over the pairs of the four indices, and one A_j acts on each index of the pair.

    Parameters are those of `output_second_moment`; the shape is (times, samples + 1).
    """
    size = len(weights) + 1
    generator = csr_array((size**4, size**4))
    for number, weight in enumerate(weights):
        # D_j A_j as a matrix, `swap`, and as it acts on each of the four indices of T, `swaps`
        swap = csr_array(([weight, weight], ([number, size - 1], [size - 1, number])), shape=(size, size))
        swaps = [
            kron(kron(eye_array(size**position), swap), eye_array(size ** (3 - position))) for position in range(4)
        ]
        generator += sum(swaps[i] @ swaps[j] for i in range(4) for j in range(i))
    start_matrix = np.diag([*start, 0.0]).ravel()
    # T at each time, as a vector: shape (times, size^4)
    squares = np.stack([expm_multiply(t * generator, np.kron(start_matrix, start_matrix)) for t in time])
    # S_ij S_kl is entry number ((i size + j) size + k) size + l. Entries with i = j = k = l are S_ii^2, the squares of
    # the squared norms
    diagonal = np.arange(size) * (size**3 + size**2 + size + 1)
    means = np.hstack([start + row_growth(weights, start, time), output_second_moment(weights, start, time)[:, None]])
    return np.sqrt(np.maximum(squares[:, diagonal] - means**2, 0.0))


def euler_output_second_moment(weights: np.ndarray, start: np.ndarray, step: float, steps: int) -> float:
    """Return E|a|^2 after a number of steps of the descent's recursion, without its drift.

    With v = E|a|^2, each step adds step * D_j^2 v to u_j, and step * sum_j D_j^2 u_j to v. `step` is a step of the
    process's time: the square of the product of the descent's step size and the standard deviation of its noise.
    """
    squares, u, v = weights**2, start.copy(), 0.0
    for _ in range(steps):
        u, v = u + step * squares * v, v + step * float(np.sum(squares * u))
    return v
