"""What is measured of a two-layer linear network's layers, however they were trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias import theory, two_layer
from learning_dynamics.papers.spectral_bias.matrices import norm, transposed
from learning_dynamics.papers.spectral_bias.rows import Measured
from learning_dynamics.seeds import generators
from learning_dynamics.trajectory import Arrays


def layers(
    W1: np.ndarray, W2: np.ndarray, constants: Arrays, settings: Mapping[str, Any], times: np.ndarray, *, at_limit: bool
) -> Measured:
    """Return (value, prediction) arrays of shape (members, times, count) by quantity; see `flow.linear_flow`."""
    X, Y = constants["X"][:, None], constants["Y"][:, None]
    inputs, outputs = X.shape[-1], Y.shape[-1]
    count = min(inputs, outputs)
    beta_star = theory.minimum_norm_interpolator(X, Y)
    beta = W1 @ W2
    sigma_beta = singular_values(beta, count)
    sigma_star = singular_values(beta_star, count)
    residual = norm(X @ beta - Y)
    smallest = singular_values(X)[..., -1:]
    sigma_w1, sigma_w2 = singular_values(W1, inputs), singular_values(W2, count)
    measured: dict = {
        "loss": (two_layer.loss(W1, W2, X, Y)[..., None], None),
        "sigma_beta": (sigma_beta, sigma_star if at_limit else None),
        "sigma_w1": (sigma_w1, None),
        "sigma_w2": (sigma_w2, None),
        "distance": (norm(beta - beta_star) / norm(beta_star), None),
        "residual": (residual / norm(Y), None),
        "distance_bound": (residual / (smallest * norm(beta_star)), None),
    }
    if settings["kind"] != "linear_flow":
        return measured
    if "P" not in constants:
        # the orthogonal layer with the same mean square, whose rows a wide Gaussian layer resembles
        gamma = settings["width"] * settings["variance"] / 2
        like = theory.hidden_singular_values(sigma_star, gamma, inputs) if at_limit else None
        return measured | {"sigma_w1": (sigma_w1, like)}
    gamma, P = settings["gamma"], constants["P"][:, None]
    spectrum = sigma_star if at_limit else sigma_beta
    Z1, Z2 = W1 @ transposed(P), P @ W2
    gram = transposed(Z1) @ Z1
    imbalance = gram - Z2 @ transposed(Z2) - 2 * gamma * np.eye(inputs)
    measured |= {
        "sigma_w1": (sigma_w1, theory.hidden_singular_values(spectrum, gamma, inputs)),
        "sigma_w2": (sigma_w2, theory.output_singular_values(spectrum, gamma)),
        "imbalance": (singular_values(imbalance, 1), None),
        "scale": (singular_values(gram, 1), None),
        "shared_vectors": (_shared_vectors(W1, W2, beta), None),
    }
    if at_limit:
        # the end is a little before the limit: what beta's remaining distance can do to a singular value
        star, apart = theory.hidden_singular_values(sigma_star, gamma, count), residual / smallest
        above = theory.hidden_singular_values(sigma_star + apart, gamma, count) - star
        below = star - theory.hidden_singular_values(np.maximum(sigma_star - apart, 0.0), gamma, count)
        measured["sigma_w1_bound"] = (np.maximum(above, below) / star[..., :1], None)
        return {**measured, **_potential_at_the_limit(W1, W2, constants, gamma)}
    if np.allclose(transposed(X) @ X, np.eye(inputs), atol=1e-12):
        curve = theory.learning_curve(sigma_star, np.asarray(gamma), times[:, None])
        measured |= {"sigma_beta": (sigma_beta, curve), "turning": (_turning(beta, beta_star), None)}
    return measured


def _shared_vectors(W1: np.ndarray, W2: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """How far beta is from sharing left singular vectors with W1 and right ones with W2, shape (..., 1).

    The larger of the commutators [beta beta^T, W1 W1^T] and [beta^T beta, W2^T W2], relative to the product
    of the norms; zero for beta = 0.
    """
    left = _relative_commutator(beta @ transposed(beta), W1 @ transposed(W1))
    right = _relative_commutator(transposed(beta) @ beta, transposed(W2) @ W2)
    return np.maximum(left, right)


def _relative_commutator(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    size = norm(A) * norm(B)
    return norm(A @ B - B @ A) / np.where(size > 0, size, 1.0)


def _turning(beta: np.ndarray, beta_star: np.ndarray) -> np.ndarray:
    """Part of beta off the diagonal in the singular basis of beta_star, relative to its norm; 0 for beta = 0."""
    U, _, Vt = np.linalg.svd(beta_star, full_matrices=True)
    rotated = transposed(U) @ beta @ transposed(Vt)
    diagonal = np.zeros_like(rotated)
    count = min(rotated.shape[-2:])
    diagonal[..., range(count), range(count)] = rotated[..., range(count), range(count)]
    size = norm(beta)
    return norm(rotated - diagonal) / np.where(size > 0, size, 1.0)


def _potential_at_the_limit(W1: np.ndarray, W2: np.ndarray, constants: Arrays, gamma: float) -> Measured:
    """Return what Theorem 3.1 (iii) says of the limit: stationarity, and the cost of leaving it.

    ``stationarity_W1`` and ``stationarity_W2`` are the gradients of the Lagrangian relative to |W1| and |W2|,
    with the multiplier that fits them best; ``excess`` is the smallest increase of the potential over feasible
    perturbations of relative size 1e-3, each drawn at random and led back to the interpolators, relative to
    its squared length.
    """
    X, Y, P = constants["X"][:, None], constants["Y"][:, None], constants["P"][:, None]
    Z1, Z2 = W1 @ transposed(P), P @ W2
    # stationarity in Z2, Z2 + Z1^T X^T multiplier = 0, fixes X^T multiplier = -alpha if alpha is in the row space
    alpha = np.linalg.solve(transposed(Z1), Z2)
    pulled = X.swapaxes(-1, -2) @ np.linalg.pinv(transposed(X)) @ alpha
    inverse = np.linalg.inv(transposed(Z1))
    first = Z1 - 2 * gamma * inverse - pulled @ transposed(Z2)
    second = Z2 - transposed(Z1) @ pulled
    return {
        "stationarity_W1": (norm(first) / norm(Z1), None),
        "stationarity_W2": (norm(second) / norm(Z2), None),
        "excess": (_smallest_excess(Z1, Z2, X, Y, gamma)[..., None], None),
    }


def _smallest_excess(
    Z1: np.ndarray, Z2: np.ndarray, X: np.ndarray, Y: np.ndarray, gamma: float, tries: int = 100, size: float = 1e-3
) -> np.ndarray:
    # directions of probing, the same for every member: part of the measure, so no setting
    (rng,) = generators(0, "spectral_bias.perturbations", 1)
    start = _potential(Z1, Z2, gamma)
    smallest = np.full(start.shape, np.inf)
    for _ in range(tries):
        moved1 = Z1 + size * norm(Z1)[..., None] * rng.standard_normal(Z1.shape[-2:]) / Z1.shape[-1]
        moved2 = Z2 + size * norm(Z2)[..., None] * rng.standard_normal(Z2.shape[-2:]) / Z2.shape[-2]
        # the nearest second layer that interpolates with the moved first one
        moved2 = moved2 + np.linalg.pinv(X @ moved1) @ (Y - X @ moved1 @ moved2)
        length = (norm(moved1 - Z1) ** 2 + norm(moved2 - Z2) ** 2)[..., 0]
        smallest = np.minimum(smallest, (_potential(moved1, moved2, gamma) - start) / length)
    return smallest


def _potential(Z1: np.ndarray, Z2: np.ndarray, gamma: float) -> np.ndarray:
    """1/2 |Z1|^2 + 1/2 |Z2|^2 - gamma log det(Z1 Z1^T) (eq. 3.1)."""
    return 0.5 * (norm(Z1) ** 2 + norm(Z2) ** 2)[..., 0] - 2 * gamma * np.linalg.slogdet(Z1)[1]
