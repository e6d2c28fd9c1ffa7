"""The configuration's structure. Other keys of data sets, runs, figures and claims are settings of their functions."""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from learning_dynamics.pipeline.plan.blocks import Spec, flat, overlay, select_keys
from learning_dynamics.pipeline.plan.validation import Strict
from learning_dynamics.settings import Seed

Origin = Literal["stated", "code", "inferred", "chosen"]
SEED_OR_DRAW = re.compile(r"(seed|draw)([1-9]\d{0,18}|0)")  # the names of these changes, beside those of entries

# as in `judging`, which takes long to import
VERDICTS = ("reproduced", "corrected", "contradicted", "not reproduced", "undecided", "untested")


def _refuse_repeats(values: list[Any]) -> list[Any]:
    if len(set(map(_comparable, values))) < len(values):
        raise PydanticCustomError("distinct", "must not hold a value twice")
    return values


def _comparable(value: Any) -> Any:
    """Return a value that compares equal for equal settings: of 1 and 1.0 it is the same, of 1 and true it is not."""
    if isinstance(value, list):
        return tuple(map(_comparable, value))
    return value if isinstance(value, int | float) and not isinstance(value, bool) else repr(value)


def _refuse_seed_or_draw(name: str) -> str:
    if SEED_OR_DRAW.fullmatch(name):
        raise PydanticCustomError("form", "is the name of a seed or draw; rename it")
    return name


def _check_expected(expected: Any) -> Any:
    """Return what is expected of a claim: ``reproduced``, or two verdicts with a reason.

    Two are ``{undecided or reproduced: why}``, where a processor's rounding decides between them.
    """
    if isinstance(expected, str):
        text, reason = expected, ""
    elif isinstance(expected, Mapping) and len(expected) == 1:
        text, reason = next(iter(expected.items()))
    else:
        raise PydanticCustomError("form", "must be a verdict")
    verdicts = str(text).split(" or ")
    unknown = [verdict for verdict in verdicts if verdict not in VERDICTS]
    if unknown:
        raise PydanticCustomError("form", f"no verdict `{unknown[0]}`; one of {', '.join(VERDICTS)}")
    if len(verdicts) > 2:
        raise PydanticCustomError("form", "names more than two verdicts")
    if len(verdicts) == 2 and not (isinstance(reason, str) and reason.strip()):
        message = "names two verdicts; give one, or a key of both whose value is why a processor's rounding decides"
        raise PydanticCustomError("form", message)
    return expected


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _as_mapping(value: Any) -> Any:
    """Return the origin of a setting as a mapping to the reason, which what somebody chose must have."""
    if not isinstance(value, str):
        return value
    return {value: None if value == "chosen" else ""}


Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$", max_length=80)]
# of a run or data set; one of a class as `limit.rtol`
SettingName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)?$", max_length=160)]
FunctionName = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$", max_length=160)]
Values = Annotated[list[Any], Field(min_length=1), AfterValidator(_refuse_repeats)]
Names = Annotated[list[Name], AfterValidator(_refuse_repeats)]
# runs by role: one, or a list
Roles = dict[Name, Annotated[list[Name], Field(min_length=1), BeforeValidator(_as_list)]]
# of each setting: stated, code, inferred, or {chosen: why}; an overlay may add another
Provenance = dict[str, Annotated[dict[Origin, str], Field(min_length=1), BeforeValidator(_as_mapping)]]


def _up_to(most: int, least: int = 1) -> Any:
    """Return a field of a whole number from `least`, its default, to `most`."""
    return Field(default=least, ge=least, le=most)


class Top(Strict):
    """``config.yaml``, with overlays and the command line over it."""

    seed: Seed  # from which every random draw descends
    papers: Annotated[Names, Field(min_length=1)]
    scale: Name | None = None  # the name under which results and figures are written
    overlays: list[str] = []  # folders with changes to papers
    changes: dict[Name, dict[str, Any]] = {}
    seeds: int = _up_to(200, 0)  # under how many other seeds `snakemake robustness` judges claims
    first_seed: Seed | None = None  # the first of these; without it the one after `seed`
    seeds_of: Names = []  # of which papers
    draws: int = _up_to(200, 0)  # on how many draws it judges theorems and formulas
    sharing: int = _up_to(64)  # how many jobs share a GPU, and take so much longer


class Resources(Strict):
    """What a job asks for: no more than any machine has, or anybody waits for."""

    threads: int = _up_to(1024)
    mem_mb: int = _up_to(16_000_000)
    runtime: int = _up_to(525_600)  # minutes
    gpu: int = _up_to(64, 0)
    gpu_mb: int = _up_to(16_000_000)  # memory of a GPU that several jobs may share
    disk_mb: int = _up_to(1_000_000_000)  # what a run's file takes


class _Block(Strict):
    model_config = ConfigDict(extra="allow")  # settings


class Data(_Block):
    """A data set."""

    source: FunctionName
    free: dict[SettingName, Any] = {}
    provenance: Provenance = {}
    resources: Resources = Resources()


class Run(_Block):
    """A run, or with `sweep` many."""

    function: FunctionName = ""
    data: Name = ""
    extends: Name = ""  # the run whose block this one extends
    free: dict[SettingName, Any] = {}
    sweep: Annotated[dict[str, Values], Field(min_length=1)] = {}
    bundle: int = Field(default=2, ge=2, le=1000)  # how many runs of a sweep one job simulates and measures
    temporary: bool = False  # whether the run's file is deleted once its metrics are there
    measure: dict[str, Any] = {}  # settings that only the metrics read
    provenance: Provenance = {}
    resources: Resources = Resources()
    measure_resources: Resources = Resources()


