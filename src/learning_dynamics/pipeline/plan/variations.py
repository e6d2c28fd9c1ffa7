"""What is changed before a claim is judged again, each change as a layer over the configuration.

A configuration says it in three places.

- ``vary:`` of a claim gives other values of its own settings (thresholds). The default run judges every combination.
- ``robustness:`` of a paper gives, by name, a setting of a run or data set and the claims to be judged with it changed:
  ``values:`` in the default run, each as a run of its own; ``grid:``, and ``range:`` (a grid, then bisection wherever a
  verdict turns) by ``snakemake robustness``.
- ``free:`` of a data set or run gives what the hypotheses of statements leave free, for draws by ``snakemake
  robustness``: for each setting a range, a list to choose from, or one value. A run's ``free:`` may choose its
  ``data``. A claim with ``free: false`` is not judged on draws.

A range of ``free:`` is two numbers, ``[2, 12]``, or a number and a setting, ``width: [inputs, 40]``; any other list is
one to choose from. Whole numbers are drawn evenly; real ones evenly or, if the ends are a factor of ten or more apart,
evenly in the logarithm. A setting at an end has its value as drawn or, if it is not free, as configured. If the range
is then empty, its first end is taken.

``snakemake robustness`` also judges every claim of the papers in ``seeds_of`` under other seeds, from ``first_seed``.

This module makes the changed configurations of ``grid:``, ``range:``, ``free:`` and seeds. `commands.claims` judges
what ``vary:`` and ``values:`` give; the runs of ``values:`` are among those of `Config`.
"""

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from learning_dynamics.errors import ProjectError, check_known, suggest_name
from learning_dynamics.pipeline.plan.blocks import flat, overlay, run_names, select_keys
from learning_dynamics.pipeline.plan.config import Config
from learning_dynamics.pipeline.plan.config_files import Block, ConfigFiles, Layers, merge
from learning_dynamics.pipeline.plan.schema import SEED_OR_DRAW, all_settings, place_settings

# Of `Config`, `declared_block` is a block as written and `resolved_block` is a run's with what it inherits; `block` is
# that of a job, as of one run of a sweep.
Layer = dict[str, Any]  # changed settings of a paper, by section (data, runs) and name
DECADE = 10.0  # ranges whose ends have this ratio or more are spaced by the logarithm
MIN_RATIO = 1.1  # bisection stops where two values of a setting have this ratio or less
MAX_BISECTIONS = 12  # of one interval; from a decade five reach `MIN_RATIO`
N_POINTS = 9  # of an evenly spaced grid, unless the entry says how many


@dataclass(frozen=True)
class Change:
    """A change, or a range of changes, that one job judges.

    Attributes
    ----------
    name : str
        Of the job and its file: ``seed2024``, ``draw3``, or the name of the entry of ``robustness:``.
    kind : str
        One of setting, seed and draw.
    what : str
        What is changed, as tables print it: ``<run>.<setting>`` or ``<data set>.<setting>``; else the kind.
    claims : list of str
        Names of those that are judged again.
    grid : list
        The values that are judged first: the one seed, the number of the one draw, or values of the setting.
    entry : mapping
        The entry of ``robustness:``; empty for a seed or draw.
    """

    name: str
    kind: str
    what: str
    claims: list[str]
    grid: list[Any]
    entry: Mapping[str, Any]


def changes(config: Config, paper: str) -> dict[str, Change]:
    """Return by name what ``snakemake robustness`` judges of a paper with the configured numbers of seeds and draws."""
    configuration = config.configuration
    names = [name for name, entry in config.robustness_entries(paper).items() if "values" not in entry]
    if paper in configuration.seeds_of:
        names += [f"seed{seed}" for seed in configuration.seeds]
    if any(_free_blocks(config, paper)):
        names += [f"draw{number}" for number in range(1, configuration.draws + 1)]
    return {name: change_named(config, paper, name) for name in names}


