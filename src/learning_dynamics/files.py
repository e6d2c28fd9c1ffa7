"""Files that are whole or absent, and a lock that ends with its process."""

from __future__ import annotations

import fcntl
import os
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
        If the folder cannot be written or the disk is full.
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        with open(partial, "rb+") as written:
            os.fsync(written.fileno())
        os.replace(partial, path)
    except OSError as error:
        raise ProjectError(
            f"{path}: cannot be written ({error.strerror or error}); free space or make the folder writable, "
            "then run the same command again"
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


_held: list[TextIO] = []


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
