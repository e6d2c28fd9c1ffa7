"""The five data sets read from small files in their original formats, and every way in which a file can be wrong."""

import gzip
import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from learning_dynamics.datasets import benchmarks, downloads, regression_tables
from learning_dynamics.errors import ProjectError
from tests.datasets import original_formats as formats

# by data set: what writes its files, and the shape of its images, channels first
WRITE = {
    "mnist": formats.write_mnist,
    "fashion_mnist": formats.write_mnist,
    "cifar10": formats.write_cifar10,
    "svhn": formats.write_svhn,
    "stl10": formats.write_stl10,
}
SHAPE = {
    "mnist": (1, 32, 32),  # 28 by 28 pixels, padded
    "fashion_mnist": (1, 32, 32),
    "cifar10": (3, 32, 32),
    "svhn": (3, 32, 32),
    "stl10": (3, 96, 96),
}
# numbers of train and test images
COUNTS = {"mnist": (40, 20), "fashion_mnist": (40, 20), "cifar10": (50, 10), "svhn": (30, 30), "stl10": (20, 20)}


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    """Data sets are as large as those of `original_formats`, and no other folder or machine has them."""
    monkeypatch.setattr(benchmarks, "COUNTS", COUNTS)
    for name in WRITE:
        files = getattr(benchmarks, name.upper())
        here = [replace(file, packages=(), mirrors=("http://127.0.0.1:9/",)) for file in np.atleast_1d(files)]
        monkeypatch.setattr(benchmarks, name.upper(), tuple(here) if isinstance(files, tuple) else here[0])


def read(name, folder, *, per_class=2, checksums=False):
    """Return the arrays of a data set from the files in a folder: `per_class` train images of each class."""
    return getattr(benchmarks, name)(folder=str(folder), per_class=per_class, checksums=checksums, seed=1)


@pytest.mark.parametrize("name", WRITE)
def test_train_images_are_equally_many_of_each_class_sorted_by_class(name, tmp_path):
    WRITE[name](tmp_path)
    data = read(name, tmp_path, per_class=2)
    assert data["train_images"].shape == (2 * 10, *SHAPE[name])
    assert data["train_images"].dtype == np.uint8
    np.testing.assert_array_equal(data["train_labels"], np.repeat(np.arange(10), 2))


@pytest.mark.parametrize("name", WRITE)
def test_test_images_are_those_of_the_file_pixel_by_pixel(name, tmp_path):
    WRITE[name](tmp_path)
    data = read(name, tmp_path)
    channels, padded_size, _ = SHAPE[name]
    size = 28 if "mnist" in name else padded_size
    seed = 5 if name == "cifar10" else 0  # of the test batch, the sixth
    images, labels = formats.arrays(len(data["test_labels"]), channels, size, seed)
    margin = (padded_size - size) // 2
    np.testing.assert_array_equal(
        data["test_images"], np.pad(images, [(0, 0), (0, 0), (margin, margin), (margin, margin)])
    )
    np.testing.assert_array_equal(data["test_labels"], labels)


# -- files with a fault ------------------------------------------------------------------------------------------------

TRAIN, TRAIN_LABELS, TEST, TEST_LABELS = (file.name for file in benchmarks.MNIST)
PIXELS = formats.arrays(count=40, channels=1, size=28)[0][:, 0]
LABELS_OF_NINE_CLASSES = (np.arange(40) % 9).astype(np.uint8)
LABELS_OF_TEN_CLASSES = (np.arange(40) % 10).astype(np.uint8)
RECORD = 1 + 3 * 32 * 32  # bytes of an image and its label in CIFAR10
CIFAR, STL, MAT = "cifar-10-binary.tar.gz", "stl10_binary.tar.gz", "test_32x32.mat"
# images and labels as SVHN's file has them
HOUSES, NUMBERS = formats.arrays(count=30, channels=3, size=32)
HOUSES, NUMBERS = HOUSES.transpose(2, 3, 1, 0), np.where(NUMBERS == 0, 10, NUMBERS)[:, None]


# each of the following returns a function that spoils the files in a folder; `change` takes and returns bytes


def replaced_idx(arrays):
    """Write IDX files over those that are there: arrays by the names of files."""

    def spoil(folder):
        for name, array in arrays.items():
            formats.write_idx(folder / name, array)

    return spoil


def changed(file, change):
    """Change a file's bytes."""
    return lambda folder: (folder / file).write_bytes(change((folder / file).read_bytes()))


def changed_in_gzip(file, change):
    """Change the bytes of a file that is packed with gzip."""
    return changed(file, lambda zipped: gzip.compress(change(gzip.decompress(zipped))))


