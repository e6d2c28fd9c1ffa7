"""What is measured of a two-layer linear network's layers, however they were trained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.integrate import cumulative_simpson

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.models import reductions, two_layer
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.rows import Measured, norm
from learning_dynamics.seeds import generators
from learning_dynamics.trajectory import Arrays


def layers(
    W1: np.ndarray, W2: np.ndarray, constants: Arrays, settings: Mapping[str, Any], times: np.ndarray, *, at_limit: bool
) -> Measured:
    """Return (value, prediction) arrays of shape (members, times, count) by quantity; see `metrics.linear_flow`."""
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
    Z1, Z2 = W1 @ _transposed(P), P @ W2
    gram = _transposed(Z1) @ Z1
    imbalance = gram - Z2 @ _transposed(Z2) - 2 * gamma * np.eye(inputs)
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
        return {**measured, **potential_at_the_limit(W1, W2, constants, gamma)}
    if np.allclose(_transposed(X) @ X, np.eye(inputs), atol=1e-12):
        curve = theory.learning_curve(sigma_star, np.asarray(gamma), times[:, None])
        measured |= {"sigma_beta": (sigma_beta, curve), "turning": (_turning(beta, beta_star), None)}
    return measured


def _shared_vectors(W1: np.ndarray, W2: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """How far beta is from sharing left singular vectors with W1 and right ones with W2, shape (..., 1).

    The larger of the commutators [beta beta^T, W1 W1^T] and [beta^T beta, W2^T W2], relative to the product
    of the norms; zero for beta = 0.
    """
    left = _relative_commutator(beta @ _transposed(beta), W1 @ _transposed(W1))
    right = _relative_commutator(_transposed(beta) @ beta, _transposed(W2) @ W2)
    return np.maximum(left, right)


def _relative_commutator(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    size = norm(A) * norm(B)
    return norm(A @ B - B @ A) / np.where(size > 0, size, 1.0)


def _turning(beta: np.ndarray, beta_star: np.ndarray) -> np.ndarray:
    """Part of beta off the diagonal in the singular basis of beta_star, relative to its norm; 0 for beta = 0."""
    U, _, Vt = np.linalg.svd(beta_star, full_matrices=True)
    rotated = _transposed(U) @ beta @ _transposed(Vt)
    diagonal = np.zeros_like(rotated)
    count = min(rotated.shape[-2:])
    diagonal[..., range(count), range(count)] = rotated[..., range(count), range(count)]
    size = norm(beta)
    return norm(rotated - diagonal) / np.where(size > 0, size, 1.0)


def potential_at_the_limit(W1: np.ndarray, W2: np.ndarray, constants: Arrays, gamma: float) -> Measured:
    """Return what Theorem 3.1 (iii) says of the limit: stationarity, and the cost of leaving it.

    ``stationarity_W1`` and ``stationarity_W2`` are the gradients of the Lagrangian relative to |W1| and |W2|,
    with the multiplier that fits them best; ``excess`` is the smallest increase of the potential over feasible
    perturbations of relative size 1e-3, each drawn at random and led back to the interpolators, relative to
    its squared length.
    """
    X, Y, P = constants["X"][:, None], constants["Y"][:, None], constants["P"][:, None]
    Z1, Z2 = W1 @ _transposed(P), P @ W2
    # stationarity in Z2, Z2 + Z1^T X^T multiplier = 0, fixes X^T multiplier = -alpha if alpha is in the row space
    alpha = np.linalg.solve(_transposed(Z1), Z2)
    pulled = X.swapaxes(-1, -2) @ np.linalg.pinv(_transposed(X)) @ alpha
    inverse = np.linalg.inv(_transposed(Z1))
    first = Z1 - 2 * gamma * inverse - pulled @ _transposed(Z2)
    second = Z2 - _transposed(Z1) @ pulled
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


def reductions_of(series: Arrays, constants: Arrays, times: np.ndarray) -> Measured:
    """Hold the network's flow against its reductions, at the times after 0; see `metrics.reduced_flow`."""
    X, Y, P = constants["X"][:, None], constants["Y"][:, None], constants["P"][:, None]
    gamma = constants["gamma"][:, None]
    W1, W2 = series["W1"][:, 1:], series["W2"][:, 1:]
    beta, beta_star = W1 @ W2, theory.minimum_norm_interpolator(X, Y)
    Z1, Z2, size = W1 @ _transposed(P), P @ W2, norm(W1)
    alpha = np.linalg.solve(_transposed(Z1), Z2)
    R = _transposed(X) @ (Y - X @ beta)
    speed = R @ (_transposed(W2) @ W2) + W1 @ (_transposed(W1) @ R)
    from_alpha = reductions.predictor_from_alpha(series["alpha"][:, 1:], gamma)
    printed_speed = from_alpha / (2 * gamma[..., None, None])
    measured: dict = {
        "loss": (two_layer.loss(W1, W2, X, Y)[..., None], None),
        "subspace": (np.maximum(norm(W1 - Z1 @ P), norm(W2 - _transposed(P) @ Z2)) / size, None),
        "projected": (np.maximum(norm(Z1 - series["Z1"][:, 1:]), norm(Z2 - series["Z2"][:, 1:])) / size, None),
        "alpha": (norm(alpha - series["alpha"][:, 1:]), None),
        "beta_from_alpha": (norm(beta - from_alpha) / norm(beta_star), None),
        "printed_beta_speed": (norm(speed - printed_speed) / norm(speed[:, :1]), None),
    }
    measured |= _mirror_of_singular_values(beta, speed, R, gamma, times[1:])
    if "mirror" in series:
        bound = theory.rate_bound(norm(beta_star), gamma[..., None], times[None, 1:, None])
        measured["loss"] = (measured["loss"][0], bound)
        measured["beta"] = (beta[..., 0], series["mirror"][:, 1:, :, 0])
    return measured


def _mirror_of_singular_values(
    beta: np.ndarray, speed: np.ndarray, R: np.ndarray, gamma: np.ndarray, times: np.ndarray
) -> Measured:
    """Mirror coordinates of the singular values, their speeds, and the forces that should drive them.

    A singular value moves at u^T (d beta/dt) v, and the loss falls along it at u^T R v.
    """
    U, sigma, Vt = np.linalg.svd(beta, full_matrices=False)
    along = _along(U, speed, Vt)
    force = _along(U, R, Vt)
    scale = gamma[..., None]
    # time is even in its logarithm
    driven = cumulative_simpson(force * times[:, None], x=np.log(times), axis=1, initial=0.0)
    coordinate = theory.mirror_coordinate(sigma, scale)
    printed = theory.printed_mirror_coordinate(sigma, scale)
    return {
        "sigma_beta": (sigma, None),
        "mirror_speed": (theory.mirror_curvature(sigma, scale) * along, force),
        "printed_mirror_speed": (theory.printed_mirror_curvature(sigma, scale) * along, force),
        "mirror_coordinate": (coordinate, coordinate[:, :1] + driven),
        "printed_mirror_coordinate": (printed, coordinate[:, :1] + driven),
    }


def _along(U: np.ndarray, matrix: np.ndarray, Vt: np.ndarray) -> np.ndarray:
    """Return u_i^T matrix v_i for each singular pair."""
    return np.einsum("...ai,...ab,...ib->...i", U, matrix, Vt)


def _transposed(matrices: np.ndarray) -> np.ndarray:
    return np.swapaxes(matrices, -1, -2)
