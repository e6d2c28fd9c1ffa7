"""Collect the content of the report from configuration, claims and figures: by paper, topic and claim."""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import VERDICTS, quantifier_of
from learning_dynamics.pipeline.plan.config import Config
from learning_dynamics.pipeline.plan.config_files import output_folders
from learning_dynamics.pipeline.plan.setting_sources import unstated_settings
from learning_dynamics.pipeline.plan.sources import place_of
from learning_dynamics.pipeline.report import maths, robustness
from learning_dynamics.pipeline.report.pictures import Box
from learning_dynamics.pipeline.report.references import bibtex, link_name
from learning_dynamics.pipeline.report.source_links import link_to_function, topic_about, topic_title
from learning_dynamics.pipeline.report.templates import fill
from learning_dynamics.pipeline.report.verdict_styles import VERDICT_STYLES
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.pictures import read_record
from learning_dynamics.pipeline.store.records import is_expected

Row = dict[str, Any]


@dataclass
class Film:
    """A figure in motion: its file, its caption, its alternative text."""

    webp: Path
    caption: str
    alt: str


@dataclass
class Interactive:
    """A figure whose reader moves it: its file, its caption."""

    json: Path
    caption: str


@dataclass
class Exhibit:
    """A figure: its texts with their fields filled, the paths of its files, the claims that it shows."""

    paper: str
    name: str
    title: str
    caption: str
    alt: str
    png: Path
    pdf: Path
    code: str
    command: str
    claims: list[Row] = field(default_factory=list)
    observations: list[Row] = field(default_factory=list)
    film: Film | None = None
    interactive: Interactive | None = None
    panels: list[Box] = field(default_factory=list)
    table: pd.DataFrame | None = None  # what it shows, if that is a table

    @property
    def svg(self) -> Path:
        """The figure as SVG, beside its PNG."""
        return self.png.with_suffix(".svg")

    @property
    def anchor(self) -> str:
        """The figure's permanent id on the page."""
        return f"{self.paper}-{self.name}"


@dataclass
class Lead:
    """The picture that a paper's page begins with: the part of a figure within `box`, or all of it without one."""

    figure: Exhibit
    box: Box | None
    caption: str


@dataclass
class Topic:
    """A topic of a paper: its figures, and those of its claims that none of them shows."""

    paper: str
    name: str
    title: str
    exhibits: list[Exhibit] = field(default_factory=list)
    unshown_claims: list[Row] = field(default_factory=list)
    about: str = ""

    @property
    def anchor(self) -> str:
        """The topic's permanent id on the page."""
        return f"{self.paper}--{self.name}"


@dataclass
class OtherScales:
    """What a paper's claims say at its other scales."""

    summary: str  # a clause on how many claims get another verdict at each scale
    how_to_read: str  # sentences on what the table below has
    trained_on: list[str]  # for each scale what it trains on, in words
    # claims with another verdict at some scale, each with its verdicts in words: here, then at each scale
    turned: list[tuple[Row, list[str]]]


@dataclass
class Paper:
    """The content of one paper."""

    name: str
    title: str
    citation: str
    summary: str
    notation: str
    topics: list[Topic]
    claims: list[Row]
    observations: list[Row]
    unstated: list[Row]
    lead: Lead | None
    references: list[Row]
    findings: list[str] = field(default_factory=list)
    other_scales: OtherScales | None = None
    earlier: str = ""  # a note that its results are from before a run of other papers; "" if they are not

    @property
    def bibtex(self) -> str:
        """What is to be cited, as BibTeX."""
        return bibtex(self.references)

    @property
    def counts(self) -> dict[str, int]:
        """How many of the paper's own claims there are of each verdict."""
        return count_verdicts(self.claims)

    @property
    def all_claims(self) -> list[Row]:
        """The paper's claims, then further observations."""
        return [*self.claims, *self.observations]

    @property
    def exhibits(self) -> list[Exhibit]:
        """The paper's figures."""
        return [figure for topic in self.topics for figure in topic.exhibits]

    @property
    def failed_claims(self) -> list[Row]:
        """The paper's own claims that do not hold as printed, or are not decided."""
        return self.of("corrected", "contradicted", "not reproduced", "undecided")

    def of(self, *verdicts: str) -> list[Row]:
        """The paper's own claims that got one of these verdicts."""
        return [claim for claim in self.claims if claim["verdict"] in verdicts]


