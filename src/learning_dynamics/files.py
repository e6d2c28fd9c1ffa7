"""Files that are whole or absent."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from learning_dynamics.errors import ProjectError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
FIXES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free space"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "make the folder writable"),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "move the file that is in the folder's place"),
}
NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)  # of file systems that cannot be asked


def find_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files and folders below a folder that match a pattern, sorted, but none that begins with a dot.

    Editors and systems leave such files beside others: ``.#runs.py`` (Emacs), ``._runs.py`` (macOS),
    ``.ipynb_checkpoints``.
    """
    found = (path for path in folder.glob(pattern) if not is_hidden(path.relative_to(folder)))
    return sorted(found)


def is_hidden(path: Path) -> bool:
    """Whether a relative path, or a folder in it, begins with a dot."""
    return any(part.startswith(".") for part in path.parts)


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
    path = Path(path)
    check_replaceable(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        _sync(partial)
        os.replace(partial, path)
    except ProjectError:
        raise
    except Exception as error:
        # a library that fails while it cleans up after a full disk tells of that
        os_error = error if isinstance(error, OSError) else error.__context__
        if not isinstance(os_error, OSError) or (os_error is not error and os_error.errno not in FULL):
            raise
        fix = FIXES.get(os_error.errno or 0, "fix that")
        raise ProjectError(
            f"{path}: cannot be written ({os_error.strerror or os_error}); {fix}, then run the same command again"
        ) from error
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def configured_path(text: str | Path, key: str) -> Path:
    """Return a path that a setting names, with ``~`` as the home folder; nothing need be there.

    Raises
    ------
    ProjectError
        If the text is empty or holds a ``$``, since variables are not expanded, or no file can have that name.
    """
    text = str(text)
    if not text.strip() or "$" in text:
        raise ProjectError(f"{key}: `{text}`: write the path out; only ~ is expanded, and no variable")
    try:
        path = Path(text).expanduser()
        path.stat()
    except FileNotFoundError:
        pass
    except (OSError, RuntimeError, ValueError) as error:  # below a file, too long, closed to this user; no such home
        reason = getattr(error, "strerror", None) or error
        raise ProjectError(f"{key}: `{text[:80]}`: no such path can be used ({reason}); name another") from None
    return path


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
