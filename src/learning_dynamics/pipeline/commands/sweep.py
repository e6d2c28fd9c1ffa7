"""Write a configuration overlay that repeats a run over ranges of its settings."""

import math
import shlex
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from ruamel.yaml.error import YAMLError

from learning_dynamics.errors import ProjectError, suggest_name
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.study.blocks import flat
from learning_dynamics.pipeline.study.config import load
from learning_dynamics.pipeline.study.plain_yaml import read_value
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.study import MAX_MEMBERS, Study
from learning_dynamics.pipeline.study.sweeps import GRAMMAR

HEAD = "# written by: python -m learning_dynamics sweep\n"


def execute(
    paper: str,
    name: str,
    vary: Sequence[str],
    called: str | None = None,
    bundle: int | None = None,
    out: Path | None = None,
    files: Sequence[Path] = (),
) -> None:
    """Write the overlay to `out`, or print it; the swept run is called `called`, by default the run's name and _sweep.

    With a `bundle`, one job runs and measures so many of its members, into one table.

    Raises
    ------
    ProjectError
        If there is no such run or setting, or a value is none that the setting may take.
    """
    kinds = types_of_settings(Project(load(files, {"papers": [paper]})).study, paper, name)
    axes_given = [parse_axis(text, kinds) for text in vary]
    sweep = dict(axes_given)
    for setting, _ in axes_given:
        if sum(setting == other_setting for other_setting, _ in axes_given) > 1:
            raise ProjectError(f"--vary: `{setting}` is varied twice; give all its values at once: {setting}=1,2,3")
    swept = called or f"{name}_sweep"
    block = {"like": name, "sweep": sweep} | ({} if bundle is None else {"bundle": bundle})
    changes = {paper: {"runs": {swept: block}}}
    try:
        members = Project(load(files, {"papers": [paper], "changes": changes})).study.sweeps(paper)[swept]
    except ProjectError as error:
        raise ProjectError(str(error).replace("--config: ", "--vary: ", 1)) from None
    text = yaml.safe_dump({"changes": changes}, default_flow_style=None, sort_keys=False, width=110)
    file = str(out or "FILE")
    overlays = shlex.join(["--configfile", *map(str, files), file])
    axes = " ".join(f"--{letter} {setting}" for letter, setting in zip("xy", sweep, strict=False))
    jobs = f", {bundle} to a job" if bundle else ""
    instructions = (
        f"{len(members)} runs like {name} of {paper}{jobs}; with their metrics:\n"
        f"  snakemake --cores all {overlays} -- {paper}_{swept}\n"
        f"and as a picture, once they are there:\n"
        f"  python -m learning_dynamics map {paper} {swept} {axes} {overlays} --quantity QUANTITY"
    )
    if out is None:
        print("\n".join(f"# {line}" for line in instructions.splitlines()))
        print(text, end="")
        return
    if out.is_file() and not out.read_bytes().startswith(HEAD.encode()):
        raise ProjectError(f"{out}: is there, and was not written by this command; delete it, or name another")
    with atomic_write(out) as partial:
        partial.write_text(HEAD + text, encoding="utf-8")
    print(f"{out}: {instructions}")


def types_of_settings(study: Study, paper: str, name: str) -> Mapping[str, Any]:
    """Return the types of a run's settings, those of measuring too, by name; of a class by names like ``limit.rtol``.

    Raises
    ------
    ProjectError
        If the paper has no such run.
    """
    runs = study.paper_block(paper)["runs"]
    if name not in runs:
        raise ProjectError(f"{paper} has no run `{name}`{suggest_name(name, runs)}")
    types: dict[str, Any] = {"data": str} if study.block("run", paper, name).get("data") else {}
    for stage in ("metrics", "run"):
        fields = study.signature(stage, paper, name).fields
        # of what is measured only the settings that the run's block gives can be swept
        names = flat(study.settings(stage, paper, name)) if stage == "metrics" else fields
        types |= {key: fields[key].annotation for key in names}
    return types


def parse_axis(text: str, kinds: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return a setting and its values from ``gamma=1e-6:1:100:log`` or ``init=orthogonal,gaussian``.

    Real values between the ends are kept to six digits, since they become part of file names; those of a setting
    that counts are rounded to whole numbers.

    Raises
    ------
    ProjectError
        If the text does not follow the grammar, there is no such setting, or two values are the same.
    """
    setting, equals, written = text.partition("=")
    if not (setting and equals and written):
        raise ProjectError(f"`{text}`: {GRAMMAR}")
    if setting not in kinds:
        raise ProjectError(f"`{text}`: the run has no setting `{setting}`{suggest_name(setting, kinds)}")
    numbers = _number_type(kinds[setting])
    if ":" in written and numbers:
        values: list[Any] = _parse_range(text, written.split(":"), numbers)
    else:
        values = [_parse_value(text, value, numbers) for value in written.split(",")]
    if len(set(map(str, values))) < len(values):
        raise ProjectError(f"`{text}`: some of the {len(values)} values are the same; ask for fewer")
    return setting, values


def _number_type(kind: Any) -> type | None:
    """Return int or float for a type of numbers (of which None may be one), None for any other."""
    options = {option for option in (typing.get_args(kind) or (kind,)) if option is not type(None)}
    return float if float in options else int if options == {int} else None


def _parse_range(text: str, parts: list[str], numbers: type) -> list[Any]:
    try:
        first, last, count = float(parts[0]), float(parts[1]), int(parts[2])
        logarithmic = {3: False, 4: parts[-1] == "log"}[len(parts)]
        if count > MAX_MEMBERS:
            raise ProjectError(f"`{text}`: {count} values; ask for at most {MAX_MEMBERS}")
        if count < 2 or (len(parts) == 4 and not logarithmic) or not math.isfinite(first + last):
            raise ValueError
        shares = [index / (count - 1) for index in range(count)]
        if logarithmic:
            start, end = math.log(first), math.log(last)
            exact = [math.exp(start + share * (end - start)) for share in shares]
        else:
            exact = [first + share * (last - first) for share in shares]
    except (IndexError, KeyError, TypeError, ValueError):
        raise ProjectError(f"`{text}`: {GRAMMAR}") from None
    if numbers is int:
        if not (first.is_integer() and last.is_integer()):
            raise ProjectError(f"`{text}`: the setting counts; its ends must be whole numbers")
        return [round(value) for value in exact]
    return [float(f"{value:.6g}") for value in exact]


def _parse_value(text: str, written: str, numbers: type | None) -> Any:
    if numbers is float:
        try:
            return float(written)
        except ValueError:
            pass
    try:
        return read_value(written)
    except (YAMLError, ValueError):
        raise ProjectError(f"`{text}`: `{written}` is no value; {GRAMMAR}") from None
