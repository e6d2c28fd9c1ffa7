"""The noise-driven process of label noise, dW = dB a^T, da = W^T dB, by the Euler-Maruyama method.

The process is linear in (W, a): with the rows of W above a^T as one matrix M of shape (d + 1, d), it is
dM = sum_j dB_j A_j M, where A_j swaps row j with the last (Varre et al. 2023, eq. 4.1). Paths are simulated
in batches of a fixed size, so that working memory depends on neither their number nor the number of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators

# paths in one batch; part of what fixes the random draws, so not a setting
BATCH = 4096
Schedule = Literal["constant", "inverse square root"]


def step_sizes(schedule: Schedule, step: float, horizon: float) -> np.ndarray:
    """Return the steps of a schedule, the last one cut so that they add up to `horizon`.

    ``constant`` takes steps of `step`; ``inverse square root`` makes the k-th step, from k = 1,
    ``step / sqrt(k)``.
    """
    if schedule == "constant":
        sizes = np.full(int(np.ceil(horizon / step - 1e-9)), step)
    else:
        # the sum of 1/sqrt(k) up to K exceeds 2 sqrt(K + 1) - 2
        count = int(np.ceil((horizon / (2 * step) + 1) ** 2))
        sizes = step / np.sqrt(np.arange(1, count + 1))
        sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), horizon * (1 - 1e-12))) + 1]
    sizes[-1] -= sizes.sum() - horizon
    return sizes


def simulate(
    inputs: int, paths: int, sizes: np.ndarray, record: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Simulate paths from W(0) = I, a(0) = 0.

    Parameters
    ----------
    inputs, paths : int
        Dimension d, and number of paths.
    sizes : ndarray, shape (steps,)
        Step sizes.
    record : ndarray of int, strictly ascending
        After how many steps to record; 0 is the start.
    seed : int

    Returns
    -------
    W : ndarray, shape (paths, records, d, d)
    a : ndarray, shape (paths, records, d)
    average : ndarray, shape (paths, records, d)
        The exponential moving average e^{-t} int_0^t e^s a(s) ds.

    Raises
    ------
    ValueError
        If `record` repeats a step, or names one beyond the last.
    """
    if (np.diff(record) <= 0).any() or record[-1] > len(sizes):
        raise ValueError(f"records must ascend strictly and end by step {len(sizes)}; got {record}")
    W = np.empty((paths, len(record), inputs, inputs))
    a, average = np.empty((paths, len(record), inputs)), np.empty((paths, len(record), inputs))
    batches = range(0, paths, BATCH)
    rngs = generators(seed, "noise_process.paths", len(batches))
    for start, rng in progress(list(zip(batches, rngs, strict=True)), "noise process"):
        batch = slice(start, min(start + BATCH, paths))
        states = _batch(inputs, batch.stop - start, sizes, record, rng)
        for column, (batch_W, batch_a, batch_average) in enumerate(states):
            W[batch, column] = np.moveaxis(batch_W, -1, 0)
            a[batch, column] = batch_a.T
            average[batch, column] = batch_average.T
    return W, a, average


def _batch(
    inputs: int, paths: int, sizes: np.ndarray, record: np.ndarray, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield W, a and the moving average at the recorded steps, paths along the last axis."""
    W = np.repeat(np.eye(inputs)[:, :, None], paths, axis=2)
    a, average = np.zeros((inputs, paths)), np.zeros((inputs, paths))
    wanted = set(record.tolist())
    if 0 in wanted:
        yield W, a, average
    for count, size in enumerate(sizes, start=1):
        dB = np.sqrt(size) * rng.standard_normal((inputs, paths))
        change = np.einsum("jip,jp->ip", W, dB)
        average += size * (a - average)
        W += dB[:, None] * a[None]
        a += change
        if count in wanted:
            yield W, a, average


def log_growth(inputs: int, paths: int, step: float, steps: int, records: int, every: int, seed: int) -> np.ndarray:
    """Logarithmic growth of the first column of M, and of the area of its first two, along long paths.

    The columns are orthonormalised every `every` steps and the logarithms of what was divided out are
    summed, so that nothing overflows: over time, the sums grow at the largest Lyapunov exponent, and at the
    sum of the two largest.

    Returns
    -------
    ndarray, shape (paths, records, 2)
        At `records` equally spaced times, the last of them ``steps * step``; `steps` must be a multiple of
        ``records * every``.
    """
    if steps % (records * every):
        raise ValueError(f"{steps} steps are not a multiple of {records} records of {every} steps")
    (rng,) = generators(seed, "noise_process.lyapunov", 1)
    W = np.repeat(np.eye(inputs)[:, :2, None], paths, axis=2)
    a = np.zeros((2, paths))
    growth, sums = np.empty((paths, records, 2)), np.zeros((2, paths))
    spacing = steps // records
    for count in range(1, steps + 1):
        dB = np.sqrt(step) * rng.standard_normal((inputs, paths))
        change = np.einsum("jip,jp->ip", W, dB)
        W += dB[:, None] * a[None]
        a += change
        if count % every == 0:
            sums += _orthonormalise(W, a)
        if count % spacing == 0:
            growth[:, count // spacing - 1] = np.cumsum(sums, axis=0).T
    return growth


def _orthonormalise(W: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Gram-Schmidt on the two columns of [W; a], in place; return the logarithms of the lengths, shape (2, paths)."""
    first = np.sqrt((W[:, 0] ** 2).sum(axis=0) + a[0] ** 2)
    W[:, 0] /= first
    a[0] /= first
    overlap = (W[:, 0] * W[:, 1]).sum(axis=0) + a[0] * a[1]
    W[:, 1] -= overlap * W[:, 0]
    a[1] -= overlap * a[0]
    second = np.sqrt((W[:, 1] ** 2).sum(axis=0) + a[1] ** 2)
    W[:, 1] /= second
    a[1] /= second
    return np.log(np.stack([first, second]))
