"""Features as free variables under their own least-squares classifier (Han, Papyan, Donoho 2022, section 3).

On the central path the classifier is the least-squares optimum of the features, so that the loss is a function of the
features alone; there is no weight decay. Features H are matrices (..., P, C N) for C `classes` with N `examples` each
and P `features`, over any leading axes: examples are columns, all of the first class first. X are renormalised
features, with identity covariance within classes and zero global mean.

mu_G is the global mean, the mean of all examples. Sigma_W is the covariance within classes, Sigma_T that of all
examples: with the class means less mu_G as the columns of M, Sigma_T = Sigma_W + M M^T / C.
"""

import numpy as np

# Measured numbers by the name of their quantity: what functions of the other modules here return; none of this one does
Numbers = dict[str, np.ndarray | np.floating | float]


def one_hot(classes: int, examples: int) -> np.ndarray:
    """Return the labels Y, shape (C, C N)."""
    return np.repeat(np.eye(classes), examples, axis=1)


def size_label(classes: int, examples: int, features: int) -> str:
    """Return the label of a size, which ends the names of series of features of that size."""
    return f"C{classes}_N{examples}_P{features}"


def class_means(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the class means as columns, not centred, shape (..., P, C): H Y^T / N."""
    # the examples of a class are neighbours: the last axis becomes (C, N)
    return H.reshape(*H.shape[:-1], classes, -1).mean(axis=-1)


def deviations(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the features less their class means: H (I - Y^T Y / N), the shape of H.

    H times the class-centring matrix of eq. 21, (I - Y^T Y / N) / (C N), is this over C N. The paper calls that matrix
    a bold C; here C is the number of classes.
    """
    return H - np.repeat(class_means(H, classes), H.shape[-1] // classes, axis=-1)


def within_covariance(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the within-class covariance Sigma_W, shape (..., P, P) (eq. 1)."""
    inner = deviations(H, classes)
    return inner @ inner.mT / H.shape[-1]


def centred(H: np.ndarray) -> np.ndarray:
    """Return features, or class means, as columns less their mean, the shape of H."""
    return H - H.mean(axis=-1, keepdims=True)


def renormalised(H: np.ndarray, classes: int) -> np.ndarray:
    """Return Sigma_W^{-1/2} (H - mu_G): identity within-class covariance and zero global mean (section 3.1)."""
    return _inverse_root(within_covariance(H, classes)) @ centred(H)


def signal_to_noise(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the SNR (signal-to-noise) matrix, Sigma_W^{-1/2} times the class means less their mean, (..., P, C).

    Source: Han, Papyan, Donoho 2022, eq. 8.
    """
    return class_means(renormalised(H, classes), classes)


def snr_singular_values(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the singular values omega_j of the SNR matrix without the one that is zero, (..., C - 1), descending."""
    return np.linalg.svd(signal_to_noise(H, classes), compute_uv=False)[..., : classes - 1]


def snr_vectors(H: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the factors of the SNR matrix U diag(omega) V^T of one H, of shape (P, C N).

    The singular value that is zero and its singular vectors are left out.

    Returns
    -------
    U : ndarray, shape (P, C - 1)
    omega : ndarray, shape (C - 1,)
        Descending.
    V : ndarray, shape (C, C - 1)
    """
    U, omega, Vt = np.linalg.svd(signal_to_noise(H, classes), full_matrices=False)
    return U[:, : classes - 1], omega[: classes - 1], Vt[: classes - 1].T


def relative_gap(changed: np.ndarray, matrix: np.ndarray) -> float:
    """Return ||changed - matrix|| / ||matrix||."""
    return float(np.linalg.norm(changed - matrix) / np.linalg.norm(matrix))


def classifier(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the weights W of the least-squares classifier, (..., C, P); its bias is 1/C - W mu_G (eq. 6).

    W is M^T Sigma_T^{-1} / C. It is computed with Sigma_W^{-1} and the inverse of a matrix (C, C): that form has no
    cancellation where the class means are a million times as large as deviations.
    """
    return _optimum(H, classes)[0]


def loss(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the loss of the least-squares classifier with its bias, over any leading axes (eq. 3).

    It is half the squared error, summed over classes and averaged over examples.
    """
    # centring features and labels takes the place of the bias
    scores = classifier(H, classes) @ centred(H)
    errors = scores - centred(one_hot(classes, H.shape[-1] // classes))
    return 0.5 * np.sum(errors**2, axis=(-2, -1)) / H.shape[-1]


def extended(H: np.ndarray) -> np.ndarray:
    """Return features (P, C N) with a last row of ones, shape (P + 1, C N)."""
    return np.vstack([H, np.ones(H.shape[1])])


def extended_loss(W: np.ndarray, H: np.ndarray, decay: float) -> float:
    """Return the loss of any classifier W with biases in its last column, (C, P + 1), on features H, (P, C N) (eq. 3).

    It is half the squared error, summed over classes and averaged over examples, plus decay / 2 times the squared norm
    of W.
    """
    errors = W @ extended(H) - one_hot(len(W), H.shape[1] // len(W))
    return float(0.5 * np.sum(errors**2) / H.shape[1] + 0.5 * decay * np.sum(W**2))


def gradient(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the gradient of `loss` in the features, the shape of H.

    The classifier is optimal, so that its own derivative does not enter: the gradient is W^T (W H - Y) over the number
    of examples, with H and Y centred. The errors W H - Y are those of the class means plus W times the deviations from
    them. Both are computed apart, each without cancellation.
    """
    # `residual` is minus the errors of the class means
    weights, residual = _optimum(H, classes)
    errors = weights @ deviations(H, classes) - np.repeat(residual, H.shape[-1] // classes, axis=-1)
    return weights.mT @ errors / H.shape[-1]


def gaussian_features(
    rng: np.random.Generator, classes: int, examples: int, features: int, *, signal: float
) -> np.ndarray:
    """Return Gaussian class means of standard deviation `signal` plus standard Gaussian noise, shape (P, C N).

    They are neither centred nor normalised.

    Raises
    ------
    ValueError
        If the within-class covariance cannot have full rank, or there are too few features for all classes.
    """
    if features > classes * (examples - 1):
        raise ValueError(
            f"{features} features but only {classes} * ({examples} - 1) deviations from class means: the within-class "
            "covariance is singular; take more examples or fewer features"
        )
    if features < classes - 1:
        raise ValueError(f"{features} features cannot hold {classes} class means of rank {classes - 1}")
    means = signal * rng.standard_normal((features, classes))
    return np.repeat(means, examples, axis=1) + rng.standard_normal((features, classes * examples))


def _optimum(H: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return W of `classifier`, (..., C, P), and the residual I - 1 1^T / C - W M of the class means, (..., C, C).

    I - 1 1^T / C are the labels of the class means, less their mean. Let G = M^T Sigma_W^{-1} M / C. By Woodbury's
    identity for Sigma_T = Sigma_W + M M^T / C the classifier W = M^T Sigma_T^{-1} / C is (I + G)^{-1} M^T Sigma_W^{-1}
    / C. So W M = (I + G)^{-1} G = I - (I + G)^{-1}, and on vectors whose entries sum to zero the residual is (I +
    G)^{-1}. Centring it on both sides keeps rounding errors of the inverse out of the direction of ones. W is the
    residual times M^T Sigma_W^{-1} / C.
    """
    means = class_means(centred(H), classes)
    whitened = np.linalg.solve(within_covariance(H, classes), means)
    centring = np.eye(classes) - 1 / classes
    residual = centring @ np.linalg.solve(np.eye(classes) + means.mT @ whitened / classes, centring)
    return residual @ whitened.mT / classes, residual


def _inverse_root(matrices: np.ndarray) -> np.ndarray:
    """Return the symmetric inverse square roots of symmetric positive-definite matrices, (..., P, P)."""
    values, vectors = np.linalg.eigh(matrices)
    return (vectors / np.sqrt(values)[..., None, :]) @ vectors.mT
