"""Files that are whole or absent."""

import errno
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from learning_dynamics.environment import ROOT
from learning_dynamics.errors import ProjectError

# errors of the disk for which a library may raise one of its own, see `atomic_write`
BEHIND_LIBRARY_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
# what a person has to do, by error
FIXES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "free space"),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "make the folder writable"),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "move the file that is in the folder's place"),
}
OWN = ("workflow", "profiles", "src", "config.yaml", "Snakefile", "Makefile", "pyproject.toml")  # of the project itself
NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS)  # errors of `os.fsync` where a file system does not have it


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
def atomic_write(path: str | Path, own_file: bool = False) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it takes the place of `path` in one step.

    If the body raises, the temporary file is removed and `path` is left as it was. A killed process
    leaves at most a file that ends in ``.partial``, which no stage reads.

    Parameters
    ----------
    path : path
    own_file : bool
        Whether the path may be a file of the project itself; see `check_replaceable`.

    Raises
    ------
    ProjectError
        If the folder cannot be written or the disk is full, or what has that name is not to be replaced.
    """
    path = Path(path)
    check_replaceable(path, own_file)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        _sync(partial)
        os.replace(partial, path)
    except ProjectError:
        raise
    except Exception as error:
        # A library that fails while it cleans up after such an error raises another one, with the first as its context.
        os_error = error if isinstance(error, OSError) else error.__context__
        if not isinstance(os_error, OSError) or (os_error is not error and os_error.errno not in BEHIND_LIBRARY_ERRORS):
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
    """Wait until a file is on the disk, where the file system can say so."""
    with open(path, "rb+") as written:
        try:
            os.fsync(written.fileno())
        except OSError as error:
            if error.errno not in NO_SYNC:
                raise


def check_replaceable(path: str | Path, own_file: bool = False) -> None:
    """Raise `ProjectError` if a folder, device or pipe has that name, or a file that belongs to the project itself.

    Such a file is the configuration, or is in one of the folders of `OWN`; with `own_file` it may be replaced.
    """
    if not os.path.exists(path):  # a name that no file can have does not exist either: the write refuses it
        return
    if not os.path.isfile(path):
        raise ProjectError(f"{path}: is no file that could be replaced; name another")
    place = Path(os.path.realpath(path))
    if not own_file and place.is_relative_to(ROOT) and place.relative_to(ROOT).parts[0] in OWN:
        raise ProjectError(f"{path}: is a file of the project itself and is not replaced; name another")


def check_writable(folder: Path) -> None:
    """Refuse to start where nothing can be kept: another user's folder, or a file system that is only read.

    Raises
    ------
    ProjectError
        If a folder, or a record of Snakemake's, cannot be written, or a link leads nowhere: the first of these.
    """
    check_links(folder)
    records = folder / ".snakemake"
    paths = [folder]  # where there are records already, a folder that is closed is no hindrance
    if records.exists():
        paths = [records, *(path for path in records.glob("*") if path.is_dir()), *records.glob("metadata/*")]
    for path in sorted(paths):
        if not os.access(path, os.W_OK):
            raise ProjectError(
                f"{path}: cannot be written by this user; make all of it writable, or work elsewhere: "
                "snakemake --directory FOLDER"
            )


def check_links(folder: Path) -> None:
    """Refuse a folder whose results or figures are a link that leads nowhere, or a file.

    Raises
    ------
    ProjectError
        If there is such a link or file: its name, and of a link how to make the folder that it leads to.
    """
    for name in ("results", "figures"):
        link = folder / name
        if link.is_file():
            raise ProjectError(f"{link}: is a file, where a folder should be; move it, then run the same command again")
        if link.is_symlink() and not link.exists():
            raise ProjectError(
                f"{link}: is a link to {os.readlink(link)}, which is not there, as where a file system is purged; make "
                f"it: mkdir -p {shlex.quote(os.path.realpath(link))}"
            )
