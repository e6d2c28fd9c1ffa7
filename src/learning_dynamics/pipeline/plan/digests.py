"""What a job computes: every function, class and constant that it reaches, each with a digest of its syntax.

A job calls a function that the configuration names. Its result depends on that definition and, transitively, on those
that it names: without docstrings, comments, annotations and the texts of errors, wherever they stand and however they
are imported. Code that reads names dynamically (``globals()``, ``import *``) is refused.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan.sources import (
    PACKAGE,
    Import,
    absolute,
    imports_in,
    imports_of,
    is_infrastructure,
    module_of,
    module_path,
    parsed,
)

# in place of a name: all that a module defines, or what importing it does besides
ENTIRE_MODULE, ON_IMPORT = "*", "(on import)"
# no module imports these files: they belong to the package in whose folder they are
DATA_FILES = {
    *(".mplstyle", ".csv", ".tsv", ".txt", ".dat", ".json", ".yaml", ".toml"),
    *(".npy", ".npz", ".mat", ".parquet"),
}
# what reads names that are not written down (ruff: F403, PLW0603 and S307 refuse more of this kind)
DYNAMIC_NAMES = {"globals", "eval", "exec", "__import__", "import_module", "singledispatch"}
DYNAMIC_ATTRIBUTES = {"__globals__", "__init_subclass__", "__subclasses__", "import_module", "singledispatch"}
JOB_PACKAGES = tuple(f"{PACKAGE}.pipeline.{folder}." for folder in ("commands", "store"))
MUTATING_METHODS = {"add", "append", "extend", "insert", "pop", "register", "remove", "setdefault", "update"}


class Reference(NamedTuple):
    """What a name stands for: a module, and the names that lead on from there."""

    module: str
    path: tuple[str, ...]


class Definition(NamedTuple):
    """A digest of syntax in which names are numbers, what each number stands for, and a digest of its docstring."""

    syntax: str
    names: tuple[Reference, ...] = ()
    words: str = ""


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
        If there is no such topic or module, or code reads names dynamically.
    """
    nodes = reached(stage, paper, *kinds)
    labels = _labels(nodes)
    found = {}
    for node, label in labels.items():
        linked = [[labels.get(target, target.name) for target in targets] for targets in _links(node)]
        found[label] = _short(f"{_definition(node).syntax}{linked}".encode())
        if stage == "claims" and node.name in {kind.rpartition(".")[2] for kind in kinds}:
            found[label] = _short(f"{found[label]}{_definition(node).words}".encode())  # the statement that is judged
    packages = {_module(node.module).package for node in nodes}
    return found | {name: _short(file.read_bytes()) for package in packages for name, file in _data_files(package)}


def forget() -> None:
    """Read the sources anew from here on."""
    for cached in (science, _path, _science_of_command, _data_files, imported_by, _module, _links, _targets):
        cached.cache_clear()


_path = functools.cache(module_path)


def _short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


@functools.cache
def _science_of_command(stage: str) -> list[Reference]:
    """Return the science that a stage's command calls itself, and what it reads and writes files with."""
    found = []
    waiting, seen = [f"{PACKAGE}.pipeline.commands.{stage}"], set()
    while waiting:
        module = waiting.pop()
        path = _path(module)
        if path is None or module in seen:
            continue
        seen.add(module)
        waiting += [name for name in imports_of(module) if name.startswith(JOB_PACKAGES)]
        for statement in parsed(path).body:
            if isinstance(statement, Import):
                found += [reference for _, reference in _imported(statement, module.rpartition(".")[0])]
    return [reference for reference in found if _is_science(reference.module) and reference.path]


@functools.cache
def _data_files(package: str) -> list[tuple[str, Path]]:
    path = _path(package)
    files = [file for file in sorted(path.parent.glob("[!.]*")) if file.is_file()] if path else []
    label = package.partition(".")[2]
    return [(f"{label}/{file.name}", file) for file in files if file.suffix in DATA_FILES]


