import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import theory, toy_flow


def uniform_residual(counts: list[int]) -> np.ndarray:
    return 1 / len(counts) - model.one_hot(counts)


@settings(max_examples=40)
@given(st.lists(st.integers(1, 20), min_size=2, max_size=8))
def test_fastest_growth_is_the_norm_of_the_residual_and_below_the_root_of_the_largest_class(counts):
    fastest = theory.fastest_growth(counts)
    assert fastest == pytest.approx(np.linalg.norm(uniform_residual(counts), 2))
    assert fastest <= np.sqrt(max(counts)) * (1 + 1e-12)


def test_equal_classes_grow_equally_fast():
    A = uniform_residual([2, 2, 2, 2])
    np.testing.assert_allclose(np.linalg.svd(A, compute_uv=False)[:3], np.sqrt(2))


@pytest.mark.parametrize(("examples", "dimension", "classes"), [(8, 2, 4), (5, 3, 4), (3, 6, 5)])
def test_balanced_singular_values_grow_at_their_gains(examples, dimension, classes):
    """The two factors' rates by Lemma B.1 are both -g sigma at a balanced state, before any integration."""
    rng = np.random.default_rng(4)
    f, W = model.balanced(rng, examples, dimension, classes, 0.7)
    labels = np.eye(classes)[rng.integers(classes, size=examples)]
    rank = min(examples, dimension, classes)
    (U1, S1, V1t), (U2, S2, V2t) = (np.linalg.svd(factor, full_matrices=False) for factor in (f, W))
    U1, V1, U2, V2 = U1[:, :rank], V1t.T[:, :rank], U2[:, :rank], V2t.T[:, :rank]
    V2 = V2 * np.sign(np.sum(V1 * U2, axis=0))
    df, dW = model.derivatives(f, W, labels, "cross_entropy")
    g = theory.gains(U1, model.residual(f, W, labels, "cross_entropy"), V2)
    turned = U2 * np.sign(np.sum(V1 * U2, axis=0))
    np.testing.assert_allclose(theory.singular_value_rates(U1, df, V1), -g * S2[:rank], atol=1e-12)
    np.testing.assert_allclose(theory.singular_value_rates(turned, dW, V2), -g * S1[:rank], atol=1e-12)


def test_a_tiny_aligned_start_grows_at_the_fastest_rate():
    counts = [9, 2, 1]
    labels = model.one_hot(counts)
    U, S, Vt = np.linalg.svd(uniform_residual(counts))
    f, W = 1e-8 * U[:, :1] * [[1.0, 0.0]], -1e-8 * np.array([[1.0], [0.0]]) * Vt[:1]
    times = np.array([0.0, 1.0, 2.0])
    states = toy_flow.flow(labels[None], model.pack(f, W)[None], 2, "cross_entropy", times, Tolerances(1e-10, 1e-20))
    norms = np.linalg.norm(model.unpack(states, 12, 2, 3)[0][0], axis=(-2, -1))
    np.testing.assert_allclose(np.log(norms / 1e-8), times * S[0], rtol=1e-8, atol=1e-12)
    assert S[0] == pytest.approx(theory.fastest_growth(counts))


@pytest.mark.parametrize("ratio", [1, 2, 4, 8])
def test_the_rank_of_two_pairs_over_classes_and_over_examples(ratio):
    """Squared lengths of one over the root of the size, frequent classes along one axis and rare ones across."""
    sizes = np.array([ratio**3, ratio**2, ratio, 1.0])
    lengths = sizes**-0.25
    points = np.array([[lengths[0], 0], [-lengths[1], 0], [0, lengths[2]], [0, -lengths[3]]])
    for weights in (np.ones(4), sizes):
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
    np.testing.assert_allclose(found, expected, atol=1e-14)
    if not learned:
        np.testing.assert_allclose(theory.times_one_by_one(counts)[:3], 1 / expected[:3])


@pytest.mark.parametrize("counts", [[36, 12, 3, 1], [50, 10, 4, 1]])
def test_pairs_are_learned_when_flows_of_all_examples_learn_them(counts):
    labels = model.one_hot(counts)
    first = np.cumsum([0, *counts[:-1]])
    times = []
    for scale in (1e-7, 1e-11):
        rng = np.random.default_rng(6)
        f, W = model.gaussian(rng, len(labels), 2, 4, scale)
        at = np.linspace(0.0, -np.log(scale), 400)
        start = model.pack(f, W)[None]
        states = toy_flow.flow(labels[None], start, 2, "cross_entropy", at, Tolerances(1e-8, 1e-8 * scale))
        f, W = model.unpack(states[0], len(labels), 2, 4)
        own = model.softmax(f @ W)[:, first, np.arange(4)]
        times.append(at[np.argmax(own > 0.5, axis=0)])
    slopes = (times[1] - times[0]) / np.log(1e4)
    # recorded times are 0.06 apart, which is 0.007 of the difference of logarithms; the last class lags behind
    np.testing.assert_allclose(slopes, theory.pair_times(counts), rtol=0.02, atol=0.014)
