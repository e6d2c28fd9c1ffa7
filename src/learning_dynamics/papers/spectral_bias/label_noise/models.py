"""Gradient descent on two-layer linear networks, plain or with label noise that is drawn afresh at each step."""

import numpy as np

# Steps whose noise is drawn at once. The random numbers do not depend on it, so it is not a setting
NOISE_STEPS = 256


def descend(
    W1: np.ndarray,
    W2: np.ndarray,
    X: np.ndarray,
    Y: np.ndarray,
    *,
    step: float,
    steps: int,
    every: int,
    noise: float,
    rngs: list[np.random.Generator],
    shared: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Take `steps` steps of (label-noise) gradient descent on 1/2 ||X W1 W2 - Y||_F^2, for all members at once.

    Each step draws a standard Gaussian eps, and moves both layers down the gradient at the labels Y + noise * eps: W1
    by ``step * X^T r W2^T`` and W2 by ``step * W1^T X^T r`` with ``r = Y + noise * eps - X W1 W2``, both from the
    layers before the step (Varre et al. 2023, appendix D).

    Parameters
    ----------
    W1, W2 : ndarray, shapes (members, inputs, width), (members, width, outputs)
        Where to start; left unchanged.
    X, Y : ndarray, shapes (members, samples, inputs), (members, samples, outputs)
    step, steps, every : float, int, int
        Step size, number of steps, and how many steps are between records, from step 0 on.
    noise : float
        Standard deviation of the label noise; 0 is gradient descent.
    rngs : list of Generator
        One for each member; with `shared` one is enough, and without noise none is needed.
    shared : bool
        Take the noise of all members from the first generator, one block of `NOISE_STEPS` steps after another.

    Returns
    -------
    tuple of ndarray, shapes (members, records, inputs, width), (members, records, width, outputs)
        Both layers at the recorded steps, of which there are steps // every + 1.
    """
    members, records = len(X), steps // every + 1
    W1, W2 = W1.copy(), W2.copy()
    recorded_W1 = np.empty((members, records, *W1.shape[1:]))
    recorded_W2 = np.empty((members, records, *W2.shape[1:]))
    XT = np.ascontiguousarray(np.swapaxes(X, -1, -2))
    labels = np.empty((0, *Y.shape))
    for count in range(steps + 1):
        if count % every == 0:
            recorded_W1[:, count // every], recorded_W2[:, count // every] = W1, W2
        # labels of the next NOISE_STEPS steps, shape (steps, members, samples, outputs)
        if noise and count % NOISE_STEPS == 0:
            if shared:
                normals = rngs[0].standard_normal((min(NOISE_STEPS, steps + 1 - count), *Y.shape))
            else:
                normals = np.stack([rng.standard_normal((NOISE_STEPS, *Y.shape[1:])) for rng in rngs], axis=1)
            labels = Y + noise * normals
        target = labels[count % NOISE_STEPS] if noise else Y
        R = XT @ (target - X @ (W1 @ W2))
        # W1 moves last, so that W2 moves from W1 before the step
        change = step * R @ np.swapaxes(W2, -1, -2)
        W2 += step * np.swapaxes(W1, -1, -2) @ R
        W1 += change
    return recorded_W1, recorded_W2
