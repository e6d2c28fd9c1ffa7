"""Singular values, invariants, rates and distances to the predicted limits along the gradient flow.

Shapes: the docstring of `layers` lists those of the trajectory. Z1 = W1 P^T is square, (draws, times, inputs, inputs);
Z2 = P W2, beta = W1 W2, alpha = Z1^{-T} Z2 and R = X^T (Y - X beta) are (draws, times, inputs, outputs). Quantities are
(draws, times) or (draws, times, entries), with one time at the limit. `quantities` has the definitions as formulas.
"""

from collections.abc import Callable

import numpy as np

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias import theory, two_layer
from learning_dynamics.papers.spectral_bias.flow import potential, quantities
from learning_dynamics.papers.spectral_bias.layers import (
    FLOW_COLUMNS,
    Measured,
    flow_table,
    norm,
    of_layers,
    off_diagonal,
    outside_row_space,
    ratio,
    relative_commutator,
    spectra_and_loss,
    spectra_of,
    transposed,
)
from learning_dynamics.papers.spectral_bias.quantities import RESIDUAL, SAMPLES, SIGMA_BETA, SIGMA_W1, SIGMA_W2
from learning_dynamics.settings import Count, Positive
from learning_dynamics.tidy import Tables, columns
from learning_dynamics.trajectories import Trajectory


