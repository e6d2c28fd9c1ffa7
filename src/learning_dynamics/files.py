"""Files that are whole or absent, and a lock that ends with its process."""

import errno
import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from learning_dynamics.errors import ProjectError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
MENDS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free space"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "make the folder writable"),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "move the file that is in the folder's place"),
}
NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)  # of file systems that cannot be asked


@contextmanager
def atomic_write(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it takes the place of `path` in one step.

    If the body raises, the temporary file is removed and `path` is left as it was. A killed process
    leaves at most a file that ends in ``.partial``, which no stage reads.

    Raises
    ------
    ProjectError
        If the folder cannot be written or the disk is full, or a folder, device or pipe has that name.
    """
    check_lease()
    path = Path(path)
    check_replaceable(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        _sync(partial)
        with _leased():
            os.replace(partial, path)
    except ProjectError:
        raise
    except Exception as error:
        # a library that fails while it cleans up after a full disk tells of that
        os_error = error if isinstance(error, OSError) else error.__context__
        if not isinstance(os_error, OSError) or (os_error is not error and os_error.errno not in FULL):
            raise
        raise ProjectError(
            f"{path}: cannot be written ({os_error.strerror or os_error}); {MENDS.get(os_error.errno, 'mend that')}, "
            "then run the same command again"
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Wait until a file is on the disk, where the file system can tell."""
    with open(path, "rb+") as written:
        try:
            os.fsync(written.fileno())
        except OSError as error:
            if error.errno not in NO_SYNC:
                raise


def check_replaceable(path: str | Path) -> None:
    """Raise `ProjectError` if a folder, device or pipe has that name."""
    if os.path.exists(path) and not os.path.isfile(path):  # false of names that no file can have
        raise ProjectError(f"{path}: is no file that could be replaced; name another")


def check_writable(folder: Path) -> None:
    """Refuse to start where nothing can be kept: another user's folder, or a file system that is only read.

    Raises
    ------
    ProjectError
        It names the first folder, or record of Snakemake's, that cannot be written.
    """
    records = folder / ".snakemake"
    paths = [folder]
    if records.exists():
        paths = [records, *(path for path in records.glob("*") if path.is_dir()), *records.glob("metadata/*")]
    for path in sorted(paths):
        if not os.access(path, os.W_OK):
            raise ProjectError(
                f"{path}: cannot be written by this user; make all of it writable, or work elsewhere: "
                "snakemake --directory FOLDER"
            )


LEASE = "LEARNING_DYNAMICS_LEASE"  # of a job: the file that names the Snakemake at work here, and the one that sent it

_held: list[TextIO] = []


def take_lease(file: Path) -> None:
    """Note in a file, and for the jobs that this process starts, that from now on they alone write here.

    A job that has outlived its Snakemake may not replace what the next one has made: whatever is written through
    `atomic_write` is held against the file.
    """
    file = file.resolve()
    lease = f"{os.getpid()}-{secrets.token_hex(8)}"
    with _opened(file) as stream:
        _lock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        stream.truncate()
        stream.write(lease)
    os.environ[LEASE] = f"{lease}:{file}"


def check_lease() -> None:
    """Refuse to go on for a Snakemake that another one has taken the place of.

    Raises
    ------
    ProjectError
        If it has; a process that no Snakemake started may always go on.
    """
    with _leased():
        pass


@contextmanager
def _leased() -> Iterator[None]:
    lease, _, file = os.environ.get(LEASE, "").partition(":")
    if not lease:
        yield
        return
    try:
        stream = open(file, encoding="ascii", errors="replace")  # noqa: SIM115 - closed below
    except OSError:
        yield  # Snakemake's records were deleted: nobody has taken the place
        return
    with stream:
        _lock(stream, fcntl.LOCK_SH)
        if stream.read() != lease:
            raise ProjectError(
                "the Snakemake that started this job has ended and another has taken its place; nothing is written"
            )
        yield


def _opened(file: Path) -> TextIO:
    try:
        return open(file, "a+")
    except OSError as error:
        raise ProjectError(
            f"{file}: cannot be written ({error.strerror}); make it writable for all who work here, or delete it"
        ) from None


def _lock(stream: TextIO, operation: int) -> None:
    with suppress(OSError):  # a file system without locks: the check stands, a moment less exact
        fcntl.flock(stream, operation)


def hold_folder(lock: Path) -> None:
    """Take the lock file until this process ends.

    The operating system lets go of it then, however the process ends: unlike a file that merely
    exists, it never has to be cleared away by hand after a kill.

    Raises
    ------
    ProjectError
        If another process holds it; the message names the process.
    """
    stream = _opened(lock)  # held until the process ends
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        stream.seek(0)
        raise ProjectError(
            f"another Snakemake is at work in this folder ({stream.read().strip() or lock}); wait for it to end, "
            "or stop it, then run the same command again"
        ) from None
    stream.truncate(0)
    stream.write(f"process {os.getpid()} on {os.uname().nodename}\n")
    stream.flush()
    _held.append(stream)