def count_verdicts(claims: Sequence[Row]) -> dict[str, int]:
    """Return how many claims have each verdict, without verdicts that none has."""
    counts = {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in VERDICTS}
    return {verdict: count for verdict, count in counts.items() if count}


def rejects(claim: Row) -> bool:
    """Return whether a claim's verdict says that its rivals were rejected: it holds, as printed or corrected."""
    return claim["verdict"] in ("reproduced", "corrected")


def rejected(verdict: str) -> bool:
    """Return whether a rival with this verdict was rejected, and not merely left undecided."""
    return verdict in ("contradicted", "not reproduced")


def gather(
    config: Config,
    tables: Mapping[str, Mapping[str, pd.DataFrame]],
    figures: Path,
    overlays: Mapping[str, Any],
) -> list[Paper]:
    """Return the content of each paper.

    Parameters
    ----------
    config : Config
        The configuration.
    tables : mapping of paper to mapping of table to DataFrame
        As in ``claims.parquet``, ``checks.parquet`` and ``variations.parquet``.
    figures : path
        Holds ``<paper>/<figure>.png``.
    overlays : mapping
        The overlays and values that the configuration was read with, for the commands that are shown.
    """
    options = _options(overlays)
    return [_paper(config, paper, tables[paper], figures, options) for paper in config.papers]


def _paper(config: Config, paper: str, tables: Mapping[str, pd.DataFrame], figures: Path, options: str) -> Paper:
    """Return the content of one paper; `options` is as `_options` returns it."""
    block = config.paper_block(paper)
    scales = published_scales(config, paper)
    rows = [card(config, paper, row, tables, scales) for row in tables["claims"].to_dict("records")]

    # what fills the fields of summary and findings: `claim.fact`, `verdicts.corrected`
    facts = {f"{row['id']}.{key}": value for row in rows for key, value in row["facts"].items()}
    own = [row for row in rows if row["origin"] != "ours"]
    counts = count_verdicts(own)
    facts |= {f"verdicts.{verdict.replace(' ', '_')}": counts.get(verdict, 0) for verdict in VERDICTS}

    exhibits = {name: _exhibit(config, paper, name, figures, options) for name in config.figures(paper)}
    topics: dict[str, Topic] = {}
    for name, exhibit in exhibits.items():
        function_name = config.function_name("figure", paper, name)
        _topic(topics, paper, function_name).exhibits.append(exhibit)
    for row in rows:
        exhibit_of_row = exhibits.get(row["figure"] or "")
        row["shown"] = exhibit_of_row
        if exhibit_of_row is not None:
            if row["origin"] == "ours":
                exhibit_of_row.observations.append(row)
            else:
                exhibit_of_row.claims.append(row)
        elif row["origin"] != "ours":
            _topic(topics, paper, row["function"]).unshown_claims.append(row)

    lead = exhibits.get(block.get("lead_figure", next(iter(exhibits), "")))
    verdicts = {row["claim"]: row["verdict"] for row in rows}
    return Paper(
        name=paper,
        title=block["title"],
        citation=block["citation"],
        summary=fill(block.get("summary", ""), facts, config.where(paper, "summary")),
        notation=block.get("notation", ""),
        topics=list(topics.values()),
        claims=own,
        observations=[row for row in rows if row["origin"] == "ours"],
        unstated=_group_settings(unstated_settings(config, paper), tables["variations"], verdicts),
        lead=_lead(lead, block, config.where(paper, "lead_panels")) if lead else None,
        references=[reference | {"place": link_name(reference["url"])} for reference in block.get("references", [])],
        findings=[fill(finding, facts, config.where(paper, "findings")) for finding in block.get("findings", [])],
        other_scales=compare_scales(own, scales) if len(scales) else None,
    )


def published_scales(config: Config, paper: str) -> pd.DataFrame:
    """Return what is published of a paper's other scales, as `published.read_scales` does; at such a scale nothing."""
    scales = {} if config.configuration.scale else config.paper_block(paper).get("scales", {})
    return published.read_scales(scales)


