"""What a job computes: every function, class and constant that it reaches, each with a digest of its syntax.

A job calls a function that the configuration names. Its result depends on that definition and, transitively, on those
that it names: without docstrings, comments, annotations and the texts of errors, wherever they stand and however they
are imported. Code whose names do not tell what it reads is refused.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.study.sources import (
    NOT_SCIENCE,
    PACKAGE,
    absolute,
    imports_of,
    module_of,
    module_path,
    parsed,
)

# in place of a name: all that a module defines, or what importing it does besides
WHOLE, ON_IMPORT = "*", "(on import)"
# drawn with, but imported by nobody: they come with the package that they lie in
COMPANIONS = "*.mplstyle"
UNTOLD = {"globals", "eval", "exec", "__import__"}
UNTOLD_OF = {"__globals__", "__subclasses__", "import_module", "singledispatch"}
CARRIED_OUT_BY = tuple(f"{PACKAGE}.pipeline.{folder}." for folder in ("commands", "store"))
CHANGES = {"add", "append", "extend", "insert", "pop", "register", "remove", "setdefault", "update"}

Import = ast.Import | ast.ImportFrom


class Reference(NamedTuple):
    """What a name stands for: a module, and the names that lead on from there."""

    module: str
    path: tuple[str, ...]


class Definition(NamedTuple):
    """A digest of syntax in which names are numbers, and what each number stands for."""

    syntax: str
    names: tuple[Reference, ...]


class Module(NamedTuple):
    """What a file of this package defines and imports at any depth, and what importing it does besides."""

    package: str
    definitions: Mapping[str, Definition]
    imports: Mapping[str, Sequence[Reference]]


class Node(NamedTuple):
    """A definition that lies in a module; outside of science a name alone."""

    module: str
    name: str


@functools.cache
def science(stage: str, paper: str, *kinds: str) -> Mapping[str, str]:
    """Return the digests of all that the jobs of a stage reach, by package and name; fixed once read.

    Parameters
    ----------
    *kinds : str
        The functions that the configuration names, as ``topic.function``; of data sets, ``module.function``.

    Raises
    ------
    ProjectError
        If there is no such topic or module, or it is code whose names do not tell what it reads.
    """
    nodes = reached(stage, paper, *kinds)
    labels = _labels(nodes)
    found = {}
    for node, label in labels.items():
        linked = [[labels.get(target, target.name) for target in targets] for targets in _links(node)]
        found[label] = _short(f"{_definition(node).syntax}{linked}".encode())
    packages = sorted({_module(node.module).package for node in nodes})
    return found | {file.name: _short(file.read_bytes()) for package in packages for file in _companions(package)}


def forget() -> None:
    """Read the sources anew from here on."""
    for cached in (science, _called_by, _companions, _module, _links, _targets):
        cached.cache_clear()


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


@functools.cache
def _called_by(stage: str) -> list[Reference]:
    """Return the science that a stage's command calls itself, and what it reads and writes files with."""
    found = []
    waiting, seen = [f"{PACKAGE}.pipeline.commands.{stage}"], set()
    while waiting:
        module = waiting.pop()
        path = module_path(module)
        if path is None or module in seen:
            continue
        seen.add(module)
        waiting += [name for name in imports_of(module) if name.startswith(CARRIED_OUT_BY)]
        for statement in parsed(path).body:
            if isinstance(statement, Import):
                found += [reference for _, reference in _imported(statement, module.rpartition(".")[0])]
    return [reference for reference in found if _is_science(reference.module) and reference.path]


@functools.cache
def _companions(package: str) -> list[Path]:
    path = module_path(package)
    return sorted(path.parent.glob(COMPANIONS)) if path else []


def reached(stage: str, paper: str, *kinds: str) -> list[Node]:
    """Return the definitions that the jobs of a stage reach, in the order in which they are first read."""
    roots = [Reference(module_of(stage, paper, kind), (kind.rpartition(".")[2],)) for kind in kinds]
    roots += _called_by(stage)
    found: dict[Node, None] = {}
    waiting = [target for root in roots for target in _targets(root)][::-1]
    while waiting:
        node = waiting.pop()
        if node.module and node not in found:
            found[node] = None
            waiting += [target for targets in _links(node) for target in targets][::-1]
    return list(found)


