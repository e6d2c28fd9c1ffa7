"""Files that are whole or absent, and a lock that ends with its process."""

from __future__ import annotations

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from learning_dynamics.errors import ProjectError


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
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
    if os.path.exists(path) and not os.path.isfile(path):  # false of names that no file can have
        raise ProjectError(f"{path}: is no file that could be replaced; name another")
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        with open(partial, "rb+") as written:
            os.fsync(written.fileno())
        with _leased():
            os.replace(partial, path)
    except OSError as error:
        raise ProjectError(
            f"{path}: cannot be written ({error.strerror or error}); free space or make the folder writable, "
            "then run the same command again"
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


LEASE = "LEARNING_DYNAMICS_LEASE"  # of a job: the file that names the Snakemake at work here, and the one that sent it

_held: list[TextIO] = []


def take_lease(file: Path) -> None:
    """Note in a file, and for the jobs that this process starts, that from now on they alone write here.

    A job that has outlived its Snakemake may not replace what the next one has made: whatever is written through
    `replacing` is held against the file.
    """
    file = file.resolve()
    ours = f"{os.getpid()}-{secrets.token_hex(8)}"
    with open(file, "a+") as stream:
        _lock(stream, fcntl.LOCK_EX)
        stream.seek(0)
        stream.truncate()
        stream.write(ours)
    os.environ[LEASE] = f"{ours}:{file}"


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
    ours, _, file = os.environ.get(LEASE, "").partition(":")
    if not ours:
        yield
        return
    try:
        stream = open(file, encoding="ascii", errors="replace")  # noqa: SIM115 - closed below
    except OSError:
        yield  # Snakemake's records were deleted: nobody has taken the place
        return
    with stream:
        _lock(stream, fcntl.LOCK_SH)
        if stream.read() != ours:
            raise ProjectError(
                "the Snakemake that started this job has ended and another has taken its place; nothing is written"
            )
        yield


def _lock(stream: TextIO, how: int) -> None:
    with suppress(OSError):  # a file system without locks: the check stands, a moment less exact
        fcntl.flock(stream, how)


def hold_folder(lock: Path) -> None:
    """Take the lock file until this process ends.

    The operating system lets go of it then, however the process ends: unlike a file that merely
    exists, it never has to be cleared away by hand after a kill.

    Raises
    ------
    ProjectError
        If another process holds it; the message names the process.
    """
    stream = open(lock, "a+")  # noqa: SIM115 - held until the process ends
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
