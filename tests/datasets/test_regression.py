"""Synthetic regression problems: how inputs are distributed, and that labels come from a Gaussian linear teacher."""

import numpy as np
import pytest

from learning_dynamics.datasets import regression
from learning_dynamics.errors import ProjectError


def gaussian(*, samples=3, seeds, seed):
    return regression.gaussian(samples=samples, inputs=4, outputs=2, seeds=seeds, seed=seed)


def conditioned(*, samples=3, seeds, seed):
    return regression.conditioned(samples=samples, inputs=4, outputs=2, condition=4.0, seeds=seeds, seed=seed)


EVERY = pytest.mark.parametrize("draw", [gaussian, conditioned])
MANY = 400  # samples


def test_gaussian_inputs_have_the_identity_as_mean_second_moment():
    X = gaussian(samples=MANY, seeds=5, seed=1)["X"]  # shape (seeds, samples, inputs)
    # an entry of X^T X averages as many products, of variance 1, on the diagonal 2: four standard errors
    np.testing.assert_allclose(np.swapaxes(X, 1, 2) @ X, [np.eye(4)] * 5, rtol=0, atol=4 * np.sqrt(2 / MANY))


def test_conditioned_inputs_have_the_singular_values_asked_for():
    values = np.linalg.svd(conditioned(seeds=2, seed=0)["X"], compute_uv=False)
    # the norm of a rounding of each of 3 by 4 entries below 1, in X and in its decomposition
    np.testing.assert_allclose(values, [[1.0, 0.5, 0.25]] * 2, rtol=0, atol=2 * np.sqrt(12) * np.finfo(float).eps)


def test_more_samples_than_inputs_have_no_such_singular_values_and_are_refused():
    with pytest.raises(ProjectError, match="6 samples exceed 4 inputs; take at most as many samples"):
        conditioned(samples=6, seeds=1, seed=0)


def test_labels_are_linear_in_the_inputs():
    # conditioned inputs are independent, so that any labels are linear in them
    data = gaussian(samples=MANY, seeds=5, seed=1)
    X, Y = data["X"], data["Y"]
    # the projection sums one product below 1 for each sample: as many roundings
    np.testing.assert_allclose(X @ (np.linalg.pinv(X) @ Y), Y, rtol=0, atol=MANY * np.finfo(float).eps)


@EVERY
def test_the_teacher_is_standard_normal(draw):
    seeds = 100
    data = draw(seeds=seeds, seed=1)
    left, values, _ = np.linalg.svd(data["X"], full_matrices=False)
    # the teacher along each singular vector of the inputs, shape (seeds, vectors, outputs)
    teacher = np.swapaxes(left, 1, 2) @ data["Y"] / values[:, :, None]
    # four standard errors of the mean, and of the mean square
    np.testing.assert_allclose(teacher.mean(axis=0), 0.0, rtol=0, atol=4 / np.sqrt(seeds))
    np.testing.assert_allclose((teacher**2).mean(axis=0), 1.0, rtol=0, atol=4 * np.sqrt(2 / seeds))


@EVERY
@pytest.mark.parametrize("array", ["X", "Y"])
def test_a_member_does_not_depend_on_how_many_there_are(draw, array):
    few, many = draw(seeds=2, seed=5), draw(seeds=6, seed=5)
    np.testing.assert_array_equal(few[array], many[array][:2])


@EVERY
@pytest.mark.parametrize("array", ["X", "Y"])
def test_members_differ(draw, array):
    first, second = draw(seeds=2, seed=5)[array]
    assert not np.allclose(first, second)


@EVERY
@pytest.mark.parametrize("array", ["X", "Y"])
def test_another_seed_draws_other_members(draw, array):
    assert not np.allclose(draw(seeds=1, seed=5)[array], draw(seeds=1, seed=6)[array])