@columns(*FLOW_COLUMNS)
def linear_flow(trajectory: Trajectory, *, settled: Positive, perturbations: Count) -> Tables:
    """Measure the flow from orthogonal rows of one length, in phases: along the flow, at its limit, and of each draw.

    Z1 = W1 P^T, Z2 = P W2, beta = W1 W2, alpha = Z1^{-T} Z2, R = X^T (Y - X beta); beta_* is the minimum-norm
    interpolator. The residual |Y - X beta| has settled where it is at most `settled` times |Y|.

    Quantities
    ----------
    `layers.spectra_and_loss`
        Along the flow and at the limit.
    sigma_w1, sigma_w2
        Singular values of the layers; predicted along the flow from the measured spectrum of beta (Lemma C.10), at the
        limit from that of beta_* (Corollary 3.1).
    sigma_beta
        Singular values of beta. At the limit those of beta_* are predicted (Theorem 3.1 (ii)). Along the flow the
        learning curve of Theorem C.12 is predicted, on whitened data alone.
    imbalance
        Eigenvalues of Z1^T Z1 - Z2 Z2^T along the flow; predicted 2 gamma (Lemma 3.2).
    largest_eigenvalue
        The largest eigenvalue of Z1^T Z1 along the flow.
    condition_of_Z1
        Condition number of Z1 along the flow.
    commutator_with_layers
        How far beta is from sharing singular vectors with W1 and W2 along the flow (Theorem C.11): the larger of the
        commutators of beta beta^T with W1 W1^T and of beta^T beta with W2^T W2, relative to the product of the norms.
    commutator_with_alpha
        How far beta is from sharing singular vectors with alpha along the flow (Theorem C.11): the larger of the
        commutators of beta beta^T with alpha alpha^T and of beta^T beta with alpha^T alpha, relative to the product of
        the norms.
    beta_off_diagonal
        Norm of the part of beta off the diagonal in the singular basis of beta_* along the flow, over |beta| (Theorem
        C.11).
    alpha_off_diagonal
        Norm of the part of alpha off the diagonal in the singular basis of beta_* along the flow, over |alpha| (Theorem
        C.11).
    alpha_outside_data
        Norm of the part of alpha outside the span of the rows of X along the flow, over |alpha| (Lemma C.3).
    c_17
        Asymmetry |A - A^T| / (|R(0)| |alpha|) of A = R^T alpha along the flow; A is symmetric on whitened data (C.17).
    c_18
        Asymmetry |A - A^T| / (|R(0)| |alpha|) of A = R alpha^T along the flow; A is symmetric on whitened data (C.18).
    c_22
        Asymmetry |A - A^T| / (|Z1| |R(0)| |Z2|) of A = Z1^T R Z2^T along the flow; A is symmetric on whitened data
        (C.22).
    decay_rate_of_R
        Rate at which |R|^2 falls, relative to |R|^2 and in units of gamma lambda_min(X X^T) (Lemma C.6). Along the
        flow, nan where the residual has settled; of each draw, the slowest of these rates.
    decay_rate_of_residual
        Like `decay_rate_of_R`, of |Y - X beta|^2.
    parameter_distance
        Distance of the parameters from their limit along the flow, over the norm of this limit. The prediction is a
        bound on it, |Y - X beta| / sqrt(2 gamma lambda_min(X X^T)) over the same norm (Theorem 3.1 (i)).
    sigma_w1_left_open
        The largest change of a singular value of W1 that the residual at the limit leaves open, over the predicted
        largest singular value.
    asymmetry
        Asymmetry at the limit of the derivative of Z - Z^{-T} D at Z1, D = 2 gamma I, over its term in D: the largest
        over random pairs of directions. Z - Z^{-T} D is the gradient of a potential of Z1 if there is one (Lemma C.4).
    `potential.at_limit`
        At the limit, over `perturbations` random perturbations.
    distance_over_its_bound
        Of each draw: the distance of the parameters from their limit over its bound (Theorem 3.1 (i)), the largest
        before the residual has settled.
    bound_at_end
        Of each draw: this bound at the end of the flow, over the norm of the limit.
    inverse_condition_of_X
        Of each draw: the smallest singular value of X over its largest.
    samples
        Of each draw: number of samples.
    """
    gamma, constants = trajectory.settings["gamma"], trajectory.constants

    def along(W1: np.ndarray, W2: np.ndarray, X: np.ndarray, Y: np.ndarray, P: np.ndarray) -> Measured:
        measured = spectra_and_loss(W1, W2, X, Y)
        Z1, Z2 = W1 @ transposed(P), P @ W2  # Z1 = W1 P^T and Z2 = P W2 (Lemma 3.1)
        inputs, sigma = X.shape[-1], measured[SIGMA_BETA]
        gram = transposed(Z1) @ Z1
        imbalance = np.linalg.eigvalsh(gram - Z2 @ transposed(Z2))
        beta, alpha = W1 @ W2, np.linalg.solve(transposed(Z1), Z2)  # alpha = Z1^{-T} Z2 (Lemma 3.3)
        star = theory.minimum_norm_interpolator(X, Y)
        # whitened data, for which the learning curve is known: X^T X is I up to rounding
        if np.allclose(transposed(X) @ X, np.eye(inputs), atol=1e-12):
            # singular values (draws, 1, k), times (times, 1): a curve (draws, times, k)
            curve = theory.learning_curve(singular_values(star), np.asarray(gamma), trajectory.time[:, None])
            measured[SIGMA_BETA] = (sigma, curve)
        return measured | {
            SIGMA_W1: (measured[SIGMA_W1], theory.hidden_singular_values(sigma, gamma, inputs)),
            SIGMA_W2: (measured[SIGMA_W2], theory.output_singular_values(sigma, gamma)),
            quantities.IMBALANCE: (imbalance, np.full(imbalance.shape, 2 * gamma)),  # (C.8)
            quantities.LARGEST_EIGENVALUE: singular_values(gram, 1)[..., 0],
            **_shared(W1, W2, Z1, alpha),
            quantities.BETA_OFF_DIAGONAL: off_diagonal(beta, star),
            quantities.ALPHA_OFF_DIAGONAL: off_diagonal(alpha, star),
            quantities.ALPHA_OUTSIDE_DATA: outside_row_space(X, alpha),
            **_rates(Z1, Z2, X, Y, gamma=gamma),
            **_asymmetries(Z1, Z2, alpha, transposed(X) @ (Y - X @ beta)),
        }

    def at_limit(W1: np.ndarray, W2: np.ndarray, X: np.ndarray, Y: np.ndarray, P: np.ndarray) -> Measured:
        measured = spectra_and_loss(W1, W2, X, Y)
        Z1, Z2, inputs = W1 @ transposed(P), P @ W2, X.shape[-1]  # Lemma 3.1
        star = singular_values(theory.minimum_norm_interpolator(X, Y), measured[SIGMA_BETA].shape[-1])
        # |beta - beta_*| <= |X beta - Y| / sigma_min(X) in the row space of X
        distance_bound = norm(X @ W1 @ W2 - Y)[..., None] / singular_values(X)[..., -1:]
        return (
            measured
            | {
                SIGMA_BETA: (measured[SIGMA_BETA], star),
                SIGMA_W1: (measured[SIGMA_W1], theory.hidden_singular_values(star, gamma, inputs)),
                SIGMA_W2: (measured[SIGMA_W2], theory.output_singular_values(star, gamma)),
                quantities.SIGMA_W1_LEFT_OPEN: _singular_value_bound(star, distance_bound, gamma),
                quantities.ASYMMETRY: potential.relative_asymmetry(Z1, np.full(inputs, 2 * gamma)),
            }
            | potential.at_limit(Z1, Z2, X, Y, gamma=gamma, perturbations=perturbations)
        )

    flow, limit = of_layers(trajectory, along), of_layers(trajectory, at_limit, limit=True)
    # shape (draws, times); false for a draw that diverged, as no comparison with nan is true
    unsettled = flow[RESIDUAL] > settled
    # theta is both layers together: |theta(t) - theta_infinity|, shape (draws, times), and |theta_infinity|, (draws, 1)
    ends = {name: constants[f"limit_{name}"] for name in ("W1", "W2")}
    distance = np.sqrt(
        sum(np.sum((trajectory.series[name] - end[:, None]) ** 2, axis=(2, 3)) for name, end in ends.items())
    )
    limit_norm = np.sqrt(sum(np.sum(end**2, axis=(1, 2)) for end in ends.values()))[:, None]
    X, label_norm = constants["X"], norm(constants["Y"])
    # The distance is at most |Y - X beta| / sqrt(2 gamma lambda_min(X X^T)) (Lemma 3.2). `root` is this square root, as
    # lambda_min is sigma_min(X)^2, and `label_norm` is |Y|, to which the recorded residual is relative: both (draws,)
    root = np.sqrt(2 * gamma) * np.linalg.svd(X, compute_uv=False)[:, -1]
    bound = flow[RESIDUAL] * (label_norm / root)[:, None]
    # with one sample the residual may become zero, and so its bound; such times have settled, and are left out below
    with np.errstate(divide="ignore", invalid="ignore"):
        distance_over_bound = distance / bound
    per_draw = {
        quantities.DECAY_RATE_OF_R: _extremes(flow[quantities.DECAY_RATE_OF_R], unsettled, np.min),
        quantities.DECAY_RATE_OF_RESIDUAL: _extremes(flow[quantities.DECAY_RATE_OF_RESIDUAL], unsettled, np.min),
        quantities.DISTANCE_OVER_ITS_BOUND: _extremes(distance_over_bound, unsettled, np.max),
        quantities.INVERSE_CONDITION_OF_X: 1 / np.linalg.cond(X),
        SAMPLES: np.full(len(X), X.shape[1]),
        # [:, 0]: the one time at the limit
        quantities.BOUND_AT_END: limit[RESIDUAL][:, 0] * label_norm / root / limit_norm[:, 0],
    }
    # once the residual has settled, decay rates are made of rounding
    for name in (quantities.DECAY_RATE_OF_R, quantities.DECAY_RATE_OF_RESIDUAL):
        flow[name] = np.where(unsettled, flow[name], np.nan)
    flow[quantities.PARAMETER_DISTANCE] = (distance / limit_norm, bound / limit_norm)
    return flow_table(trajectory, flow, limit, per_draw)


