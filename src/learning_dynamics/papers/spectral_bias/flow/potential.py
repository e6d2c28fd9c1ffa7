"""The potential that the flow's limit minimises (Theorem 3.1 (iii)), and whether one can exist (Lemma C.4).

beta = Z1 Z2 is the predictor of the layers Z1 = W1 P^T and Z2 = P W2; interpolators are layers with X Z1 Z2 = Y. alpha
is Z1^{-T} Z2, X^+ X projects on the span of the rows of X, and |.| is the Frobenius norm. (P1) and (P2) are the
conditions of Proposition C.5.

Shapes: Z1 (draws, 1, inputs, inputs), square; Z2 (draws, 1, inputs, outputs); X (draws, 1, samples, inputs); Y (draws,
1, samples, outputs). The axis of length one is time, at the limit.
"""

import numpy as np

from learning_dynamics.papers.spectral_bias.flow import quantities
from learning_dynamics.papers.spectral_bias.layers import Measured, norm, transposed
from learning_dynamics.seeds import generators

# size of the random perturbations of the layers, and of the step of Z2 to another interpolator, relative to the layer.
# chosen: terms of third order in the perturbation are about a thousandth of those of second order, and rounding of the
# potential, divided by the squared perturbation, is eps / 1e-6 = 2e-10
SIZE = 1e-3
# pairs of directions along which the asymmetry of a field's derivative is probed. chosen: an asymmetry shows along
# almost every pair, and the largest of twenty is not small by chance
PAIRS = 20


def at_limit(
    Z1: np.ndarray, Z2: np.ndarray, X: np.ndarray, Y: np.ndarray, *, gamma: float, perturbations: int
) -> Measured:
    """Return how far the limit is from stationary, and what leaving it costs, arrays of shape (draws, 1).

    The potential is 1/2 |Z1|^2 + 1/2 |Z2|^2 - gamma log det(Z1 Z1^T), that of W1 and W2 in eq. (3.1). The Lagrangian
    adds the product of a multiplier and X Z1 Z2 - Y. Its gradients have the multiplier in the form X^T multiplier, a
    matrix whose columns are in the row space of X. We take -X^+ X alpha for it.

    Quantities
    ----------
    gradient_W1
        |Z1 - 2 gamma Z1^{-T} - X^+ X alpha Z2^T| / |Z1|, the gradient of the Lagrangian in W1 (Theorem 3.1 (iii),
        (P2)).
    gradient_W2
        |Z2 - Z1^T X^+ X alpha| / |Z2|, the gradient of the Lagrangian in W2 (Theorem 3.1 (iii), (P1)).
    gradient_W1_without_log_det
        Like `gradient_W1`, of a potential without the logarithm of the determinant.
    gradient_W1_twice_log_det
        Like `gradient_W1`, of a potential with twice the logarithm of the determinant.
    gradient_W2_elsewhere
        Like `gradient_W2`, after a small step of Z2 to another interpolator; the same as at the limit where there is no
        other.
    increase
        The layers at the limit are moved at random, to layers that interpolate too. Their increase of the potential,
        over the squared length of the move: the smallest over all moves (Theorem 3.1 (iii)).
    increase_without_log_det
        Like `increase`, of the potential without the logarithm of the determinant.
    increase_twice_log_det
        Like `increase`, of the potential with twice the logarithm of the determinant.
    """
    # The limit is stationary in Z2 if Z2 + Z1^T X^T multiplier = 0. Then X^T multiplier is -alpha, so that alpha is in
    # the row space of X (P1). It is stationary in Z1 if, with this multiplier, the gradient of
    # Psi_1 = 1/2 |Z1|^2 - gamma log det(Z1 Z1^T) is alpha Z2^T (P2)
    row_space_alpha = _row_space_alpha(Z1, Z2, X)
    logdet_gradient = 2 * gamma * np.linalg.inv(transposed(Z1))  # gradient of gamma log det(Z1 Z1^T)
    gradient_W1 = Z1 - logdet_gradient - row_space_alpha @ transposed(Z2)
    gammas = gamma * np.array([1.0, 0.0, 2.0])  # before log det: as in (3.1), without log det, twice that
    excess = _smallest_excess(Z1, Z2, X, Y, gammas=gammas, perturbations=perturbations)  # shape (draws, 1, 3)
    return {
        quantities.GRADIENT_W1: norm(gradient_W1) / norm(Z1),
        quantities.GRADIENT_W1_WITHOUT_LOG_DET: norm(gradient_W1 + logdet_gradient) / norm(Z1),
        quantities.GRADIENT_W1_TWICE_LOG_DET: norm(gradient_W1 - logdet_gradient) / norm(Z1),
        quantities.GRADIENT_W2: _relative_gradient_W2(Z1, Z2, X),
        quantities.GRADIENT_W2_ELSEWHERE: _relative_gradient_W2(Z1, Z2 + _to_another_interpolator(Z1, Z2, X), X),
        quantities.INCREASE: excess[..., 0],
        quantities.INCREASE_WITHOUT_LOG_DET: excess[..., 1],
        quantities.INCREASE_TWICE_LOG_DET: excess[..., 2],
    }


