"""The settings of a run, data set, figure or claim: its function's keyword-only parameters are their schema.

``def flow(data, *, width: Count, gamma: Positive)`` means that a run of kind ``flow`` takes exactly
``width``, a positive integer, and ``gamma``, a positive number. Signatures are read from the source text,
so that checking a configuration imports none of the numerical code.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationError, create_model

from learning_dynamics.errors import ProjectError, near
from learning_dynamics.pipeline.sources import module_path, part_modules

Count = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Seed = Annotated[int, Field(ge=0)]
Real = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(ge=0, le=1)]

VOCABULARY: dict[str, Any] = {
    "Count": Count,
    "Natural": Natural,
    "Seed": Seed,
    "Real": Real,
    "Positive": Positive,
    "NonNegative": NonNegative,
    "Fraction": Fraction,
    "Literal": Literal,
}
# pydantic's error types, as the mend that a person needs
MENDS = {
    "missing": "missing; add it",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than_equal": "must be {le} or less",
    "finite_number": "must be a finite number",
    "int_type": "must be a whole number",
    "float_type": "must be a number (YAML reads 1e-4 as text: write 1.0e-4)",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
    "literal_error": "must be {expected}",
}


@dataclass(frozen=True)
class Signature:
    """A function as configuration sees it: what it is given, and a model of its settings."""

    name: str
    arguments: tuple[str, ...]
    model: type
    docstring: str

    def check(self, settings: Mapping[str, Any], where: str) -> None:
        """Raise `ProjectError` that names the key and the mend unless `settings` fit."""
        known = set(self.model.model_fields)  # type: ignore[attr-defined]
        for key in settings:
            if key not in known:
                raise ProjectError(f"{where}.{key}: unknown setting of `{self.name}`{near(key, known)}")
        try:
            self.model.model_validate(dict(settings), strict=True)  # type: ignore[attr-defined]
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            mend = MENDS.get(first["type"], first["msg"]).format(**first.get("ctx", {}))
            given = "" if first["type"] == "missing" else f" (is {first['input']!r})"
            raise ProjectError(f"{where}.{key}: {mend}{given}") from None

    @property
    def takes_seed(self) -> bool:
        """Whether one of the settings is the random seed."""
        return "seed" in self.model.model_fields  # type: ignore[attr-defined]


def signatures(module: Path) -> dict[str, Signature]:
    """Return the public functions defined in a source file, by name."""
    return _signatures(module, module.stat().st_mtime_ns)


def functions_of(paper: str, part: str) -> dict[str, Signature]:
    """Return the public functions of a paper's part (runs, metrics, figures, claims), by name; none if it is absent."""
    paths = [module_path(module) for module in part_modules(paper, part)]
    return {name: found for path in paths if path is not None for name, found in signatures(path).items()}


@functools.lru_cache(maxsize=256)
def _signatures(module: Path, _modified: int) -> dict[str, Signature]:
    try:
        tree = ast.parse(module.read_text())
    except SyntaxError as error:
        raise ProjectError(f"{module}:{error.lineno}: {error.msg}; mend the syntax") from None
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            arguments = tuple(argument.arg for argument in node.args.args)
            docstring = ast.get_docstring(node) or ""
            found[node.name] = Signature(node.name, arguments, _model(node, module), docstring)
    return found


def _model(node: ast.FunctionDef, module: Path) -> type:
    fields: dict[str, Any] = {}
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        annotation: Any = Any
        if argument.annotation is not None:
            try:
                annotation = eval(ast.unparse(argument.annotation), dict(VOCABULARY))
            except NameError:
                annotation = Any  # not a setting's type: the function is not called from configuration
        fields[argument.arg] = (annotation, ... if default is None else _literal(default, module))
    return create_model(node.name, __config__=ConfigDict(extra="forbid", protected_namespaces=()), **fields)


def _literal(default: ast.expr, module: Path) -> Any:
    try:
        return ast.literal_eval(default)
    except ValueError:
        return None