@columns(*FLOW_COLUMNS)
def anisotropic_flow(trajectory: Trajectory) -> Tables:
    """Measure the flow from orthogonal rows of unequal lengths, along the flow and at its limit.

    Z1 = W1 P^T, Z2 = P W2 and alpha = Z1^{-T} Z2. D is the imbalance Z1^T Z1 - Z2 Z2^T at the start, where it is
    diagonal and Z2 = 0.

    Quantities
    ----------
    `layers.spectra_and_loss`
        Nothing is predicted.
    imbalance_drift
        Largest singular value of Z1^T Z1 - Z2 Z2^T - D, over that of Z1^T Z1 (Lemma C.4).
    asymmetry
        Asymmetry of the derivative of Z - Z^{-T} D at Z1, over its term in D: the largest over random pairs of
        directions. At the limit Z - Z^{-T} D is the gradient of a potential of Z1 if there is one (Lemma C.4).
    gradient_printed
        At the limit, |G - (Z1 - D Z1^{-T})| / |G| for G = Z1^{-T} Z2 Z2^T, which is the gradient of the potential of Z1
        by (P2) of Proposition C.5. Lemma C.4 prints Z1 - D Z1^{-T} for it (errata 8).
    gradient_corrected
        At the limit, |G - (Z1 - Z1^{-T} D)| / |G| for this G.
    condition_of_Z1
        Condition number of Z1.
    commutator_with_layers
        How far beta is from sharing singular vectors with W1 and W2, as in `linear_flow`.
    commutator_with_alpha
        How far beta is from sharing singular vectors with alpha, as in `linear_flow`.
    """
    settings = trajectory.settings
    inputs = trajectory.constants["X"].shape[-1]
    # the diagonal of D, shape (inputs,): the squared lengths of the rows of W1(0)
    diagonal = 2 * two_layer.unequal_scales(settings["gamma"], settings["spread"], inputs)

    def measure(W1: np.ndarray, W2: np.ndarray, X: np.ndarray, Y: np.ndarray, P: np.ndarray) -> Measured:
        Z1, Z2 = W1 @ transposed(P), P @ W2  # Lemma 3.1
        gram = transposed(Z1) @ Z1
        drift = singular_values(gram - Z2 @ transposed(Z2) - np.diag(diagonal), 1) / singular_values(gram, 1)
        return spectra_and_loss(W1, W2, X, Y) | {
            quantities.IMBALANCE_DRIFT: drift[..., 0],
            quantities.ASYMMETRY: potential.relative_asymmetry(Z1, diagonal),
            **_shared(W1, W2, Z1, np.linalg.solve(transposed(Z1), Z2)),
        }

    def at_limit(W1: np.ndarray, W2: np.ndarray, X: np.ndarray, Y: np.ndarray, P: np.ndarray) -> Measured:
        Z1, Z2 = W1 @ transposed(P), P @ W2  # Lemma 3.1
        inverse, D = np.linalg.inv(transposed(Z1)), np.diag(diagonal)
        gradient = inverse @ Z2 @ transposed(Z2)  # G: of the potential Psi_1 at Z1, by (P2) of Proposition C.5
        return measure(W1, W2, X, Y, P) | {
            quantities.GRADIENT_PRINTED: norm(gradient - (Z1 - D @ inverse)) / norm(gradient),
            quantities.GRADIENT_CORRECTED: norm(gradient - (Z1 - inverse @ D)) / norm(gradient),
        }

    return flow_table(trajectory, of_layers(trajectory, measure), of_layers(trajectory, at_limit, limit=True))


