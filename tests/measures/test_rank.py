"""RankMe: of eigenvalues, with and without centring."""

import numpy as np
import pytest

from learning_dynamics.measures.rank import rankme


def test_it_takes_eigenvalues_and_not_singular_values():
    shares = np.array([0.8, 0.2])  # squares of singular values 2 and 1
    expected = np.exp(-np.sum(shares * np.log(shares)))
    rotation = np.array([[0.6, 0.8], [-0.8, 0.6]])
    features = np.stack([np.diag([2.0, 1.0]), 1e-6 * np.diag([2.0, 1.0]) @ rotation])
    np.testing.assert_allclose(rankme(features, centred=False), expected)


def test_centring_takes_a_common_direction_away():
    features = np.array([[1.0, 5.0, 0.0], [-1.0, 5.0, 0.0]])
    assert rankme(features, centred=True) == pytest.approx(1)
    assert rankme(features, centred=False) > 1.1
