"""Exact moments and growth rates of the noise-driven process dW = dB a^T, da = W^T dB (Varre et al. 2023, eq. 4.1).

`second_moments` is the paper's (Proposition 4.1). Moments of the commutator and rates of single paths are derived here
and in docs/noise_spectrum.md. `inputs` is d, the dimension. The process starts at W(0) = I and a(0) = 0. (W, a) is the
matrix with the rows of W and a as the last one. w_i is a column of W, and a_i its entry of a, except in commutators:
there w_i is a row of W, and [w_i, a] = w_i a^T - a w_i^T. e_i = W_i1 a_2 - W_i2 a_1 is the entry of [w_i, a] in row 1
and column 2. The vector c = W_.1 a_2 - W_.2 a_1, with the first two columns of W, has the entries e_i.

One column. A column (w_i, a_i) of (W, a) keeps |w_i| > |a_i| for ever. So |w_i| = N cosh x and a_i = N sinh x with
N^2 = |w_i|^2 - a_i^2, and with a Brownian motion B

    dx = dB - (d-1)/2 sinh^2 x tanh x dt,    d log N = (d sinh^2 x - cosh^2 x) / 2 dt,

so that y = sinh x settles to the density (1 + y^2)^{(d-2)/2} exp(-(d-1) y^2 / 2), and log N grows at the mean
of ((d-1) y^2 - 1) / 2.

Two columns, for d = 2. D = det W and the entries e_i obey dD = e_1 dB_2 - e_2 dB_1, de_1 = -e_1 dt + D dB_2 and
de_2 = -e_2 dt - D dB_1. Then D is a martingale and stays above r = |(e_1, e_2)|, the length of c. With other N and x,
(D, r) = (N cosh x, N sinh x), and

    dx = dB + (cosh^3 x / (2 sinh x) - sinh x cosh x) dt,    d log N = (sinh^2 x - 2) / 2 dt.

More columns. The volumes that two and more columns span obey equations of the same kind, which give all growth rates
and the mean length of c.
"""

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.special import gammaincc


