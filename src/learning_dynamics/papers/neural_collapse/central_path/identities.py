"""Gaps of the paper's equations for any features, and of the same equations with a wrong factor or term.

Functions return gaps by quantity. A gap is the norm of a difference over the norm of what it is compared with: zero to
rounding where an equation holds. A quantity whose name ends in ``--<alternative>`` belongs to an altered equation, of
which the gap must be clearly above zero.

Shapes: H (P, C N) are one draw's features, neither centred nor normalised, with examples as columns, all of the first
class first, N of each of C classes. A and covariances are (P, P). Class means are rows, (C, P), as `measures.collapse`
takes them. Extended features [h; 1] have a last entry of one; extended classifiers W, (C, P + 1), have the biases in
their last column.

Sigma_W and Sigma_T are the covariances of features within classes and in total, mu_G is the global mean, lambda the
weight decay. S = Sigma_T + mu_G mu_G^T + lambda I, in extended features, is the regularised second moment. The loss L
of a classifier is L_LS + L_LS^perp: L_LS is the loss of the least-squares classifier, L_LS^perp what the classifier
loses against it (Theorem 1). L_LS = L_NC1 + L_NC2/3 (Theorem 2).
"""

import numpy as np

from learning_dynamics.measures import collapse
from learning_dynamics.papers.neural_collapse.central_path import models, quantities, theory


