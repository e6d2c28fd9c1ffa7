"""What small terms and traces do not imply: features with the same class means and other deviations.

Three statements of the paper read an implication backwards (section 2, appendices C.2 and D.6), and one takes from the
renormalised features to all what holds of these alone (section 3.3). Here the deviations from the class means of
renormalised features are mapped, the class means are kept, or made a simplex frame, and the quantities of each
statement are measured with the general formulas for any features.

Shapes: X (P, C N), one draw's renormalised features, examples as columns, sorted by class, N of each. Class means M are
columns, (P, C), but rows, (C, P), where `collapse` takes them; classifiers W are (C, P), without biases.
"""

import numpy as np

from learning_dynamics.measures import collapse
from learning_dynamics.papers.neural_collapse.central_path import identities, models, quantities, theory

# standard deviations within classes, in units of the renormalised features': a quarter decade apart, and on both
# sides of every turning point of L_NC1 that singular values between 0.01 and 100 have
SCATTERS = np.geomspace(1e-3, 1e3, 25)
# indices in SCATTERS of the largest and of one, which is in the middle
AT_LARGEST_SCATTER, AT_SCATTER_OF_ONE = len(SCATTERS) - 1, len(SCATTERS) // 2
# standard deviations within classes, along class means that are a simplex frame of singular values one; chosen:
# from noise above the signal to noise far below it
SIMPLEX_NOISES = np.array([10.0, 1.0, 0.1, 0.01])
# by how much the largest eigenvector of Sigma_W leans towards the class means; chosen: small, each a tenth of
# the one before
LEANS = (1e-2, 1e-3, 1e-4)
AT_LARGEST_LEAN, AT_SMALLEST_LEAN = 0, len(LEANS) - 1
# standard deviations within classes, around class means that are a simplex frame of singular values one;
# chosen: small, each a tenth of the one before
NOISES = (1e-1, 1e-2, 1e-3)
AT_SMALLEST_NOISE = len(NOISES) - 1
# How far points are moved from the class means, along a direction orthogonal to all of them, in units of the frame's
# singular value. Chosen: coupling then changes scores by COUPLING * FAR = 5 times entries of a unit vector, while at
# each class mean the score of its class is ahead by one
FAR = 10.0
# c: the correlation between noise along a direction of the class means and noise along one orthogonal to all of them,
# chosen
COUPLING = 0.5


def rescattered(X: np.ndarray, change: np.ndarray, classes: int) -> np.ndarray:
    """Return features with the class means of X and its deviations from them mapped by `change`, the shape of X."""
    deviations = models.deviations(X, classes)
    return X - deviations + change @ deviations


