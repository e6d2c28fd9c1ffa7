"""The settings of a run, data set, figure or claim: its function's keyword-only parameters are their schema.

``def flow(data, *, width: Count, gamma: Positive)`` means that a run of kind ``flow`` takes a data set and exactly
``width``, a positive integer, and ``gamma``, a positive number. ``def fig2(small: Table, large: Table)`` is given
two tables, by these roles. ``limit: Limit``, a frozen dataclass, means a block ``limit:`` of that class's fields.
Signatures are read from the source text, so that checking a configuration imports none of the numerical code.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from learning_dynamics import settings as types_of_settings
from learning_dynamics.errors import ProjectError, shortened, suggest_name
from learning_dynamics.pipeline.study.blocks import flat
from learning_dynamics.pipeline.study.sources import module_of, module_path, parsed

# name of a type of numbers: int or float, and what it is held to
NUMBERS: dict[str, tuple[type, types_of_settings.Bounds]] = {
    name: get_args(getattr(types_of_settings, name)) for name in types_of_settings.__all__ if name != "Literal"
}


def _bounded_type(number: type, bounds: types_of_settings.Bounds) -> Any:
    options: dict[str, Any] = {"allow_inf_nan": False} if number is float else {}
    return Annotated[number, Field(**bounds.limits, **options)]


VOCABULARY: dict[str, Any] = {"Literal": Literal} | {name: _bounded_type(*number) for name, number in NUMBERS.items()}
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
    "float_type": "must be a number",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "too_short": "must not be empty",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping of settings",
    "literal_error": "must be {expected}",
}


@dataclass(frozen=True)
class Setting:
    """A keyword parameter of a function, or a field of a class: its type as the source writes it, and its line."""

    name: str
    written: str
    default: ast.expr | None
    line: int

    @classmethod
    def of(cls, name: str, annotation: ast.expr | None, default: ast.expr | None, line: int) -> Setting:
        """Return a setting, given syntax trees."""
        return cls(name, ast.unparse(annotation) if annotation else "", default, line)


@dataclass(frozen=True)
class Signature:
    """A function as configuration sees it: what it is given, and a model of its settings.

    Attributes
    ----------
    arguments : mapping from name to annotation
        The positional parameters: a run's data, a figure's or claim's tables by role.
    optional : frozenset of str
        Arguments with a default.
    parameters : tuple of Setting
        The settings, without those that a class inherits.
    decorators : tuple of str
    classes : mapping from name to Signature
        Of the settings whose type is a class, the class: its fields are its settings.
    bases : tuple of Signature
        Of a class those that it inherits fields from.
    no_class_of_settings : str
        What is wrong with a class; else empty.
    """

    name: str
    where: str
    arguments: Mapping[str, str]
    optional: frozenset[str]
    parameters: tuple[Setting, ...]
    docstring: str
    decorators: tuple[str, ...]
    classes: Mapping[str, Signature] = field(default_factory=dict)
    bases: tuple[Signature, ...] = ()
    no_class_of_settings: str = ""

    @functools.cached_property
    def types(self) -> Mapping[str, str]:
        """The settings' types, as the source writes them."""
        inherited = {name: written for base in reversed(self.bases) for name, written in base.types.items()}
        return inherited | {item.name: item.written for item in self.parameters}

    @property
    def settings(self) -> set[str]:
        """The names of the settings; a class's is one, and none begins with an underscore."""
        return {name for name in self.types if not name.startswith("_")}

    @functools.cached_property
    def ancestors(self) -> tuple[Signature, ...]:
        """Of a class those that it inherits fields from, nearest first."""
        return tuple(item for base in self.bases for item in (base, *base.ancestors))

    @functools.cached_property
    def model(self) -> type[BaseModel]:
        """A model of the settings."""
        fields: dict[str, Any] = {
            item.name: (
                self.classes[item.name].model if item.name in self.classes else _type_of(item.written)[0],
                ... if item.default is None else _literal_value(item.default),
            )
            for item in self.parameters
        }
        if self.bases:
            return create_model(self.name, __base__=tuple(base.model for base in self.bases), **fields)
        return create_model(self.name, __config__=ConfigDict(extra="forbid", protected_namespaces=()), **fields)

    @functools.cached_property
    def fault(self) -> str:
        """What is wrong with the first faulty annotation, for functions that configuration cannot call; else empty."""
        faults = [self.no_class_of_settings, *(base.fault for base in self.bases)]
        for item in self.parameters:
            if item.name in self.classes:
                faults.append(self.classes[item.name].fault)
            elif problem := _type_of(item.written)[1]:
                faults.append(f"{self.where}:{item.line}: `{self.name}`: setting `{item.name}`: {problem}")
        return next(filter(None, faults), "")

    @functools.cached_property
    def fields(self) -> Mapping[str, FieldInfo]:
        """What each setting may be, those of a class under keys like ``limit.rtol``."""
        own = {name: info for name, info in self.model.model_fields.items() if name not in self.classes}
        inner = {
            f"{name}.{key}": info
            for name, settings_class in self.classes.items()
            for key, info in settings_class.fields.items()
        }
        return own | inner

    @property
    def takes_seed(self) -> bool:
        """Whether one of the settings is the random seed."""
        return "seed" in self.settings

    def check(self, settings: Mapping[str, Any], where: str) -> None:
        """Raise `ProjectError` that names the key and the mend unless `settings` fit."""
        if self.fault:
            raise ProjectError(self.fault)
        for key in flat(settings):
            name, _, inner = key.partition(".")
            if key in settings and inner:
                raise ProjectError(f"{where}.{key}: write `{name}: {{{inner}: ...}}`")
            if name not in self.settings:
                raise ProjectError(
                    f"{where}.{name}: unknown setting of `{self.name}`{suggest_name(name, self.settings)}"
                )
            if inner and name in self.classes and inner not in self.classes[name].settings:
                settings_class = self.classes[name]
                raise ProjectError(
                    f"{where}.{key}: unknown setting of `{settings_class.name}`"
                    f"{suggest_name(inner, settings_class.settings)}"
                )
        try:
            self.model.model_validate(_to_python(settings), strict=True)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"] if not str(part).startswith(("constrained", "list[")))
            mend = MENDS.get(first["type"], first["msg"]).format(**first.get("ctx", {}))
            shown = "" if first["type"] == "missing" else f" (is {shortened(first['input'])})"
            raise ProjectError(f"{where}.{key}: {mend}{shown}") from None

    def check_roles(self, runs: Mapping[str, Any], where: str) -> None:
        """Raise `ProjectError` unless `runs` gives each argument a run, or a list of runs where one is asked for."""
        for role in runs:
            if role not in self.arguments:
                raise ProjectError(
                    f"{where}.runs.{role}: `{self.name}` has no such role{suggest_name(role, self.arguments)}"
                )
        for role, annotation in self.arguments.items():
            if role not in runs:
                if role not in self.optional:
                    raise ProjectError(
                        f"{where}.runs.{role}: missing; name the run that is the {role} of `{self.name}`"
                    )
                continue
            is_list = "Sequence" in annotation or annotation.startswith(("list[", "tuple["))
            if is_list != isinstance(runs[role], list):
                raise ProjectError(f"{where}.runs.{role}: must be {'a list of runs' if is_list else 'one run'}")


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
        raise ProjectError(
            f"{where}: no function `{name}` in {module.replace('.', '/')}.py{suggest_name(name, functions)}"
        )
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
    parameters = tuple(
        Setting.of(keyword.arg, keyword.annotation, default, keyword.lineno)
        for keyword, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    )
    classes = {
        keyword.arg: settings_class
        for keyword in node.args.kwonlyargs
        if (settings_class := _class(keyword.annotation, module)) is not None
    }
    docstring = ast.get_docstring(node) or ""
    return Signature(node.name, str(module), arguments, optional, parameters, docstring, _decorators(node), classes)


def _class(node: ast.expr | None, module: Path) -> Signature | None:
    """Return the class of settings that a name in a module stands for; None where it stands for none."""
    if not isinstance(node, ast.Name) or node.id in VOCABULARY or node.id in BUILTIN:
        return None
    status = module.stat()
    return _find_class(node.id, module, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=1024)
def _find_class(name: str, module: Path, _modified: int, _size: int) -> Signature | None:
    body = parsed(module).body
    for statement in body:
        if isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            path = module_path(statement.module)
            for item in statement.names:
                if path is not None and name == (item.asname or item.name):
                    return _class(ast.Name(item.name), path)
    node = next((item for item in body if isinstance(item, ast.ClassDef) and item.name == name), None)
    if node is None:
        return None
    bases = tuple(settings_class for base in node.bases if (settings_class := _class(base, module)) is not None)
    fields = tuple(
        Setting.of(item.target.id, item.annotation, item.value, item.lineno)
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    )
    fault = ""
    if "dataclass(frozen=True)" not in map(ast.unparse, node.decorator_list):
        fault = f"{module}:{node.lineno}: class `{name}` holds settings; make it a dataclass(frozen=True)"
    docstring = ast.get_docstring(node) or ""
    return Signature(name, str(module), {}, frozenset(), fields, docstring, _decorators(node), {}, bases, fault)


def _decorators(node: ast.FunctionDef | ast.ClassDef) -> tuple[str, ...]:
    return tuple(
        ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
        for decorator in node.decorator_list
    )


def _to_python(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with numpy's numbers as Python's."""

    def plain(value: Any) -> Any:
        return value.tolist() if hasattr(value, "tolist") else value

    return {key: _to_python(value) if isinstance(value, Mapping) else plain(value) for key, value in settings.items()}


@functools.cache
def _type_of(annotation: str) -> tuple[Any, str]:
    """Return the type that an annotation stands for, or what is wrong with it."""
    if not annotation:
        return Any, "has no type; annotate it with one of learning_dynamics.settings"
    node = ast.parse(annotation, mode="eval").body
    for name in ast.walk(node):
        if isinstance(name, ast.Name) and name.id not in VOCABULARY and name.id not in BUILTIN:
            return Any, f"unknown type `{name.id}`{suggest_name(name.id, [*VOCABULARY, *BUILTIN])}"
        if isinstance(name, ast.Call | ast.Attribute | ast.Lambda):
            return Any, f"`{annotation}` is not a type of settings"
    node = ast.fix_missing_locations(_NonEmptyLists().visit(node))
    try:
        return eval(ast.unparse(node), {**VOCABULARY, "NonEmpty": _non_empty}), ""
    except (TypeError, SyntaxError) as error:
        return Any, f"`{annotation}` is not a type of settings ({error})"


class _NonEmptyLists(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "list":
            return ast.Call(ast.Name("NonEmpty", ast.Load()), [node], [])
        return node


def _non_empty(annotation: Any) -> Any:
    return Annotated[annotation, Field(min_length=1)]


def _literal_value(default: ast.expr) -> Any:
    try:
        return ast.literal_eval(default)
    except ValueError:
        return None
