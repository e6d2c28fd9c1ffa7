"""What gradient flow of a two-layer linear network from the orthogonal initialisation reduces to.

Varre et al. 2023: from W1(0) = sqrt(2 gamma) P with P P^T = I, and W2(0) = 0, the gradient flow of
L = |X beta - Y|^2 / 2 keeps the layers in the form (W1, W2) = (Z1 P, P^T Z2). Then alpha = Z1^{-T} Z2 obeys an equation
of its own, and with a single output so does the predictor beta = W1 W2 = Z1 Z2.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dgesv


def predictor_from_alpha(alpha: np.ndarray, gamma: float | np.ndarray) -> np.ndarray:
    """Return beta = 2 gamma (I - alpha alpha^T)^{-1} alpha (Lemma C.2).

    alpha and beta have the shape (..., inputs, outputs), gamma a shape that broadcasts to (...).
    The inverse is taken on the smaller side: (I - alpha alpha^T)^{-1} alpha = alpha (I - alpha^T alpha)^{-1}.
    """
    core = np.eye(alpha.shape[-1]) - np.swapaxes(alpha, -1, -2) @ alpha
    transposed = np.linalg.solve(core, np.swapaxes(alpha, -1, -2))
    return 2 * np.asarray(gamma)[..., None, None] * np.swapaxes(transposed, -1, -2)


def riccati_field(X: np.ndarray, Y: np.ndarray, gamma: float) -> Callable[[float, np.ndarray], np.ndarray]:
    """Return the field of d alpha/dt = R - alpha R^T alpha with R = X^T (Y - X beta) (Lemma 3.3).

    The state is alpha, (inputs, outputs), as a vector; the field is nan where alpha gives no beta.
    """
    shape = (X.shape[1], Y.shape[1])
    identity = np.eye(Y.shape[1])

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        alpha = state.reshape(shape)
        # `predictor_from_alpha` for one matrix, transposed: (I - alpha^T alpha)^{-1} alpha^T is beta^T / (2 gamma).
        # LAPACK is called directly, as numpy's overhead would be most of the time
        _, _, beta_over_2_gamma, info = dgesv(identity - alpha.T.dot(alpha), alpha.T)
        if info:  # the matrix is singular
            return np.full_like(state, np.nan)
        beta = 2 * gamma * beta_over_2_gamma.T
        R = X.T.dot(Y - X.dot(beta))
        return (R - alpha.dot(R.T.dot(alpha))).ravel()

    return field


def predictor_from_mirror(mirror: np.ndarray, gamma: float) -> np.ndarray:
    """Return the predictor beta whose mirror coordinates grad psi(beta) are `mirror`, shape (..., inputs).

    psi is the mirror potential of Theorem 3.2 (b). Its gradient beta / sqrt(gamma + sqrt(|beta|^2 + gamma^2)) is
    inverted by beta = mirror * sqrt(|mirror|^2 + 2 gamma).
    """
    return mirror * np.sqrt(np.sum(mirror**2, axis=-1, keepdims=True) + 2 * gamma)


def mirror_field(X: np.ndarray, y: np.ndarray, gamma: float) -> Callable[[float, np.ndarray], np.ndarray]:
    """Return the field of d grad psi(beta)/dt = -sqrt(gamma + sqrt(|beta|^2 + gamma^2)) grad L(beta) (eq. 3.3).

    The state is grad psi(beta), shape (inputs,), and -grad L(beta) = X^T (y - X beta) with y of shape (samples,).
    """

    def field(_time: float, mirror: np.ndarray) -> np.ndarray:
        beta = predictor_from_mirror(mirror, gamma)
        rate = np.sqrt(gamma + np.hypot(np.linalg.norm(beta), gamma))
        return rate * (X.T @ (y - X @ beta))

    return field
