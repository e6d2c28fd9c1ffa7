"""RankMe, the exponential of the entropy of the covariance's eigenvalues, on features with two known ones."""

import numpy as np
import pytest

from learning_dynamics.measures.rank import rankme

FEATURES = np.diag([2.0, 1.0])  # two examples; singular values 2 and 1
ROTATION = np.array([[0.6, 0.8], [-0.8, 0.6]])


def exp_of_entropy(*shares):
    """Return the exponential of the entropy of eigenvalues' shares of their sum."""
    return np.exp(-np.sum(np.array(shares) * np.log(shares)))


@pytest.mark.parametrize(
    "features",
    [
        pytest.param(FEATURES, id="along the axes"),
        pytest.param(FEATURES @ ROTATION, id="rotated"),
        pytest.param(1e-6 * FEATURES, id="small"),
    ],
)
def test_rankme_is_of_eigenvalues_and_depends_on_no_rotation_or_size(features):
    # eigenvalues of the covariance are squares of singular values: 4 and 1
    assert rankme(features, centred=False) == pytest.approx(exp_of_entropy(4 / 5, 1 / 5))


def test_each_cloud_of_features_has_a_rankme_of_its_own():
    of_rank_one = np.diag([1.0, 0.0])
    several = np.array([[FEATURES, of_rank_one]])  # shape (1, 2, examples, dimensions)
    np.testing.assert_allclose(rankme(several, centred=False), [[exp_of_entropy(4 / 5, 1 / 5), 1.0]])


def test_centring_takes_the_mean_feature_away():
    # the mean is 5 along the second axis; about it the features differ along the first
    features = np.array([[1.0, 5.0, 0.0], [-1.0, 5.0, 0.0]])
    assert rankme(features, centred=True) == pytest.approx(1)
    assert rankme(features, centred=False) == pytest.approx(exp_of_entropy(25 / 26, 1 / 26))
