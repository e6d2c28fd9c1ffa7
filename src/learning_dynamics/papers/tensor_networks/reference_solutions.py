"""Minimum-norm interpolators and maximum-margin classifiers from a convex solver: no dynamics enters them."""

from __future__ import annotations

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
