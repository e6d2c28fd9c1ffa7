"""The steps of discrete descent, compared with the paper's formulas for them, and the directions that descent keeps.

Shapes: the series `W1`, which is W, (draws, times, inputs, hidden), and `W2`, which is a, (draws, times, hidden, 1);
`X` (draws, samples, inputs) and `Y` (draws, samples, 1). W starts at a multiple of I, so that it is square. Therefore
a, with an entry for each hidden unit, and R = X^T (Y - X W a), with one for each input, can be compared. Times count
steps, and every step is recorded. The run's setting `step` is the step size eta, and `steps` is the number of steps.
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
    """Measure discrete descent at each step; R = X^T (Y - X W a), and the next a and R are those after one more step.

    Quantities
    ----------
    loss
        1/2 |X W a - Y|^2.
    sigma_w1
        Singular values of W.
    gradient_norm
        |R|, over its largest value along the descent.
    output_norm
        |a|, over its largest value along the descent.
    gradient_turning
        Sine of the angle between R(t) and R(0); zero where |R(t)| is at most 1e-8 of |R(0)|.
    output_turning
        Sine of the angle between a(t) and R(0); zero for a = 0.
    layer_turning
        Norm of W - W(0) less its part along R(0) R(0)^T, over |W - W(0)|; zero for W = W(0).
    output_step
        Distance of the next a from a + eta W^T R, over the largest |a|; zero at the last step, which has no next one.
    output_step_printed
        Distance of the next a from a + eta W^T a, as printed (errata 16), over the largest |a|; zero at the last step.
    gradient_step
        Distance of the next R from R - eta X^T X (W W^T + |a|^2) R - eta^2 (a^T W^T R) X^T X R, over |R(0)|; zero at
        the last step.
    gradient_step_printed
        Like `gradient_step`, from the formula with a^T W R for a^T W^T R, as printed (errata 16).
    gradient_step_first
        Like `gradient_step`, from the formula without its last term, of second order in eta.
    """
    X, Y = trajectory.constants["X"][:, None], trajectory.constants["Y"][:, None]
    step = trajectory.settings["step"]
    W, a = trajectory.series["W1"], trajectory.series["W2"]
    R = transposed(X) @ (Y - X @ W @ a)
    # |R(t)| and |a(t)|, shape (draws, times); below, `start` is |R(0)|, shape (draws, 1)
    size, output = norm(R), norm(a)
    start, largest_output = size[:, :1], output.max(axis=1, keepdims=True)
    direction = R[:, :1] / start[..., None, None]  # R(0) / |R(0)|, shape (draws, 1, inputs, 1)

    def sine(vectors: np.ndarray, mask: np.ndarray | bool) -> np.ndarray:
        """Return |v - r r^T v| / |v| with r = R(0) / |R(0)|, shape (draws, times), and zero where the mask is false."""
        across = norm(vectors - direction @ (transposed(direction) @ vectors))
        return np.where(mask, ratio(across, norm(vectors)), 0.0)

    # the norm of W - W(0) without its part along `pattern`, r r^T. As r r^T has the norm one, that part is
    # <W - W(0), r r^T> r r^T
    displacement = W - W[:, :1]
    pattern = direction @ transposed(direction)
    norm_off_pattern = norm(displacement - np.sum(displacement * pattern, axis=(-2, -1), keepdims=True) * pattern)
    gram = transposed(X) @ X
    # the next R by the formula without the term of second order in the step
    linear = R - step * gram @ (W @ transposed(W) @ R + output[..., None, None] ** 2 * R)

    def second_order_step(inner: np.ndarray) -> np.ndarray:
        """Return the next R by the formula whose term of second order has the factor `inner`: a^T W^T R or a^T W R."""
        return linear - step**2 * inner * (gram @ R)

    def relative_errors(states: np.ndarray, formula: np.ndarray, unit: np.ndarray) -> np.ndarray:
        """Return how far the next state is from what the formula makes of this one, over `unit`: (draws, times)."""
        errors = norm(states[:, 1:] - formula[:, :-1])
        # zero for the last state, which has no next one
        return np.pad(errors / unit, ((0, 0), (0, 1)))

    measured = {
        LOSS: two_layer.loss(W, a, X, Y),
        SIGMA_W1: singular_values(W),
        quantities.GRADIENT_NORM: size / size.max(axis=1, keepdims=True),
        quantities.OUTPUT_NORM: output / largest_output,
        # chosen: where |R| is 1e-8 of its start, rounding, of about eps of the start, is about 2e-8 of R
        quantities.GRADIENT_TURNING: sine(R, size > 1e-8 * start),
        quantities.OUTPUT_TURNING: sine(a, True),
        quantities.LAYER_TURNING: ratio(norm_off_pattern, norm(displacement)),
        quantities.OUTPUT_STEP: relative_errors(a, a + step * transposed(W) @ R, largest_output),
        quantities.OUTPUT_STEP_PRINTED: relative_errors(a, a + step * transposed(W) @ a, largest_output),
        quantities.GRADIENT_STEP: relative_errors(R, second_order_step(transposed(a) @ transposed(W) @ R), start),
        quantities.GRADIENT_STEP_PRINTED: relative_errors(R, second_order_step(transposed(a) @ W @ R), start),
        quantities.GRADIENT_STEP_FIRST: relative_errors(R, linear, start),
    }
    return rows(measured, {"seed": np.arange(trajectory.members), "time": trajectory.time})
