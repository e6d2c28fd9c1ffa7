"""What a job computes with: the modules of science that it imports, each with a digest of its syntax.

A job calls a function that the configuration names. Its result depends on that function's module and, transitively, on
those that it imports, at their heads or inside functions. Comments and docstrings do not count; tables beside a module
do.
"""

import functools
from collections.abc import Mapping
from pathlib import Path

from learning_dynamics.files import find_files
from learning_dynamics.pipeline.plan.source_files import read_source, short_digest
from learning_dynamics.pipeline.plan.sources import (
    PACKAGE,
    SOURCE_ROOT,
    imports_of,
    is_infrastructure,
    module_of,
    module_path,
)

# no module imports these files: they belong to the package in whose folder they are
TEXT_FILES = {".mplstyle", ".csv", ".tsv", ".txt", ".dat", ".json", ".yaml", ".toml"}
DATA_FILES = TEXT_FILES | {".npy", ".npz", ".mat", ".parquet"}
JOB_PACKAGES = tuple(f"{PACKAGE}.pipeline.{folder}." for folder in ("commands", "store"))


@functools.cache
def science(stage: str, paper: str, *function_names: str, with_statements: bool = True) -> Mapping[str, str]:
    """Return the digests of the modules and tables that the jobs of a stage use, by name; fixed once read.

    Parameters
    ----------
    *function_names : str
        The functions that the configuration names, as ``topic.function``; of data sets, ``module.function``.
    with_statements : bool
        Whether docstrings of claims count, which state what is judged.

    Raises
    ------
    ProjectError
        If there is no such topic or module, or a module is no Python.
    """
    named = {module_of(stage, paper, function_name) for function_name in function_names}
    digests: dict[str, str] = {}
    for module in used_modules(f"{PACKAGE}.pipeline.commands.{stage}", *named):
        path = _known_path(module)
        assert path is not None
        # the statement that is judged is a claim's docstring
        with_words = with_statements and stage == "claims" and module in named
        digests[module.removeprefix(f"{PACKAGE}.")] = _digest(path, with_words=with_words)
        digests |= _tables(path.parent)
    return digests


def used_modules(*modules: str) -> list[str]:
    """Return the modules of science that modules import, themselves and the packages around them included, sorted."""
    waiting = [module for module in modules if _is_followed(module)]
    seen: set[str] = set()
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += _followed_imports(module)
    return sorted(module for module in seen if not module.startswith(JOB_PACKAGES))


@functools.cache
def _followed_imports(module: str) -> list[str]:
    """Return the modules, of science or carrying out jobs, that a module names in its imports, and its package."""
    package = [] if module.startswith(JOB_PACKAGES) else [module.rpartition(".")[0]]
    return [name for name in [*package, *imports_of(module)] if _is_followed(name)]


@functools.cache
def _is_followed(module: str) -> bool:
    """Whether imports of a module are followed: of science, and of the code of jobs, which may import science."""
    if module == PACKAGE or (is_infrastructure(module) and not module.startswith(JOB_PACKAGES)):
        return False
    return _known_path(module) is not None


@functools.cache
def _known_path(module: str) -> Path | None:
    """Return the file of a module, or None; it is looked for once, though hundreds of jobs use it."""
    return module_path(module)


def machinery() -> str:
    """Return one digest of the modules on which no result depends, as `sources.INFRASTRUCTURE` lists them."""
    folder = SOURCE_ROOT / PACKAGE
    files = [file for file in find_files(folder, "**/*.py") if is_infrastructure(_module_of(file))]
    return short_digest(b"".join(file.read_bytes() for file in files))


def _module_of(file: Path) -> str:
    return ".".join(file.relative_to(SOURCE_ROOT).with_suffix("").parts)


def forget() -> None:
    """Read the sources again from here on."""
    for cached in (science, _digest, _tables, _followed_imports, _is_followed, _known_path):
        cached.cache_clear()


@functools.cache
def _digest(path: Path, with_words: bool) -> str:
    source = read_source(path)
    return source.digest_with_words if with_words else source.digest


@functools.cache
def _tables(folder: Path) -> dict[str, str]:
    """Return the digests of the tables in a folder, by path."""
    files = [file for file in find_files(folder, "*") if file.suffix in DATA_FILES and file.is_file()]
    root = module_path(PACKAGE)
    assert root is not None
    return {str(file.relative_to(root.parent)): short_digest(file.read_bytes()) for file in files}
