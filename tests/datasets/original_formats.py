"""Small files in the original formats of the five data sets, for tests, and the same content packed otherwise."""

import gzip
import io
import tarfile
from pathlib import Path
from typing import Literal

import numpy as np
from scipy.io import savemat


def arrays(count: int, channels: int, size: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return random images, shape (count, channels, size, size), and labels 0 to 9 in turn; larger ones are lighter."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 10
    images = rng.integers(0, 128, (count, channels, size, size), dtype=np.uint8) + 12 * labels[:, None, None, None]
    return images.astype(np.uint8), labels.astype(np.uint8)


def write_idx(path: Path, array: np.ndarray) -> None:
    """Write an IDX file of bytes, as MNIST has them, with gzip."""
    header = bytes([0, 0, 8, array.ndim])
    header += b"".join(int(size).to_bytes(4, "big") for size in array.shape)
    path.write_bytes(gzip.compress(header + array.tobytes()))


def write_mnist(folder: Path, train: int = 40, test: int = 20) -> None:
    """Write the four files of MNIST or Fashion-MNIST."""
    folder.mkdir(parents=True, exist_ok=True)
    for prefix, count in (("train", train), ("t10k", test)):
        images, labels = arrays(count, 1, 28)
        write_idx(folder / f"{prefix}-images-idx3-ubyte.gz", images[:, 0])
        write_idx(folder / f"{prefix}-labels-idx1-ubyte.gz", labels)


def write_archive(path: Path, members: dict[str, bytes], mode: Literal["w:gz", "w:xz"] = "w:gz") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def cifar10_members(per_batch: int = 10) -> dict[str, bytes]:
    """Return the files in CIFAR10's archive: six batches, in which each label stands before its image."""
    members = {}
    for seed, name in enumerate([*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]):
        images, labels = arrays(per_batch, 3, 32, seed)
        records = np.concatenate([labels[:, None], images.reshape(per_batch, -1)], axis=1)
        members[f"cifar-10-batches-bin/{name}.bin"] = records.tobytes()
    return members


def write_cifar10(folder: Path) -> None:
    write_archive(folder / "cifar-10-binary.tar.gz", cifar10_members())


def write_svhn(folder: Path, count: int = 30) -> None:
    """Write the two files of SVHN: MATLAB's, images last, the digit 0 with label 10."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("train", "test"):
        images, labels = arrays(count, 3, 32)
        stored = {"X": images.transpose(2, 3, 1, 0), "y": np.where(labels == 0, 10, labels)[:, None]}
        savemat(folder / f"{name}_32x32.mat", stored, do_compression=True)


def stl10_members(count: int = 20) -> dict[str, bytes]:
    """Return the files in STL10's archive: columns before rows, labels from 1 on."""
    members = {}
    for name in ("train", "test"):
        images, labels = arrays(count, 3, 96)
        members[f"stl10_binary/{name}_X.bin"] = images.swapaxes(2, 3).tobytes()
        members[f"stl10_binary/{name}_y.bin"] = (labels + 1).astype(np.uint8).tobytes()
    return members


def write_stl10(folder: Path) -> None:
    write_archive(folder / "stl10_binary.tar.gz", stl10_members())


def unpack(folder: Path) -> None:
    """Replace the archives in a folder by what is in them."""
    for path in folder.glob("*.gz"):
        if path.name.endswith(".tar.gz"):
            with tarfile.open(path) as archive:
                archive.extractall(folder, filter="data")
        else:
            path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()


def pack_again(folder: Path) -> None:
    """Replace the archives in a folder by others with the same content, as Debian and a person would."""
    for path in folder.glob("*.gz"):
        if path.name.endswith(".tar.gz"):
            with tarfile.open(path) as archive:
                members = {member.name: archive.extractfile(member).read() for member in archive}
            again = {f"./{name}": members[name] for name in reversed(members)}
            write_archive(path, again, mode="w:xz")
        else:
            path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), compresslevel=1, mtime=0))
