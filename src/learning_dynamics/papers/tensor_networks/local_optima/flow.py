"""Gradient flow of diagonal networks whose last layer starts at zero, many starts at once, on its path alone.

`exponential_flow` follows the same paths one at a time, and takes thirty times as long.

The squares of two layers differ by a constant (Yun et al. 2021, (21)), so that the last layer q gives the others:
``rho_j = q_j p_j`` with ``p_j = prod_l sqrt(lambda_lj + q_j**2)`` over the other layers, and

    dq_j / ds = p_j sum_i r_i y_i x_ij,    r_i = exp(-kappa (m_i - min m)) / sum_k exp(-kappa (m_k - min m)),

with the margins m and kappa = 1 / (1 + min m / sharpness). Time s is that of the exponential loss, stretched by its
inverse, which leaves the path as it is; it ends at a finite s, towards which steps shrink. As for
`exponential_flow`, an error of epsilon in a margin m is one of m epsilon in the exponent; kappa stays near one up to
margins of a hundredth of `sharpness`, and beyond, those of support vectors agree to 1 / sharpness rather than to 1 / m.
"""

from typing import NamedTuple

import numpy as np

MOST_STEPS = 3000
# d and e_32 of Shampine and Reichelt (1997); with this d the method is L-stable
GAMMA = 1 / (2 + np.sqrt(2))
THIRD = 6 + np.sqrt(2)


class Slope(NamedTuple):
    """The field at one state of every flow, and the terms of its derivative."""

    field: np.ndarray  # (flows, inputs)
    product: np.ndarray  # p, (flows, inputs)
    growth: np.ndarray  # the derivative of log p_j by q_j, (flows, inputs)
    margins: np.ndarray  # (flows, samples)
    residuals: np.ndarray  # r, (flows, samples)
    kappa: np.ndarray  # (flows, 1)


def limits_of_layers(
    signed: np.ndarray, squares: np.ndarray, *, sharpness: float, reach: float, rtol: float
) -> np.ndarray:
    """Follow every flow until its least margin is large, and return where its coefficients then point.

    Steps are those of the Rosenbrock method of order two of Shampine and Reichelt (The MATLAB ODE suite, 1997), with
    their estimate of the error; every flow has its own.

    Parameters
    ----------
    signed : ndarray, shape (flows, samples, inputs)
        Data points multiplied by their labels.
    squares : ndarray, shape (flows, layers - 1, inputs)
        Squared entries of all layers but the last at the start.
    sharpness : float
    reach : float
        Least margin at which a flow ends; where initial entries are above one, in units of the largest to the power of
        the number of layers, which coefficients must exceed before layers forget how they differed.
    rtol : float
        Local error that each step may make in q.

    Returns
    -------
    ndarray, shape (flows, inputs)
        Coefficients divided by the least margin: of flows that took `MOST_STEPS` steps, those at their end; nan where
        some point is still on the wrong side, or numbers overflow.
    """
    flows, _, inputs = signed.shape
    sizes = np.sqrt(squares).max(axis=(1, 2))
    ends = reach * np.maximum(1.0, sizes ** (squares.shape[1] + 1))
    q, margins = np.zeros((flows, inputs)), np.zeros(flows)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        initial_field = np.abs(_slope(q, signed, squares, sharpness).field)
        steps = 0.01 * np.min(np.sqrt(squares.min(axis=1)) / initial_field, axis=1)
        active = np.flatnonzero(np.isfinite(steps) & np.isfinite(ends))
        for _ in range(MOST_STEPS):
            if not len(active):
                break
            current, points, layers = q[active], signed[active], squares[active]
            proposed, least_margins, error = _step(current, points, layers, steps=steps[active], sharpness=sharpness)
            tolerance = rtol * (1e-3 * sizes[active, None] + np.maximum(np.abs(current), np.abs(proposed)))
            worst = np.nan_to_num(np.max(error / tolerance, axis=1), nan=np.inf)
            accepted = worst <= 1
            q[active[accepted]], margins[active[accepted]] = proposed[accepted], least_margins[accepted]
            steps[active] *= np.clip(0.8 * np.maximum(worst, 1e-10) ** (-1 / 3), 0.2, 4.0)
            active = active[margins[active] < ends[active]]
        coefficients = q * np.sqrt(np.prod(squares + q[:, None] ** 2, axis=1))
        return np.where((margins > 0)[:, None], coefficients / margins[:, None], np.nan)


def _slope(q: np.ndarray, signed: np.ndarray, squares: np.ndarray, sharpness: float) -> Slope:
    """Return dq / ds of the module's equation, with y_i x_i as `signed` and lambda_lj as `squares`, and its terms."""
    grown = squares + q[:, None] ** 2
    product = np.sqrt(np.prod(grown, axis=1))
    margins = _products(signed, q * product)
    least_margin = margins.min(axis=1, keepdims=True)
    kappa = 1 / (1 + np.maximum(least_margin, 0) / sharpness)
    losses = np.exp(-kappa * (margins - least_margin))
    residuals = losses / losses.sum(axis=1, keepdims=True)
    pushes = _products(signed.swapaxes(1, 2), residuals)
    return Slope(product * pushes, product, q * np.sum(1 / grown, axis=1), margins, residuals, kappa)


def _derivative(q: np.ndarray, signed: np.ndarray, at: Slope) -> np.ndarray:
    """Return the derivative of the field by q at a given kappa, shape (flows, inputs, inputs)."""
    samples, inputs = np.arange(signed.shape[1]), np.arange(q.shape[1])
    spread = -at.residuals[:, :, None] * at.residuals[:, None]
    spread[:, samples, samples] += at.residuals
    curvature = signed.swapaxes(1, 2) @ (spread @ signed)
    derivative = -(at.kappa * at.product)[:, :, None] * curvature * (at.product * (1 + q * at.growth))[:, None]
    derivative[:, inputs, inputs] += at.field * at.growth
    return derivative


def _step(
    q: np.ndarray, signed: np.ndarray, squares: np.ndarray, *, steps: np.ndarray, sharpness: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q after one step of each flow, the least margins there, and the estimated errors of q."""
    length = steps[:, None]
    start = _slope(q, signed, squares, sharpness)
    system = np.eye(q.shape[1]) - GAMMA * length[:, :, None] * _derivative(q, signed, start)
    solve = np.linalg.inv(np.where(np.isfinite(system), system, np.eye(q.shape[1])))
    k1 = _products(solve, start.field)
    middle = _slope(q + length / 2 * k1, signed, squares, sharpness).field
    k2 = k1 + _products(solve, middle - k1)
    after = q + length * k2
    end = _slope(after, signed, squares, sharpness)
    k3 = _products(solve, end.field - THIRD * (k2 - middle) - 2 * (k1 - start.field))
    return after, end.margins.min(axis=1), np.abs(length / 6 * (k1 - 2 * k2 + k3))


def _products(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the product of each matrix with its vector."""
    return (matrices @ vectors[..., None])[..., 0]
