"""How the time that training takes, and the layers at its end, depend on the initial scale.

Members are all pairs of a scale and a draw, where draws vary fastest. Seeds in the table are the numbers of draws, so
that a draw has rows for each scale.

Shapes:

- `W1` (members, times, inputs, width) and `W2` (members, times, width, outputs), layers of the full width; `limit_W1`
  and `limit_W2`, the layers at the end, without the axis of times.
- `P` (members, inputs, width), the orthonormal rows in W1(0) = sqrt(2 gamma) P.
- `X` (members, samples, inputs) and `Y` (members, samples, outputs).
- Of shape (members,): `gamma`; `reached`, the flow time at which the loss is the given share of its first value, up to
  the length of a step; `steps`, how many the integrator took; and `draw`, the number of the draw.

Times are shares of `reached`, the same for all members, from 0.9 to 1. So flow times differ between members.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias import theory, two_layer
from learning_dynamics.papers.spectral_bias.layers import (
    GAMMA,
    MAY_BE_OPEN,
    STEPS,
    Measured,
    norm,
    of_finite_draws,
    transposed,
)
from learning_dynamics.papers.spectral_bias.quantities import DISTANCE_BOUND, RESIDUAL, SIGMA_W1
from learning_dynamics.papers.spectral_bias.scale import quantities
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(SEED, GAMMA, QUANTITY, INDEX, MAY_BE_OPEN, PREDICTED, STEPS)
def scaled_flow(trajectory: Trajectory, *, others: Count) -> pd.DataFrame:
    """Measure the time to a given loss, and the layers at the end of the flow, at each scale.

    beta = W1 W2 at the end, and beta_* is the minimum-norm interpolator. Flow times are the trajectory's times, shares,
    multiplied by `reached`.

    Quantities
    ----------
    time_to_loss
        Flow time at which the loss has fallen to `loss_share` of its first value. With one output the time is predicted
        by which the bound of Lemma C.8 has fallen to this loss.
    first_gradient
        |X^T Y|, the norm of the first gradient.
    sigma_w1
        Singular values of W1 at the end.
    residual
        |X beta - Y| / |Y| at the end.
    distance_bound
        The largest |beta - beta_*| / |beta_*| that the residual at the end leaves open.
    beta_norm, frobenius_norm
        |beta_*|.
    nuclear_norm
        Nuclear norm of beta_*.
    least_singular_value
        Smallest singular value of beta_* that is not zero: the last up to the rank of X or the number of outputs.
    half_square
        Half the parameters' squared norm at the end, (|W1|^2 + |W2|^2) / 2.
    potential
        Mirror potential of beta at the end, a sum over its singular values, with both terms halved as the dynamics have
        it (Theorem 3.2 (a)).
    printed_potential
        Like `potential`, as Theorem 3.2 (a) prints it (errata 1).
    increase_elsewhere
        Increase of the nuclear norm from beta_* to a random interpolator, over the distance of both: the least over
        `others` random interpolators, and zero where beta_* is the only one.
    largest_sine
        Sine of the angle between a column w of W1 at the end and u, the first left singular vector of beta,
        |w - u u^T w| / |w|: the largest over columns.
    part_across
        |W1 - u u^T W1| / |W1| at the end.
    components_along
        With one output: components along beta of the columns of W1 at the end, over the largest singular value of W1.
        Components of the columns of P along the first gradient are predicted, P^T X^T Y / |X^T Y|.
    shares_of_beta_star
        With one output: components along beta_* of the columns of P, P^T beta_* / |beta_*|.
    """
    constants, settings = trajectory.constants, trajectory.settings
    shares_of_reached = trajectory.time  # shares of each member's time to the loss, and not times themselves
    names = ("X", "Y", "P", "gamma", "reached", "limit_W1", "limit_W2")

    def measure(arrays: Mapping[str, np.ndarray]) -> Measured:
        # W1 and W2 here are the layers at the end, shapes (members, inputs, width) and (members, width, outputs).
        # arrays["W1"] and arrays["W2"] are those around the time to the loss, with an axis of times
        X, Y, P, gamma, reached, W1, W2 = (arrays[name] for name in names)
        beta, star = W1 @ W2, theory.minimum_norm_interpolator(X, Y)
        count = min(beta.shape[-2:])
        sigma, sigma_star = singular_values(beta, count), singular_values(star, count)
        # the loss to reach, shape (members,): L(0) is half the squared labels, as W2 starts at zero
        level = settings["loss_share"] * (0.5 * np.sum(Y**2, axis=(1, 2)))
        losses = two_layer.loss(arrays["W1"], arrays["W2"], X[:, None], Y[:, None])
        residual = norm(X @ beta - Y)
        gradient, spectrum = transposed(X) @ Y, singular_values(W1, X.shape[-1])
        # u, the first left singular vector of beta, shape (members, inputs, 1), and the part of W1 across it
        direction = np.linalg.svd(beta, full_matrices=False)[0][..., :1]
        across = W1 - direction @ (transposed(direction) @ W1)
        measured: Measured = {
            quantities.TIME_TO_LOSS: _crossing_times(shares_of_reached, losses, level) * reached,
            quantities.FIRST_GRADIENT: norm(gradient),
            SIGMA_W1: spectrum,
            RESIDUAL: residual / norm(Y),
            DISTANCE_BOUND: residual / (singular_values(X)[..., -1] * norm(star)),
            quantities.BETA_NORM: norm(star),
            quantities.NUCLEAR_NORM: sigma_star.sum(axis=-1),
            quantities.FROBENIUS_NORM: norm(star),
            quantities.LEAST_SINGULAR_VALUE: sigma_star[..., min(*X.shape[-2:], Y.shape[-1]) - 1],
            quantities.HALF_SQUARE: 0.5 * (norm(W1) ** 2 + norm(W2) ** 2),
            quantities.POTENTIAL: theory.spectral_potential(sigma, gamma[:, None], printed=False),
            quantities.PRINTED_POTENTIAL: theory.spectral_potential(sigma, gamma[:, None], printed=True),
            quantities.INCREASE_ELSEWHERE: _other_interpolators(X, star, others),
            quantities.LARGEST_SINE: (np.linalg.norm(across, axis=1) / np.linalg.norm(W1, axis=1)).max(axis=-1),
            quantities.PART_ACROSS: norm(across) / norm(W1),
        }
        if Y.shape[-1] == 1:

            def components(layer: np.ndarray, vector: np.ndarray) -> np.ndarray:
                """Return v^T W / |v| for a layer W and a column v, an entry for each hidden unit: (members, width)."""
                return (transposed(vector) @ layer / norm(vector)[:, None, None])[:, 0]

            # the bound is B / t, where B is its value at time one: it falls to the level at the time B / level
            bound = theory.rate_bound(norm(star), gamma, np.ones(len(X))) / level
            measured[quantities.TIME_TO_LOSS] = (measured[quantities.TIME_TO_LOSS], bound)
            measured[quantities.COMPONENTS_ALONG] = (components(W1, beta) / spectrum[:, :1], components(P, gradient))
            measured[quantities.SHARES_OF_BETA_STAR] = components(P, star)
        return measured

    measured = of_finite_draws(measure, trajectory.series | {name: constants[name] for name in names})
    return rows(measured, {"seed": constants["draw"]}, gamma=constants["gamma"], steps=constants["steps"])


def _crossing_times(shares: np.ndarray, losses: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return the share of `reached` at which each member's loss passes its level, shape (members,).

    Shares have the shape (points,), losses (members, points), level (members,).
    """
    # a cubic spline of the share as a function of minus the logarithm of the loss. As the loss falls, this argument
    # ascends, as a spline's has to
    pairs = zip(np.log(losses), np.log(level), strict=True)
    return np.array([CubicSpline(-curve, shares)(-target) for curve, target in pairs])


