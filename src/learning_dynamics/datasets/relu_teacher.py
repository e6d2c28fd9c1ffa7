"""Regression problems whose labels come from a small ReLU network."""

from typing import Literal

import numpy as np

from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Natural, Seed


def gaussian(
    *,
    samples: Count,
    inputs: Count,
    neurons: Count,
    output_weights: Literal["gaussian", "one"],
    seeds: Count,
    skipped: Natural = 0,
    seed: Seed,
) -> dict[str, np.ndarray]:
    """Gaussian inputs, with labels of a ReLU network of Gaussian hidden weights.

    Every neuron of the teacher sees every sample. Output weights are Gaussian, or all one.

    Parameters
    ----------
    skipped : int
        How many draws of the seed are left out, so that two data sets of one seed share none.

    Returns
    -------
    dict
        X, shape (seeds, samples, inputs); y, shape (seeds, samples); teacher_W, shape
        (seeds, neurons, inputs), and teacher_a, shape (seeds, neurons).
    """
    X = np.empty((seeds, samples, inputs))
    W, a = np.empty((seeds, neurons, inputs)), np.ones((seeds, neurons))
    for member, rng in enumerate(generators(seed, "relu_teacher.gaussian", skipped + seeds)[skipped:]):
        X[member] = rng.standard_normal((samples, inputs))
        W[member] = rng.standard_normal((neurons, inputs))
        if output_weights == "gaussian":
            a[member] = rng.standard_normal(neurons)
    y = (np.maximum(X @ np.swapaxes(W, -1, -2), 0.0) @ a[..., None])[..., 0]
    return {"X": X, "y": y, "teacher_W": W, "teacher_a": a}
