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
from learning_dynamics.pipeline.plan.schema import all_settings, own_settings, place_settings
from learning_dynamics.pipeline.plan.sweeps import GRAMMAR
from learning_dynamics.pipeline.store.tables import read_stamp

MAX_VALUES_SHOWN = 8  # of a setting, in an error
MANY_RUNS = 100  # from so many on bundles are suggested; chosen: their jobs take half a minute to start


def execute(
    paper: str,
    run: str,
    /,  # both are given on the command line without their names
    vary: Sequence[str],
    settings: Sequence[str] = (),
    name: str | None = None,
    bundle: int | None = None,
    out: Path | None = None,
    files: Sequence[Path] = (),
) -> None:
    """Write the configuration overlay of a sweep to `out`, or print it.

    Parameters
    ----------
    paper : str
        The paper's name, as `spectral_bias`.
    run : str
        The run that is repeated.
    vary : sequence of str
        Write SETTING=VALUE,VALUE,... or SETTING=FIRST:LAST:COUNT or SETTING=FIRST:LAST:COUNT:log; values and ranges may
        be mixed, as in 1,2,5:9:3.
    settings : sequence of str
        SETTING=VALUE, the same in all of these runs; a setting of the run or of its data set.
    name : str, optional
        Name of the sweep; without it RUN_sweep.
    bundle : int, optional
        How many runs one job simulates and measures into one table; for runs that take less than a second each.
        Without it as many as in the file to be written, if that has this sweep.
    out : path, optional
        The file to write; without it the overlay is printed.
    files : sequence of path
        Overlays, as for Snakemake.

    Raises
    ------
    ProjectError
        If there is no such run or setting, if a setting cannot have one of its values, if the name is that of a run,
        or of a sweep with results of other values or settings, or if the file is there and is anything else than this
        sweep with these values or fewer.
    """
    with numba_disabled():
        config = Plan(load(files, {"papers": [paper]})).config
    sweep_name = name or f"{run}_sweep"
    if sweep_name in config.blocks(paper, "runs"):
        raise ProjectError(f"{paper} has a run `{sweep_name}`; choose another --name")
    changes = {paper: overlay_of_sweep(config, paper, run, sweep_name, vary, settings, bundle)}
    block = changes[paper]["runs"][sweep_name]
    values_by_setting = block["sweep"]
    old_block: dict[str, Any] = {}
    if out is not None:
        old_block = block_of_file(out, {"changes": changes}, paper, sweep_name)
        # new values come after those of the file, so that bundles of these stay as they are
        for setting, old_values in old_block.get("sweep", {}).items():
            new_values = [value for value in values_by_setting[setting] if value not in old_values]
            block["sweep"][setting] = old_values + new_values
        if bundle is None and "bundle" in old_block:
            bundle = block["bundle"] = old_block["bundle"]
    try:
        with numba_disabled():
            plan = Plan(load(files, {"papers": [paper], "changes": changes}))
    except ProjectError as error:
        # `load` assumes that changes come from --config
        raise ProjectError(str(error).replace("--config: ", "--vary or --set: ", 1)) from None
    refuse_other_results(plan, paper, sweep_name)

    n_runs = len(plan.config.sweeps(paper)[sweep_name])
    text = yaml.safe_dump({"changes": changes}, default_flow_style=None, sort_keys=False, width=110)
    file = str(out or "FILE")
    overlays = shlex.join(["--configfile", *map(str, files), file])
    # a map has one axis or two, for the first settings
    axes = " ".join(f"--{letter} {setting}" for letter, setting in zip("xy", values_by_setting, strict=False))
    bundled = f", {bundle} to a job" if bundle else ""
    arguments = ", ".join(repr(str(overlay_file)) for overlay_file in [*files, file])
    instructions = (
        f"{n_runs} runs like {run} of {paper}{bundled}; with their metrics:\n"
        f"  snakemake --cores all {overlays} -- {paper}_{sweep_name}\n"
        f"and as a picture, once they are there:\n"
        f"  python -m learning_dynamics map {paper} {sweep_name} {axes} {overlays} --quantity QUANTITY\n"
        f"and as a data frame:\n"
        f"  learning_dynamics.project({arguments}).table({paper!r}, {sweep_name!r}, 'QUANTITY')"
    )
    if out is None:  # as comments above the overlay, so that all of it may go into a file
        comment = "# " + instructions.replace("\n", "\n# ")
        print(comment, text, sep="\n", end="")
        return
    with atomic_write(out) as partial:
        partial.write_text(text, encoding="utf-8")
    print(f"{out}: {instructions}")
    first_run = plan.config.sweeps(paper)[sweep_name][0]
    if bundle is None and n_runs >= MANY_RUNS and not plan.is_long("run", paper, first_run):
        print(f"{out}: each run is two jobs; if it takes less than a second, add --bundle 100 for one job of 100 runs")
    old_bundle = old_block.get("bundle")
    if old_block and bundle != old_bundle:
        print(f"{out}: has bundles of {bundle} runs now, and had {old_bundle or 'none'} before")


