"""Which source files a stage's result depends on: a static scan of imports, so that edits rerun just enough."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

PACKAGE = "learning_dynamics"
SOURCE_ROOT = Path(__file__).resolve().parent.parent
# drawn with, but imported by nobody: they come with the package that they lie in
COMPANIONS = ("*.mplstyle", "*.html", "*.css")


def stage_modules(stage: str, paper: str = "", source: str = "") -> tuple[str, ...]:
    """Return the modules from which a stage starts.

    Parameters
    ----------
    stage : str
        data, run, metrics, figure, claims or report.
    paper : str
        The paper whose module of the same name is called.
    source : str
        For data, ``module.function`` inside ``learning_dynamics.datasets``.
    """
    driver = f"{PACKAGE}.stages.{stage}"
    if stage == "data":
        return driver, f"{PACKAGE}.datasets.{source.rpartition('.')[0]}"
    if stage == "report":
        return (driver,)
    module = {"run": "runs", "metrics": "metrics", "figure": "figures", "claims": "claims"}[stage]
    return driver, f"{PACKAGE}.papers.{paper}.{module}"


def source_files(modules: tuple[str, ...], root: Path = SOURCE_ROOT) -> tuple[Path, ...]:
    """Return the files of this package that importing `modules` reads, transitively, sorted."""
    found: set[Path] = set()
    waiting = list(modules)
    seen: set[str] = set()
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        path = module_path(module, root)
        if path is None:
            continue
        found.add(path)
        if path.name == "__init__.py":
            found.update(match for pattern in COMPANIONS for match in path.parent.glob(pattern))
        waiting.extend(_imports(path, path.stat().st_mtime_ns, module))
        parent = module.rpartition(".")[0]
        if parent:
            waiting.append(parent)
    return tuple(sorted(found))


def module_path(module: str, root: Path = SOURCE_ROOT) -> Path | None:
    """Return the file of a module of this package, or None."""
    base = root.joinpath(*module.split("."))
    for candidate in (base / "__init__.py", base.with_name(base.name + ".py")):
        if candidate.is_file():
            return candidate
    return None


@functools.lru_cache(maxsize=1024)
def _imports(path: Path, _modified: int, module: str) -> tuple[str, ...]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    return tuple(sorted(name for name in names if name.split(".")[0] == PACKAGE))
