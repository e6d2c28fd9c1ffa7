"""Which configurations have passed their checks against the sources as they are: they would pass again."""

import functools
import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pydantic

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.study import sources
from learning_dynamics.pipeline.study.config import Configuration

PASSED = Path(importlib.util.cache_from_source(__file__)).with_suffix(".passed")  # beside this file's compiled code
MOST = 100  # the last that passed


class Passport:
    """All that checks look at, as it is before they begin: the configuration, every source, Python and pydantic."""

    def __init__(self, configuration: Configuration) -> None:
        self._sources = _digest_of_sources()
        _first_sources()
        parts = [self._sources, sys.version.encode(), pydantic.VERSION.encode(), repr(configuration).encode()]
        self.digest = hashlib.sha256(b"\0".join(parts)).hexdigest()

    def has_passed(self) -> bool:
        """Whether this has passed; where nothing is kept, or what is kept cannot be read, it has not."""
        return self.digest in _kept()

    def remember(self) -> None:
        """Keep that this has passed, unless this Python is to write nothing beside sources.

        Nor is it kept if sources have changed since this process first saw them: it may have checked what it had read
        before.
        """
        if not sys.dont_write_bytecode and self._sources == _first_sources():
            with suppress(ProjectError), atomic_write(PASSED) as partial:  # what cannot be kept is checked again
                partial.write_text("\n".join([*_kept(), self.digest][-MOST:]), encoding="ascii")


@functools.cache
def _first_sources() -> bytes:
    return _digest_of_sources()


def _digest_of_sources() -> bytes:
    root = sources.SOURCE_ROOT / sources.PACKAGE
    digest = hashlib.sha256()
    for file in sorted(_files(root)):
        with suppress(OSError):  # what cannot be read is no source: an editor's link beside an open file
            content = file.read_bytes()
            digest.update(f"{file.relative_to(root)} {len(content)} ".encode() + content)
    return digest.digest()


def _files(root: Path) -> Iterator[Path]:
    """Yield the Python files below a folder, those of linked folders too."""
    visited = set()
    for folder, folders, names in os.walk(root, followlinks=True):
        if (real := os.path.realpath(folder)) in visited:
            folders.clear()
            continue
        visited.add(real)
        yield from (Path(folder, name) for name in names if name.endswith(".py"))


def _kept() -> list[str]:
    with suppress(OSError, UnicodeDecodeError):
        return PASSED.read_text(encoding="ascii").splitlines()
    return []
