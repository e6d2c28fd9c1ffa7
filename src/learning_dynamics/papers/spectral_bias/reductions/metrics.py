"""The network's flow compared with the smaller systems that should be equivalent to it.

Members are all pairs of a scale and a draw, where draws vary fastest; seeds in the table number members. In docstrings
Z1 = W1 P^T and Z2 = P W2 are always the network's. Beware that the trajectory calls the network's W1 and W2, and that
its Z1 and Z2 are the pair.

Shapes:

- `W1` (members, times, inputs, inputs) and `W2` (members, times, inputs, outputs): the network's Z1 and Z2, its layers
  in the basis of the rows of P; `outside` (members, times): the larger of the norms that both layers have outside the
  span of these rows.
- `Z1` and `Z2`, of the same shapes: the pair, integrated by itself.
- `alpha` (members, times, inputs, outputs): the solution of the Riccati equation.
- `mirror` (members, times, inputs, 1): with one output, the predictor of the mirror flow.
- `X` (members, samples, inputs), `Y` (members, samples, outputs); `gamma` and `steps`, the number of steps of all
  integrations together, (members,).

Times are flow time, the first 0, and the others even in the logarithm.
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

    Z1 = W1 P^T and Z2 = P W2 are the network's layers in the span of the rows of P, and beta = Z1 Z2 is its predictor.
    The pair (Lemma 3.1), the solution a of the Riccati equation of alpha (Lemma 3.3) and the mirror flow (Theorem 3.2
    (b)) are integrated by themselves. Everything is measured at the times after 0.

    Quantities
    ----------
    loss
        1/2 |X beta - Y|^2; with one output its bound is predicted (Lemma C.8).
    part_outside_P
        The larger of |W1 - Z1 P| and |W2 - P^T Z2|, over |Z1| (Lemma 3.1).
    distance_from_pair
        The larger of the distances of Z1 and Z2 from the matrices of the pair, over |Z1| (Lemma 3.1, eq. 3.4).
    distance_from_unit_pair
        Distance of Z1 from the pair's first matrix divided by sqrt(2 gamma), which starts at the identity, over |Z1|
        (errata 7).
    sigma_w1
        Singular values of Z1, which are those of W1; predicted by the pair (Lemma 3.1).
    sigma_alpha
        Singular values of alpha = Z1^{-T} Z2; predicted by the Riccati equation (Lemma 3.3).
    distance_of_alpha
        |Z1^{-T} Z2 - a| (Lemma 3.3).
    distance_of_beta
        Distance of beta from 2 gamma (I - a a^T)^{-1} a, over |beta_*| (Lemma C.2).
    distance_of_beta_without_2_gamma
        Distance of beta from (I - a a^T)^{-1} a, over |beta_*|.
    distance_of_beta_speed
        Distance of d beta/dt from (I - a a^T)^{-1} a, as Lemma 3.3 prints it (errata 4), over |d beta/dt| at the first
        time.
    condition_of_Z1
        Condition number of Z1.
    beta
        Entries of beta, with one output; predicted by the mirror flow (Theorem 3.2 (b)).
    sigma_beta
        Singular values s of beta.
    mirror_speed
        Speed of the mirror coordinate phi'(s) of each singular value s, phi''(s) u^T (d beta/dt) v with its singular
        vectors u and v. The force -dL/ds = u^T R v is predicted, R = X^T (Y - X beta) (Theorem 3.2 (a)).
    mirror_coordinate
        Mirror coordinate of each singular value. Its first value plus the integral of the force is predicted (Theorem
        3.2 (a)).
    printed_mirror_speed
        Like `mirror_speed`, by the potential as printed (errata 1); the same force is predicted.
    printed_mirror_coordinate
        Mirror coordinate by the potential as printed (errata 1); the prediction is that of `mirror_coordinate`.
    """
    constants = trajectory.constants
    arrays = trajectory.series | {name: constants[name] for name in ("X", "Y", "gamma")}
    measured = of_finite_draws(lambda series: _reductions_of(series, trajectory.time), arrays)
    axes = {"seed": np.arange(trajectory.members), "time": trajectory.time[1:]}
    return rows(measured, axes, gamma=constants["gamma"], steps=constants["steps"])


def _reductions_of(series: Mapping[str, np.ndarray], times: np.ndarray) -> Measured:
    """Return the quantities of `reduced_flow` at the times after 0.

    Shapes are (members, times) or (members, times, entries). `times` has the time 0 too, as the series do.
    """
    X, Y = (series[name][:, None] for name in ("X", "Y"))
    gamma = series["gamma"][:, None]
    # the network's W1 P^T and P W2 are Z1 and Z2 of Lemma 3.1; `pair_Z1` and `pair_Z2` solve (3.4) by themselves, and
    # `riccati` is the solution a of the Riccati equation. [:, 1:] leaves out time 0
    Z1, Z2, outside, pair_Z1, pair_Z2, riccati = (
        series[name][:, 1:] for name in ("W1", "W2", "outside", "Z1", "Z2", "alpha")
    )
    beta, beta_star, size = Z1 @ Z2, theory.minimum_norm_interpolator(X, Y), norm(Z1)
    alpha = np.linalg.solve(transposed(Z1), Z2)  # Z1^{-T} Z2 (Lemma 3.3)
    R = transposed(X) @ (Y - X @ beta)
    speed = R @ (transposed(Z2) @ Z2) + Z1 @ (transposed(Z1) @ R)  # d beta/dt of beta = Z1 Z2, by (3.4)
    from_alpha = reductions.predictor_from_alpha(riccati, gamma)  # 2 gamma (I - a a^T)^{-1} a (Lemma C.2)
    printed_speed = from_alpha / (2 * gamma[..., None, None])  # (I - a a^T)^{-1} a (Lemma 3.3)
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

    A singular value s of beta, with the singular vectors u and v, moves at the speed u^T (d beta/dt) v. The force is
    the rate -dL/ds = u^T R v at which the loss falls as s grows. `speed` is d beta/dt, `gamma` has the shape
    (members, 1), and `times` are those of the arrays, after 0.
    """
    U, sigma, Vt = np.linalg.svd(beta, full_matrices=False)
    # speed and force of each singular value, u_i^T (d beta/dt) v_i and u_i^T R v_i: shape (members, times, k)
    along, force = (np.einsum("...ai,...ab,...ib->...i", U, matrix, Vt) for matrix in (speed, R))
    scale = gamma[..., None]
    # the integral of the force from the first of `times` on; taken over ln t, in which times are even: dt = t d(ln t)
    driven = cumulative_simpson(force * times[:, None], x=np.log(times), axis=1, initial=0.0)
    # predicted coordinates of both potentials start at the first value of the dynamics' one
    coordinate, printed = theory.mirror_coordinate(sigma, scale), theory.printed_mirror_coordinate(sigma, scale)
    return {
        SIGMA_BETA: sigma,
        quantities.MIRROR_SPEED: (theory.mirror_curvature(sigma, scale) * along, force),
        quantities.PRINTED_MIRROR_SPEED: (theory.printed_mirror_curvature(sigma, scale) * along, force),
        quantities.MIRROR_COORDINATE: (coordinate, coordinate[:, :1] + driven),
        quantities.PRINTED_MIRROR_COORDINATE: (printed, coordinate[:, :1] + driven),
    }
