"""Where an output comes from: commit, settings, seed, package versions and command, kept in every file."""

from __future__ import annotations

import functools
import hashlib
import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

KEY = "learning_dynamics"
PACKAGES = ("learning-dynamics", "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "numba", "torch")


def digest(settings: Any) -> str:
    """Return the SHA-256 of `settings` as canonical JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def provenance(stage: str, paper: str, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record that is stored with an output.

    It holds no clock reading, so that the same code and settings give the same bytes.
    """
    commit, dirty = _commit()
    return {
        "stage": stage,
        "paper": paper,
        "name": name,
        "settings": dict(settings),
        "config_digest": digest(settings),
        "seed": settings.get("seed"),
        "commit": commit,
        "dirty": dirty,
        "python": sys.version.split()[0],
        "versions": _versions(),
        "command": shlex.join(["python", "-m", "learning_dynamics", *sys.argv[1:]]),
    }


@functools.cache
def _commit() -> tuple[str | None, bool | None]:
    """Return the commit of the checkout that this package runs from, and whether it has local changes."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(Path(__file__).parent), *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    try:
        return git("rev-parse", "HEAD"), bool(git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return None, None


@functools.cache
def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions
