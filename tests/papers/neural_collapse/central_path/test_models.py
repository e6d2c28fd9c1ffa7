"""Features on the central path: the paper's centring matrix, leading axes, and digits where signal dwarfs noise."""

import numpy as np
import pytest

from learning_dynamics.papers.neural_collapse.central_path import models as central_path


def features(size, seed=0, signal=0.5):
    return central_path.gaussian_features(np.random.default_rng(seed), *size, signal)


def test_class_centring_matrix_of_the_paper_is_the_map_to_deviations():
    classes, examples = 3, 4
    H = features((classes, examples, 5))
    Y = central_path.one_hot(classes, examples)
    C = (np.eye(classes * examples) - Y.T @ Y / examples) / (classes * examples)
    np.testing.assert_allclose(central_path.deviations(H, classes) / (classes * examples), H @ C, atol=1e-15)
    np.testing.assert_allclose(central_path.within_covariance(H, classes), H @ C @ H.T, atol=1e-14)


def test_functions_broadcast_over_leading_axes():
    size = (3, 6, 4)
    stack = np.stack([features(size, seed) for seed in range(3)])
    for function in (central_path.renormalised, central_path.gradient, central_path.classifier, central_path.loss):
        expected = np.stack([function(H, 3) for H in stack])
        np.testing.assert_allclose(function(stack, 3), expected, rtol=1e-10, atol=1e-14)


def test_gradient_keeps_its_digits_where_signal_dwarfs_noise():
    classes, examples, size = 4, 8, (4, 8, 6)
    X = central_path.renormalised(features(size), classes)
    U, _, Vt = np.linalg.svd(central_path.signal_to_noise(X, classes), full_matrices=False)
    spectrum = np.array([2e4, 1.5e4, 1e4])
    means = (U[:, :3] * spectrum) @ Vt[:3]
    far = np.repeat(means, examples, axis=1) + central_path.deviations(X, classes)
    along = np.einsum(
        "pj,pc,jc->j", U[:, :3], central_path.class_means(central_path.gradient(far, classes), classes), Vt[:3]
    )
    expected = -spectrum / (examples * (classes + spectrum**2) ** 2)
    # the class means' part is 1e-4 of a gradient whose terms cancel to 1e-8 if done carelessly
    np.testing.assert_allclose(along, expected, rtol=1e-6)


@pytest.mark.parametrize(("size", "message"), [((3, 2, 6), "singular"), ((6, 9, 3), "rank")])
def test_impossible_sizes_are_refused(size, message):
    with pytest.raises(ValueError, match=message):
        features(size)
