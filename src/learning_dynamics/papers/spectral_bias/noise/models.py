"""The process that label noise alone drives, dW = dB a^T, da = W^T dB (Varre et al. 2023, eq. 4.1).

It is linear in (W, a): with the rows of W above a^T as one matrix M of shape (d + 1, d), it is
dM = sum_j dB_j A_j M, where A_j swaps row j with the last. `simulate` is the Euler-Maruyama method, in batches of a
fixed size, so that working memory depends on neither the number of paths nor that of steps.
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
