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
from learning_dynamics.papers.spectral_bias.reductions import models as reductions
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(SEED, GAMMA, TIME, QUANTITY, INDEX, MAY_BE_OPEN, PREDICTED, STEPS)
def reduced_flow(trajectory: Trajectory) -> pd.DataFrame:
    """Hold the network's flow against the smaller systems that should be equivalent to it.

    Z1 = W1 P^T and Z2 = P W2 are the network's layers in the span of P. The pair (Lemma 3.1), the Riccati equation of
    alpha (Lemma 3.3) and the mirror flow (Theorem 3.2 (b)) are integrated by themselves.

    Quantities
    ----------
    loss
        1/2 |X beta - Y|^2; predicted its bound (Lemma C.8), with one output.
    subspace
        Part of the layers outside the span of P, relative to |W1| (Lemma 3.1).
    projected
        Distance of Z1 and Z2 from the pair, the larger of the two, relative to |W1| (Lemma 3.1).
    unit_pair
        Distance of Z1 from the pair that starts at the identity, relative to |W1|.
    sigma_w1
        Singular values of W1; predicted those of the pair (Lemma 3.1).
    sigma_alpha
        Singular values of Z1^{-T} Z2; predicted those of the Riccati equation's alpha (Lemma 3.3).
    alpha
        Distance of Z1^{-T} Z2 from the Riccati equation's alpha (Lemma 3.3).
    beta_from_alpha
        Distance of beta from 2 gamma (I - alpha alpha^T)^{-1} alpha, relative to |beta_*| (Lemma 3.3).
    beta_without_scale
        Distance of beta from (I - alpha alpha^T)^{-1} alpha, relative to |beta_*|.
    printed_beta_speed
        Distance of d beta/dt from (I - alpha alpha^T)^{-1} alpha, relative to the first |d beta/dt|.
    condition
        Condition number of Z1.
    beta
        Entries of beta, with one output; predicted by the mirror flow (Theorem 3.2 (b)).
    sigma_beta
        Singular values s of beta.
    mirror_speed
        Speed of each singular value's mirror coordinate; predicted the force -dL/ds (Theorem 3.2 (a)).
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
    quantities = of_finite_draws(lambda series: _reductions_of(series, trajectory.time), arrays)
    axes = {"seed": np.arange(trajectory.members), "time": trajectory.time[1:]}
    return rows(quantities, axes, gamma=constants["gamma"], steps=constants["steps"])


def _reductions_of(series: Mapping[str, np.ndarray], times: np.ndarray) -> Measured:
    """Compare the network's flow with its reductions at the times after 0; see `reduced_flow`."""
    X, Y = (series[name][:, None] for name in ("X", "Y"))
    gamma = series["gamma"][:, None]
    Z1, Z2, outside, pair_Z1, pair_Z2, riccati = (
        series[name][:, 1:] for name in ("W1", "W2", "outside", "Z1", "Z2", "alpha")
    )
    beta, beta_star, size = Z1 @ Z2, theory.minimum_norm_interpolator(X, Y), norm(Z1)
    alpha = np.linalg.solve(transposed(Z1), Z2)
    R = transposed(X) @ (Y - X @ beta)
    speed = R @ (transposed(Z2) @ Z2) + Z1 @ (transposed(Z1) @ R)  # of beta = Z1 Z2, by (3.4)
    from_alpha = reductions.predictor_from_alpha(riccati, gamma)
    printed_speed = from_alpha / (2 * gamma[..., None, None])
    quantities: Measured = {
        "loss": two_layer.loss(Z1, Z2, X, Y),
        "condition": np.linalg.cond(Z1),
        "sigma_w1": (singular_values(Z1), singular_values(pair_Z1)),
        "sigma_alpha": (singular_values(alpha), singular_values(riccati)),
        "subspace": outside / size,
        "projected": np.maximum(norm(Z1 - pair_Z1), norm(Z2 - pair_Z2)) / size,
        "unit_pair": norm(Z1 - pair_Z1 / np.sqrt(2 * gamma[..., None, None])) / size,
        "alpha": norm(alpha - riccati),
        "beta_from_alpha": norm(beta - from_alpha) / norm(beta_star),
        "beta_without_scale": norm(beta - printed_speed) / norm(beta_star),
        "printed_beta_speed": norm(speed - printed_speed) / norm(speed[:, :1]),
    }
    quantities |= _mirror_of_singular_values(beta, speed, R, gamma, times=times[1:])
    if "mirror" in series:
        bound = theory.rate_bound(norm(beta_star), gamma, times[None, 1:])
        quantities["loss"] = (quantities["loss"], bound)
        quantities["beta"] = (beta[..., 0], series["mirror"][:, 1:, :, 0])
    return quantities


def _mirror_of_singular_values(
    beta: np.ndarray, speed: np.ndarray, R: np.ndarray, gamma: np.ndarray, *, times: np.ndarray
) -> Measured:
    """Mirror coordinates of the singular values, their speeds, and the forces that should drive them.

    A singular value moves at u^T (d beta/dt) v, and the loss falls along it at u^T R v.
    """
    U, sigma, Vt = np.linalg.svd(beta, full_matrices=False)
    # u_i^T matrix v_i for each singular pair
    along, force = (np.einsum("...ai,...ab,...ib->...i", U, matrix, Vt) for matrix in (speed, R))
    scale = gamma[..., None]
    # time is even in its logarithm
    driven = cumulative_simpson(force * times[:, None], x=np.log(times), axis=1, initial=0.0)
    coordinate, printed = theory.mirror_coordinate(sigma, scale), theory.printed_mirror_coordinate(sigma, scale)
    return {
        "sigma_beta": sigma,
        "mirror_speed": (theory.mirror_curvature(sigma, scale) * along, force),
        "printed_mirror_speed": (theory.printed_mirror_curvature(sigma, scale) * along, force),
        "mirror_coordinate": (coordinate, coordinate[:, :1] + driven),
        "printed_mirror_coordinate": (printed, coordinate[:, :1] + driven),
    }
