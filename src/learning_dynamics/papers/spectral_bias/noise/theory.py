"""Exact moments and growth rates of the noise-driven process dW = dB a^T, da = W^T dB (Varre et al. 2023, eq. 4.1).

`second_moments` is the paper's (Proposition 4.1). Moments of the commutator and rates of single paths are derived here
and in docs/noise_spectrum.md. Below, w_i is a column of W and a_i its entry of a; in commutators [w_i, a] it is a row.
`inputs` is d.

A column (w_i, a_i) keeps |w_i| > |a_i| for ever. So |w_i| = N cosh x and a_i = N sinh x with N^2 = |w_i|^2 - a_i^2, and
with a Brownian motion B

    dx = dB - (d-1)/2 sinh^2 x tanh x dt,    d log N = (d sinh^2 x - cosh^2 x) / 2 dt,

so that y = sinh x settles to the density (1 + y^2)^{(d-2)/2} exp(-(d-1) y^2 / 2), and log N grows at the mean
of ((d-1) y^2 - 1) / 2. In two dimensions D = det W and the entries e_i of the commutators [w_i, a] obey
dD = e_1 dB_2 - e_2 dB_1, de_1 = -e_1 dt + D dB_2, de_2 = -e_2 dt - D dB_1. Then D stays above r = |(e_1, e_2)|, is
a martingale, and with (D, r) = (N cosh x, N sinh x)

    dx = dB + (cosh^3 x / (2 sinh x) - sinh x cosh x) dt,    d log N = (sinh^2 x - 2) / 2 dt.

The areas that two and more columns span obey equations of the same kind, which give all exponents and the mean
commutator.
"""

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.special import gammaincc


