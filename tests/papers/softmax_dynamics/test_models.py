"""Starts that are balanced and do not depend on how many there are; probabilities and losses of large logits."""

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
    # each side is a product of three factors with up to twelve rows: some tens of roundings
    np.testing.assert_allclose(left, right, rtol=0, atol=100 * np.finfo(float).eps * np.linalg.norm(left))
    assert np.linalg.norm(left) > 0


@pytest.mark.parametrize("init", ["balanced", "gaussian"])
def test_draws_of_a_cell_do_not_depend_on_how_many_there_are(init):
    _labels, states_of_two = starts.cell_states([2, 1], dimension=2, init=init, scale=0.1, seeds=2, seed=3)
    _labels, states_of_four = starts.cell_states([2, 1], dimension=2, init=init, scale=0.1, seeds=4, seed=3)
    np.testing.assert_array_equal(states_of_two, states_of_four[:2])


# exp(1e4) overflows in double precision, whose largest number is near exp(710)


def test_probabilities_of_large_logits_do_not_overflow():
    probabilities = model.softmax(np.array([[1e4, 0.0], [-1e4, 0.0]]))
    np.testing.assert_array_equal(probabilities, [[1.0, 0.0], [0.0, 1.0]])


def test_the_loss_of_large_logits_does_not_overflow():
    # one example of the first of two classes, in one dimension
    features, classifier = np.array([[1e4]]), np.array([[-1.0, 0.0]])
    labels = np.array([[1.0, 0.0]])
    # its own logit is -1e4 and the other is 0: log(1 + exp(1e4)) is 1e4
    assert model.summed_loss(features, classifier, labels, loss="cross_entropy") == pytest.approx(1e4)
