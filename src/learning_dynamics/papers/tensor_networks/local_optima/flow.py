"""The paths of gradient flow of diagonal networks whose last layer starts at zero, many starts at once.

`exponential_flow` follows the same paths one at a time, and takes thirty times as long.

Along the flow the squares of two layers, entry by entry, differ by a constant (Yun et al. 2021, (21)). So the last
layer, which starts at zero, gives the others. Let q_j be its j-th entry times the sign of the product of the others'
j-th entries, which never changes. The squared entries of another layer l are ``lambda_lj + q_j**2``, with lambda_lj
those of the start. Let p_j be the product of their roots, ``prod_l sqrt(lambda_lj + q_j**2)``. Then the coefficients
are ``rho_j = q_j p_j``, and

    dq_j / ds = p_j sum_i r_i y_i x_ij,    r_i = exp(-kappa (m_i - min m)) / sum_k exp(-kappa (m_k - min m)),

with the margins m and kappa = 1 / (1 + min m / sharpness). The time s is that of the gradient flow of the exponential
loss, stretched by the inverse of the loss, which leaves the path as it is. The path ends at a finite s, towards which
steps shrink.

The factor kappa keeps rounding small, as the cap of `exponential_flow` does: a relative error of epsilon in a margin m
is one of m epsilon in the exponent. kappa is near one up to margins of a hundredth of `sharpness`. Beyond, margins of
support vectors agree to 1 / sharpness rather than to 1 / m.
"""

from typing import NamedTuple

import numpy as np

MOST_STEPS = 3000  # chosen; a flow that needs more returns where it is
# coefficients d and e_32 of the method of Shampine and Reichelt (1997); with this d it is L-stable
D = 1 / (2 + np.sqrt(2))
E_32 = 6 + np.sqrt(2)


class Slope(NamedTuple):
    """The field at one state of every flow, and the terms of its derivative."""

    field: np.ndarray  # dq / ds, (flows, inputs)
    product: np.ndarray  # p, (flows, inputs)
    growth: np.ndarray  # d log p_j / d q_j, (flows, inputs)
    margins: np.ndarray  # m, (flows, samples)
    residuals: np.ndarray  # r, (flows, samples)
    kappa: np.ndarray  # (flows, 1)


def limits_of_layers(
    labelled_points: np.ndarray, squares: np.ndarray, *, sharpness: float, final_margin: float, rtol: float
) -> np.ndarray:
    """Follow every flow until its least margin is large, and return the direction of its coefficients there.

    Steps are those of the Rosenbrock method of order two of Shampine and Reichelt (The MATLAB ODE suite, 1997), with
    their estimate of the error. Every flow has steps of its own lengths.

    Parameters
    ----------
    labelled_points : ndarray, shape (flows, samples, inputs)
        y_i x_i, data points multiplied by their labels.
    squares : ndarray, shape (flows, layers - 1, inputs)
        lambda, squared entries of all layers but the last at the start.
    sharpness : float
        That in kappa, in the module's equation.
    final_margin : float
        Least margin at which a flow ends. Where the largest entry of the start, e, is above one, the flow ends at
        `final_margin` times e^L: coefficients must exceed e^L before layers forget how they differed.
    rtol : float
        Error that each step may make in q, relative to its size.

    Returns
    -------
    ndarray, shape (flows, inputs)
        Coefficients divided by the least margin, where a flow ends or after `MOST_STEPS` steps. Nan where some point is
        still on the wrong side, or numbers overflow.
    """
    flows, _, inputs = labelled_points.shape
    largest_entries = np.sqrt(squares).max(axis=(1, 2))  # of all layers at the start, shape (flows,)
    final_margins = final_margin * np.maximum(1.0, largest_entries ** (squares.shape[1] + 1))
    q, least_margins = np.zeros((flows, inputs)), np.zeros(flows)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        initial_field = np.abs(_slope(q, labelled_points, squares, sharpness).field)
        # First steps: at its first pace q_j grows to the size of the least j-th entry of the other layers in a time of
        # its own, and a step is a hundredth of the least of these times.
        steps = 0.01 * np.min(np.sqrt(squares.min(axis=1)) / initial_field, axis=1)
        # the numbers of the flows that go on; one whose numbers overflow at the start never does
        active = np.flatnonzero(np.isfinite(steps) & np.isfinite(final_margins))
        for _ in range(MOST_STEPS):
            if not len(active):
                break
            before = q[active]
            after, margins_after, error = _step(
                before, labelled_points[active], squares[active], steps=steps[active], sharpness=sharpness
            )
            # relative to q and, as q starts at zero, to a thousandth of the largest initial entry; the latter is chosen
            tolerance = rtol * (1e-3 * largest_entries[active, None] + np.maximum(np.abs(before), np.abs(after)))
            # a step to numbers that are not finite has an infinite error, and is repeated
            worst = np.nan_to_num(np.max(error / tolerance, axis=1), nan=np.inf)
            accepted = worst <= 1
            q[active[accepted]], least_margins[active[accepted]] = after[accepted], margins_after[accepted]
            # the error is of third order in the step; the other numbers are chosen, as is usual for such a control
            steps[active] *= np.clip(0.8 * np.maximum(worst, 1e-10) ** (-1 / 3), 0.2, 4.0)
            active = active[least_margins[active] < final_margins[active]]
        coefficients = q * np.sqrt(np.prod(squares + q[:, None] ** 2, axis=1))  # rho
        return np.where((least_margins > 0)[:, None], coefficients / least_margins[:, None], np.nan)