def _other_interpolators(X: np.ndarray, star: np.ndarray, count: int) -> np.ndarray:
    """Return the increase of the nuclear norm from beta_* to a random interpolator, over their distance: the least.

    Each of `count` interpolators is beta_* plus a matrix in a random direction in the kernel of X, whose norm is 1,
    0.1, 0.01 or 0.001 of |beta_*| in turn. A member with a single interpolator, where the kernel of X is zero, gets
    zero. The shape is (members,).
    """
    # seed 0: part of the measure, so no setting
    (rng,) = generators(0, "spectral_bias.interpolators", 1)
    kernel = np.eye(X.shape[-1]) - np.linalg.pinv(X) @ X
    smallest = np.full(len(X), np.inf)
    for number in range(count):
        # its norm, `size`, is of order one, or rounding where the kernel is zero: 1e-9 is between these
        direction = kernel @ rng.standard_normal(star.shape[1:])
        size = norm(direction)
        scale = norm(star) * 10.0 ** -(number % 4) / np.where(size > 1e-9, size, 1.0)
        interpolator = star + scale[:, None, None] * direction
        increase = singular_values(interpolator).sum(axis=-1) - singular_values(star).sum(axis=-1)
        smallest = np.minimum(smallest, np.where(size > 1e-9, increase / (scale * np.maximum(size, 1e-9)), 0.0))
    return smallest
