"""What small terms of the loss and small traces do not imply: counterexamples made from renormalised features.

Three statements of the paper read an implication backwards (section 2, appendices C.2 and D.6). One extends to all
features what is true of the renormalised ones (section 3.3). The counterexamples have the deviations of renormalised
features from their class means, mapped by a matrix. Their class means are those of the renormalised features, or a
simplex frame. What a statement is about is measured with the formulas for any features.

Shapes: X (P, C N) are one draw's renormalised features, with examples as columns, all of the first class first, N of
each of C classes. Class means M are columns, (P, C), but rows, (C, P), where `collapse` takes them. Least-squares
classifiers W are (C, P), without biases.

Sigma_W and Sigma_B are the covariances of features within classes and of the class means. Noise is what deviations
from class means are called; those of X have standard deviation one in every direction. omega_j, with the least
omega_min, are the SNR singular values of X. Phi = I - 1 1^T / C are the labels of the classes less their mean. L_NC1
and L_NC2/3 are the terms of the least-squares classifier's loss. A simplex frame E, (P, C), has a Gram matrix E^T E
that is a multiple of C I - 1 1^T.
"""

import numpy as np

from learning_dynamics.measures import collapse
from learning_dynamics.papers.neural_collapse.central_path import identities, models, quantities, theory

# Standard deviations of the noise, a quarter decade apart. Their range has all turning points of L_NC1 as a function of
# them, for omega_j between 0.01 and 100
SCATTERS = np.geomspace(1e-3, 1e3, 25)
# indices in SCATTERS of the largest, and of the value one, which is in the middle
AT_LARGEST_SCATTER, AT_SCATTER_OF_ONE = len(SCATTERS) - 1, len(SCATTERS) // 2
# standard deviations of the noise along class means that are a simplex frame of singular values one; chosen: from noise
# above these singular values to noise far below them
SIMPLEX_NOISES = np.array([10.0, 1.0, 0.1, 0.01])
# leans: cosines between the largest eigenvector of Sigma_W and a direction of the class means; chosen: small, each a
# tenth of the one before
LEANS = (1e-2, 1e-3, 1e-4)
AT_LARGEST_LEAN, AT_SMALLEST_LEAN = 0, len(LEANS) - 1
# standard deviations of the noise around class means that are a simplex frame of singular values one; chosen: small,
# each a tenth of the one before
NOISES = (1e-1, 1e-2, 1e-3)
AT_SMALLEST_NOISE = len(NOISES) - 1
# How far points are moved from the class means, along a direction orthogonal to all of them, in units of the simplex
# frame's singular values. Chosen: coupling (`COUPLING`) then changes scores by COUPLING * FAR = 5 times entries of a
# unit vector, while at each class mean the score of its class is ahead by one
FAR = 10.0
# correlation of coupled noise, between a direction of the class means and one that is orthogonal to all of them; chosen
COUPLING = 0.5


def rescattered(X: np.ndarray, change: np.ndarray, classes: int) -> np.ndarray:
    """Return features with the class means of X and its deviations from them mapped by `change`, the shape of X."""
    deviations = models.deviations(X, classes)
    return X - deviations + change @ deviations