def _labels(nodes: Iterable[Node]) -> dict[Node, str]:
    """Return a name for each definition by its package, which may be split into files; a number if two have it."""
    labels: dict[Node, str] = {}
    for node in nodes:
        name = ".".join(filter(None, [_module(node.module).package.partition(".")[2], node.name]))
        count = sum(label.partition("#")[0] == name for label in labels.values())
        labels[node] = f"{name}#{count + 1}" if count else name
    return labels


def _definition(node: Node) -> Definition:
    return _module(node.module).definitions.get(node.name, Definition("", ()))


@functools.cache
def _links(node: Node) -> tuple[tuple[Node, ...], ...]:
    """Return what each name of a definition leads to, in the order of its numbers."""
    module = _module(node.module)
    names = _definition(node).names
    if node.name == WHOLE:
        names = tuple(Reference(node.module, (name,)) for name in sorted({*module.definitions, *module.imports}))
    elif node.name != ON_IMPORT and ON_IMPORT in module.definitions:
        names += (Reference(node.module, (ON_IMPORT,)),)
    return tuple(map(_targets, names))


@functools.cache
def _targets(reference: Reference) -> tuple[Node, ...]:
    """Return the definitions that a name leads to, through whatever imports it again."""
    name, path = reference
    if name == PACKAGE and path:  # which holds modules, and what notebooks call
        return _targets(Reference(f"{PACKAGE}.{path[0]}", path[1:]))
    if not _is_science(name):
        return (Node("", ".".join((name, *path))),)
    if not path:
        return (Node(name, WHOLE),)
    module, first = _module(name), path[0]
    # a name that a module imports from the package in which it lies, as it is called there, is a module
    again = [Reference(base, inner + path[1:]) for base, inner in module.imports.get(first, ())]
    found = [target for one in again if one != reference for target in _targets(one)]
    if first in module.definitions:
        found.append(Node(name, first))
    elif not found and module_path(f"{name}.{first}") is not None:
        found += _targets(Reference(f"{name}.{first}", path[1:]))
    return tuple(dict.fromkeys(found)) or (Node(name, WHOLE),)


def _is_science(module: str) -> bool:
    ours = module.startswith(f"{PACKAGE}.") and not module.startswith(NOT_SCIENCE)
    return ours and module_path(module) is not None


# -- one file ----------------------------------------------------------------------------------------------------------


@functools.cache
def _module(name: str) -> Module:
    path = module_path(name)
    assert path is not None
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    tree = parsed(path)
    imports: dict[str, list[Reference]] = {}
    for node in ast.walk(tree):
        for bound, reference in _imported(node, package) if isinstance(node, Import) else ():
            if bound == "*":
                _refuse(path, node, "`*` imports names that stand nowhere", "name what is imported")
            imports.setdefault(bound, []).append(reference)
    statements: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for given in _given_by(statement):
            statements.setdefault(given, []).append(statement)
    definitions = {}
    for given, several in statements.items():
        writer = _Writer(path, name, frozenset(statements), imports)
        syntax = "".join(ast.dump(writer.written(statement)) for statement in several)
        definitions[given] = Definition(_short(syntax.encode()), tuple(writer.names))
    return Module(package, definitions, imports)


def _refuse(path: Path, node: Any, what: str, mend: str) -> NoReturn:
    raise ProjectError(f"{path}:{node.lineno}: {what}, and what a job depends on cannot be told; {mend}")


def _imported(statement: Import, package: str) -> Iterator[tuple[str, Reference]]:
    """Yield the names that an import binds, and what each stands for."""
    for alias in statement.names:
        if isinstance(statement, ast.ImportFrom):
            yield alias.asname or alias.name, Reference(absolute(statement, package), (alias.name,))
        else:
            yield (
                alias.asname or alias.name.partition(".")[0],
                Reference(alias.name if alias.asname else alias.name.partition(".")[0], ()),
            )