class Figure(_Block):
    """A figure."""

    function: FunctionName
    runs: Roles


class Interactive(Figure):
    """A figure whose reader moves a parameter; `figure` is its still."""

    figure: Name


class Claim(Figure):
    """A claim."""

    figure: Name = ""
    # the verdict at this scale; two where a processor's rounding decides: {undecided or reproduced: why}
    expected: Annotated[Any, AfterValidator(_check_expected)] = ""
    vary: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}  # other values of the claim's own settings
    free: Literal[False] | None = None


class Reference(Strict):
    """What the paper is cited as, and where it can be read."""

    authors: Annotated[list[str], Field(min_length=1)]  # family name, given names
    title: str
    year: int
    venue: str = ""
    url: Annotated[str, Field(pattern=r"^https://[^\s)]+$")]


# -- robustness: claims judged again with something changed


class Entry(Strict):
    """A setting of a run or data set, and the claims that are judged again with it changed."""

    run: Name = ""
    data: Name = ""
    setting: SettingName
    values: Values = []  # in the default run
    grid: Annotated[Values, Field(min_length=2)] = []  # by `snakemake robustness`, as are the values of a range
    range: Annotated[Sequence[Annotated[float, Field(le=1e100)]], Field(min_length=2, max_length=2)] = ()
    points: int = Field(default=2, ge=2, le=1000)
    claims: Annotated[Names, Field(min_length=1)]

    @model_validator(mode="after")
    def _check_keys(self) -> Self:
        keys = self.model_fields_set
        faults = {
            "give `run` or `data`, that of the setting": ("run" in keys) == ("data" in keys),
            "give one of `values`, `grid` and `range`": len(keys & {"values", "grid", "range"}) != 1,
            "`values` are of a run; give a `grid` of the data set's setting": {"values", "data"} <= keys,
            "`points` is for a `range`; remove it": "points" in keys and "range" not in keys,
            "write the `range` from the smaller to the larger": bool(self.range) and self.range[0] >= self.range[1],
        }
        for message, is_wrong in faults.items():
            if is_wrong:
                raise PydanticCustomError("form", message)
        return self


class Paper(Strict):
    """``workflow/config/<paper>.yaml``, with changes over it."""

    title: str
    citation: str
    references: list[Reference] = []
    summary: str = ""  # what the paper found; {claim.value} and the like are filled in
    findings: list[str] = []  # the main findings, in a sentence each; filled in likewise
    notation: str = ""  # the model and its symbols
    lead_figure: Name = ""  # the first figure by default
    lead_panels: list[Annotated[int, Field(ge=1)]] = []  # those of it that are shown first, counted from 1; else all
    lead_caption: str = ""  # what they show; the figure's title by default
    scales: dict[Name, str] = {}  # what other scales train on, in words; cards show the verdicts published for them
    # how cards name another value of a claim's setting that turns its verdict, by `setting` or `claim.setting`: a text
    # with {} for the value, "{} counts as small", or a text for each value
    in_words: dict[str, str | dict[str, str]] = {}
    provenance: dict[str, Provenance] = {}  # of settings, by function of a run, source of data, or class of settings
    data: dict[Name, Data] = {}
    runs: dict[Name, Run]
    figures: dict[Name, Figure]
    interactive: dict[Name, Interactive] = {}
    claims: dict[Name, Claim]
    robustness: dict[Annotated[Name, AfterValidator(_refuse_seed_or_draw)], Entry] = {}


# -- which keys of a block are settings

# what in the block of a stage's job is no setting
KEYS = {
    "data": Data.model_fields.keys(),
    "run": Run.model_fields.keys(),
    "figure": Figure.model_fields.keys(),
    "motion": Figure.model_fields.keys(),
    "interactive": Interactive.model_fields.keys(),
    "claims": Claim.model_fields.keys(),
}
NOT_SWEPT = KEYS["run"] - {"data", "function"}


def own_settings(stage: str, block: Mapping[str, Any]) -> Spec:
    """Return the settings that a block gives, without swept ones and those of measuring."""
    return {key: value for key, value in block.items() if key not in KEYS[stage]}


def all_settings(block: Mapping[str, Any]) -> Spec:
    """Return all settings of a run's or data set's block, `flat`: its own, swept ones, those of measuring."""
    settings = own_settings("data", own_settings("run", block))
    return {**flat(settings), **block.get("sweep", {}), **flat(block.get("measure", {}))}


def lay_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> Spec:
    """Return a run's block with another over it: settings, and those of measuring, like `overlay`."""
    block = {**below, **above, **overlay(own_settings("run", below), own_settings("run", above))}
    measure = overlay(below.get("measure", {}), above.get("measure", {}))
    return block | {"measure": measure} if measure else block


def place_settings(block: Mapping[str, Any], values: Mapping[str, Any]) -> Spec:
    """Return values of a run's settings where its block has them: those of measuring below ``measure``."""
    measured = select_keys(values, flat(block.get("measure", {})))
    simulated = overlay({}, {key: value for key, value in values.items() if key not in measured})
    return simulated | {"measure": overlay({}, measured)} if measured else simulated
