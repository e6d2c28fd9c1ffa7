"""The settings of a run, data set, figure or claim: its function's keyword-only parameters are their schema.

``def flow(data, *, width: Count, gamma: Positive)`` means that a run of kind ``flow`` takes a data set and exactly
``width``, a positive integer, and ``gamma``, a positive number. ``def fig2(small: Table, large: Table)`` takes two
tables, by these roles. ``limit: Limit``, a dataclass, means a block ``limit:`` of that class's fields. The function is
imported: only what checks settings needs this module.
"""

import functools
import importlib
import inspect
import traceback
import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from typing import Any

from pydantic import BaseModel, create_model
from pydantic.fields import FieldInfo

from learning_dynamics.errors import ProjectError, suggest_name
from learning_dynamics.pipeline.plan.blocks import flat
from learning_dynamics.pipeline.plan.sources import definition_of, definitions, module_of
from learning_dynamics.pipeline.plan.validation import Strict, find_problem

EMPTY = inspect.Parameter.empty


class _Settings(Strict):
    @classmethod
    def unknown(cls) -> str:
        return f"unknown setting of `{cls.__name__}`"


class Signature:
    """A function, or a dataclass of settings, as the configuration sees it.

    Attributes
    ----------
    name, where, docstring : str
        `where` is the file.
    arguments : mapping from name to type
        The positional parameters: a run's data, a figure's or claim's tables by role.
    optional : set of str
        Arguments with a default.
    types : mapping from name to type
        The settings; a class's are all of its fields.
    classes : mapping from name to Signature
        Of the settings whose type is a dataclass, that class.
    """

    def __init__(self, called: Callable[..., Any]) -> None:
        self._decorated = called
        self.called = inspect.unwrap(called)
        self.name: str = self.called.__name__
        self.where = inspect.getsourcefile(self.called) or ""
        self.docstring = inspect.getdoc(self.called) or ""
        try:
            hints = typing.get_type_hints(self.called, include_extras=True)
        except (NameError, TypeError) as error:
            raise ProjectError(f"{self.where}: `{self.name}`: {error}; correct its annotations") from None
        self._parameters = inspect.signature(self.called).parameters
        settings = [
            name
            for name, parameter in self._parameters.items()
            if isinstance(self.called, type) or parameter.kind is inspect.Parameter.KEYWORD_ONLY
        ]
        self.types = {name: hints.get(name) for name in settings}
        self.arguments = {name: hints.get(name) for name in self._parameters if name not in settings}
        self.optional = {name for name in self.arguments if self._parameters[name].default is not EMPTY}
        self.classes = {
            name: _signature(kind) for name, kind in self.types.items() if isinstance(kind, type) and is_dataclass(kind)
        }

    @property
    def settings(self) -> set[str]:
        """The names of the settings; a class's is one."""
        return set(self.types)

    @property
    def takes_seed(self) -> bool:
        """Whether one of the settings is the random seed."""
        return "seed" in self.types

    def has(self, decoration: str) -> bool:
        """Whether a decorator has given the function an attribute."""
        return hasattr(self._decorated, decoration)

    @property
    def ancestors(self) -> list["Signature"]:
        """Of a class those that it inherits fields from, nearest first."""
        classes = self.called.__mro__[1:] if isinstance(self.called, type) else ()
        return [_signature(parent) for parent in classes if is_dataclass(parent)]

    @functools.cached_property
    def model(self) -> type[BaseModel]:
        """A model of the settings."""
        fields: dict[str, Any] = {}
        for name, kind in self.types.items():
            if kind is None:
                raise ProjectError(f"{self.where}: `{self.name}`: setting `{name}` has no type; annotate it")
            default = self._parameters[name].default
            field = self.classes[name].model if name in self.classes else kind
            fields[name] = (field, ... if default is EMPTY else default)
        try:
            return create_model(self.name, __base__=_Settings, **fields)
        except Exception as error:  # of pydantic's, for what is no type
            raise ProjectError(f"{self.where}: `{self.name}`: {str(error).splitlines()[0]}") from None

    @functools.cached_property
    def fields(self) -> Mapping[str, FieldInfo]:
        """What each setting may be, those of a class under keys like ``limit.rtol``."""
        own = {name: info for name, info in self.model.model_fields.items() if name not in self.classes}
        classes = self.classes.items()
        return own | {f"{name}.{key}": info for name, inner in classes for key, info in inner.fields.items()}

    def find_problem(self, settings: Mapping[str, Any]) -> tuple[tuple[str, ...], str] | None:
        """Return the path of keys to the first setting that does not fit, and what is wrong; None if all fit."""
        settings = _to_python(settings)
        for key, value in flat(settings).items():
            if value == [] or (isinstance(value, list) and [] in value):
                return tuple(key.split(".")), "must not be empty"
        return find_problem(self.model, settings)

    def check(self, settings: Mapping[str, Any], where: str) -> None:
        """Raise `ProjectError` that names the key and the fix unless `settings` fit."""
        problem = self.find_problem(settings)
        if problem is not None:
            raise ProjectError(f"{'.'.join([where, *problem[0]])}: {problem[1]}")

    def check_roles(self, runs: Mapping[str, Any], where: str) -> None:
        """Raise `ProjectError` unless `runs` gives each argument a run, or a list of runs where it takes several."""
        for role in runs:
            if role not in self.arguments:
                raise ProjectError(
                    f"{where}.runs.{role}: `{self.name}` has no such role{suggest_name(role, self.arguments)}"
                )
        for role, kind in self.arguments.items():
            if role in runs:
                is_list = typing.get_origin(kind) in (list, tuple, Sequence)
                if is_list != isinstance(runs[role], list):
                    raise ProjectError(f"{where}.runs.{role}: must be {'a list of runs' if is_list else 'one run'}")
            elif role not in self.optional:
                raise ProjectError(f"{where}.runs.{role}: missing; name the run that is the {role} of `{self.name}`")


