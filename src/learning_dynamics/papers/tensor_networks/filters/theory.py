"""Limit directions of two layers on one data point with filters of length one or two, and bounds on the way left."""

from typing import Literal

import numpy as np

# an autocorrelation, relative to |x|^2, up to this size counts as zero: it is within rounding
ZERO = 1e-12


def autocorrelation(x: np.ndarray) -> float:
    """Return the circular autocorrelation of a signal at lag one, relative to |x|^2."""
    return float(x @ np.roll(x, -1) / (x @ x))


def filtered_point(x: np.ndarray, label: float, sign: float) -> np.ndarray:
    """Return Corollary 4's direction for filters of length 2 with a given sign, not normalised.

    It is ``y (2 x + sign (x' + x''))``, with x' and x'' the signal shifted by one entry to either side.
    """
    return label * (2 * x + sign * (np.roll(x, -1) + np.roll(x, 1)))


def filtered_direction(x: np.ndarray, label: float, length: int) -> np.ndarray:
    """Return the limit direction of a two-layer convolutional network with filters of length 1 or 2 (Corollary 4).

    For length 2 it is nan where the autocorrelation is zero: there the corollary says nothing.

    Raises
    ------
    ValueError
        If the length is neither 1 nor 2.
    """
    if length == 1:
        direction = label * x
    elif length == 2:
        correlation = autocorrelation(x)
        sign = np.nan if abs(correlation) <= ZERO else np.sign(correlation)
        direction = filtered_point(x, label, sign)
    else:
        raise ValueError(f"Corollary 4 gives no direction for filters of length {length} on {x}")
    return direction / np.linalg.norm(direction)


def filter_condition(
    x: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    denominators: Literal["printed", "none", "exchanged"] = "printed",
) -> float:
    """Return the largest lambda of Corollary 4's conditions for filters of length 1 or 2, of the paper or altered.

    For length 1 it is ``u**2 - (x . v)**2 / |x|**2 >= lambda``. For length 2, with x' the signal shifted by one, it is
    ``(u_1 + u_2)**2 - ((x + x') . v)**2 / (|x|**2 + x . x') >= lambda``, and the same with -x' and -u_2 for x' and u_2.

    Parameters
    ----------
    x : ndarray, shape (inputs,)
    first : ndarray, shape (1,) or (2,)
        Initial direction of the filter, u.
    second : ndarray, shape (inputs,)
        Initial direction of the last layer, v.
    denominators : str
        Which denominators the fractions have: those that are printed, none, or, for length 2, each condition that of
        the other.
    """
    if len(first) == 1:
        divisor = 1.0 if denominators == "none" else x @ x
        return float(first[0] ** 2 - (x @ second) ** 2 / divisor)
    shifted = np.roll(x, -1)
    conditions = []
    for sign in (1, -1):
        divisors = {
            "printed": x @ x + sign * (x @ shifted),
            "none": 1.0,
            "exchanged": x @ x - sign * (x @ shifted),
        }
        filtered = (x + sign * shifted) @ second
        conditions.append((first[0] + sign * first[1]) ** 2 - filtered**2 / divisors[denominators])
    return float(min(conditions))


def largest_gap(values: np.ndarray, sums: np.ndarray, differences: np.ndarray) -> float:
    """Return the largest relative gap to the l1 max margin (57) that a start can leave at the time of the bounds.

    In singular coordinates of M(x) let u = eta_1 + y eta_2 and w = eta_1 - y eta_2, with eta_1 and eta_2 the layers.
    Then y rho = (u^2 - w^2) / 4 =: c. With s_j the singular values relative to the largest, the gap is
    ``sum_j (|c_j| - s_j c_j) / sum_j |c_j|``. A positive c_j is at most u_j^2 / 4 and adds ``1 - s_j`` of its size to
    the first sum. A negative one is in size at most w_j^2 / 4 and adds ``1 + s_j`` of it.

    Parameters
    ----------
    values : ndarray, shape (m,)
        Singular values of M(x), the largest first.
    sums, differences : ndarray, shape (m,)
        Bounds on |u_j| and |w_j|, one and zero at the top, in the unit of `one_point.remainder_bounds`: the top |u|
        less the top |w|. The square of this unit is at most ``4 sum_j |c_j|``.
    """
    s = values / values[0]
    return float(np.sum((1 - s) * sums**2 + (1 + s) * differences**2))


def largest_angle(x: np.ndarray, remainder: float) -> float:
    """Return the largest angle in degrees to Corollary 4's direction for filters of length two.

    The filter is a combination of two singular vectors of M(x), and so is the last layer; the first of each are the
    top ones. The coefficients are the sum over i and j of c_ij times what filter i makes of layer j. Relative to c_11,
    both c_12 and c_21 are at most `remainder`, and c_22 is at most the square of `remainder`. The sine of the angle is
    at most the size of these three terms over that of the first.

    Parameters
    ----------
    x : ndarray, shape (inputs,)
    remainder : float
        Bound on each layer's second singular component relative to its top one: the second sum of
        `one_point.remainder_bounds` plus the second difference.
    """
    # singular vectors of M(x): filters (1, sign) / sqrt(2), and last layers x + sign x', with x' the shifted signal
    signs = np.array([1.0, -1.0]) * (1.0 if x @ np.roll(x, -1) > 0 else -1.0)  # of the top filter, and of the other
    layers = [x + sign * np.roll(x, -1) for sign in signs]
    layers = [layer / max(float(np.linalg.norm(layer)), 1e-300) for layer in layers]
    # entry (i, j) is the length of what filter i makes of layer j
    sizes = np.array([[np.linalg.norm(layer + sign * np.roll(layer, 1)) for layer in layers] for sign in signs])
    share = (remainder * (sizes[0, 1] + sizes[1, 0]) + remainder**2 * sizes[1, 1]) / sizes[0, 0]
    return float(np.degrees(np.arcsin(min(share, 1.0))))
