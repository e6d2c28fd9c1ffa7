"""Small data sets for linear models with one output: given points, regression, separable classification, sensing.

The setting `seeds` is the number of data sets, each an independent draw. They are along the first axis of all arrays
and become the members of a run's ensemble.
"""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, NonNegative, Real, Seed
from learning_dynamics.trajectories import Arrays


def given(*, points: list[list[Real]], labels: list[Real], separate: bool = False) -> Arrays:
    """Return the n points and labels of the configuration as one data set: X, (1, n, d), and y, (1, n).

    With `separate` they are n data sets of one point each: X, (n, 1, d), and y, (n, 1).
    """
    if len(points) != len(labels) or len({len(point) for point in points}) != 1:
        raise ProjectError("points and labels: give one label for each point, and points of one length")
    X, y = np.array([points], dtype=float), np.array([labels], dtype=float)
    return {"X": X.swapaxes(0, 1), "y": y.T} if separate else {"X": X, "y": y}


def regression(*, samples: Count, inputs: Count, seeds: Count, even: bool = False, seed: Seed) -> Arrays:
    """Return Gaussian inputs with independent Gaussian labels: X, (seeds, samples, inputs), and y, (seeds, samples).

    Even inputs are symmetric about their first entry, as the values of an even periodic function.
    """
    rngs = generators(seed, "points.regression", seeds)
    X = np.stack([rng.standard_normal((samples, inputs)) for rng in rngs])
    if even:
        # entries j and -j, modulo the inputs, become equal; the root of two leaves the variance of such a pair at one
        X = (X + np.roll(X[..., ::-1], 1, axis=-1)) / np.sqrt(2)
    return {"X": X, "y": np.stack([rng.standard_normal(samples) for rng in rngs])}


def separable(*, samples: Count, inputs: Count, margin: NonNegative, seeds: Count, seed: Seed) -> Arrays:
    """Return Gaussian inputs labelled by a random unit teacher and moved from its boundary by `margin`.

    Returns
    -------
    dict
        X, shape (seeds, samples, inputs); y, shape (seeds, samples), of 1 and -1.
    """
    X, y = np.empty((seeds, samples, inputs)), np.empty((seeds, samples))
    for member, rng in enumerate(generators(seed, "points.separable", seeds)):
        teacher = rng.standard_normal(inputs)
        teacher /= np.linalg.norm(teacher)
        X[member] = rng.standard_normal((samples, inputs))
        y[member] = np.where(X[member] @ teacher > 0, 1.0, -1.0)
        X[member] += margin * y[member][:, None] * teacher
    return {"X": X, "y": y}


def commuting_sensors(*, samples: Count, size: Count, seeds: Count, seed: Seed) -> Arrays:
    """Return random symmetric matrices that commute, and Gaussian labels.

    Returns
    -------
    dict
        A, shape (seeds, samples, size, size); y, shape (seeds, samples); the sensors' common eigenvectors Q,
        shape (seeds, size, size), in columns, and their eigenvalues X, shape (seeds, samples, size).
    """
    if samples > size:
        raise ProjectError(f"samples: at most {size} commuting sensors of size {size} are linearly independent")
    rngs = generators(seed, "points.commuting_sensors", seeds)
    Q = np.stack([np.linalg.qr(rng.standard_normal((size, size)))[0] for rng in rngs])
    X = np.stack([rng.standard_normal((samples, size)) for rng in rngs])
    y = np.stack([rng.standard_normal(samples) for rng in rngs])
    # A of data set m and sample s is Q_m diag(X_ms) Q_m^T
    return {"A": np.einsum("mij,msj,mkj->msik", Q, X, Q), "y": y, "Q": Q, "X": X}