def _relative_gradient_W2(Z1: np.ndarray, Z2: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return |Z2 - Z1^T X^+ X alpha| / |Z2|, shape (...); it is zero if alpha is in the row space of X (P1)."""
    return norm(Z2 - transposed(Z1) @ _row_space_alpha(Z1, Z2, X)) / norm(Z2)


def _to_another_interpolator(Z1: np.ndarray, Z2: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return a random change of Z2, of SIZE times the norm of Z2, less the part that would change X Z1 Z2.

    The random direction is the same for every draw. Where no other second layer interpolates, rounding is left.
    """
    # seed 0: part of the measure, so no setting
    (rng,) = generators(0, "spectral_bias.interpolators", 1)
    direction = rng.standard_normal(Z2.shape[-2:])
    direction = SIZE * norm(Z2)[..., None, None] * direction / np.linalg.norm(direction)
    return direction - np.linalg.pinv(X @ Z1) @ (X @ Z1 @ direction)


def _row_space_alpha(Z1: np.ndarray, Z2: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return X^+ X alpha, the part of alpha in the span of the rows of X, shape (..., inputs, outputs)."""
    alpha = np.linalg.solve(transposed(Z1), Z2)
    # X^T (X^T)^+ is X^+ X, the projection on the span of the rows of X
    return transposed(X) @ np.linalg.pinv(transposed(X)) @ alpha


def relative_asymmetry(Z1: np.ndarray, imbalance: np.ndarray) -> np.ndarray:
    """Return the largest asymmetry of the derivative of F(Z) = Z - Z^{-T} D over random pairs of directions (H, K).

    D is the imbalance Z1^T Z1 - Z2 Z2^T. By (P2) the gradient of a potential of Z1 has to be F at the limit (Lemma
    C.4). A gradient has a symmetric derivative, <K, dF[H]> = <H, dF[K]>. Here dF[H] = H + Z^{-T} H^T Z^{-T} D. The
    first term is symmetric, so that an asymmetry is in the second, A = Z^{-T} H^T Z^{-T} D for H and
    B = Z^{-T} K^T Z^{-T} D for K. It is measured as |<K, A> - <H, B>| / (|K| |A| + |H| |B|), which does not depend on
    the sizes of Z and D.

    Parameters
    ----------
    Z1 : ndarray, shape (..., inputs, inputs)
    imbalance : ndarray, shape (inputs,)
        The diagonal of D.

    Returns
    -------
    ndarray, shape (...)
    """
    # seed 0: part of the measure, so no setting
    (rng,) = generators(0, "spectral_bias.directions", 1)
    inverse = np.linalg.inv(transposed(Z1))  # Z^{-T}
    largest = np.zeros(Z1.shape[:-2])
    for _ in range(PAIRS):
        H, K = rng.standard_normal((2, *Z1.shape[-2:]))
        # `along` is A and `across` is B; D is diagonal, so that it multiplies columns
        along, across = (inverse @ direction.T @ inverse * imbalance for direction in (H, K))
        difference = np.sum(K * along, axis=(-2, -1)) - np.sum(H * across, axis=(-2, -1))
        size = np.linalg.norm(K) * norm(along) + np.linalg.norm(H) * norm(across)
        largest = np.maximum(largest, np.abs(difference) / size)
    return largest


def _smallest_excess(
    Z1: np.ndarray, Z2: np.ndarray, X: np.ndarray, Y: np.ndarray, *, gammas: np.ndarray, perturbations: int
) -> np.ndarray:
    """Return the smallest increase of each potential over perturbations, shape (draws, 1, gammas).

    The increase by a perturbation is divided by the squared length of this perturbation. The potentials are that of
    (3.1) with each of `gammas` in place of gamma.
    """
    # every draw is probed along the same directions. Seed 0: part of the measure, so no setting
    (rng,) = generators(0, "spectral_bias.perturbations", 1)
    inputs, outputs = Z2.shape[-2:]
    directions = rng.standard_normal((perturbations, inputs * (inputs + outputs)))
    # perturbations come first, before draws: directions of Z1 have the shape (perturbations, 1, 1, inputs, inputs). The
    # norm of a standard normal matrix of this size is about `inputs`: Z1 moves by about SIZE of its norm
    axes = (perturbations,) + (1,) * (Z1.ndim - 2)
    directions1, directions2 = directions[:, : inputs**2], directions[:, inputs**2 :]
    moved1 = Z1 + SIZE * norm(Z1)[..., None, None] * directions1.reshape(*axes, inputs, inputs) / inputs
    moved2 = Z2 + SIZE * norm(Z2)[..., None, None] * directions2.reshape(*axes, inputs, outputs) / inputs
    # the nearest second layer that interpolates with the moved first one
    moved2 = moved2 + np.linalg.pinv(X @ moved1) @ (Y - X @ moved1 @ moved2)
    length = norm(moved1 - Z1) ** 2 + norm(moved2 - Z2) ** 2
    return np.min((_potential(moved1, moved2, gammas) - _potential(Z1, Z2, gammas)) / length[..., None], axis=0)


def _potential(Z1: np.ndarray, Z2: np.ndarray, gammas: np.ndarray) -> np.ndarray:
    """Return 1/2 |Z1|^2 + 1/2 |Z2|^2 - gamma log det(Z1 Z1^T) (eq. 3.1), shape (..., gammas), for each of `gammas`."""
    # log det(Z1 Z1^T) = 2 log |det Z1|
    return 0.5 * (norm(Z1) ** 2 + norm(Z2) ** 2)[..., None] - 2 * gammas * np.linalg.slogdet(Z1)[1][..., None]
