"""Measures of neural collapse: of configurations with known ones, and against numpy on all features at once."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.measures import collapse
from learning_dynamics.measures.class_moments import ClassMoments


def simplex(classes: int, features: int, rng: np.random.Generator) -> np.ndarray:
    """Return the vertices of a simplex equiangular tight frame in a random subspace, as rows."""
    frame = np.eye(classes) - 1 / classes
    basis = np.linalg.qr(rng.standard_normal((features, classes)))[0]
    return frame @ basis.T


def moments_of(features: np.ndarray, labels: np.ndarray, batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Return within-class covariance, in which all classes weigh alike, and class means, accumulated in batches."""
    moments = ClassMoments(torch.from_numpy(np.bincount(labels)), features.shape[1])
    for start in range(0, len(labels), batch):
        where = slice(start, start + batch)
        moments.update(torch.from_numpy(features[where]), torch.from_numpy(labels[where]))
    return moments.within.numpy(), moments.means.numpy()


@settings(max_examples=25)
@given(batch=st.integers(1, 60), offset=st.sampled_from([0.0, 1e3]), seed=st.integers(0, 99))
def test_moments_accumulated_in_batches_are_those_of_all_features(batch, offset, seed):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat([0, 1, 2], [5, 20, 30]))
    features = offset + rng.standard_normal((55, 4)) + labels[:, None]
    within, means = moments_of(features, labels, batch)
    features_by_class = [features[labels == label] for label in range(3)]
    covariances = [np.cov(of_class.T, bias=True) for of_class in features_by_class]
    np.testing.assert_allclose(means, [of_class.mean(axis=0) for of_class in features_by_class], rtol=1e-13)
    # features around 1e3 are rounded by 1e-13, and so are their deviations, of order one, in whose squares it remains
    np.testing.assert_allclose(within, np.mean(covariances, axis=0), rtol=1e-9, atol=1e-12)


def test_every_measure_of_a_collapsed_network_is_zero():
    rng = np.random.default_rng(0)
    means = 3.0 + simplex(classes=10, features=16, rng=rng)
    weights = 0.2 * collapse.centred_means(means)
    assert collapse.variability(np.zeros((16, 16)), means) == 0
    # rounding of ten numbers of order one, and its sum
    assert collapse.relative_spread_of_norms(weights) < 1e-14
    assert collapse.spread_of_cosines(weights) < 1e-14
    assert collapse.distance_from_maximal_angles(weights) < 1e-14
    assert collapse.self_duality(weights, means) < 1e-14


# three vectors of norms 1, 2 and 3, the first two at right angles, the third against the first
NOT_COLLAPSED = np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0]])


def test_the_spread_of_norms_is_their_standard_deviation_over_their_mean():
    # of 1, 2 and 3: the root of 2 / 3, over 2
    assert collapse.relative_spread_of_norms(NOT_COLLAPSED) == pytest.approx(np.sqrt(2 / 3) / 2)


def test_the_spread_of_cosines_is_their_standard_deviation():
    # of 0, -1 and 0: their mean is -1 / 3, their variance 1 / 3 - 1 / 9
    assert collapse.spread_of_cosines(NOT_COLLAPSED) == pytest.approx(np.sqrt(2 / 9))


def test_the_distance_from_maximal_angles_is_the_mean_over_pairs():
    # cosines of 0, -1 and 0 are each 1 / 2 from -1 / 2, that of three vectors at maximal angles; of 0.6 it is 1.1
    assert collapse.distance_from_maximal_angles(NOT_COLLAPSED) == pytest.approx(0.5)
    nearer = np.array([[1.0, 0.0], [0.6, 0.8], [-1.0, 0.0]])  # cosines of 0.6, -1 and -0.6
    assert collapse.distance_from_maximal_angles(nearer) == pytest.approx((1.1 + 0.5 + 0.1) / 3)


def test_self_duality_is_a_squared_distance_of_matrices_of_unit_norm():
    """The matrices are the classifiers and the centred means."""
    means = 5.0 + np.array([[2.0, 0.0], [-2.0, 0.0]])
    # at an angle with cosine 0.6, the squared distance of two matrices of norm 1 is 2 - 2 * 0.6
    classifiers = 7.0 * np.array([[0.6, 0.8], [-0.6, -0.8]])
    assert collapse.self_duality(classifiers, means) == pytest.approx(2 - 2 * 0.6)


