"""Lyapunov exponents of dW = D dB a^T, da = W^T D dB: all d + 1 directions of (W, a), along long compiled paths.

As a Stratonovich equation the process has the drift -diag(D_1^2, ..., D_d^2, |D|^2) / 2, and its noise consists of
boosts, which mix the rows of W with a; the exponential of a boost is known. A step is half a drift, a boost and half a
drift: exact for d = 1, and of first order in the step else.

With b = D dB, of length l and direction u, a step's boost is G = [[0, b], [b^T, 0]] on columns (w, a) of (W, a). G^2 is
l^2 on (u, 0) and (0, 1), and zero across, so that exp(G) maps such a column to

    w + u ((cosh l - 1) u . w + sinh l a),    cosh l a + sinh l u . w.
"""

import numba
import numpy as np


def lyapunov_sums(
    diagonal: np.ndarray, step: float, rng: np.random.Generator, *, burn_blocks: int, blocks: int, every: int
) -> np.ndarray:
    """Return the logarithmic growth of all directions of one long path, with a step and with twice the step.

    Directions are orthonormalised every `every` steps, and the logarithms of what is divided out are summed, so that
    nothing overflows: over time, the sums grow at the Lyapunov exponents. The doubled step is driven by the same
    noise, so that the difference of the two shows the scheme's error without further noise.

    Parameters
    ----------
    diagonal : ndarray, shape (d,)
        Diagonal of D; ones for equation 4.1.
    step : float
    rng : Generator
    burn_blocks, blocks : int
        How many times `every` steps are taken before the sums start, and after.
    every : int
        Steps between orthonormalisations; even.

    Returns
    -------
    ndarray, shape (2, d + 1)
        Sums with the step, and with twice the step.
    """
    noise = rng.standard_normal(((burn_blocks + blocks) * every, len(diagonal)))
    # the noise of two steps together, as standard normal numbers of a step twice as long
    coarse = (noise[::2] + noise[1::2]) / np.sqrt(2.0)
    sums = np.zeros((2, len(diagonal) + 1))
    _follow(diagonal, step, burn_blocks, every, noise, sums[0])
    _follow(diagonal, 2 * step, burn_blocks, every // 2, coarse, sums[1])
    return sums


# loops are written out, columns innermost: arrays as operands would take four times as long to compile
@numba.njit
def _follow(
    diagonal: np.ndarray, step: float, burn_blocks: int, every: int, noise: np.ndarray, sums: np.ndarray
) -> None:
    """Write the sums of one path after its first `burn_blocks` into `sums`, shape (d + 1,).

    A step is taken for each row of `noise`, shape (steps, d). The names are those of the formula above: `boost` b,
    `length` l, `stretch` cosh l - 1, `tilt` sinh l, `along` u . w of each column, `change` what multiplies b.
    """
    steps, inputs = noise.shape
    size = inputs + 1
    M = np.zeros((size, size))  # its columns are the directions (w, a) that are followed; its last row is a
    drift, boost = np.empty(size), np.empty(inputs)
    along, change = np.empty(size), np.empty(size)
    # sums and differences of coordinates: for d = 1 the directions that the process keeps, else as good as any
    for row in range(size):
        M[row, row] = 1.0
    for column in range(size // 2):
        M[size - 1 - column, column] = 1.0
        M[column, size - 1 - column] = -1.0
    # half a step of the drift multiplies rows of W by exp(-D_i^2 step / 4), and a by exp(-|D|^2 step / 4)
    total = 0.0
    for row in range(inputs):
        drift[row] = np.exp(-0.25 * step * diagonal[row] ** 2)
        total += diagonal[row] ** 2
    drift[inputs] = np.exp(-0.25 * step * total)
    _orthonormalise(M, sums)  # only to normalise: what it adds is cleared
    _clear(sums)
    scale = np.sqrt(step)
    for count in range(steps):
        # the boost b = D dB of this step
        length = 0.0
        for row in range(inputs):
            boost[row] = scale * diagonal[row] * noise[count, row]
            length += boost[row] ** 2
        length = np.sqrt(length)
        stretch, tilt = np.cosh(length) - 1.0, np.sinh(length)
        # half a drift of W; then b . w of each column
        for column in range(size):
            along[column] = 0.0
        for row in range(inputs):
            for column in range(size):
                M[row, column] *= drift[row]
                along[column] += boost[row] * M[row, column]
        # half a drift of a, the boost of a, and half a drift again
        for column in range(size):
            along[column] /= length
            a = M[inputs, column] * drift[inputs]
            change[column] = (stretch * along[column] + tilt * a) / length
            M[inputs, column] = (a + stretch * a + tilt * along[column]) * drift[inputs]
        # the boost of W, and half a drift again
        for row in range(inputs):
            for column in range(size):
                M[row, column] = (M[row, column] + change[column] * boost[row]) * drift[row]
        if (count + 1) % every == 0:
            _orthonormalise(M, sums)
            if (count + 1) // every == burn_blocks:
                _clear(sums)


@numba.njit
def _clear(sums: np.ndarray) -> None:
    """Set all sums to zero."""
    for column in range(len(sums)):
        sums[column] = 0.0


@numba.njit
def _orthonormalise(M: np.ndarray, sums: np.ndarray) -> None:
    """Orthonormalise the columns of `M` in place, and add the logarithms of what they are divided by to `sums`."""
    size = len(M)
    for column in range(size):
        # by Gram and Schmidt: less its parts along the columns before
        for earlier in range(column):
            overlap = 0.0
            for row in range(size):
                overlap += M[row, column] * M[row, earlier]
            for row in range(size):
                M[row, column] -= overlap * M[row, earlier]
        length = 0.0
        for row in range(size):
            length += M[row, column] ** 2
        length = np.sqrt(length)
        sums[column] += np.log(length)
        for row in range(size):
            M[row, column] /= length
