"""Lyapunov exponents of dW = D dB a^T, da = W^T D dB, with a diagonal matrix D, along long compiled paths.

(W, a) is the matrix of shape (d + 1, d) with the rows of W and a as the last one. Lyapunov exponents are the almost
sure growth rates of its d + 1 directions. As a Stratonovich equation the process has the drift
-diag(D_1^2, ..., D_d^2, |D|^2) / 2, and its noise consists of boosts, which mix the rows of W with a. The exponential
of a boost is known. A step is half a drift, a boost and half a drift. This is exact for d = 1, and of first order in
the step for larger d.

A column of (W, a) is (w, a), with d entries w and one entry a. With b = D dB, of length l and direction u, a step's
boost is the matrix G = [[0, b], [b^T, 0]] on such columns. G^2 is l^2 on the span of (u, 0) and (0, 1), and zero across
it, so that exp(G) maps a column to

    w + u ((cosh l - 1) u . w + sinh l a),    cosh l a + sinh l u . w.
"""

import numba
import numpy as np


def lyapunov_sums(
    diagonal: np.ndarray, step: float, rng: np.random.Generator, *, burn_blocks: int, blocks: int, every: int
) -> np.ndarray:
    """Return the logarithmic growth of all directions of one long path, with a step and with twice the step.

    Directions are orthonormalised every `every` steps, so that nothing overflows, and the logarithms of the lengths by
    which they are divided are summed. Over a long time these sums grow at the Lyapunov exponents. The doubled step is
    driven by the same noise, so that the difference of the two results shows the scheme's error without further noise.

    Parameters
    ----------
    diagonal : ndarray, shape (d,)
        Diagonal of D; ones for equation 4.1.
    step : float
    rng : Generator
    burn_blocks, blocks : int
        How many blocks of `every` steps are taken before the sums start, and how many after.
    every : int
        Steps between orthonormalisations; even, as half of them are taken where the step is doubled.

    Returns
    -------
    ndarray, shape (2, d + 1)
        Sums with the step, and with twice the step; directions that grow fastest come first.
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
    """Write the sums of one path over the blocks after its first `burn_blocks` into `sums`, shape (d + 1,).

    A step is taken for each row of `noise`, shape (steps, d). In terms of the module's formula, `boost` is b, `length`
    is l, `stretch` is cosh l - 1, and `tilt` is sinh l. Of each column, `along` is u . w, and `change` times b is what
    the boost adds to w.
    """
    steps, inputs = noise.shape
    size = inputs + 1
    M = np.zeros((size, size))  # its columns are the d + 1 directions (w, a) that are followed; its last row has each a
    drift, boost = np.empty(size), np.empty(inputs)
    along, change = np.empty(size), np.empty(size)
    # first directions: sums and differences of coordinates. For d = 1 the process keeps these; for larger d any do
    for row in range(size):
        M[row, row] = 1.0
    for column in range(size // 2):
        M[size - 1 - column, column] = 1.0
        M[column, size - 1 - column] = -1.0
    # drift over half a step multiplies the i-th row of W by exp(-D_i^2 step / 4), and a by exp(-|D|^2 step / 4)
    total = 0.0
    for row in range(inputs):
        drift[row] = np.exp(-0.25 * step * diagonal[row] ** 2)
        total += diagonal[row] ** 2
    drift[inputs] = np.exp(-0.25 * step * total)
    _orthonormalise(M, sums)  # for unit columns; what it adds to the sums is cleared
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
        # half a drift of W; then `along` is b . w of each column, and u . w once it is divided by the length
        for column in range(size):
            along[column] = 0.0
        for row in range(inputs):
            for column in range(size):
                M[row, column] *= drift[row]
                along[column] += boost[row] * M[row, column]
        # of a: half a drift, the boost, and half a drift again
        for column in range(size):
            along[column] /= length
            a = M[inputs, column] * drift[inputs]
            change[column] = (stretch * along[column] + tilt * a) / length
            M[inputs, column] = (a + stretch * a + tilt * along[column]) * drift[inputs]
        # of W: the boost, and half a drift again
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
    """Orthonormalise the columns of `M` in place, and add the logarithm of the length of each to its entry of `sums`.

    The length is that by which the column is divided, once the columns before it are projected out.
    """
    size = len(M)
    for column in range(size):
        # by Gram and Schmidt: take away its parts along the columns before it
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
