"""Formulas for ranks, growth rates and times of learning, compared with matrices written out and with flows."""

import numpy as np
import pytest
from scipy import stats

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import theory, toy_flow


@pytest.mark.parametrize("ratio", [1, 2, 4, 8])
@pytest.mark.parametrize("population", ["classes", "examples"])
def test_two_opposite_pairs_have_the_predicted_rank_over_classes_and_over_examples(ratio, population):
    """Equal margins give a class of n examples the squared length 1 / sqrt(n).

    The two frequent classes are opposite each other along one axis, the two rare ones along the other.
    """
    sizes = np.array([ratio**3, ratio**2, ratio, 1.0])
    lengths = sizes**-0.25
    points = np.array([[lengths[0], 0], [-lengths[1], 0], [0, lengths[2]], [0, -lengths[3]]])
    weights = sizes if population == "examples" else np.ones(4)
    second_moment = (points * weights[:, None]).T @ points
    expected = np.exp(stats.entropy(np.linalg.eigvalsh(second_moment)))
    assert theory.rank_of_two_pairs(ratio) == pytest.approx(expected)


COUNTS = [5, 3, 2, 1]


def singular_values_of_all_examples(learned: list[int]) -> np.ndarray:
    """Return those of -A at uniform predictions, a row for each example, zero for those of learned classes."""
    labels = model.one_hot(COUNTS)
    is_learned = np.isin(labels.argmax(axis=1), learned)
    return np.linalg.svd((labels - 1 / 4) * ~is_learned[:, None], compute_uv=False)


@pytest.mark.parametrize("learned", [[], [0], [0, 1]], ids=["no class", "the first class", "the first pair"])
def test_one_row_for_each_class_has_the_singular_values_of_all_examples(learned):
    by_class = np.linalg.svd(theory.uniform_gain(COUNTS, learned), compute_uv=False)
    # singular values up to sqrt(5), by some tens of roundings
    np.testing.assert_allclose(by_class, singular_values_of_all_examples(learned)[:4], rtol=0, atol=1e-14)


def test_classes_learned_one_by_one_take_times_of_one_over_the_singular_values():
    # the fourth singular value is zero, and the last class shares the third
    expected = 1 / singular_values_of_all_examples([])[[0, 1, 2, 2]]
    np.testing.assert_allclose(theory.times_one_by_one(COUNTS), expected)


@pytest.mark.parametrize("counts", [[36, 12, 3, 1], [50, 10, 4, 1]])
def test_pairs_are_learned_when_flows_of_all_examples_learn_them(counts):
    """Learning times grow by `pair_times`, one for each class, per unit of log(1 / scale).

    They are measured at two scales: a class is learned when its probability is above one half.
    """
    large_scale, small_scale = 1e-7, 1e-11
    labels = model.one_hot(counts)
    first_examples = np.cumsum([0, *counts[:-1]])  # of each class
    learning_times = []
    for scale in (large_scale, small_scale):
        f, W = model.gaussian(np.random.default_rng(6), len(labels), dimension=2, classes=4, scale=scale)
        times = np.linspace(0.0, -np.log(scale), 400)
        start = model.pack(f, W)[None]
        states = toy_flow.flow(
            labels[None],
            start,
            dimension=2,
            loss="cross_entropy",
            times=times,
            tolerances=Tolerances(rtol=1e-8, atol=1e-8 * scale),
        )
        f, W = model.unpack(states[0], len(labels), dimension=2, classes=4)
        own_probabilities = model.softmax(f @ W)[:, first_examples, np.arange(4)]
        learning_times.append(times[np.argmax(own_probabilities > 0.5, axis=0)])
    from_large, from_small = learning_times
    slopes = (from_small - from_large) / np.log(large_scale / small_scale)
    # either time is late by a step of the record at most, log(1e11) / 399 = 0.063, which is 0.007 of log(1e4): twice
    # that. Another 2 % is for the last class, which lags behind its pair
    np.testing.assert_allclose(slopes, theory.pair_times(counts), rtol=0.02, atol=0.014)
