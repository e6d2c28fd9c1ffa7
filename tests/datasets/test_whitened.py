"""Whitened data: X^T X = I, and teachers with the spectra asked for."""

import numpy as np
import pytest

from learning_dynamics.datasets import whitened
from learning_dynamics.errors import ProjectError

SPECTRUM = [2.0, 1.0, 0.5]
SIZE = 5
# an orthogonal matrix is a product of as many reflections, of which each rounds once in each of as many products
ROUNDING = SIZE**2 * np.finfo(float).eps


def spectrum():
    return whitened.spectrum(inputs=SIZE, teacher_singular_values=SPECTRUM, seeds=3, seed=1)


def orthogonal():
    return whitened.orthogonal(inputs=SIZE, outputs=1, seeds=3, seed=1)


EVERY = pytest.mark.parametrize("draw", [spectrum, orthogonal])


@EVERY
def test_whitened_inputs_are_orthonormal(draw):
    X = draw()["X"]
    np.testing.assert_allclose(np.swapaxes(X, 1, 2) @ X, [np.eye(SIZE)] * 3, rtol=0, atol=ROUNDING)


@EVERY
def test_draws_differ(draw):
    X = draw()["X"]
    assert not np.allclose(X[0], X[1])


def test_the_teacher_has_the_singular_values_asked_for():
    data = spectrum()
    values = np.linalg.svd(np.swapaxes(data["X"], 1, 2) @ data["Y"], compute_uv=False)
    # three orthogonal matrices multiply the values: X, and both sets of singular vectors
    np.testing.assert_allclose(values, [SPECTRUM] * 3, rtol=0, atol=3 * max(SPECTRUM) * ROUNDING)


def test_more_singular_values_than_inputs_are_refused():
    with pytest.raises(ProjectError, match="3 teacher_singular_values exceed 2 inputs"):
        whitened.spectrum(inputs=2, teacher_singular_values=SPECTRUM, seeds=1, seed=1)
