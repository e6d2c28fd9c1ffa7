"""What is changed before a claim is judged again, each change as a layer over the configuration.

A configuration says it in three places.

- ``vary:`` of a claim gives other values of its own settings (thresholds). The default run judges every combination.
- ``robustness:`` of a paper gives, by name, a setting of a run or data set and the claims to be judged with it changed:
  ``values:`` in the default run, each as a run of its own; ``grid:``, and ``range:`` (a grid, then bisection wherever a
  verdict turns) by ``snakemake robustness``.
- ``free:`` of a data set or run gives what the hypotheses of statements leave free, for draws by ``snakemake
  robustness``: for each setting a range, a list to choose from, or one value. A run's ``free:`` may choose its
  ``data``. `free_settings` says how they are drawn. A claim with ``free: false`` is not judged on draws.

``snakemake robustness`` also judges every claim of the papers in ``seeds_of`` under other seeds, from ``first_seed``.

This module makes the changed configurations of ``grid:``, ``range:``, ``free:`` and seeds. `commands.claims` judges
what ``vary:`` and ``values:`` give; the runs of ``values:`` are among those of `Config`.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from learning_dynamics.errors import ProjectError, check_known
from learning_dynamics.pipeline.plan.blocks import overlay, select_keys
from learning_dynamics.pipeline.plan.config import Config
from learning_dynamics.pipeline.plan.config_files import Block, ConfigFiles, Layers, merge
from learning_dynamics.pipeline.plan.free_settings import Layer, claims_on_draws, draw_layer, free_blocks
from learning_dynamics.pipeline.plan.schema import SEED_OR_DRAW, all_settings, place_settings
from learning_dynamics.pipeline.plan.value_grids import grid_of


@dataclass(frozen=True)
class Change:
    """A change, or a range of changes, that one job judges.

    Attributes
    ----------
    name : str
        What the job and its file are called: ``seed2024``, ``draw3``, or the name of the entry of ``robustness:``.
    kind : str
        One of setting, seed and draw.
    what : str
        What is changed, as tables print it: of a setting ``<run>.<setting>`` or ``<data set>.<setting>``, of a seed or
        draw the kind.
    claims : list of str
        The names of the claims that are judged again.
    grid : list
        The values that are judged first: of a seed or draw its number alone. Of a range `commands.variation` judges
        further ones between two at which a verdict differs.
    entry : mapping
        The entry of ``robustness:``; empty for a seed or draw.
    """

    name: str
    kind: str
    what: str
    claims: list[str]
    grid: list[Any]
    entry: Mapping[str, Any]


def names_of_changes(config: Config, paper: str) -> list[str]:
    """Return what ``snakemake robustness`` judges of a paper with the configured numbers of seeds and draws."""
    configuration = config.configuration
    names = [name for name, entry in config.robustness_entries(paper).items() if "values" not in entry]
    if paper in configuration.seeds_of:
        names += [f"seed{seed}" for seed in configuration.seeds]
    if any(free_blocks(config, paper)):
        names += [f"draw{number}" for number in range(1, configuration.draws + 1)]
    return names


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
        elif number == 0 or not any(free_blocks(config, paper)):
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
    # the changed configuration draws nothing and changes no further setting, so that it needs the claims' runs alone
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


def _setting_layer(config: Config, paper: str, change: Change, value: Any) -> Layer:
    """Return the layer that sets a setting of one run or data set; runs that inherit from the run keep their value.

    These would inherit the new value, so that the layer writes the previous one into their blocks.
    """
    # `Config.resolved_block` is a run's block with what it inherits
    owner, key = change.entry.get("run"), change.entry["setting"]
    if owner is None:
        return {"data": {change.entry["data"]: overlay({}, {key: value})}}
    runs: Block = {owner: place_settings(config.resolved_block(paper, "runs", owner), {key: value})}
    for child in inheriting_runs(config, paper, owner, key):
        resolved = config.resolved_block(paper, "runs", child)
        runs[child] = place_settings(resolved, {key: settings_and_data(resolved)[key]})
    return {"runs": runs}


def inheriting_runs(config: Config, paper: str, owner: str, key: str) -> list[str]:
    """Return the runs that extend `owner` directly and do not write the setting `key` themselves.

    Runs that extend these inherit the value that is written into them.
    """
    return [
        child
        for child, block in config.blocks(paper, "runs").items()
        if block.get("extends") == owner and key not in settings_and_data(block)
    ]


def settings_and_data(block: Mapping[str, Any]) -> Block:
    """Return all settings that a run's or data set's block gives, `flat`, and the data set that it names."""
    return all_settings(block) | select_keys(block, ["data"])
