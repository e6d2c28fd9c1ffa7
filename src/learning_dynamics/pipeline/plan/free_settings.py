"""What a draw makes of ``free:``, the settings that the hypotheses of statements leave free.

A range is two numbers, ``[2, 12]``, or a number and a setting, ``width: [inputs, 40]``; any other list is one to choose
from. Whole numbers are drawn evenly; real ones evenly or, if the ends are a factor of ten or more apart, evenly in the
logarithm. A setting at an end has its value as drawn or, if it is not free, as configured. If the range is then empty,
its first end is taken.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from learning_dynamics.errors import ProjectError, suggest_name
from learning_dynamics.pipeline.plan.blocks import flat, select_keys
from learning_dynamics.pipeline.plan.config import Config
from learning_dynamics.pipeline.plan.config_files import Block
from learning_dynamics.pipeline.plan.schema import place_settings
from learning_dynamics.pipeline.plan.value_grids import by_decades

# Here `Config.resolved_block` is a run's block with what it inherits, and `Config.block` a job's, as that of one run of
# a sweep.
Layer = dict[str, Any]  # changed settings of a paper, by section (data, runs) and name


def draw_layer(config: Config, paper: str, draw: int) -> Layer:
    """Return what a draw changes in the configuration of a paper, by section and name.

    Raises
    ------
    ProjectError
        If an end of a range names no setting that has a number, or ranges name one another.
    """
    layer: Layer = {"data": {}, "runs": {}}
    for section, name, free in free_blocks(config, paper):
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
    drawn_blocks: set[tuple[str, str | None]] = {(section, name) for section, name, _ in free_blocks(config, paper)}

    def is_drawn(run: str) -> bool:
        """Whether the run, a run that it inherits from, or its data set has free settings."""
        blocks_of_run = [("runs", name) for name, _ in config.ancestry(paper, run)]
        return not drawn_blocks.isdisjoint([*blocks_of_run, ("data", data_set_of(config, paper, run))])

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


def data_set_of(config: Config, paper: str, run: str) -> str | None:
    """Return the data set of a run, or of the first run of a sweep."""
    first_run, _ = config.runs_of(paper, run)[0]
    return config.block("run", paper, first_run).get("data")


def free_blocks(config: Config, paper: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
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
    if not is_range(value):
        return None
    return next((end for end in value if isinstance(end, str)), None)


def is_range(value: Any) -> bool:
    """Whether a value is two numbers, or a number and the name of a setting."""
    if not isinstance(value, list) or len(value) != 2:
        return False
    types = {type(end) for end in value}
    return types <= {int, float, str} and bool(types & {int, float})


def _draw_value(choice: Any, settings: Mapping[str, Any], rng: np.random.Generator, where: str) -> Any:
    """Return a value from a range, one of whose ends may name a setting; from a list; or the only one."""
    if not isinstance(choice, list):
        return choice
    if not is_range(choice):
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
    if by_decades(low, high):
        return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.4g}")
    return float(f"{rng.uniform(low, high):.4g}")
