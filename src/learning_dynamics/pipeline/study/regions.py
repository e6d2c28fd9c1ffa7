"""Where a verdict holds: draws of what a statement's hypotheses leave free, and settings varied until it turns.

A ``wild:`` block of a data set or run gives, for some of its settings, what a draw may take in place of the
configured value:

- a range ``[2, 12]`` from the smaller to the larger, of whole numbers or numbers (by its logarithm where both ends are
  positive and a decade or more apart); an end may name another setting of the run or its data, as drawn, as in
  ``width: [inputs, 40]``: a range that is empty for it is that end alone;
- a list of any other length, or of words: one of them;
- anything else: this value, on every draw.

A setting of a class is named ``limit.rtol``. A run's block may draw its data set too: ``data: [gaussian, degenerate]``.
A claim with ``wild: false`` is not judged on draws: it reads runs too long to be repeated.

``turning:`` names runs' settings and the claims to be judged over a range of them.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from learning_dynamics.errors import ProjectError, check_known, suggest_name
from learning_dynamics.pipeline.store.provenance import digest
from learning_dynamics.pipeline.study.blocks import all_settings, flat, overlay, place_settings, select_keys
from learning_dynamics.pipeline.study.config import Block, Configuration, merge
from learning_dynamics.pipeline.study.study import Study

if TYPE_CHECKING:
    from learning_dynamics.pipeline.study.project import Project

Layer = dict[str, Any]
DECADE = 10.0
MIN_RATIO = 1.1  # ratio of two settings between which a turning point is not sought further
MAX_BISECTIONS = 12  # bisections at most
MAX_RANGE_END = 1e100  # of a range's ends: their ratio is a number
N_POINTS = 9  # of a range without decades


def with_layer(
    configuration: Configuration, paper: str, layer: Mapping[str, Any], name: str, seed: int
) -> Configuration:
    """Return the configuration of one paper, with a layer over it, without figures, sensitivity and turning checks."""
    block: Block = copy.deepcopy(configuration.papers[paper])
    block["figures"], block["interactive"], block["sensitivity"], block["turning"] = {}, {}, {}, {}
    block.pop("telling", None)
    for claim in block["claims"].values():
        claim.pop("figure", None)
    origins, base = dict(configuration.origins), dict(configuration.base)
    merge(block, layer, name, origins, (paper,), base)
    return replace(configuration, seed=seed, papers={paper: block}, overlaid=True, origins=origins, base=base)


# -- wild draws --------------------------------------------------------------------------------------------------------


def is_wild(study: Study, paper: str) -> bool:
    """Return whether a paper says what its draws may take."""
    return any(True for _ in _wild_blocks(study, paper))


def wild_layer(study: Study, paper: str, draw: int) -> Layer:
    """Return what a wild draw changes in a paper's configuration, by section and name.

    Raises
    ------
    ProjectError
        If an end of a range names no setting that has a number.
    """
    layer: Layer = {"data": {}, "runs": {}}
    for section, name, wild in _wild_blocks(study, paper):
        values: Block = {}
        # a data set first, then what names no other setting: ends of ranges are those of the draw
        for key in sorted(wild, key=lambda key: (key != "data", _names_a_setting(wild[key]))):
            where = f"{paper}: {section}.{name}.wild.{key}"
            label = f"wild.{paper}.{section}.{name}.{key.rpartition('.')[2]}"
            rng = np.random.default_rng([study.seed, draw, *label.encode()])
            values[key] = _draw_value(
                wild[key], _settings_so_far(study, paper, section, name, layer, values), rng, where
            )
        layer[section][name] = place_settings(study.resolved(paper, section, name), values)
    return layer


def _settings_so_far(study: Study, paper: str, section: str, name: str, layer: Layer, values: Block) -> Block:
    """Return the settings of a data set or run and its data as far as a draw has set them."""
    settings = flat(study.resolved(paper, section, name))
    if section == "runs":
        for owner, block in reversed(list(study.ancestry(paper, name))):
            settings |= select_keys(flat(block), settings) | flat(layer["runs"].get(owner, {}))
        data = values.get("data", settings.get("data"))
        if data is not None:
            settings = flat(study.resolved(paper, "data", data)) | flat(layer["data"].get(data, {})) | settings
    return settings | values


def _names_a_setting(value: Any) -> bool:
    return _is_range(value) and any(isinstance(end, str) for end in value)


def region_fingerprint(project: Project, paper: str, region: Any) -> str:
    """Return a digest of all that a wild draw, or a turning check, of a paper depends on."""
    about = project.study.paper_block(paper)
    data_fingerprints = {name: project.fingerprint("data", paper, name) for name in about.get("data", {})}
    wild_flags = {claim: block.get("wild") for claim, block in about["claims"].items()}
    return digest(
        [project.fingerprint("claims", paper, "claims"), about.get("turning"), data_fingerprints, wild_flags, region]
    )


def regions_of_other_versions(project: Project, table: str, fingerprints: Mapping[str, str]) -> list[str]:
    """Return which draws or checks in a joined table carry fingerprints of other settings or code."""
    study, outdated = project.study, []
    for label, fingerprint in fingerprints.items():
        paper, _, name = label.partition("/")
        configured = paper in study.papers and (table == "wild" or name in study.checks(paper, "turning"))
        region = (
            (wild_layer(study, paper, int(name.removeprefix("draw"))) if table == "wild" else name)
            if configured
            else None
        )
        if not configured or region_fingerprint(project, paper, region) != fingerprint:
            outdated.append(label)
    return outdated


def check_wild(study: Study, paper: str) -> None:
    """Refuse a ``wild:`` block whose names or values its function does not take.

    Raises
    ------
    ProjectError
        It names the block and the key.
    """
    for section, name, wild in _wild_blocks(study, paper):
        where = study.where(paper, section, name, "wild")
        for key, choice in wild.items():
            if key in study.resolved(paper, section, name).get("sweep", {}):
                raise ProjectError(f"{where}.{key}: is swept")
            values = choice if isinstance(choice, list) else [choice]
            if not values:
                raise ProjectError(f"{where}.{key}: nothing to draw; give a value, a list or a range")
            if section == "runs" and key == "data":
                for value in values:
                    check_known(value, list(study.blocks(paper, "data")), "data set", f"{where}.data")
                continue
            if _is_range(choice):
                values = [end for end in choice if not isinstance(end, str)]
                if len(values) == 2 and not values[0] < values[1]:
                    raise ProjectError(f"{where}.{key}: from the smaller to the larger")
            _check_values(study, paper, section, name, key, values, f"{where}.{key}")
    for claim, block in study.blocks(paper, "claims").items():
        if not (block.get("wild") is None or block.get("wild") is False):
            where = study.where(paper, "claims", claim, "wild")
            raise ProjectError(f"{where}: false, or nothing; draws are of runs and data")
    wild_layer(study, paper, 1)  # or an end of a range names nothing


def _check_values(
    study: Study, paper: str, section: str, name: str, key: str, values: Sequence[Any], where: str
) -> None:
    member = name if section == "data" else study.members(paper, name)[0][0]
    stages = ("data",) if section == "data" else ("run", "metrics")
    fields = {stage: study.signature(stage, paper, member).fields for stage in stages}
    stage = next((stage for stage in stages if key in fields[stage]), None)
    if stage is None:
        raise ProjectError(f"{where}: no setting of `{name}`{suggest_name(key, set().union(*fields.values()))}")
    for value in values:
        try:
            study.settings(stage, paper, member, **{key: value})
        except ProjectError as error:
            raise ProjectError(f"{where}: {str(error).partition(': ')[2]}") from None


def wild_claims(study: Study, paper: str) -> list[str]:
    """Return the claims whose runs, or their data, are drawn anew by a wild draw."""
    wild = {(section, name) for section, name, _ in _wild_blocks(study, paper)}
    claims = []
    for claim, block in study.blocks(paper, "claims").items():
        if block.get("wild") is False:
            continue
        for run in study.runs_of_claim(paper, claim):
            ancestors = {("runs", name) for name, _ in study.ancestry(paper, run)}
            if (ancestors | {("data", data_set_of(study, paper, run))}) & wild:
                claims.append(claim)
                break
    return claims


def data_set_of(study: Study, paper: str, run: str) -> str | None:
    """Return the data set of a run, or of a sweep's first member."""
    return study.block("run", paper, study.members(paper, run)[0][0]).get("data")


