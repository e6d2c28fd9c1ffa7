"""The five image data sets of the paper in their original files: MNIST, FashionMNIST, CIFAR10, SVHN, STL10.

Each function reads a folder, downloads there what is missing, and returns arrays as `images.digits` does.
Train images are a random subset with equally many of each class, sorted by class; test images are all. Files that
cannot be read, are not the published ones, or do not belong together, are a `ProjectError` that names one of them.
"""

import io
from collections.abc import Sequence

import numpy as np
from scipy.io import loadmat

from learning_dynamics.datasets.downloads import Content, Published, obtain, parse
from learning_dynamics.datasets.images import ARRAYS, balanced_split, checked_images, padded
from learning_dynamics.errors import ProjectError
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Seed

Arrays = dict[str, np.ndarray]
CLASSES = 10
COUNTS = {  # published train and test images
    "mnist": (60000, 10000),
    "fashion_mnist": (60000, 10000),
    "cifar10": (50000, 10000),
    "svhn": (73257, 26032),
    "stl10": (5000, 8000),
}

# MD5 of archives are the authors'. Of what is in them, those of FashionMNIST were computed here: compressed as it is in
# Debian's package, under the original name and date, that content has the published checksums. The others are those
# that several projects list which unpack the archives.
MNIST = tuple(
    Published(
        f"{name}.gz",
        md5,
        {name: content_md5},
        mirrors=(
            "https://ossci-datasets.s3.amazonaws.com/mnist/",
            "https://storage.googleapis.com/cvdf-datasets/mnist/",
        ),
    )
    for name, md5, content_md5 in (
        ("train-images-idx3-ubyte", "f68b3c2dcbeaaa9fbdd348bbdeb94873", "6bbc9ace898e44ae57da46a324031adb"),
        ("train-labels-idx1-ubyte", "d53e105ee54ea40749a09fcbcd1e9432", "a25bea736e30d166cdddb491f175f624"),
        ("t10k-images-idx3-ubyte", "9fb629c4189551a2d022fa330f9573f3", "2646ac647ad5339dbf082846283269ea"),
        ("t10k-labels-idx1-ubyte", "ec29112dd5afa0611ce80d1b7f02629c", "27ae3e4e09519cfbb04c329615203637"),
    )
)
FASHION_MNIST = tuple(
    Published(
        f"{name}.gz",
        md5,
        {name: content_md5},
        mirrors=(
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
        ),
        packages=("/usr/share/datasets/fashion-mnist",),  # Debian's dataset-fashion-mnist
    )
    for name, md5, content_md5 in (
        ("train-images-idx3-ubyte", "8d4fb7e6c68d591d4c3dfef9ec88bf0d", "f4a8712d7a061bf5bd6d2ca38dc4d50a"),
        ("train-labels-idx1-ubyte", "25c81989df183df01b3e8a0aad5dffbe", "9018921c3c673c538a1fc5bad174d6f9"),
        ("t10k-images-idx3-ubyte", "bef4ecab320f06d8554ea6380940ec79", "8181f5470baa50b63fa0f6fddb340f0a"),
        ("t10k-labels-idx1-ubyte", "bb300cfdad3c16e7a12a480ee83cd310", "15d484375f8d13e6eb1aabb0c3f46965"),
    )
)
CIFAR10 = Published(
    "cifar-10-binary.tar.gz",
    "c32a1d4ab5d03f1284b67883e8d87530",
    {
        "cifar-10-batches-bin/data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
        "cifar-10-batches-bin/data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
        "cifar-10-batches-bin/data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
        "cifar-10-batches-bin/data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
        "cifar-10-batches-bin/data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
        "cifar-10-batches-bin/test_batch.bin": "803d5f7f4d78ea53de84dbe85f74fb6d",
    },
    mirrors=("https://www.cs.toronto.edu/~kriz/", "https://cave.cs.toronto.edu/kriz/"),
)
SVHN = tuple(
    Published(name, md5, {}, mirrors=("http://ufldl.stanford.edu/housenumbers/",))
    for name, md5 in (
        ("train_32x32.mat", "e26dedcc434d2e4c54c9b2d4a06d8373"),
        ("test_32x32.mat", "eb5a983be6a315427106f1b164d9cef3"),
    )
)
STL10 = Published(
    "stl10_binary.tar.gz",
    "91f7769df0f17e558f3565bffb0c7dfb",
    {
        "stl10_binary/train_X.bin": "918c2871b30a85fa023e0c44e0bee87f",
        "stl10_binary/train_y.bin": "5a34089d4802c674881badbb80307741",
        "stl10_binary/test_X.bin": "7f263ba9f9e0b06b93213547f721ac82",
        "stl10_binary/test_y.bin": "36f9794fa4beb8a2c72628de14fa638e",
    },
    mirrors=("http://ai.stanford.edu/~acoates/stl10/",),
)


def mnist(*, folder: str, per_class: Count, pad_to: Count = 32, checksums: bool = True, seed: Seed) -> Arrays:
    """Handwritten digits, 28 x 28 grey pixels (LeCun et al. 1998), padded."""
    return _padded_set("mnist", MNIST, folder, per_class, pad_to, checksums, seed)


