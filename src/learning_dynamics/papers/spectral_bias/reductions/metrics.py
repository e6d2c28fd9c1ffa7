"""The network's flow compared with the smaller systems that should be equivalent to it.

Shapes: `W1` (members, times, inputs, inputs) and `W2` (members, times, inputs, outputs), the network's layers in the
span of P, are Z1 and Z2 of the docstring below; `Z1` and `Z2`, of the same shapes, are the pair, integrated by itself;
`alpha` (members, times, inputs, outputs); `outside` (members, times), a norm; with one output `mirror` (members, times,
inputs, 1). `X` (members, samples, inputs), `Y` (members, samples, outputs); `gamma` and `steps`, the integrators'
number of steps, (members,). Members are scales, draws varying fastest. Times are flow time, and after 0 even in the
logarithm.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.integrate import cumulative_simpson

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
from learning_dynamics.papers.spectral_bias.quantities import LOSS, SIGMA_BETA, SIGMA_W1
from learning_dynamics.papers.spectral_bias.reductions import models as reductions
from learning_dynamics.papers.spectral_bias.reductions import quantities
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(SEED, GAMMA, TIME, QUANTITY, INDEX, MAY_BE_OPEN, PREDICTED, STEPS)
def reduced_flow(trajectory: Trajectory) -> pd.DataFrame:
    """Compare the network's flow with the smaller systems that should be equivalent to it.

    Z1 = W1 P^T and Z2 = P W2 are the network's layers in the span of P. The pair (Lemma 3.1), the Riccati equation of
    alpha (Lemma 3.3) and the mirror flow (Theorem 3.2 (b)) are integrated by themselves.

    Quantities
    ----------
    loss
        1/2 |X beta - Y|^2; predicted its bound (Lemma C.8), with one output.
    part_outside_P
        The larger of |W1 - Z1 P| and |W2 - P^T Z2|, relative to |W1| (Lemma 3.1).
    distance_from_pair
        Distance of Z1 and Z2 from the pair, the larger of the two, relative to |W1| (Lemma 3.1, eq. 3.4).
    distance_from_unit_pair
        Distance of Z1 from the pair's first matrix divided by sqrt(2 gamma), relative to |W1|, as if it started at the
        identity (errata 7).
    sigma_w1
        Singular values of W1; predicted those of the pair (Lemma 3.1).
    sigma_alpha
        Singular values of Z1^{-T} Z2; predicted those of the Riccati equation's alpha (Lemma 3.3).
    distance_of_alpha
        Distance of Z1^{-T} Z2 from the Riccati equation's alpha (Lemma 3.3).
    distance_of_beta
        Distance of beta from 2 gamma (I - alpha alpha^T)^{-1} alpha, alpha the Riccati equation's, relative to |beta_*|
        (Lemma C.2).
    distance_of_beta_without_2_gamma
        Distance of beta from (I - alpha alpha^T)^{-1} alpha, relative to |beta_*|.
    distance_of_beta_speed
        Distance of d beta/dt from (I - alpha alpha^T)^{-1} alpha, as Lemma 3.3 prints it (errata 4), relative to the
        first |d beta/dt|.
    condition_of_Z1
        Condition number of Z1.
    beta
        Entries of beta, with one output; predicted by the mirror flow (Theorem 3.2 (b)).
    sigma_beta
        Singular values s of beta.
    mirror_speed
        Speed of each singular value's mirror coordinate, phi''(s) u^T (d beta/dt) v with its singular vectors u and v;
        predicted the force -dL/ds = u^T R v (Theorem 3.2 (a)).
    mirror_coordinate
        Mirror coordinate of each singular value; predicted its first value plus the integral of the force (Theorem 3.2
        (a)).
    printed_mirror_speed
        Like `mirror_speed`, by the potential as printed (errata 1); predicted the same force.
    printed_mirror_coordinate
        Mirror coordinate by the potential as printed (errata 1); predicted as `mirror_coordinate` is.
    """
    constants = trajectory.constants
    arrays = trajectory.series | {name: constants[name] for name in ("X", "Y", "gamma")}
    measured = of_finite_draws(lambda series: _reductions_of(series, trajectory.time), arrays)
    axes = {"seed": np.arange(trajectory.members), "time": trajectory.time[1:]}
    return rows(measured, axes, gamma=constants["gamma"], steps=constants["steps"])


def _reductions_of(series: Mapping[str, np.ndarray], times: np.ndarray) -> Measured:
    """Return the quantities of `reduced_flow`, at the times after 0: shape (members, times), or with entries after.

    `riccati` is the solution alpha of the Riccati equation, `from_alpha` the predictor that it gives.
    """
    X, Y = (series[name][:, None] for name in ("X", "Y"))
    gamma = series["gamma"][:, None]
    # the network's W1 P^T and P W2 are Z1 and Z2 of Lemma 3.1; `pair_Z1` and `pair_Z2` solve (3.4) by themselves
    Z1, Z2, outside, pair_Z1, pair_Z2, riccati = (
        series[name][:, 1:] for name in ("W1", "W2", "outside", "Z1", "Z2", "alpha")
    )
    beta, beta_star, size = Z1 @ Z2, theory.minimum_norm_interpolator(X, Y), norm(Z1)
    alpha = np.linalg.solve(transposed(Z1), Z2)  # Z1^{-T} Z2 (Lemma 3.3)
    R = transposed(X) @ (Y - X @ beta)
    speed = R @ (transposed(Z2) @ Z2) + Z1 @ (transposed(Z1) @ R)  # of beta = Z1 Z2, by (3.4)
    from_alpha = reductions.predictor_from_alpha(riccati, gamma)
    printed_speed = from_alpha / (2 * gamma[..., None, None])  # (I - alpha alpha^T)^{-1} alpha (Lemma 3.3)
    measured: Measured = {
        LOSS: two_layer.loss(Z1, Z2, X, Y),
        quantities.CONDITION_OF_Z1: np.linalg.cond(Z1),
        SIGMA_W1: (singular_values(Z1), singular_values(pair_Z1)),
        quantities.SIGMA_ALPHA: (singular_values(alpha), singular_values(riccati)),
        quantities.PART_OUTSIDE_P: outside / size,
        quantities.DISTANCE_FROM_PAIR: np.maximum(norm(Z1 - pair_Z1), norm(Z2 - pair_Z2)) / size,
        quantities.DISTANCE_FROM_UNIT_PAIR: norm(Z1 - pair_Z1 / np.sqrt(2 * gamma[..., None, None])) / size,
        quantities.DISTANCE_OF_ALPHA: norm(alpha - riccati),
        quantities.DISTANCE_OF_BETA: norm(beta - from_alpha) / norm(beta_star),
        quantities.DISTANCE_OF_BETA_WITHOUT_2_GAMMA: norm(beta - printed_speed) / norm(beta_star),
        quantities.DISTANCE_OF_BETA_SPEED: norm(speed - printed_speed) / norm(speed[:, :1]),
    }
    measured |= _mirror_of_singular_values(beta, speed, R, gamma, times=times[1:])
    if "mirror" in series:
        bound = theory.rate_bound(norm(beta_star), gamma, times[None, 1:])
        measured[LOSS] = (measured[LOSS], bound)
        measured[quantities.BETA] = (beta[..., 0], series["mirror"][:, 1:, :, 0])
    return measured


def _mirror_of_singular_values(
    beta: np.ndarray, speed: np.ndarray, R: np.ndarray, gamma: np.ndarray, *, times: np.ndarray
) -> Measured:
    """Return mirror coordinates of the singular values, their speeds, and the forces that should drive them.

    A singular value moves at u^T (d beta/dt) v, and the loss falls along it at u^T R v.
    """
    U, sigma, Vt = np.linalg.svd(beta, full_matrices=False)
    # u_i^T (d beta/dt) v_i and u_i^T R v_i for each pair of singular vectors, shape (members, times, k)
    along, force = (np.einsum("...ai,...ab,...ib->...i", U, matrix, Vt) for matrix in (speed, R))
    scale = gamma[..., None]
    # the integral of the force over time from the first of `times` on, as one over ln t, in which the times are even:
    # dt = t d(ln t)
    driven = cumulative_simpson(force * times[:, None], x=np.log(times), axis=1, initial=0.0)
    coordinate, printed = theory.mirror_coordinate(sigma, scale), theory.printed_mirror_coordinate(sigma, scale)
    return {
        SIGMA_BETA: sigma,
        quantities.MIRROR_SPEED: (theory.mirror_curvature(sigma, scale) * along, force),
        quantities.PRINTED_MIRROR_SPEED: (theory.printed_mirror_curvature(sigma, scale) * along, force),
        quantities.MIRROR_COORDINATE: (coordinate, coordinate[:, :1] + driven),
        quantities.PRINTED_MIRROR_COORDINATE: (printed, coordinate[:, :1] + driven),
    }