def small_terms(X: np.ndarray, classes: int) -> models.Numbers:
    """Measure both terms of the loss while the noise shrinks and grows, and collapse where it is small.

    The class means are those of X. Small noise is that of X times the least of `SCATTERS`, and times omega_min where
    this is below one.

    Quantities
    ----------
    scattered_loss_nc1
        L_NC1 with noise of a standard deviation between a thousandth and a thousand. Index: the standard deviations,
        ascending, a quarter decade apart.
    scattered_loss_nc23
        L_NC2/3 of the same features. Index: as for ``scattered_loss_nc1``.
    loss_nc1_beside_noise
        L_NC1 with noise of standard deviation a thousandth along the class means, and one in the directions orthogonal
        to all of them.
    pushed_loss_nc1_ratio
        L_NC1 after a push of the noise towards zero, over L_NC1 before it. Before the push features are those of
        ``scattered_loss_nc1``; after it noise has the standard deviation omega_min sqrt(L_NC1 / (C - 1)), with the
        L_NC1 before. Index: as for ``scattered_loss_nc1``.
    concentrated_score_error
        ||W M - Phi||_F / ||Phi||_F where noise is small; L_NC2/3 is the square of ||W M - Phi||_F over 2 C.
    means_frame_distance, classifiers_frame_distance
        Distance of the Gram matrix of class means, and of that of least-squares classifiers, from the nearest multiple
        of a simplex frame's, relative to the Gram matrix, where noise is small.
    classifiers_self_duality
        Squared distance of least-squares classifiers from class means, both scaled to unit norm, where noise is small.
    inverse_frame_distance, inverse_self_duality
        ``classifiers_frame_distance`` and ``classifiers_self_duality`` with the pseudo-inverse of the class means
        instead of classifiers.
    """
    omega_min = models.snr_singular_values(X, classes)[-1]
    identity = np.eye(len(X))
    # shape (scatters,) each
    nc1, nc23 = np.array([_least_squares_losses(X, scatter * identity, classes) for scatter in SCATTERS]).T
    pushes = omega_min * np.sqrt(nc1 / (classes - 1))
    pushed_nc1, _ = np.array([_least_squares_losses(X, push * identity, classes) for push in pushes]).T
    U, _, _ = models.snr_vectors(X, classes)
    nc1_beside_noise, _ = _least_squares_losses(X, _scaled_along(U, SCATTERS[0]), classes)
    # features with small noise
    concentrated = rescattered(X, SCATTERS[0] * min(1.0, omega_min) * identity, classes)
    W, M = models.classifier(concentrated, classes), models.class_means(concentrated, classes)
    # shape (C, P), that of W. M has a singular value that is zero to rounding, because it is centred: 1e-9 is chosen to
    # cut it
    inverse = np.linalg.pinv(M, rcond=1e-9)
    return {
        quantities.SCATTERED_LOSS_NC1: nc1,
        quantities.SCATTERED_LOSS_NC23: nc23,
        quantities.PUSHED_LOSS_NC1_RATIO: pushed_nc1 / nc1,
        quantities.LOSS_NC1_BESIDE_NOISE: nc1_beside_noise,
        quantities.CONCENTRATED_SCORE_ERROR: _score_error(W, M),
        quantities.MEANS_FRAME_DISTANCE: theory.simplex_gram(M),
        quantities.CLASSIFIERS_FRAME_DISTANCE: theory.simplex_gram(W.T),
        quantities.INVERSE_FRAME_DISTANCE: theory.simplex_gram(inverse.T),
        quantities.CLASSIFIERS_SELF_DUALITY: collapse.self_duality(W, M.T),
        quantities.INVERSE_SELF_DUALITY: collapse.self_duality(inverse, M.T),
    }


def _scaled_along(U: np.ndarray, factor: float) -> np.ndarray:
    """Return the map, (P, P), that scales the span of U, (P, C - 1), by a factor, and nothing orthogonal to it."""
    return np.eye(len(U)) + (factor - 1) * U @ U.T


def _least_squares_losses(X: np.ndarray, change: np.ndarray, classes: int) -> tuple[float, float]:
    """Return L_NC1 (eq. 17) and L_NC2/3 (eq. 18) of the features of X with their deviations mapped by `change`."""
    H = rescattered(X, change, classes)
    W = models.classifier(H, classes)
    deviation_scores = W @ models.deviations(H, classes)
    score_errors = W @ models.centred(models.class_means(H, classes)) - _simplex(classes)
    return float(0.5 * np.sum(deviation_scores**2) / H.shape[1]), float(0.5 * np.sum(score_errors**2) / classes)


def _simplex(classes: int) -> np.ndarray:
    """Return Phi, the labels of the classes less their mean, (C, C) (eq. 18)."""
    return np.eye(classes) - 1 / classes


