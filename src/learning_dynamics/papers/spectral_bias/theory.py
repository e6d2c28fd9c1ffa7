"""The paper's formulas as functions of arrays (Varre et al. 2023): the limit, learning curves, mirror potentials.

gamma is the initialisation scale, beta = W1 W2 the predictor, and beta_* its limit, the minimum-norm interpolator. In
formulas s is a singular value of beta, except in `learning_curve` and `jump`, where it is one of beta_*. Arguments are
arrays that broadcast together, unless a function says otherwise.
"""

import numpy as np


def minimum_norm_interpolator(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Return beta_* = X^+ Y, shape (..., inputs, outputs) (Theorem 3.1 (ii)).

    X has the shape (..., samples, inputs), Y (..., samples, outputs).
    """
    return np.linalg.pinv(X) @ Y


def hidden_singular_values(beta_singular_values: np.ndarray, gamma: float | np.ndarray, inputs: int) -> np.ndarray:
    """Return the singular values of the hidden layer W1, from those of the predictor beta.

    They are ``sqrt(gamma + sqrt(gamma**2 + s**2))``, where s are the singular values of beta, followed by zeros. This
    is true along the whole flow (Lemma C.10). At its end beta is the minimum-norm interpolator (Corollary 3.1).

    Parameters
    ----------
    beta_singular_values : ndarray, shape (..., k), descending
        Of the linear predictor beta; k <= inputs.
    gamma : float, or ndarray that broadcasts with the shape returned
        Initialisation scale; W1 starts at ``sqrt(2 * gamma) * P`` with orthonormal rows P.
    inputs : int
        How many to return: W1 has a row for each input.

    Returns
    -------
    ndarray, shape (..., inputs), descending
    """
    # zeros follow the singular values, so that there are `inputs` in all
    spare = inputs - beta_singular_values.shape[-1]
    padded = np.pad(beta_singular_values, [(0, 0)] * (beta_singular_values.ndim - 1) + [(0, spare)])
    return np.sqrt(gamma + np.hypot(gamma, padded))


def output_singular_values(beta_singular_values: np.ndarray, gamma: float | np.ndarray) -> np.ndarray:
    """Return the singular values of the weight layer W2, from those of beta, in the same shape (Lemma C.10).

    They are ``sqrt(sqrt(gamma**2 + s**2) - gamma)``, computed as s over the singular value of W1, which does not cancel
    at small s.
    """
    return beta_singular_values / np.sqrt(gamma + np.hypot(gamma, beta_singular_values))


def learning_curve(teacher_singular_values: np.ndarray, gamma: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return singular values of the predictor over time, on whitened data (Theorem C.12).

    They are ``s (1 - h) / (1 + v h (2 - h) / (2 gamma))`` for singular values s of beta_*, with
    ``v = sqrt(s^2 + gamma^2) - gamma``, ``w = sqrt(s^2 + gamma^2) + gamma``, ``h = (v + w) e / (w + v e)`` and
    ``e = exp(-t (v + w))``, which is `decay` in the code. This form of the theorem's formula, from its proof, keeps its
    accuracy when gamma is far below the rounding of s.

    Parameters
    ----------
    teacher_singular_values, gamma, time : ndarray
        s, gamma and the time t of the gradient flow, in shapes that broadcast together.
    """
    s = teacher_singular_values
    root = np.hypot(s, gamma)
    # v w = s^2, which gives v without cancellation; v + w is twice the root
    v, w = s**2 / (root + gamma), root + gamma
    decay = np.exp(-2 * time * root)
    h = 2 * root * decay / (w + v * decay)
    # 1 - h = w (1 - e) / (w + v e), without cancellation
    one_minus_h = -w * np.expm1(-2 * time * root) / (w + v * decay)
    return s * one_minus_h / (1 + v * h * (1 + one_minus_h) / (2 * gamma))  # 1 + (1 - h) is 2 - h


def jump(teacher_singular_values: np.ndarray, rescaled_time: np.ndarray) -> np.ndarray:
    """Return the limit of the predictor's singular values at time ln(1/gamma) t as gamma vanishes.

    For a singular value s of beta_* it is 0 at rescaled times t before 1/(2 s), s after this time, and s / (1 + 2 s) at
    this time itself, as the proof of Theorem C.12 has it; the theorem prints s there (errata 15).
    """
    s = teacher_singular_values
    delay = rescaled_time - 1 / (2 * s)
    # the time after the jump, zero at it; 1e-9 is far above the 1e-12 to which `jump.runs` rounds recorded times
    value_at_jump = s / (1 + 2 * s)
    return np.where(np.abs(delay) < 1e-9, value_at_jump, np.where(delay > 0, s, 0.0))


def mirror_coordinate(sigma: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Return 1/2 asinh(s / gamma) of singular values s.

    It is the derivative of 1/2 (s asinh(s / gamma) - sqrt(s^2 + gamma^2)), the mirror potential of the dynamics. Along
    the flow this coordinate moves at the speed u^T R v, where u and v are the singular vectors of s, and R is
    X^T (Y - X beta). That is -dL/ds, the force of the loss L on s (Theorem 3.2 (a), proof of Lemma C.13).
    """
    return 0.5 * np.arcsinh(sigma / gamma)


def printed_mirror_coordinate(sigma: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Return 1/2 asinh(s / gamma) - 1/2 s / sqrt(s^2 + gamma^2) of singular values s.

    It is the derivative of the potential as Theorem 3.2 (a) prints it, 1/2 s asinh(s / gamma) - sqrt(s^2 + gamma^2)
    (errata 1).
    """
    return 0.5 * np.arcsinh(sigma / gamma) - 0.5 * sigma / np.hypot(sigma, gamma)


def mirror_curvature(sigma: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Return 1 / (2 sqrt(s^2 + gamma^2)), the derivative of `mirror_coordinate` by s."""
    return 0.5 / np.hypot(sigma, gamma)


def printed_mirror_curvature(sigma: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Return s^2 / (2 (s^2 + gamma^2)^{3/2}), the derivative of `printed_mirror_coordinate` by s."""
    return 0.5 * sigma**2 / np.hypot(sigma, gamma) ** 3


def spectral_potential(sigma: np.ndarray, gamma: np.ndarray, *, printed: bool) -> np.ndarray:
    """Return the mirror potential Psi_gamma of singular values s, summed over the last axis (Theorem 3.2 (a)).

    As printed, each s contributes 1/2 s asinh(s / gamma) - sqrt(s^2 + gamma^2) (errata 1). In the potential of the
    dynamics both terms are halved. As gamma vanishes, either potential grows as 1/2 ln(1 / gamma) times the sum of s.
    """
    return np.sum(0.5 * sigma * np.arcsinh(sigma / gamma) - (1.0 if printed else 0.5) * np.hypot(sigma, gamma), axis=-1)


def potential(beta_norm: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    """Return the mirror potential psi of a predictor with a single output, from its norm |beta| (Theorem 3.2 (b)).

    It is 2/3 w^{3/2} - 2 gamma w^{1/2} with w = gamma + sqrt(|beta|^2 + gamma^2).
    """
    root = np.hypot(beta_norm, gamma) + gamma
    return 2 / 3 * root**1.5 - 2 * gamma * root**0.5


def rate_bound(beta_star_norm: np.ndarray, gamma: np.ndarray, time: np.ndarray) -> np.ndarray:
    """Return the bound on the loss with one output at times t > 0, D_psi(beta_*, 0) / (sqrt(2 gamma) t) (Lemma C.8).

    D_psi is the Bregman divergence of the mirror potential psi. The gradient of psi vanishes at 0, where beta starts.
    So D_psi(beta_*, 0) is psi(beta_*) - psi(0).
    """
    # 0.0 * beta_star_norm is |beta| = 0 in the shape of the norms
    return (potential(beta_star_norm, gamma) - potential(0.0 * beta_star_norm, gamma)) / (np.sqrt(2 * gamma) * time)
