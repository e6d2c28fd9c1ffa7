"""The process that label noise alone drives, dW = dB a^T, da = W^T dB (Varre et al. 2023, eq. 4.1).

It is linear in (W, a): with the rows of W above a^T as one matrix M of shape (d + 1, d), it is
dM = sum_j dB_j A_j M, where A_j swaps row j with the last and clears all others. `simulate` is the Euler-Maruyama
method, compiled, in batches of a fixed size, so that working memory depends on neither the number of paths nor that of
steps.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from learning_dynamics.dynamics.compilation import compiled
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators

# paths in one batch, and steps whose noise is drawn at once; part of what fixes the random draws, so no settings
BATCH, NOISE_STEPS = 4096, 4
Schedule = Literal["constant", "inverse square root"]


def step_sizes(schedule: Schedule, step: float, horizon: float) -> np.ndarray:
    """Return the steps of a schedule, the last one cut so that they add up to `horizon`.

    ``constant`` takes steps of `step`; ``inverse square root`` makes the k-th step, from k = 1,
    ``step / sqrt(k)``.
    """
    if schedule == "constant":
        # rounding of a horizon that is a whole number of steps adds no further step
        sizes = np.full(int(np.ceil(horizon / step - 1e-9)), step)
    else:
        # the sum of 1/sqrt(k) up to K exceeds 2 sqrt(K + 1) - 2
        count = int(np.ceil((horizon / (2 * step) + 1) ** 2))
        sizes = step / np.sqrt(np.arange(1, count + 1))
        # rounding of the sum adds no further step either
        sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), horizon * (1 - 1e-12))) + 1]
    sizes[-1] -= sizes.sum() - horizon
    return sizes


def simulate(
    inputs: int, paths: int, sizes: np.ndarray, recorded_steps: np.ndarray, *, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Simulate paths from W(0) = I, a(0) = 0.

    Parameters
    ----------
    inputs, paths : int
        Dimension d, and number of paths.
    sizes : ndarray, shape (steps,)
        Step sizes.
    recorded_steps : ndarray of int, strictly ascending
        After how many steps to record; 0 is the start.
    seed : int

    Returns
    -------
    W : ndarray, shape (paths, records, d, d)
    a : ndarray, shape (paths, records, d)
    average : ndarray, shape (paths, records, d)
        The exponential moving average e^{-t} int_0^t e^s a(s) ds.
    """
    W = np.empty((paths, len(recorded_steps), inputs, inputs))
    a, average = np.empty((paths, len(recorded_steps), inputs)), np.empty((paths, len(recorded_steps), inputs))
    batches = range(0, paths, BATCH)
    rngs = generators(seed, "noise_process.paths", len(batches))
    for start, rng in progress(list(zip(batches, rngs, strict=True)), "noise process"):
        batch = slice(start, min(start + BATCH, paths))
        states = _batch(inputs, batch.stop - start, sizes, recorded_steps, rng=rng)
        for column, (batch_W, batch_a, batch_average) in enumerate(states):
            W[batch, column] = np.moveaxis(batch_W, -1, 0)
            a[batch, column] = batch_a.T
            average[batch, column] = batch_average.T
    return W, a, average


def _batch(
    inputs: int, paths: int, sizes: np.ndarray, recorded_steps: np.ndarray, *, rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield W, a and the moving average at the recorded steps, paths along the last axis.

    Later steps overwrite the arrays that are yielded.
    """
    W = np.repeat(np.eye(inputs)[:, :, None], paths, axis=2)
    a, average = np.zeros((inputs, paths)), np.zeros((inputs, paths))
    steps_to_record = set(recorded_steps.tolist())
    if 0 in steps_to_record:
        yield W, a, average
    for count, size in enumerate(sizes, start=1):
        noise_index = (count - 1) % NOISE_STEPS
        if noise_index == 0:
            noise = standard_normals(rng, (min(NOISE_STEPS, len(sizes) + 1 - count), inputs, paths))
        _step(W, a, average, noise[noise_index], size)
        if count in steps_to_record:
            yield W, a, average


def standard_normals(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return standard normal numbers, drawn by Box and Muller in pairs: a radius and a direction in the plane.

    Radii are of double precision, and as large as they come; directions are of single precision, 2^24 of them, so that
    second moments are one to 3e-8. Takes half the time of `Generator.standard_normal`.
    """
    count = int(np.prod(shape))
    radius = rng.standard_exponential((count + 1) // 2)
    np.sqrt(2 * radius, out=radius)
    angle = np.float32(2 * np.pi) * rng.random(len(radius), dtype=np.float32)
    normal = np.empty((2, len(radius)))
    np.multiply(radius, np.cos(angle), out=normal[0])
    np.multiply(radius, np.sin(angle), out=normal[1])
    return normal.ravel()[:count].reshape(shape)


# paths are the innermost of each loop, so that several are moved by one instruction
@compiled("void(float64[:,:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64)")
def _step(W: np.ndarray, a: np.ndarray, average: np.ndarray, noise: np.ndarray, size: float) -> None:
    """Move W, a and the moving average of a by a step, from where all three are; paths along the last axis."""
    inputs, paths = a.shape
    root = np.sqrt(size)
    for i in range(inputs):
        change = np.zeros(paths)
        for path in range(paths):
            average[i, path] += size * (a[i, path] - average[i, path])
        for j in range(inputs):
            for path in range(paths):
                dB = root * noise[j, path]
                change[path] += W[j, i, path] * dB
                W[j, i, path] += dB * a[i, path]
        for path in range(paths):
            a[i, path] += change[path]
