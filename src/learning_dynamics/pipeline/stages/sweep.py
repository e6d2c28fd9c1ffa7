"""Write a configuration overlay that repeats a run over ranges of its settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import yaml

from learning_dynamics.errors import ProjectError

GRAMMAR = "write SETTING=VALUE,VALUE,... or SETTING=FIRST:LAST:COUNT or SETTING=FIRST:LAST:COUNT:log"


def execute(paper: str, name: str, vary: Sequence[str], called: str | None = None) -> None:
    """Print the overlay; the new run is called `called`, by default the run's name and ``_sweep``."""
    sweep = dict(axis(text) for text in vary)
    members = math.prod(len(values) for values in sweep.values())
    run = {"like": name, "sweep": sweep}
    overlay = {"papers": {paper: {"runs": {called or f"{name}_sweep": run}}}}
    print(f"# {members} runs like {name}; their metrics: snakemake --configfile <this file> -- {paper}_metrics")
    print(yaml.safe_dump(overlay, default_flow_style=None, sort_keys=False, width=110), end="")


def axis(text: str) -> tuple[str, list[Any]]:
    """Return a setting and its values from ``gamma=1e-6:1:100:log`` or ``init=orthogonal,gaussian``.

    Values between the ends are kept to six digits, since they become part of file names; they are whole
    numbers if both ends are.

    Raises
    ------
    ProjectError
        If the text does not follow the grammar, or two values are the same.
    """
    setting, equals, written = text.partition("=")
    if not (setting and equals and written):
        raise ProjectError(f"`{text}`: {GRAMMAR}")
    values = _range(text, written.split(":")) if ":" in written else [_value(value) for value in written.split(",")]
    if len(set(map(str, values))) < len(values):
        raise ProjectError(f"`{text}`: some of the {len(values)} values are the same; ask for fewer")
    return setting, values


def _range(text: str, parts: list[str]) -> list[Any]:
    try:
        first, last, count = _value(parts[0]), _value(parts[1]), int(parts[2])
        logarithmic = {3: False, 4: parts[-1] == "log"}[len(parts)]
        if count < 2 or (len(parts) == 4 and not logarithmic):
            raise ValueError
        shares = [index / (count - 1) for index in range(count)]
        if logarithmic:
            start, end = math.log(first), math.log(last)
            exact = [math.exp(start + share * (end - start)) for share in shares]
        else:
            exact = [first + share * (last - first) for share in shares]
    except (IndexError, KeyError, TypeError, ValueError):
        raise ProjectError(f"`{text}`: {GRAMMAR}") from None
    if isinstance(first, int) and isinstance(last, int) and not logarithmic:
        return [round(value) for value in exact]
    return [float(f"{value:.6g}") for value in exact]


def _value(text: str) -> Any:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return yaml.safe_load(text)
