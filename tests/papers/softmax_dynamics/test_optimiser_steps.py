import numpy as np
import pytest

from learning_dynamics.dynamics import ensemble
from learning_dynamics.papers.softmax_dynamics import models as toy
from learning_dynamics.papers.softmax_dynamics.optimisers import Optimiser, inputs_of, train

COUNTS = np.array([3, 2, 1])
LABELS = toy.one_hot(COUNTS)
RECORDS = np.array([0, 1, 7, 20])


@pytest.fixture
def start():
    rng = np.random.default_rng(2)
    return toy.gaussian(rng, 6, 2, 3, 0.7)


def test_orthonormal_inputs_give_the_toys_own_descent(start):
    field = toy.vector_field(LABELS[None], 2, "cross_entropy")
    states = ensemble.descent(field, toy.pack(*start)[None], 0.1, RECORDS)
    f, _ = toy.unpack(states[0], 6, 2, 3)
    course = train(np.eye(6), COUNTS, *start, Optimiser(0.1), RECORDS, 1)
    np.testing.assert_allclose(course.gram, np.swapaxes(f, -1, -2) @ f, rtol=1e-12)


@pytest.mark.parametrize(("shared", "within"), [(0.0, 0.0), (0.3, 0.0), (0.2, 0.5), (0.0, 1.0)])
def test_inputs_have_unit_length_and_the_correlations_asked_for(shared, within):
    inputs = inputs_of(COUNTS, shared, within)
    gram = inputs @ inputs.T
    np.testing.assert_allclose(np.diag(gram), 1.0, atol=1e-14)
    assert gram[0, 1] == pytest.approx(shared + within, abs=1e-14)
    assert gram[0, 5] == pytest.approx(shared, abs=1e-14)


def test_a_minibatch_of_everything_is_the_full_batch_and_a_smaller_one_is_not(start):
    grams = [
        train(np.eye(6), COUNTS, *start, Optimiser(0.1, batch=batch), RECORDS, 5).gram[-1] for batch in (0, 6, 2, 2)
    ]
    np.testing.assert_array_equal(grams[0], grams[1])
    np.testing.assert_array_equal(grams[2], grams[3])
    assert np.abs(grams[2] - grams[0]).max() > 1e-3


def test_minibatch_steps_are_those_of_the_full_batch_on_average(start):
    records = np.array([0, 1])
    full = train(np.eye(6), COUNTS, *start, Optimiser(0.01), records, 0).sums[-1]
    some = np.mean(
        [train(np.eye(6), COUNTS, *start, Optimiser(0.01, batch=2), records, k).sums[-1] for k in range(400)], 0
    )
    # one step moves the total by some hundredths; 400 draws average them to a twentieth of that
    np.testing.assert_allclose(some, full, atol=5e-3)


def test_divergence_leaves_nan(start):
    course = train(np.eye(6), COUNTS, *(100 * factor for factor in start), Optimiser(1e3), np.array([0, 500]), 1)
    assert np.isnan(course.gram[-1]).all()
    assert np.isnan(course.loss[-1])
