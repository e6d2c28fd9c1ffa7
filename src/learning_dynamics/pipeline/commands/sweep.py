"""Write a configuration overlay that repeats a run over ranges of its settings."""

import json
import shlex
import typing
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from ruamel.yaml.error import YAMLError

from learning_dynamics.environment import numba_disabled
from learning_dynamics.errors import ProjectError, check_known, suggest_name
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.plan.blocks import flat, overlay
from learning_dynamics.pipeline.plan.config import MAX_RUNS, Config
from learning_dynamics.pipeline.plan.config_files import load
from learning_dynamics.pipeline.plan.plain_yaml import read_value, read_yaml
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.schema import own_settings, place_settings
from learning_dynamics.pipeline.plan.sweeps import GRAMMAR
from learning_dynamics.pipeline.store.tables import read_stamp


def execute(
    paper: str,
    run: str,
    /,
    vary: Sequence[str],
    settings: Sequence[str] = (),
    name: str | None = None,
    bundle: int | None = None,
    out: Path | None = None,
    files: Sequence[Path] = (),
) -> None:
    """Write the overlay to `out`, or print it.

    Parameters
    ----------
    vary : sequence of str
        Write SETTING=VALUE,VALUE,... or SETTING=FIRST:LAST:COUNT or SETTING=FIRST:LAST:COUNT:log; a range may stand for
        one of several values.
    settings : sequence of str
        SETTING=VALUE, what all of these runs have, of the run or of its data set.
    name : str, optional
        How the sweep is called; without, as the run, and _sweep.
    bundle : int, optional
        Runs that one job simulates and measures into one table, where each takes less than a second.
    files : sequence of path
        Overlays, as for Snakemake.

    Raises
    ------
    ProjectError
        If there is no such run or setting, a value is none that the setting may take, or another sweep of that name, or
        another file, is in the way.
    """
    with numba_disabled():
        config = Plan(load(files, {"papers": [paper]})).config
    swept = name or f"{run}_sweep"
    if swept in config.blocks(paper, "runs"):
        raise ProjectError(f"{paper} has a run `{swept}`; choose another --name")
    changes = {paper: overlay_of_sweep(config, paper, run, swept, vary, settings, bundle)}
    varied = changes[paper]["runs"][swept]["sweep"]
    if out is not None:
        # new values come after those of the file, so that bundles of these stay as they are
        for key, old_values in values_of_file(out, {"changes": changes}, paper, swept).items():
            varied[key] = old_values + [value for value in varied[key] if value not in old_values]
    try:
        with numba_disabled():
            plan = Plan(load(files, {"papers": [paper], "changes": changes}))
    except ProjectError as error:
        raise ProjectError(str(error).replace("--config: ", "--vary: ", 1)) from None
    refuse_other_results(plan, paper, swept)

    text = yaml.safe_dump({"changes": changes}, default_flow_style=None, sort_keys=False, width=110)
    file = str(out or "FILE")
    overlays = shlex.join(["--configfile", *map(str, files), file])
    axes = " ".join(f"--{letter} {setting}" for letter, setting in zip("xy", varied, strict=False))
    jobs = f", {bundle} to a job" if bundle else ""
    arguments = ", ".join(repr(str(overlay_file)) for overlay_file in [*files, file])
    instructions = (
        f"{len(plan.config.sweeps(paper)[swept])} runs like {run} of {paper}{jobs}; with their metrics:\n"
        f"  snakemake --cores all {overlays} -- {paper}_{swept}\n"
        f"and as a picture, once they are there:\n"
        f"  python -m learning_dynamics map {paper} {swept} {axes} {overlays} --quantity QUANTITY\n"
        f"and as a data frame:\n"
        f"  learning_dynamics.project({arguments}).table({paper!r}, {swept!r}, 'QUANTITY')"
    )
    if out is None:  # as comments above the overlay, so that all of it may go into a file
        comment = "# " + instructions.replace("\n", "\n# ")
        print(comment, text, sep="\n", end="")
        return
    with atomic_write(out) as partial:
        partial.write_text(text, encoding="utf-8")
    print(f"{out}: {instructions}")


def overlay_of_sweep(
    config: Config,
    paper: str,
    run: str,
    swept: str,
    vary: Sequence[str],
    settings: Sequence[str],
    bundle: int | None,
) -> dict[str, Any]:
    """Return the changes to a paper that a sweep is: its run, and a data set if one of its settings is given.

    Raises
    ------
    ProjectError
        If there is no such run or setting, or one is given twice.
    """
    types = types_of_settings(config, paper, run)
    data = config.block("run", paper, run).get("data")
    types_of_data = {} if data is None else types_of_fields(config.signature("data", paper, data).fields)
    sweep: dict[str, list[Any]] = {}
    fixed: dict[str, Any] = {}
    for text in vary:
        setting, values = parse_axis(text, types)
        if setting in sweep:
            raise ProjectError(f"--vary {setting}: is given twice; write all of its values in one")
        sweep[setting] = values
    for text in settings:
        setting, values = parse_axis(text, {**types_of_data, **types})
        if len(values) > 1:
            raise ProjectError(f"--set {text}: takes one value; --vary takes several")
        if setting in fixed or setting in sweep:
            raise ProjectError(f"--set {setting}: is given twice; remove one")
        fixed[setting] = values[0]
    of_data = {key: value for key, value in fixed.items() if key not in types}
    if of_data and "data" in {*sweep, *fixed}:
        raise ProjectError(f"--set {next(iter(of_data))}: is of the data set, and `data` names another; remove one")
    of_run = {key: value for key, value in fixed.items() if key in types}

    block: dict[str, Any] = {"extends": run}
    if of_data:
        block["data"] = swept
    block |= place_settings(config.resolved_block(paper, "runs", run), of_run)
    block["sweep"] = sweep
    if bundle is not None:
        block["bundle"] = bundle
    changes: dict[str, Any] = {"runs": {swept: block}}
    if of_data:
        declared = config.declared_block(paper, "data", str(data))
        own = overlay(own_settings("data", declared), of_data)
        changes = {"data": {swept: {"source": declared["source"], **own}}} | changes
    return changes