def fashion_mnist(*, folder: str, per_class: Count, pad_to: Count = 32, checksums: bool = True, seed: Seed) -> Arrays:
    """Clothes, 28 x 28 grey pixels (Xiao, Rasul, Vollgraf 2017), padded."""
    return _padded_set("fashion_mnist", FASHION_MNIST, folder, per_class, pad_to, checksums, seed)


def cifar10(*, folder: str, per_class: Count, checksums: bool = True, seed: Seed) -> Arrays:
    """Objects, 32 x 32 colour pixels (Krizhevsky 2009), from the binary version."""
    *train, test = obtain(CIFAR10, folder, check=checksums).values()
    in_batch = COUNTS["cifar10"][0] // len(train)
    batches = [_cifar10_batch(batch, in_batch) for batch in train]
    images, labels = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    arrays = [images, labels, *_cifar10_batch(test, COUNTS["cifar10"][1])]
    return _balanced("cifar10", (3, 32, 32), [train[0], train[0], test, test], arrays, per_class, seed)


def svhn(*, folder: str, per_class: Count, checksums: bool = True, seed: Seed) -> Arrays:
    """House numbers, 32 x 32 colour pixels (Netzer et al. 2011), cropped digits."""
    files = [content for file in SVHN for content in obtain(file, folder, check=checksums).values()]
    arrays = [array for file in files for array in parse(file, _svhn_arrays)]
    return _balanced("svhn", (3, 32, 32), [file for file in files for _ in range(2)], arrays, per_class, seed)


def stl10(*, folder: str, per_class: Count, checksums: bool = True, seed: Seed) -> Arrays:
    """Objects, 96 x 96 colour pixels (Coates, Lee, Ng 2011), the labelled images."""
    files = list(obtain(STL10, folder, check=checksums).values())
    parsers = [_stl10_images, _stl10_labels] * 2
    arrays = [parse(file, parser) for file, parser in zip(files, parsers, strict=True)]
    return _balanced("stl10", (3, 96, 96), files, arrays, per_class, seed)


def _balanced(
    name: str,
    shape: tuple[int, int, int],
    files: Sequence[Content],
    arrays: Sequence[np.ndarray],
    per_class: int,
    seed: int,
) -> Arrays:
    """Return a data set from train images and labels and test images and labels, and the file that each is from."""
    read = dict(zip(ARRAYS, arrays, strict=True)) | {"name": np.array(name)}
    sources = dict(zip(ARRAYS, files, strict=True))
    data = checked_images(read, shape=shape, classes=CLASSES, files=sources)
    for key, count in zip(("train_images", "test_images"), COUNTS[name], strict=True):
        _check_count(sources[key], len(data[key]), count)
    chosen, _ = balanced_split(data["train_labels"], per_class, generators(seed, "benchmarks.subset", 1)[0])
    data |= {key: data[key][chosen] for key in ("train_images", "train_labels")}
    return data | {"test_images": np.ascontiguousarray(data["test_images"])}


def _check_count(file: Content, count: int, published: int) -> None:
    """Refuse a file with too few images or too many, which without checksums nothing else would notice."""
    if count != published:
        raise ProjectError(f"{file}: holds {count} images, the published file {published}; replace it")


def _padded_set(
    name: str, files: Sequence[Published], folder: str, per_class: int, pad_to: int, check: bool, seed: int
) -> Arrays:
    contents = [content for file in files for content in obtain(file, folder, check=check).values()]
    train, train_labels, test, test_labels = (parse(content, idx_array) for content in contents)
    arrays = [train[:, None], train_labels, test[:, None], test_labels]
    data = _balanced(name, (1, 28, 28), contents, arrays, per_class, seed)
    return data | {key: padded(data[key], pad_to) for key in ("train_images", "test_images")}


def idx_array(content: bytes) -> np.ndarray:
    """Return the bytes of an IDX file, the format of MNIST, as an array.

    Raises
    ------
    ValueError
        If the file is another one, or cut short.
    """
    if content[:3] != bytes([0, 0, 8]):
        raise ValueError(f"its magic number is {content[:4].hex()}, that of bytes begins with 000008")
    start = 4 + 4 * content[3]
    return np.frombuffer(content[start:], np.uint8).reshape(np.frombuffer(content[4:start], ">u4"))


def _cifar10_batch(batch: Content, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return images and labels of records: one label byte and 3 x 32 x 32 pixels."""
    records = parse(batch, lambda content: np.frombuffer(content, np.uint8).reshape(-1, 1 + 3 * 32 * 32))
    _check_count(batch, len(records), count)
    return records[:, 1:].reshape(-1, 3, 32, 32), records[:, 0]


def _svhn_arrays(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    arrays = loadmat(io.BytesIO(content))
    labels = arrays["y"].ravel()
    return arrays["X"].transpose(3, 2, 0, 1), np.where(labels == CLASSES, 0, labels)  # digit 0 is labelled 10


def _stl10_images(content: bytes) -> np.ndarray:
    return np.frombuffer(content, np.uint8).reshape(-1, 3, 96, 96).swapaxes(2, 3)  # pixels lie column by column


def _stl10_labels(content: bytes) -> np.ndarray:
    return np.frombuffer(content, np.uint8).astype(np.int64) - 1  # labels begin with 1