def changed_in_archive(name, change):
    """Change the file in an archive whose name ends so; None leaves it out."""
    archive, members = (CIFAR, formats.cifar10_members) if "batch" in name else (STL, formats.stl10_members)

    def spoil(folder):
        others = {key: content for key, content in members().items() if not key.endswith(name)}
        (whole_name,) = members().keys() - others.keys()
        content = change(members()[whole_name])
        formats.write_archive(folder / archive, others if content is None else others | {whole_name: content})

    return spoil


def stl10_with_test_images(count):
    """Write STL10 with the first test images and their labels alone."""
    few = formats.stl10_members(count)

    def spoil(folder):
        members = {name: few[name] if "test" in name else whole for name, whole in formats.stl10_members().items()}
        formats.write_archive(folder / STL, members)

    return spoil


def replaced_mat(**arrays):
    """Write SVHN's test file with other arrays."""
    return lambda folder: savemat(folder / MAT, {"X": HOUSES, "y": NUMBERS} | arrays)


def first_bytes(count):
    """Return a change that keeps the first bytes."""
    return lambda whole: whole[:count]


def last_bit_flipped(whole):
    return whole[:-1] + bytes([whole[-1] ^ 1])


# by fault: the data set, what spoils its files, and words of the refusal
FAULTS = {
    "magic number": (
        "mnist",
        changed_in_gzip(TRAIN, lambda whole: b"\0\0\x0d" + whole[3:]),
        f"{TRAIN}: cannot be read .*its magic number is 00000d03",
    ),
    "cut values": (
        "mnist",
        changed_in_gzip(TRAIN, lambda whole: whole[:-5]),
        f"{TRAIN}: cannot be read .*array of size {PIXELS.size - 5} into shape",
    ),
    "fewer images": (
        "mnist",
        replaced_idx({TRAIN: PIXELS[:39]}),
        rf"{TRAIN_LABELS}: train labels have shape \(40,\) beside 39 images",
    ),
    "sizes that padding hides": (
        "mnist",
        replaced_idx({TRAIN: PIXELS[:, 1:], TEST: PIXELS[:20, 1:]}),
        rf"{TRAIN}: train images have \(1, 27, 28\) channels, rows and columns; they must have \(1, 28, 28\)",
    ),
    "nine classes": (
        "mnist",
        replaced_idx({TRAIN_LABELS: LABELS_OF_NINE_CLASSES, TEST_LABELS: LABELS_OF_NINE_CLASSES[:20]}),
        f"{TRAIN_LABELS}: train labels are 0, 1, 2, 3, 4, 5, 6, 7, 8; they must be 0 to 9",
    ),
    "cells": (
        "svhn",
        replaced_mat(y=NUMBERS.astype(object)),
        f"{MAT}: test labels of type object must be whole numbers",
    ),
    "float test images": (
        "svhn",
        replaced_mat(X=HOUSES / 255),
        rf"{MAT}: test images are float64 \(3, 32, 32\), train images uint8",
    ),
    "a page": ("svhn", changed(MAT, lambda _: b"<html></html>"), f"{MAT}: cannot be read"),
    "empty batch": (
        "cifar10",
        changed_in_archive("batch_2.bin", lambda _: b""),
        f"{CIFAR}: cifar-10-batches-bin/data_batch_2.bin: holds 0 images",
    ),
    "a batch of four": (
        "cifar10",
        changed_in_archive("batch_2.bin", first_bytes(4 * RECORD)),
        "data_batch_2.bin: holds 4 images, the published file 10",
    ),
    "a longer batch": (
        "cifar10",
        changed_in_archive("test_batch.bin", lambda whole: 2 * whole),
        "test_batch.bin: holds 20 images, the published file 10",
    ),
    "a cut record": (
        "cifar10",
        changed_in_archive("batch_2.bin", first_bytes(4 * RECORD - 1)),
        "data_batch_2.bin: cannot be read",
    ),
    "no batch": (
        "cifar10",
        changed_in_archive("batch_2.bin", lambda _: None),
        f"{CIFAR}: cannot be read .*it has no cifar-10-batches-bin/data_batch_2.bin",
    ),
    "first images": (
        "mnist",
        replaced_idx({TRAIN: PIXELS[:30], TRAIN_LABELS: LABELS_OF_TEN_CLASSES[:30]}),
        f"{TRAIN}: holds 30 images, the published file 40",
    ),
    "fewer numbers": ("svhn", replaced_mat(X=HOUSES[..., :20], y=NUMBERS[:20]), f"{MAT}: holds 20 images"),
    "ten test images": ("stl10", stl10_with_test_images(10), "test_X.bin: holds 10 images, the published file 20"),
    "label 0": (
        "stl10",
        changed_in_archive("test_y.bin", lambda whole: b"\0" + whole[1:]),
        "test_y.bin: test labels are -1, 0",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_with_a_fault_is_refused_in_one_line_that_names_it(fault, tmp_path):
    name, spoil, message = FAULTS[fault]
    WRITE[name](tmp_path)
    spoil(tmp_path)
    with pytest.raises(ProjectError, match=rf"{message}.*; replace it$"):
        read(name, tmp_path)


# -- checksums ---------------------------------------------------------------------------------------------------------


def publish(name, folder, monkeypatch):
    """Write a small data set, whose checksums are the published ones from now on."""
    WRITE[name](folder)
    unpacked = folder.with_name("unpacked")
    shutil.copytree(folder, unpacked)
    formats.unpack(unpacked)

    def of_small_files(file):
        contents = {part: _md5(unpacked / part) for part in file.contents}
        return replace(file, md5=_md5(folder / file.name), contents=contents)

    files = getattr(benchmarks, name.upper())
    small = tuple(map(of_small_files, files)) if isinstance(files, tuple) else of_small_files(files)
    monkeypatch.setattr(benchmarks, name.upper(), small)


def _md5(path):
    return hashlib.md5(path.read_bytes()).hexdigest()


def as_published(folder):
    """Leave the files as they are."""


@pytest.mark.parametrize("name", WRITE)
@pytest.mark.parametrize("wrap", [as_published, formats.pack_again, formats.unpack])
def test_published_content_is_accepted_however_it_is_packed(name, wrap, tmp_path, monkeypatch):
    publish(name, tmp_path / "files", monkeypatch)
    original = read(name, tmp_path / "files", checksums=True)
    wrap(tmp_path / "files")
    again = read(name, tmp_path / "files", checksums=True)
    np.testing.assert_equal(again, original)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("mnist", TRAIN.removesuffix(".gz")),
        ("fashion_mnist", TEST_LABELS.removesuffix(".gz")),
        ("cifar10", "cifar-10-batches-bin/data_batch_5.bin"),
        ("svhn", MAT),
        ("stl10", "stl10_binary/test_X.bin"),
    ],
)
def test_one_flipped_bit_is_refused_with_the_setting_that_accepts_it(name, file, tmp_path, monkeypatch):
    publish(name, tmp_path / "files", monkeypatch)
    formats.unpack(tmp_path / "files")
    flip_last_bit = changed(file, last_bit_flipped)
    flip_last_bit(tmp_path / "files")
    message = f"{file}: the MD5 of its content is .*, of the published content .*; delete it .*set `checksums: false`"
    with pytest.raises(ProjectError, match=message):
        read(name, tmp_path / "files", checksums=True)


