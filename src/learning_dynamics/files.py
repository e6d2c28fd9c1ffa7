"""Files that are whole or absent: written under a temporary name beside their place, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
