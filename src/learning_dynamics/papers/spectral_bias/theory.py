"""The paper's formulas as functions of arrays (Varre et al. 2023): the limit, learning curves, mirror potentials.

s is a singular value of the predictor beta, gamma the initialisation scale.
"""

import numpy as np


def minimum_norm_interpolator(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return beta_* = pinv(X) Y, shape (..., inputs, outputs) (Theorem 3.1 (ii))."""
    return np.linalg.pinv(X) @ Y


def hidden_singular_values(beta_singular_values: np.ndarray, gamma: float | np.ndarray, inputs: int) -> np.ndarray:
    """Return the singular values of the hidden layer W1, from those of the predictor beta.

    They are ``sqrt(gamma + sqrt(gamma**2 + s**2))`` for the singular values s of beta, padded with zeros:
    along the whole flow (Lemma C.10), and at its end for those of the minimum-norm interpolator (Corollary 3.1).

    Parameters
    ----------
    beta_singular_values : ndarray, shape (..., k), descending
        Of the linear predictor beta; k <= inputs.
    gamma : float, or ndarray that is broadcast
        Initialisation scale; W1 starts at ``sqrt(2 * gamma) * P``.
    inputs : int
        How many to return.

    Returns
    -------
    ndarray, shape (..., inputs), descending
    """
    # zeros after the last of the singular values, `inputs` in all
    spare = inputs - beta_singular_values.shape[-1]
    padded = np.pad(beta_singular_values, [(0, 0)] * (beta_singular_values.ndim - 1) + [(0, spare)])
    return np.sqrt(gamma + np.hypot(gamma, padded))


def output_singular_values(beta_singular_values: np.ndarray, gamma: float | np.ndarray) -> np.ndarray:
    """Return the singular values of the weight layer W2, from those of beta, in the same shape (Lemma C.10).

    They are ``sqrt(sqrt(gamma**2 + s**2) - gamma)``, written without the cancellation at small s.
    """
    return beta_singular_values / np.sqrt(gamma + np.hypot(gamma, beta_singular_values))


def learning_curve(teacher_singular_values: np.ndarray, gamma: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Singular values of the predictor over time, on whitened data (Theorem C.12).

    ``s (1 - h) / (1 + v h (2 - h) / (2 gamma))`` with ``v = sqrt(s^2 + gamma^2) - gamma``,
    ``w = sqrt(s^2 + gamma^2) + gamma``, ``h = (v + w) e / (w + v e)`` and ``e = exp(-t (v + w))``: the theorem's
    formula in a form that keeps its accuracy when gamma is far below the rounding of s.

    Parameters
    ----------
    teacher_singular_values, gamma, time : ndarray
        Shapes that broadcast together; time in units of gradient flow.
    """
    s = teacher_singular_values
    root = np.hypot(s, gamma)
    # v w = s^2, which gives v without cancellation; v + w is twice the root
    v, w = s**2 / (root + gamma), root + gamma
    decay = np.exp(-2 * time * root)
    h = 2 * root * decay / (w + v * decay)
    # 1 - h = w (1 - e) / (w + v e), without cancellation
    one_minus_h = -w * np.expm1(-2 * time * root) / (w + v * decay)
    return s * one_minus_h / (1 + v * h * (1 + one_minus_h) / (2 * gamma))


def jump(teacher_singular_values: np.ndarray, rescaled_time: np.ndarray) -> np.ndarray:
    """Limit of the singular values at time ln(1/gamma) t as gamma vanishes (Theorem C.12 and its proof).

    0 before 1/(2 s), s after it, and s / (1 + 2 s) at it.
    """
    s = teacher_singular_values
    delay = rescaled_time - 1 / (2 * s)
    # a delay of zero is the jump itself; 1e-9 is far above the 1e-12 to which `jump.runs` rounds recorded times
    value_at_jump = s / (1 + 2 * s)
    return np.where(np.abs(delay) < 1e-9, value_at_jump, np.where(delay > 0, s, 0.0))


def mirror_coordinate(sigma: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Return 1/2 asinh(s / gamma), the gradient of 1/2 (s asinh(s / gamma) - sqrt(s^2 + gamma^2)).

    Along the flow its speed is u^T R v, the force on the singular value s (Theorem 3.2 (a), proof of Lemma C.13).
    """
    return 0.5 * np.arcsinh(sigma / gamma)


def printed_mirror_coordinate(sigma: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Return 1/2 asinh(s / gamma) - 1/2 s / sqrt(s^2 + gamma^2), the gradient of the potential as printed (errata 1).

    Theorem 3.2 (a) prints 1/2 s asinh(s / gamma) - sqrt(s^2 + gamma^2).
    """
    return 0.5 * np.arcsinh(sigma / gamma) - 0.5 * sigma / np.hypot(sigma, gamma)


def mirror_curvature(sigma: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Return 1 / (2 sqrt(s^2 + gamma^2)), the derivative of `mirror_coordinate` by s."""
    return 0.5 / np.hypot(sigma, gamma)


def printed_mirror_curvature(sigma: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Return s^2 / (2 (s^2 + gamma^2)^{3/2}), the derivative of `printed_mirror_coordinate` by s."""
    return 0.5 * sigma**2 / np.hypot(sigma, gamma) ** 3


def spectral_potential(sigma: np.ndarray, gamma: np.ndarray, *, printed: bool) -> np.ndarray:
    """Return the mirror potential of singular values, summed over the last axis (Theorem 3.2 (a)).

    Printed is 1/2 s asinh(s / gamma) - sqrt(s^2 + gamma^2) for each (errata 1); the dynamics have both terms halved.
    Both potentials grow as 1/2 ln(1 / gamma) times the sum of s while gamma vanishes.
    """
    return np.sum(0.5 * sigma * np.arcsinh(sigma / gamma) - (1.0 if printed else 0.5) * np.hypot(sigma, gamma), axis=-1)


def potential(beta_norm: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Return the mirror potential psi of a predictor with a single output (Theorem 3.2 (b)).

    It is 2/3 w^{3/2} - 2 gamma w^{1/2} with w = gamma + sqrt(|beta|^2 + gamma^2).
    """
    root = np.hypot(beta_norm, gamma) + gamma
    return 2 / 3 * root**1.5 - 2 * gamma * root**0.5


def rate_bound(beta_star_norm: np.ndarray, gamma: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return the bound on the loss, D_psi(beta_*, 0) / (sqrt(2 gamma) t) (Lemma C.8).

    The gradient of psi vanishes at 0, so that the Bregman divergence D_psi(beta_*, 0) is psi(beta_*) - psi(0).
    """
    return (potential(beta_star_norm, gamma) - potential(0.0 * beta_star_norm, gamma)) / (np.sqrt(2 * gamma) * time)