@pytest.mark.parametrize(("name", "archive"), [("mnist", TEST), ("cifar10", CIFAR)])
def test_one_flipped_bit_in_an_archive_that_is_packed_again_is_refused(name, archive, tmp_path, monkeypatch):
    publish(name, tmp_path / "files", monkeypatch)
    if name == "mnist":
        flip_last_bit = changed_in_gzip(archive, last_bit_flipped)
    else:
        flip_last_bit = changed_in_archive("data_batch_3.bin", last_bit_flipped)
    flip_last_bit(tmp_path / "files")
    with pytest.raises(ProjectError, match=rf"{archive}: .*the MD5 of its content is .*`checksums: false`"):
        read(name, tmp_path / "files", checksums=True)


@pytest.fixture
def stl10_with_wrong_checksums_of_content(tmp_path, monkeypatch):
    """A folder with STL10, whose archive has its checksum and whose files have others than those published."""
    publish("stl10", tmp_path / "files", monkeypatch)
    wrong = replace(benchmarks.STL10, contents=dict.fromkeys(benchmarks.STL10.contents, "0" * 32))
    monkeypatch.setattr(benchmarks, "STL10", wrong)
    return tmp_path / "files"


def test_an_archive_with_its_own_checksum_is_accepted_without_those_of_its_content(
    stl10_with_wrong_checksums_of_content,
):
    data = read("stl10", stl10_with_wrong_checksums_of_content, checksums=True)
    assert len(data["test_labels"]) == 20


def test_an_archive_that_is_packed_again_is_checked_by_its_content(stl10_with_wrong_checksums_of_content):
    formats.pack_again(stl10_with_wrong_checksums_of_content)
    with pytest.raises(ProjectError, match="of the published content 0000"):
        read("stl10", stl10_with_wrong_checksums_of_content, checksums=True)


