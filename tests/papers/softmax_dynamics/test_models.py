"""Factors at the start: balance, independence of their number, large logits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts

SIZES = {"examples": st.integers(1, 12), "dimension": st.integers(1, 8), "classes": st.integers(1, 9)}


@settings(max_examples=50)
@given(**SIZES, scale=st.sampled_from([1e-8, 1e-2, 1.0]), seed=st.integers(0, 999))
def test_balanced_factors_are_balanced_for_any_sizes(examples, dimension, classes, scale, seed):
    f, W = model.balanced(np.random.default_rng(seed), examples, dimension, classes, scale=scale)
    assert f.shape == (examples, dimension)
    assert W.shape == (dimension, classes)
    left, right = f.T @ f, W @ W.T
    # a product of three factors of size up to twelve: some tens of roundings
    np.testing.assert_allclose(left, right, rtol=0, atol=100 * np.finfo(float).eps * np.linalg.norm(left))
    assert np.linalg.norm(left) > 0


@pytest.mark.parametrize("init", ["balanced", "gaussian"])
def test_draws_of_a_cell_do_not_depend_on_how_many_there_are(init):
    few, many = (starts.cell_states([2, 1], 2, init=init, scale=0.1, seeds=seeds, seed=3)[1] for seeds in (2, 4))
    np.testing.assert_array_equal(few, many[:2])


def test_large_logits_do_not_overflow():
    probabilities = model.softmax(np.array([[1e4, 0.0], [-1e4, 0.0]]))
    np.testing.assert_array_equal(probabilities, [[1.0, 0.0], [0.0, 1.0]])
    loss = model.summed_loss(np.array([[1e4]]), np.array([[-1.0, 0.0]]), np.array([[1.0, 0.0]]), "cross_entropy")
    assert loss == pytest.approx(1e4)