def overlay_of_sweep(
    config: Config,
    paper: str,
    run: str,
    sweep_name: str,
    vary: Sequence[str],
    settings: Sequence[str],
    bundle: int | None,
) -> dict[str, Any]:
    """Return a paper's part of the overlay: the swept run and, if a setting of its data set is given, a data set.

    `vary` and `settings` are texts as in `execute`.

    Raises
    ------
    ProjectError
        If there is no such run or setting, or one is given twice.
    """
    # Of `config`, `declared_block` is a block as written and `resolved_block` is the run's with what it inherits; both
    # take the section, `runs`. `block` and `signature` are of the run's job, and take its stage, `run`.
    types = types_of_settings(config, paper, run)
    data = config.block("run", paper, run).get("data")
    types_of_data = {} if data is None else types_of_fields(config.signature("data", paper, data).fields)
    sweep: dict[str, list[Any]] = {}
    fixed: dict[str, Any] = {}
    for text in vary:
        written, _, _ = text.partition("=")
        if written in types_of_data and written not in types:
            raise ProjectError(
                f"--vary {written}: is a setting of the data set, {data}, and is given with --set, for all runs; "
                "data sets of the configuration are varied with --vary data=NAME,NAME"
            )
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
        block["data"] = sweep_name
    block |= place_settings(config.resolved_block(paper, "runs", run), of_run)  # those of measuring below `measure`
    block["sweep"] = sweep
    if bundle is not None:
        block["bundle"] = bundle
    changes: dict[str, Any] = {"runs": {sweep_name: block}}
    if of_data:
        declared = config.declared_block(paper, "data", str(data))
        own = overlay(own_settings("data", declared), of_data)  # the data set's settings with those of --set over them
        changes = {"data": {sweep_name: {"source": declared["source"], **own}}} | changes
    return changes


def refuse_other_results(plan: Plan, paper: str, sweep_name: str) -> None:
    """Refuse a sweep under whose name there are results of other values or other settings.

    Raises
    ------
    ProjectError
        If there are such results: where they are, and how many.
    """
    folder = Path(plan.results, paper, "metrics")
    planned_runs = set(plan.config.sweeps(paper)[sweep_name])
    others = []
    for file in sorted([*folder.glob(f"{sweep_name}--*.parquet"), *folder.glob(f"{sweep_name}@*.parquet")]):
        with suppress(ProjectError):  # a damaged table is made again
            record = read_stamp(file)
            # the table of a bundle names its runs; another table is of the run whose name it has
            runs_of_table = list(record.get("contents", {file.stem: None}))
            is_planned = planned_runs.issuperset(runs_of_table)
            if not is_planned or record["settings"] != _settings_in_stamp(plan, paper, runs_of_table[0]):
                others.append(file)
    if others:
        raise ProjectError(
            f"{folder}: has {len(others)} tables of another sweep {sweep_name}, such as {others[0].name}; choose "
            f"another --name, or delete it: find {folder.parent} -name '{sweep_name}[.@-]*' -delete"
        )


def _settings_in_stamp(plan: Plan, paper: str, name: str) -> dict[str, Any]:
    """Return the settings of a run as the stamp of its table has them: as JSON, with lists for tuples."""
    run, metrics = plan.run(paper, name), plan.measure(paper, name)
    settings = {"function": run["function"], **run["settings"], **metrics["settings"]}
    return dict(json.loads(json.dumps(settings)))


def block_of_file(out: Path, new_overlay: Mapping[str, Any], paper: str, sweep_name: str) -> dict[str, Any]:
    """Return the block that the sweep has in the file to be written, with ``sweep`` and ``bundle``; {} without a file.

    Raises
    ------
    ProjectError
        If the file is anything else than this sweep with the same values or fewer.
    """
    if not out.is_file():  # a folder is refused when it is to be written
        return {}
    try:
        old_rest, old_block = _split_sweep(read_yaml(out), paper, sweep_name)
        old_values = {setting: list(values) for setting, values in old_block["sweep"].items()}
        old_settings = _settings_of_all_runs(old_rest, paper, sweep_name)
    except (ProjectError, KeyError, TypeError, AttributeError):
        raise ProjectError(
            f"{out}: is there, and has no {sweep_name} of {paper}; name another file with --out"
        ) from None
    new_rest, new_block = _split_sweep(new_overlay, paper, sweep_name)
    new_values, new_settings = new_block["sweep"], _settings_of_all_runs(new_rest, paper, sweep_name)
    problem = ""
    # the names of runs follow from the settings and their order
    if list(old_values) != list(new_values):
        problem = f"varies {', '.join(old_values)}, in this order; write all of these after --vary and no other"
    elif old_settings != new_settings:
        problem = _describe_difference(old_settings, new_settings)
    elif old_rest != new_rest:
        problem = f"has a {sweep_name} of another run or data set, or more than that"
    else:
        problem = _describe_missing_values(old_values, new_values)
    if problem:
        raise ProjectError(f"{out}: {problem}; or name another file with --out")
    return old_block