def change_named(config: Config, paper: str, name: str) -> Change:
    """Return one change by its name.

    Raises
    ------
    ProjectError
        If the paper has no such change.
    """
    seed_or_draw = SEED_OR_DRAW.fullmatch(name)
    if seed_or_draw:
        kind, number = seed_or_draw[1], int(seed_or_draw[2])
        if kind == "seed":
            claims = list(config.blocks(paper, "claims"))
        elif number == 0 or not any(_free_blocks(config, paper)):
            raise ProjectError(f"{paper}: {name}: draws need a `free:` block of a data set or run, and count from 1")
        else:
            claims = claims_on_draws(config, paper)
        return Change(name, kind, what=kind, claims=claims, grid=[number], entry={})

    # entries with `values` are runs of the default run, and no jobs of `snakemake robustness`
    entries = {key: entry for key, entry in config.robustness_entries(paper).items() if "values" not in entry}
    check_known(name, entries, "`robustness` entry with a `range` or `grid`", paper)
    entry = entries[name]
    what = _changed_setting(entry)
    return Change(name, "setting", what=what, claims=entry["claims"], grid=grid_of(entry), entry=entry)


def _changed_setting(entry: Mapping[str, Any]) -> str:
    """Return the setting that an entry of ``robustness:`` changes, as ``run.setting`` or ``data.setting``."""
    return f"{entry.get('data') or entry['run']}.{entry['setting']}"


def changed_settings(config: Config) -> set[tuple[str, str]]:
    """Return the settings that are configured to be changed, with the paper of each."""
    return {
        (paper, _changed_setting(entry))
        for paper in config.papers
        for entry in config.robustness_entries(paper).values()
    }


def changed_configuration(config: Config, paper: str, change: Change, value: Any) -> ConfigFiles:
    """Return the configuration of a paper under one value of a change, with nothing but the change's claims."""
    seed = value if change.kind == "seed" else config.seed
    if change.kind == "draw":
        seed += value  # a draw changes the random numbers too, not only the free settings
    layer = layer_of(config, paper, change, value)
    configuration, block = config.configuration, copy.deepcopy(config.paper_block(paper))
    block |= {"figures": {}, "interactive": {}, "robustness": {}}
    for key in ("lead_figure", "lead_panels", "lead_caption"):
        block.pop(key, None)
    block["claims"] = {
        name: {key: content for key, content in claim.items() if key != "figure"}
        for name, claim in block["claims"].items()
        if name in change.claims
    }
    merge(block, layer)
    layers = Layers({**configuration.layers[paper].blocks, change.name: layer})
    return replace(configuration, seed=seed, papers={paper: block}, layers={paper: layers})


def layer_of(config: Config, paper: str, change: Change, value: Any) -> Layer:
    """Return what a change lays over the configuration of a paper, by section and name."""
    if change.kind == "seed":
        return {}
    if change.kind == "draw":
        return draw_layer(config, paper, value)
    return _setting_layer(config, paper, change, value)


# -- draws of what hypotheses leave free -------------------------------------------------------------------------------


def draw_layer(config: Config, paper: str, draw: int) -> Layer:
    """Return what a draw changes in the configuration of a paper, by section and name.

    Raises
    ------
    ProjectError
        If an end of a range names no setting that has a number, or ranges name one another.
    """
    layer: Layer = {"data": {}, "runs": {}}
    for section, name, free in _free_blocks(config, paper):
        values: Block = {}
        where = f"{paper}: {section}.{name}.free"
        named = {key: _named_settings(free, key, where) for key in free}
        # First the data set, whose settings a range may name; then each setting after those that its range names.
        for key in sorted(free, key=lambda key: (key != "data", len(named[key]))):
            # Published draws come from this label: `wild` is what `free` was called, and of `limit.rtol` it has `rtol`.
            # Settings of one run with the same last part, like `limit.rtol` and `flow.rtol`, share random numbers.
            label = f"wild.{paper}.{section}.{name}.{key.rpartition('.')[2]}"
            rng = np.random.default_rng([config.seed, draw, *label.encode()])
            settings = _settings_so_far(config, paper, section, name, layer, values)
            values[key] = _draw_value(free[key], settings, rng, f"{where}.{key}")
        layer[section][name] = place_settings(config.resolved_block(paper, section, name), values)
    return layer