def _wild_blocks(study: Study, paper: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield section, name and what may be drawn, data sets first: runs may name their settings."""
    for section in ("data", "runs"):
        for name, block in study.blocks(paper, section).items():
            if block.get("wild"):
                yield section, name, block["wild"]


def _is_range(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 2 or any(isinstance(end, bool) for end in value):
        return False
    numbers = [isinstance(end, int | float) for end in value]
    return any(numbers) and all(number or isinstance(end, str) for number, end in zip(numbers, value, strict=True))


def _draw_value(choice: Any, settings: Mapping[str, Any], rng: np.random.Generator, where: str) -> Any:
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
    low, high = ends[0], max(ends)
    if all(isinstance(end, int) for end in ends):
        return int(rng.integers(int(low), int(high), endpoint=True))
    if low > 0 and high / low >= DECADE:
        return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.4g}")
    return float(f"{rng.uniform(low, high):.4g}")


# -- turning points ----------------------------------------------------------------------------------------------------


def turning_layer(study: Study, paper: str, check: Mapping[str, Any], value: Any) -> Layer:
    """Return what sets a run's (or data set's) setting to a value, and leaves it as it is in runs that inherit it."""
    if "data" in check:
        return {"data": {check["data"]: overlay({}, {check["setting"]: value})}}
    run, key = check["run"], check["setting"]
    layer: Layer = {run: place_settings(study.resolved(paper, "runs", run), {key: value})}
    for child, block in study.blocks(paper, "runs").items():
        settings = study.resolved(paper, "runs", child)
        if block.get("like") == run and key not in all_settings(block):
            layer[child] = place_settings(settings, {key: all_settings(settings).get(key)})
    return {"runs": layer}


def turning_grid(check: Mapping[str, Any]) -> list[Any]:
    """Return the values at which a turning check is judged first: those given, or a grid over the range.

    A value a decade where the ends are positive and a decade or more apart, else nine; ``points`` says how many.
    """
    if "values" in check:
        return list(check["values"])
    low, high = check["range"]
    by_decades = _by_decades(low, high)
    count = check.get("points") or (max(5, round(math.log10(high) - math.log10(low)) + 1) if by_decades else N_POINTS)
    grid = np.geomspace(low, high, count) if by_decades else np.linspace(low, high, count)
    if all(isinstance(end, int) for end in (low, high)):
        return sorted({round(value) for value in grid})
    inner = {float(f"{value:.4g}") for value in grid[1:-1]}
    return [low, *sorted(value for value in inner if low < value < high), high]


def midpoint(low: Any, high: Any) -> Any:
    """Return the value halfway between two at which a verdict differs; None where it is sought no further."""
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in (low, high)):
        return None
    if all(isinstance(end, int) for end in (low, high)):
        return (low + high) // 2 if high - low > 1 else None
    if low > 0:
        return float(f"{math.sqrt(low) * math.sqrt(high):.4g}") if high / low > MIN_RATIO else None
    middle = (low + high) / 2
    return float(f"{middle:.4g}") if high - low > (MIN_RATIO - 1) * max(abs(low), abs(high)) else None


def turning_configuration(study: Study, paper: str, check: Mapping[str, Any], value: Any) -> Configuration:
    """Return the configuration in which a turning check's setting has a value, with the claims of the check alone."""
    layer = turning_layer(study, paper, check, value)
    configuration = with_layer(study.configuration, paper, layer, f"turning {check['setting']}", study.seed)
    block = configuration.papers[paper]
    block["claims"] = {name: claim for name, claim in block["claims"].items() if name in check["claims"]}
    return configuration