def _describe_difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return which settings of all runs are others in a file than after ``--set``, and what to type."""
    of_file = [f"{key}={_written(value)}" for key, value in old.items() if key not in new or new[key] != value]
    if of_file:
        return f"its runs have {', '.join(of_file)}; give them after --set {' '.join(of_file)}"
    added = [key for key in new if key not in old]
    return f"its runs have no --set {' '.join(added)}; leave it out"


def _describe_missing_values(old: Mapping[str, Sequence[Any]], new: Mapping[str, Sequence[Any]]) -> str:
    """Return which values of a file's sweep ``--vary`` does not give, and what to type; "" if it gives all."""
    for setting, values in old.items():
        missing = [_written(value) for value in values if value not in new[setting]]
        if missing:
            listed = ",".join(missing[:MAX_VALUES_SHOWN]) + (",..." if len(missing) > MAX_VALUES_SHOWN else "")
            return f"{setting}={listed} would disappear; write the old values too: --vary {setting}={listed},NEW"
    return ""


def _written(value: Any) -> str:
    """Return a value as ``--vary`` and ``--set`` take it."""
    return "null" if value is None else str(value)


def _settings_of_all_runs(overlay_file: Mapping[str, Any], paper: str, sweep_name: str) -> dict[str, Any]:
    """Return the settings, of runs and their data set, that an overlay gives all runs of a sweep, as ``--set`` does."""
    changes = overlay_file["changes"][paper]
    of_data = changes.get("data", {}).get(sweep_name, {})
    return {**all_settings(of_data), **all_settings(changes["runs"][sweep_name])}


def _split_sweep(overlay_file: Mapping[str, Any], paper: str, sweep_name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return an overlay without the values of a sweep and its ``bundle``, and the block with both."""
    rest = deepcopy(dict(overlay_file))
    run = rest["changes"][paper]["runs"][sweep_name]
    block = dict(run)
    run.pop("bundle", None)
    run.pop("sweep")
    return rest, block


def types_of_settings(config: Config, paper: str, name: str) -> Mapping[str, Any]:
    """Return the types of all settings that can be swept for a run, by name: its own, those of measuring, and `data`.

    Settings of a class have names like ``limit.rtol``.

    Raises
    ------
    ProjectError
        If the paper has no such run, or the run is swept already.
    """
    check_known(name, config.blocks(paper, "runs"), "run", paper)
    if name in config.sweeps(paper):
        raise ProjectError(f"{paper} {name}: is swept already; name a run that is not")
    # Of the settings of measuring only those that the run's block gives can be swept: `place_settings` takes others for
    # settings of the simulation.
    all_of_measuring = config.signature("metrics", paper, name).fields
    of_measuring = {key: all_of_measuring[key] for key in flat(config.settings("metrics", paper, name))}
    types = types_of_fields({**config.signature("run", paper, name).fields, **of_measuring})
    if config.block("run", paper, name).get("data"):
        types["data"] = str
    return types


def types_of_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the types of settings by name, without the seed: further draws are `seeds`."""
    return {key: field.annotation for key, field in fields.items() if key != "seed"}


def parse_axis(text: str, types: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return a setting and its values from ``gamma=1e-6:1:100:log`` or ``init=orthogonal,gaussian``.

    Values between the ends of a range are rounded: to six digits, as they become part of file names, and of a setting
    that counts to whole numbers, each of which counts once. Values that are written are kept as they are, but for whole
    numbers of a real setting: 2 is 2.0.

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
            f"`{text}`: is no setting of a run; --set seeds=40 makes more draws, and --config seed=7 draws all again"
        )
    if setting not in types:
        raise ProjectError(f"`{text}`: the run has no setting `{setting}`{suggest_name(setting, types)}")
    # the types of a union such as `float | None`, the words of a `Literal`, or the one type; of a list, whose values
    # cannot be written here, that of its items
    options = set(typing.get_args(types[setting]) or (types[setting],)) - {type(None)}
    number: type | None = None
    if float in options:
        number = float
    elif options == {int}:
        number = int
    try:
        values = [value for part in written.split(",") for value in _parse_part(part, number)]
    except (YAMLError, ValueError):
        ends = "; the ends of a setting that counts are whole numbers" if number is int else ""
        raise ProjectError(f"`{text}`: {GRAMMAR}{ends}") from None
    if number is float:
        # `true` stays what it is, and is refused as no number
        values = [float(value) if type(value) is int else value for value in values]
    return setting, values


def _parse_part(written: str, number: type | None) -> list[Any]:
    """Return the values of a range, or the value, that is written between two commas.

    `number` is float or int for a setting that may be varied over ranges, else None.
    """
    if number and ":" in written:
        return _parse_range(written, number)
    return [read_value(written)]


def _parse_range(written: str, number: type) -> list[Any]:
    """Return the values of ``FIRST:LAST:COUNT`` or ``FIRST:LAST:COUNT:log``; raise `ValueError` if it is no range."""
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
    if number is int:
        return list(dict.fromkeys(round(value) for value in values))
    return [start, *(float(f"{value:.6g}") for value in values[1:-1]), end]