_signature = functools.cache(Signature)
_signatures: dict[tuple[str, str, str], Signature] = {}


def forget() -> None:
    """Forget what was imported, for tests of edited sources."""
    _signatures.clear()
    _signature.cache_clear()
    signatures_of.cache_clear()


def signature_of(stage: str, paper: str, kind: str, where: str) -> Signature:
    """Return the signature of the function that a stage calls; `where` is how an error begins if there is none.

    Raises
    ------
    ProjectError
        If there is no such function, or its module cannot be imported.
    """
    if (stage, paper, kind) not in _signatures:
        definition_of(stage, paper, kind, where)
        _signatures[stage, paper, kind] = _imported(module_of(stage, paper, kind), kind.rpartition(".")[2])
    return _signatures[stage, paper, kind]


@functools.cache
def signatures_of(paper: str, kind: str) -> list[Signature]:
    """Return the functions of a kind of run, simulating and measuring, or of a source of data, as far as there are."""
    stages: list[str] = []
    for stage in ("run", "metrics", "data"):
        with suppress(ProjectError):
            defined = definitions(module_of(stage, paper, kind))
            if kind.rpartition(".")[2] in defined and (stage != "data" or not stages):
                stages.append(stage)
    return [signature_of(stage, paper, kind, kind) for stage in stages]


def _imported(module: str, name: str) -> Signature:
    try:
        return _signature(getattr(importlib.import_module(module), name))
    except ProjectError:
        raise
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place, said = f"{frame.filename}:{frame.lineno}", str(error)
        if isinstance(error, SyntaxError):  # of a module that the last frame imports
            place, said = f"{error.filename}:{error.lineno}", error.msg
        raise ProjectError(f"{module} cannot be imported: {place}: {type(error).__name__}: {said}") from error


def _to_python(value: Any) -> Any:
    """Return settings with numpy's numbers and arrays, however deep they lie, as Python's."""
    if isinstance(value, Mapping):
        return {key: _to_python(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_to_python(inner) for inner in value]
    return value.tolist() if hasattr(value, "tolist") else value
