"""Numbers from features on the central path: identities of the loss, tangent maps, speeds and collapse."""

from __future__ import annotations

import numpy as np

from learning_dynamics.papers.neural_collapse import least_squares_classifier
from learning_dynamics.papers.neural_collapse.central_path import models as central_path
from learning_dynamics.papers.neural_collapse.central_path import renormalised

Numbers = dict[str, np.ndarray | np.floating | float]

# step of the central differences below, relative to the fastest relative change: its square is their error
DIFFERENCE = 1e-4


def classifier_identities(H: np.ndarray, W: np.ndarray, decay: float) -> Numbers:
    """Relative gaps in what Proposition 1 and Theorems 1 and 2 equate, for any extended classifier W.

    Keys: ``classifier_gap``, the formula of the optimal classifier against an orthogonal-triangular solution of the
    regularised least-squares problem; ``theorem_1_gap``, loss against optimal loss plus deviation; ``theorem_2_gap``,
    optimal loss against its two parts.
    """
    classes, samples = len(W), H.shape[1]
    rows = np.vstack([least_squares_classifier.extended(H).T, np.sqrt(samples * decay) * np.eye(len(H) + 1)])
    labels = np.vstack([central_path.one_hot(classes, samples // classes).T, np.zeros((len(H) + 1, classes))])
    solved = np.linalg.lstsq(rows, labels, rcond=None)[0].T
    optimum = least_squares_classifier.optimal_classifier(H, classes, decay)
    parts = least_squares_classifier.decompose(W, H, decay)
    total = least_squares_classifier.loss(W, H, decay)
    least = least_squares_classifier.loss(solved, H, decay)
    return {
        "classifier_gap": np.linalg.norm(optimum - solved) / np.linalg.norm(solved),
        "theorem_1_gap": abs(total - least - parts.deviation) / total,
        "theorem_2_gap": abs(least - parts.least_squares) / least,
    }


def invariance_gaps(H: np.ndarray, A: np.ndarray, classes: int) -> Numbers:
    """Relative change of predictions and loss under H -> A H, without weight decay (section 3.1)."""
    gaps: Numbers = {}
    moved = A @ H
    first, second = (least_squares_classifier.optimal_classifier(each, classes, 0.0) for each in (H, moved))
    scores = first @ least_squares_classifier.extended(H)
    changed = second @ least_squares_classifier.extended(moved)
    gaps["prediction_gap"] = np.linalg.norm(changed - scores) / np.linalg.norm(scores)
    before = least_squares_classifier.loss(first, H, 0.0)
    gaps["loss_gap"] = abs(least_squares_classifier.loss(second, moved, 0.0) - before) / before
    return gaps


def manifold_gaps(X: np.ndarray, Z: np.ndarray, classes: int) -> Numbers:
    """What tells the solutions of Proposition 3's equation from the velocities of curves on the manifold.

    The curve renormalised(X + h Z) stays on the manifold: ``curve_equation``, what its velocity leaves of X C Z^T +
    Z C X^T; ``curve_velocity``, its velocity less Z where Z is made to solve the equation, both relative to Z;
    ``codimension``, the rank of Z -> X C Z^T + Z C X^T.
    """

    def slope(direction: np.ndarray) -> np.ndarray:
        h = DIFFERENCE / np.linalg.norm(direction)
        ahead, behind = (central_path.renormalised(X + sign * h * direction, classes) for sign in (1, -1))
        return (ahead - behind) / (2 * h)

    solution = renormalised.orthogonal_projection(X, Z, classes)
    velocity = slope(central_path.centred(Z))
    left = renormalised.constraint(X, velocity, classes)
    return {
        "curve_equation": np.linalg.norm(left) / np.linalg.norm(renormalised.constraint(X, Z, classes)),
        "curve_velocity": _relative(slope(central_path.centred(solution)), central_path.centred(solution)),
        "codimension": float(np.linalg.matrix_rank(renormalised.constraint(X, _basis(X), classes).reshape(X.size, -1))),
    }


def map_gaps(X: np.ndarray, Z: np.ndarray, classes: int, tangent_map: renormalised.TangentMap) -> Numbers:
    """How far a tangent map is from a projection onto the tangent space, and from an orthogonal one.

    Keys: ``image``, what the map's image leaves of X C Z^T + Z C X^T, relative to that of Z; ``idempotence``, a second
    application against the first; ``tangent_moved``, the change of matrices that are tangent already; ``asymmetry``,
    ||T - T^T||_F / ||T||_F for the map as a matrix T, zero if and only if it is self-adjoint.
    """
    image = tangent_map(X, Z, classes)
    tangent = renormalised.orthogonal_projection(X, Z[::-1], classes)
    matrix = tangent_map(X, _basis(X), classes).reshape(X.size, X.size)
    left = np.linalg.norm(renormalised.constraint(X, image, classes))
    return {
        "image": left / np.linalg.norm(renormalised.constraint(X, Z, classes)),
        "idempotence": _relative(tangent_map(X, image, classes), image),
        "tangent_moved": _relative(tangent_map(X, tangent, classes), tangent),
        "asymmetry": np.linalg.norm(matrix - matrix.T) / np.linalg.norm(matrix),
    }


def adjoint_gaps(X: np.ndarray, classes: int) -> Numbers:
    """What Lemma 4 does to the gradient when it moves the printed map across the inner product.

    Keys: ``adjoint_gradient``, the adjoint map of the gradient less the gradient; ``printed_gradient``, the printed map
    of it less the gradient; ``gradient_normal``, the part of the gradient that is normal to the manifold, all
    relative to the gradient.
    """
    gradient = central_path.gradient(X, classes)
    return {
        "adjoint_gradient": _relative(renormalised.printed_adjoint(X, gradient, classes), gradient),
        "printed_gradient": _relative(renormalised.printed_map(X, gradient, classes), gradient),
        "gradient_normal": _relative(renormalised.orthogonal_projection(X, gradient, classes), gradient),
    }


def speeds(X: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Return d omega_j / dt by central differences, shape (classes - 1,), for both flows and one step of the descent.

    The flows move the features along their velocity; the descent takes a plain gradient step of size h forwards
    and backwards and renormalises.
    """
    gradient = central_path.gradient(X, classes)
    moves = {name: renormalised.velocity(X, classes, each) for name, each in renormalised.TANGENT_MAPS.items()}
    moves["descent"] = -gradient
    measured = {}
    for name, move in moves.items():
        h = DIFFERENCE / np.max(np.linalg.norm(move, axis=0) / np.linalg.norm(X, axis=0))
        ahead, behind = (central_path.snr_singular_values(X + sign * h * move, classes) for sign in (1, -1))
        measured[name] = (ahead - behind) / (2 * h)
    return measured


def collapse(X: np.ndarray, classes: int) -> Numbers:
    """Neural collapse of renormalised features and their least-squares classifier, over leading axes.

    Keys: ``nc1``, tr(pinv(Sigma_B) Sigma_W), on the rank classes - 1 of Sigma_B; ``nc2_norms``, standard
    deviation over mean of the class means' norms; ``nc2_angles``, mean |cos + 1 / (classes - 1)| over pairs of
    class means; ``nc3``, the squared distance of classifier and class means, each scaled to norm one; ``nc4``, the
    share of examples that the classifier and the nearest class mean label differently.
    """
    means = central_path.class_means(X, classes)
    U, between, _ = np.linalg.svd(means, full_matrices=False)
    U, between = U[..., : classes - 1], between[..., : classes - 1] ** 2 / classes
    scatter = np.einsum("...pj,...pq,...qj->...j", U, central_path.within_covariance(X, classes), U)
    norms = np.linalg.norm(means, axis=-2)
    cosines = np.swapaxes(means, -1, -2) @ means / (norms[..., :, None] * norms[..., None, :])
    pairs = np.triu_indices(classes, 1)
    W = central_path.classifier(X, classes)
    duality = np.swapaxes(W, -1, -2) / _norm(W) - means / _norm(means)
    nearest = np.swapaxes(means, -1, -2) @ X - 0.5 * norms[..., :, None] ** 2
    return {
        "nc1": np.sum(scatter / between, axis=-1),
        "nc2_norms": norms.std(axis=-1) / norms.mean(axis=-1),
        "nc2_angles": np.abs(cosines[..., *pairs] + 1 / (classes - 1)).mean(axis=-1),
        "nc3": np.sum(duality**2, axis=(-2, -1)),
        "nc4": np.mean(np.argmax(W @ X, axis=-2) != np.argmax(nearest, axis=-2), axis=-1),
    }


def limit_gaps(X: np.ndarray, start: np.ndarray, classes: int) -> Numbers:
    """Distances of features from what the singular vectors at the start say, over leading axes of X.

    Keys: ``vectors``, the part of the signal-to-noise matrix outside of sum_j x_j u_j v_j^T, relative to all of it
    (Lemma 6); ``snr_limit``, ||SNR / omega_max - U V^T||_F (eq. 10); ``features_limit``, the same of the features,
    ||X / omega_max - (U V^T) kron 1^T||_F / sqrt(examples) (eq. 11).
    """
    U, _, Vt = np.linalg.svd(central_path.signal_to_noise(start, classes), full_matrices=False)
    U, V = U[:, : classes - 1], Vt[: classes - 1].T
    snr = central_path.signal_to_noise(X, classes)
    omega_max = np.linalg.svd(snr, compute_uv=False)[..., :1, None]
    aligned = np.einsum("pj,...pc,cj->...j", U, snr, V)
    examples = X.shape[-1] // classes
    return {
        "vectors": (_norm(snr - (U * aligned[..., None, :]) @ V.T) / _norm(snr))[..., 0, 0],
        "snr_limit": _norm(snr / omega_max - U @ V.T)[..., 0, 0],
        "features_limit": _norm(X / omega_max - np.repeat(U @ V.T, examples, axis=-1))[..., 0, 0] / np.sqrt(examples),
    }


def _basis(X: np.ndarray) -> np.ndarray:
    """Return all matrices with a single one, of the shape of X, along a new first axis."""
    return np.eye(X.size).reshape(X.size, *X.shape)


def _norm(matrices: np.ndarray) -> np.ndarray:
    return np.linalg.norm(matrices, axis=(-2, -1), keepdims=True)


def _relative(changed: np.ndarray, matrix: np.ndarray) -> float:
    return float(np.linalg.norm(changed - matrix) / np.linalg.norm(matrix))
