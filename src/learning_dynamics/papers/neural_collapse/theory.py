"""What the paper predicts, as functions of arrays (Han, Papyan, Donoho 2022)."""

from __future__ import annotations

import numpy as np
from scipy.optimize.elementwise import find_root
from scipy.special import wrightomega

# -- the central path (section 3, appendix D) --------------------------------------------------


def spectral_loss(omega: np.ndarray, classes: int) -> np.ndarray:
    """Return the loss on the central path from the SNR singular values, over leading axes (Lemma 1).

    ``sum_j 1 / (omega_j**2 + classes) / 2`` over the last axis, without weight decay.
    """
    return 0.5 * np.sum(1 / (omega**2 + classes), axis=-1)


def spectral_variability_loss(omega: np.ndarray, classes: int) -> np.ndarray:
    """Return the part L_NC1 of `spectral_loss` that within-class scatter causes (Lemma 1)."""
    return 0.5 * np.sum((omega / (omega**2 + classes)) ** 2, axis=-1)


def spectral_geometry_loss(omega: np.ndarray, classes: int) -> np.ndarray:
    """Return the part L_NC2/3 of `spectral_loss` that the class means' scores cause (Lemma 1)."""
    return 0.5 * np.sum((classes / (omega**2 + classes)) ** 2, axis=-1) / classes


def snr_velocity(omega: np.ndarray, classes: int, examples: int) -> np.ndarray:
    """Return d omega / dt as the paper has it (Lemma 5, eq. 27): omega / (N (C + omega**2)**2).

    It is the speed of Riemannian gradient flow, whose tangent map is the orthogonal projection. In aligned coordinates
    a row of the features is omega y + n, with labels y and deviations n. The row of minus the gradient is then
    omega / (N (C + omega**2)**2) y - omega**2 / (C N (C + omega**2)**2) n. Its second part is normal to the manifold:
    the orthogonal projection removes it and leaves the first.
    """
    return omega / (examples * (classes + omega**2) ** 2)


def snr_constants(classes: int, examples: int) -> tuple[float, float, float]:
    """Return the constants c1, c2, c3 of Proposition 2: C**2 N, C N and N / 4."""
    return float(classes**2 * examples), float(classes * examples), examples / 4


def snr_closed_form(start: np.ndarray, time: np.ndarray, classes: int, examples: int) -> np.ndarray:
    """Return omega(t) from c1 log omega + c2 omega**2 + c3 omega**4 = a + t, solved for omega (Proposition 2).

    Parameters
    ----------
    start : ndarray
        omega(0) > 0, which fixes a; broadcast against `time`.
    time : ndarray
        Flow time, >= 0.

    Returns
    -------
    ndarray, of the broadcast shape
    """
    c1, c2, c3 = snr_constants(classes, examples)

    def clock(log_omega: np.ndarray) -> np.ndarray:
        return c1 * log_omega + c2 * np.exp(2 * log_omega) + c3 * np.exp(4 * log_omega)

    start, time = np.broadcast_arrays(np.log(start), time)
    target = clock(start) + time
    # omega only grows, and below the asymptote that starts from the same place
    above = 0.25 * np.log(np.exp(4 * start) + time / c3) + 1e-12
    found = find_root(lambda log_omega, target: clock(log_omega) - target, (start - 1e-12, above), args=(target,))
    return np.exp(found.x)


def snr_asymptote(time: np.ndarray, examples: int) -> np.ndarray:
    """Return (t / c3)**(1/4), to which omega(t) of Proposition 2 tends (Corollary 1)."""
    return (4 * time / examples) ** 0.25


def algorithm_step(omega: np.ndarray, step: float, classes: int, examples: int) -> np.ndarray:
    """Return the SNR singular values after one gradient step and renormalisation (the algorithm of appendix D.1),
    exactly.

    A step takes the row omega y + n of the aligned features (see `snr_velocity`) to (omega + step a) y + (1 - step b) n
    with a = omega / (N (C + omega**2)**2) and b = omega a / C. Renormalisation divides the row by 1 - step b, which
    restores n. So the deviations and the singular vectors never change, and omega becomes
    (omega + step a) / (1 - step b).
    """
    along_means = snr_velocity(omega, classes, examples)
    return (omega + step * along_means) / (1 - step * omega * along_means / classes)