def reached(stage: str, paper: str, *kinds: str) -> list[Node]:
    """Return the definitions that the jobs of a stage reach, in the order in which they are first read."""
    roots = [Reference(module_of(stage, paper, kind), (kind.rpartition(".")[2],)) for kind in kinds]
    roots += _science_of_command(stage)
    imported = sorted({name for root in roots for name in imported_by(root.module)})
    found: dict[Node, None] = {}
    waiting = [Node(name, ON_IMPORT) for name in imported if ON_IMPORT in _module(name).definitions]
    waiting += [target for root in roots for target in _targets(root)][::-1]
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
    return _module(node.module).definitions.get(node.name, Definition(""))


@functools.cache
def imported_by(module: str) -> set[str]:
    """Return the modules of science that importing one reads, itself and the packages that they lie in included."""
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found or not _is_science(name) or _path(name) is None:
            continue
        found.add(name)
        waiting.append(name.rpartition(".")[0])
        for base, path in (reference for several in _module(name).imports.values() for reference in several):
            waiting += [base, ".".join((base, *path))]
    return found


@functools.cache
def _links(node: Node) -> tuple[tuple[Node, ...], ...]:
    """Return what each name of a definition leads to, in the order of its numbers."""
    module = _module(node.module)
    names = _definition(node).names
    if node.name == ENTIRE_MODULE:
        names = tuple(Reference(node.module, (name,)) for name in sorted({*module.definitions, *module.imports}))
    return tuple(map(_targets, names))


@functools.cache
def _targets(reference: Reference) -> tuple[Node, ...]:
    """Return the definitions that a name leads to, through whatever imports it again."""
    name, path = reference
    if name == PACKAGE and path:  # which holds modules, and what notebooks call
        return _targets(Reference(f"{PACKAGE}.{path[0]}", path[1:]))
    if not _is_science(name):
        return (Node("", ".".join((name, *path))),)
    if _path(name) is None:  # Python imports folders without an __init__.py, too
        raise ProjectError(f"{name}: no such module is there; write its file, or give its folder an __init__.py")
    if not path:
        return (Node(name, ENTIRE_MODULE),)
    first, rest = path[0], path[1:]
    # a name that a package imports from itself, and has no other value, is a module
    imported = [Reference(base, own + rest) for base, own in _module(name).imports.get(first, ())]
    imported = [one for one in imported if one != reference]
    is_defined = first in _module(name).definitions
    if not imported and not is_defined:
        inner = Reference(f"{name}.{first}", rest)
        return _targets(inner) if _path(inner.module) else (Node(name, ENTIRE_MODULE),)
    own = [Node(name, first)] if is_defined else []
    return tuple(dict.fromkeys([*own, *(target for one in imported for target in _targets(one))]))


def _is_science(module: str) -> bool:
    """Whether a module is of this package and no machinery."""
    return module.startswith(f"{PACKAGE}.") and not is_infrastructure(module)


# -- one file ----------------------------------------------------------------------------------------------------------


@functools.cache
def _module(name: str) -> Module:
    path = _path(name)
    assert path is not None
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    tree = parsed(path)
    imports: dict[str, list[Reference]] = {}
    for node in imports_in(tree):
        for bound, reference in _imported(node, package):
            if bound == "*":
                _refuse(path, node, "`import *` is dynamic", "name what is imported")
            if {bound, *reference.path} & DYNAMIC_NAMES:
                _refuse(path, node, f"`{bound}` is dynamic", "write the name that is read")
            if reference not in imports.setdefault(bound, []):
                imports[bound].append(reference)
    statements: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for defined in _defined_names(statement):
            statements.setdefault(defined, []).append(statement)
    definitions = {}
    for defined, several in statements.items():
        first = several[0]
        words = (ast.get_docstring(first) or "") if isinstance(first, ast.FunctionDef) else ""
        writer = _Writer(path, name, frozenset(statements), imports)
        syntax = "".join(map(writer.written, several))
        definitions[defined] = Definition(_short(syntax.encode()), tuple(writer.names), words)
    return Module(package, definitions, imports)


