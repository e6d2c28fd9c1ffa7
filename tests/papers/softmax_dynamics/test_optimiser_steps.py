"""Steps of optimisers: minibatches on average, and divergence."""

import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics import models as toy
from learning_dynamics.papers.softmax_dynamics.optimisers import Optimiser, train

COUNTS = np.array([3, 2, 1])


@pytest.fixture
def start():
    return toy.gaussian(np.random.default_rng(2), 6, 2, 3, scale=0.7)


def test_minibatch_steps_are_those_of_the_full_batch_on_average(start):
    def stepped(batch: int, draws: int) -> np.ndarray:
        course = train(COUNTS, *start, Optimiser(0.01, batch=batch), records=np.array([0, 1]), draws=draws)
        return np.append(course.sums[-1], course.probabilities[-1])

    full, drawn = stepped(0, 0), np.array([stepped(2, draws) for draws in range(400)])
    # a step moves sums by a hundredth, probabilities by two thousandths; standard errors of 4e-4 and 2e-4
    np.testing.assert_allclose(drawn.mean(axis=0), full, atol=1e-3)
    assert np.abs(drawn - full).max() > 1e-2
    np.testing.assert_array_equal(stepped(2, 7), drawn[7])
    np.testing.assert_array_equal(stepped(9, 1), full)


def test_divergence_leaves_nan(start):
    course = train(COUNTS, *(100 * factor for factor in start), Optimiser(1e3), records=np.array([0, 500]), draws=1)
    assert np.isnan(course.gram[-1]).all()
    assert np.isnan(course.loss[-1])
