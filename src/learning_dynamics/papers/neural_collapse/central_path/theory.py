"""What the paper predicts on the central path, and what its algorithm does instead (section 3, appendix D).

There are C `classes` with N `examples` each. omega_j, the entries of `omega` along its last axis, are the C - 1
non-zero singular values of the SNR matrix Sigma_W^(-1/2) M (eq. 8): Sigma_W is the covariance of features within
classes, and M, (P, C), are the class means less their mean. The loss is that of the least-squares classifier W, without
weight decay; its terms are L_NC1 and L_NC2/3. Phi = I - 1 1^T / C are the labels of the classes less their mean.
"""

import numpy as np
from scipy.optimize.elementwise import find_root
from scipy.special import wrightomega


def spectral_loss(omega: np.ndarray, classes: int) -> np.ndarray:
    """Return the loss from the SNR singular values, sum_j 1 / (omega_j**2 + C) / 2 (Lemma 1, eq. 20)."""
    return 0.5 * np.sum(1 / (omega**2 + classes), axis=-1)


def spectral_variability_loss(omega: np.ndarray, classes: int) -> np.ndarray:
    """Return the term L_NC1 of `spectral_loss`, by deviations within classes (Lemma 1)."""
    return 0.5 * np.sum((omega / (omega**2 + classes)) ** 2, axis=-1)


def spectral_geometry_loss(omega: np.ndarray, classes: int) -> np.ndarray:
    """Return the term L_NC2/3 of `spectral_loss`, by the classifier's errors on class means (Lemma 1)."""
    return 0.5 * np.sum((classes / (omega**2 + classes)) ** 2, axis=-1) / classes


def snr_velocity(omega: np.ndarray, classes: int, examples: int) -> np.ndarray:
    """Return d omega / dt as the paper has it (Lemma 5, eq. 27): omega / (N (C + omega**2)**2).

    It is the speed of Riemannian gradient flow, whose tangent map is the orthogonal projection. In aligned coordinates,
    in which the SNR matrix is diagonal, a row of the features is omega y + n, with a row y of the labels and deviations
    n from the class means. The row of minus the gradient is then
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
    # The root log omega(t) is bracketed: omega only grows, and by less than if c3 omega**4 alone grew with t. 1e-12 is
    # chosen: it widens the bracket by more than rounding
    upper = 0.25 * np.log(np.exp(4 * start) + time / c3) + 1e-12
    root = find_root(lambda log_omega, target: clock(log_omega) - target, (start - 1e-12, upper), args=(target,))
    return np.exp(root.x)


def snr_asymptote(time: np.ndarray, examples: int) -> np.ndarray:
    """Return (t / c3)**(1/4) with c3 = N / 4, to which omega(t) of Proposition 2 tends (Corollary 1)."""
    return (4 * time / examples) ** 0.25


def algorithm_step(omega: np.ndarray, step: float, classes: int, examples: int) -> np.ndarray:
    """Return the SNR singular values after one gradient step and renormalisation (the algorithm of appendix D.1),
    exactly.

    A row of the features in aligned coordinates is omega y + n, with a row y of the labels and deviations n from the
    class means (`snr_velocity`). A step takes it to (omega + step a) y + (1 - step b) n, with a = omega / (N (C +
    omega**2)**2) and b = omega a / C. Renormalisation divides the row by 1 - step b, which restores n. So the
    deviations and the singular vectors never change, and omega becomes (omega + step a) / (1 - step b).
    """
    along_means = snr_velocity(omega, classes, examples)
    return (omega + step * along_means) / (1 - step * omega * along_means / classes)


def algorithm_velocity(omega: np.ndarray, classes: int, examples: int) -> np.ndarray:
    """Return d omega / dt of gradient descent with renormalisation in the limit of small steps (derived here).

    With a and b of `algorithm_step`, its first order in the step is a + omega b = a (1 + omega**2 / C), which is
    omega / (C N (C + omega**2)). The first term a is `snr_velocity`, gained by moving the class means apart. The second
    is omega**2 / C times as much, gained by shrinking the deviations, which the orthogonal projection throws away. The
    flow of the printed tangent map has the same speed.
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

    It is C / (C + omega**2) if also the least-squares classifier W is a multiple of M^T, so that NC2 and NC3 hold
    (derived here). With K = M^T Sigma_W^-1 M the classifier is (C I + K)^-1 M^T Sigma_W^-1, and W M = (C I + K)^-1 K.
    As W is a multiple of M^T, W M is a multiple of Phi, and so is K = omega**2 Phi: W M = omega**2 / (C + omega**2)
    Phi.
    """
    return classes / (classes + omega**2)


def trace_bound(omega: np.ndarray, classes: int) -> np.ndarray:
    """Return C sum_j 1 / omega_j**2, the least that tr(pinv(Sigma_B) Sigma_W) can be for given omega_j.

    Sigma_B = M M^T / C. With the singular value decomposition M = U S V^T the trace is C tr(S^-2 U^T Sigma_W U), while
    C sum_j 1 / omega_j**2 is C tr(S^-1 (U^T Sigma_W^-1 U)^-1 S^-1). By Schur's complement U^T Sigma_W U >=
    (U^T Sigma_W^-1 U)^-1, with equality if and only if the class means span an invariant subspace of Sigma_W, as where
    Sigma_W is the identity.
    """
    return classes * np.sum(omega**-2.0, axis=-1)


def self_duality_under_coupling(coupling: float, classes: np.ndarray) -> np.ndarray:
    """Return the squared distance of W from M^T, both scaled to unit norm, under noise that is coupled.

    Class means M are a simplex frame of singular values one. Deviations from them, the noise, have the covariance e^2 Q
    with e -> 0. Q is the identity plus an entry c, the `coupling`, between a direction u of the class means and a
    direction n orthogonal to all of them.

    Derived here: W tends to (M^T Q^-1 M)^+ M^T Q^-1. In the plane of u and n, Q^-1 is proportional to [[1, -c], [-c,
    1]], so that the row of W along u becomes u - c n, and W = M^T - c v n^T with the unit vector v = M^T u. The squared
    norm of M^T is C - 1, that of W is C - 1 + c^2, and their inner product is C - 1. So the squared distance is
    2 - 2 / sqrt(1 + c^2 / (C - 1)).
    """
    return 2 - 2 / np.sqrt(1 + coupling**2 / (classes - 1))


def simplex_gram(vectors: np.ndarray) -> float:
    """Return how far the Gram matrix G = E^T E of E, shape (P, C), is from that of a simplex frame, relative to G.

    It is ||G - alpha (C I - 1 1^T) / (C - 1)|| / ||G|| with the alpha that fits best (Lemma 7).
    """
    classes = vectors.shape[-1]
    gram = vectors.mT @ vectors
    frame = (classes * np.eye(classes) - 1) / (classes - 1)
    scale = np.sum(gram * frame) / np.sum(frame**2)
    return float(np.linalg.norm(gram - scale * frame) / np.linalg.norm(gram))
