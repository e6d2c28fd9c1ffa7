"""Where a verdict holds: draws of what a statement's hypotheses leave free, and settings varied until it turns.

A ``wild:`` block of a data set or run gives, for some of its settings, what a draw may take in place of the
configured value:

- a range ``[2, 12]`` from the smaller to the larger, of whole numbers or numbers (by its logarithm where both ends are
  positive and a decade or more apart); an end may name another setting of the run or its data, as drawn, as in
  ``width: [inputs, 40]``: a range that is empty for it is that end alone;
- a list of any other length, or of words: one of them;
- anything else: this value, on every draw.

A run's block may draw its data set too: ``data: [gaussian, degenerate]``. A claim with ``wild: false`` is not judged on
draws: it reads runs too long to be repeated.

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

from learning_dynamics.errors import ProjectError, near
from learning_dynamics.pipeline.config import Block, Configuration, merge
from learning_dynamics.pipeline.provenance import digest

if TYPE_CHECKING:
    from learning_dynamics.pipeline.project import Project

Layer = dict[str, Any]
DECADE = 10.0
CLOSE = 1.1  # ratio of two settings between which a turning point is not sought further
STEPS = 12  # bisections at most
LARGEST = 1e100  # of a range's ends: their ratio is a number
POINTS = 9  # of a range without decades


def changed(configuration: Configuration, paper: str, layer: Mapping[str, Any], name: str, seed: int) -> Configuration:
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


def is_wild(project: Project, paper: str) -> bool:
    """Return whether a paper says what its draws may take."""
    return any(True for _ in _wild(project, paper))


def wild_layer(project: Project, paper: str, draw: int) -> Layer:
    """Return what a wild draw changes in a paper's configuration, by section and name.

    Raises
    ------
    ProjectError
        If an end of a range names no setting that has a number.
    """
    layer: Layer = {"data": {}, "runs": {}}
    for section, name, wild in _wild(project, paper):
        drawn: Block = {}
        # a data set first, then what names no other setting: ends of ranges are those of the draw
        for key in sorted(wild, key=lambda key: (key != "data", _named(wild[key]))):
            where = f"{paper}: {section}.{name}.wild.{key}"
            label = f"wild.{paper}.{section}.{name}.{key}"
            rng = np.random.default_rng([project.seed, draw, *label.encode()])
            drawn[key] = _drawn(wild[key], _around(project, paper, section, name, layer, drawn), rng, where)
        measured = project.resolved(paper, section, name).get("measure", {})
        layer[section][name] = {key: value for key, value in drawn.items() if key not in measured}
        if any(key in measured for key in drawn):
            layer[section][name]["measure"] = {key: value for key, value in drawn.items() if key in measured}
    return layer


def _around(project: Project, paper: str, section: str, name: str, layer: Layer, drawn: Block) -> Block:
    """Return the settings of a data set or run and its data as far as a draw has set them."""
    around = project.resolved(paper, section, name)
    if section == "runs":
        for owner in reversed(project.ancestors(paper, name)):
            own = project.about(paper)["runs"][owner]
            around = around | {key: own[key] for key in own if key in around} | layer["runs"].get(owner, {})
        data = drawn.get("data", around.get("data"))
        if data is not None:
            around = project.resolved(paper, "data", data) | layer["data"].get(data, {}) | around
    return around | drawn


def _named(given: Any) -> bool:
    return _is_range(given) and any(isinstance(end, str) for end in given)


def region_fingerprint(project: Project, paper: str, what: Any) -> str:
    """Return a digest of all that a wild draw, or a turning check, of a paper depends on."""
    about = project.about(paper)
    behind = {name: project.fingerprint("data", paper, name) for name in about.get("data", {})}
    judged = {claim: block.get("wild") for claim, block in about["claims"].items()}
    return digest([project.fingerprint("claims", paper, "claims"), about.get("turning"), behind, judged, what])


def regions_of_other_versions(project: Project, table: str, made: Mapping[str, str]) -> list[str]:
    """Return which of the draws or checks in a joined table are of other settings or code; `made` as they carry it."""
    wrong = []
    for label, carried in made.items():
        paper, _, name = label.partition("/")
        known = paper in project.papers and (table == "wild" or name in project.turning(paper))
        what = (
            (wild_layer(project, paper, int(name.removeprefix("draw"))) if table == "wild" else name) if known else None
        )
        if not known or region_fingerprint(project, paper, what) != carried:
            wrong.append(label)
    return wrong


def check_wild(project: Project, paper: str) -> None:
    """Refuse a ``wild:`` block whose names or values its function does not take.

    Raises
    ------
    ProjectError
        It names the block and the key.
    """
    for section, name, wild in _wild(project, paper):
        where = f"{project.configuration.origin(paper, section, name, 'wild')}: {section}.{name}.wild"
        for key, given in wild.items():
            if key in project.resolved(paper, section, name).get("sweep", {}):
                raise ProjectError(f"{where}.{key}: is swept")
            values = given if isinstance(given, list) else [given]
            if not values:
                raise ProjectError(f"{where}.{key}: nothing to draw; give a value, a list or a range")
            if section == "runs" and key == "data":
                for value in values:
                    if not isinstance(value, str) or value not in project.about(paper).get("data", {}):
                        raise ProjectError(
                            f"{where}.data: no data set `{value}`{near(str(value), project.about(paper)['data'])}"
                        )
                continue
            if _is_range(given):
                values = [end for end in given if not isinstance(end, str)]
                if len(values) == 2 and not values[0] < values[1]:
                    raise ProjectError(f"{where}.{key}: from the smaller to the larger")
            _check_values(project, paper, section, name, key, values, f"{where}.{key}")
    for claim, block in project.about(paper)["claims"].items():
        if not (block.get("wild") is None or block.get("wild") is False):
            where = project.configuration.origin(paper, "claims", claim, "wild")
            raise ProjectError(f"{where}: claims.{claim}.wild: false, or nothing; draws are of runs and data")
    wild_layer(project, paper, 1)  # or an end of a range names nothing


def _check_values(
    project: Project, paper: str, section: str, name: str, key: str, values: Sequence[Any], where: str
) -> None:
    member = name if section == "data" else project.members(paper, name)[0][0]
    stages = ("data",) if section == "data" else ("run", "metrics")
    stage = next((stage for stage in stages if key in project.takes(stage, paper, member)), None)
    if stage is None:
        known = set().union(*(project.takes(stage, paper, member) for stage in stages))
        raise ProjectError(f"{where}: no setting of `{name}`{near(key, known)}")
    described = {"data": project.data, "run": project.run, "metrics": project.measure}[stage]
    for value in values:
        try:
            described(paper, member, **{key: value})
        except ProjectError as error:
            raise ProjectError(f"{where}: {str(error).partition(': ')[2]}") from None


def wild_claims(project: Project, paper: str) -> list[str]:
    """Return the claims whose runs, or their data, are drawn anew by a wild draw."""
    wild = {(section, name) for section, name, _ in _wild(project, paper)}
    found = []
    for claim, block in project.about(paper)["claims"].items():
        if block.get("wild") is False:
            continue
        for run in project.runs_behind(paper, claim):
            behind = {("runs", name) for name in project.ancestors(paper, run)} | {
                ("data", data_of(project, paper, run))
            }
            if behind & wild:
                found.append(claim)
                break
    return found


def data_of(project: Project, paper: str, run: str) -> str | None:
    """Return the data set of a run, or of a sweep's first member."""
    return project.run_data(paper, project.members(paper, run)[0][0])


