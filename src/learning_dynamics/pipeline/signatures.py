"""The settings of a run, data set, figure or claim: its function's keyword-only parameters are their schema.

``def flow(data, *, width: Count, gamma: Positive)`` means that a run of kind ``flow`` takes a data set and exactly
``width``, a positive integer, and ``gamma``, a positive number. ``def fig2(small: Table, large: Table)`` is given
two tables, by these roles. Signatures are read from the source text, so that checking a configuration imports none
of the numerical code.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from learning_dynamics.errors import ProjectError, near, shortened
from learning_dynamics.pipeline.sources import module_of, module_path, parsed

LARGEST_COUNT = 10**10  # steps of the longest descent; nothing of this size is ever held in memory
VOCABULARY: dict[str, Any] = {
    "Count": Annotated[int, Field(ge=1, le=LARGEST_COUNT)],
    "Natural": Annotated[int, Field(ge=0, le=LARGEST_COUNT)],
    "Seed": Annotated[int, Field(ge=0, le=2**63 - 1)],
    "Real": Annotated[float, Field(allow_inf_nan=False)],
    "Positive": Annotated[float, Field(gt=0, allow_inf_nan=False)],
    "NonNegative": Annotated[float, Field(ge=0, allow_inf_nan=False)],
    "Fraction": Annotated[float, Field(ge=0, le=1)],
    "Scale": Annotated[float, Field(ge=1e-24, allow_inf_nan=False)],
    "Literal": Literal,
}
BUILTIN = {"int", "float", "str", "bool", "list", "dict", "None"}
# pydantic's error types, as the mend that a person needs
MENDS = {
    "missing": "missing; add it",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "finite_number": "must be a finite number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number (YAML reads 1e-4 as text: write 1.0e-4)",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "too_short": "must not be empty",
    "dict_type": "must be a mapping",
    "literal_error": "must be {expected}",
}


@dataclass(frozen=True)
class Signature:
    """A function as configuration sees it: what it is given, and a model of its settings.

    Attributes
    ----------
    arguments : mapping from name to annotation
        The positional parameters: a run's data, a figure's or claim's tables by role.
    optional : frozenset of str
        Arguments with a default.
    fault : str
        What is wrong with an annotation, for functions that configuration cannot call; else empty.
    decorators : tuple of str
    types : mapping from name to annotation
        The settings' types, as the source writes them.
    """

    name: str
    where: str
    arguments: Mapping[str, str]
    optional: frozenset[str]
    model: type[BaseModel]
    docstring: str
    decorators: tuple[str, ...]
    fault: str = ""
    types: Mapping[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> set[str]:
        """The names of the settings."""
        return set(self.model.model_fields)

    @property
    def takes_seed(self) -> bool:
        """Whether one of the settings is the random seed."""
        return "seed" in self.model.model_fields

    def check(self, settings: Mapping[str, Any], where: str) -> None:
        """Raise `ProjectError` that names the key and the mend unless `settings` fit."""
        if self.fault:
            raise ProjectError(self.fault)
        # of numpy's numbers those of Python
        settings = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in settings.items()}
        for key in settings:
            if key not in self.settings:
                raise ProjectError(f"{where}.{key}: unknown setting of `{self.name}`{near(key, self.settings)}")
        try:
            self.model.model_validate(dict(settings), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"] if not str(part).startswith(("constrained", "list[")))
            mend = MENDS.get(first["type"], first["msg"]).format(**first.get("ctx", {}))
            given = "" if first["type"] == "missing" else f" (is {shortened(first['input'])})"
            raise ProjectError(f"{where}.{key}: {mend}{given}") from None

    def check_roles(self, runs: Mapping[str, Any], where: str) -> None:
        """Raise `ProjectError` unless `runs` gives each argument a run, or a list of runs where one is asked for."""
        for role in runs:
            if role not in self.arguments:
                raise ProjectError(f"{where}.runs.{role}: `{self.name}` has no such role{near(role, self.arguments)}")
        for role, annotation in self.arguments.items():
            if role not in runs:
                if role not in self.optional:
                    raise ProjectError(
                        f"{where}.runs.{role}: missing; name the run that is the {role} of `{self.name}`"
                    )
                continue
            several = "Sequence" in annotation or annotation.startswith(("list[", "tuple["))
            if several != isinstance(runs[role], list):
                raise ProjectError(f"{where}.runs.{role}: must be {'a list of runs' if several else 'one run'}")


def signature_of(stage: str, paper: str, kind: str, where: str) -> Signature:
    """Return the function that a stage calls; `where` is how an error begins if there is none.

    Raises
    ------
    ProjectError
        It names the nearest.
    """
    try:
        module = module_of(stage, paper, kind)
    except ProjectError as error:
        raise ProjectError(f"{where}: {error}") from None
    path, name = module_path(module), kind.rpartition(".")[2]
    functions = signatures(path) if path else {}
    if name not in functions:
        raise ProjectError(f"{where}: no function `{name}` in {module.replace('.', '/')}.py{near(name, functions)}")
    return functions[name]


def signatures(module: Path) -> dict[str, Signature]:
    """Return the public functions defined in a source file, by name."""
    status = module.stat()
    return _signatures(module, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=1024)
def _signatures(module: Path, _modified: int, _size: int) -> dict[str, Signature]:
    return {
        node.name: _signature(node, module)
        for node in parsed(module).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }


def _signature(node: ast.FunctionDef, module: Path) -> Signature:
    positional = [*node.args.posonlyargs, *node.args.args]
    arguments = {
        argument.arg: ast.unparse(argument.annotation) if argument.annotation else "" for argument in positional
    }
    optional = frozenset(argument.arg for argument in positional[len(positional) - len(node.args.defaults) :])
    fields: dict[str, Any] = {}
    fault = ""
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        place = f"{module.name}:{argument.lineno}: `{node.name}`: setting `{argument.arg}`"
        annotation, wrong = _annotation(argument.annotation)
        if wrong:
            fault = fault or f"{module}:{argument.lineno}: {place.split(': ', 1)[1]}: {wrong}"
        fields[argument.arg] = (annotation, ... if default is None else _literal(default))
    model = create_model(node.name, __config__=ConfigDict(extra="forbid", protected_namespaces=()), **fields)
    decorators = tuple(ast.unparse(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list)
    docstring = ast.get_docstring(node) or ""
    types = {one.arg: ast.unparse(one.annotation) for one in node.args.kwonlyargs if one.annotation}
    return Signature(node.name, str(module), arguments, optional, model, docstring, decorators, fault, types)


def _annotation(node: ast.expr | None) -> tuple[Any, str]:
    """Return the type that an annotation stands for, or what is wrong with it."""
    if node is None:
        return Any, "has no type; annotate it with one of learning_dynamics.settings"
    for name in ast.walk(node):
        if isinstance(name, ast.Name) and name.id not in VOCABULARY and name.id not in BUILTIN:
            return Any, f"unknown type `{name.id}`{near(name.id, [*VOCABULARY, *BUILTIN])}"
        if isinstance(name, ast.Call | ast.Attribute | ast.Lambda):
            return Any, f"`{ast.unparse(node)}` is not a type of settings"
    try:
        return eval(ast.unparse(_lists_not_empty(node)), {**VOCABULARY, "NonEmpty": _non_empty}), ""
    except (TypeError, SyntaxError) as error:
        return Any, f"`{ast.unparse(node)}` is not a type of settings ({error})"


class _NonEmptyLists(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "list":
            return ast.Call(ast.Name("NonEmpty", ast.Load()), [node], [])
        return node


def _lists_not_empty(node: ast.expr) -> ast.expr:
    copied = ast.parse(ast.unparse(node), mode="eval").body
    return ast.fix_missing_locations(_NonEmptyLists().visit(copied))


def _non_empty(annotation: Any) -> Any:
    return Annotated[annotation, Field(min_length=1)]


def _literal(default: ast.expr) -> Any:
    try:
        return ast.literal_eval(default)
    except ValueError:
        return None
