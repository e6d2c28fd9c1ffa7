"""The digest that a file carries of its own bytes: a copy carries it too, and whoever reads the file holds it to it.

It stands where each format lets it: before a parquet file's footer, in the comment of a zip archive, as a last text
chunk of a PNG, as a comment at the end of what is text. It covers every other byte, the provenance among them.
"""

import hashlib
import os
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write, check_replaceable

BLOCK_SIZE = 1 << 20
LABEL = b"learning_dynamics blake2b "
BLANK_DIGEST = b"0" * 64
PNG_END_LENGTH = 12  # bytes of its last chunk


def _plain_frame(digest: bytes) -> bytes:
    return LABEL + digest


def _comment_frame(before: bytes, after: bytes = b"\n") -> Callable[[bytes], bytes]:
    return lambda digest: before + LABEL + digest + after


def _png_frame(digest: bytes) -> bytes:
    body = b"tEXt" + LABEL.strip() + b"\0" + digest
    return struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))


# how the digest is written into a file, by its suffix
FRAMES: dict[str, Callable[[bytes], bytes]] = {
    ".parquet": _plain_frame,
    ".npz": _plain_frame,
    ".webp": _plain_frame,
    ".png": _png_frame,
    ".pdf": _comment_frame(b"%"),
    ".svg": _comment_frame(b"<!-- ", b" -->\n"),
    ".html": _comment_frame(b"<!-- ", b" -->\n"),
    ".md": _comment_frame(b"\n<!-- ", b" -->\n"),
    ".yaml": _comment_frame(b"# "),
    ".tex": _comment_frame(b"% "),
    ".txt": _comment_frame(b""),
    ".json": _comment_frame(b'"', b'"]\n'),  # the last value of a list that the writer leaves open
}


@contextmanager
def sealing(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path as `files.atomic_write` does; what is written there gets its digest, then its place.

    Raises
    ------
    ProjectError
        As `files.atomic_write`; also if the name ends in no known suffix, or another one's file lies there.
    """
    if Path(path).suffix not in FRAMES:
        raise ProjectError(f"{path}: must end in one of {', '.join(FRAMES)}")
    refuse_foreign(path)
    with atomic_write(path) as partial:
        yield partial
        seal(partial, Path(path).suffix)


def seal(path: Path, suffix: str) -> None:
    """Write a file's digest into it."""
    frame = FRAMES[suffix]
    with open(path, "rb+") as stream:
        if suffix == ".npz":
            # an archive says at its end how long its comment is
            stream.seek(-2, os.SEEK_END)
            stream.write(struct.pack("<H", len(frame(BLANK_DIGEST))))
        end = stream.seek(0, os.SEEK_END)
        tail = _tail_length(stream, end, suffix)
        digest = _digest(stream, (0, end))
        stream.seek(end - tail)
        after = stream.read(tail)
        stream.seek(end - tail)
        stream.write(frame(digest) + after)


def refuse_foreign(path: str | Path) -> None:
    """Raise `ProjectError` if a file lies there that carries no digest, or no file: it is not ours to replace."""
    check_replaceable(path)
    if os.path.isfile(path):
        carried = b""
        if Path(path).suffix in FRAMES:
            with open(path, "rb") as stream:
                carried, *_ = _read_frame(stream, Path(path).suffix)
        if not carried:
            raise ProjectError(f"{path}: is there, and was not written by this command; delete it, or name another")


def _read_frame(stream: BinaryIO, suffix: str) -> tuple[bytes, int, int, int]:
    """Return the digest that a file carries, framed, or nothing; where it begins and ends; where the file ends."""
    blank = FRAMES[suffix](BLANK_DIGEST)
    end = stream.seek(0, os.SEEK_END)
    tail = _tail_length(stream, end, suffix)
    start = max(end - tail - len(blank), 0)
    stream.seek(start)
    carried = stream.read(len(blank))
    return carried if carried.startswith(blank[: blank.index(BLANK_DIGEST)]) else b"", start, end - tail, end


def verify(stream: BinaryIO, suffix: str, path: str | Path) -> None:
    """Hold an open file to the digest that it carries, and leave it at its beginning.

    Raises
    ------
    ProjectError
        If it carries none, or another one.
    """
    carried, start, tail_start, end = _read_frame(stream, suffix)
    if not carried:
        raise ProjectError(
            f"{path}: truncated, foreign, or written before outputs carried a digest of their contents; "
            "delete it and run snakemake again"
        )
    if carried != FRAMES[suffix](_digest(stream, (0, start), (tail_start, end))):
        raise ProjectError(f"{path}: its contents are not those that were written; delete it and run snakemake again")
    stream.seek(0)


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """Open a sealed file, once it is held to its digest.

    Raises
    ------
    ProjectError
        If it is missing, no regular file, cannot be read, or is not what was written.
    """
    if Path(path).suffix not in FRAMES:
        raise ProjectError(f"{path}: no such file of ours; its name must end in one of {', '.join(FRAMES)}")
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            # a pipe would be waited for without an end
            raise ProjectError(f"{path}: cannot be read (not a regular file); delete it and run snakemake again")
        stream = open(path, "rb")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        raise ProjectError(f"{path}: no such file; run snakemake to make it") from None
    except OSError as error:
        raise ProjectError(f"{path}: cannot be read ({error.strerror})") from None
    with stream:
        try:
            verify(stream, Path(path).suffix, path)
        except OSError as error:
            raise ProjectError(f"{path}: cannot be read ({error.strerror})") from None
        yield stream


def verified(path: str | Path) -> bytes:
    """Return the bytes of a sealed file; see `opened` for the errors."""
    with opened(path) as stream:
        return stream.read()


def _tail_length(stream: BinaryIO, end: int, suffix: str) -> int:
    """Return how many bytes of a format stand behind the digest."""
    if suffix == ".png":
        return min(PNG_END_LENGTH, end)
    if suffix != ".parquet" or end < 8:
        return 0
    stream.seek(end - 8)
    return min(8 + struct.unpack("<I", stream.read(4))[0], end)


def _digest(stream: BinaryIO, *parts: tuple[int, int]) -> bytes:
    digest = hashlib.blake2b(digest_size=len(BLANK_DIGEST) // 2)
    for start, end in parts:
        stream.seek(start)
        remaining = end - start
        while remaining > 0 and (block := stream.read(min(remaining, BLOCK_SIZE))):
            digest.update(block)
            remaining -= len(block)
    return digest.hexdigest().encode()
