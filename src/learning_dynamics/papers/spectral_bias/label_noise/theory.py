"""Moments of label-noise descent by the stochastic differential equation of appendix D."""

import numpy as np
from scipy.sparse import csr_array, eye_array, kron
from scipy.sparse.linalg import expm_multiply


def output_second_moment(weights: np.ndarray, start: np.ndarray, time: np.ndarray) -> np.ndarray:
    """E|a|^2 for dW = X^T dB a^T, da = W^T X^T dB from a(0) = 0, at times of the process, shape (times,).

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
    """u_j(t) - u_j(0) of the process in `output_second_moment`, shape (times, samples).

    It is the integral of u_j' = D_j^2 E|a|^2, D_j^2 sum_i D_i^2 u_i(0) (cosh(k t) - 1) / k^2 with k^2 = sum_j D_j^4.
    """
    rate = np.sqrt(np.sum(weights**4))
    return weights**2 * np.sum(weights**2 * start) * ((np.cosh(rate * time) - 1) / rate**2)[:, None]


def deviations(weights: np.ndarray, start: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Standard deviations over paths of the squared norms of the rows of V^T W and of a, shape (times, samples + 1).

    The columns of V^T W above those of a^T form M, dM = sum_j D_j A_j M dB_j with A_j swapping row j and the last, so
    that the mean of the tensor S (x) S, S = M M^T, obeys a linear equation: sum_j D_j^2 times A_j at two of its four
    places, summed over pairs of them. S starts as diag(u(0), 0).
    """
    size = len(weights) + 1
    generator = csr_array((size**4, size**4))
    for number, weight in enumerate(weights):
        swap = csr_array(([weight, weight], ([number, size - 1], [size - 1, number])), shape=(size, size))
        swaps = [
            kron(kron(eye_array(size**position), swap), eye_array(size ** (3 - position))) for position in range(4)
        ]
        generator += sum(swaps[i] @ swaps[j] for i in range(4) for j in range(i))
    start_matrix = np.diag([*start, 0.0]).ravel()
    squares = np.stack([expm_multiply(t * generator, np.kron(start_matrix, start_matrix)) for t in time])
    # of the tensor S_ij S_kl as a vector, numbered ((i size + j) size + k) size + l: the places with i = j = k = l
    diagonal = np.arange(size) * (size**3 + size**2 + size + 1)
    means = np.hstack([start + row_growth(weights, start, time), output_second_moment(weights, start, time)[:, None]])
    return np.sqrt(np.maximum(squares[:, diagonal] - means**2, 0.0))


def euler_output_second_moment(weights: np.ndarray, start: np.ndarray, step: float, steps: int) -> float:
    """E|a|^2 after a number of steps of the descent's recursion, without its drift, from a(0) = 0.

    Each step has u_j += step * D_j^2 v and v += step * sum_j D_j^2 u_j for v = E|a|^2 and the u_j of
    `output_second_moment`. `step` is that of the process's time, the square of the descent's step times its noise.
    """
    squares, u, v = weights**2, start.copy(), 0.0
    for _ in range(steps):
        u, v = u + step * squares * v, v + step * float(np.sum(squares * u))
    return v