def second_moments(inputs: int, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return E|w_i|^2 for a column w_i, and E a_i^2, each of the shape of `time` (Proposition 4.1, proof of (a))."""
    root = np.sqrt(inputs)
    return np.cosh(root * time), np.sinh(root * time) / root


def euler_second_moments(inputs: int, step_sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two `second_moments` of the Euler-Maruyama scheme after each of its steps, shape (steps,) each.

    A step of size h adds d * v * h to u = E|w_i|^2, and u * h to v = E a_i^2, from u = 1 and v = 0. So it multiplies
    u + sqrt(d) v, `grown`, by 1 + sqrt(d) h, and u - sqrt(d) v, `shrunk`, by 1 - sqrt(d) h.
    """
    root = np.sqrt(inputs)
    grown, shrunk = np.cumprod(1 + root * step_sizes), np.cumprod(1 - root * step_sizes)
    return (grown + shrunk) / 2, (grown - shrunk) / (2 * root)


def commutator_second_moment(inputs: int, time: np.ndarray) -> np.ndarray:
    """Return the mean over the rows i of E e_i^2, of the shape of `time`.

    Let p be the mean over paths of the sum of the squared 2x2 minors of W in the first two columns, and q = E|c|^2 that
    of the sum of the e_i^2. Then p' = (d - 1) q and q' = 2 p - 2 q from p = 1 and q = 0. With k = sqrt(2d - 1), which
    is `root`, q is 2 e^{-t} sinh(k t) / k. The mean over rows is q / d, and grows at the rate k - 1.
    """
    root = np.sqrt(2 * inputs - 1)
    return 2 * np.exp(-time) * np.sinh(root * time) / root / inputs


def lyapunov_exponents(inputs: int) -> np.ndarray:
    """Return all almost sure growth rates of (W, a) in d dimensions, descending, shape (d + 1,).

    The first d are the rates of the singular values of W. For p <= d, the p-dimensional volume that p columns of (W, a)
    span grows at the sum of the first p rates. This sum is (d - 1 - p) / 2 times the mean of y^2 / (1 + y^2) under the
    density y^{p-1} (1 + y^2)^{(d-p-1)/2} exp(-(d-1) y^2 / 2) of y > 0. All d + 1 rates add up to -d
    (docs/noise_spectrum.md). The trapezoidal rule in ln y gives the means, exact to rounding here.
    """
    if inputs == 1:
        return np.array([-0.5, -0.5])  # W +- a = exp(+-B - t / 2)
    p = np.arange(1.0, inputs + 1)[:, None]
    # points in ln y: from where y is below rounding, e^-40 = 4e-18, to where the exponential is below it, e^-(60 + d).
    # Neighbours are apart by a fifth of the narrowest peak's width, 1 / sqrt(d): chosen, and enough for the rule to be
    # exact to rounding
    logarithm = np.arange(-40.0, 0.5 * np.log(2 * (60 + inputs) / (inputs - 1)), 0.2 / np.sqrt(inputs))
    y2 = np.exp(2 * logarithm)
    # the logarithm of the density of ln y, which is the density of y times y, shape (p, points)
    density = p * logarithm + (inputs - p - 1) / 2 * np.log1p(y2) - (inputs - 1) * y2 / 2
    density = np.exp(density - density.max(axis=1, keepdims=True))
    # lambda_1 + ... + lambda_p for p = 1, ..., d
    volumes = (inputs - 1 - p[:, 0]) / 2 * (density @ (y2 / (1 + y2))) / density.sum(axis=1)
    return np.diff(np.concatenate([[0.0], volumes, [-float(inputs)]]))


def spectrum_limit(shares: np.ndarray) -> np.ndarray:
    """Return the limit of lambda_i as d grows and i / d tends to a share: 1 / (4 sqrt(share)) - 1/2, zero at a quarter.

    It is derived in docs/noise_spectrum.md.
    """
    return 0.25 / np.sqrt(shares) - 0.5


def mean_commutator_rate(inputs: int) -> float:
    """Return the rate at which E|c|, the mean length of c, grows: 0 for d = 2, positive in more dimensions.

    It is the largest eigenvalue of the operator L f = f''/2 + m f' + ((d-1) sinh^2 x - 2) / 2 f on x > 0, with
    m = (1 - (d-1) sinh^4 x) / sinh 2x (docs/noise_spectrum.md). L is replaced by differences, whose error is of the
    order of 1e-6.
    """
    # 4000 cells: chosen for the error above; one eigenvalue alone is cheap
    _, _, diagonal, off_diagonal = _area_generator(inputs, 4000)
    last = len(diagonal) - 1
    return float(eigh_tridiagonal(diagonal, off_diagonal, eigvals_only=True, select="i", select_range=(last, last))[0])


def mean_commutator(inputs: int, time: np.ndarray) -> np.ndarray:
    """Return E|c|, the mean length of c = W_.1 a_2 - W_.2 a_1, shape (times,).

    It is f(t, x) at x = 0, where f solves the backward equation df/dt = L f from f(0, x) = sinh x, with the operator L
    in `mean_commutator_rate` (docs/noise_spectrum.md). f is expanded in the eigenfunctions of L, the modes. Errors are
    of the order of 1e-4.
    """
    # 800 cells: chosen for the error above, and fewer, as here all eigenvectors are computed
    x, root_weight, diagonal, off_diagonal = _area_generator(inputs, 800)
    rates, modes = eigh_tridiagonal(diagonal, off_diagonal)
    start = modes.T @ (root_weight * np.sinh(x))
    # The modes at x = 0, from their values at h / 2 and 3 h / 2, the centres of the first two cells, of width h. As
    # modes are even functions, f(0) = (9 f(h / 2) - f(3 h / 2)) / 8, up to terms of the order of h^4
    at_zero = (modes[:2] / root_weight[:2, None]).T @ np.array([9.0, -1.0]) / 8.0
    means = np.exp(np.multiply.outer(np.asarray(time, dtype=float), rates)) @ (start * at_zero)
    # at time zero f = sinh x, which is odd: the even modes miss its zero at x = 0
    return np.where(np.asarray(time) > 0, means, 0.0)


def _area_generator(inputs: int, n_points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the operator L of `mean_commutator_rate` by differences, as a symmetric tridiagonal matrix.

    With the stationary density w of x, up to a factor, L f = (w f')' / (2 w) + ((d-1) sinh^2 x - 2) / 2 f. At both ends
    of the interval w f' is zero. The matrix acts on sqrt(w) f, for which it is symmetric.

    Returns
    -------
    places : ndarray, shape (n_points,)
        Centres x of cells of one width.
    root_weights : ndarray, shape (n_points,)
        sqrt(w) at the centres.
    diagonal, off_diagonal : ndarray, shapes (n_points,), (n_points - 1,)
        The entries of the matrix.
    """
    # the end of the interval, where the exponential in w is exp(-45)
    largest = np.arcsinh(np.sqrt(90.0 / (inputs - 1)))
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
    """Return the limit of E|e_i| for d = 2: 0.482.

    D, r and x are those of two columns, in the module's docstring. If paths are weighted by the martingale D = det W, x
    has tanh x as a further drift, and y = sinh x settles to the density y sqrt(1 + y^2) exp(-y^2 / 2), up to a factor.
    As r = D tanh x, the mean of r tends to the mean of tanh x = y / sqrt(1 + y^2) under this density, which is
    e^{-1/2} Gamma(3/2) / Gamma(3/2, 1/2). (e_1, e_2), of length r, points uniformly in all directions, which gives the
    factor 2 / pi.
    """
    return float(2 / (np.pi * np.sqrt(np.e) * gammaincc(1.5, 0.5)))
