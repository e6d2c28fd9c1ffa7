"""The steps of discrete descent beside the paper's formulas for them, and the directions that they keep.

Shapes: `W1` W (draws, times, inputs, hidden) and `W2` a (draws, times, hidden, 1); `X` (draws, samples, inputs), `Y`
(draws, samples, 1). W is square, as runs start at a multiple of I: so a, in hidden units, and R, in inputs, can be
compared. Times count steps, and every step is recorded; the run's setting `step` is the step size eta, `steps` how many
there are.
"""

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.descent import quantities
from learning_dynamics.papers.spectral_bias.layers import norm, ratio, transposed
from learning_dynamics.papers.spectral_bias.quantities import LOSS, SIGMA_W1
from learning_dynamics.tidy import INDEX, QUANTITY, SEED, TIME, VALUE, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(SEED, TIME, QUANTITY, INDEX, VALUE)
def linear_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure discrete descent at each step; R = X^T (Y - X W a).

    Quantities
    ----------
    loss
        1/2 |X W a - Y|^2.
    sigma_w1
        Singular values of W.
    gradient_norm
        |R|, relative to its largest.
    output_norm
        |a|, relative to its largest.
    gradient_turning
        Sine of the angle between R(t) and R(0); zero once |R| is below 1e-8 of its start.
    output_turning
        Sine of the angle between a(t) and R(0); zero for a = 0.
    layer_turning
        Part of W - W(0) off R(0) R(0)^T, relative to |W - W(0)|; zero for W = W(0).
    output_step
        Distance of the next a from a + eta W^T R, relative to the largest |a|; zero at the last step.
    output_step_printed
        Distance of the next a from a + eta W^T a, as printed (errata 16), relative to the largest |a|.
    gradient_step
        Distance of the next R from R - eta X^T X (W W^T + |a|^2) R - eta^2 (a^T W^T R) X^T X R, relative to |R(0)|;
        zero at the last step.
    gradient_step_printed
        Distance of the next R from that formula with a^T W R, as printed (errata 16), relative to |R(0)|.
    gradient_step_first
        Distance of the next R from that formula without the term of second order, relative to |R(0)|.
    """
    X, Y = trajectory.constants["X"][:, None], trajectory.constants["Y"][:, None]
    step = trajectory.settings["step"]
    W, a = trajectory.series["W1"], trajectory.series["W2"]
    R = transposed(X) @ (Y - X @ W @ a)
    size, output = norm(R), norm(a)  # |R(t)| and |a(t)|, shape (draws, times); `start` is |R(0)|, (draws, 1)
    start, largest_output = size[:, :1], output.max(axis=1, keepdims=True)
    direction = R[:, :1] / start[..., None, None]  # R(0) / |R(0)|, shape (draws, 1, inputs, 1)

    def sine(vectors: np.ndarray, mask: np.ndarray | bool) -> np.ndarray:
        """Return |v - r r^T v| / |v|, r the direction of R(0), shape (draws, times); zero where the mask is false."""
        across = norm(vectors - direction @ (transposed(direction) @ vectors))
        return np.where(mask, ratio(across, norm(vectors)), 0.0)

    # the part of W - W(0) off the matrix r r^T, whose norm is one: less <W - W(0), r r^T> times this matrix
    displacement = W - W[:, :1]
    pattern = direction @ transposed(direction)
    off = norm(displacement - np.sum(displacement * pattern, axis=(-2, -1), keepdims=True) * pattern)
    gram = transposed(X) @ X
    # the next R without the term of second order in the step
    linear = R - step * gram @ (W @ transposed(W) @ R + output[..., None, None] ** 2 * R)

    def second_order_step(inner: np.ndarray) -> np.ndarray:
        """Return the next R by the formula whose term of second order has the factor `inner`, a^T W^T R or a^T W R."""
        return linear - step**2 * inner * (gram @ R)

    def relative_errors(states: np.ndarray, formula: np.ndarray, unit: np.ndarray) -> np.ndarray:
        """Return the distance of each next state from what the formula makes of this one, shape (draws, times)."""
        errors = norm(states[:, 1:] - formula[:, :-1])
        # the last state has no next one
        return np.pad(errors / unit, ((0, 0), (0, 1)))

    measured = {
        LOSS: two_layer.loss(W, a, X, Y),
        SIGMA_W1: singular_values(W),
        quantities.GRADIENT_NORM: size / size.max(axis=1, keepdims=True),
        quantities.OUTPUT_NORM: output / largest_output,
        quantities.GRADIENT_TURNING: sine(R, size > 1e-8 * start),
        quantities.OUTPUT_TURNING: sine(a, True),
        quantities.LAYER_TURNING: ratio(off, norm(displacement)),
        quantities.OUTPUT_STEP: relative_errors(a, a + step * transposed(W) @ R, largest_output),
        quantities.OUTPUT_STEP_PRINTED: relative_errors(a, a + step * transposed(W) @ a, largest_output),
        quantities.GRADIENT_STEP: relative_errors(R, second_order_step(transposed(a) @ transposed(W) @ R), start),
        quantities.GRADIENT_STEP_PRINTED: relative_errors(R, second_order_step(transposed(a) @ W @ R), start),
        quantities.GRADIENT_STEP_FIRST: relative_errors(R, linear, start),
    }
    return rows(measured, {"seed": np.arange(trajectory.members), "time": trajectory.time})