def _given_by(statement: ast.stmt) -> list[str]:
    """Return the names that a statement defines; what does anything besides is done on import."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    names = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
    if isinstance(statement, ast.Assign | ast.AnnAssign) and all(isinstance(one, ast.Name) for one in names):
        return [one.id for one in names if isinstance(one, ast.Name)]
    words = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    never = ("TYPE_CHECKING", "__name__ == '__main__'")
    skipped = isinstance(statement, ast.If) and ast.unparse(statement.test) in never
    return [] if words or skipped or isinstance(statement, Import) else [ON_IMPORT]


class _Writer(ast.NodeTransformer):
    """Takes from a definition what no result depends on, and puts a number in place of each name of the module's."""

    def __init__(self, path: Path, module: str, own: frozenset[str], imports: Mapping[str, Sequence[Reference]]):
        self.path, self.module, self.own, self.imports = path, module, own, imports
        self.names: list[Reference] = []
        self.inside, self.local = False, set[str]()

    def written(self, statement: ast.stmt) -> ast.AST:
        """Return a statement so changed, its own name a number, too."""
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            self.inside = True
            inner = [node for node in ast.walk(statement) if node is not statement]
            self.local = {node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            self.local |= {node.arg for node in inner if isinstance(node, ast.arg)}
        return self.visit(statement)

    def _references(self, name: str) -> list[Reference]:
        return [*([Reference(self.module, (name,))] if name in self.own else []), *self.imports.get(name, ())]

    def _numbered(self, references: Iterable[Reference], rest: Sequence[str]) -> ast.AST:
        placed = []
        for module, path in references:
            placed.append(str(len(self.names)))
            self.names.append(Reference(module, (*path, *rest)))
        return ast.Name(" ".join(placed))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in UNTOLD | UNTOLD_OF and node.id not in self.local:
            _refuse(self.path, node, f"`{node.id}` reads names that stand nowhere", "name what is read")
        references = self._references(node.id)
        return self._numbered(references, ()) if references else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if node.attr in UNTOLD_OF:
            _refuse(self.path, node, f"`{node.attr}` reads names that stand nowhere", "name what is read")
        path, root = _chain(node)
        if isinstance(node.ctx, ast.Store) or node.attr in CHANGES:
            self._check_unchanged(root)
        if isinstance(root, ast.Name) and root.id in self.imports and root.id not in self.local:
            return self._numbered(self._references(root.id), path)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.ctx, ast.Store):
            self._check_unchanged(_chain(node.value)[1])
        return self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        _refuse(self.path, node, f"`global {node.names[0]}` changes a module", "return it instead")

    def _check_unchanged(self, root: ast.AST) -> None:
        if self.inside and isinstance(root, ast.Name) and root.id in self.own and root.id not in self.local:
            _refuse(self.path, root, f"`{root.id}` of the module is changed", "pass it on, or build it where it stands")

    def _without_words(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            del node.body[0]
        node.name = "" if node.name in self.own else node.name
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self._without_words(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        # a setting's type may be a class of settings, which is made of what the configuration says
        types = [
            inner for argument in node.args.kwonlyargs if argument.annotation for inner in ast.walk(argument.annotation)
        ]
        for name in types:
            if isinstance(name, ast.Name):
                self.names += [one for one in self._references(name.id) if _is_science(one.module)]
        return self._without_words(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_Import(self, node: ast.Import) -> None:
        """Leave it out: what its names stand for is said where they are read."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Leave it out, too."""

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        # which error is raised, not its words; those of a verdict are a result
        if isinstance(node.exc, ast.Call) and ast.unparse(node.exc.func).endswith("Error"):
            node.exc = node.exc.func
        node.cause = None
        return self.generic_visit(node)


def _chain(node: ast.AST) -> tuple[list[str], ast.AST]:
    """Return the attributes of ``a.b.c`` and its root."""
    path: list[str] = []
    while isinstance(node, ast.Attribute):
        path.insert(0, node.attr)
        node = node.value
    return path, node
