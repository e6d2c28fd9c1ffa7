"""Minimum-norm interpolators and maximum-margin classifiers, which no dynamics enters, and distances from them."""

from __future__ import annotations

from itertools import combinations
from typing import Literal

import numpy as np

Norm = Literal["l1", "l2", "dft_l1"]


def minimum_norm(X: np.ndarray, y: np.ndarray, norm: Norm, *, classification: bool = False) -> np.ndarray:
    """Minimise a norm of z subject to ``X z = y``, or to ``y_i x_i^T z >= 1`` for classification.

    Parameters
    ----------
    X : ndarray, shape (samples, inputs)
    y : ndarray, shape (samples,)
    norm : str
        l1; l2; or dft_l1, the l1 norm of the unitary discrete Fourier transform.

    Returns
    -------
    ndarray, shape (inputs,)
        Where minimisers are many, one of them.

    Raises
    ------
    ValueError
        If no z fulfils the constraints.
    """
    import cvxpy as cp  # takes a second to import, which most stages need not wait for

    z = cp.Variable(X.shape[1])
    constraints = [cp.multiply(y, X @ z) >= 1] if classification else [X @ z == y]
    if norm == "l2":
        # squared, so that the solution is the one of a strictly convex quadratic program
        cost = cp.sum_squares(z)
    elif norm == "l1":
        cost = cp.norm1(z)
    else:
        F = np.fft.fft(np.eye(X.shape[1]), norm="ortho")
        cost = cp.sum(cp.norm(cp.vstack([F.real @ z, F.imag @ z]), 2, axis=0))
    problem = cp.Problem(cp.Minimize(cost), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    if z.value is None:
        raise ValueError(f"no {norm} solution: the problem is {problem.status}")
    return np.asarray(z.value)


def minimum_matrix_norm(sensors: np.ndarray, y: np.ndarray, norm: Literal["nuclear", "frobenius"]) -> np.ndarray:
    """Minimise a norm of a symmetric matrix Z subject to ``<A_i, Z> = y_i``.

    Parameters
    ----------
    sensors : ndarray, shape (samples, size, size)
    y : ndarray, shape (samples,)
    norm : str
        nuclear, the sum of singular values; or frobenius.
    """
    import cvxpy as cp  # takes a second to import, which most stages need not wait for

    Z = cp.Variable(sensors.shape[1:], symmetric=True)
    cost = cp.normNuc(Z) if norm == "nuclear" else cp.sum_squares(Z)
    problem = cp.Problem(cp.Minimize(cost), [cp.trace(A @ Z) == b for A, b in zip(sensors, y, strict=True)])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    if Z.value is None:
        raise ValueError(f"no solution of least {norm} norm: the problem is {problem.status}")
    return np.asarray(Z.value)


def least_quasi_norm(features: np.ndarray, y: np.ndarray, power: float) -> float:
    r"""Return the least ``sum_j |rho_j|**power`` subject to ``y_i features_i rho >= 1``, for a power of at most 1.

    The cost is concave on every orthant, so that a minimum lies at a vertex of the feasible set in some orthant:
    at a point with at most as many entries as there are constraints that are tight there.
    """
    signed = y[:, None] * features
    samples, size = features.shape
    best = np.inf
    for count in range(1, samples + 1):
        for tight in combinations(range(samples), count):
            for support in combinations(range(size), count):
                system = signed[np.ix_(tight, support)]
                if abs(np.linalg.det(system)) < 1e-12:
                    continue
                entries = np.linalg.solve(system, np.ones(count))
                if (signed[:, list(support)] @ entries >= 1 - 1e-9).all():
                    best = min(best, float(np.sum(np.abs(entries) ** power)))
    return best


def norm_of(z: np.ndarray, norm: Norm) -> np.ndarray:
    """Return l1, l2 or (unitary) dft_l1 norms along the last axis."""
    if norm == "l2":
        return np.linalg.norm(z, axis=-1)
    return np.abs(np.fft.fft(z, norm="ortho") if norm == "dft_l1" else z).sum(axis=-1)


def angle_between(beta: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return angles in degrees between vectors, accurate near zero."""
    with np.errstate(invalid="ignore"):
        unit = beta / np.linalg.norm(beta, axis=-1, keepdims=True)
    direction = direction / np.linalg.norm(direction)
    return np.degrees(
        2 * np.arctan2(np.linalg.norm(unit - direction, axis=-1), np.linalg.norm(unit + direction, axis=-1))
    )


def relative_distance(found: np.ndarray, reference: np.ndarray) -> float:
    """Return the distance between two arrays relative to the norm of the reference."""
    return float(np.linalg.norm(found - reference) / np.linalg.norm(reference))
