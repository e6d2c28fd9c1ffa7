"""Files from the network: a list of mirrors, retries, checksums; or a folder in which they lie already."""

import hashlib
import http.client
import itertools
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write, configured_path

TIMEOUT = 30.0  # seconds without a byte
ATTEMPTS = 3  # for each mirror

Contents = TypeVar("Contents")


def obtained(
    name: str, folder: str | Path, mirrors: Sequence[str], md5: str, *, check: bool = True, pause: float = 2.0
) -> Path:
    """Return the path of a file in a folder, downloaded there if it is not yet.

    Parameters
    ----------
    name : str
        The file's name, in the folder and on the mirrors.
    folder : path
        A user's folder of the data set, or where to download it: made when bytes have come, and not before.
    mirrors : sequence of str
        Addresses of folders that hold the file, tried in turn, each several times.
    md5 : str
        The published checksum.
    check : bool
        Whether a file that is in the folder must have that checksum; a downloaded one always must.
    pause : float
        Seconds before a mirror is tried again, doubled each time.

    Raises
    ------
    ProjectError
        If no folder can have that name, a file has another checksum, or no mirror answers.
    """
    place = configured_path(folder, "folder")
    if place.exists() and not place.is_dir():
        raise ProjectError(f"folder: {place} is a file; name the folder that holds {name}")
    path = place / name
    if path.is_file():
        if check and checksum(path) != md5:
            raise ProjectError(
                f"{path}: its MD5 is {checksum(path)}, the published file's is {md5}; delete it and run again to "
                "download it, or put the original there"
            )
        return path
    failures = []
    for mirror in mirrors:
        for attempt in range(ATTEMPTS):
            try:
                _download(mirror + name, path, md5)
                return path
            except _NoAnswerError as error:
                failures.append(f"{mirror + name}: {error}")
                if error.final:
                    break
                if attempt + 1 < ATTEMPTS:
                    time.sleep(pause * 2**attempt)
    raise ProjectError(
        f"{name} is not in {place.absolute()} and cannot be downloaded ({failures[-1]}; tried {', '.join(mirrors)}). "
        "On a machine without network, put the file into that folder, or name another one under `folder`"
    )


def read_file(path: Path, reader: Callable[[Path], Contents], mend: str = "replace it") -> Contents:
    """Return what a reader finds in a file that a user has; whatever it raises becomes an error of one line.

    Raises
    ------
    ProjectError
        If the reader raises: names the file, what went wrong, and the fix.
    """
    try:
        return reader(path)
    except MemoryError:
        raise
    except Exception as error:
        raise ProjectError(f"{path}: cannot be read ({type(error).__name__}: {error}); {mend}") from error


def checksum(path: Path) -> str:
    """Return a file's MD5 in hexadecimal."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


class _NoAnswerError(Exception):
    """A download that failed; `final` if another attempt at the same address cannot help."""

    def __init__(self, text: str, final: bool = False) -> None:
        super().__init__(text)
        self.final = final


def _download(address: str, path: Path, md5: str) -> None:
    blocks = _blocks(address)
    first = next(blocks)
    with atomic_write(path) as partial, open(partial, "wb") as stream:
        stream.writelines(itertools.chain([first], blocks))
        stream.flush()
        if checksum(partial) != md5:
            raise _NoAnswerError(f"the download's MD5 is {checksum(partial)}, not {md5}")


def _blocks(address: str) -> Iterator[bytes]:
    """Yield what a server answers, at least one block."""
    try:
        with urllib.request.urlopen(address, timeout=TIMEOUT) as answer:
            block = answer.read(1 << 20)
            if not block:
                raise _NoAnswerError("an empty answer")
            while block:
                yield block
                block = answer.read(1 << 20)
    except urllib.error.HTTPError as error:
        raise _NoAnswerError(str(error), final=error.code in (403, 404, 410)) from error
    except (OSError, http.client.HTTPException) as error:
        raise _NoAnswerError(str(error)) from error
