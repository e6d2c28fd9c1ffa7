import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.measures.rank import rankme


def test_it_counts_equal_directions():
    features = np.vstack([np.eye(3), -np.eye(3)])
    assert rankme(features, centred=False) == pytest.approx(3)
    assert rankme(features, centred=True) == pytest.approx(3)


def test_it_is_one_on_a_line():
    features = np.outer(np.arange(1.0, 6.0), [1.0, 2.0])
    assert rankme(features, centred=False) == pytest.approx(1)


def test_centring_takes_a_common_direction_away():
    features = np.array([[1.0, 5.0], [-1.0, 5.0]])
    assert rankme(features, centred=True) == pytest.approx(1)
    assert rankme(features, centred=False) > 1.1


def test_it_takes_eigenvalues_and_not_singular_values():
    shares = np.array([0.8, 0.2])  # squares of singular values 2 and 1
    expected = np.exp(-np.sum(shares * np.log(shares)))
    assert rankme(np.diag([2.0, 1.0]), centred=False) == pytest.approx(expected)


@settings(max_examples=30)
@given(seed=st.integers(0, 999), scale=st.sampled_from([1e-6, 1.0, 1e6]), centred=st.booleans())
def test_rotations_and_scales_leave_it(seed, scale, centred):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((7, 3))
    rotation, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    assert rankme(scale * features @ rotation, centred=centred) == pytest.approx(rankme(features, centred=centred))