def small_terms(X: np.ndarray, classes: int) -> models.Numbers:
    """Measure both terms of the loss while the deviations shrink and grow, and simplex frames where they are small.

    Small are deviations at the least of `SCATTERS`, times the smallest singular value of the SNR matrix where that is
    below one.

    Quantities
    ----------
    scattered_loss_nc1
        L_NC1 while the standard deviation within classes grows from a thousandth to a thousand times that of the
        renormalised features. Index: that factor, a quarter decade apart.
    scattered_loss_nc23
        L_NC2/3 likewise.
    loss_nc1_beside_noise
        L_NC1 while deviations are a thousandth of the renormalised features' along the class means, and theirs in the
        directions orthogonal to all class means.
    pushed_loss_nc1_ratio
        L_NC1 after a push of the deviations towards zero, over L_NC1 before it, for each factor of
        ``scattered_loss_nc1``. The push is to the standard deviation omega_min sqrt(L_NC1 / (C - 1)), with L_NC1 before
        it and the least SNR singular value omega_min of the renormalised features.
    concentrated_score_error
        ||W M - Phi||_F / ||Phi||_F where deviations are small, which is what L_NC2/3 is the square of.
    means_frame_distance, classifiers_frame_distance
        Distance of the Gram matrix of class means, and of least-squares classifiers, from the nearest multiple of a
        simplex frame's, relative, where deviations are small.
    classifiers_self_duality
        Squared distance of least-squares classifiers from class means where deviations are small, both of unit norm.
    inverse_frame_distance, inverse_self_duality
        ``classifiers_frame_distance`` and ``classifiers_self_duality`` with the class means' pseudo-inverse instead of
        classifiers.
    """
    omega = models.snr_singular_values(X, classes)[-1]
    identity = np.eye(len(X))
    # shape (scatters,) each
    nc1, nc23 = np.array([_least_squares_losses(X, scatter * identity, classes) for scatter in SCATTERS]).T
    pushes = omega * np.sqrt(nc1 / (classes - 1))
    pushed_nc1 = np.array([_least_squares_losses(X, push * identity, classes)[0] for push in pushes])
    along_means = _scaled_along(models.snr_vectors(X, classes)[0], SCATTERS[0])
    concentrated = rescattered(X, SCATTERS[0] * min(1.0, omega) * identity, classes)
    W, M = models.classifier(concentrated, classes), models.class_means(concentrated, classes)
    # shape (C, P), that of W. 1e-9 is chosen: it cuts the singular value that centring makes zero, to rounding
    inverse = np.linalg.pinv(M, rcond=1e-9)
    return {
        quantities.SCATTERED_LOSS_NC1: nc1,
        quantities.SCATTERED_LOSS_NC23: nc23,
        quantities.PUSHED_LOSS_NC1_RATIO: pushed_nc1 / nc1,
        quantities.LOSS_NC1_BESIDE_NOISE: _least_squares_losses(X, along_means, classes)[0],
        quantities.CONCENTRATED_SCORE_ERROR: _score_error(W, M),
        quantities.MEANS_FRAME_DISTANCE: theory.simplex_gram(M),
        quantities.CLASSIFIERS_FRAME_DISTANCE: theory.simplex_gram(W.T),
        quantities.INVERSE_FRAME_DISTANCE: theory.simplex_gram(inverse.T),
        quantities.CLASSIFIERS_SELF_DUALITY: collapse.self_duality(W, M.T),
        quantities.INVERSE_SELF_DUALITY: collapse.self_duality(inverse, M.T),
    }


def _scaled_along(U: np.ndarray, factor: float) -> np.ndarray:
    """Return the map, (P, P), that scales the directions of U, (P, C - 1), by a factor, and keeps all others."""
    return np.eye(len(U)) + (factor - 1) * U @ U.T


def _least_squares_losses(X: np.ndarray, change: np.ndarray, classes: int) -> tuple[float, float]:
    """Return L_NC1 (eq. 17) and L_NC2/3 (eq. 18) of the features of X with their deviations mapped by `change`."""
    H = rescattered(X, change, classes)
    W = models.classifier(H, classes)
    deviation_scores = W @ models.deviations(H, classes)
    score_errors = W @ models.centred(models.class_means(H, classes)) - _simplex(classes)
    return float(0.5 * np.sum(deviation_scores**2) / H.shape[1]), float(0.5 * np.sum(score_errors**2) / classes)


def _simplex(classes: int) -> np.ndarray:
    """Return Phi, the labels less their mean (eq. 18)."""
    return np.eye(classes) - 1 / classes


def _score_error(W: np.ndarray, M: np.ndarray) -> float:
    """Return ||W M - Phi||_F / ||Phi||_F for class means M as columns, not necessarily centred (eq. 18)."""
    return models.relative_gap(W @ models.centred(M), _simplex(len(W)))