def refuse_other_results(plan: Plan, paper: str, swept: str) -> None:
    """Refuse a sweep under whose name there are results of other values or other settings.

    Raises
    ------
    ProjectError
        It says where they are, and how many.
    """
    folder = Path(plan.results, paper, "metrics")
    runs = set(plan.config.sweeps(paper)[swept])
    others = []
    for file in sorted([*folder.glob(f"{swept}--*.parquet"), *folder.glob(f"{swept}@*.parquet")]):
        with suppress(ProjectError):  # a damaged table is made again
            record = read_stamp(file)
            runs_of_table = list(record.get("contents", {file.stem: None}))
            is_planned = runs.issuperset(runs_of_table)
            if not is_planned or record["settings"] != _settings(plan, paper, runs_of_table[0]):
                others.append(file)
    if others:
        raise ProjectError(
            f"{folder}: has {len(others)} tables of another sweep {swept}, such as {others[0].name}; choose another "
            f"--name, or delete them: rm {folder / swept}[@-]*"
        )


def _settings(plan: Plan, paper: str, name: str) -> dict[str, Any]:
    """Return the settings of a run as its table has them."""
    run, metrics = plan.run(paper, name), plan.measure(paper, name)
    settings = {"function": run["function"], **run["settings"], **metrics["settings"]}
    return dict(json.loads(json.dumps(settings)))


def values_of_file(out: Path, written: Mapping[str, Any], paper: str, swept: str) -> dict[str, list[Any]]:
    """Return the values that a file has of the sweep that is to be written to it, by setting; none if it is not there.

    Raises
    ------
    ProjectError
        If it is anything else than this sweep, or has other values.
    """
    if not out.is_file():  # what is no file is refused when it is to be written
        return {}
    with suppress(ProjectError, KeyError, TypeError, AttributeError):  # it is no such overlay
        old, old_values = _split_sweep(read_yaml(out), paper, swept)
        new, new_values = _split_sweep(written, paper, swept)
        has_all = all(value in new_values[key] for key, values in old_values.items() for value in values)
        if old == new and has_all:
            return old_values
    raise ProjectError(f"{out}: is there, and is not this sweep or fewer of its values; name another file with --out")


def _split_sweep(written: Mapping[str, Any], paper: str, swept: str) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return an overlay without the values of a sweep and its bundles, and these values."""
    rest = deepcopy(dict(written))
    run = rest["changes"][paper]["runs"][swept]
    run.pop("bundle", None)
    return rest, run.pop("sweep")


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
    # of measuring only the settings that the run's block gives can be swept
    measuring = config.signature("metrics", paper, name).fields
    measured = {key: measuring[key] for key in flat(config.settings("metrics", paper, name))}
    types = types_of_fields({**config.signature("run", paper, name).fields, **measured})
    if config.block("run", paper, name).get("data"):
        types["data"] = str
    return types


def types_of_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the types of settings by name, without the seed: further draws are `seeds`."""
    return {key: field.annotation for key, field in fields.items() if key != "seed"}


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
    if setting == "seed":
        raise ProjectError(
            f"`{text}`: is no setting of a run; further draws are `seeds`, and --config seed=7 draws all again"
        )
    if setting not in types:
        raise ProjectError(f"`{text}`: the run has no setting `{setting}`{suggest_name(setting, types)}")
    options = set(typing.get_args(types[setting]) or (types[setting],)) - {type(None)}
    number: type | None = None
    if float in options:
        number = float
    elif options == {int}:
        number = int
    try:
        values = [value for part in written.split(",") for value in _values(part, number)]
    except (YAMLError, ValueError):
        raise ProjectError(f"`{text}`: {GRAMMAR}; the ends of a setting that counts are whole numbers") from None
    if number is float:
        values = [float(f"{value:.6g}") if isinstance(value, int | float) else value for value in values]
    return setting, values


def _values(written: str, number: type | None) -> list[Any]:
    """Return the values of one range, or the one value that is written."""
    if number and ":" in written:
        return _in_range(written, number)
    return [read_value(written)]


def _in_range(written: str, number: type) -> list[Any]:
    """Return the values of ``FIRST:LAST:COUNT`` or ``FIRST:LAST:COUNT:log``; `ValueError` if it is none."""
    first, last, count, *scale = written.split(":")
    start, end, points = float(number(first)), float(number(last)), int(count)
    is_logarithmic = scale == ["log"]
    if scale and not is_logarithmic:
        raise ValueError(written)
    if points < 2 or not np.isfinite([start, end]).all():
        raise ValueError(written)
    if is_logarithmic and min(start, end) <= 0:
        raise ValueError(written)
    if points > MAX_RUNS:
        raise ProjectError(f"`{written}`: ask for at most {MAX_RUNS} values")
    spaced = np.geomspace if is_logarithmic else np.linspace
    values = spaced(start, end, points).tolist()
    return [round(value) for value in values] if number is int else values