def claims_on_draws(config: Config, paper: str) -> list[str]:
    """Return the claims that read a run with free settings, or with a data set that has some."""
    free_blocks: set[tuple[str, str | None]] = {(section, name) for section, name, _ in _free_blocks(config, paper)}

    def is_drawn(run: str) -> bool:
        """Whether the run, a run that it inherits from, or its data set has free settings."""
        blocks_of_run = [("runs", name) for name, _ in config.ancestry(paper, run)]
        return not free_blocks.isdisjoint([*blocks_of_run, ("data", _data_set_of(config, paper, run))])

    return [
        claim
        for claim, block in config.blocks(paper, "claims").items()
        if block.get("free") is not False and any(map(is_drawn, config.runs_of_claim(paper, claim)))
    ]


def _settings_so_far(config: Config, paper: str, section: str, name: str, layer: Layer, values: Block) -> Block:
    """Return the settings of a data set, or of a run and its data set, as far as a draw has set them.

    Parameters
    ----------
    layer : Layer
        What was drawn for the data sets and runs before this one.
    values : mapping
        What was drawn for this one.
    """
    settings = flat(config.resolved_block(paper, section, name))
    if section == "runs":
        # `settings` begins as configured. What was drawn for an ancestor holds for this run too, unless a nearer
        # block sets the same key: from the farthest ancestor on, lay its block and then what was drawn for it on top.
        for ancestor, block in reversed(list(config.ancestry(paper, name))):
            settings |= select_keys(flat(block), settings) | flat(layer["runs"].get(ancestor, {}))
        data = values.get("data", settings.get("data"))
        if data is not None:  # the data set that was drawn for this run, or the configured one
            settings = flat(config.resolved_block(paper, "data", data)) | flat(layer["data"].get(data, {})) | settings
    return settings | values


def _data_set_of(config: Config, paper: str, run: str) -> str | None:
    """Return the data set of a run, or of the first run of a sweep."""
    first_run, _ = config.runs_of(paper, run)[0]
    return config.block("run", paper, first_run).get("data")


def _free_blocks(config: Config, paper: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield section, name and ``free:`` block of all that have one, data sets first: runs may name their settings."""
    for section in ("data", "runs"):
        for name, block in config.blocks(paper, section).items():
            if block.get("free"):
                yield section, name, block["free"]


def _named_settings(free: Mapping[str, Any], key: str, where: str) -> list[str]:
    """Return the setting that the range of `key` names, the setting that the range of this one names, and so on."""
    chain = [key]
    while named := _named_setting(free.get(chain[-1])):
        if named in chain:
            names = ", ".join([*chain, named])
            raise ProjectError(f"{where}: ranges name one another: {names}; write a number in one of them")
        chain.append(named)
    return chain[1:]


def _named_setting(value: Any) -> str | None:
    """Return the setting that an end of a range names; None if a value is no range, or is one between two numbers."""
    if not _is_range(value):
        return None
    return next((end for end in value if isinstance(end, str)), None)


def _is_range(value: Any) -> bool:
    """Whether a value is two numbers, or a number and the name of a setting."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    types = {type(end) for end in value}
    return types <= {int, float, str} and bool(types & {int, float})


def _draw_value(choice: Any, settings: Mapping[str, Any], rng: np.random.Generator, where: str) -> Any:
    """Return a value from a range, one of whose ends may name a setting; from a list; or the only one."""
    if not isinstance(choice, list):
        return choice
    if not _is_range(choice):
        return choice[int(rng.integers(len(choice)))]
    ends = []
    for end in choice:
        value = settings.get(end) if isinstance(end, str) else end
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ProjectError(f"{where}: `{end}` is no number and names none{suggest_name(str(end), settings)}")
        ends.append(value)
    low, high = ends[0], max(ends)  # an empty range, whose second end is below the first, has its first end alone
    if all(isinstance(end, int) for end in ends):
        return int(rng.integers(int(low), int(high), endpoint=True))
    if _by_decades(low, high):
        return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.4g}")
    return float(f"{rng.uniform(low, high):.4g}")


# -- ranges and grids of a setting -------------------------------------------------------------------------------------


def _setting_layer(config: Config, paper: str, change: Change, value: Any) -> Layer:
    """Return the layer that sets a setting of one run or data set; runs that inherit from the run keep their value."""
    owner, key = change.entry.get("run"), change.entry["setting"]
    if owner is None:
        return {"data": {change.entry["data"]: overlay({}, {key: value})}}
    runs: Block = {owner: place_settings(config.resolved_block(paper, "runs", owner), {key: value})}
    for child in _inheriting_runs(config, paper, owner, key):
        resolved = config.resolved_block(paper, "runs", child)
        runs[child] = place_settings(resolved, {key: _settings_and_data(resolved)[key]})
    return {"runs": runs}


