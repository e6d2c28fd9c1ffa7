"""Which configurations have passed their checks against the sources as they are: they would pass again."""

import hashlib
import importlib.util
import sys
from contextlib import suppress
from pathlib import Path

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.study import sources
from learning_dynamics.pipeline.study.config import Configuration

PASSED = Path(importlib.util.cache_from_source(__file__)).with_suffix(".passed")  # beside this file's compiled code
MOST = 100  # the last that passed


def passport(configuration: Configuration) -> str:
    """Return a digest of all that checks look at: the configuration, every source, and the version of Python."""
    root = sources.SOURCE_ROOT / sources.PACKAGE
    parts = [sys.version.encode(), repr(configuration).encode()]
    for file in sorted(root.rglob("*.py")):
        content = file.read_bytes()
        parts.append(f"{file.relative_to(root)} {len(content)}".encode() + content)
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def has_passed(configuration: Configuration) -> bool:
    """Whether a configuration has passed; where nothing is kept, or what is kept cannot be read, it has not."""
    return passport(configuration) in _kept()


def remember(configuration: Configuration) -> None:
    """Keep that a configuration has passed, unless this Python is to write nothing beside sources."""
    if not sys.dont_write_bytecode:
        with suppress(ProjectError), atomic_write(PASSED) as partial:  # what cannot be kept is checked again
            partial.write_text("\n".join([*_kept(), passport(configuration)][-MOST:]), encoding="ascii")


def _kept() -> list[str]:
    with suppress(OSError, UnicodeDecodeError):
        return PASSED.read_text(encoding="ascii").splitlines()
    return []