def _refuse(path: Path, node: Any, what: str, fix: str) -> NoReturn:
    raise ProjectError(f"{path}:{node.lineno}: {what}, so that a job's dependencies cannot be determined; {fix}")


def _imported(statement: Import, package: str) -> Iterator[tuple[str, Reference]]:
    """Yield the names that an import binds, and what each stands for."""
    for alias in statement.names:
        if isinstance(statement, ast.ImportFrom):
            yield alias.asname or alias.name, Reference(absolute(statement, package), (alias.name,))
        else:  # `import a.b` binds `a`, and imports `a.b`
            yield alias.asname or alias.name, Reference(alias.name, ())
            if not alias.asname:
                first = alias.name.partition(".")[0]
                yield first, Reference(first, ())


def _defined_names(statement: ast.stmt) -> list[str]:
    """Return the names that a statement defines; what does anything besides is done on import."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        values = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
        names = [one.id for one in values if isinstance(one, ast.Name)]
        if len(names) == len(values):
            return names
    words = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    never = ("TYPE_CHECKING", "__name__ == '__main__'")
    skipped = isinstance(statement, ast.If) and ast.unparse(statement.test) in never and not statement.orelse
    return [] if words or skipped or isinstance(statement, Import) else [ON_IMPORT]


class _Writer:
    """Writes a definition without what no result depends on, a number in place of each name of the module's."""

    def __init__(self, path: Path, module: str, own: frozenset[str], imports: Mapping[str, Sequence[Reference]]):
        self.path, self.module, self.own, self.imports = path, module, own, imports
        self.names: list[Reference] = []
        self.inside, self.local, self.typed = False, set[str](), set[ast.stmt]()

    def written(self, statement: ast.stmt) -> str:
        """Return a statement's syntax so changed, its own name left out."""
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            return self._text(statement)
        self.inside = True
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.local.add(node.id)
            elif isinstance(node, ast.arg):
                self.local.add(node.arg)
            elif isinstance(node, ast.ExceptHandler | ast.MatchAs) and node.name:
                self.local.add(node.name)
        return self._text(statement, name="")

    def _text(self, node: Any, **changed: Any) -> str:
        """Return a node as ``ast.dump`` writes it, with other values of some fields; nothing, where it is left out."""
        if isinstance(node, list):
            return f"[{', '.join(filter(None, map(self._text, node)))}]"
        if not isinstance(node, ast.AST):
            return repr(node)
        kind = type(node).__name__
        write = getattr(self, f"_{kind}", None)
        return write(node, **changed) if write else self._fields(node, **changed)

    def _fields(self, node: ast.AST, **changed: Any) -> str:
        fields = []
        for name in node._fields:
            value = changed[name] if name in changed else getattr(node, name, None)
            if value is not None or not hasattr(type(node), name):  # what need not be given
                fields.append(f"{name}={self._text(value)}")
        return f"{type(node).__name__}({', '.join(fields)})"

    def _references(self, name: str) -> list[Reference]:
        return [*([Reference(self.module, (name,))] if name in self.own else []), *self.imports.get(name, ())]

    def _numbered(self, name: str, references: Iterable[Reference], rest: Sequence[str]) -> str:
        placed = [name] if name in self.local else []
        for module, path in references:
            placed.append(str(len(self.names)))
            self.names.append(Reference(module, (*path, *rest)))
        return f"Name(id={' '.join(placed)!r})"

    def _Name(self, node: ast.Name) -> str:
        if node.id in DYNAMIC_NAMES and node.id not in self.local:
            _refuse(self.path, node, f"`{node.id}` is dynamic", "write the name that is read")
        references = self._references(node.id)
        return self._numbered(node.id, references, ()) if references else self._fields(node)

    def _Attribute(self, node: ast.Attribute) -> str:
        if node.attr in DYNAMIC_ATTRIBUTES:
            _refuse(self.path, node, f"`{node.attr}` is dynamic", "write the name that is read")
        path, root = _chain(node)
        if isinstance(node.ctx, ast.Store) or node.attr in MUTATING_METHODS:
            self._check_unchanged(root)
        if path and isinstance(root, ast.Name) and root.id in self.imports and root.id not in self.local:
            return self._numbered(root.id, self._references(root.id), path)
        return self._fields(node)

    def _Call(self, node: ast.Call) -> str:
        name = getattr(node.func, "attr", "")
        if name in ("query", "eval") and any(isinstance(value, ast.Constant | ast.JoinedStr) for value in node.args):
            _refuse(self.path, node, f"`{name}` reads names out of text", "write it in Python")
        return self._fields(node)

    def _Subscript(self, node: ast.Subscript) -> str:
        if isinstance(node.ctx, ast.Store):
            self._check_unchanged(_chain(node.value)[1])
        return self._fields(node)

    def _check_unchanged(self, root: ast.AST) -> None:
        if not self.inside or not isinstance(root, ast.Name) or root.id in self.local:
            return
        # of an imported module a function may be called `add`
        imported = [name for name in self.imports.get(root.id, ()) if name.module.startswith(PACKAGE) and name.path]
        if root.id in self.own or any(name.path[-1].isupper() for name in imported):
            _refuse(
                self.path, root, f"`{root.id}` of the module is changed", "pass it on, or build it where it is defined"
            )

    def _Expr(self, node: ast.Expr) -> str:
        return "" if isinstance(node.value, ast.Constant) else self._fields(node)

    def _AnnAssign(self, node: ast.AnnAssign) -> str:
        return self._fields(node, annotation=node.annotation if node in self.typed else ast.Constant(None))

    def _ClassDef(self, node: ast.ClassDef, **changed: Any) -> str:
        self.typed.update(node.body)  # the type of a field may say what a result is
        return self._fields(node, **changed)

    def _FunctionDef(self, node: ast.FunctionDef, **changed: Any) -> str:
        if node.name in DYNAMIC_ATTRIBUTES:
            _refuse(self.path, node, f"`{node.name}` is dynamic", "write the name that is read")
        # a setting's type may be a class of settings, which is made of what the configuration says
        types = [argument.annotation for argument in node.args.kwonlyargs if argument.annotation]
        for name in (inner for annotation in types for inner in ast.walk(annotation)):
            if isinstance(name, ast.Name):
                self.names += [one for one in self._references(name.id) if _is_science(one.module)]
        return self._fields(node, returns=None, **changed)

    def _arg(self, node: ast.arg) -> str:
        return self._fields(node, annotation=None)

    def _Import(self, node: Import) -> str:
        """Leave it out: what its names stand for is said where they are read."""
        return ""

    _ImportFrom = _Import

    def _Raise(self, node: ast.Raise) -> str:
        # which error is raised, not its words; those of a verdict are a result
        error = node.exc
        if isinstance(error, ast.Call) and ast.unparse(error.func).endswith("Error"):
            error = ast.Call(error.func, [one for one in error.args if not _is_text(one)], error.keywords)
        return self._fields(node, exc=error, cause=None)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _chain(node: ast.AST) -> tuple[list[str], ast.AST]:
    """Return the attributes of ``a.b.c`` and its root; none of ``a.b[i].c``, whose root is as well ``a``."""
    path: list[str] = []
    plain = True
    while isinstance(node, ast.Attribute | ast.Subscript):
        path = [node.attr, *path] if isinstance(node, ast.Attribute) else path
        plain = plain and isinstance(node, ast.Attribute)
        node = node.value
    return path if plain else [], node
