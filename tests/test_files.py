"""Whole or absent files."""

import errno
import os

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write, check_replaceable, check_writable


def test_a_file_appears_whole(tmp_path):
    with atomic_write(tmp_path / "deep/file") as partial:
        partial.write_text("all")
        assert not (tmp_path / "deep/file").exists()
    assert (tmp_path / "deep/file").read_text() == "all"
    assert os.listdir(tmp_path / "deep") == ["file"]


def test_a_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "file").write_text("old")

    def fail_half_way():
        with atomic_write(tmp_path / "file") as partial:
            partial.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert (tmp_path / "file").read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "results").write_text("a file in the way")
    with (
        pytest.raises(ProjectError, match=r"results/x: cannot be written .*move the file"),
        atomic_write(tmp_path / "results/x"),
    ):
        pass


def write_with_failing_fsync(path, number, monkeypatch):
    """Write a file on a file system whose fsync raises the error of this number."""

    def fail(_):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch, atomic_write(path) as partial:
        patch.setattr(os, "fsync", fail)
        partial.write_text("all")


@pytest.mark.parametrize(
    ("number", "remedy"),
    [(errno.ENOSPC, "free space"), (errno.EACCES, "make the folder writable"), (errno.ESTALE, "fix that")],
)
def test_a_failure_to_write_names_its_own_remedy(tmp_path, monkeypatch, number, remedy):
    message = rf"cannot be written \({os.strerror(number)}\); {remedy}, then run"
    with pytest.raises(ProjectError, match=message):
        write_with_failing_fsync(tmp_path / "x", number, monkeypatch)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_a_file_system_that_has_no_fsync_is_written_to(tmp_path, monkeypatch, number):
    write_with_failing_fsync(tmp_path / "x", number, monkeypatch)
    assert os.listdir(tmp_path) == ["x"]


# -- folders of others -------------------------------------------------------------------------------------------------


def test_a_folder_that_is_only_read_is_told_before_anything_is_planned(tmp_path, monkeypatch):
    for record in ("log/old.log", "metadata/bWlu"):
        (tmp_path / ".snakemake" / record).parent.mkdir(parents=True)
        (tmp_path / ".snakemake" / record).touch()
    check_writable(tmp_path)
    for name in (".snakemake", ".snakemake/log", ".snakemake/metadata/bWlu"):
        # whoever runs the tests may write everywhere
        monkeypatch.setattr(os, "access", lambda path, _, name=name: path not in (tmp_path, tmp_path / name))
        with pytest.raises(ProjectError, match=f"{name}: cannot be written by this user; make all of it writable"):
            check_writable(tmp_path)


def test_what_is_no_file_is_told_before_anything_is_computed(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    for path in (tmp_path, tmp_path / "pipe.npz"):
        with pytest.raises(ProjectError, match="is no file that could be replaced"):
            check_replaceable(path)
    check_replaceable(tmp_path / "new.npz")


def test_a_full_disk_is_told_whatever_a_library_makes_of_it(tmp_path):
    def clean_up_badly():
        try:
            raise OSError(errno.ENOSPC, "No space left on device")
        finally:
            raise AttributeError("pos")

    with pytest.raises(ProjectError, match=r"cannot be written .No space left"), atomic_write(tmp_path / "x"):
        clean_up_badly()

    def look_elsewhere():
        try:
            (tmp_path / "nothing").read_text()
        except FileNotFoundError:
            raise ValueError("no number")  # noqa: B904 - as libraries do

    with pytest.raises(ValueError, match="no number"), atomic_write(tmp_path / "x"):
        look_elsewhere()
