"""The process that label noise alone drives, dW = dB a^T, da = W^T dB (Varre et al. 2023, eq. 4.1).

It is linear in W and a together. Let M, of shape (d + 1, d), have the rows of W and then a^T as the last row. Then
dM = sum_j dB_j A_j M, where A_j swaps row j of M with the last and clears all others. `simulate` is the Euler-Maruyama
method, compiled. It takes paths in batches of a fixed size, so that working memory depends neither on the number of
paths nor on that of steps.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from learning_dynamics.dynamics.compilation import compiled
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators

# paths in one batch, and steps whose noise is drawn at once. Other numbers would give other random numbers to a path:
# they are part of the method, so no settings
BATCH, NOISE_STEPS = 4096, 4
Schedule = Literal["constant", "inverse square root"]


def step_sizes(schedule: Schedule, step: float, horizon: float) -> np.ndarray:
    """Return the step sizes of a schedule, shape (steps,), the last one cut so that they add up to `horizon`.

    With ``constant`` each is `step`; with ``inverse square root`` the k-th, from k = 1, is ``step / sqrt(k)``.
    """
    if schedule == "constant":
        # 1e-9: where the horizon is a whole number of steps, rounding must not add one
        sizes = np.full(int(np.ceil(horizon / step - 1e-9)), step)
    else:
        # enough steps: the sum of 1/sqrt(k) up to K exceeds 2 sqrt(K + 1) - 2, for this K at least horizon / step
        count = int(np.ceil((horizon / (2 * step) + 1) ** 2))
        sizes = step / np.sqrt(np.arange(1, count + 1))
        # the steps up to the first that reaches the horizon. 1e-12: rounding of the sum must not add one either
        sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), horizon * (1 - 1e-12))) + 1]
    sizes[-1] -= sizes.sum() - horizon
    return sizes


def simulate(
    inputs: int, paths: int, sizes: np.ndarray, recorded_steps: np.ndarray, *, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Simulate paths from W(0) = I, a(0) = 0, and return their states at the recorded steps.

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
    """Yield W, shape (d, d, paths), and a and its moving average, shape (d, paths), at each recorded step.

    Later steps overwrite the arrays that are yielded: read them before the next.
    """
    W = np.repeat(np.eye(inputs)[:, :, None], paths, axis=2)
    a, average = np.zeros((inputs, paths)), np.zeros((inputs, paths))
    steps_to_record = set(recorded_steps.tolist())
    if 0 in steps_to_record:
        yield W, a, average
    for count, size in enumerate(sizes, start=1):
        noise_index = (count - 1) % NOISE_STEPS
        if noise_index == 0:
            # of the next steps, or of those that are left: shape (steps, d, paths)
            noise = standard_normals(rng, (min(NOISE_STEPS, len(sizes) + 1 - count), inputs, paths))
        _step(W, a, average, noise[noise_index], size)
        if count in steps_to_record:
            yield W, a, average


def standard_normals(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return standard normal numbers, drawn in pairs by the method of Box and Muller.

    A pair has a random radius and a random direction in the plane. Radii are of double precision, and not bounded.
    Directions are of single precision, one of 2^24, so that second moments are one to 3e-8. This takes half the time of
    `Generator.standard_normal`.
    """
    count = int(np.prod(shape))
    radius = rng.standard_exponential((count + 1) // 2)
    np.sqrt(2 * radius, out=radius)
    angle = np.float32(2 * np.pi) * rng.random(len(radius), dtype=np.float32)
    normal = np.empty((2, len(radius)))
    np.multiply(radius, np.cos(angle), out=normal[0])
    np.multiply(radius, np.sin(angle), out=normal[1])
    return normal.ravel()[:count].reshape(shape)


# loops over paths are the innermost, so that one instruction moves several paths
@compiled("void(float64[:,:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64)")
def _step(W: np.ndarray, a: np.ndarray, average: np.ndarray, noise: np.ndarray, size: float) -> None:
    """Move W, a and the moving average of a by one step in place; each moves from the values before the step.

    Paths are along the last axis: W has the shape (d, d, paths), a, average and noise (d, paths).
    """
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
