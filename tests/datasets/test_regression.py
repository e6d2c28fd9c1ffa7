"""Synthetic regression problems."""

import numpy as np
import pytest

from learning_dynamics.datasets import regression
from learning_dynamics.datasets.regression import gaussian
from learning_dynamics.errors import ProjectError


def test_labels_come_from_a_linear_teacher_and_inputs_have_unit_variance():
    data = gaussian(samples=400, inputs=3, outputs=2, seeds=5, seed=1)
    X, Y = data["X"], data["Y"]
    np.testing.assert_allclose(X @ (np.linalg.pinv(X) @ Y), Y, atol=1e-12)
    second = np.swapaxes(X, 1, 2) @ X
    # entries of X^T X average 400 products of unit variance: standard error 0.05 to 0.07, four of them
    np.testing.assert_allclose(second, np.broadcast_to(np.eye(3), second.shape), atol=0.3)


def test_a_member_depends_on_the_seed_and_not_on_how_many_there_are():
    few = gaussian(samples=3, inputs=4, outputs=2, seeds=2, seed=5)
    many = gaussian(samples=3, inputs=4, outputs=2, seeds=6, seed=5)
    np.testing.assert_array_equal(few["Y"], many["Y"][:2])
    assert not np.allclose(few["X"], gaussian(samples=3, inputs=4, outputs=2, seeds=2, seed=6)["X"])


def test_conditioned_inputs_have_the_singular_values_asked_for_and_no_more_samples_than_inputs():
    data = regression.conditioned(samples=3, inputs=5, outputs=2, condition=4.0, seeds=2, seed=0)
    values = np.linalg.svd(data["X"], compute_uv=False)
    np.testing.assert_allclose(values, [[1.0, 0.5, 0.25]] * 2, rtol=1e-12)
    with pytest.raises(ProjectError, match="exceed"):
        regression.conditioned(samples=6, inputs=5, outputs=2, condition=4.0, seeds=1, seed=0)
