"""What the paper predicts on the central path, and what its algorithm does instead (section 3, appendix D)."""

import numpy as np
from scipy.optimize.elementwise import find_root
from scipy.special import wrightomega


def spectral_loss(omega: np.ndarray, classes: int) -> np.ndarray:
    """Return the loss on the central path from the SNR singular values, over leading axes (Lemma 1, eq. 20).

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
    """Return the constants c1, c2, c3 of Proposition 2 (eq. 9): C**2 N, C N and N / 4."""
    return float(classes**2 * examples), float(classes * examples), examples / 4


def snr_closed_form(start: np.ndarray, time: np.ndarray, classes: int, examples: int) -> np.ndarray:
    """Return omega(t) from c1 log omega + c2 omega**2 + c3 omega**4 = a + t, solved for omega (eq. 9).

    Parameters
    ----------
    start : ndarray
        omega(0) > 0, which fixes a of eq. 9; broadcast against `time`.
    time : ndarray
        Flow time, >= 0.

    Returns
    -------
    ndarray, of the broadcast shape
    """
    c1, c2, c3 = snr_constants(classes, examples)

    def clock(log_omega: np.ndarray) -> np.ndarray:
        """Return the left side of eq. 9, which is a + t."""
        return c1 * log_omega + c2 * np.exp(2 * log_omega) + c3 * np.exp(4 * log_omega)

    start, time = np.broadcast_arrays(np.log(start), time)
    target = clock(start) + time
    # omega only grows, and by less than where c3 omega**4 alone grows with t. The bracket of log omega is wider than
    # that by more than rounding
    upper = 0.25 * np.log(np.exp(4 * start) + time / c3) + 1e-12
    root = find_root(lambda log_omega, target: clock(log_omega) - target, (start - 1e-12, upper), args=(target,))
    return np.exp(root.x)


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

    With y = omega**2 / C this reads y + log y = z, where z grows by 2 t / (C**2 N) from its value at the start. The
    solution y is the Wright omega function of z.
    """
    scaled = np.asarray(start) ** 2 / classes
    return np.sqrt(classes * wrightomega(scaled + np.log(scaled) + 2 * time / (classes**2 * examples)).real)


def algorithm_asymptote(time: np.ndarray, classes: int, examples: int) -> np.ndarray:
    """Return sqrt(2 t / (C N)), to which `algorithm_closed_form` tends."""
    return np.sqrt(2 * time / (classes * examples))


def simplex_score_error(omega: np.ndarray, classes: np.ndarray | int) -> np.ndarray:
    """Return ||W M - Phi||_F / ||Phi||_F of class means that are a simplex frame of one SNR singular value omega.

    It is C / (C + omega**2), where NC2 and NC3 hold for the least-squares classifier (derived here). With
    K = M^T Sigma_W^-1 M the classifier is (C I + K)^-1 M^T Sigma_W^-1. As a multiple of M^T its product with M is a
    multiple of Phi, and so is K = omega**2 Phi: W M = omega**2 / (C + omega**2) Phi.
    """
    return classes / (classes + omega**2)


def trace_bound(omega: np.ndarray, classes: int) -> np.ndarray:
    """Return C sum_j 1 / omega_j**2, the least that tr(pinv(Sigma_B) Sigma_W) can be over the last axis.

    With class means U S V^T the trace is C tr(S^-2 U^T Sigma_W U), while C sum_j 1 / omega_j**2 is C tr(S^-1 (U^T
    Sigma_W^-1 U)^-1 S^-1). By Schur's complement U^T Sigma_W U >= (U^T Sigma_W^-1 U)^-1, with equality if and only if
    the class means span an invariant subspace of Sigma_W, as where Sigma_W is the identity.
    """
    return classes * np.sum(omega**-2.0, axis=-1)


def self_duality_under_coupling(coupling: float, classes: np.ndarray) -> np.ndarray:
    """Return the squared distance of the classifier from class means, both of unit norm, under noise that is coupled.

    Class means M are a simplex frame of singular values one, noise has the covariance e^2 Q as e -> 0, Q the identity
    but for the coupling c between a direction u of the class means and n, orthogonal to them. Derived here: W tends to
    (M^T Q^-1 M)^+ M^T Q^-1. In the plane of u and n, Q^-1 is proportional to [[1, -c], [-c, 1]], so that the row of W
    along u becomes u - c n, and W = M^T - c v n^T with the unit vector v = M^T u. Of squared norms, M^T has C - 1 and W
    has C - 1 + c^2, and their inner product is C - 1: the squared distance is 2 - 2 / sqrt(1 + c^2 / (C - 1)).
    """
    return 2 - 2 / np.sqrt(1 + coupling**2 / (classes - 1))


def simplex_gram(vectors: np.ndarray) -> float:
    """Return how far E^T E, E of shape (features, classes), is from a simplex equiangular tight frame's, relative.

    That is alpha (C I - 1 1^T) / (C - 1) with the alpha that fits best (Lemma 7).
    """
    classes = vectors.shape[-1]
    gram = vectors.mT @ vectors
    frame = (classes * np.eye(classes) - 1) / (classes - 1)
    scale = np.sum(gram * frame) / np.sum(frame**2)
    return float(np.linalg.norm(gram - scale * frame) / np.linalg.norm(gram))
