"""The five data sets read from small files in their original formats, and every way in which a file can be wrong."""

import gzip
import hashlib

import numpy as np
import pytest
from scipy.io import savemat

from learning_dynamics.datasets import benchmarks, downloads, regression_tables
from learning_dynamics.errors import ProjectError
from tests.datasets import original_formats as formats

SETS = {
    "mnist": (formats.write_mnist, (1, 32, 32)),
    "fashion_mnist": (formats.write_mnist, (1, 32, 32)),
    "cifar10": (formats.write_cifar10, (3, 32, 32)),
    "svhn": (formats.write_svhn, (3, 32, 32)),
    "stl10": (formats.write_stl10, (3, 96, 96)),
}


def read(name, folder, per_class=2, **settings):
    return getattr(benchmarks, name)(folder=str(folder), per_class=per_class, checksums=False, seed=1, **settings)


@pytest.mark.parametrize("name", SETS)
def test_pixels_lie_where_the_file_has_them_and_train_images_are_balanced_and_sorted(name, tmp_path):
    write, shape = SETS[name]
    write(tmp_path)
    data = read(name, tmp_path)
    assert data["train_images"].shape == (20, *shape)
    assert data["train_images"].dtype == np.uint8
    np.testing.assert_array_equal(data["train_labels"], np.repeat(np.arange(10), 2))
    size = 28 if "mnist" in name else shape[-1]
    images, labels = formats.arrays(len(data["test_labels"]), shape[0], size, seed=5 if name == "cifar10" else 0)
    margin = (shape[-1] - size) // 2
    padded = np.pad(images, [(0, 0), (0, 0), (margin, margin), (margin, margin)])
    np.testing.assert_array_equal(data["test_images"], padded)
    np.testing.assert_array_equal(data["test_labels"], labels)


TRAIN, TRAIN_LABELS, TEST, TEST_LABELS = benchmarks.MNIST_FILES
PIXELS = formats.arrays(40, 1, 28)[0][:, 0]
NINE = (np.arange(40) % 9).astype(np.uint8)
CIFAR, STL, MAT = "cifar-10-binary.tar.gz", "stl10_binary.tar.gz", "test_32x32.mat"
HOUSES, NUMBERS = formats.arrays(30, 3, 32)
HOUSES, NUMBERS = HOUSES.transpose(2, 3, 1, 0), np.where(NUMBERS == 0, 10, NUMBERS)[:, None]


def idx(**arrays):
    """Write IDX files anew, by the name of their constant here."""

    def spoil(folder):
        for name, array in arrays.items():
            formats.write_idx(folder / globals()[name], array)

    return spoil


def content(file, change):
    """Change a file's bytes."""
    return lambda folder: (folder / file).write_bytes(change((folder / file).read_bytes()))


def unzipped(file, change):
    return content(file, lambda zipped: gzip.compress(change(gzip.decompress(zipped))))


def member(name, change):
    """Change a file in an archive; None leaves it out."""
    archive, members = (CIFAR, formats.cifar10_members) if "batch" in name else (STL, formats.stl10_members)

    def spoil(folder):
        changed = {key: change(value) if key.endswith(name) else value for key, value in members().items()}
        formats.write_archive(folder / archive, {key: value for key, value in changed.items() if value is not None})

    return spoil


def mat(**arrays):
    return lambda folder: savemat(folder / MAT, {"X": HOUSES, "y": NUMBERS} | arrays)