def test_variability_is_the_trace_of_within_over_between():
    rng = np.random.default_rng(1)
    means, root = rng.standard_normal((4, 6)), rng.standard_normal((6, 6))
    between = np.cov(means.T, bias=True)
    # of six eigenvalues three are not zero, the least of them a sixth of the largest: rounding hardly grows
    expected = np.trace(root @ root.T @ np.linalg.pinv(between, rcond=1e-10)) / 4
    assert collapse.variability(root @ root.T, means) == pytest.approx(expected, rel=1e-13)


def test_variability_is_infinite_where_two_class_means_coincide():
    means = np.random.default_rng(1).standard_normal((4, 6))
    means[0] = means[1]
    assert collapse.variability(np.eye(6), means) == np.inf


def test_variability_of_512_features_is_not_that_of_the_rounding_of_float32():
    """A plain pseudo-inverse of Sigma_B would invert the rounding of its zero eigenvalues."""
    rng = np.random.default_rng(2)
    means = (5 + simplex(classes=10, features=512, rng=rng)).astype(np.float32).astype(float)
    # Sigma_B of ten vertices has nine eigenvalues of 1/10: Tr(1e-4 Sigma_B^+) / 10 = 1e-4 * 9 * 10 / 10
    assert collapse.variability(1e-4 * np.eye(512), means) == pytest.approx(9e-4, rel=1e-3)


def test_signal_to_noise_of_a_simplex_is_the_same_in_any_coordinates():
    rng = np.random.default_rng(3)
    transform = np.zeros((11, 12))  # the last unit is dead but for rounding
    transform[:, :-1] = rng.standard_normal((11, 11))
    within, means = 0.25 * transform.T @ transform, 2 * simplex(classes=4, features=11, rng=rng) @ transform
    within[-1, -1] = 1e-20
    rank, values = collapse.rank_and_signal_to_noise(within, means)
    assert rank == 11
    # four vertices span three directions, in each of which they are 2 long; noise has deviation 0.5
    np.testing.assert_allclose(values, [4, 4, 4], rtol=1e-9)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 999),
    decay=st.sampled_from([5e-4, 1e-2, 1.0]),
    noise=st.sampled_from([1.0, 1e-3]),
    dead=st.booleans(),
)
def test_the_parts_of_the_decomposition_add_up_to_the_loss_and_none_is_negative(seed, decay, noise, dead):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(4), 9)
    features = 2 * rng.standard_normal((4, 6))[labels] + noise * rng.standard_normal((36, 6))
    if dead:
        features[:, 0] = 0
    weights, biases = rng.standard_normal((4, 6)), rng.standard_normal(4)
    terms = collapse.decomposition(*moments_of(features, labels, batch=10), np.column_stack([weights, biases]), decay)
    residual = features @ weights.T + biases - np.eye(4)[labels]
    loss = 0.5 * np.mean(np.sum(residual**2, axis=1)) + 0.5 * decay * (np.sum(weights**2) + np.sum(biases**2))
    parts = ("loss_nc1", "loss_nc23", "loss_ls_perp")
    # with the least decay the covariance has a condition of about 1e4, by which rounding of 36 examples grows
    assert sum(terms[part] for part in parts) == pytest.approx(loss, rel=1e-10)
    assert min(terms.values()) >= 0


def test_measures_of_several_networks_are_those_of_each():
    rng = np.random.default_rng(6)
    # of five networks with four classes and seven features
    means, root = rng.standard_normal((5, 4, 7)), rng.standard_normal((5, 7, 7))
    within, classifiers = root @ np.swapaxes(root, -1, -2), rng.standard_normal((5, 4, 8))

    def measures(within, means, classifier):
        return collapse.decomposition(within, means, classifier, decay=0.1) | {
            "nc1": collapse.variability(within, means),
            "angles": collapse.distance_from_maximal_angles(means),
            "duality": collapse.self_duality(classifier[..., :-1], means),  # without the biases
            "norms": collapse.relative_spread_of_norms(means),
            "cosines": collapse.spread_of_cosines(means),
        }

    together = measures(within, means, classifiers)
    for network in range(5):
        alone = measures(within[network], means[network], classifiers[network])
        for name, measure in alone.items():
            np.testing.assert_allclose(together[name][network], measure, err_msg=f"{name} of network {network}")
