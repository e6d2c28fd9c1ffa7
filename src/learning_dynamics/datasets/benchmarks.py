"""The five image data sets of the paper in their original files: MNIST, FashionMNIST, CIFAR10, SVHN, STL10.

Each function reads a folder, downloads there what is missing, and returns arrays as `images.digits` does.
Train images are a random subset with equally many of each class, sorted by class; test images are all.
"""

import gzip
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.io import loadmat
from scipy.io.matlab import MatReadError

from learning_dynamics.datasets.downloads import obtained
from learning_dynamics.datasets.images import balanced_split, padded
from learning_dynamics.errors import ProjectError
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
    inside = "cifar-10-batches-bin"
    train = [_records(path, f"{inside}/data_batch_{number}.bin") for number in range(1, 6)]
    images, labels = (np.concatenate(parts) for parts in zip(*train, strict=True))
    return _balanced("cifar10", [images, labels, *_records(path, f"{inside}/test_batch.bin")], per_class, seed)


def svhn(*, folder: str, per_class: Count, checksums: bool = True, seed: Seed) -> Arrays:
    """House numbers, 32 x 32 colour pixels (Netzer et al. 2011), cropped digits."""
    splits: list[np.ndarray] = []
    for name, md5 in SVHN_FILES.items():
        path = obtained(name, folder, SVHN_MIRRORS, md5, check=checksums)
        try:
            contents = loadmat(path)
        except (MatReadError, ValueError, TypeError, OSError, zlib.error) as error:
            raise ProjectError(f"{path}: truncated or not a MATLAB file ({error}); replace it") from error
        if not {"X", "y"} <= set(contents) or contents["X"].ndim != 4:
            raise ProjectError(f"{path}: holds no images `X` with labels `y`; replace it with the cropped digits")
        # digit 0 is labelled 10 in the file
        splits += [contents["X"].transpose(3, 2, 0, 1), _checked(contents["y"].ravel(), 1, path) % CLASSES]
    return _balanced("svhn", splits, per_class, seed)


def stl10(*, folder: str, per_class: Count, checksums: bool = True, seed: Seed) -> Arrays:
    """Objects, 96 x 96 colour pixels (Coates, Lee, Ng 2011), the labelled images."""
    path = obtained("stl10_binary.tar.gz", folder, STL10_MIRRORS, STL10_MD5, check=checksums)
    splits: list[np.ndarray] = []
    for split in ("train", "test"):
        pixels = np.frombuffer(_member(path, f"stl10_binary/{split}_X.bin"), np.uint8)
        labels = np.frombuffer(_member(path, f"stl10_binary/{split}_y.bin"), np.uint8)
        if pixels.size != labels.size * 3 * 96 * 96:
            raise ProjectError(
                f"{path}: {split}_X.bin has {pixels.size} bytes for {labels.size} labels; truncated, replace it"
            )
        # stored column by column
        splits += [pixels.reshape(-1, 3, 96, 96).swapaxes(2, 3), _checked(labels, 1, path) - 1]
    return _balanced("stl10", splits, per_class, seed)


def _balanced(name: str, splits: Sequence[np.ndarray], per_class: int, seed: int) -> Arrays:
    """Return the arrays of a data set from train images and labels and test images and labels."""
    train_images, train_labels, test_images, test_labels = splits
    chosen, _ = balanced_split(train_labels, per_class, generators(seed, "benchmarks.subset", 1)[0])
    return {
        "train_images": train_images[chosen],
        "train_labels": train_labels[chosen].astype(np.int64),
        "test_images": np.ascontiguousarray(test_images),
        "test_labels": test_labels.astype(np.int64),
        "name": np.array(name),
    }


def _idx_set(
    name: str,
    folder: str,
    mirrors: tuple[str, ...],
    files: dict[str, str],
    per_class: int,
    pad_to: int,
    check: bool,
    seed: int,
) -> Arrays:
    arrays: list[np.ndarray] = []
    for (file, md5), dimensions in zip(files.items(), (3, 1, 3, 1), strict=True):
        path = obtained(file, folder, mirrors, md5, check=check)
        array = read_idx(path, dimensions)
        if dimensions == 3:
            arrays.append(padded(array[:, None], pad_to))
            continue
        if len(array) != len(arrays[-1]):
            raise ProjectError(
                f"{path}: {len(array)} labels for {len(arrays[-1])} images; the files do not belong together"
            )
        arrays.append(_checked(array, 0, path))
    return _balanced(name, arrays, per_class, seed)


def read_idx(path: Path, dimensions: int) -> np.ndarray:
    """Read bytes from a gzipped IDX file, the format of MNIST.

    Parameters
    ----------
    path : Path
    dimensions : int
        Expected number of array dimensions, the last byte of the magic number.

    Raises
    ------
    ProjectError
        If the file is truncated, or its magic number is another one.
    """
    try:
        with gzip.open(path) as stream:
            content = stream.read()
    except (OSError, EOFError, zlib.error) as error:
        raise ProjectError(f"{path}: truncated or not gzip ({error}); replace it") from error
    if len(content) < 4 or content[:4] != bytes([0, 0, 8, dimensions]):
        raise ProjectError(
            f"{path}: magic number is {content[:4].hex()}, expected 000008{dimensions:02x} (bytes in {dimensions} "
            "dimensions); it is another file, replace it"
        )
    start = 4 + 4 * dimensions
    shape = tuple(int(size) for size in np.frombuffer(content[4:start], ">u4"))
    values = np.frombuffer(content[start:], np.uint8)
    if len(shape) != dimensions or values.size != np.prod(shape):
        raise ProjectError(f"{path}: {values.size} values for shape {shape}; truncated, replace it")
    return values.reshape(shape)


def _records(path: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of a CIFAR10 batch: records of one label byte and 3 x 32 x 32 pixels."""
    content = np.frombuffer(_member(path, name), np.uint8)
    size = 1 + 3 * 32 * 32
    if content.size == 0 or content.size % size:
        raise ProjectError(f"{path}: {name} has {content.size} bytes, no multiple of {size}; truncated, replace it")
    records = content.reshape(-1, size)
    return records[:, 1:].reshape(-1, 3, 32, 32), _checked(records[:, 0], 0, path)


def _member(path: Path, name: str) -> bytes:
    try:
        with tarfile.open(path) as archive:
            stream = archive.extractfile(name)
            if stream is None:
                raise KeyError(name)
            return stream.read()
    except KeyError:
        raise ProjectError(f"{path}: has no file {name}; it is another archive, replace it") from None
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        raise ProjectError(f"{path}: truncated or not a tar archive ({error}); replace it") from error


def _checked(labels: np.ndarray, first: int, path: Path) -> np.ndarray:
    """Return labels as int64 after a look at their range, `first` to `first` + 9."""
    labels = labels.astype(np.int64)
    wrong = (labels < first) | (labels >= first + CLASSES)
    if wrong.any():
        raise ProjectError(f"{path}: label {labels[wrong][0]} is outside {first} to {first + CLASSES - 1}; replace it")
    return labels
