"""Steps of optimisers: minibatches on average, and divergence."""

import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics import models as toy
from learning_dynamics.papers.softmax_dynamics import optimisers
from learning_dynamics.papers.softmax_dynamics.optimisers import Optimiser, train

COUNTS = np.array([3, 2, 1])


@pytest.fixture
def start():
    return toy.gaussian(np.random.default_rng(2), 6, 2, 3, scale=0.7)


def test_minibatch_steps_are_those_of_the_full_batch_on_average(start):
    def stepped(batch: int, minibatch_seed: int) -> np.ndarray:
        course = train(
            COUNTS, *start, Optimiser(0.01, batch=batch), records=np.array([0, 1]), minibatch_seed=minibatch_seed
        )
        return np.append(course.sums[-1], course.probabilities[-1])

    full, drawn = stepped(0, 0), np.array([stepped(2, seed) for seed in range(400)])
    # a step moves sums by a hundredth, probabilities by two thousandths; standard errors of 4e-4 and 2e-4
    np.testing.assert_allclose(drawn.mean(axis=0), full, rtol=0, atol=1e-3)
    assert np.abs(drawn - full).max() > 1e-2
    np.testing.assert_array_equal(stepped(2, 7), drawn[7])
    np.testing.assert_array_equal(stepped(9, 1), full)


def test_divergence_leaves_nan(start):
    course = train(
        COUNTS, *(100 * factor for factor in start), Optimiser(1e3), records=np.array([0, 500]), minibatch_seed=1
    )
    assert np.isnan(course.gram[-1]).all()
    assert np.isnan(course.loss[-1])


@pytest.mark.parametrize(
    "optimiser",
    [Optimiser(0.01, batch=2, momentum=0.9), Optimiser(0.01, weight_decay=0.1, adam=True, decoupled=True)],
    ids=["minibatches and momentum", "AdamW"],
)
def test_steps_in_portions_are_those_of_one_go(monkeypatch, start, optimiser):
    """Signals are heard between portions; moments and minibatches go on where they were."""

    def go():
        return train(COUNTS, *start, optimiser, records=np.array([0, 3, 5, 17, 20]), minibatch_seed=3)

    at_once = go()
    monkeypatch.setattr(optimisers, "AT_ONCE", 5)
    for name, recorded in go()._asdict().items():
        np.testing.assert_array_equal(recorded, getattr(at_once, name), err_msg=name)
    assert np.isfinite(at_once.loss).all()