def check_turning(study: Study, paper: str) -> None:
    """Refuse a turning check that means nothing.

    Raises
    ------
    ProjectError
        It names the check and the key.
    """
    for name, check in study.checks(paper, "turning").items():
        where = study.where(paper, "turning", name)
        if "data" in check and "run" in check:
            raise ProjectError(f"{where}: give `run` or `data`")
        section = "data" if "data" in check else "runs"
        owner = check["data"] if "data" in check else check.get("run")
        owners = study.blocks(paper, section)
        if owner not in owners:
            raise ProjectError(
                f"{where}: name the `run` or the `data` whose setting it is{suggest_name(str(owner), owners)}"
            )
        if ("range" in check) == ("values" in check):
            raise ProjectError(f"{where}: give `range` or `values`")
        if "points" in check and "values" in check:
            raise ProjectError(f"{where}.points: is for a `range`; remove it")
        for claim in check["claims"]:
            check_known(claim, study.blocks(paper, "claims"), "claim", f"{where}.claims")
            runs = study.runs_of_claim(paper, claim)
            if owner not in ([data_set_of(study, paper, run) for run in runs] if section == "data" else runs):
                raise ProjectError(f"{where}: claim `{claim}` does not use {section} `{owner}`")
        if "range" in check and not -MAX_RANGE_END < check["range"][0] < check["range"][1] < MAX_RANGE_END:
            raise ProjectError(f"{where}.range: from the smaller to the larger, of numbers below {MAX_RANGE_END:g}")
        if check["setting"] in study.resolved(paper, section, owner).get("sweep", {}):
            raise ProjectError(f"{where}.setting: is swept")
        configured = study.every_setting(paper, section, owner).get(check["setting"])
        if isinstance(configured, float) and all(isinstance(end, int) for end in check.get("range", [configured])):
            raise ProjectError(f"{where}.range: {check['setting']} is a real number; write its ends with a point")
        _check_values(study, paper, section, owner, check["setting"], turning_grid(check), f"{where}.setting")


def _by_decades(low: float, high: float) -> bool:
    return low > 0 and high / low >= DECADE


def verdict_stretches(values: Sequence[Any], verdicts: Sequence[str]) -> list[tuple[int, int]]:
    """Return first and last place of each stretch of equal verdicts."""
    stretches = []
    for _, group in itertools.groupby(range(len(values)), key=lambda index: verdicts[index]):
        indices = list(group)
        stretches.append((indices[0], indices[-1]))
    return stretches
