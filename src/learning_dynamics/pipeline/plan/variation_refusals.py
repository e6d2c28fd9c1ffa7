"""What is refused of ``robustness:`` and ``free:`` blocks."""

from collections.abc import Mapping, Sequence
from typing import Any

from learning_dynamics.errors import ProjectError, check_known, suggest_name
from learning_dynamics.pipeline.plan.blocks import run_names
from learning_dynamics.pipeline.plan.config import Config
from learning_dynamics.pipeline.plan.free_settings import data_set_of, draw_layer, free_blocks, is_range
from learning_dynamics.pipeline.plan.value_grids import grid_of
from learning_dynamics.pipeline.plan.variations import inheriting_runs, settings_and_data

# Here `Config.declared_block` is a block as written, `Config.resolved_block` a run's block with what it inherits, and
# `Config.block` a job's, as that of one run of a sweep.


def check(config: Config, paper: str) -> None:
    """Refuse ``robustness:`` and ``free:`` blocks that mean nothing.

    Raises
    ------
    ProjectError
        If there is such a block: its name, and the key.
    """
    for name, entry in config.robustness_entries(paper).items():
        _check_entry(config, paper, entry, config.where(paper, "robustness", name))
    for section, name, free in free_blocks(config, paper):
        where = config.where(paper, section, name, "free")
        for key, choice in free.items():
            values = choice if isinstance(choice, list) else [choice]
            if not values:
                raise ProjectError(f"{where}.{key}: nothing to draw; give a value, a list or a range")
            if is_range(choice):
                values = [end for end in choice if not isinstance(end, str)]
                if len(values) == 2 and not values[0] < values[1]:
                    raise ProjectError(f"{where}.{key}: from the smaller to the larger")
            _check_values(config, paper, section, name, key=key, values=values, where=f"{where}.{key}")
    draw_layer(config, paper, 1)  # refuses an end of a range that names nothing


def _check_entry(config: Config, paper: str, entry: Mapping[str, Any], where: str) -> None:
    """Refuse an entry of ``robustness:`` whose run, data set, claims or values do not fit; `where` begins the error."""
    if "data" in entry:
        section, owner, kind, field = "data", entry["data"], "data set", "data"
    else:
        section, owner, kind, field = "runs", entry["run"], "run", "run"
    config.declared_block(paper, section, owner, f"{where}.{field}")
    block, key = config.resolved_block(paper, section, owner), entry["setting"]
    if "values" in entry and "bundle" in block:
        raise ProjectError(f"{where}.run: `{owner}` runs in bundles; remove its `bundle`")
    for claim in entry["claims"]:
        config.declared_block(paper, "claims", claim, f"{where}.claims")
        runs = run_names(config.block("claims", paper, claim)["runs"])
        owners_of_claim = [data_set_of(config, paper, run) for run in runs] if section == "data" else runs
        if owner not in owners_of_claim:
            raise ProjectError(f"{where}: claim `{claim}` does not use {kind} `{owner}`")
    settings = settings_and_data(block)
    configured = settings.get(key)
    if "values" in entry and configured in entry["values"]:
        raise ProjectError(f"{where}.values: {configured} is the run's own; give others")
    ends_are_whole = "range" in entry and all(isinstance(end, int) for end in entry["range"])
    if isinstance(configured, float) and ends_are_whole:
        raise ProjectError(f"{where}.range: {key} is a real number; write its ends with a point")
    values = entry["values"] if "values" in entry else grid_of(entry)
    _check_values(config, paper, section, owner, key=key, values=values, where=f"{where}.setting")
    inheriting = inheriting_runs(config, paper, owner, key) if section == "runs" and "values" not in entry else []
    if inheriting and key not in settings:
        raise ProjectError(
            f"{where}.setting: `{inheriting[0]}` inherits `{key}` from `{owner}`, where it has its default; write it "
            f"in `{owner}`"
        )


def _check_values(
    config: Config, paper: str, section: str, name: str, *, key: str, values: Sequence[Any], where: str
) -> None:
    """Refuse values that the setting `key` of a data set or run cannot have."""
    if key in config.resolved_block(paper, section, name).get("sweep", {}):
        raise ProjectError(f"{where}: `{key}` is swept")
    if section == "runs" and key == "data":
        for value in values:
            check_known(value, list(config.blocks(paper, "data")), "data set", where)
        return
    job_name, stages = name, ["data"]
    if section == "runs":
        job_name, _ = config.runs_of(paper, name)[0]  # of a sweep the first run, for all
        stages = ["run", "metrics"]
    fields = {stage: config.signature(stage, paper, job_name).fields for stage in stages}
    stage = next((stage for stage in stages if key in fields[stage]), None)
    if stage is None:
        raise ProjectError(f"{where}: no setting of `{name}`{suggest_name(key, set().union(*fields.values()))}")
    if stage == "metrics" and key not in config.every_setting(paper, section, name):
        # `place_settings` takes what no block has below `measure` for a setting of the simulation
        raise ProjectError(f"{where}: `{key}` of `{name}` has its default; write it there below `measure`")
    for value in values:
        try:
            config.settings(stage, paper, job_name, **{key: value})
        except ProjectError as error:
            message = str(error).partition(": ")[2]  # it begins with paper, run and setting; `where` replaces these
            raise ProjectError(f"{where}: {message}") from None
