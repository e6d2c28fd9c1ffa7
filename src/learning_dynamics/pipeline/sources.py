"""Which source files a stage's result depends on: a static scan of imports, so that edits rerun just enough."""

from __future__ import annotations

import ast
import functools
from pathlib import Path

from learning_dynamics.errors import ProjectError, near

PACKAGE = "learning_dynamics"
SOURCE_ROOT = Path(__file__).resolve().parent.parent
# drawn with, but imported by nobody: they come with the package that they lie in
COMPANIONS = ("*.mplstyle", "*.html", "*.css")


def papers() -> list[str]:
    """Return the papers that have a folder of their own, sorted."""
    folders = (SOURCE_ROOT / PACKAGE / "papers").iterdir()
    return sorted(folder.name for folder in folders if part_modules(folder.name, "runs"))


def part_modules(paper: str, part: str) -> list[str]:
    """Return the modules of a part of a paper, sorted; none if it is not there.

    Parameters
    ----------
    paper : str
    part : str
        runs, metrics, figures or claims: one module, or a folder of modules by topic. In a folder, modules
        whose names begin with an underscore hold what the topics share and are not listed.
    """
    name = f"{PACKAGE}.papers.{paper}.{part}"
    path = module_path(name)
    if path is None:
        return []
    if path.name != "__init__.py":
        return [name]
    return sorted(f"{name}.{topic.stem}" for topic in path.parent.glob("[!_]*.py"))


def defining_module(paper: str, part: str, function: str) -> str:
    """Return the module of a paper's part that defines a public function.

    Raises
    ------
    ProjectError
        If there is no such function; it names the nearest.
    """
    known: set[str] = set()
    for module in part_modules(paper, part):
        path = module_path(module)
        assert path is not None
        functions = _functions(path, path.stat().st_mtime_ns)
        if function in functions:
            return module
        known |= functions
    raise ProjectError(f"papers/{paper}/{part}: no function `{function}`{near(function, known)}")


@functools.lru_cache(maxsize=256)
def _functions(path: Path, _modified: int) -> frozenset[str]:
    return frozenset(
        node.name
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    )


def stage_modules(stage: str, paper: str = "", function: str = "") -> tuple[str, ...]:
    """Return the modules from which a job starts.

    Parameters
    ----------
    stage : str
        data, run, metrics, figure, claims or report.
    paper : str
        The paper whose function is called.
    function : str
        What is called: a run's kind, a figure's name; for data, ``module.function`` inside
        ``learning_dynamics.datasets``. Claims are evaluated together and depend on all of their modules.
    """
    driver = f"{PACKAGE}.stages.{stage}"
    if stage == "report":
        return (driver,)
    if stage == "data":
        return driver, f"{PACKAGE}.datasets.{function.rpartition('.')[0]}"
    if stage == "claims":
        return driver, *part_modules(paper, "claims")
    part = {"run": "runs", "metrics": "metrics", "figure": "figures"}[stage]
    return driver, defining_module(paper, part, function)


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


def imports_of(module: str) -> tuple[str, ...]:
    """Return the modules of this package that a module names in its imports, sorted."""
    path = module_path(module)
    return () if path is None else _imports(path, path.stat().st_mtime_ns, module)


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
