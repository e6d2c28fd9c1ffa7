"""Linear regression problems with a known teacher."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed


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


def conditioned(
    *, samples: Count, inputs: Count, outputs: Count, condition: Positive, seeds: Count, seed: Seed
) -> dict[str, np.ndarray]:
    """Inputs with singular values from 1 to 1 / condition and random singular vectors, labels of a Gaussian teacher.

    The singular values are evenly spaced on a logarithmic scale; both sets of singular vectors are uniform but for
    their signs, which the QR decomposition sets.

    Returns
    -------
    dict
        X, shape (seeds, samples, inputs); Y, shape (seeds, samples, outputs).

    Raises
    ------
    ProjectError
        If there are more samples than inputs: X would have fewer than `samples` singular values.
    """
    if samples > inputs:
        raise ProjectError(f"{samples} samples exceed {inputs} inputs; take at most as many samples")
    X = np.empty((seeds, samples, inputs))
    Y = np.empty((seeds, samples, outputs))
    for member, rng in enumerate(generators(seed, "regression.conditioned", seeds)):
        # shapes (samples, samples) and (inputs, samples)
        left, right = (np.linalg.qr(rng.standard_normal((size, samples)))[0] for size in (samples, inputs))
        X[member] = (left * np.geomspace(1.0, 1.0 / condition, samples)) @ right.T
        Y[member] = X[member] @ rng.standard_normal((inputs, outputs))
    return {"X": X, "Y": Y}