def test_an_unpacked_archive_that_lacks_a_file_is_refused(tmp_path, monkeypatch):
    publish("cifar10", tmp_path / "files", monkeypatch)
    formats.unpack(tmp_path / "files")
    (tmp_path / "files/cifar-10-batches-bin/data_batch_4.bin").unlink()
    with pytest.raises(ProjectError, match=rf"data_batch_4.bin: no such file, but .* add it, or put {CIFAR} into"):
        read("cifar10", tmp_path / "files")


# -- where files come from ---------------------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder in which a package of the distribution has installed Fashion-MNIST."""
    folder = tmp_path / "package"
    publish("fashion_mnist", folder, monkeypatch)
    formats.pack_again(folder)
    installed = tuple(replace(file, packages=(str(folder),)) for file in benchmarks.FASHION_MNIST)
    monkeypatch.setattr(benchmarks, "FASHION_MNIST", installed)
    return folder


def test_a_package_of_the_distribution_is_read_where_the_folder_has_nothing(package, tmp_path):
    assert len(read("fashion_mnist", tmp_path / "empty", checksums=True)["test_labels"]) == 20
    assert not (tmp_path / "empty").exists()


def test_a_package_of_the_distribution_is_checked_even_without_checksums(package, tmp_path):
    formats.unpack(package)
    flip_last_bit = changed(TRAIN.removesuffix(".gz"), last_bit_flipped)
    flip_last_bit(package)
    with pytest.raises(ProjectError, match=rf"of the published content .* put {TRAIN} into {tmp_path}/empty"):
        read("fashion_mnist", tmp_path / "empty", checksums=False)


PACKAGE = Path(benchmarks.FASHION_MNIST[0].packages[0])


@pytest.mark.skipif(not PACKAGE.is_dir(), reason="the package dataset-fashion-mnist is not installed")
def test_debians_package_holds_the_published_images(tmp_path, monkeypatch):
    monkeypatch.undo()  # of `small_sets`
    data = read("fashion_mnist", tmp_path / "empty", per_class=6000, checksums=True)
    assert data["train_images"].shape == (60000, 1, 32, 32)
    assert np.bincount(data["test_labels"]).tolist() == [1000] * 10
    trousers, coats = 1, 4  # labels
    grey_of_trousers, grey_of_coats = (
        data["test_images"][data["test_labels"] == label].mean() for label in (trousers, coats)
    )
    # a pair of trousers covers little more than half as much of the picture as a coat
    assert grey_of_trousers < 0.7 * grey_of_coats


@pytest.fixture
def mirror(tmp_path):
    """Return a folder that is served, and its address."""
    served = tmp_path / "served"
    served.mkdir()
    return served, f"{served.as_uri()}/"


def test_a_missing_file_is_downloaded_once_from_the_mirror_that_has_it(mirror, tmp_path):
    served, address = mirror
    (served / "file.bin").write_bytes(b"contents")
    mirrors = (address + "nowhere/", address)  # the first of them has no such file
    file = downloads.Published("file.bin", md5=hashlib.md5(b"contents").hexdigest(), contents={}, mirrors=mirrors)
    into = tmp_path / "into"
    assert downloads.obtain(file, into, pause=0)["file.bin"].data == b"contents"
    (served / "file.bin").unlink()
    kept = downloads.obtain(file, into, pause=0)["file.bin"]
    assert (kept.data, kept.path) == (b"contents", into / "file.bin")


def test_a_damaged_download_leaves_nothing_behind(mirror, tmp_path):
    served, address = mirror
    (served / "file.bin").write_bytes(b"damaged")
    file = downloads.Published("file.bin", md5="0" * 32, contents={}, mirrors=(address,))
    with pytest.raises(ProjectError, match=r"cannot be downloaded .*put the file into that folder"):
        downloads.obtain(file, tmp_path / "into", pause=0)
    assert list((tmp_path / "into").iterdir()) == []


def test_a_folder_may_be_given_from_the_home_folder_on(tmp_path, monkeypatch):
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
def test_a_path_that_is_no_folder_of_data_is_refused_and_nothing_is_created(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(downloads, "ATTEMPTS", 1)
    (tmp_path / "file").touch()
    with pytest.raises(ProjectError, match=message):
        read("mnist", text)
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_the_file_of_the_gas_sensors_may_be_given_from_the_home_folder_on(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ProjectError, match=rf"^{tmp_path}/gas.zip: no such file; download"):
        regression_tables.gas_sensor(file="~/gas.zip")
