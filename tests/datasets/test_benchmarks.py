"""The five data sets read from small files in their original formats, and every way in which a file can be wrong."""

import hashlib
import http.server
import threading

import numpy as np
import pytest

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
def test_images_come_back_balanced_and_sorted(name, tmp_path):
    write, shape = SETS[name]
    write(tmp_path)
    data = read(name, tmp_path)
    assert data["train_images"].shape == (20, *shape)
    assert data["train_images"].dtype == np.uint8
    np.testing.assert_array_equal(data["train_labels"], np.repeat(np.arange(10), 2))
    assert data["test_images"].shape[1:] == shape
    assert len(data["test_images"]) == len(data["test_labels"])


@pytest.mark.parametrize("name", ["cifar10", "svhn", "stl10"])
def test_pixels_lie_where_the_file_has_them(name, tmp_path):
    write, shape = SETS[name]
    write(tmp_path)
    data = read(name, tmp_path)
    seed = 5 if name == "cifar10" else 0
    images, labels = formats.arrays(len(data["test_labels"]), 3, shape[-1], seed)
    np.testing.assert_array_equal(data["test_images"], images)
    np.testing.assert_array_equal(data["test_labels"], labels)


def test_mnist_is_padded_with_zeros(tmp_path):
    formats.write_mnist(tmp_path)
    data = read("mnist", tmp_path)
    images, _ = formats.arrays(20, 1, 28)
    np.testing.assert_array_equal(data["test_images"][:, :, 2:30, 2:30], images)
    assert data["test_images"].sum() == images.sum(dtype=np.int64)


def wrong_magic(folder):
    formats.write_idx(folder / "train-images-idx3-ubyte.gz", np.zeros((40, 28, 28), np.uint8), b"\0\0\x0d\x03")


def truncated_gzip(folder):
    path = folder / "train-images-idx3-ubyte.gz"
    path.write_bytes(path.read_bytes()[:1000])


def short_values(folder):
    formats.write_idx(folder / "train-images-idx3-ubyte.gz", np.zeros((39, 28, 28), np.uint8), None)


def missing_values(folder):
    import gzip

    path = folder / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:-5]))


def wrong_label(folder):
    formats.write_idx(folder / "train-labels-idx1-ubyte.gz", np.full(40, 17, np.uint8))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (wrong_magic, r"train-images.*magic number is 00000d03, expected 00000803"),
        (truncated_gzip, r"train-images.*truncated or not gzip"),
        (missing_values, r"train-images.*31355 values for shape \(40, 28, 28\); truncated"),
        (short_values, r"train-labels.*40 labels for 39 images"),
        (wrong_label, r"train-labels.*label 17 is outside 0 to 9"),
    ],
)
def test_a_wrong_idx_file_is_named_with_its_fault(spoil, message, tmp_path):
    formats.write_mnist(tmp_path)
    spoil(tmp_path)
    with pytest.raises(ProjectError, match=message):
        read("mnist", tmp_path)


def test_wrong_archives_are_named_with_their_fault(tmp_path):
    path = tmp_path / "cifar-10-binary.tar.gz"
    members = formats.cifar10_members()
    name = "cifar-10-batches-bin/data_batch_2.bin"
    formats.write_archive(path, {**members, name: members[name][:-7]})
    with pytest.raises(ProjectError, match=r"data_batch_2.bin has 30723 bytes, no multiple of 3073; truncated"):
        read("cifar10", tmp_path)
    formats.write_archive(path, {**members, name: b"\x0b" + members[name][1:]})
    with pytest.raises(ProjectError, match="label 11 is outside 0 to 9"):
        read("cifar10", tmp_path)
    del members[name]
    formats.write_archive(path, members)
    with pytest.raises(ProjectError, match=r"has no file .*data_batch_2.bin"):
        read("cifar10", tmp_path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ProjectError, match="truncated or not a tar archive"):
        read("cifar10", tmp_path)


def test_a_truncated_matlab_file_is_named(tmp_path):
    formats.write_svhn(tmp_path)
    path = tmp_path / "test_32x32.mat"
    path.write_bytes(path.read_bytes()[:400])
    with pytest.raises(ProjectError, match=r"test_32x32.mat: truncated or not a MATLAB file"):
        read("svhn", tmp_path)


def test_stl10_pixels_must_match_labels(tmp_path):
    members = formats.stl10_members()
    members["stl10_binary/test_X.bin"] = members["stl10_binary/test_X.bin"][:-1]
    formats.write_archive(tmp_path / "stl10_binary.tar.gz", members)
    with pytest.raises(ProjectError, match=r"test_X.bin has 552959 bytes for 20 labels"):
        read("stl10", tmp_path)


def test_more_of_a_class_than_there_is(tmp_path):
    formats.write_mnist(tmp_path)
    with pytest.raises(ProjectError, match="class 0 has 4 examples, 5 were asked for; lower per_class"):
        read("mnist", tmp_path, per_class=5)


def test_a_file_with_another_checksum_is_refused(tmp_path):
    formats.write_mnist(tmp_path)
    with pytest.raises(
        ProjectError, match=r"train-images-idx3-ubyte.gz: its MD5 is .* the published file's is f68b3c2d"
    ):
        benchmarks.mnist(folder=str(tmp_path), per_class=2, seed=1)


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A web server on this machine that serves a folder."""
    served = tmp_path / "served"
    served.mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(served))

        def log_message(self, *arguments):
            pass

    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield served, f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


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


def test_without_network_the_message_says_what_to_do(tmp_path):
    with pytest.raises(ProjectError, match=r"file.bin is not in .*On a machine without network, put the file"):
        downloads.obtained("file.bin", tmp_path, ("http://127.0.0.1:9/",), "0" * 32, pause=0)


def test_a_folder_below_home_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    formats.write_mnist(tmp_path / "data/mnist")
    assert len(read("mnist", "~/data/mnist")["train_labels"]) == 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$DATA/mnist", r"folder: `\$DATA/mnist`: write the path out"),
        ("~nobody-of-that-name/mnist", "folder: .*no such path can be used"),
        ("file/mnist", r"folder: .*no such path can be used \(Not a directory\)"),
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
    with pytest.raises(ProjectError, match=rf"^{tmp_path}/gas.zip: no such file"):
        regression_tables.gas_sensor(file="~/gas.zip")
    with pytest.raises(ProjectError, match=r"^file: `\$HOME/gas.zip`: write the path out"):
        regression_tables.gas_sensor(file="$HOME/gas.zip")