def _wild(project: Project, paper: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield section, name and what may be drawn, data sets first: runs may name their settings."""
    about = project.about(paper)
    for section in ("data", "runs"):
        for name, block in about.get(section, {}).items():
            if block.get("wild"):
                yield section, name, block["wild"]


def _is_range(given: Any) -> bool:
    if not isinstance(given, list) or len(given) != 2 or any(isinstance(one, bool) for one in given):
        return False
    numbers = [isinstance(one, int | float) for one in given]
    return any(numbers) and all(number or isinstance(one, str) for number, one in zip(numbers, given, strict=True))


def _drawn(given: Any, around: Mapping[str, Any], rng: np.random.Generator, where: str) -> Any:
    if not isinstance(given, list):
        return given
    if not _is_range(given):
        return given[int(rng.integers(len(given)))]
    ends = []
    for end in given:
        value = around.get(end) if isinstance(end, str) else end
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ProjectError(f"{where}: `{end}` is no number and names none{near(str(end), around)}")
        ends.append(value)
    low, high = ends[0], max(ends)
    if all(isinstance(end, int) for end in ends):
        return int(rng.integers(int(low), int(high), endpoint=True))
    if low > 0 and high / low >= DECADE:
        return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.4g}")
    return float(f"{rng.uniform(low, high):.4g}")


# -- turning points ----------------------------------------------------------------------------------------------------


def turning_layer(project: Project, paper: str, check: Mapping[str, Any], value: Any) -> Layer:
    """Return what sets a run's (or data set's) setting to a value, and leaves it as it is in runs that inherit it."""
    if "data" in check:
        return {"data": {check["data"]: {check["setting"]: value}}}
    run, key = check["run"], check["setting"]
    layer: Layer = {run: _placed(project, paper, run, key, value)}
    for child, block in project.about(paper)["runs"].items():
        own = project.resolved(paper, "runs", child)
        if block.get("like") == run and key not in {**block, **block.get("measure", {}), **block.get("sweep", {})}:
            kept = own.get(key, own.get("measure", {}).get(key))
            layer[child] = _placed(project, paper, child, key, kept)
    return {"runs": layer}


def _placed(project: Project, paper: str, run: str, key: str, value: Any) -> Layer:
    measured = project.resolved(paper, "runs", run).get("measure", {})
    return {"measure": {key: value}} if key in measured else {key: value}


def turning_grid(check: Mapping[str, Any]) -> list[Any]:
    """Return the values at which a turning check is judged first: those given, or a grid over the range.

    A value a decade where the ends are positive and a decade or more apart, else nine; ``points`` says how many.
    """
    if "values" in check:
        return list(check["values"])
    low, high = check["range"]
    by_decades = _by_decades(low, high)
    count = check.get("points") or (max(5, round(math.log10(high) - math.log10(low)) + 1) if by_decades else POINTS)
    grid = np.geomspace(low, high, count) if by_decades else np.linspace(low, high, count)
    if all(isinstance(end, int) for end in (low, high)):
        return sorted({round(value) for value in grid})
    inner = {float(f"{value:.4g}") for value in grid[1:-1]}
    return [low, *sorted(value for value in inner if low < value < high), high]


def between(low: Any, high: Any) -> Any:
    """Return the value halfway between two at which a verdict differs; None where it is sought no further."""
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in (low, high)):
        return None
    if all(isinstance(end, int) for end in (low, high)):
        return (low + high) // 2 if high - low > 1 else None
    if low > 0:
        return float(f"{math.sqrt(low) * math.sqrt(high):.4g}") if high / low > CLOSE else None
    middle = (low + high) / 2
    return float(f"{middle:.4g}") if high - low > (CLOSE - 1) * max(abs(low), abs(high)) else None


def turning_configuration(project: Project, paper: str, check: Mapping[str, Any], value: Any) -> Configuration:
    """Return the configuration in which a turning check's setting has a value, with the claims of the check alone."""
    layer = turning_layer(project, paper, check, value)
    found = changed(project.configuration, paper, layer, f"turning {check['setting']}", project.seed)
    block = found.papers[paper]
    block["claims"] = {name: claim for name, claim in block["claims"].items() if name in check["claims"]}
    return found


