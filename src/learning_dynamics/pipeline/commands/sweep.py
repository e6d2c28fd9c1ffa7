"""Write a configuration overlay that repeats a run over ranges of its settings."""

import shlex
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from ruamel.yaml.error import YAMLError

from learning_dynamics.errors import ProjectError, check_known, suggest_name
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.plan.blocks import flat
from learning_dynamics.pipeline.plan.config import MAX_MEMBERS, Config
from learning_dynamics.pipeline.plan.config_files import load
from learning_dynamics.pipeline.plan.plain_yaml import read_value
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.sweeps import GRAMMAR


def execute(
    paper: str,
    name: str,
    /,
    vary: Sequence[str],
    bundle: int | None = None,
    out: Path | None = None,
    files: Sequence[Path] = (),
) -> None:
    """Write the overlay to `out`, or print it; the swept run has the run's name and _sweep.

    Parameters
    ----------
    vary : sequence of str
        Write SETTING=VALUE,VALUE,... or SETTING=FIRST:LAST:COUNT or SETTING=FIRST:LAST:COUNT:log.
    bundle : int, optional
        Runs that one job simulates and measures into one table, where each takes less than a second.
    files : sequence of path
        Overlays, as for Snakemake.

    Raises
    ------
    ProjectError
        If there is no such run or setting, or a value is none that the setting may take.
    """
    types = types_of_settings(Plan(load(files, {"papers": [paper]})).config, paper, name)
    sweep = dict(parse_axis(text, types) for text in vary)
    swept = f"{name}_sweep"
    block = {"extends": name, "sweep": sweep} | ({} if bundle is None else {"bundle": bundle})
    changes = {paper: {"runs": {swept: block}}}
    try:
        members = Plan(load(files, {"papers": [paper], "changes": changes})).config.sweeps(paper)[swept]
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
        print(instructions.replace("\n", "\n# ").join(["# ", ""]), text, sep="\n", end="")
    else:
        with atomic_write(out) as partial:
            partial.write_text(text, encoding="utf-8")
        print(f"{out}: {instructions}")


def types_of_settings(config: Config, paper: str, name: str) -> Mapping[str, Any]:
    """Return the types of a run's settings, those of measuring too, by name; of a class by names like ``limit.rtol``.

    Raises
    ------
    ProjectError
        If the paper has no such run.
    """
    check_known(name, config.blocks(paper, "runs"), "run", paper)
    if name in config.sweeps(paper):
        raise ProjectError(f"{paper} {name}: is swept already; name a run that is not")
    run, metrics = (config.signature(stage, paper, name).fields for stage in ("run", "metrics"))
    # of what is measured only the settings that the run's block gives can be swept
    fields = {**run} | {key: metrics[key] for key in flat(config.settings("metrics", paper, name))}
    types = {key: field.annotation for key, field in fields.items() if key != "seed"}  # more draws are `seeds`
    return types | ({"data": str} if config.block("run", paper, name).get("data") else {})


def parse_axis(text: str, types: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return a setting and its values from ``gamma=1e-6:1:100:log`` or ``init=orthogonal,gaussian``.

    Real values between the ends are kept to six digits, since they become part of file names; those of a setting
    that counts are rounded to whole numbers.

    Raises
    ------
    ProjectError
        If the text does not follow the grammar, or there is no such setting.
    """
    setting, equals, written = text.partition("=")
    if not (setting and equals and written):
        raise ProjectError(f"`{text}`: {GRAMMAR}")
    if setting not in types:
        raise ProjectError(f"`{text}`: the run has no setting `{setting}`{suggest_name(setting, types)}")
    options = set(typing.get_args(types[setting]) or (types[setting],)) - {type(None)}
    number: type | None = None
    if float in options:
        number = float
    elif options == {int}:
        number = int
    try:
        values = _in_range(written, number) if ":" in written and number else list(map(read_value, written.split(",")))
    except (YAMLError, ValueError):
        raise ProjectError(f"`{text}`: {GRAMMAR}; the ends of a setting that counts are whole numbers") from None
    if number is float:
        values = [float(f"{value:.6g}") if isinstance(value, int | float) else value for value in values]
    return setting, values


def _in_range(written: str, number: type) -> list[Any]:
    """Return the values of ``FIRST:LAST:COUNT`` or ``FIRST:LAST:COUNT:log``; `ValueError` if it is none."""
    first, last, count, *scale = written.split(":")
    start, end = float(number(first)), float(number(last))
    if (
        scale not in ([], ["log"])
        or int(count) < 2
        or not np.isfinite([start, end]).all()
        or (scale and min(start, end) <= 0)
    ):
        raise ValueError(written)
    if int(count) > MAX_MEMBERS:
        raise ProjectError(f"`{written}`: ask for at most {MAX_MEMBERS} values")
    values = (np.geomspace if scale else np.linspace)(start, end, int(count)).tolist()
    return [round(value) for value in values] if number is int else values
