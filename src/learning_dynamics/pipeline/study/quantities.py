"""Measured quantities: what a metrics function declares, and what figures and claims ask for, both read from source.

A metrics function lists what it measures in its docstring, under ``Quantities``: a name, or several, and below it what
they mean. ``power_*`` stands for all names that begin so; a function's name in backquotes for all that it declares.
What is asked for is every text given for a parameter annotated ``Quantity``, by the function that draws or judges or
by one that it calls.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from learning_dynamics.errors import ProjectError, suggest_name
from learning_dynamics.pipeline.study.sources import PACKAGE, module_of, module_path, parsed

SECTION = re.compile(r"(?:^|\n\n)(Parameters|Quantities|Returns|Raises|Notes)\n-+\n")
ENTRY = re.compile(r"^(\S.*)((?:\n(?: .*)?)*)", re.MULTILINE)  # at the margin, and the text below it
Place = tuple[Path, int]


def docstring_sections(docstring: str) -> tuple[str, dict[str, list[tuple[str, str]]]]:
    """Return a docstring's prose, and its sections: heads and the texts below them, by title."""
    prose, *rest = SECTION.split(docstring)
    return prose, {title: ENTRY.findall(body) for title, body in zip(rest[::2], rest[1::2], strict=True)}


def declared_quantities(paper: str, kind: str) -> Mapping[str, str]:
    """Return what the metrics function of a kind of run measures: meanings by name or pattern, in its order.

    Raises
    ------
    ProjectError
        If it refers to a function that is not there.
    """
    return _declared(module_of("metrics", paper, kind), kind.rpartition(".")[2])


def refuse_undeclared(stage: str, paper: str, kind: str, where: str, kinds: list[str]) -> None:
    """Refuse a figure or claim that asks for a quantity that none of its runs' kinds measures.

    Raises
    ------
    ProjectError
        The source's line, and the nearest quantity that there is.
    """
    declared = {name for run_kind in kinds for name in declared_quantities(paper, run_kind)}
    if not declared:
        return  # tables of other columns
    for quantity, (path, line) in requested_quantities(module_of(stage, paper, kind), kind.rpartition(".")[2]).items():
        if not any(fnmatchcase(quantity, name) for name in declared):
            raise ProjectError(
                f"{where}: {path}:{line} asks for `{quantity}`, which none of its runs measures"
                f"{suggest_name(quantity, declared)}"
            )


def refuse_unlisted(paper: str, kind: str, measured: Iterable[str]) -> None:
    """Refuse what a metrics function measured and does not list, if it lists anything.

    Raises
    ------
    ProjectError
        It names the quantities.
    """
    listed = declared_quantities(paper, kind)
    missing = [quantity for quantity in measured if listed and not any(fnmatchcase(quantity, name) for name in listed)]
    if missing:
        raise ProjectError(f"metrics {kind} of {paper} measures {', '.join(missing)}; list it under `Quantities`")


def _declared(module: str, name: str) -> Mapping[str, str]:
    function = _module(module).functions.get(name)
    meanings: dict[str, str] = {}
    if function is None:
        return meanings
    for head, text in docstring_sections(ast.get_docstring(function) or "")[1].get("Quantities", []):
        if head.startswith("`"):
            meanings |= _declared(*_resolve_function(module, head.strip("`")))
        else:
            meanings |= dict.fromkeys(head.split(", "), " ".join(text.split()))
    return meanings


def _resolve_function(module: str, name: str) -> tuple[str, str]:
    """Return module and name of a function that a docstring refers to: of its module, its topic, or its paper."""
    inner, _, function = name.rpartition(".")
    topic = module.rpartition(".")[0]
    modules = [f"{topic}.{inner}", f"{topic.rpartition('.')[0]}.{inner}"] if inner else [module]
    for candidate in modules:
        if module_path(candidate) and function in _module(candidate).functions:
            return candidate, function
    raise ProjectError(f"{module_path(module)}: there is no function `{name}`, whose quantities it refers to")


def requested_quantities(module: str, function: str) -> Mapping[str, Place]:
    """Return the quantities that a function asks for, with the line of each; those of functions that it calls too."""
    lines: dict[str, Place] = {}
    waiting, visited = [(module, function)], set()
    while waiting:
        current = waiting.pop()
        if current in visited:
            continue
        visited.add(current)
        called, texts = _module(current[0]).read(current[1])
        waiting.extend(called)
        lines = texts | lines
    return lines