def second_moments(inputs: int, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return E|w_i|^2 for a column w_i, and E a_i^2, from W(0) = I and a(0) = 0 (Proposition 4.1, proof of (a))."""
    root = np.sqrt(inputs)
    return np.cosh(root * time), np.sinh(root * time) / root


def euler_second_moments(inputs: int, step_sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return `second_moments` of the Euler-Maruyama scheme after each of its steps, shape (steps,).

    A step of size dt changes u = E|w_i|^2 by d v dt and v = E a_i^2 by u dt.
    """
    root = np.sqrt(inputs)
    grown, shrunk = np.cumprod(1 + root * step_sizes), np.cumprod(1 - root * step_sizes)
    return (grown + shrunk) / 2, (grown - shrunk) / (2 * root)


def commutator_second_moment(inputs: int, time: np.ndarray) -> np.ndarray:
    """Return the mean over rows of E e^2, e the entry of [w_i, a] in two fixed columns, from W(0) = I and a(0) = 0.

    Let p be the mean of the sum of the squared 2x2 minors of W in these columns, and q that of the squared entries of
    the commutators. Then p' = (d - 1) q and q' = 2 p - 2 q from p = 1 and q = 0, so that q = 2 e^{-t} sinh(k t) / k
    with k = sqrt(2d - 1); the mean over rows is q / d. It grows at the rate k - 1.
    """
    root = np.sqrt(2 * inputs - 1)
    return 2 * np.exp(-time) * np.sinh(root * time) / root / inputs


def lyapunov_exponents(inputs: int) -> np.ndarray:
    """Return all almost sure growth rates of (W, a) in d dimensions, descending, shape (d + 1,).

    The p-dimensional volume that p columns span grows at the sum of the first p rates, which is (d - 1 - p) / 2 times
    the mean of y^2 / (1 + y^2) under the density y^{p-1} (1 + y^2)^{(d-p-1)/2} exp(-(d-1) y^2 / 2) of y > 0; all d + 1
    add up to -d (docs/noise_spectrum.md). The first d are the rates of the singular values of W. The trapezoidal rule
    in ln y gives the means, exact to rounding here.
    """
    if inputs == 1:
        return np.array([-0.5, -0.5])  # W +- a = exp(+-B - t / 2)
    p = np.arange(1.0, inputs + 1)[:, None]
    # ln y, from where y is below rounding, e^-40 = 4e-18, to where the exponential is, e^-(60 + d). Points are apart by
    # a fifth of the narrowest peak's width, 1 / sqrt(d): chosen, and enough for the rule to be exact to rounding
    logarithm = np.arange(-40.0, 0.5 * np.log(2 * (60 + inputs) / (inputs - 1)), 0.2 / np.sqrt(inputs))
    y2 = np.exp(2 * logarithm)
    # logarithm of the density times y, as dy = y d ln y
    density = p * logarithm + (inputs - p - 1) / 2 * np.log1p(y2) - (inputs - 1) * y2 / 2
    density = np.exp(density - density.max(axis=1, keepdims=True))
    # lambda_1 + ... + lambda_p for p = 1, ..., d
    volumes = (inputs - 1 - p[:, 0]) / 2 * (density @ (y2 / (1 + y2))) / density.sum(axis=1)
    return np.diff(np.concatenate([[0.0], volumes, [-float(inputs)]]))


def spectrum_limit(shares: np.ndarray) -> np.ndarray:
    """Return the limit of lambda_i as d grows, at the share i / d: 1 / (4 sqrt(share)) - 1/2, zero at a quarter.

    It is derived in docs/noise_spectrum.md.
    """
    return 0.25 / np.sqrt(shares) - 0.5


def mean_commutator_rate(inputs: int) -> float:
    """Return the rate at which the mean length of the commutator grows: 0 for d = 2, positive in more dimensions.

    It is the largest eigenvalue of f''/2 + m f' + ((d-1) sinh^2 x - 2) / 2 f on x > 0, with
    m = (1 - (d-1) sinh^4 x) / sinh 2x (docs/noise_spectrum.md), by differences whose error is of the order of 1e-6.
    """
    # 4000 cells, chosen for the error above; one eigenvalue is cheap
    _, _, diagonal, off_diagonal = _area_generator(inputs, 4000)
    last = len(diagonal) - 1
    return float(eigh_tridiagonal(diagonal, off_diagonal, eigvals_only=True, select="i", select_range=(last, last))[0])


def mean_commutator(inputs: int, time: np.ndarray) -> np.ndarray:
    """Return E |c| from W(0) = I and a(0) = 0, c = W_.1 a_2 - W_.2 a_1 of two columns of W, shape (times,).

    It is f(t, x = 0) of the backward equation df/dt = L f from f = sinh x, L the operator in `mean_commutator_rate`
    (docs/noise_spectrum.md), expanded in the modes of L; errors are of the order of 1e-4.
    """
    # 800 cells, chosen for the error above: here all eigenvectors are computed
    x, root_weight, diagonal, off_diagonal = _area_generator(inputs, 800)
    rates, modes = eigh_tridiagonal(diagonal, off_diagonal)
    start = modes.T @ (root_weight * np.sinh(x))
    # the modes as functions, at x = 0: they are even, so that f(0) = (9 f(h / 2) - f(3 h / 2)) / 8 but for h^4
    at_zero = (modes[:2] / root_weight[:2, None]).T @ np.array([9.0, -1.0]) / 8.0
    means = np.exp(np.multiply.outer(np.asarray(time, dtype=float), rates)) @ (start * at_zero)
    # f = sinh x is odd, which even modes miss at x = 0 and time zero
    return np.where(np.asarray(time) > 0, means, 0.0)


def _area_generator(inputs: int, n_points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the operator of `mean_commutator_rate` by differences, as a symmetric tridiagonal matrix.

    With the stationary weight w of x it is (w f')' / (2 w) + ((d-1) sinh^2 x - 2) / 2 f, with no flow of w f' through
    the edges of the interval; it is symmetric for sqrt(w) f.

    Returns
    -------
    places : ndarray, shape (n_points,)
        Centres x of cells of one width.
    root_weights : ndarray, shape (n_points,)
        sqrt(w) there.
    diagonal, off_diagonal : ndarray, shapes (n_points,), (n_points - 1,)
    """
    largest = np.arcsinh(np.sqrt(90.0 / (inputs - 1)))  # where the weight's exponential is exp(-45)
    edges = np.linspace(0.0, largest, n_points + 1)
    x, step = (edges[1:] + edges[:-1]) / 2, edges[1]

    def weight(points: np.ndarray) -> np.ndarray:
        y = np.sinh(points)
        return y * (1 + y * y) ** ((inputs - 2) / 2) * np.exp(-(inputs - 1) * y * y / 2)

    point_weights, edge_weights = weight(x), weight(edges[1:-1])
    outflow = (np.append(edge_weights, 0.0) + np.insert(edge_weights, 0, 0.0)) / (2 * step**2 * point_weights)
    diagonal = ((inputs - 1) * np.sinh(x) ** 2 - 2) / 2 - outflow
    return (
        x,
        np.sqrt(point_weights),
        diagonal,
        edge_weights / (2 * step**2 * np.sqrt(point_weights[1:] * point_weights[:-1])),
    )


def commutator_mean_limit() -> float:
    """Return the limit of the mean of |e|, e the nonzero entry of a commutator [w_i, a], for d = 2: 0.482.

    Weighted by the martingale D = det W, x drifts by tanh x more and sinh x settles to y sqrt(1 + y^2) exp(-y^2 / 2);
    the mean of r tends to that of tanh x under this weight, and (e_1, e_2) points uniformly in all directions,
    which gives the factor 2 / pi. The mean of tanh x = y / sqrt(1 + y^2) is e^{-1/2} Gamma(3/2) / Gamma(3/2, 1/2).
    """
    return float(2 / (np.pi * np.sqrt(np.e) * gammaincc(1.5, 0.5)))
