"""Whole or absent files."""

import contextlib
import errno
import os
import subprocess
import sys
import textwrap

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


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path):
    script = """
        import resource, signal, sys
        import numpy as np
        from pathlib import Path
        from learning_dynamics.errors import ProjectError
        from learning_dynamics.pipeline.store.arrays import save_arrays
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        try:
            save_arrays(Path(sys.argv[1]), {"x": np.random.default_rng(1).random(100_000)}, {})
        except ProjectError as error:
            sys.exit(f"error: {error}")
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "x.npz")], capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: {tmp_path}/x.npz: cannot be written (File too large)")
    assert ended.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "mend"),
    [
        (errno.ENOSPC, "free space"),
        (errno.EDQUOT, "free space"),
        (errno.EROFS, "make the folder writable"),
        (errno.EACCES, "make the folder writable"),
        (errno.EIO, "fix that"),
        (errno.ESTALE, "fix that"),
        (errno.EINVAL, None),  # of a file system that has no fsync
        (errno.ENOTSUP, None),
    ],
)
def test_a_failure_to_write_is_told_with_its_own_mend(number, mend, tmp_path, monkeypatch):
    def fail(_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    refused = pytest.raises(ProjectError, match=rf"cannot be written \({os.strerror(number)}\); {mend}, then run")
    with refused if mend else contextlib.nullcontext(), atomic_write(tmp_path / "x") as partial:
        partial.write_text("all")
    assert os.listdir(tmp_path) == ([] if mend else ["x"])


# -- folders of others -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [".snakemake", ".snakemake/log", ".snakemake/metadata/bWlu"])
def test_a_folder_that_is_only_read_is_told_before_anything_is_planned(tmp_path, monkeypatch, name):
    for record in ("log/old.log", "metadata/bWlu"):
        (tmp_path / ".snakemake" / record).parent.mkdir(parents=True)
        (tmp_path / ".snakemake" / record).touch()
    check_writable(tmp_path)
    # whoever runs the tests may write everywhere
    monkeypatch.setattr(os, "access", lambda path, _: path not in (tmp_path, tmp_path / name))
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
