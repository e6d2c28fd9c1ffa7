"""The five image data sets of the paper in their original files: MNIST, FashionMNIST, CIFAR10, SVHN, STL10.

Each function reads a folder, downloads there what is missing, and returns arrays as `images.digits` does.
Train images are a random subset with equally many of each class, sorted by class; test images are all. Files that
cannot be read, or do not belong together, are a `ProjectError` that names one of them.
"""

import gzip
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from learning_dynamics.datasets.downloads import obtained, read_file
from learning_dynamics.datasets.images import ARRAYS, balanced_split, checked_images, padded
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Seed

Arrays = dict[str, np.ndarray]
CLASSES = 10

MNIST_MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
MNIST_FILES = {
    "train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
}
FASHION_MIRRORS = (
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
)
FASHION_FILES = {
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}
CIFAR10_MIRRORS = ("https://www.cs.toronto.edu/~kriz/", "https://cave.cs.toronto.edu/kriz/")
CIFAR10_MD5 = "c32a1d4ab5d03f1284b67883e8d87530"
SVHN_MIRRORS = ("http://ufldl.stanford.edu/housenumbers/",)
SVHN_FILES = {
    "train_32x32.mat": "e26dedcc434d2e4c54c9b2d4a06d8373",
    "test_32x32.mat": "eb5a983be6a315427106f1b164d9cef3",
}
STL10_MIRRORS = ("http://ai.stanford.edu/~acoates/stl10/",)
STL10_MD5 = "91f7769df0f17e558f3565bffb0c7dfb"


def mnist(*, folder: str, per_class: Count, pad_to: Count = 32, checksums: bool = True, seed: Seed) -> Arrays:
    """Handwritten digits, 28 x 28 grey pixels (LeCun et al. 1998), padded."""
    return _idx_set("mnist", folder, MNIST_MIRRORS, MNIST_FILES, per_class, pad_to, checksums, seed)


def fashion_mnist(*, folder: str, per_class: Count, pad_to: Count = 32, checksums: bool = True, seed: Seed) -> Arrays:
    """Clothes, 28 x 28 grey pixels (Xiao, Rasul, Vollgraf 2017), padded."""
    return _idx_set("fashion_mnist", folder, FASHION_MIRRORS, FASHION_FILES, per_class, pad_to, checksums, seed)


def cifar10(*, folder: str, per_class: Count, checksums: bool = True, seed: Seed) -> Arrays:
    """Objects, 32 x 32 colour pixels (Krizhevsky 2009), from the binary version."""
    path = obtained("cifar-10-binary.tar.gz", folder, CIFAR10_MIRRORS, CIFAR10_MD5, check=checksums)
    return _balanced("cifar10", (3, 32, 32), [path] * 4, read_file(path, _cifar10_arrays), per_class, seed)


def svhn(*, folder: str, per_class: Count, checksums: bool = True, seed: Seed) -> Arrays:
    """House numbers, 32 x 32 colour pixels (Netzer et al. 2011), cropped digits."""
    paths = [obtained(name, folder, SVHN_MIRRORS, md5, check=checksums) for name, md5 in SVHN_FILES.items()]
    arrays = [array for path in paths for array in read_file(path, _svhn_arrays)]
    return _balanced("svhn", (3, 32, 32), [path for path in paths for _ in range(2)], arrays, per_class, seed)


def stl10(*, folder: str, per_class: Count, checksums: bool = True, seed: Seed) -> Arrays:
    """Objects, 96 x 96 colour pixels (Coates, Lee, Ng 2011), the labelled images."""
    path = obtained("stl10_binary.tar.gz", folder, STL10_MIRRORS, STL10_MD5, check=checksums)
    return _balanced("stl10", (3, 96, 96), [path] * 4, read_file(path, _stl10_arrays), per_class, seed)


def _balanced(
    name: str,
    shape: tuple[int, int, int],
    files: Sequence[Path],
    arrays: Sequence[np.ndarray],
    per_class: int,
    seed: int,
) -> Arrays:
    """Return a data set from train images and labels and test images and labels, and the file that each is from."""
    read = dict(zip(ARRAYS, arrays, strict=True)) | {"name": np.array(name)}
    data = checked_images(read, shape=shape, classes=CLASSES, files=dict(zip(ARRAYS, files, strict=True)))
    chosen, _ = balanced_split(data["train_labels"], per_class, generators(seed, "benchmarks.subset", 1)[0])
    data |= {key: data[key][chosen] for key in ("train_images", "train_labels")}
    return data | {"test_images": np.ascontiguousarray(data["test_images"])}


def _idx_set(
    name: str,
    folder: str,
    mirrors: tuple[str, ...],
    files: Mapping[str, str],
    per_class: int,
    pad_to: int,
    check: bool,
    seed: int,
) -> Arrays:
    paths = [obtained(file, folder, mirrors, md5, check=check) for file, md5 in files.items()]
    train, train_labels, test, test_labels = (read_file(path, idx_array) for path in paths)
    arrays = [train[:, None], train_labels, test[:, None], test_labels]
    data = _balanced(name, (1, 28, 28), paths, arrays, per_class, seed)
    return data | {key: padded(data[key], pad_to) for key in ("train_images", "test_images")}


def idx_array(path: Path) -> np.ndarray:
    """Return the bytes of a gzipped IDX file, the format of MNIST, as an array.

    Raises
    ------
    Exception
        Of whatever kind, if the file is another one, or cut short.
    """
    with gzip.open(path) as stream:
        content = stream.read()
    if content[:3] != bytes([0, 0, 8]):
        raise ValueError(f"its magic number is {content[:4].hex()}, that of bytes begins with 000008")
    start = 4 + 4 * content[3]
    return np.frombuffer(content[start:], np.uint8).reshape(np.frombuffer(content[4:start], ">u4"))


def _cifar10_arrays(path: Path) -> list[np.ndarray]:
    """Return images and labels from batches of records: one label byte and 3 x 32 x 32 pixels."""
    names = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
    *train, test = (
        np.frombuffer(content, np.uint8).reshape(-1, 1 + 3 * 32 * 32)
        for content in _members(path, [f"cifar-10-batches-bin/{name}.bin" for name in names])
    )
    return [
        array
        for records in (np.concatenate(train), test)
        for array in (records[:, 1:].reshape(-1, 3, 32, 32), records[:, 0])
    ]


def _svhn_arrays(path: Path) -> list[np.ndarray]:
    contents = loadmat(path)
    labels = contents["y"].ravel()
    return [contents["X"].transpose(3, 2, 0, 1), np.where(labels == CLASSES, 0, labels)]  # digit 0 is labelled 10


def _stl10_arrays(path: Path) -> list[np.ndarray]:
    names = [f"stl10_binary/{split}_{part}.bin" for split in ("train", "test") for part in "Xy"]
    train, train_labels, test, test_labels = (np.frombuffer(part, np.uint8) for part in _members(path, names))
    # pixels are stored column by column, labels begin with 1
    images = [pixels.reshape(-1, 3, 96, 96).swapaxes(2, 3) for pixels in (train, test)]
    labels = [numbers.astype(np.int64) - 1 for numbers in (train_labels, test_labels)]
    return [images[0], labels[0], images[1], labels[1]]


def _members(path: Path, names: Sequence[str]) -> list[bytes]:
    with tarfile.open(path) as archive:
        contents = [archive.extractfile(name).read() for name in names]  # type: ignore[union-attr]  # which raises, too
    if b"" in contents:
        raise ValueError(f"{names[contents.index(b'')]} is empty")
    return contents
