"""Formulas on classes and examples, compared with matrices that are written out."""

import numpy as np
import pytest
from scipy import stats

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import theory, toy_flow


@pytest.mark.parametrize("ratio", [1, 2, 4, 8])
@pytest.mark.parametrize("population", ["classes", "examples"])
def test_the_rank_of_two_pairs_over_classes_and_over_examples(ratio, population):
    """Squared lengths of one over the root of the size, frequent classes along one axis and rare ones across."""
    sizes = np.array([ratio**3, ratio**2, ratio, 1.0])
    lengths = sizes**-0.25
    points = np.array([[lengths[0], 0], [-lengths[1], 0], [0, lengths[2]], [0, -lengths[3]]])
    weights = sizes if population == "examples" else np.ones(4)
    second = (points * weights[:, None]).T @ points
    expected = np.exp(stats.entropy(np.linalg.eigvalsh(second)))
    assert theory.rank_of_two_pairs(ratio) == pytest.approx(expected)


@pytest.mark.parametrize("learned", [[], [0], [0, 1]])
def test_the_gain_of_classes_has_the_singular_values_of_that_of_their_examples(learned):
    counts = [5, 3, 2, 1]
    labels = model.one_hot(counts)
    full = (labels - 1 / 4) * ~np.isin(labels.argmax(axis=1), learned)[:, None]
    expected = np.linalg.svd(full, compute_uv=False)[:4]
    found = np.linalg.svd(theory.uniform_gain(counts, learned), compute_uv=False)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    if not learned:
        np.testing.assert_allclose(theory.times_one_by_one(counts), 1 / expected[[0, 1, 2, 2]])


@pytest.mark.parametrize("counts", [[36, 12, 3, 1], [50, 10, 4, 1]])
def test_pairs_are_learned_when_flows_of_all_examples_learn_them(counts):
    labels = model.one_hot(counts)
    first = np.cumsum([0, *counts[:-1]])
    times = []
    for scale in (1e-7, 1e-11):
        rng = np.random.default_rng(6)
        f, W = model.gaussian(rng, len(labels), 2, 4, scale=scale)
        at = np.linspace(0.0, -np.log(scale), 400)
        start = model.pack(f, W)[None]
        states = toy_flow.flow(
            labels[None], start, 2, loss="cross_entropy", times=at, tolerances=Tolerances(1e-8, 1e-8 * scale)
        )
        f, W = model.unpack(states[0], len(labels), 2, 4)
        own = model.softmax(f @ W)[:, first, np.arange(4)]
        times.append(at[np.argmax(own > 0.5, axis=0)])
    slopes = (times[1] - times[0]) / np.log(1e4)
    # recorded times are 0.06 apart, which is 0.007 of the difference of logarithms; the last class lags behind
    np.testing.assert_allclose(slopes, theory.pair_times(counts), rtol=0.02, atol=0.014)