def judged_on_other_runs(row: Row, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the verdicts of a claim at other scales, without those on the same runs.

    The same number from as many draws is one of the same runs; two that are both no more than rounding count as the
    same.
    """
    own = verdicts[verdicts["claim"] == row["claim"]]
    is_same = []
    for measured, draws in zip(own["measured"], own["draws"], strict=True):
        is_rounding = max(abs(row["measured"]), abs(measured)) < robustness.ROUNDING
        is_same.append(row["draws"] == draws and (is_rounding or published.is_same_number(row["measured"], measured)))
    return own[~np.array(is_same, dtype=bool)]


def describe_elsewhere(claim: Row, scales: pd.DataFrame) -> str:
    """Return a claim's verdicts at other scales in words; see `describe_verdict`.

    >>> here = {"claim": "p.nc1", "quantity": "NC1", "measured": 0.1, "draws": 9, "checks": [{"quantity": "NC1"}]}
    >>> there = {"claim": "p.nc1", "quantity": "NC1", "draws": 9, "criterion": "≤ 0.2 on every draw (small)"}
    >>> there |= {"scale": "mnist", "trained_on": "5,000 digits", "verdict": "undecided"}
    >>> describe_elsewhere(here, pd.DataFrame([there | {"measured": 0.25}, there | {"measured": 0.1}]))
    'On 5,000 digits: undecided (0.25, ≤ 0.2)'
    >>> describe_elsewhere(here, pd.DataFrame([there | {"measured": 0.25, "quantity": "NC2"}]))
    'On 5,000 digits: published by a check of another name'
    """
    texts = [
        f"on {one['trained_on']}: {describe_verdict(claim, one)}"
        for one in judged_on_other_runs(claim, scales).to_dict("records")
    ]
    text = "; ".join(texts)
    return text[:1].upper() + text[1:]


def is_same_criterion(claim: Row, other: Row) -> bool:
    """Return whether what decided a published verdict is measured by checks that the claim still has.

    Of a verdict of corrected two checks decide: that of the correction, and that of what is printed. A verdict of
    untested, here or there, has no criterion.
    """
    if not claim["checks"] or other["verdict"] == "untested":
        return True
    names = {maths.plain(check["quantity"]) for check in claim["checks"]}
    if other["quantity"] not in names:
        return False
    return other["verdict"] != "corrected" or other["quantity_as_printed"] in names


def claims_of_another_criterion(papers: Sequence[Paper], others: pd.DataFrame) -> set[str]:
    """Return which claims have a published verdict that checks of another name decided; see `is_same_criterion`.

    Parameters
    ----------
    papers : sequence of Paper
        With the checks of each claim.
    others : DataFrame
        Published claims of another scale, as `published.read_claims` returns them.
    """
    published_rows = {row["claim"]: row for row in others.to_dict("records")}
    return {
        claim["claim"]
        for paper in papers
        for claim in paper.all_claims
        if claim["claim"] in published_rows and not is_same_criterion(claim, published_rows[claim["claim"]])
    }


def describe_verdict(claim: Row, other: Row) -> str:
    """Return a verdict of a claim with its number and bound; with the quantity too, where another check decided it.

    >>> claim = {"quantity": "NC1 at the end", "checks": [{"quantity": "NC1 at the end"}, {"quantity": "fall of NC1"}]}
    >>> other = {"verdict": "undecided", "measured": 0.1, "criterion": ">= 0 (95 % interval)"}
    >>> describe_verdict(claim, other | {"quantity": "NC1 at the end"})
    'undecided (0.1, ≥ 0)'
    >>> describe_verdict(claim, other | {"quantity": "fall of NC1"})
    'undecided (fall of NC1: 0.1, ≥ 0)'
    >>> describe_verdict(claim, other | {"quantity": "NC1 at the end", "measured": float("nan")})
    'undecided'
    >>> describe_verdict(claim, other | {"quantity": "NC1 at another epoch"})
    'published by a check of another name'
    """
    if not is_same_criterion(claim, other):
        return "published by a check of another name"
    if pd.isna(other["measured"]):
        return str(other["verdict"])
    # as `judging.criteria` writes it: "<= 0.1 on every draw (why)"
    bound = maths.plain(other["criterion"].partition(" (")[0].removesuffix(" on every draw"))
    is_headline = other["quantity"] == maths.plain(claim["quantity"])
    quantity = "" if is_headline else f"{other['quantity']}: "
    return f"{other['verdict']} ({quantity}{other['measured']:.4g}, {bound})"


def compare_scales(claims: Sequence[Row], scales: pd.DataFrame) -> OtherScales:
    """Return how many claims get another verdict at each scale, of those judged on other runs there, and which.

    Verdicts whose deciding check has another name by now are not counted.
    """
    by_scale = [verdicts for _, verdicts in scales.groupby("scale", sort=False)]
    trained_on = [str(verdicts["trained_on"].iloc[0]) for verdicts in by_scale]
    n_judged, n_turned = [0] * len(by_scale), [0] * len(by_scale)  # claims at each scale
    turned = []
    for claim in claims:
        texts = [describe_verdict(claim, claim | {"quantity": maths.plain(claim["quantity"])})]
        has_turned = False
        for scale, verdicts in enumerate(by_scale):
            # what is published of the claim at this scale: a row, or none
            others = judged_on_other_runs(claim, verdicts).to_dict("records")
            comparable = [other for other in others if is_same_criterion(claim, other)]
            differs = any(other["verdict"] != claim["verdict"] for other in comparable)
            n_judged[scale] += bool(comparable)
            n_turned[scale] += differs
            has_turned |= differs
            texts.append("; ".join(describe_verdict(claim, other) for other in others))
        if has_turned:
            turned.append((claim, texts))
    counts = [f"{n_turned[scale]} of {n_judged[scale]} on {name}" for scale, name in enumerate(trained_on)]
    summary = f"Claims about trainings with another verdict at another scale: {', '.join(counts)}"
    how_to_read = (
        "In the table measured numbers are in brackets, with their bounds; where another check decided than here, its "
        "quantity is named. Verdicts whose deciding check has another name by now are not counted: its criterion may "
        "have changed, or its name alone. A cell is empty where the claim was not judged at that scale, or was judged "
        "on the same runs."
    )
    return OtherScales(summary, how_to_read, trained_on, turned)


def _lead(figure: Exhibit, block: Mapping[str, Any], where: str) -> Lead:
    """Return the picture that a paper opens with; all of a figure that was drawn before panels were recorded."""
    numbers = block.get("lead_panels", [])
    if figure.panels and max(numbers, default=0) > len(figure.panels):
        raise ProjectError(f"{where}: {figure.name} has {len(figure.panels)} panels")
    boxes = [figure.panels[number - 1] for number in numbers] if figure.panels else []
    return Lead(figure, enclosing_box(boxes), block.get("lead_caption", figure.title))


def enclosing_box(boxes: Sequence[Box]) -> Box | None:
    """Return the smallest box that holds some; None for none."""
    if not boxes:
        return None
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


def card(config: Config, paper: str, row: Row, tables: Mapping[str, pd.DataFrame], scales: pd.DataFrame) -> Row:
    """Return what a claim's card shows: its row, with its checks, and with what came of judging it again.

    Parameters
    ----------
    row : mapping
        A row of ``claims.parquet``.
    tables : mapping of table to DataFrame
        `checks` and `variations`, of this claim among others.
    scales : DataFrame
        As `published_scales` returns it.
    """
    name, facts = row["claim"].partition(".")[2], json.loads(row["facts"])
    function_name = config.function_name("claims", paper, name)
    variations = tables["variations"][tables["variations"]["claim"] == row["claim"]]
    checks = tables["checks"][tables["checks"]["claim"] == row["claim"]].to_dict("records")
    prediction = "corrected" if row["verdict"] == "corrected" else "printed"
    # the check that decides; for a corrected claim it is one on the correction
    decisive = next((check for check in checks if check["of"] == prediction and check["decides"]), None)
    comparable = robustness.comparable_numbers(variations, decisive)
    digits = robustness.stable_digits(row, comparable)
    scope, explanation = row["scope"], ""
    if config.configuration.scale:
        scope = f"at the default scale: {scope}"  # scopes name the sizes of the default configuration
    if facts:
        explanation = fill(config.explanation(paper, name), facts, place_of("claims", paper, function_name))
    return row | {
        "id": name,
        "function": function_name,
        "facts": facts,
        "scope": scope,
        "reason": drop_repeated_clause(VERDICT_STYLES[row["verdict"]].meaning, row["reason"]),
        "as_expected": is_expected(row["verdict"], row["expected"]),
        "rivals": json.loads(row["rivals"]),
        "explanation": explanation,
        "evidence": [path for path in row["evidence"].split(", ") if path],
        "checks": checks,
        "decisive": decisive and decisive | {"digits": digits},
        "digits": digits,
        "variations": variations.to_dict("records"),
        "robustness": robustness.describe(row["verdict"], comparable, config.phrases(paper)),
        "elsewhere": describe_elsewhere(row | {"checks": checks}, scales),
        "on_other_processors": describe_other_verdict(
            row["verdict"], row["expected"], config.reason_for_two_verdicts(paper, name)
        ),
        "marks": robustness.marks(row),
        "code": link_to_function(paper, "claims", function_name),
    }


def describe_other_verdict(verdict: str, expected: str, reason: str) -> str:
    """Return which verdict of the two that are expected a claim has on other processors, and why; "" of one verdict.

    >>> describe_other_verdict("undecided", "undecided or reproduced", "rounding decides")
    'On other processors the verdict can be reproduced: rounding decides'
    >>> describe_other_verdict("corrected", "undecided or reproduced", "rounding decides")
    ''
    """
    verdicts = expected.split(" or ")
    if len(verdicts) == 1 or verdict not in verdicts:
        return ""
    (other,) = set(verdicts) - {verdict}
    return f"On other processors the verdict can be {other}: {reason}"


def drop_repeated_clause(meaning: str, reason: str) -> str:
    """Return a reason without the clause at its end that its verdict's name says already.

    >>> drop_repeated_clause("an outcome does not show here", "too few draws; does not show here")
    'too few draws'
    """
    *earlier, last_clause = reason.split("; ")
    if last_clause and meaning.endswith(last_clause):
        return "; ".join(earlier)
    return reason


def describe_draws(check: Row) -> str:
    """Return how many draws agree with a check, how many do not, and which were left out.

    >>> counts = {"measured": 0.83, "draws_for": 60, "draws_against": 0, "draws_undecided": 0, "excluded": ""}
    >>> describe_draws(counts | {"interval": "the draw nearest its bound, of 60"})
    'all 60 draws agree'
    >>> describe_draws(counts | {"draws_for": 50, "draws_against": 10, "interval": "share (Wilson)"})
    '50 draws agree, 10 do not'
    >>> describe_draws(counts | {"interval": "share (Wilson)"})
    '60 draws, judged together'
    >>> describe_draws(counts | {"interval": "mean (t)", "excluded": "2 left out: rank above 2"})
    '60 draws, judged together; 2 left out: rank above 2'
    """
    n_for, n_against, n_undecided = (check[f"draws_{kind}"] for kind in ("for", "against", "undecided"))
    n_draws = n_for + n_against + n_undecided
    interval = str(check["interval"])
    is_average = quantifier_of(interval) == "an average" or interval.startswith("difference")
    # a share of draws that are judged one by one is 0 or 1 if all of them have one answer
    is_share_of_all = interval.startswith("share") and max(n_for, n_against, n_undecided) == n_draws
    if n_draws <= 1:
        text = "one number" if n_draws else "no draws"
    elif is_average or (is_share_of_all and 0 < check["measured"] < 1):
        text = f"{n_draws} draws, judged together"
    elif n_for == n_draws:
        text = f"all {n_draws} draws agree"
    else:
        text = f"{n_for} draws agree"
        if n_against:
            text += f", {n_against} {'does' if n_against == 1 else 'do'} not"
        if n_undecided:
            text += f", {n_undecided} cannot be judged"
    return f"{text}; {check['excluded']}" if check["excluded"] else text


def describe_margin(margin: Any) -> str:
    """Return how far inside its bound a measurement is, in words."""
    if margin is None or pd.isna(margin):
        return ""
    if margin < 1:
        return f"outside its bound by a factor {1 / margin:.2g}"
    if margin < 1e4:
        # with two digits a factor of 1.04 would be 1
        digits = f"{margin:.3g}" if margin < 1.1 else f"{margin:.2g}"
        return f"inside its bound by a factor {float(digits):g}"
    return "inside its bound by more than a factor 10000"


def _exhibit(config: Config, paper: str, name: str, figures: Path, options: str) -> Exhibit:
    """Return one figure, without the claims that it shows, with its film and interactive figure if it has them."""
    png = figures / paper / f"{name}.png"
    text, alt = _caption_and_alt(config, "figure", paper, name, png)
    heading, _, caption = text.partition("\n\n")
    title = " ".join(heading.split()).rstrip(".")
    _, figures_of_snakemake = output_folders(config.configuration)  # `figures` may be a copy elsewhere
    record = read_record(png)
    exhibit = Exhibit(
        paper=paper,
        name=name,
        title=title,
        caption=caption,
        alt=alt or title,
        png=png,
        pdf=png.with_suffix(".pdf"),
        code=link_to_function(paper, "figure", config.function_name("figure", paper, name)),
        command=f"snakemake --cores all {figures_of_snakemake / paper / name}.pdf{options}",
        panels=[tuple(box) for box in record.get("panels", [])],
        table=pd.DataFrame(**record["table"]) if "table" in record else None,
    )
    if name in config.motions(paper):
        webp = png.with_suffix(".webp")
        exhibit.film = Film(webp, *_caption_and_alt(config, "motion", paper, name, webp))
    for interactive, block in config.blocks(paper, "interactive").items():
        if block["figure"] == name:
            file = figures / paper / f"{interactive}.json"
            caption_of_interactive, _ = _caption_and_alt(config, "interactive", paper, interactive, file)
            exhibit.interactive = Interactive(file, caption_of_interactive)
    return exhibit


def _caption_and_alt(config: Config, stage: str, paper: str, name: str, file: Path) -> tuple[str, str]:
    """Return caption and alternative text of what is drawn, filled with the facts in its file."""
    record, place = read_record(file), place_of(stage, paper, config.function_name(stage, paper, name))
    facts = record["facts"]
    return fill(config.caption(paper, name, stage), facts, place), fill(record.get("alt", ""), facts, place)


def _topic(topics: dict[str, Topic], paper: str, function_name: str) -> Topic:
    name = function_name.partition(".")[0]
    if name not in topics:
        topics[name] = Topic(paper, name, topic_title(paper, name), about=topic_about(paper, name))
    return topics[name]


def _options(overlays: Mapping[str, Any]) -> str:
    """Return what a command needs so that Snakemake reads the same configuration."""
    if overlays.get("files"):
        return " --configfile " + shlex.join(map(str, overlays["files"]))
    values = {key: value for key, value in overlays.get("given", {}).items() if isinstance(value, int | str)}
    if not values:
        return ""
    return " --config " + shlex.join(f"{key}={value}" for key, value in values.items())


def _group_settings(rows: list[Row], variations: pd.DataFrame, verdicts: Mapping[str, str]) -> list[Row]:
    """Return settings sorted by name, one row for runs or data sets that agree, with what came of varying each."""
    groups: dict[tuple[str, ...], Row] = {}
    for row in rows:
        is_of_setting = variations["what"] == f"{row['name']}.{row['setting']}"
        judged_again = variations[(variations["change"] == "setting") & is_of_setting]
        n_same = int((judged_again["verdict"] == judged_again["claim"].map(verdicts)).sum())
        varied = f"varied: {n_same} of {len(judged_again)} verdicts stay" if len(judged_again) else ""
        key = (row["setting"], str(row["value"]), row["origin"], row["reason"], varied)
        if key in groups:
            groups[key]["name"] += f", {row['name']}"
        else:
            groups[key] = row | {"varied": varied}
    return sorted(groups.values(), key=lambda row: row["setting"])