def moments(H: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Sigma_W, (P, P), and class means as rows, (C, P), not centred."""
    return models.within_covariance(H, classes), models.class_means(H, classes).T


def least_squares(H: np.ndarray, classes: int, decay: float) -> np.ndarray:
    """Return the extended classifier that minimises the loss, (C, P + 1), by a least-squares solver for its equations.

    No covariance is formed. Weight decay is P + 1 more examples, sqrt(C N lambda) times the unit vectors, with labels
    of zeros.
    """
    samples, size = H.shape[1], len(H) + 1
    rows = np.vstack([models.extended(H).T, np.sqrt(samples * decay) * np.eye(size)])
    labels = np.vstack([models.one_hot(classes, samples // classes).T, np.zeros((size, classes))])
    return np.linalg.lstsq(rows, labels, rcond=None)[0].T


def classifier_identities(H: np.ndarray, W: np.ndarray, decay: float) -> models.Numbers:
    """Return gaps of Proposition 1 and Theorems 1 and 2, for any extended classifier W.

    W_LS, the optimal classifier, is computed by its formula and by a least-squares solver.

    Quantities
    ----------
    classifier_gap
        Proposition 1's formula of the optimal classifier less the solver's, relative to the solver's.
    classifier_gap--half_decay, classifier_gap--without_mean
        ``classifier_gap`` by altered formulas: with half the weight decay, and with S - mu_G mu_G^T for S.
    loss_decomposition_gap
        |L - L_LS - L_LS^perp| / L, with the loss L of W, the loss L_LS of the solver's classifier, and L_LS^perp by its
        formula (Theorem 1).
    loss_decomposition_gap--without_mean
        ``loss_decomposition_gap`` with S - mu_G mu_G^T for S in L_LS^perp.
    deviation_over_least
        L_LS^perp over the least value that it can have for a classifier as far from the solver's as W is. That is half
        the smallest eigenvalue of S times the squared distance (Theorem 1, footnote 7).
    ls_decomposition_gap
        |L_LS - L_NC1 - L_NC2/3| / L_LS, with the loss L_LS of the solver's classifier (Theorem 2).
    ls_decomposition_gap--without_decay, ls_decomposition_gap--without_classes
        ``ls_decomposition_gap`` with altered terms: L_NC1 without weight decay, and L_NC2/3 without its factor 1/C.
    """
    classes = len(W)
    within, means = moments(H, classes)
    solution = least_squares(H, classes, decay)
    # in extended features: mu_G, (P + 1,), and S, (P + 1, P + 1)
    mean = np.append(means.mean(axis=0), 1.0)
    second_moment = models.extended(H) @ models.extended(H).T / H.shape[1] + decay * np.eye(len(H) + 1)
    # W_LS = [mu_c; 1]^T S^-1 / C (Proposition 1) with S - mu_G mu_G^T for S, transposed, (P + 1, C)
    without_mean = (
        np.linalg.pinv(second_moment - np.outer(mean, mean)) @ np.column_stack([means, np.ones(classes)]).T / classes
    )
    parts = collapse.decomposition(within, means, W, decay)
    total, optimal_loss = (models.extended_loss(weights, H, decay) for weights in (W, solution))
    excess = W - solution
    deviation_without_mean = parts["loss_ls_perp"] - 0.5 * np.sum((excess @ mean) ** 2)
    nc1, nc23 = parts["loss_nc1"], parts["loss_nc23"]
    classifiers = {
        quantities.CLASSIFIER_GAP: collapse.least_squares_classifier(within, means, decay),
        quantities.CLASSIFIER_GAP_HALF_DECAY: collapse.least_squares_classifier(within, means, decay / 2),
        quantities.CLASSIFIER_GAP_WITHOUT_MEAN: without_mean.T,
    }
    deviations = {
        quantities.LOSS_DECOMPOSITION_GAP: parts["loss_ls_perp"],
        quantities.LOSS_DECOMPOSITION_GAP_WITHOUT_MEAN: deviation_without_mean,
    }
    least_deviation = 0.5 * np.linalg.eigvalsh(second_moment)[0] * np.sum(excess**2)
    splits = {
        quantities.LS_DECOMPOSITION_GAP: nc1 + nc23,
        quantities.LS_DECOMPOSITION_GAP_WITHOUT_DECAY: nc1 - parts["loss_nc1_decay"] + nc23,
        quantities.LS_DECOMPOSITION_GAP_WITHOUT_CLASSES: nc1 + classes * nc23,
    }
    return {
        **{name: models.relative_gap(weights, solution) for name, weights in classifiers.items()},
        **{name: abs(total - optimal_loss - deviation) / total for name, deviation in deviations.items()},
        quantities.DEVIATION_OVER_LEAST: parts["loss_ls_perp"] / least_deviation,
        **{name: abs(optimal_loss - split) / optimal_loss for name, split in splits.items()},
    }


def equation_6(H: np.ndarray, classes: int) -> models.Numbers:
    """Return gaps of equation 6, W = M^T Sigma_T^{-1} / C and b = 1/C - W mu_G, without weight decay.

    M, (P, C), has the centred class means as columns.

    Quantities
    ----------
    unextended_classifier_gap
        Equation 6's weights and biases less those of a least-squares solver, relative to the solver's.
    unextended_classifier_gap--within, unextended_classifier_gap--constant_bias
        ``unextended_classifier_gap`` of altered equations: with Sigma_W for Sigma_T, and with the bias b = 1/C.
    """
    solution = least_squares(H, classes, 0.0)
    within, means = moments(H, classes)
    centre = means.mean(axis=0)
    centred = collapse.centred_means(means)
    total = within + centred.T @ centred / classes
    # W of equation 6, and the same with Sigma_W for Sigma_T
    weights, discriminant = (np.linalg.solve(matrix, centred.T).T / classes for matrix in (total, within))
    biases = np.full(classes, 1 / classes)
    classifiers = {
        quantities.UNEXTENDED_CLASSIFIER_GAP: np.column_stack([weights, biases - weights @ centre]),
        quantities.UNEXTENDED_CLASSIFIER_GAP_WITHIN: np.column_stack([discriminant, biases - discriminant @ centre]),
        quantities.UNEXTENDED_CLASSIFIER_GAP_CONSTANT_BIAS: np.column_stack([weights, biases]),
    }
    return {name: models.relative_gap(extended, solution) for name, extended in classifiers.items()}


def invariance(H: np.ndarray, A: np.ndarray, classes: int) -> models.Numbers:
    """Return relative changes of predictions and of loss under H -> A H, without weight decay (section 3.1).

    Quantities
    ----------
    predictions_change, loss_change
        Change of predictions, and of the loss, from H to A H, relative to those of H. Both have their own least-squares
        classifiers (section 3.1).
    predictions_change--classifier_kept, loss_change--classifier_kept
        ``predictions_change`` and ``loss_change`` where A H has the least-squares classifier of H.
    """
    mapped = A @ H
    classifier, mapped_classifier = (
        collapse.least_squares_classifier(*moments(features, classes), decay=0.0) for features in (H, mapped)
    )
    scores, loss = classifier @ models.extended(H), models.extended_loss(classifier, H, 0.0)

    def change_of_predictions(weights: np.ndarray) -> float:
        return models.relative_gap(weights @ models.extended(mapped), scores)

    def change_of_loss(weights: np.ndarray) -> float:
        return abs(models.extended_loss(weights, mapped, 0.0) - loss) / loss

    return {
        quantities.PREDICTIONS_CHANGE: change_of_predictions(mapped_classifier),
        quantities.LOSS_CHANGE: change_of_loss(mapped_classifier),
        quantities.PREDICTIONS_CHANGE_CLASSIFIER_KEPT: change_of_predictions(classifier),
        quantities.LOSS_CHANGE_CLASSIFIER_KEPT: change_of_loss(classifier),
    }


def simplex_frames(H: np.ndarray, Z: np.ndarray, classes: int) -> models.Numbers:
    """Return gaps of Lemma 7: a matrix is a simplex frame if and only if it has two properties.

    They are C - 1 equal singular values, and columns that sum to zero. A simplex frame E, (P, C), has a Gram matrix
    E^T E that is a multiple of C I - 1 1^T.

    Quantities
    ----------
    simplex_frame_gap
        The larger of two gaps (Lemma 7). One is for a matrix with both properties: its Gram matrix less the nearest
        multiple of a simplex frame's, relative to the Gram matrix. The other is for a rotated simplex frame: its
        largest deviation from both properties, relative to its largest singular value.
    simplex_frame_gap--other_null_space, simplex_frame_gap--unequal_values
        Gap of the Gram matrix, as in ``simplex_frame_gap``, of a matrix with equal singular values but columns that do
        not sum to zero, and of one whose columns sum to zero but whose singular values differ.
    """
    U, omega, V = models.snr_vectors(H, classes)
    # `centred` (C - 1, C) has as rows an orthonormal basis of the vectors that are orthogonal to ones. Rotated into P
    # dimensions and times 3 it is a simplex frame (P, C) of singular values 3
    _, _, right_vectors = np.linalg.svd(np.eye(classes) - 1 / classes)
    centred = right_vectors[: classes - 1]
    frame = 3.0 * np.linalg.qr(Z[:, : classes - 1])[0] @ centred
    # with a row of zeros there are C singular values even for P = C - 1
    frame_values = np.linalg.svd(np.vstack([frame, np.zeros(classes)]), compute_uv=False)
    # the range of the C - 1 that should be equal, the one that should be zero, and the largest entry of the column sum
    frame_gap = max(np.ptp(frame_values[:-1]), frame_values[-1], np.abs(frame.sum(axis=1)).max()) / frame_values[0]
    # made of any Gaussian matrix (C, C); here its entries are the first of the P C N entries of Z
    orthogonal = np.linalg.qr(Z.ravel()[: classes**2].reshape(classes, classes))[0]
    return {
        quantities.SIMPLEX_FRAME_GAP: float(max(theory.simplex_gram(3.0 * U @ V.T), frame_gap)),
        quantities.SIMPLEX_FRAME_GAP_OTHER_NULL_SPACE: theory.simplex_gram(3.0 * U @ orthogonal[: classes - 1]),
        quantities.SIMPLEX_FRAME_GAP_UNEQUAL_VALUES: theory.simplex_gram((U * omega) @ V.T),
    }
