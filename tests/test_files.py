"""Files are written whole or not at all; what prevents it is said before anything is computed, with its remedy."""

import errno
import os
import shutil

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write, check_replaceable, check_writable


def test_a_file_appears_whole(tmp_path):
    with atomic_write(tmp_path / "deep/file") as partial:
        partial.write_text("all")
        assert not (tmp_path / "deep/file").exists()
    assert (tmp_path / "deep/file").read_text() == "all"
    assert os.listdir(tmp_path / "deep") == ["file"]


def test_a_failure_leaves_the_previous_file(tmp_path):
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


# an error of a kind that has no remedy of its own is named, and the person is to fix it
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


def test_a_full_disk_is_named_even_where_a_library_fails_to_clean_up_after_it(tmp_path):
    def write_and_clean_up_badly():
        try:
            raise OSError(errno.ENOSPC, "No space left on device")
        finally:
            raise AttributeError("pos")

    message = r"cannot be written \(No space left on device\); free space"
    with pytest.raises(ProjectError, match=message), atomic_write(tmp_path / "x"):
        write_and_clean_up_badly()


def test_an_error_after_one_that_is_not_of_the_disk_stays_as_it_is(tmp_path):
    def read_elsewhere():
        try:
            (tmp_path / "nothing").read_text()
        except FileNotFoundError:
            raise ValueError("no number")  # noqa: B904 - as libraries do

    with pytest.raises(ValueError, match="no number"), atomic_write(tmp_path / "x"):
        read_elsewhere()


# -- before anything is computed ---------------------------------------------------------------------------------------


@pytest.fixture
def folder_of_another_user(tmp_path):
    """A folder in which Snakemake has left a log and the record of an output."""
    for record in ("log/old.log", "metadata/bWlu"):
        (tmp_path / ".snakemake" / record).parent.mkdir(parents=True)
        (tmp_path / ".snakemake" / record).touch()
    return tmp_path


def forbid(monkeypatch, *paths):
    """Let `os.access` refuse these paths alone: permissions would not stop root, who may run the tests."""
    monkeypatch.setattr(os, "access", lambda path, _mode: path not in paths)


@pytest.mark.parametrize("name", [".snakemake", ".snakemake/log", ".snakemake/metadata/bWlu"])
def test_snakemakes_records_that_cannot_be_written_are_named(name, folder_of_another_user, monkeypatch):
    forbid(monkeypatch, folder_of_another_user / name)
    with pytest.raises(ProjectError, match=f"{name}: cannot be written by this user; make all of it writable"):
        check_writable(folder_of_another_user)


def test_a_folder_that_cannot_be_written_is_refused_unless_it_has_records_that_can(folder_of_another_user, monkeypatch):
    forbid(monkeypatch, folder_of_another_user)
    check_writable(folder_of_another_user)
    shutil.rmtree(folder_of_another_user / ".snakemake")
    with pytest.raises(ProjectError, match=f"{folder_of_another_user}: cannot be written by this user"):
        check_writable(folder_of_another_user)


def test_an_output_cannot_replace_a_folder_or_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    for path in (tmp_path, tmp_path / "pipe.npz"):
        with pytest.raises(ProjectError, match=f"{path}: is no file that could be replaced"):
            check_replaceable(path)


def test_an_output_may_be_new_or_replace_a_file(tmp_path):
    (tmp_path / "old.npz").touch()
    check_replaceable(tmp_path / "old.npz")  # raises where it refuses
    check_replaceable(tmp_path / "new.npz")
