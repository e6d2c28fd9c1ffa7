"""Digits, synthetic images, standardisation, and which labelled images are refused."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from learning_dynamics.datasets import images
from learning_dynamics.errors import ProjectError

PER_CLASS = 140  # train digits, of 174 at least
ALL_DIGITS = 1797  # of scikit-learn


def test_train_digits_are_equally_many_of_each_class_and_test_digits_are_the_others():
    data = images.digits(per_class=PER_CLASS, seed=3)
    assert data["train_images"].shape == (10 * PER_CLASS, 1, 8, 8)
    assert data["test_images"].shape == (ALL_DIGITS - 10 * PER_CLASS, 1, 8, 8)
    np.testing.assert_array_equal(data["train_labels"], np.repeat(np.arange(10), PER_CLASS))


def test_each_digit_is_in_one_of_the_two_splits():
    data = images.digits(per_class=PER_CLASS, seed=3)
    both_splits = np.concatenate([data["train_images"], data["test_images"]]).reshape(-1, 8 * 8)
    every_digit = load_digits().data
    np.testing.assert_array_equal(both_splits[np.lexsort(both_splits.T)], every_digit[np.lexsort(every_digit.T)])


def test_another_seed_splits_the_digits_otherwise():
    data, other = (images.digits(per_class=PER_CLASS, seed=seed) for seed in (3, 4))
    assert not np.array_equal(data["train_images"], other["train_images"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"per_class": 2, "pad_to": 4}, r"images of \(8, 8\) pixels do not fit into 4; raise pad_to"),
        ({"per_class": 175}, "class 8 has 174 examples, 175 were asked for; lower per_class"),
    ],
)
def test_digits_that_do_not_fit_are_refused(settings, message):
    with pytest.raises(ProjectError, match=message):
        images.digits(**settings, seed=1)


def test_synthetic_images_are_the_template_of_their_class_and_noise():
    data = images.synthetic(classes=3, per_class=50, test_per_class=5, channels=3, size=16, noise=0.5, seed=1)
    assert data["train_images"].shape == (150, 3, 16, 16)
    assert data["test_labels"].tolist() == [0] * 5 + [1] * 5 + [2] * 5
    train = data["train_images"].reshape(3, 50, -1).astype(float)  # shape (classes, examples, pixels)
    between_classes = train.mean(axis=1).std(axis=0).mean()
    within_classes = train.std(axis=1).mean()
    # noise 0.5 of the template's deviation, 32 grey levels; clipping to 0 to 255 takes a few per cent
    assert within_classes == pytest.approx(0.5 * 32, rel=0.1)
    assert between_classes > within_classes  # the template's deviation is twice that of the noise


def test_synthetic_images_of_a_size_that_is_no_multiple_of_the_templates_is_refused():
    with pytest.raises(ProjectError, match="images of 18 pixels: templates are enlarged from 4; use a multiple of 4"):
        images.synthetic(classes=3, per_class=5, test_per_class=5, channels=3, size=18, noise=0.5, seed=1)


def test_images_are_standardised_channel_by_channel():
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 255, (40, 2, 6, 6), dtype=np.uint8)  # shape (images, channels, height, width)
    standardised = images.standardised(pixels, reference=pixels)
    assert standardised.dtype == np.float32
    # rounding of float32, added up over the 1440 pixels of a channel
    np.testing.assert_allclose(standardised.mean(axis=(0, 2, 3)), 0, atol=1e-6)
    np.testing.assert_allclose(standardised.std(axis=(0, 2, 3)), 1, rtol=1e-6)


def test_a_channel_whose_reference_does_not_vary_is_only_centred():
    constant = np.full((4, 1, 2, 2), 7, np.uint8)
    varied = np.arange(16, dtype=np.uint8).reshape(4, 1, 2, 2)
    np.testing.assert_array_equal(images.standardised(varied, reference=constant), varied.astype(float) - 7)


def image_set(classes=2):
    """Return two images of each class, shape (2 * classes, 1, 8, 8); both splits have the same."""
    labels = np.repeat(np.arange(classes), 2)
    pixels = np.random.default_rng(0).standard_normal((2 * classes, 1, 8, 8)).astype(np.float32)
    own = {"train_images": pixels, "train_labels": labels, "test_images": pixels, "test_labels": labels}
    return own | {"name": np.array("own")}


@pytest.mark.parametrize("kind", [">i8", float])
def test_labels_of_any_kind_of_number_become_int64(kind):
    own = image_set()
    checked = images.checked_images(own | {"train_labels": own["train_labels"].astype(kind)})
    assert checked["train_labels"].dtype == np.int64
    np.testing.assert_array_equal(checked["train_labels"], [0, 0, 1, 1])
    assert checked["train_images"] is own["train_images"]


@pytest.mark.parametrize(
    ("key", "change", "message"),
    [
        pytest.param(
            "train_labels",
            lambda labels: labels + 3,
            "are 3, 4, 5; they must be 0 to 2",
            id="train_labels of other classes",
        ),
        pytest.param(
            "train_labels",
            lambda labels: labels[:, None],
            r"have shape \(6, 1\) beside 6 images",
            id="train_labels in a column",
        ),
        pytest.param(
            "train_labels",
            lambda labels: labels + 0.5,
            "of type float64 must be whole numbers",
            id="train_labels fractions",
        ),
        pytest.param(
            "test_labels",
            lambda labels: np.minimum(labels, 1),
            "are 0, 1; they must be 0 to 2, all",
            id="test_labels of a class less",
        ),
        pytest.param(
            "train_images",
            lambda pixels: pixels[:, 0],
            r"have shape \(6, 8, 8\); it must be \(images, channels, height, width\)",
            id="train_images of one channel, which they lack",
        ),
        pytest.param(
            "train_images",
            lambda pixels: pixels.transpose(0, 2, 3, 1),
            r"have shape \(6, 8, 8, 1\), channels last; put them first",
            id="train_images with channels last",
        ),
        pytest.param(
            "train_images",
            lambda pixels: np.zeros((6, 8, 12, 3)),
            r"have shape \(6, 8, 12, 3\), channels last; put them first",
            id="train_images with channels last and of other size",
        ),
        pytest.param(
            "test_images",
            lambda pixels: np.zeros((6, 12, 8, 1)),
            r"have shape \(6, 12, 8, 1\), channels last; put them first",
            id="test_images of one channel, which is last",
        ),
        pytest.param(
            "train_labels",
            lambda labels: np.ma.masked_equal(labels, 2),
            "have masked entries, and what is behind a mask would be trained on; leave those images out",
            id="train_labels masked",
        ),
        pytest.param(
            "test_images", lambda pixels: np.ma.masked_less(pixels, -1), "have masked entries", id="test_images masked"
        ),
        pytest.param(
            "test_images",
            lambda pixels: 255 * pixels,
            r"are -.*, train images -.*; give both splits the same scale",
            id="test_images of 255 times the scale",
        ),
        pytest.param(
            "test_images",
            lambda pixels: pixels - pixels.min(),
            r"are 0 to .*; give both splits the same scale",
            id="test_images from zero on, beside centred ones",
        ),
        pytest.param(
            "train_images",
            lambda pixels: pixels * np.nan,
            "of type float32 must be finite numbers",
            id="train_images not finite",
        ),
        pytest.param(
            "test_images",
            lambda pixels: pixels.astype(np.uint8),
            r"are uint8 \(1, 8, 8\), train images float32 \(1, 8, 8\); make them alike",
            id="test_images of whole numbers",
        ),
        pytest.param(
            "test_images",
            lambda pixels: pixels[:0],
            r"have shape \(0, 1, 8, 8\); it must be \(images, channels, height, width\), none of them 0",
            id="test_images none",
        ),
    ],
)
def test_a_data_set_that_does_not_fit_is_refused_with_its_name(key, change, message):
    own = image_set(classes=3)
    with pytest.raises(ProjectError, match=f"^data set own: {key} {message}"):
        images.checked_images(own | {key: change(own[key])})


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param((6, 3, 8, 12), id="wide"),
        pytest.param((6, 12, 4, 4), id="more channels than rows"),
        pytest.param((6, 64, 32, 16), id="high, with many channels"),
        pytest.param((6, 1, 1, 8), id="one row"),
    ],
)
def test_images_of_other_shapes_are_accepted_with_channels_first(shape):
    own = image_set(classes=3)
    pixels = np.random.default_rng(1).standard_normal(shape)
    checked = images.checked_images(own | {"train_images": pixels, "test_images": pixels})
    assert checked["train_images"].shape == shape


# Splits of one set differ by a factor of less than 2 in contrast; units in use, 1, 16 and 255 grey levels, by 16. The
# limit is 5, between the two
@pytest.mark.parametrize("factor", [1 / 4.5, 4.5])
def test_a_split_of_another_contrast_is_accepted(factor):
    own = image_set(classes=3)
    images.checked_images(own | {"test_images": np.float32(factor) * own["test_images"]})


@pytest.mark.parametrize("factor", [1 / 5.5, 5.5])
def test_a_split_whose_contrast_is_that_of_another_unit_is_refused(factor):
    own = image_set(classes=3)
    with pytest.raises(ProjectError, match="give both splits the same scale"):
        images.checked_images(own | {"test_images": np.float32(factor) * own["test_images"]})


def positive_but_for(share):
    """Return a data set whose train images are positive, and of whose test pixels this share is negative."""
    own = image_set(classes=3)
    positive = np.abs(own["train_images"])
    signs = np.where(np.arange(positive.size) < share * positive.size, -1, 1).astype(np.float32)
    return own | {"train_images": positive, "test_images": signs.reshape(positive.shape) * positive}


# many pixels of centred images are negative, none of others; where one split has none, a tenth of the other may be so
def test_a_split_with_few_negative_pixels_is_accepted_beside_one_without():
    images.checked_images(positive_but_for(0.09))


def test_a_split_with_many_negative_pixels_is_refused_beside_one_without():
    with pytest.raises(ProjectError, match="give both splits the same scale"):
        images.checked_images(positive_but_for(0.11))


def grey_levels(shape):
    """Return whole numbers from 0 to 255, both of which occur, as floats."""
    levels = np.random.default_rng(1).integers(0, 256, shape).astype(float)
    levels.flat[:2] = 0, 255
    return levels


def test_grey_levels_of_one_split_in_units_of_255_are_refused():
    own = image_set(classes=3)
    levels = grey_levels(own["train_images"].shape)
    with pytest.raises(ProjectError, match="test_images are 0 to 255, train images 0 to 1; give both splits"):
        images.checked_images(own | {"train_images": levels / 255, "test_images": levels})


def test_grey_levels_of_both_splits_in_one_unit_are_accepted():
    own = image_set(classes=3)
    levels = grey_levels(own["train_images"].shape)
    images.checked_images(own | {"train_images": levels, "test_images": np.roll(levels, 1)})


def test_an_array_whose_mask_hides_nothing_becomes_a_plain_one():
    own = image_set()
    checked = images.checked_images(own | {"train_images": np.ma.array(own["train_images"])})
    assert not isinstance(checked["train_images"], np.ma.MaskedArray)


def with_three_images(split):
    """Return a data set of which one split has two images of the first class and one of the second."""
    own = image_set()
    return own | {f"{split}_{kind}": own[f"{split}_{kind}"][:3] for kind in ("images", "labels")}


def test_train_images_must_be_equally_many_of_each_class_where_a_theorem_asks_for_it():
    with pytest.raises(ProjectError, match="train_labels have 1 to 2 images of a class; take equally many"):
        images.checked_images(with_three_images("train"), balanced=True)


@pytest.mark.parametrize(("split", "balanced"), [("train", False), ("test", True)])
def test_other_splits_and_train_images_of_other_theorems_may_have_more_of_one_class(split, balanced):
    images.checked_images(with_three_images(split), balanced=balanced)


def test_arrays_that_a_data_set_lacks_are_named():
    with pytest.raises(ProjectError, match="lacks train_labels, test_images, test_labels, name; return train_images"):
        images.checked_images({"train_images": image_set()["train_images"]})
