"""The norm-like function Q of section 5.1, the functions p, q, h behind it (Lemma 5.1), and its minimisers."""

import numpy as np
from scipy import special

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks.starts import last_of_product

# -- Lemma 5.1: p' = p**(L-2) q, q' = p**(L-1), p(0) = 1, q(0) = 0 -----------------------------------------
# p**2 - q**2 = 1 along the solution, which leaves q' = (1 + q**2)**((L-1)/2): everything is a function of q.


def blow_up_time(depth: int) -> float:
    """Return c, the time at which p_L and q_L become infinite (Lemma 5.1): infinite at depth 2, finite above.

    It is the integral of ``(1 + q**2)**(-(L - 1) / 2)`` over q from 0 to infinity: pi/2 at depth 3, 1 at 4.
    """
    return np.inf if depth == 2 else special.beta(0.5, (depth - 2) / 2) / 2


def depth_q(t: np.ndarray, depth: int) -> np.ndarray:
    """Return q_L(t) for ``|t|`` below the blow-up time; infinite at and beyond it."""
    t = np.asarray(t, dtype=float)
    if depth == 2:
        return np.sinh(t)
    # With x = q**2 / (1 + q**2) the time at which q_L reaches q is half the incomplete beta function B(x; 1/2, half).
    half = (depth - 2) / 2
    share = np.clip(np.abs(t) / blow_up_time(depth), 0.0, 1.0)
    # x from the share of time passed, or 1 - x from the share left: accurate near 0 and near c
    elapsed, remaining = special.betaincinv(0.5, half, share), special.betaincinv(half, 0.5, 1 - share)
    with np.errstate(divide="ignore"):
        return np.sign(t) * np.sqrt(np.where(share < 0.5, elapsed / (1 - elapsed), (1 - remaining) / remaining))


def depth_time(q: np.ndarray, depth: int) -> np.ndarray:
    """Return the time at which q_L reaches q, the inverse of `depth_q`."""
    if depth == 2:
        return np.arcsinh(q)
    share = special.betainc(0.5, (depth - 2) / 2, np.square(q) / (1 + np.square(q)))
    return np.sign(q) * blow_up_time(depth) * share


def depth_h(t: np.ndarray, depth: int) -> np.ndarray:
    """Return h_L(t) = p_L(t)**(L-1) q_L(t)."""
    q = depth_q(t, depth)
    return (1 + q**2) ** ((depth - 1) / 2) * q


def depth_h_inverse(z: np.ndarray, depth: int) -> np.ndarray:
    """Return the time t at which h_L(t) = z."""
    return depth_time(last_of_product(z, 1.0, depth), depth)


def depth_penalty(z: np.ndarray, depth: int) -> np.ndarray:
    """Return H_L(z), the integral of the inverse of h_L from 0 to z (Theorem 4).

    By parts it is ``z t - q**2 / 2`` at the time t where h_L(t) = z, because h_L is the derivative of q**2/2.
    """
    q = last_of_product(z, 1.0, depth)  # p**2 - q**2 = 1
    return np.asarray(z) * depth_time(q, depth) - q**2 / 2


def norm_like_minimiser(
    features: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    *,
    scale: float,
    depth: int,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """Minimise Q_{L, alpha, eta}(rho) subject to ``features @ rho = labels`` (Theorem 4; Corollaries 5 to 7).

    Q is ``sum_j (alpha eta_j)**2 H_L(rho_j / (alpha |eta_j|)**L)``, with the H_L of `depth_penalty`.

    Stationarity (66) gives ``rho_j = (alpha |eta_j|)**L h_L((alpha |eta_j|)**(L-2) (features.T @ nu)_j)``. The
    multipliers nu minimise a smooth convex function, which is infinite where an argument of h_L is beyond the blow-up
    times; Newton's method with backtracking finds them. At scales so small that an argument is within rounding of a
    blow-up time (below 1e-2 at depth 5), double precision does not resolve the multipliers.

    Parameters
    ----------
    features : ndarray, shape (samples, m)
        ``X S^T``, with the points in the rows of X and the singular values ``S x`` of M(x).
    labels : ndarray, shape (samples,)
    weights : ndarray, shape (m,)
        Initial direction eta of all layers but the last, in singular coordinates; no entry zero.
    scale, depth
        Initial scale alpha > 0 and number of layers L >= 2.
    start : ndarray, shape (samples,), optional
        Multipliers to start from; at very small scales Newton's method does not converge from zero.

    Returns
    -------
    ndarray, shape (m,)

    Raises
    ------
    ProjectError
        If the iteration does not converge.
    """
    # by stationarity rho is outer * h_L(inner * (features.T @ nu)), entry by entry
    size = scale * np.abs(weights)
    outer, inner = size**depth, size ** (depth - 2)

    def minimiser(nu: np.ndarray) -> np.ndarray:
        """Return the rho of multipliers nu, shape (m,)."""
        return outer * depth_h(inner * (nu @ features), depth)

    def dual(nu: np.ndarray) -> float:
        """Return the convex function of nu whose gradient is ``features @ minimiser(nu) - labels``.

        Its gradient is that because (q**2 / 2)' = h and ``size**2 * inner`` is ``outer``. With two layers there is no
        blow-up time, but q is sinh, whose square overflows soon beyond 350.
        """
        t = inner * (nu @ features)  # shape (m,)
        if np.any(np.abs(t) >= min(blow_up_time(depth), 350.0)):
            return np.inf
        return float(np.sum(size**2 * depth_q(t, depth) ** 2) / 2 - labels @ nu)

    def newton(nu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the gradient of the dual at nu, and Newton's step."""
        q = depth_q(inner * (nu @ features), depth)
        # h' = p**(2L-4) ((L-1) q**2 + p**2), with p**2 = 1 + q**2
        slope = (1 + q**2) ** (depth - 2) * ((depth - 1) * q**2 + 1 + q**2)
        gradient = features @ minimiser(nu) - labels
        return gradient, -np.linalg.solve((features * (outer * inner * slope)) @ features.T, gradient)

    # chosen: 1000 steps at most; a step must bring 1e-4 of the decrease that is expected of it (Armijo's rule)
    nu = np.zeros(len(labels)) if start is None else start
    gradient, step = newton(nu)
    for _ in range(1000):
        # `expected` is the slope along the step: to first order the change, a negative one, that a full step makes
        before, expected, length = dual(nu), float(gradient @ step), 1.0
        # A decrease below the rounding of the dual's values cannot be seen there: full steps are then taken, for as
        # long as the gradient shrinks.
        resolved = -expected > 1e-12 * max(abs(before), abs(float(labels @ nu)))
        while resolved and dual(nu + length * step) > before + 1e-4 * length * expected:
            length /= 2
        if not resolved and not np.isfinite(dual(nu + step)):  # the full step leads beyond a blow-up time
            break
        candidate = nu + length * step
        after, next_step = newton(candidate)
        if not resolved and np.linalg.norm(after) >= np.linalg.norm(gradient):
            break
        nu, gradient, step = candidate, after, next_step
    # chosen: below the error allowed for limits of flows (`limit_checks.limit_error`), 2e-8 at an rtol of 1e-11
    if np.linalg.norm(gradient) > 1e-8 * np.linalg.norm(labels):
        raise ProjectError(f"the minimiser of Q at depth {depth} and scale {scale:g} was not found by Newton's method")
    return minimiser(nu)