def _inheriting_runs(config: Config, paper: str, owner: str, key: str) -> list[str]:
    """Return the runs that extend `owner` and do not write the setting `key` themselves."""
    return [
        child
        for child, block in config.blocks(paper, "runs").items()
        if block.get("extends") == owner and key not in _settings_and_data(block)
    ]


def _settings_and_data(block: Mapping[str, Any]) -> Block:
    """Return all settings that a run's or data set's block gives, `flat`, and the data set that it names."""
    return all_settings(block) | select_keys(block, ["data"])


def grid_of(entry: Mapping[str, Any]) -> list[Any]:
    """Return the values of an entry that are judged first: its ``grid``, or a grid over its ``range``, ends included.

    The grid of a range has ``points`` values. Without that key it has a value for each decade, at least five, where the
    ends are positive and a decade or more apart, and `N_POINTS` elsewhere. Whole numbers that coincide when rounded
    count once.
    """
    if "grid" in entry:
        return list(entry["grid"])
    low, high = entry["range"]
    if _by_decades(low, high):
        decades = round(math.log10(high) - math.log10(low))
        points = np.geomspace(low, high, entry.get("points") or max(5, decades + 1))
    else:
        points = np.linspace(low, high, entry.get("points") or N_POINTS)
    if all(isinstance(end, int) for end in (low, high)):
        return sorted({round(point) for point in points})
    inner = {float(f"{point:.4g}") for point in points[1:-1]}
    return [low, *sorted(point for point in inner if low < point < high), high]


def midpoint(low: Any, high: Any) -> Any:
    """Return the value halfway between two at which a verdict differs; None where they are close enough.

    That is the case where whole numbers follow one another, and where real ones have a ratio of `MIN_RATIO` or less; if
    the lower is not positive, where their difference is at most `MIN_RATIO` - 1 times the larger absolute value.
    """
    if all(isinstance(end, int) for end in (low, high)):
        return None if high - low <= 1 else (low + high) // 2
    if low > 0:
        # halfway between their logarithms; the product of ends that are tiny would underflow
        size, middle = low, math.sqrt(low) * math.sqrt(high)
    else:
        size, middle = max(-low, high), (low + high) / 2
    if high - low <= (MIN_RATIO - 1) * size:
        return None
    return float(f"{middle:.4g}")


def _by_decades(low: float, high: float) -> bool:
    return low > 0 and high / low >= DECADE


# -- what is refused ---------------------------------------------------------------------------------------------------


def check(config: Config, paper: str) -> None:
    """Refuse ``robustness:`` and ``free:`` blocks that mean nothing.

    Raises
    ------
    ProjectError
        It names the block and the key.
    """
    for name, entry in config.robustness_entries(paper).items():
        _check_entry(config, paper, entry, config.where(paper, "robustness", name))
    for section, name, free in _free_blocks(config, paper):
        where = config.where(paper, section, name, "free")
        for key, choice in free.items():
            values = choice if isinstance(choice, list) else [choice]
            if not values:
                raise ProjectError(f"{where}.{key}: nothing to draw; give a value, a list or a range")
            if _is_range(choice):
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
        owners_of_claim = [_data_set_of(config, paper, run) for run in runs] if section == "data" else runs
        if owner not in owners_of_claim:
            raise ProjectError(f"{where}: claim `{claim}` does not use {kind} `{owner}`")
    settings = _settings_and_data(block)
    configured = settings.get(key)
    if "values" in entry and configured in entry["values"]:
        raise ProjectError(f"{where}.values: {configured} is the run's own; give others")
    ends_are_whole = "range" in entry and all(isinstance(end, int) for end in entry["range"])
    if isinstance(configured, float) and ends_are_whole:
        raise ProjectError(f"{where}.range: {key} is a real number; write its ends with a point")
    values = entry["values"] if "values" in entry else grid_of(entry)
    _check_values(config, paper, section, owner, key=key, values=values, where=f"{where}.setting")
    inheriting = _inheriting_runs(config, paper, owner, key) if section == "runs" and "values" not in entry else []
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