def simplex_scores(X: np.ndarray, classes: int) -> models.Numbers:
    """Measure what class means that are a simplex frame leave of L_NC2/3 under noise within classes (appendix C.2).

    Quantities
    ----------
    simplex_score_error
        ||W M - Phi||_F / ||Phi||_F for class means M that are a simplex frame of singular values one and their
        least-squares classifier W. The noise has a standard deviation of one in directions orthogonal to all class
        means; along them it is the index: 10, 1, 0.1, 0.01.
    simplex_frame_distance
        The larger distance of two Gram matrices, of class means and of classifiers, from the nearest multiple of a
        simplex frame's, relative. Index: as for ``simplex_score_error``.
    simplex_self_duality
        Squared distance of classifiers from class means, both of unit norm. Index: as for ``simplex_score_error``.
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

    For a lean d of `LEANS`: noise of variance 1/d along d u + sqrt(1 - d^2) n, with u the direction in which class
    means differ least and n one in which they do not differ, and of variance d elsewhere.

    Quantities
    ----------
    product_trace, product_norm
        Trace and Frobenius norm of pinv(Sigma_B) Sigma_W where large noise leans by d towards the class means. Index:
        d, 0.01, 0.001, 0.0001. nan where the class means span all directions.
    covariance_condition
        Condition number of Sigma_W of the features of ``product_trace``. Index: d.
    """
    trace, norm, condition = np.full((3, len(LEANS)), np.nan)
    measured = {
        quantities.PRODUCT_TRACE: trace,
        quantities.PRODUCT_NORM: norm,
        quantities.COVARIANCE_CONDITION: condition,
    }
    if len(X) < classes:
        return measured
    # columns of U: C - 1 directions in which class means differ, most in the first, then those in which they do not
    U, _, _ = np.linalg.svd(models.signal_to_noise(X, classes))
    for index, lean in enumerate(LEANS):
        direction = lean * U[:, classes - 2] + np.sqrt(1 - lean**2) * U[:, classes - 1]
        projector = np.outer(direction, direction)
        change = np.sqrt(lean) * (np.eye(len(X)) - projector) + projector / np.sqrt(lean)
        within, means = identities.moments(rescattered(X, change, classes), classes)
        centred = collapse.centred_means(means)
        # 1e-9 is chosen: it cuts the eigenvalues that are zero, to rounding, as Sigma_B has rank C - 1
        product = np.linalg.pinv(centred.T @ centred / classes, rcond=1e-9, hermitian=True) @ within
        trace[index] = np.trace(product)
        norm[index] = np.linalg.norm(product)
        condition[index] = np.linalg.cond(within)
    return measured


def simplex_means(X: np.ndarray, classes: int) -> models.Numbers:
    """Measure collapse while noise vanishes around class means that are a simplex frame.

    The noise has the covariance e^2 Q, with each e of `NOISES`. Q is the identity but for one thing: coupled noise has
    the covariance `COUPLING` between a direction of the class means and one orthogonal to all of them; uncoupled noise
    has 1.5 times the variance along that direction of the class means.

    Quantities
    ----------
    vanishing_nc1, vanishing_nc4_examples
        Tr(pinv(Sigma_B) Sigma_W) / C, and how many examples least-squares classifier and nearest class mean decide
        differently, under coupled noise around class means that are a simplex frame. Index: e, 0.1, 0.01, 0.001. nan
        where the class means span all directions.
    vanishing_self_duality, vanishing_self_duality--uncoupled
        Squared distance of the least-squares classifiers from the class means, both of unit norm, under coupled and
        uncoupled noise. Index: e.
    vanishing_nc4_far_points, vanishing_nc4_far_points--uncoupled
        Of the class means moved by `FAR` to either side along the direction orthogonal to all of them, how many
        least-squares classifier and nearest class mean decide differently, under coupled and uncoupled noise. Index: e.
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
    if len(X) < classes:
        return measured
    U, _, Vt = np.linalg.svd(models.signal_to_noise(X, classes))
    # a simplex frame of singular values one, a direction of the class means, and one orthogonal to all of them
    M, along, beside = U[:, : classes - 1] @ Vt[: classes - 1], U[:, 0], U[:, classes - 1]
    coupled = np.eye(len(X)) + COUPLING * (np.outer(along, beside) + np.outer(beside, along))
    uncoupled = np.eye(len(X)) + 0.5 * np.outer(along, along)

    def with_noise(standard_deviation: float, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return features around M with noise of a covariance, and their least-squares classifier."""
        noise = standard_deviation * np.linalg.cholesky(covariance) @ models.deviations(X, classes)
        H = noise + np.repeat(M, X.shape[1] // classes, axis=1)
        return H, models.classifier(H, classes)

    def decided_differently(W: np.ndarray, points: np.ndarray) -> int:
        """Return how many points, as columns, the classifier W and the nearest class mean decide differently."""
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
