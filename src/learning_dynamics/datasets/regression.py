"""Linear regression problems with a known teacher."""

from __future__ import annotations

import numpy as np

from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Seed


def gaussian(*, samples: Count, inputs: Count, outputs: Count, seeds: Count, seed: Seed) -> dict[str, np.ndarray]:
    """Gaussian inputs with labels of a Gaussian linear teacher, rescaled by 1/sqrt(samples).

    The rescaling absorbs the average over samples, as in Varre et al. 2023, below eq. (2.2).

    Returns
    -------
    dict
        X, shape (seeds, samples, inputs); Y, shape (seeds, samples, outputs).
    """
    X = np.empty((seeds, samples, inputs))
    Y = np.empty((seeds, samples, outputs))
    for member, rng in enumerate(generators(seed, "regression.gaussian", seeds)):
        X[member] = rng.standard_normal((samples, inputs)) / np.sqrt(samples)
        Y[member] = X[member] @ rng.standard_normal((inputs, outputs))
    return {"X": X, "Y": Y}
