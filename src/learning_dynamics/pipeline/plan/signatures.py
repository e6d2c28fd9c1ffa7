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
from learning_dynamics.pipeline.plan.sources import definition_of, module_of
from learning_dynamics.pipeline.plan.validation import Strict, find_problem


class _Settings(Strict):
    @classmethod
    def unknown_key_message(cls) -> str:
        return f"unknown setting of `{cls.__name__}`"


class Signature:
    """A function, or a dataclass of settings, as the configuration sees it.

    Attributes
    ----------
    name, where : str
        Its name, and the file that it is in.
    arguments : mapping from name to type
        The positional parameters: a run's data, a figure's or claim's tables by role.
    defaults : mapping from name to value
        Of parameters that have one.
    types : mapping from name to type
        The settings; a class's are all of its fields.
    classes : mapping from name to Signature
        Of the settings whose type is a dataclass, that class.
    """

    def __init__(self, decorated: Callable[..., Any]) -> None:
        self._decorated = decorated
        self.function = inspect.unwrap(decorated)  # or the class
        self.name: str = self.function.__name__
        self.where = inspect.getsourcefile(self.function) or ""
        try:
            hints = typing.get_type_hints(self.function, include_extras=True)
        except (NameError, TypeError) as error:
            raise ProjectError(f"{self.where}: `{self.name}`: {error}; correct its annotations") from None
        parameters = inspect.signature(self.function).parameters
        self.types = {
            name: hints.get(name)
            for name, parameter in parameters.items()
            if isinstance(self.function, type) or parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }
        self.arguments = {name: hints.get(name) for name in parameters if name not in self.types}
        self.defaults = {
            name: parameter.default
            for name, parameter in parameters.items()
            if parameter.default is not parameter.empty
        }
        self.classes = {
            name: _signature(kind) for name, kind in self.types.items() if isinstance(kind, type) and is_dataclass(kind)
        }

    @property
    def settings(self) -> set[str]:
        """The names of the settings; a class's is one."""
        return set(self.types)

    def has(self, decoration: str) -> bool:
        """Whether a decorator has given the function an attribute."""
        return hasattr(self._decorated, decoration)

    @property
    def lineage(self) -> list["Signature"]:
        """A class and those that it inherits fields from, nearest first."""
        classes = self.function.__mro__ if isinstance(self.function, type) else ()
        return [_signature(base) for base in classes if is_dataclass(base)]

    @functools.cached_property
    def model(self) -> type[BaseModel]:
        """A model of the settings."""
        fields: dict[str, Any] = {}
        for name, kind in self.types.items():
            if kind is None:
                raise ProjectError(f"{self.where}: `{self.name}`: setting `{name}` has no type; annotate it")
            field = self.classes[name].model if name in self.classes else kind
            fields[name] = (field, self.defaults.get(name, ...))
        try:
            return create_model(self.name, __base__=_Settings, **fields)
        except Exception as error:  # of pydantic's, for what is no type
            raise ProjectError(f"{self.where}: `{self.name}`: {str(error).splitlines()[0]}") from None

    @functools.cached_property
    def fields(self) -> Mapping[str, FieldInfo]:
        """What each setting may be, those of a class under keys like ``limit.rtol``."""
        fields = {name: info for name, info in self.model.model_fields.items() if name not in self.classes}
        for name, settings_class in self.classes.items():
            fields |= {f"{name}.{key}": info for key, info in settings_class.fields.items()}
        return fields

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
            path, message = problem
            raise ProjectError(f"{'.'.join([where, *path])}: {message}")

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
            elif role not in self.defaults:
                raise ProjectError(f"{where}.runs.{role}: missing; name the run that is the {role} of `{self.name}`")


_signature = functools.cache(Signature)


def forget() -> None:
    """Forget what was imported, for tests of edited sources."""
    for cached in (_signature, _imported, signatures_of):
        cached.cache_clear()


def signature_of(stage: str, paper: str, function_name: str, where: str) -> Signature:
    """Return the signature of the function that a stage calls; `where` is how an error begins if there is none.

    Raises
    ------
    ProjectError
        If there is no such function, or its module cannot be imported.
    """
    definition_of(stage, paper, function_name, where)
    return _imported(module_of(stage, paper, function_name), function_name.rpartition(".")[2])


@functools.cache
def signatures_of(paper: str, function_name: str) -> list[Signature]:
    """Return the functions of a kind of run, simulating and measuring, or else of a source of data; none of others."""
    for stages in (("run", "metrics"), ("data",)):
        with suppress(ProjectError):
            return [signature_of(stage, paper, function_name, function_name) for stage in stages]
    return []


@functools.cache
def _imported(module: str, name: str) -> Signature:
    try:
        return _signature(getattr(importlib.import_module(module), name))
    except ProjectError:
        raise
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place, message = f"{frame.filename}:{frame.lineno}", str(error)
        if isinstance(error, SyntaxError):  # of a module that the last frame imports
            place, message = f"{error.filename}:{error.lineno}", error.msg
        raise ProjectError(f"{module} cannot be imported: {place}: {type(error).__name__}: {message}") from error


def _to_python(value: Any) -> Any:
    """Return settings with numpy's numbers and arrays, at any depth, as Python's."""
    if isinstance(value, Mapping):
        return {key: _to_python(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_to_python(inner) for inner in value]
    return value.tolist() if hasattr(value, "tolist") else value
