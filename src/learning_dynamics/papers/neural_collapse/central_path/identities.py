"""What the paper equates for any features, and what the same equations leave when a factor or a term is wrong.

Functions return relative gaps by quantity: zero to rounding where an equation holds. Names that end in
``--<alternative>`` belong to an altered equation, which a measurement worth its name must tell from the paper's.

Shapes: H (P, C N), one draw's features, neither centred nor normalised, examples as columns, sorted by class, N of
each; extended classifiers W (C, P + 1), biases in the last column; class means as rows, (C, P), as `measures.collapse`
takes them; A (P, P).
"""

import numpy as np

from learning_dynamics.measures import collapse
from learning_dynamics.papers.neural_collapse.central_path import models, quantities, theory


def moments(H: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Sigma_W, (features, features), and class means as rows, (classes, features)."""
    return models.within_covariance(H, classes), models.class_means(H, classes).T


def least_squares(H: np.ndarray, classes: int, decay: float) -> np.ndarray:
    """Return the extended classifier that minimises the loss, by a least-squares solver, without covariances."""
    samples, size = H.shape[1], len(H) + 1
    rows = np.vstack([models.extended(H).T, np.sqrt(samples * decay) * np.eye(size)])
    labels = np.vstack([models.one_hot(classes, samples // classes).T, np.zeros((size, classes))])
    return np.linalg.lstsq(rows, labels, rcond=None)[0].T


def classifier_identities(H: np.ndarray, W: np.ndarray, decay: float) -> models.Numbers:
    """Gaps of Proposition 1, Theorems 1 and 2, for any extended classifier W, against a least-squares solver.

    Quantities
    ----------
    classifier_gap
        Proposition 1's formula of the optimal classifier less the solver's, relative to the solver's.
    classifier_gap--half_decay, classifier_gap--without_mean
        ``classifier_gap`` by altered formulas: half the weight decay, and the covariance without the global mean's
        square.
    loss_decomposition_gap
        Loss of W less the solver's loss and the deviation L_LS^perp, relative to the loss of W (Theorem 1).
    loss_decomposition_gap--without_mean
        ``loss_decomposition_gap`` with the deviation in the metric without the global mean's square.
    deviation_over_least
        L_LS^perp over the least that a classifier as far from the solver's can have: half the squared distance times
        the smallest eigenvalue of the metric, the regularised second moment (Theorem 1, footnote 7).
    ls_decomposition_gap
        The solver's loss less its two terms L_NC1 and L_NC2/3, relative to the solver's loss (Theorem 2).
    ls_decomposition_gap--without_decay, ls_decomposition_gap--without_classes
        ``ls_decomposition_gap`` with altered terms: L_NC1 without weight decay, and L_NC2/3 without its factor 1/C.
    """
    classes = len(W)
    within, means = moments(H, classes)
    solution = least_squares(H, classes, decay)
    # in extended features: mu_G, (P + 1,); and S = Sigma_T + mu_G mu_G^T + lambda I, (P + 1, P + 1)
    mean = np.append(means.mean(axis=0), 1.0)
    second_moment = models.extended(H) @ models.extended(H).T / H.shape[1] + decay * np.eye(len(H) + 1)
    # Proposition 1's formula with S - mu_G mu_G^T for S, transposed, (P + 1, C)
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
    """Gaps of equation 6: W = M^T Sigma_T^{-1} / C and b = 1/C - W mu_G without weight decay, M centred.

    Quantities
    ----------
    unextended_classifier_gap
        Equation 6's weights and biases less those of a least-squares solver, relative to the solver's.
    unextended_classifier_gap--within, unextended_classifier_gap--constant_bias
        ``unextended_classifier_gap`` altered: Sigma_W instead of Sigma_T, and a bias of 1/C alone.
    """
    solution = least_squares(H, classes, 0.0)
    within, means = moments(H, classes)
    centre = means.mean(axis=0)
    centred = collapse.centred_means(means)
    total = within + centred.T @ centred / classes
    weights, discriminant = (np.linalg.solve(matrix, centred.T).T / classes for matrix in (total, within))
    biases = np.full(classes, 1 / classes)
    classifiers = {
        quantities.UNEXTENDED_CLASSIFIER_GAP: np.column_stack([weights, biases - weights @ centre]),
        quantities.UNEXTENDED_CLASSIFIER_GAP_WITHIN: np.column_stack([discriminant, biases - discriminant @ centre]),
        quantities.UNEXTENDED_CLASSIFIER_GAP_CONSTANT_BIAS: np.column_stack([weights, biases]),
    }
    return {name: models.relative_gap(extended, solution) for name, extended in classifiers.items()}


def invariance(H: np.ndarray, A: np.ndarray, classes: int) -> models.Numbers:
    """Relative change of predictions and of loss under H -> A H, without weight decay (section 3.1).

    Quantities
    ----------
    predictions_change, loss_change
        Change of the least-squares classifier's predictions, and of its loss, under H -> A H, relative to those of H
        (section 3.1).
    predictions_change--classifier_kept, loss_change--classifier_kept
        ``predictions_change`` and ``loss_change`` where the classifier of H is kept for A H.
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
    """Gaps of Lemma 7, both ways: equal singular values and a null space of ones, against a simplex frame.

    Quantities
    ----------
    simplex_frame_gap
        The larger of two gaps: the Gram matrix of a matrix with equal singular values and a null space of ones against
        a simplex frame's; and what the singular values of a rotated simplex frame, and its product with ones, leave of
        both properties, relative to the largest singular value (Lemma 7).
    simplex_frame_gap--other_null_space, simplex_frame_gap--unequal_values
        Gap of the Gram matrix, as in ``simplex_frame_gap``, of a matrix with equal singular values whose null space is
        another line, and of one whose columns sum to zero but whose singular values differ.
    """
    U, omega, V = models.snr_vectors(H, classes)
    # a simplex frame (P, C) of singular values 3: an orthonormal basis of what is orthogonal to ones, rows (C - 1, C),
    # rotated into P dimensions
    centred = np.linalg.svd(np.eye(classes) - 1 / classes)[2][: classes - 1]
    frame = 3.0 * np.linalg.qr(Z[:, : classes - 1])[0] @ centred
    # with a row of zeros C - 1 features have C singular values too
    frame_values = np.linalg.svd(np.vstack([frame, np.zeros(classes)]), compute_uv=False)
    frame_gap = max(np.ptp(frame_values[:-1]), frame_values[-1], np.abs(frame.sum(axis=1)).max()) / frame_values[0]
    # of any Gaussian (C, C) matrix: entries of Z serve, there are P C N of them
    orthogonal = np.linalg.qr(Z.ravel()[: classes**2].reshape(classes, classes))[0]
    return {
        quantities.SIMPLEX_FRAME_GAP: float(max(theory.simplex_gram(3.0 * U @ V.T), frame_gap)),
        quantities.SIMPLEX_FRAME_GAP_OTHER_NULL_SPACE: theory.simplex_gram(3.0 * U @ orthogonal[: classes - 1]),
        quantities.SIMPLEX_FRAME_GAP_UNEQUAL_VALUES: theory.simplex_gram((U * omega) @ V.T),
    }
