"""The science that a job's result depends on: the modules it calls, each as a digest of what it computes.

Modules are found by a static scan of imports. A module's digest is taken of its syntax tree without docstrings,
comments, annotations and the texts of errors: formatting, words and times of files rerun nothing, a formula reruns
what uses it.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from learning_dynamics.errors import ProjectError, near

PACKAGE = "learning_dynamics"
SOURCE_ROOT = Path(__file__).resolve().parents[3]
PARTS = {
    "run": "runs",
    "metrics": "metrics",
    "figure": "figures",
    "motion": "motion",
    "interactive": "interactive",
    "claims": "claims",
}
# what carries jobs out, and words: no result depends on them
NOT_SCIENCE = tuple(f"{PACKAGE}.{name}" for name in ("pipeline", "errors", "files", "progress", "settings"))
# drawn with, but imported by nobody: they come with the package that they lie in
COMPANIONS = ("*.mplstyle",)


def papers() -> list[str]:
    """Return the papers that have a folder of their own, sorted."""
    folders = (SOURCE_ROOT / PACKAGE / "papers").iterdir()
    return sorted(folder.name for folder in folders if any(folder.glob("*/runs.py")))


def topics(paper: str) -> list[str]:
    """Return the topics of a paper, sorted: its folders that hold a part."""
    folder = SOURCE_ROOT / PACKAGE / "papers" / paper
    parts = {f"{part}.py" for part in PARTS.values()}
    return sorted({file.parent.name for file in folder.glob("*/*.py") if file.name in parts})


def part_module(paper: str, part: str, kind: str) -> str:
    """Return the module that defines ``topic.function``, a part (runs, metrics, figures, claims) of a paper's topic.

    Raises
    ------
    ProjectError
        If the text is not of this form, or there is no such topic or module; it names the nearest.
    """
    topic, dot, function = kind.partition(".")
    if not dot or not function.isidentifier():
        raise ProjectError(f"`{kind}`: write topic.function; topics of {paper} are: {', '.join(topics(paper))}")
    module = f"{PACKAGE}.papers.{paper}.{topic}.{part}"
    if module_path(module) is None:
        known = topics(paper)
        mend = near(topic, known) if topic not in known else ""
        raise ProjectError(f"`{kind}`: src/{PACKAGE}/papers/{paper}/{topic}/{part}.py is not there{mend}")
    return module


def data_module(paper: str, source: str) -> str:
    """Return the module that defines a data source ``module.function``: the paper's own, else the library's.

    Raises
    ------
    ProjectError
        If neither has such a module.
    """
    module = source.rpartition(".")[0]
    for name in (f"{PACKAGE}.papers.{paper}.{module}", f"{PACKAGE}.datasets.{module}"):
        if module_path(name) is not None:
            return name
    raise ProjectError(f"`{source}`: no module `{module}` in src/{PACKAGE}/datasets or papers/{paper}")


def module_of(stage: str, paper: str, kind: str) -> str:
    """Return the module of the function that a stage calls: a data source, or a part of a topic."""
    return data_module(paper, kind) if stage == "data" else part_module(paper, PARTS[stage], kind)


@functools.cache
def science(module: str) -> Mapping[str, str]:
    """Return the digests of a module and of all science that importing it reads, by module; fixed once read."""
    found = {}
    for name, path in modules_behind(module).items():
        digest = syntax_digest(path)
        if digest:
            found[name.removeprefix(f"{PACKAGE}.")] = digest
        for companion in sorted(match for pattern in COMPANIONS for match in path.parent.glob(pattern)):
            if path.name == "__init__.py":
                found[companion.name] = hashlib.sha256(companion.read_bytes()).hexdigest()[:12]
    return found


def modules_behind(module: str, root: Path | None = None) -> dict[str, Path]:
    """Return the modules of science that importing `module` reads, transitively, with their files, sorted by name."""
    found: dict[str, Path] = {}
    waiting, seen = [module], set()
    while waiting:
        name = waiting.pop()
        if name in seen or name.startswith(NOT_SCIENCE):
            continue
        seen.add(name)
        path = module_path(name, root)
        if path is None:
            continue
        found[name] = path
        waiting.extend(_imports(path, name))
        if "." in name:
            waiting.append(name.rpartition(".")[0])
    return dict(sorted(found.items()))


def syntax_digest(path: Path) -> str:
    """Return a digest of what a source file computes; empty for a file that holds words alone."""
    return _source(path).digest


def module_path(module: str, root: Path | None = None) -> Path | None:
    """Return the file of a module of this package, or None."""
    base = (root or SOURCE_ROOT).joinpath(*module.split("."))
    for candidate in (base / "__init__.py", base.with_name(base.name + ".py")):
        if candidate.is_file():
            return candidate
    return None


def imports_of(module: str) -> tuple[str, ...]:
    """Return the modules of this package that a module names in its imports, sorted."""
    path = module_path(module)
    return () if path is None else _imports(path, module)


def parsed(path: Path) -> ast.Module:
    """Return a file's syntax tree.

    Raises
    ------
    ProjectError
        If it is no Python: file, line and what is wrong.
    """
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except SyntaxError as error:
        raise ProjectError(f"{path}:{error.lineno}: {error.msg}; mend the syntax") from None
    except (UnicodeDecodeError, ValueError) as error:
        raise ProjectError(f"{path}: is not Python source in UTF-8 ({error})") from None


@dataclass(frozen=True)
class _Source:
    """What one reading of a file tells: what it imports, as (dots before the name, module, names), and its digest."""

    imports: tuple[tuple[int, str, tuple[str, ...]], ...]
    digest: str


def _source(path: Path) -> _Source:
    status = path.stat()
    return _source_of(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=4096)
def _source_of(path: Path, _modified: int, _size: int) -> _Source:
    tree = parsed(path)
    imports: list[tuple[int, str, tuple[str, ...]]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports.extend((0, alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imports.append((node.level, node.module or "", tuple(alias.name for alias in node.names)))
    tree = _WithoutWords().visit(tree)
    digest = hashlib.sha256(ast.dump(tree).encode()).hexdigest()[:12] if tree.body else ""
    return _Source(tuple(imports), digest)


def _imports(path: Path, module: str) -> tuple[str, ...]:
    package = (module if path.name == "__init__.py" else module.rpartition(".")[0]).split(".")
    names: set[str] = set()
    for level, base, members in _source(path).imports:
        if level:
            base = ".".join([*package[: len(package) - level + 1], *([base] if base else [])])
        names.add(base)
        names.update(f"{base}.{member}" for member in members)
    return tuple(sorted(name for name in names if name.split(".")[0] == PACKAGE))


class _WithoutWords(ast.NodeTransformer):
    """Takes from a syntax tree what no result depends on: docstrings, annotations, the texts of errors."""

    def _body(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        body = node.body  # type: ignore[attr-defined]
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            del body[0]
        return node

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body = [child for child in node.body if not _is_future(child)]
        return self._body(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._body(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self._body(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        # which error is raised, not its words
        if isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        node.cause = None
        return node


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
