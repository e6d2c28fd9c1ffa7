"""The stamp in every output, which says what made it: commit, settings, seed, package versions and command."""

import functools
import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.programs import run_program

KEY = "learning_dynamics"
PACKAGES = ("learning-dynamics", "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "numba", "torch")


def digest(content: Any) -> str:
    """Return a SHA-256 of JSON content, in hexadecimal, shortened to 20 digits."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:20]


def fingerprint(stage: str, spec: Any, science: Mapping[str, str], made_from: Any) -> str:
    """Return what an output was made from, as one digest: spec, digests of science, the fingerprint of its input."""
    return digest([stage, spec, dict(science), made_from])


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Turn whatever a library raises when it reads an output into one line.

    Raises
    ------
    ProjectError
        If the file is missing, cannot be read, is damaged, or is not an output of this project.
    """
    try:
        yield
    except ProjectError:
        raise
    except FileNotFoundError:
        raise ProjectError(f"{path}: no such file; run snakemake with it as the target") from None
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the disk or network, not of the contents
            raise ProjectError(f"{path}: cannot be read ({error.strerror})") from error
        reason = " ".join(str(error).split())
        raise ProjectError(
            f"{path}: damaged, or not written by learning-dynamics ({type(error).__name__}: {reason[:100]}); "
            "delete it and run snakemake again"
        ) from error


def read_bytes(path: str | Path) -> bytes:
    """Return the bytes of an output; see `reading` for the errors."""
    with reading(path):
        return Path(path).read_bytes()


def check_made_from(path: str | Path, record: Mapping[str, Any], expected: str | None) -> None:
    """Refuse an input that was made by other settings or other code than the configuration's.

    Raises
    ------
    ProjectError
        If its fingerprint is not the expected one; without an expected one nothing is checked.
    """
    if expected is not None and record.get("fingerprint") != expected:
        raise ProjectError(
            f"{path}: was made by other settings or other code than the configuration's "
            f"({record.get('stage')} {record.get('paper')} {record.get('name')}); delete it and run snakemake again"
        )


def stamp(stage: str, paper: str, name: str, settings: Mapping[str, Any], made: str | None = None) -> dict[str, Any]:
    """Return the stamp of an output; `made` is its fingerprint.

    It holds no clock reading, so that the same code and settings give the same bytes.
    """
    commit, dirty = _commit()
    return {
        "stage": stage,
        "paper": paper,
        "name": name,
        "settings": dict(settings),
        "fingerprint": made,
        "seed": settings.get("seed"),
        "commit": commit,
        "dirty": dirty,
        "python": sys.version.split()[0],
        "versions": _versions(),
        "command": shlex.join(["python", "-m", "learning_dynamics", *sys.argv[1:]]),
    }


@functools.cache
def _commit() -> tuple[str | None, bool | None]:
    """Return the commit of the checkout that this package runs from, and whether it has local changes.

    None where the package is in no checkout of its own: git searches upwards, and finds the repository of a thesis
    that a release was unpacked in.
    """
    module = Path(__file__).resolve()
    try:
        top_level, commit = _git("rev-parse", "--show-toplevel", "HEAD")
        if module.parents[4] != Path(top_level).resolve() or not _git("ls-files", "--", module.name):
            return None, None
        return commit, bool(_git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None, None


def _git(*arguments: str) -> list[str]:
    """Return the lines that git prints, run in this package's folder."""
    # without variables that name another repository, as git sets them for its hooks
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(Path(__file__).resolve().parent), *arguments]
    return run_program(command, check=True, env=environment).stdout.splitlines()


def commit_year() -> str | None:
    """Return the year of the checkout's commit; None without one."""
    if _commit()[0] is None:
        return None
    (date,) = _git("show", "--no-patch", "--format=%cs")
    return date[:4]


def origin() -> str | None:
    """Return the address that the checkout was cloned from; None without one."""
    if _commit()[0] is None:
        return None
    try:
        return _git("remote", "get-url", "origin")[0]
    except subprocess.CalledProcessError:
        return None


@functools.cache
def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def plain_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts as JSON can hold them."""
    return {key: _plain(value) for key, value in facts.items()}


def _plain(value: Any) -> Any:
    import numpy as np

    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, int | float | str | bool) or value is None else str(value)
