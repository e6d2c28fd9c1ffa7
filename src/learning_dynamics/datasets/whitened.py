"""Linear regression on whitened data, X^T X = I."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed


def orthogonal(*, inputs: Count, outputs: Count, seeds: Count, seed: Seed) -> dict[str, np.ndarray]:
    """As many orthonormal samples as inputs, with labels of a Gaussian linear teacher.

    Returns
    -------
    dict
        X, shape (seeds, inputs, inputs), uniform on the orthogonal group; Y, shape (seeds, inputs, outputs).
    """
    X = np.empty((seeds, inputs, inputs))
    Y = np.empty((seeds, inputs, outputs))
    for member, rng in enumerate(generators(seed, "whitened.orthogonal", seeds)):
        X[member] = haar(rng, inputs)
        Y[member] = X[member] @ rng.standard_normal((inputs, outputs))
    return {"X": X, "Y": Y}


def spectrum(
    *, inputs: Count, teacher_singular_values: list[Positive], seeds: Count, seed: Seed
) -> dict[str, np.ndarray]:
    """As many orthonormal samples as inputs, with labels of a teacher of given singular values.

    The teacher's singular vectors are uniform.

    Returns
    -------
    dict
        X, shape (seeds, inputs, inputs); Y, shape (seeds, inputs, outputs), with one output for each
        singular value.

    Raises
    ------
    ProjectError
        If there are more singular values than inputs: the teacher, of `inputs` rows, has at most so many.
    """
    outputs = len(teacher_singular_values)
    if outputs > inputs:
        raise ProjectError(f"{outputs} teacher_singular_values exceed {inputs} inputs; give at most as many")
    X = np.empty((seeds, inputs, inputs))
    Y = np.empty((seeds, inputs, outputs))
    for member, rng in enumerate(generators(seed, "whitened.spectrum", seeds)):
        X[member] = haar(rng, inputs)
        left, right = haar(rng, inputs)[:, :outputs], haar(rng, outputs)
        Y[member] = X[member] @ (left * teacher_singular_values) @ right.T
    return {"X": X, "Y": Y}


def haar(rng: np.random.Generator, size: int) -> np.ndarray:
    """Return an orthogonal matrix, uniform on the orthogonal group."""
    Q, R = np.linalg.qr(rng.standard_normal((size, size)))
    return Q * np.sign(np.diag(R))