FAULTS = {
    "magic number": ("mnist", unzipped(TRAIN, lambda whole: b"\0\0\x0d" + whole[3:]), f"{TRAIN}: .* 00000d03"),
    "cut values": ("mnist", unzipped(TRAIN, lambda whole: whole[:-5]), f"{TRAIN}: cannot be read .* 31355 into"),
    "fewer images": ("mnist", idx(TRAIN=PIXELS[:39]), f"{TRAIN_LABELS}: .* beside 39 images"),
    "sizes that padding hides": ("mnist", idx(TRAIN=PIXELS[:, 1:], TEST=PIXELS[:20, 1:]), f"{TRAIN}: .* must have"),
    "nine classes": ("mnist", idx(TRAIN_LABELS=NINE, TEST_LABELS=NINE[:20]), f"{TRAIN_LABELS}: .* must be 0 to 9"),
    "cells": ("svhn", mat(y=NUMBERS.astype(object)), f"{MAT}: .* type object must be whole"),
    "float test images": ("svhn", mat(X=HOUSES / 255), f"{MAT}: .* float64 .* train images uint8"),
    "a page": ("svhn", content(MAT, lambda _: b"<html></html>"), f"{MAT}: cannot be read"),
    "empty batch": ("cifar10", member("batch_2.bin", lambda _: b""), f"{CIFAR}: .*batch_2.bin is empty"),
    "no batch": ("cifar10", member("batch_2.bin", lambda _: None), f"{CIFAR}: .*data_batch_2.bin' not found"),
    "label 0": ("stl10", member("test_y.bin", lambda whole: b"\0" + whole[1:]), f"{STL}: test labels are -1, 0"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_in_one_line_with_its_file(fault, tmp_path):
    name, spoil, message = FAULTS[fault]
    SETS[name][0](tmp_path)
    spoil(tmp_path)
    with pytest.raises(ProjectError, match=rf"{message}.*; replace it$"):
        read(name, tmp_path)


def test_a_file_with_another_checksum_is_refused(tmp_path):
    formats.write_mnist(tmp_path)
    with pytest.raises(ProjectError, match=rf"{TRAIN}: its MD5 is .* the published file's is f68b3c2d"):
        benchmarks.mnist(folder=str(tmp_path), per_class=2, seed=1)


@pytest.fixture
def mirror(tmp_path):
    """A folder that is served, and its address."""
    served = tmp_path / "served"
    served.mkdir()
    return served, f"{served.as_uri()}/"


def test_a_missing_file_is_downloaded_once_from_the_mirror_that_has_it(mirror, tmp_path):
    served, address = mirror
    (served / "file.bin").write_bytes(b"contents")
    md5 = hashlib.md5(b"contents").hexdigest()
    mirrors = (address + "nowhere/", address)
    path = downloads.obtained("file.bin", tmp_path / "into", mirrors, md5, pause=0)
    assert path.read_bytes() == b"contents"
    (served / "file.bin").unlink()
    assert downloads.obtained("file.bin", tmp_path / "into", mirrors, md5, pause=0) == path


def test_a_damaged_download_leaves_nothing_behind(mirror, tmp_path):
    served, address = mirror
    (served / "file.bin").write_bytes(b"damaged")
    with pytest.raises(ProjectError, match=r"cannot be downloaded .*put the file into that folder"):
        downloads.obtained("file.bin", tmp_path / "into", (address,), "0" * 32, pause=0)
    assert list((tmp_path / "into").iterdir()) == []


def test_a_folder_below_home_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    formats.write_mnist(tmp_path / "data/mnist")
    assert len(read("mnist", "~/data/mnist")["train_labels"]) == 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$DATA/mnist", r"folder: `\$DATA/mnist`: write the path out"),
        ("~nobody-of-that-name/mnist", "folder: .*no such path can be used"),
        ("file", "folder: file is a file; name the folder that holds"),
        ("absent/mnist", r"is not in /.*/absent/mnist and cannot be downloaded"),
    ],
)
def test_a_folder_that_is_none_is_refused_and_nothing_is_created(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(benchmarks, "MNIST_MIRRORS", ("http://127.0.0.1:9/",))
    monkeypatch.setattr(downloads, "ATTEMPTS", 1)
    (tmp_path / "file").touch()
    with pytest.raises(ProjectError, match=message):
        read("mnist", text)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_single_file_of_the_configuration_is_a_path_alike(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ProjectError, match=rf"^{tmp_path}/gas.zip: no such file; download"):
        regression_tables.gas_sensor(file="~/gas.zip")