@columns(*FLOW_COLUMNS)
def balanced_flow(trajectory: Trajectory) -> Tables:
    """Measure the flow from balanced layers, along the flow and at its limit.

    Quantities
    ----------
    `layers.spectra_and_loss`
        Nothing is predicted.
    """
    return flow_table(trajectory, spectra_of(trajectory), spectra_of(trajectory, limit=True))


def _shared(W1: np.ndarray, W2: np.ndarray, Z1: np.ndarray, alpha: np.ndarray) -> Measured:
    """Return what both flows from orthogonal rows have: the condition number of Z1, and two mismatches of beta.

    A mismatch is how far beta is from sharing singular vectors, with the layers and with alpha (Theorem C.11).
    """
    beta = W1 @ W2
    return {
        quantities.CONDITION_OF_Z1: np.linalg.cond(Z1),
        quantities.COMMUTATOR_WITH_LAYERS: _vector_mismatch(W1, W2, beta),
        quantities.COMMUTATOR_WITH_ALPHA: _vector_mismatch(alpha, alpha, beta),
    }


def _vector_mismatch(left: np.ndarray, right: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Return how far beta is from sharing its left singular vectors with `left` and its right ones with `right`.

    There are two commutators, that of beta beta^T with left left^T and that of beta^T beta with right^T right. Each is
    divided by the product of the norms of its two matrices, and the larger one is returned; zero for beta = 0.
    """
    return np.maximum(
        relative_commutator(beta @ transposed(beta), left @ transposed(left)),
        relative_commutator(transposed(beta) @ beta, transposed(right) @ right),
    )


def _rates(Z1: np.ndarray, Z2: np.ndarray, X: np.ndarray, Y: np.ndarray, *, gamma: float) -> Measured:
    """Return the relative rates at which |R|^2 and |Y - X beta|^2 fall, over gamma lambda_min(X X^T) (Lemma C.6).

    By the chain rule, -d|r|^2/dt / |r|^2 is -2 <r, dr/dt> / |r|^2, for the residual r = Y - X beta and for R = X^T r
    alike.
    """
    r = Y - X @ Z1 @ Z2
    R = transposed(X) @ r
    # d beta/dt = Z1 dZ2/dt + dZ1/dt Z2, with dZ1/dt = R Z2^T and dZ2/dt = Z1^T R (3.4)
    beta_speed = Z1 @ transposed(Z1) @ R + R @ transposed(Z2) @ Z2
    unit = gamma * singular_values(X)[..., -1] ** 2  # gamma lambda_min(X X^T), shape (draws, 1)

    def rate(value: np.ndarray, speed: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            return -2 * np.sum(value * speed, axis=(-2, -1)) / np.sum(value**2, axis=(-2, -1)) / unit

    r_speed = -X @ beta_speed
    return {
        quantities.DECAY_RATE_OF_R: rate(R, transposed(X) @ r_speed),
        quantities.DECAY_RATE_OF_RESIDUAL: rate(r, r_speed),
    }


def _extremes(values: np.ndarray, masks: np.ndarray, reduce: Callable[[np.ndarray], float]) -> np.ndarray:
    """Reduce each draw's values at the times that its mask chooses to one number, shape (draws,).

    Values and masks are (draws, times). A draw for which no time is chosen, or with a value there that is not finite,
    gets nan.
    """
    chosen = [row[mask] for row, mask in zip(values, masks, strict=True)]
    return np.array([reduce(row) if len(row) and np.isfinite(row).all() else np.nan for row in chosen])


def _singular_value_bound(star: np.ndarray, distance: np.ndarray, gamma: float) -> np.ndarray:
    """Return the largest change of a sigma_i(W1) that a distance of beta from beta_* allows, over sigma_1(W1).

    Singular values of beta differ from those of beta_* by the distance at most (Weyl). A singular value of W1 is an
    increasing function of that of beta (Lemma C.10). sigma_1(W1) is that which beta_* gives.

    Parameters
    ----------
    star : ndarray, shape (..., k)
        The singular values of beta_*.
    distance : ndarray, shape (..., 1)
        A bound on |beta - beta_*|.
    gamma : float

    Returns
    -------
    ndarray, shape (...)
    """
    count = star.shape[-1]  # k: the other singular values of W1, sqrt(2 gamma), do not depend on beta
    values = theory.hidden_singular_values(star, gamma, count)
    increase = theory.hidden_singular_values(star + distance, gamma, count) - values
    decrease = values - theory.hidden_singular_values(np.maximum(star - distance, 0.0), gamma, count)
    return (np.maximum(increase, decrease) / values[..., :1]).max(axis=-1)


def _asymmetries(Z1: np.ndarray, Z2: np.ndarray, alpha: np.ndarray, R: np.ndarray) -> Measured:
    """Return asymmetries of R^T alpha (C.17), R alpha^T (C.18) and Z1^T R Z2^T (C.22): zero where X^T X = I."""
    # relative to |R(0)|, shape (draws, 1): late in the flow R is rounding, and an asymmetry relative to it says nothing
    size = norm(R)[:, :1]
    return {
        quantities.R_T_ALPHA_ASYMMETRY: _asymmetry(transposed(R) @ alpha, size, alpha),
        quantities.R_ALPHA_T_ASYMMETRY: _asymmetry(R @ transposed(alpha), size, alpha),
        quantities.Z1_T_R_Z2_T_ASYMMETRY: _asymmetry(transposed(Z1) @ R @ transposed(Z2), size * norm(Z1), Z2),
    }


def _asymmetry(product: np.ndarray, size: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Return |A - A^T| / (size |factor|) for a product A of `factor` with matrices whose norms multiply to `size`.

    It is zero where one of the norms is.
    """
    return ratio(norm(product - transposed(product)), size * norm(factor))