def algorithm_velocity(omega: np.ndarray, classes: int, examples: int) -> np.ndarray:
    """Return d omega / dt of gradient descent with renormalisation in the limit of small steps (derived here).

    The first order of `algorithm_step` in the step is a + omega b = a (1 + omega**2 / C), which is
    omega / (C N (C + omega**2)): it has the speed of `snr_velocity`, gained by moving the means apart, and beside it
    omega**2 / C times as much, gained by shrinking the deviations, which the orthogonal projection throws away. The
    printed tangent map gives the same.
    """
    return omega / (classes * examples * (classes + omega**2))


def algorithm_closed_form(start: np.ndarray, time: np.ndarray, classes: int, examples: int) -> np.ndarray:
    """Return omega(t) of `algorithm_velocity`: omega**2 / 2 + C log omega = t / (C N) + constant.

    With y = omega**2 / C this reads y + log y = z, whose solution is the Wright omega function of z.
    """
    scaled = np.asarray(start) ** 2 / classes
    return np.sqrt(classes * wrightomega(scaled + np.log(scaled) + 2 * time / (classes**2 * examples)).real)


def algorithm_asymptote(time: np.ndarray, classes: int, examples: int) -> np.ndarray:
    """Return sqrt(2 t / (C N)), to which `algorithm_closed_form` tends."""
    return np.sqrt(2 * time / (classes * examples))


# -- training (section 2, appendices A and B) ---------------------------------------------------

# test accuracy in percent at the first epoch without a train error, and at the end (Table 1)
PAPER_TABLE_1 = {
    ("mnist", "vgg"): (99.23, 99.59),
    ("mnist", "resnet"): (99.16, 99.70),
    ("mnist", "densenet"): (99.62, 99.70),
    ("fashion_mnist", "vgg"): (92.76, 92.95),
    ("fashion_mnist", "resnet"): (93.55, 93.76),
    ("fashion_mnist", "densenet"): (90.56, 92.95),
    ("svhn", "vgg"): (89.35, 93.91),
    ("svhn", "resnet"): (85.18, 92.65),
    ("svhn", "densenet"): (95.61, 95.23),
    ("cifar10", "vgg"): (83.13, 84.54),
    ("cifar10", "resnet"): (75.43, 76.39),
    ("cifar10", "densenet"): (91.77, 91.78),
    ("stl10", "vgg"): (60.43, 67.24),
    ("stl10", "resnet"): (59.35, 60.56),
    ("stl10", "densenet"): (58.74, 60.41),
}


def simplex_in_the_plane(means: np.ndarray) -> np.ndarray:
    """Return the equilateral triangle around the origin, of unit radius, that lies nearest to three points.

    Parameters
    ----------
    means : ndarray, shape (3, 2)

    Returns
    -------
    ndarray, shape (3, 2)
        Vertices in the order of the points.
    """
    corners = 2 * np.pi * np.arange(3) / 3
    best = None
    for turn in (1, -1):
        triangle = np.column_stack([np.cos(corners), turn * np.sin(corners)])
        U, _, Vt = np.linalg.svd(triangle.T @ means)
        rotation = U @ np.diag([1.0, np.linalg.det(U @ Vt)]) @ Vt
        placed = triangle @ rotation
        distance = float(np.sum((placed - means) ** 2))
        if best is None or distance < best[0]:
            best = (distance, placed)
    assert best is not None
    return best[1]


def within_class_root(features: np.ndarray) -> np.ndarray:
    """Return Sigma_W^(1/2), symmetric, of features of shape (classes, examples, dimensions)."""
    centred = features - features.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(
        np.einsum("cnp,cnq->pq", centred, centred) / (features.shape[0] * features.shape[1])
    )
    return (vectors * np.sqrt(values)) @ vectors.T


def least_squares_classifier(features: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return weights, biases and loss 1/2 Ave ||W h + b - y||^2 of the classifier that makes it smallest.

    Parameters
    ----------
    features : ndarray, shape (classes, examples, dimensions)
    """
    classes, examples, dimensions = features.shape
    extended = np.concatenate([features.reshape(-1, dimensions), np.ones((classes * examples, 1))], axis=1)
    targets = np.repeat(np.eye(classes), examples, axis=0)
    solution = np.linalg.lstsq(extended, targets, rcond=None)[0]
    residual = extended @ solution - targets
    return solution[:-1].T, solution[-1], 0.5 * float(np.sum(residual**2)) / (classes * examples)
