"""What can be said exactly of the noise-driven process dW = dB a^T, da = W^T dB (Varre et al. 2023, section 4).

Moments are the paper's (Proposition 4.1). Rates of single paths, and the limit of the commutator's mean, are
derived here. A column (w_i, a_i) keeps |w_i| > |a_i| for ever and is (N cosh x, N sinh x) with

    dx = dB - (d-1)/2 sinh^2 x tanh x dt,    d log N = (d sinh^2 x - cosh^2 x) / 2 dt,

so that y = sinh x settles to the density (1 + y^2)^{(d-2)/2} exp(-(d-1) y^2 / 2), and log N grows at the mean
of ((d-1) y^2 - 1) / 2. In two dimensions c = det W and the entries e_i of the commutators [w_i, a] obey
dc = e_1 dB_2 - e_2 dB_1, de_1 = -e_1 dt + c dB_2, de_2 = -e_2 dt - c dB_1. Then c stays above r = |(e_1, e_2)|, is
a martingale, and with (c, r) = (N cosh x, N sinh x)

    dx = dB + (cosh^3 x / (2 sinh x) - sinh x cosh x) dt,    d log N = (sinh^2 x - 2) / 2 dt.
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


def commutator_second_moment_rate(inputs: int) -> float:
    """Rate at which the commutator's second moment grows, sqrt(2d - 1) - 1.

    With p the sum of the squared 2x2 minors of W in two columns and q that of the commutators' entries,
    p' = (d - 1) q and q' = 2 p - 2 q.
    """
    return float(np.sqrt(2 * inputs - 1) - 1)


def largest_lyapunov_exponent(inputs: int) -> float:
    """Almost sure growth rate of |W| and |a|: the mean of ((d-1) y^2 - 1) / 2; d >= 2, zero for d = 2."""

    def density(y: float) -> float:
        return (1 + y * y) ** ((inputs - 2) / 2) * np.exp(-(inputs - 1) * y * y / 2)

    mass = quad(density, 0, np.inf)[0]
    return quad(lambda y: 0.5 * ((inputs - 1) * y * y - 1) * density(y), 0, np.inf)[0] / mass


def commutator_lyapunov_exponent() -> float:
    """Almost sure growth rate of the commutators for d = 2, the sum of the two largest exponents.

    The mean of (y^2 - 2) / 2 under the density y exp(-y^2 / 2) / sqrt(1 + y^2) of y = sinh x > 0.
    """

    def density(y: float) -> float:
        return y * np.exp(-y * y / 2) / np.sqrt(1 + y * y)

    return quad(lambda y: 0.5 * (y * y - 2) * density(y), 0, np.inf)[0] / quad(density, 0, np.inf)[0]


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
