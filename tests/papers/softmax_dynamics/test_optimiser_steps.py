"""Training by `optimisers.train`: minibatches, divergence, and training in portions of steps.

That its steps are torch's, other tests show (`training/test_runs.py`, `compression/test_maps.py`).
"""

import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics import models as toy
from learning_dynamics.papers.softmax_dynamics import optimisers
from learning_dynamics.papers.softmax_dynamics.optimisers import Optimiser, train

COUNTS = np.array([3, 2, 1])  # class sizes, six examples
RATE = 0.01


@pytest.fixture
def start():
    """Return f, shape (6, 2), and W, shape (2, 3)."""
    return toy.gaussian(np.random.default_rng(2), examples=6, dimension=2, classes=3, scale=0.7)


def after_one_step(start, *, batch: int, minibatch_seed: int) -> np.ndarray:
    """Return sums of features and probabilities of the classes after one step, as one array; a batch of 0 is all."""
    optimiser = Optimiser(RATE, batch=batch)
    course = train(COUNTS, *start, optimiser, records=np.array([0, 1]), minibatch_seed=minibatch_seed)
    return np.append(course.sums[-1], course.probabilities[-1])


def test_minibatch_steps_are_those_of_the_full_batch_on_average(start):
    full = after_one_step(start, batch=0, minibatch_seed=0)
    minibatches = np.array([after_one_step(start, batch=2, minibatch_seed=seed) for seed in range(400)])
    standard_error = minibatches.std(axis=0) / np.sqrt(len(minibatches))
    # probabilities curve over a step: a step's square besides
    np.testing.assert_array_less(np.abs(minibatches.mean(axis=0) - full), 4 * standard_error + RATE**2)
    # small beside what a full step moves sums by, 0.008
    assert standard_error.max() < 1e-3


def test_a_minibatch_of_all_examples_or_more_takes_the_step_of_the_full_batch(start):
    full = after_one_step(start, batch=0, minibatch_seed=0)
    for batch in (6, 9):  # of six examples
        np.testing.assert_array_equal(after_one_step(start, batch=batch, minibatch_seed=1), full, err_msg=f"{batch=}")


def test_the_seed_alone_decides_which_minibatches_are_drawn(start):
    first = after_one_step(start, batch=2, minibatch_seed=7)
    np.testing.assert_array_equal(after_one_step(start, batch=2, minibatch_seed=7), first)
    assert not np.array_equal(after_one_step(start, batch=2, minibatch_seed=8), first)


def test_records_of_a_training_are_nan_once_it_diverges(start):
    too_large = Optimiser(learning_rate=1e3)
    large_start = (100 * factor for factor in start)
    course = train(COUNTS, *large_start, too_large, records=np.array([0, 500]), minibatch_seed=1)
    assert np.isfinite(course.gram[0]).all()
    assert np.isnan(course.gram[1]).all()
    assert np.isnan(course.loss[1])


@pytest.mark.parametrize(
    "optimiser",
    [Optimiser(RATE, batch=2, momentum=0.9), Optimiser(RATE, weight_decay=0.1, adam=True, decoupled=True)],
    ids=["minibatches and momentum", "AdamW"],
)
def test_training_in_portions_is_training_in_one_go(monkeypatch, start, optimiser):
    """Signals are handled between portions; moments and minibatches must go on where they were."""

    def train_for_20_steps():
        # records at the ends of portions of five steps, and between them
        return train(COUNTS, *start, optimiser, records=np.array([0, 3, 5, 17, 20]), minibatch_seed=3)

    in_one_go = train_for_20_steps()
    monkeypatch.setattr(optimisers, "AT_ONCE", 5)  # how many steps a portion has
    in_portions = train_for_20_steps()
    for name, recorded in in_portions._asdict().items():
        np.testing.assert_array_equal(recorded, getattr(in_one_go, name), err_msg=name)
    assert np.isfinite(in_one_go.loss).all()
