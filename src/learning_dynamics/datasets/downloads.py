"""Published files: their content from a folder, packed or unpacked, from a distribution's package, or from a mirror."""

import gzip
import hashlib
import http.client
import itertools
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeVar

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write, configured_path

TIMEOUT = 30.0  # seconds without a byte after which a mirror does not answer; chosen
ATTEMPTS = 3  # for each mirror; chosen

Parsed = TypeVar("Parsed")


@dataclass(frozen=True)
class Published:
    """A file of a data set as its authors publish it.

    Attributes
    ----------
    name : str
        The file's name, in a folder and on the mirrors. Where it ends in ``.tar.gz`` or ``.gz`` it is an archive.
    md5 : str
        The published checksum of the file.
    contents : mapping
        By name the MD5 of what is read from the archive: of some members of a tar archive, of what a ``.gz`` unpacks
        to. Empty for a file that is no archive.
    mirrors : tuple of str
        Addresses of folders that hold the file, tried in turn, each several times.
    packages : tuple of str
        Folders in which distributions install it.
    """

    name: str
    md5: str
    contents: Mapping[str, str]
    mirrors: tuple[str, ...]
    packages: tuple[str, ...] = ()

    @property
    def checksums(self) -> Mapping[str, str]:
        """By name the MD5 of the content: the file itself where it is no archive."""
        return self.contents or {self.name: self.md5}


@dataclass(frozen=True)
class Content:
    """What is read of a published file.

    Attributes
    ----------
    path : Path
        The file that a user has.
    member : str
        Its name within that file, if this is an archive of several; else empty.
    data : bytes
    """

    path: Path
    member: str
    data: bytes

    def __str__(self) -> str:
        return f"{self.path}: {self.member}" if self.member else str(self.path)


def obtain(published: Published, folder: str | Path, *, check: bool = True, pause: float = 2.0) -> dict[str, Content]:
    """Return the content of a published file by the names of `Published.checksums`, in their order.

    It is read from the folder, from the archive or from unpacked files; else from where a distribution installs it;
    else it is downloaded into the folder.

    Parameters
    ----------
    folder : path
        A user's folder of the data set, or where to download it: made when bytes have come, and not before.
    check : bool
        Whether what is in the folder must be what is published: the archive by its checksum, or all that is read by
        theirs. Other files always must.
    pause : float
        Seconds before a mirror is tried again, doubled each time.

    Raises
    ------
    ProjectError
        If no folder can have that name, a file cannot be read, is another one or lacks its siblings, or no mirror
        answers.
    """
    place = configured_path(folder, "folder")
    if place.exists() and not place.is_dir():
        raise ProjectError(f"folder: {place} is a file; name the folder that holds {published.name}")
    contents = _local_contents(published, place)
    if contents is not None:
        if check:
            _check(published, place, contents, "set `checksums: false` in this data set to read it as it is")
        return contents
    for package in map(Path, published.packages):
        contents = _local_contents(published, package)
        if contents is not None:
            _check(published, package, contents, f"put {published.name} into {place.absolute()}")
            return contents
    archive = place / published.name
    _download_from_mirrors(published, archive, pause)
    return read_file(archive, lambda path: _unpack(published, path))


def read_file(path: Path, reader: Callable[[Path], Parsed], fix: str = "replace it") -> Parsed:
    """Return what a reader makes of a file that a user has; its errors become one line.

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
        raise ProjectError(f"{path}: cannot be read ({type(error).__name__}: {error}); {fix}") from error


def parse(content: Content, parser: Callable[[bytes], Parsed]) -> Parsed:
    """Return what a parser makes of a content; its errors become one line, as in `read_file`."""
    try:
        return parser(content.data)
    except MemoryError:
        raise
    except Exception as error:
        raise ProjectError(f"{content}: cannot be read ({type(error).__name__}: {error}); replace it") from error


def checksum(path: Path) -> str:
    """Return a file's MD5 in hexadecimal."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _local_contents(published: Published, folder: Path) -> dict[str, Content] | None:
    """Return what a folder has of a published file, from the archive or else unpacked; None if it has nothing.

    Raises
    ------
    ProjectError
        If a file cannot be read, or some of the unpacked files are there and others are not.
    """
    archive = folder / published.name
    if archive.is_file():
        return read_file(archive, lambda path: _unpack(published, path))
    unpacked = {name: folder / name for name in published.contents}
    missing = [path for path in unpacked.values() if not path.is_file()]
    if len(missing) == len(unpacked):
        return None
    if missing:
        raise ProjectError(
            f"{missing[0]}: no such file, but others of the data set are there; add it, or put {published.name} "
            f"into {folder}"
        )
    return {name: Content(path, "", read_file(path, Path.read_bytes)) for name, path in unpacked.items()}


def _unpack(published: Published, path: Path) -> dict[str, Content]:
    """Return what is read from the file as it is published, or packed again by somebody else."""
    if not published.contents:
        return {published.name: Content(path, "", path.read_bytes())}
    if not published.name.endswith(".tar.gz"):
        (name,) = published.contents
        return {name: Content(path, "", gzip.decompress(path.read_bytes()))}
    contents: dict[str, Content] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            name = str(PurePosixPath(member.name))  # `tar --create ./folder` writes names that begin with a dot
            if name in published.contents:
                contents[name] = Content(path, name, archive.extractfile(member).read())  # type: ignore[union-attr]
            if len(contents) == len(published.contents):  # what follows need not be unpacked
                return {name: contents[name] for name in published.contents}
    raise ValueError(f"it has no {min(published.contents.keys() - contents.keys())}")


def _check(published: Published, folder: Path, contents: Mapping[str, Content], otherwise: str) -> None:
    """Refuse contents that are not the published ones, unless they are from the published archive."""
    archive = folder / published.name
    for name, content in contents.items():
        md5 = hashlib.md5(content.data, usedforsecurity=False).hexdigest()
        # the archive's checksum decides where both can be had: it is the one that the data set's authors publish
        if md5 != published.checksums[name] and not (archive.is_file() and checksum(archive) == published.md5):
            raise ProjectError(
                f"{content}: the MD5 of its content is {md5}, of the published content {published.checksums[name]}; "
                f"delete it and run again to download it, or {otherwise}"
            )


def _download_from_mirrors(published: Published, path: Path, pause: float) -> None:
    """Download a file; see `obtain` for the errors."""
    failures = []
    for mirror in published.mirrors:
        for attempt in range(ATTEMPTS):
            try:
                _download(mirror + published.name, path, published.md5)
                return
            except _NoAnswerError as error:
                failures.append(f"{mirror + published.name}: {error}")
                if error.final:
                    break
                if attempt + 1 < ATTEMPTS:
                    time.sleep(pause * 2**attempt)
    raise ProjectError(
        f"{published.name} is not in {path.parent.absolute()} and cannot be downloaded ({failures[-1]}; tried "
        f"{', '.join(published.mirrors)}). On a machine without network, put the file into that folder, or name "
        "another one under `folder`"
    )


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
        # refused, not there or gone: the next answer is the same
        raise _NoAnswerError(str(error), final=error.code in (403, 404, 410)) from error
    except (OSError, http.client.HTTPException) as error:
        raise _NoAnswerError(str(error)) from error
