"""The command line: ``python -m learning_dynamics COMMAND``.

A command is a module of this folder with a function `execute`, whose signature is the command line: parameters before
``/`` are positional, the others are options, and a default makes either optional.
"""

import argparse
import importlib
import inspect
import json
import math
import sys
import time
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from learning_dynamics.errors import check_known
from learning_dynamics.files import find_files
from learning_dynamics.pipeline.commands.guard import limit_memory, limit_time, run_guarded
from learning_dynamics.pipeline.plan import cluster
from learning_dynamics.pipeline.plan.jobs import STAGES, read_job
from learning_dynamics.pipeline.plan.sources import papers
from learning_dynamics.progress import grant

ABOUT = """\
Judge a claim, sweep settings, map metrics, begin a paper, compare results. Snakemake makes figures and verdicts: type
`make figures` for all of them, `snakemake --cores all spectral_bias` for those of a paper. To run one of its jobs
alone, with a debugger or after a failure, type the job's command: python -m learning_dynamics run spectral_bias
small_scale
"""
JOBS = (*STAGES, "variation", "report", "robustness", "text", "verdicts")
# options that are not called as their parameter
FLAGS = {"files": "--configfile", "look": "--style", "settings": "--set"}


def commands() -> dict[str, str]:
    """Return what each command does, by name: the first line of its module's docstring."""
    texts = {file.stem: file.read_text(encoding="utf-8") for file in find_files(Path(__file__).parent, "*.py")}
    return {
        name: text.removeprefix('"""').partition("\n")[0].rstrip('"')
        for name, text in texts.items()
        if "\ndef execute(" in text
    }


def parse(arguments: Sequence[str]) -> tuple[Callable[..., int | None], dict[str, Any]]:
    """Return the function that a command line names, and its arguments by name.

    Raises
    ------
    SystemExit
        With status 2 if it is no command line; with 0 if it asks for help.
    """
    known = commands()
    lists = [
        _format_list("commands that you type:", [name for name in known if name not in JOBS], known),
        _format_list("jobs of Snakemake, which you can type as well:", JOBS, known),
        "what a command takes: python -m learning_dynamics COMMAND --help",
    ]
    root = argparse.ArgumentParser(
        prog="python -m learning_dynamics",
        description=ABOUT,
        epilog="\n\n".join(lists),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("command", choices=known, metavar="command", help="one of those below")
    name = root.parse_args(arguments[:1]).command
    execute = importlib.import_module(f"learning_dynamics.pipeline.commands.{name}").execute
    return execute, vars(_parser(f"{root.prog} {name}", execute).parse_args(arguments[1:]))


def _format_list(title: str, names: Iterable[str], about: Mapping[str, str]) -> str:
    return "\n".join([title, *(f"  {name:12} {about[name]}" for name in names)])


def _parser(program: str, execute: Callable[..., int | None]) -> argparse.ArgumentParser:
    """Return what parses the arguments of a command; the texts of its help are the docstring's."""
    text = inspect.getdoc(execute) or ""
    meanings = _meanings(text)
    parser = argparse.ArgumentParser(prog=program, description=text.partition("\n\n")[0], allow_abbrev=False)
    parameters = inspect.signature(execute, eval_str=True).parameters
    for name, parameter in parameters.items():
        options = _options(parameter)
        if parameter.kind is parameter.POSITIONAL_ONLY:
            if not options.pop("required") and "nargs" not in options:
                options["nargs"] = "?"
            parser.add_argument(name, help=meanings.get(name), **options)
        else:
            flag = FLAGS.get(name, f"--{name.replace('_', '-')}")
            parser.add_argument(flag, dest=name, help=meanings.get(name), **options)
    if "fingerprint" in parameters:  # it is a job's
        parser.add_argument("--minutes", type=_minutes, help="how long it may take; without, as long as it takes")
    return parser


def _options(parameter: inspect.Parameter) -> dict[str, Any]:
    """Return how argparse reads a parameter, by its annotation and default."""
    annotation = parameter.annotation
    optional = parameter.default is not parameter.empty
    default = parameter.default if optional else None
    if isinstance(annotation, types.UnionType):
        optional = True
        annotation = next(kind for kind in typing.get_args(annotation) if kind is not types.NoneType)
    kind, inner = typing.get_origin(annotation) or annotation, typing.get_args(annotation)
    if kind is bool:
        return {"action": "store_true"}
    options: dict[str, Any] = {"required": not optional, "default": default}
    if kind is Literal:
        return options | {"choices": inner}
    if kind is Sequence:
        options |= {"nargs": "*" if optional else "+", "type": inner[0], "default": list(default or ())}
        if parameter.kind is not parameter.POSITIONAL_ONLY:
            options["action"] = "extend"  # an option may be given several times
        return options
    return options | {"type": _json_object if kind is Mapping else kind}


def _meanings(docstring: str) -> dict[str, str]:
    """Return the text of each parameter, by name, of a docstring's section of parameters."""
    _, _, section = docstring.partition("Parameters\n----------\n")
    texts: dict[str, list[str]] = {}
    names: list[str] = []
    for line in section.partition("\n\n")[0].splitlines():
        if line.startswith(" "):
            for name in names:
                texts[name].append(line.strip())
        else:  # ``x, y : str``
            names = line.partition(" : ")[0].split(", ")
            texts |= {name: [] for name in names}
    return {name: " ".join(lines).replace("%", "%%") for name, lines in texts.items()}  # as argparse reads a percent


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"not JSON ({error})") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("must be a JSON object of keys and values")
    return value


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = math.nan
    if not 0 < minutes < 1e6:
        raise argparse.ArgumentTypeError(f"must be a positive number (is {text})")
    return minutes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; a mistake that a person can fix is one line on standard error and exit status 1."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_guarded(lambda: _execute(given))


def _execute(arguments: Sequence[str]) -> int | None:
    execute, options = parse(arguments)
    parameters = inspect.signature(execute).parameters
    if "paper" in options and execute.__module__.rpartition(".")[2] != "new":
        check_known(options["paper"], papers(), "paper", "src/learning_dynamics/papers")
    if "minutes" in options:
        limit_memory()
        minutes = options.pop("minutes")
        if minutes is not None:
            limit_time(minutes)
            grant(cluster.time_until_stop(60.0 * minutes))
    plan, started = options.get("plan"), time.monotonic()
    positional = [
        options.pop(name) for name, parameter in parameters.items() if parameter.kind is parameter.POSITIONAL_ONLY
    ]
    status = execute(*positional, **options)
    stage = execute.__module__.rpartition(".")[2]
    if plan is not None and stage in STAGES:
        # of all commands only jobs need this
        from learning_dynamics.pipeline.commands.planned import write_usage

        if len(positional) == 1:
            positional.append(stage)  # a paper's claims are one job, which has the name of its stage
        write_usage(read_job(plan, stage, *positional), started)
    return status
