"""Digits, synthetic images, subsets, padding and standardisation."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from learning_dynamics.datasets import images
from learning_dynamics.errors import ProjectError


def test_digits_are_split_without_overlap():
    data = images.digits(per_class=140, seed=3)
    assert data["train_images"].shape == (1400, 1, 8, 8)
    assert data["test_images"].shape == (397, 1, 8, 8)
    np.testing.assert_array_equal(data["train_labels"], np.repeat(np.arange(10), 140))
    assert data["train_images"].max() == 16
    total = data["train_images"].sum(dtype=int) + data["test_images"].sum(dtype=int)
    assert total == load_digits().images.sum()


def test_the_split_follows_from_the_seed():
    first, again, other = (images.digits(per_class=5, seed=seed)["train_images"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_digits_are_padded_to_full_size():
    assert images.digits(per_class=2, pad_to=32, seed=1)["test_images"].shape[1:] == (1, 32, 32)
    with pytest.raises(ProjectError, match="do not fit into 4"):
        images.digits(per_class=2, pad_to=4, seed=1)


def test_synthetic_images_are_their_templates_and_noise():
    data = images.synthetic(classes=3, per_class=50, test_per_class=5, channels=3, size=16, noise=0.5, seed=1)
    assert data["train_images"].shape == (150, 3, 16, 16)
    assert data["test_labels"].tolist() == [0] * 5 + [1] * 5 + [2] * 5
    train = data["train_images"].reshape(3, 50, -1).astype(float)
    between = train.mean(axis=1).std(axis=0).mean()
    within = train.std(axis=1).mean()
    # noise 0.5 of the template's deviation, 32 grey levels, less what clipping takes
    assert within == pytest.approx(16, rel=0.1)
    assert between > within
    with pytest.raises(ProjectError, match="multiple of 4"):
        images.synthetic(classes=3, per_class=5, test_per_class=5, channels=3, size=18, noise=0.5, seed=1)


def test_standardised_by_the_reference_channel_by_channel():
    rng = np.random.default_rng(0)
    reference = rng.integers(0, 255, (40, 2, 6, 6), dtype=np.uint8)
    made = images.standardised(reference, reference)
    assert made.dtype == np.float32
    np.testing.assert_allclose(made.mean(axis=(0, 2, 3)), 0, atol=1e-6)
    np.testing.assert_allclose(made.std(axis=(0, 2, 3)), 1, rtol=1e-6)


def test_a_constant_channel_is_only_centred():
    reference = np.full((4, 1, 2, 2), 7, np.uint8)
    np.testing.assert_array_equal(images.standardised(reference + np.uint8(1), reference), 1)