def _slope(q: np.ndarray, labelled_points: np.ndarray, squares: np.ndarray, sharpness: float) -> Slope:
    """Return dq / ds of the module's equation, and its terms, at q, shape (flows, inputs)."""
    squared_entries = squares + q[:, None] ** 2  # lambda_lj + q_j^2, of all layers but the last
    product = np.sqrt(np.prod(squared_entries, axis=1))
    margins = _products(labelled_points, q * product)
    least_margin = margins.min(axis=1, keepdims=True)
    kappa = 1 / (1 + np.maximum(least_margin, 0) / sharpness)
    losses = np.exp(-kappa * (margins - least_margin))
    residuals = losses / losses.sum(axis=1, keepdims=True)
    # sum_i r_i y_i x_i: minus the gradient by rho of log sum_i exp(-kappa m_i) / kappa
    descent_direction = _products(labelled_points.swapaxes(1, 2), residuals)
    growth = q * np.sum(1 / squared_entries, axis=1)
    return Slope(product * descent_direction, product, growth, margins, residuals, kappa)


def _derivative(q: np.ndarray, labelled_points: np.ndarray, slope: Slope) -> np.ndarray:
    """Return the derivative of the field by q at a given kappa, shape (flows, inputs, inputs)."""
    samples, inputs = np.arange(labelled_points.shape[1]), np.arange(q.shape[1])
    # diag(r) - r r^T, the covariance of the indicators of a sample drawn with the probabilities r; dr / dm is -kappa
    # times it
    covariance = -slope.residuals[:, :, None] * slope.residuals[:, None]
    covariance[:, samples, samples] += slope.residuals
    # kappa times this is minus the derivative by rho of sum_i r_i y_i x_i
    curvature = labelled_points.swapaxes(1, 2) @ (covariance @ labelled_points)
    coefficient_slopes = slope.product * (1 + q * slope.growth)  # d rho_j / d q_j
    derivative = -(slope.kappa * slope.product)[:, :, None] * curvature * coefficient_slopes[:, None]
    derivative[:, inputs, inputs] += slope.field * slope.growth
    return derivative


def _step(
    q: np.ndarray, labelled_points: np.ndarray, squares: np.ndarray, *, steps: np.ndarray, sharpness: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return q after one step of each flow, the least margins there, and the estimated errors of q.

    f is the field, in which time does not occur, J its derivative at the start, h the length of the step, d = `D`,
    e_32 = `E_32`, and W = 1 - h d J:

        W k_1 = f(q)
        W (k_2 - k_1) = f(q + h k_1 / 2) - k_1
        q' = q + h k_2
        W k_3 = f(q') - e_32 (k_2 - f(q + h k_1 / 2)) - 2 (k_1 - f(q))

    q' is q after the step, and h (k_1 - 2 k_2 + k_3) / 6 its estimated error.
    """
    h = steps[:, None]
    start = _slope(q, labelled_points, squares, sharpness)
    W = np.eye(q.shape[1]) - D * h[:, :, None] * _derivative(q, labelled_points, start)
    # numbers that overflow in one flow must not stop the inversion for the others
    inverse = np.linalg.inv(np.where(np.isfinite(W), W, np.eye(q.shape[1])))
    k1 = _products(inverse, start.field)
    middle = _slope(q + h / 2 * k1, labelled_points, squares, sharpness).field
    k2 = k1 + _products(inverse, middle - k1)
    after = q + h * k2
    end = _slope(after, labelled_points, squares, sharpness)
    k3 = _products(inverse, end.field - E_32 * (k2 - middle) - 2 * (k1 - start.field))
    return after, end.margins.min(axis=1), np.abs(h / 6 * (k1 - 2 * k2 + k3))


def _products(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the product of each matrix, shape (flows, rows, columns), with its vector, (flows, columns)."""
    return (matrices @ vectors[..., None])[..., 0]
