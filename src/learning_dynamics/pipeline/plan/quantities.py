"""Measured quantities: what a metrics function lists in its docstring, under ``Quantities``.

An entry is a name, or several, and below it what they mean. ``power_*`` stands for all names that begin so; a
function's name in backquotes for all that it lists.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.plan.sources import module_of, module_path, read_syntax_tree

SECTION = re.compile(r"\n\nQuantities\n-+\n(.*?)(?:\n\n(?:Parameters|Returns|Raises|Notes)\n-+\n|\Z)", re.DOTALL)
ENTRY = re.compile(r"^(\S.*)((?:\n(?: .*)?)*)", re.MULTILINE)  # at the margin, and the text below it


def declared_quantities(paper: str, function_name: str) -> Mapping[str, str]:
    """Return what the metrics function of a kind of run measures: meanings by name or pattern, in its order.

    Raises
    ------
    ProjectError
        If it refers to a function that is not there.
    """
    return _listed_quantities(module_of("metrics", paper, function_name), function_name.rpartition(".")[2])


def refuse_unlisted(paper: str, function_name: str, measured: Iterable[str]) -> None:
    """Refuse what a metrics function measured and does not list, if it lists anything.

    Raises
    ------
    ProjectError
        If it measured something that it does not list: the names of the quantities.
    """
    listed = declared_quantities(paper, function_name)
    if not listed:
        return
    missing = [quantity for quantity in measured if not any(fnmatchcase(quantity, name) for name in listed)]
    if missing:
        raise ProjectError(
            f"metrics {function_name} of {paper} measures {', '.join(missing)}; list it under `Quantities`"
        )


def _listed_quantities(module: str, name: str) -> Mapping[str, str]:
    """Return the meanings that the docstring of a module's function lists, by name or pattern."""
    function = _functions(module).get(name)
    meanings: dict[str, str] = {}
    if function is None:
        return meanings
    section = SECTION.search(ast.get_docstring(function) or "")
    for head, text in ENTRY.findall(section[1]) if section else []:
        if head.startswith("`"):
            meanings |= _listed_quantities(*_resolve_function(module, head.strip("`")))
        else:
            meanings |= dict.fromkeys(head.split(", "), " ".join(text.split()))
    return meanings


def _resolve_function(module: str, name: str) -> tuple[str, str]:
    """Return module and name of a function that a docstring refers to: of its module, its topic, or its paper."""
    inner, _, function = name.rpartition(".")
    topic = module.rpartition(".")[0]
    modules = [f"{topic}.{inner}", f"{topic.rpartition('.')[0]}.{inner}"] if inner else [module]
    for candidate in modules:
        if function in _functions(candidate):
            return candidate, function
    raise ProjectError(f"{module_path(module)}: there is no function `{name}`, whose quantities it refers to")


def _functions(module: str) -> Mapping[str, ast.FunctionDef]:
    path = module_path(module)
    body = read_syntax_tree(path).body if path else []
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
