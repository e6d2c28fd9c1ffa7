"""What can be said exactly of the noise-driven process dW = dB a^T, da = W^T dB (Varre et al. 2023, section 4).

Moments are the paper's (Proposition 4.1). Rates of single paths, and the limit of the commutator's mean, are
derived here. A column (w_i, a_i) keeps |w_i| > |a_i| for ever and is (N cosh x, N sinh x) with

    dx = dB - (d-1)/2 sinh^2 x tanh x dt,    d log N = (d sinh^2 x - cosh^2 x) / 2 dt,

so that y = sinh x settles to the density (1 + y^2)^{(d-2)/2} exp(-(d-1) y^2 / 2), and log N grows at the mean
of ((d-1) y^2 - 1) / 2. In two dimensions c = det W and the entries e_i of the commutators [w_i, a] obey
dc = e_1 dB_2 - e_2 dB_1, de_1 = -e_1 dt + c dB_2, de_2 = -e_2 dt - c dB_1. Then c stays above r = |(e_1, e_2)|, is
a martingale, and with (c, r) = (N cosh x, N sinh x)

    dx = dB + (cosh^3 x / (2 sinh x) - sinh x cosh x) dt,    d log N = (sinh^2 x - 2) / 2 dt.

For any d the smallest of all d + 1 exponents follows in the same way from the inverse transpose of the flow, which
is the same process with its drift turned round, dw = a dB + w dt, da = w . dB + d a dt: a vector ends with |a| > |w|,
is (N sinh x, N cosh x), and

    dx = dB + (d-1)/2 (coth x - sinh x cosh x) dt,    d log N = (d + (d-1) sinh^2 x) / 2 dt.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import quad


def second_moments(inputs: int, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E|w_i|^2 for a column w_i, and E a_i^2, from W(0) = I and a(0) = 0 (Proposition 4.1, proof of (a))."""
    root = np.sqrt(inputs)
    return np.cosh(root * time), np.sinh(root * time) / root


def euler_second_moments(inputs: int, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same moments of the Euler-Maruyama scheme after each of its steps: u += d v dt, v += u dt."""
    root = np.sqrt(inputs)
    grown, shrunk = np.cumprod(1 + root * sizes), np.cumprod(1 - root * sizes)
    return (grown + shrunk) / 2, (grown - shrunk) / (2 * root)


def commutator_second_moment(inputs: int, time: np.ndarray) -> np.ndarray:
    """Mean over rows of E e^2, e the entry of [w_i, a] in two fixed columns, from W(0) = I and a(0) = 0.

    With p the sum of the squared 2x2 minors of W in these columns and q that of the commutators' entries,
    p' = (d - 1) q and q' = 2 p - 2 q, which grows at the rate sqrt(2d - 1) - 1.
    """
    root = np.sqrt(2 * inputs - 1)
    return 2 * np.exp(-time) * np.sinh(root * time) / root / inputs


def largest_lyapunov_exponent(inputs: int) -> float:
    """Almost sure growth rate of |W| and |a|: the mean of ((d-1) y^2 - 1) / 2; zero for d = 2."""

    def density(y: float) -> float:
        return (1 + y * y) ** ((inputs - 2) / 2) * np.exp(-(inputs - 1) * y * y / 2)

    if inputs == 1:
        return -0.5  # W +- a = exp(+-B - t / 2)
    mass = quad(density, 0, np.inf)[0]
    return quad(lambda y: 0.5 * ((inputs - 1) * y * y - 1) * density(y), 0, np.inf)[0] / mass


def smallest_lyapunov_exponent(inputs: int) -> float:
    """Smallest of the d + 1 almost sure growth rates of (W, a), about -d.

    Minus the mean of (d + (d-1) s^2) / 2 under the density s^{d-1} exp(-(d-1) s^2 / 2) / sqrt(1 + s^2) of s > 0.
    All d + 1 rates add up to -d, so that in two dimensions the two largest add up to -2 less this one.
    """
    if inputs == 1:
        return -0.5

    def density(s: float) -> float:
        return s ** (inputs - 1) * np.exp(-(inputs - 1) * s * s / 2) / np.sqrt(1 + s * s)

    mass = quad(density, 0, np.inf)[0]
    return -quad(lambda s: 0.5 * (inputs + (inputs - 1) * s * s) * density(s), 0, np.inf)[0] / mass


def commutator_mean_limit() -> float:
    """Limit of the mean of |e|, e the nonzero entry of a commutator [w_i, a], for d = 2: 0.482.

    Weighted by the martingale c, x drifts by tanh x more and sinh x settles to y sqrt(1 + y^2) exp(-y^2 / 2);
    the mean of r tends to that of tanh x under this weight, and (e_1, e_2) points uniformly in all directions,
    whence the factor 2 / pi.
    """

    def density(y: float) -> float:
        return y * np.sqrt(1 + y * y) * np.exp(-y * y / 2)

    mass = quad(density, 0, np.inf)[0]
    return 2 / np.pi * quad(lambda y: y / np.sqrt(1 + y * y) * density(y), 0, np.inf)[0] / mass
