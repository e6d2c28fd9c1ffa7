"""The functions of papers that a stage calls, and their failures in one line."""

import importlib
import inspect
import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError, suggest_name
from learning_dynamics.pipeline.commands.guard import TRACEBACK
from learning_dynamics.pipeline.plan.blocks import flat
from learning_dynamics.pipeline.plan.sources import SOURCE_ROOT, data_module, definitions, topic_module


def paper_function(paper: str, module_name: str, function_name: str) -> Any:
    """Return ``topic.function`` of a paper, from that module (runs, metrics, figures, claims) of the topic alone."""
    return _function(topic_module(paper, module_name, function_name), function_name)


def takes(paper: str, module_name: str, function_name: str, argument: str) -> bool:
    """Whether a function of a topic's module takes an argument.

    It is read from its source, since importing takes longer than a run.
    """
    definition = definitions(topic_module(paper, module_name, function_name)).get(function_name.rpartition(".")[2])
    return definition is not None and argument in definition.arguments


def data_function(paper: str, source: str) -> Any:
    """Return the function of a data source."""
    return _function(data_module(paper, source), source)


def arguments_for(function: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as a function takes them: those of a class as an instance of it."""
    function = inspect.unwrap(function)
    arguments = dict(settings)
    for key, value in settings.items():
        annotation = function.__annotations__.get(key)
        if isinstance(annotation, str):  # of a module with postponed annotations: the name of a class
            annotation = function.__globals__.get(annotation)
        if isinstance(value, Mapping) and isinstance(annotation, type):
            arguments[key] = annotation(**value)
    return arguments


def _function(module: str, function_name: str) -> Any:
    name = function_name.rpartition(".")[2]
    known = vars(importlib.import_module(module))
    if name not in known:
        public_names = [key for key in known if key[0] != "_"]
        raise ProjectError(f"{module}: no function `{name}`{suggest_name(name, public_names)}")
    return known[name]


@contextmanager
def error_context(what: str, settings: Mapping[str, Any]) -> Iterator[None]:
    """Turn what a paper's function raises into one line: what failed, where in the source, under which settings.

    Raises
    ------
    ProjectError
        In place of every other exception.
    """
    try:
        yield
    except ProjectError:
        raise
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        frames = [
            frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(str(SOURCE_ROOT))
        ]
        at = ""
        if frames:
            at = f" ({Path(frames[-1].filename).relative_to(SOURCE_ROOT)}:{frames[-1].lineno})"
        if isinstance(error, MemoryError):
            reason = f"does not fit into this machine's memory ({_short(error) or 'no more to be had'})"
        else:
            reason = f"{type(error).__name__}: {_short(error)}"
        given = ", ".join(f"{key}: {_short(value)}" for key, value in flat(settings).items())
        raise ProjectError(f"{what}: {reason}{at}; settings {{{given}}}; {TRACEBACK}=1 shows more") from error


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 200 else text[:200] + "..."