def _texts_of_call(call: ast.Call, inner: Mapping[str, ast.FunctionDef], source: _Module) -> Iterator[ast.Constant]:
    """Yield the texts that a call gives for quantities; a `Finding` gives its predictions to its judge."""
    if not isinstance(call.func, ast.Name):
        return
    if call.func.id == "Finding" and call.args and isinstance(call.args[0], ast.Name):
        judge = inner.get(call.args[0].id)
        if judge and judge.args.args and _is_quantity(judge.args.args[0]):
            predictions = ("printed", "rivals", "corrected")
            yield from _texts(
                [*call.args[1:], *(keyword.value for keyword in call.keywords if keyword.arg in predictions)]
            )
        return
    function = inner.get(call.func.id) or source.definition(call.func.id)
    if function is None:
        return
    positional = [*function.args.posonlyargs, *function.args.args]
    for parameter, value in zip(positional, call.args, strict=False):
        if _is_quantity(parameter):
            yield from _texts([value])
    if function.args.vararg and _is_quantity(function.args.vararg):
        yield from _texts(call.args[len(positional) :])
    parameters = [*positional, *function.args.kwonlyargs]
    quantities = {parameter.arg for parameter in parameters if _is_quantity(parameter)}
    yield from _texts([keyword.value for keyword in call.keywords if keyword.arg in quantities])


def _default_texts(function: ast.FunctionDef) -> Iterator[ast.Constant]:
    """Yield the texts that quantities are by default."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    defaults |= {
        parameter: value for parameter, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
    }
    yield from _texts([value for parameter, value in defaults.items() if _is_quantity(parameter)])


def _texts(nodes: list[ast.expr]) -> Iterator[ast.Constant]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node
        elif isinstance(node, ast.List | ast.Tuple):
            yield from _texts(node.elts)
        elif isinstance(node, ast.Dict):
            yield from _texts(node.values)
        elif isinstance(node, ast.IfExp):
            yield from _texts([node.body, node.orelse])


def _is_quantity(parameter: ast.arg) -> bool:
    nodes = ast.walk(parameter.annotation) if parameter.annotation else ()
    return any(isinstance(node, ast.Name) and node.id == "Quantity" for node in nodes)


class _Module:
    """A source file's functions, and what its imports name."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self._read: dict[str, tuple[list[tuple[str, str]], dict[str, Place]]] = {}
        tree = parsed(path)
        self.functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        self.imports = {
            alias.asname or alias.name: (node.module, alias.name)
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE)
            for alias in node.names
        }

    def read(self, name: str) -> tuple[list[tuple[str, str]], dict[str, Place]]:
        """Return the papers' functions that a function names, and the quantities that it asks for itself."""
        if name not in self._read:
            nodes = list(ast.walk(self.functions[name])) if name in self.functions else []
            inner = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
            locals_ = {node.arg for node in nodes if isinstance(node, ast.arg)}
            locals_ |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            used_names = {node.id for node in nodes if isinstance(node, ast.Name)} - locals_
            functions = [function for used_name in sorted(used_names) if (function := self.place(used_name))]
            texts = [text for node in nodes if isinstance(node, ast.Call) for text in _texts_of_call(node, inner, self)]
            texts += [text for node in inner.values() for text in _default_texts(node)]
            self._read[name] = (
                [function for function in functions if function[0].startswith(f"{PACKAGE}.papers.")],
                {str(text.value): (self.path, text.lineno) for text in reversed(texts)},
            )
        return self._read[name]

    def place(self, name: str) -> tuple[str, str] | None:
        """Return module and name of a function of this package that a name stands for."""
        return (self.name, name) if name in self.functions else self.imports.get(name)  # type: ignore[return-value]

    def definition(self, name: str) -> ast.FunctionDef | None:
        function = self.place(name)
        return _module(function[0]).functions.get(function[1]) if function else None


def _module(name: str) -> _Module:
    path = module_path(name)
    if path is None:
        raise ProjectError(f"no module {name}")
    status = path.stat()
    return _read_module(path, name, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=1024)
def _read_module(path: Path, name: str, _modified: int, _size: int) -> _Module:
    return _Module(path, name)
