import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.papers.softmax_dynamics import models as model

SIZES = {"examples": st.integers(1, 12), "dimension": st.integers(1, 8), "classes": st.integers(1, 9)}


def gram(factor: np.ndarray) -> np.ndarray:
    return np.swapaxes(factor, -1, -2) @ factor


@settings(max_examples=50)
@given(**SIZES, scale=st.sampled_from([1e-8, 1e-2, 1.0]), seed=st.integers(0, 999))
def test_balanced_factors_are_balanced_for_any_sizes(examples, dimension, classes, scale, seed):
    f, W = model.balanced(np.random.default_rng(seed), examples, dimension, classes, scale)
    assert f.shape == (examples, dimension)
    assert W.shape == (dimension, classes)
    left, right = gram(f), gram(W.T)
    # a product of three factors of size up to twelve: some tens of roundings
    np.testing.assert_allclose(left, right, atol=100 * np.finfo(float).eps * np.linalg.norm(left))
    assert np.linalg.norm(left) > 0


@settings(max_examples=30)
@given(**SIZES, loss=st.sampled_from(["cross_entropy", "squared"]), seed=st.integers(0, 999))
def test_the_field_keeps_the_imbalance(examples, dimension, classes, loss, seed):
    rng = np.random.default_rng(seed)
    f, W = model.gaussian(rng, examples, dimension, classes, 1.0)
    labels = np.eye(classes)[rng.integers(classes, size=examples)]
    df, dW = model.derivatives(f, W, labels, loss)
    change = df.T @ f + f.T @ df - dW @ W.T - W @ dW.T
    np.testing.assert_allclose(change, 0, atol=1e-12 * (1 + np.linalg.norm(f) * np.linalg.norm(df)))


def test_packing_is_undone():
    f, W = model.gaussian(np.random.default_rng(0), 5, 2, 4, 1.0)
    unpacked = model.unpack(model.pack(f, W), 5, 2, 4)
    np.testing.assert_array_equal(unpacked[0], f)
    np.testing.assert_array_equal(unpacked[1], W)


def test_one_hot_lists_each_class_as_often_as_counted():
    np.testing.assert_array_equal(model.one_hot([2, 0, 1]), [[1, 0, 0], [1, 0, 0], [0, 0, 1]])


def test_large_logits_do_not_overflow():
    probabilities = model.softmax(np.array([[1e4, 0.0], [-1e4, 0.0]]))
    np.testing.assert_array_equal(probabilities, [[1.0, 0.0], [0.0, 1.0]])
    loss = model.summed_loss(np.array([[1e4]]), np.array([[-1.0, 0.0]]), np.array([[1.0, 0.0]]), "cross_entropy")
    assert loss == pytest.approx(1e4)
