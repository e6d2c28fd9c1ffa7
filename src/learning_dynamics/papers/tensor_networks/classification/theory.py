"""How fast coordinates that have no part in the max margin vanish, by the multipliers of the margin problem alone.

With two decomposable layers the share of coordinate j falls like (log t)^-(1 - s_j), with the s_j of
`pushes_at_the_limit`. The derivation of this law, and of its error, is in docs/tensor_networks.md.
"""

import numpy as np


def pushes_at_the_limit(
    features: np.ndarray, labels: np.ndarray, largest: np.ndarray, nearly: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the push ``sum_i lambda_i y_i features_i``, with the multipliers lambda_i of an l1 max-margin problem.

    Its entries have size one on the support of the solution, and elsewhere a size s_j below one. In the limit of a flow
    these sizes are the singular values of M(-u) relative to the largest. No flow enters here.

    Parameters
    ----------
    features : ndarray, shape (samples, m), real or complex
        ``X S^T``.
    labels : ndarray, shape (samples,), of 1 and -1
    largest : ndarray, shape (m,)
        The rho of largest margin: that of least l1 norm with all margins at least one. Margins of one are tight.
    nearly : float
        Margins that exceed the least one by less than this share of it cannot be told from tight ones.

    Returns
    -------
    pushes : ndarray, shape (m,)
        The push. It is nan in each of these cases: the multipliers are not unique, or none fulfil the equations; the
        multiplier of a tight margin is zero; a margin is nearly tight; there are more entries on the support than tight
        margins, so that their sizes settle at a rate of their own.
    response : ndarray, shape (m, 2 * entries on the support)
        If the multipliers change, the changes of the sizes of all entries of the push are this matrix times one vector:
        the changes of the sizes on the support, and then those of the phases there. Nan where the push is.
    """
    signed = labels[:, None] * features
    margins = (signed @ largest).real
    # 1e-6 and 1e-4 are chosen, far above the convex solver's tolerance (`solutions.TOLERANCE`). Entries and multipliers
    # up to 1e-6 of the largest count as zero; a system of equations that is off by more than 1e-4 has no solution.
    tight, active = tight_margins(margins), np.abs(largest) > 1e-6 * np.abs(largest).max()
    unknown = np.full(len(largest), np.nan, dtype=features.dtype), np.full((len(largest), 2 * active.sum()), np.nan)
    # By stationarity the push has, on the support, the size one and the conjugate phase of rho: `target`. So
    # support @ multipliers = target, of shapes (entries on the support, tight margins) and (entries on the support,).
    support, target = signed[np.ix_(tight, active)].T, largest[active].conj() / np.abs(largest[active])
    # The same features turned by the target's phase: multipliers change the push's size by the real part, and its phase
    # by the imaginary.
    rotated = target.conj()[:, None] * support
    # multipliers are real, so that real and imaginary parts are equations of their own: twice as many rows
    system, target = (np.concatenate([part.real, part.imag]) for part in (support, target))
    if active.sum() > tight.sum() or np.linalg.matrix_rank(system, tol=1e-6) < tight.sum():
        return unknown
    multipliers = np.linalg.lstsq(system, target, rcond=None)[0]
    if multipliers.min() < 1e-6 * multipliers.max() or np.abs(system @ multipliers - target).max() > 1e-4:
        return unknown
    if tight_margins(margins, nearly).sum() > tight.sum():
        return unknown
    push = multipliers @ signed[tight]
    # By how much each multiplier changes the size of each entry, shape (m, tight). The pseudo-inverse takes changes of
    # sizes and phases on the support to changes of multipliers.
    projections = (np.exp(-1j * np.angle(push))[:, None] * signed[tight].T).real
    return push, projections @ np.linalg.pinv(np.concatenate([rotated.real, rotated.imag]))


def tight_margins(margins: np.ndarray, nearly: float = 0.0) -> np.ndarray:
    """Return which margins are the least, up to the solver's error or to a share `nearly` of the least: (samples,)."""
    return margins < (1 + max(1e-6, nearly)) * margins.min()


def outside_support(X: np.ndarray, labels: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Return the projection onto the complement of what the support vectors span, shape (inputs, inputs).

    Support vectors are the points of least margin under the classifier `largest` of largest margin, shape (inputs,).
    """
    span = np.linalg.qr(X[tight_margins(labels * (X @ largest))].T)[0]
    return np.eye(X.shape[1]) - span @ span.T


def fitted_power(log_log_times: np.ndarray, share: np.ndarray) -> float:
    """Return the power of 1 / log t with which a share falls, fitted over all the given log log t."""
    return float(-np.polyfit(log_log_times, np.log(share), 1)[0])
