"""Features as free variables under their own least-squares classifier (Han, Papyan, Donoho 2022, section 3).

On the central path the classifier is the least-squares optimum of the features, so that the loss is a
function of the features alone. Features are matrices of shape (..., features, classes * examples), balanced,
with all examples of the first class first; without weight decay.
"""

import numpy as np

Numbers = dict[str, np.ndarray | np.floating | float]  # measured, by quantity


def one_hot(classes: int, examples: int) -> np.ndarray:
    """Return the labels Y, shape (classes, classes * examples)."""
    return np.repeat(np.eye(classes), examples, axis=1)


def size_label(classes: int, examples: int, features: int) -> str:
    """Return the name of a problem's size, for arrays kept side by side."""
    return f"C{classes}_N{examples}_P{features}"


def class_means(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the class means, shape (..., features, classes): H Y^T / examples."""
    return H.reshape(*H.shape[:-1], classes, -1).mean(axis=-1)


def deviations(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the features less their class means: H (I - Y^T Y / examples), the shape of H.

    The class-centring matrix of eq. 21 is this map divided by classes * examples.
    """
    return H - np.repeat(class_means(H, classes), H.shape[-1] // classes, axis=-1)


def within_covariance(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the within-class covariance, shape (..., features, features) (eq. 1)."""
    inner = deviations(H, classes)
    return inner @ inner.mT / H.shape[-1]


def centred(H: np.ndarray) -> np.ndarray:
    """Return the features less their global mean."""
    return H - H.mean(axis=-1, keepdims=True)


def renormalised(H: np.ndarray, classes: int) -> np.ndarray:
    """Return Sigma_W^{-1/2} (H - mu_G): identity within-class covariance and zero global mean (section 3.1)."""
    return _inverse_root(within_covariance(H, classes)) @ centred(H)


def signal_to_noise(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the signal-to-noise matrix Sigma_W^{-1/2} (class means less their mean), (..., features, classes).

    Source: Han, Papyan, Donoho 2022, eq. 8.
    """
    return class_means(renormalised(H, classes), classes)


def snr_singular_values(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the singular values of the signal-to-noise matrix but its zero, (..., classes - 1), descending."""
    return np.linalg.svd(signal_to_noise(H, classes), compute_uv=False)[..., : classes - 1]


def snr_vectors(H: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return U, omega, V of one signal-to-noise matrix but its zero: classes - 1 columns, entries and columns."""
    U, omega, Vt = np.linalg.svd(signal_to_noise(H, classes), full_matrices=False)
    return U[:, : classes - 1], omega[: classes - 1], Vt[: classes - 1].T


def relative_gap(changed: np.ndarray, matrix: np.ndarray) -> float:
    """Return ||changed - matrix|| / ||matrix||."""
    return float(np.linalg.norm(changed - matrix) / np.linalg.norm(matrix))


def classifier(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the least-squares classifier of centred features, (..., classes, features) (eq. 6).

    It is M^T Sigma_T^{-1} / classes, written with Sigma_W^{-1} and a classes-by-classes inverse: that form has no
    cancellation where the signal is a million times the noise.
    """
    return _optimum(H, classes)[0]


def loss(H: np.ndarray, classes: int) -> np.ndarray:
    """Return half the mean square error of the least-squares classifier and bias over any leading axes (eq. 3)."""
    scores = classifier(H, classes) @ centred(H)
    errors = scores - centred(one_hot(classes, H.shape[-1] // classes))
    return 0.5 * np.sum(errors**2, axis=(-2, -1)) / H.shape[-1]


def extended(H: np.ndarray) -> np.ndarray:
    """Return the features with a last row of ones, shape (features + 1, samples)."""
    return np.vstack([H, np.ones(H.shape[1])])


def extended_loss(W: np.ndarray, H: np.ndarray, decay: float) -> float:
    """Return the loss of an extended classifier W, (classes, features + 1), on plain features H (eq. 3).

    Half the squared error, summed over classes and averaged over examples, plus decay / 2 times the squared norm of W.
    """
    errors = W @ extended(H) - one_hot(len(W), H.shape[1] // len(W))
    return float(0.5 * np.sum(errors**2) / H.shape[1] + 0.5 * decay * np.sum(W**2))


def gradient(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the gradient of `loss` in the features, the shape of H.

    The classifier is optimal, so that its own derivative does not enter: the gradient is W^T (W H - Y) over the
    number of examples, with H and Y centred. The error of the class means and that of the deviations are computed
    apart, each without cancellation.
    """
    weights, residual = _optimum(H, classes)
    errors = weights @ deviations(H, classes) - np.repeat(residual, H.shape[-1] // classes, axis=-1)
    return weights.mT @ errors / H.shape[-1]


def gaussian_features(
    rng: np.random.Generator, classes: int, examples: int, features: int, *, signal: float
) -> np.ndarray:
    """Return Gaussian class means of standard deviation `signal` plus standard Gaussian noise.

    Shape (features, classes * examples); neither centred nor normalised.

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
    """Return `classifier` and I - 1 1^T / classes - W M, what the class means' scores lack.

    The latter is (I + M^T Sigma_W^{-1} M / classes)^{-1}. Centring both sides keeps the rounding errors of the inverse
    out of the direction of ones.
    """
    means = class_means(centred(H), classes)
    whitened = np.linalg.solve(within_covariance(H, classes), means)
    centring = np.eye(classes) - 1 / classes
    residual = centring @ np.linalg.solve(np.eye(classes) + means.mT @ whitened / classes, centring)
    return residual @ whitened.mT / classes, residual


def _inverse_root(matrices: np.ndarray) -> np.ndarray:
    """Return the symmetric inverse square roots of symmetric positive-definite matrices, (..., features, features)."""
    values, vectors = np.linalg.eigh(matrices)
    return (vectors / np.sqrt(values)[..., None, :]) @ vectors.mT