def check_turning(project: Project, paper: str) -> None:
    """Refuse a turning check that means nothing.

    Raises
    ------
    ProjectError
        It names the check and the key.
    """
    for name, check in project.turning(paper).items():
        where = f"{project.configuration.origin(paper, 'turning', name)}: turning.{name}"
        if "data" in check and "run" in check:
            raise ProjectError(f"{where}: give `run` or `data`")
        section = "data" if "data" in check else "runs"
        owner = check["data"] if "data" in check else check.get("run")
        known = project.about(paper).get(section, {})
        if owner not in known:
            raise ProjectError(f"{where}: name the `run` or the `data` whose setting it is{near(str(owner), known)}")
        if ("range" in check) == ("values" in check):
            raise ProjectError(f"{where}: give `range` or `values`")
        if "points" in check and "values" in check:
            raise ProjectError(f"{where}.points: is for a `range`; remove it")
        for claim in check["claims"]:
            if claim not in project.about(paper)["claims"]:
                raise ProjectError(f"{where}.claims: no claim `{claim}`{near(claim, project.about(paper)['claims'])}")
            runs = project.runs_behind(paper, claim)
            if owner not in ([data_of(project, paper, run) for run in runs] if section == "data" else runs):
                raise ProjectError(f"{where}: claim `{claim}` does not use {section} `{owner}`")
        if "range" in check and not -LARGEST < check["range"][0] < check["range"][1] < LARGEST:
            raise ProjectError(f"{where}.range: from the smaller to the larger, of numbers below {LARGEST:g}")
        if check["setting"] in project.resolved(paper, section, owner).get("sweep", {}):
            raise ProjectError(f"{where}.setting: is swept")
        own = project.every_setting(paper, section, owner).get(check["setting"])
        if isinstance(own, float) and all(isinstance(end, int) for end in check.get("range", [own])):
            raise ProjectError(f"{where}.range: {check['setting']} is a real number; write its ends with a point")
        _check_values(project, paper, section, owner, check["setting"], turning_grid(check), f"{where}.setting")


def _by_decades(low: float, high: float) -> bool:
    return low > 0 and high / low >= DECADE


def stretches(values: Sequence[Any], verdicts: Sequence[str]) -> list[tuple[int, int]]:
    """Return first and last place of each stretch of equal verdicts."""
    found = []
    for _, group in itertools.groupby(range(len(values)), key=lambda place: verdicts[place]):
        places = list(group)
        found.append((places[0], places[-1]))
    return found