def _score_error(W: np.ndarray, M: np.ndarray) -> float:
    """Return ||W M - Phi||_F / ||Phi||_F for class means M as columns, not necessarily centred (eq. 18)."""
    return models.relative_gap(W @ models.centred(M), _simplex(len(W)))


def simplex_scores(X: np.ndarray, classes: int) -> models.Numbers:
    """Measure by how much L_NC2/3 is above zero where class means are a simplex frame, under noise (appendix C.2).

    Quantities
    ----------
    simplex_score_error
        ||W M - Phi||_F / ||Phi||_F for class means M that are a simplex frame of singular values one, and their
        least-squares classifier W. Noise has standard deviation one in directions orthogonal to all class means. Index:
        its standard deviation along class means, 10, 1, 0.1, 0.01.
    simplex_frame_distance
        The larger of two distances, of the Gram matrices of class means and of classifiers, from the nearest multiple
        of a simplex frame's, each relative to the Gram matrix. Index: as for ``simplex_score_error``.
    simplex_self_duality
        Squared distance of classifiers from class means, both scaled to unit norm. Index: as for
        ``simplex_score_error``.
    """
    U, _, V = models.snr_vectors(X, classes)
    M = U @ V.T
    scores, frames, duality = np.empty((3, len(SIMPLEX_NOISES)))
    for index, noise in enumerate(SIMPLEX_NOISES):
        deviations = _scaled_along(U, noise) @ models.deviations(X, classes)
        H = deviations + np.repeat(M, X.shape[1] // classes, axis=1)
        W = models.classifier(H, classes)
        scores[index] = _score_error(W, M)
        frames[index] = max(theory.simplex_gram(M), theory.simplex_gram(W.T))
        duality[index] = collapse.self_duality(W, M.T)
    return {
        quantities.SIMPLEX_SCORE_ERROR: scores,
        quantities.SIMPLEX_FRAME_DISTANCE: frames,
        quantities.SIMPLEX_SELF_DUALITY: duality,
    }


def leaning_noise(X: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Measure pinv(Sigma_B) Sigma_W where noise is large in a direction that leans a little towards the class means.

    The class means are those of X: u is the direction in which they differ least, n one in which they do not differ.
    For a lean d of `LEANS` noise has the variance 1/d along d u + sqrt(1 - d^2) n, and d in all orthogonal directions.

    Quantities
    ----------
    product_trace, product_norm
        Trace and Frobenius norm of pinv(Sigma_B) Sigma_W where large noise leans by d towards the class means. Index:
        d, 0.01, 0.001, 0.0001. nan where the class means span all directions.
    covariance_condition
        Condition number of Sigma_W of the same features. Index: as for ``product_trace``.
    """
    trace, norm, condition = np.full((3, len(LEANS)), np.nan)
    measured = {
        quantities.PRODUCT_TRACE: trace,
        quantities.PRODUCT_NORM: norm,
        quantities.COVARIANCE_CONDITION: condition,
    }
    if len(X) < classes:  # P = C - 1: there is no direction n
        return measured
    # Columns of U: C - 1 directions in which class means differ, most in the first, then those in which they do not. So
    # u has the index C - 2, and n the index C - 1
    U, _, _ = np.linalg.svd(models.signal_to_noise(X, classes))
    for index, lean in enumerate(LEANS):
        direction = lean * U[:, classes - 2] + np.sqrt(1 - lean**2) * U[:, classes - 1]
        projector = np.outer(direction, direction)
        change = np.sqrt(lean) * (np.eye(len(X)) - projector) + projector / np.sqrt(lean)
        within, means = identities.moments(rescattered(X, change, classes), classes)
        centred = collapse.centred_means(means)
        # Sigma_B has rank C - 1, and its other eigenvalues are zero to rounding: 1e-9 is chosen to cut them
        product = np.linalg.pinv(centred.T @ centred / classes, rcond=1e-9, hermitian=True) @ within
        trace[index] = np.trace(product)
        norm[index] = np.linalg.norm(product)
        condition[index] = np.linalg.cond(within)
    return measured


def simplex_means(X: np.ndarray, classes: int) -> models.Numbers:
    """Measure collapse while noise vanishes around class means that are a simplex frame of singular values one.

    Noise has the covariance e^2 Q, with each e of `NOISES`. Let u be a direction of the class means and n one that is
    orthogonal to all of them. For coupled noise Q is the identity plus an entry `COUPLING` between u and n. For
    uncoupled noise it is the identity with a variance of 1.5 along u.

    Quantities
    ----------
    vanishing_nc1, vanishing_nc4_examples
        Tr(pinv(Sigma_B) Sigma_W) / C, and the number of examples that the least-squares classifier and the nearest
        class mean decide differently, under coupled noise. Index: e, 0.1, 0.01, 0.001. nan where the class means span
        all directions.
    vanishing_self_duality, vanishing_self_duality--uncoupled
        Squared distance of the least-squares classifiers from the class means, both scaled to unit norm, under coupled
        and under uncoupled noise. Index: as for ``vanishing_nc1``.
    vanishing_nc4_far_points, vanishing_nc4_far_points--uncoupled
        Number of points that the least-squares classifier and the nearest class mean decide differently, under coupled
        and under uncoupled noise. The points are the class means moved by `FAR` to both sides along n. Index: as for
        ``vanishing_nc1``.
    """
    nc1, nc4, duality, duality_uncoupled, far, far_uncoupled = np.full((6, len(NOISES)), np.nan)
    measured: models.Numbers = {
        quantities.SMALL_NOISE_NC1: nc1,
        quantities.SMALL_NOISE_NC4_EXAMPLES: nc4,
        quantities.SMALL_NOISE_SELF_DUALITY: duality,
        quantities.SMALL_NOISE_SELF_DUALITY_UNCOUPLED: duality_uncoupled,
        quantities.SMALL_NOISE_NC4_FAR_POINTS: far,
        quantities.SMALL_NOISE_NC4_FAR_POINTS_UNCOUPLED: far_uncoupled,
    }
    if len(X) < classes:  # P = C - 1: no direction is orthogonal to all class means
        return measured
    U, _, Vt = np.linalg.svd(models.signal_to_noise(X, classes))
    # the simplex frame M, the direction u (`along`) and the direction n (`beside`)
    M, along, beside = U[:, : classes - 1] @ Vt[: classes - 1], U[:, 0], U[:, classes - 1]
    coupled = np.eye(len(X)) + COUPLING * (np.outer(along, beside) + np.outer(beside, along))
    uncoupled = np.eye(len(X)) + 0.5 * np.outer(along, along)

    def with_noise(standard_deviation: float, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return features around M, whose noise has a standard deviation e and the matrix Q, and their W."""
        noise = standard_deviation * np.linalg.cholesky(covariance) @ models.deviations(X, classes)
        H = noise + np.repeat(M, X.shape[1] // classes, axis=1)
        return H, models.classifier(H, classes)

    def decided_differently(W: np.ndarray, points: np.ndarray) -> int:
        """Return how many points, which are columns, W and the nearest class mean decide differently."""
        # (points, 1, P) less (C, P): a distance for each point and class
        nearest = np.argmin(np.linalg.norm(points.T[:, None] - M.T, axis=2), axis=1)
        # features have mean zero, so that the bias is 1 / C for every class
        return int(np.sum((W @ points).argmax(axis=0) != nearest))

    # `beside` is orthogonal to the class means: each of these points is nearest to the mean that it was moved from
    far_points = np.hstack([M + FAR * beside[:, None], M - FAR * beside[:, None]])
    for index, standard_deviation in enumerate(NOISES):
        H, W = with_noise(standard_deviation, coupled)
        nc1[index] = collapse.variability(*identities.moments(H, classes))
        nc4[index] = decided_differently(W, H)
        duality[index] = collapse.self_duality(W, M.T)
        far[index] = decided_differently(W, far_points)
        _, W = with_noise(standard_deviation, uncoupled)
        duality_uncoupled[index] = collapse.self_duality(W, M.T)
        far_uncoupled[index] = decided_differently(W, far_points)
    return measured
