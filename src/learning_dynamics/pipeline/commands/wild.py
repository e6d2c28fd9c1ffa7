"""Judge a paper's theorems and formulas on a wild draw: whatever the configuration says that they leave free."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import replacing
from learning_dynamics.judging import Evaluation, Judgement
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.in_process import Workbench
from learning_dynamics.pipeline.commands.replication import matrix, save
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.looks import LOOKS, key
from learning_dynamics.pipeline.report.markdown import prose
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.records import CLAIM, PAPER, VERDICT
from learning_dynamics.pipeline.store.seals import sealing
from learning_dynamics.pipeline.store.tables import read_provenance, read_table, write_table
from learning_dynamics.pipeline.study import regions
from learning_dynamics.pipeline.study.config import load
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.tidy import Column

COLUMNS = (
    PAPER,
    CLAIM,
    Column("draw", "int", "the wild draw"),
    Column("measured", "float", "the headline quantity on this draw", nullable=True),
    Column("margin", "float", "factor by which it stays inside its bound", nullable=True),
    VERDICT,
    Column("reason", "str", "why it is not what the statement's own verdict is"),
    Column("settings", "str", "what the draw changed, as JSON"),
)
DECIDED = 0.9  # share of the draws on which a statement should be decided, and of what one of them holds

SAME = "would get the same verdict on this draw"


def execute(paper: str, draw: int, config: Mapping[str, Any], out: Path, made: str = "") -> None:
    """Simulate, measure and judge one draw in this process; a claim whose run fails on it is untested, with the reason.

    Raises
    ------
    ProjectError
        If the paper's configuration has no ``wild:`` block.
    """
    project = Project(load([Path(file) for file in config["files"]], {**config["given"], "papers": [paper]}))
    study = project.study
    if not regions.is_wild(study, paper):
        raise ProjectError(f"{paper}: its configuration has no `wild:` block; add one to a data set or run")
    if draw < 1:
        raise ProjectError(f"--draw: from 1 on (is {draw})")
    layer = regions.wild_layer(study, paper, draw)
    made = made or regions.region_fingerprint(project, paper, layer)
    name = f"wild draw {draw}"
    drawn = Workbench(Project(regions.changed(study.configuration, paper, layer, name, study.seed + draw)))
    rows = []
    for claim in regions.wild_claims(study, paper):
        spec = project.claim(paper, claim)
        about = getattr(paper_function(paper, "claims", spec["kind"]), "claim", None)
        if about is None or about.empirical:
            continue  # an experiment's outcome is judged over ranges, by `turning`
        measured = margin = float("nan")
        try:
            found = drawn.judge(paper, claim)
            verdict, reason = on_a_draw(found, study.about(paper)["claims"][claim].get("expected", ""))
            if found.standing:
                measured, margin = found.standing.headline.value, found.standing.headline.margin
        except ProjectError as error:
            verdict, reason = "untested", maths.plain(str(error))
        rows.append(
            {
                "paper": paper,
                "claim": f"{paper}.{claim}",
                "draw": draw,
                "measured": measured,
                "margin": margin,
                "verdict": verdict,
                "reason": reason,
                "settings": json.dumps(layer),
            }
        )
    table = pd.DataFrame(rows, columns=[column.name for column in COLUMNS])
    numbers = ["measured", "margin"]
    table[numbers] = table[numbers].where(table[numbers].abs() < float("inf"))
    write_table(out, table, COLUMNS, provenance("wild", paper, out.stem, {"draw": draw, **layer}, made))


def on_a_draw(found: Evaluation, expected: str) -> tuple[str, str]:
    """Return what a draw says of a statement, and why.

    A statement that is corrected elsewhere may hold as printed on a draw (of one layer, of one sample): its
    correction counts, if it holds there too. Where the correction cannot be judged nothing is contradicted. A rival
    that says the same on a draw leaves the statement open where it was settled, but not on that draw; nor do a few
    data sets or starts of the draw that cannot be judged, where all others agree.
    """
    printed, corrected = found.judgement, found.corrected
    if printed is None:
        return found.verdict, found.reason
    if expected == "corrected" and corrected is not None:
        if found.verdict in ("reproduced", "undecided") and corrected.state == "holds":
            return "corrected", "the correction holds; as printed it is not refused on this draw"
        if found.verdict == "contradicted" and corrected.state == "undecided":
            few = _few_are_open(corrected)
            if few:
                return "corrected", few
            open_ = next(c for c in (corrected.headline, *corrected.parts) if c.state == "undecided")
            return "undecided", f"fails as printed; of the correction {open_.name}: {open_.open_because}"
    if found.verdict == "undecided" and printed.state == "holds":
        same = " and ".join(rival for rival, verdict in found.rivals.items() if verdict == "reproduced")
        if same:
            return "reproduced", f"{same} {SAME}"
    if found.verdict == "undecided" and _few_are_open(printed):
        return "reproduced", _few_are_open(printed)
    why = found.reason
    if found.verdict == "contradicted":
        worst = next(c for c in (printed.headline, *printed.parts) if c.state == "fails")
        why = "; ".join(filter(None, [why, str(worst)]))
    return found.verdict, why


def _few_are_open(judgement: Judgement) -> str:
    """Return what is open where nothing but one in ten of the draws that all parts are judged on is; else ""."""
    checks = (judgement.headline, *judgement.parts)
    open_ = [check for check in checks if check.state != "holds"]
    few = sum(check.draws_undecided for check in checks) <= (1 - DECIDED) * sum(check.draws for check in checks) + 1e-9
    # and each part for no other reason: of an average all draws are open
    alone = all(
        check.state == "undecided" and not check.draws_against and 0 < 2 * check.draws_undecided <= check.draws
        for check in open_
    )
    return "; ".join(f"{check.name}: {check.open_because}" for check in open_) if few and alone else ""


def collect(files: Sequence[Path], out: Path, csv: Path, markdown: Path, pdf: Path, png: Path) -> None:
    """Join the draws of all papers: a table, as CSV too, a page of Markdown, a matrix of claims against draws."""
    if not files:
        raise ProjectError(
            "wild: no paper of `replicated` in config.yaml has a `wild:` block; add one to its runs or data"
        )
    found = pd.concat([read_table(file, declared=COLUMNS) for file in files], ignore_index=True)
    if found.duplicated(["claim", "draw"]).any():
        raise ProjectError("regions wild: a draw is given twice; name each file once")
    write_table(out, found, COLUMNS, provenance("wild", "all", out.stem, {"made": carried(files)}))
    with replacing(csv) as partial:
        partial.write_text(as_csv(found), encoding="utf-8")
    with sealing(markdown) as partial:
        partial.write_text(describe(found), encoding="utf-8")
    save(lambda: matrix(found, "draw"), pdf, png)


def carried(files: Sequence[Path]) -> dict[str, str]:
    """Return the fingerprint that each draw or check carries, by paper and name."""
    return {f"{file.parent.parent.name}/{file.stem}": read_provenance(file).get("fingerprint", "") for file in files}


def as_csv(found: pd.DataFrame) -> str:
    """Return the verdict on each draw, as CSV."""
    return found[["claim", "draw", "verdict", "reason"]].to_csv(index=False, lineterminator="\n")


def describe(found: pd.DataFrame) -> str:
    """Return which statements fail on a draw, which are seldom decided, and every verdict, as Markdown."""
    wide = found.set_index(["claim", "draw"])["verdict"].unstack()  # noqa: PD010 - text, nothing to aggregate
    wide = wide.loc[list(dict.fromkeys(found["claim"]))]
    usual = _usual()
    against = [row for row in found.to_dict("records") if row["verdict"] == "contradicted" != usual.get(row["claim"])]
    decided = (~wide.isin(["undecided", "untested"])).mean(axis=1)
    seldom = decided[decided < DECIDED]
    lines = [
        "# On wild draws",
        "",
        f"{len(wide)} theorems, lemmas, propositions, corollaries and formulas on {wide.shape[1]} draws of what their "
        "hypotheses leave free (`wild:` in the configuration: sizes, conditioning, scales). "
        f"{len({row['claim'] for row in against})} are contradicted on a draw; {len(seldom)} are decided on fewer than "
        f"{DECIDED:.0%} of the draws.",
        "",
    ]
    lines += [f"- `{row['claim']}`, draw {row['draw']}: contradicted: {prose(row['reason'])}" for row in against]
    for claim, part in seldom.items():
        rows = found[(found["claim"] == claim) & found["verdict"].isin(["undecided", "untested"])]
        lines.append(f"- `{claim}`: decided on {part:.0%}; for example: {prose(rows['reason'].mode().iloc[0])}")
    lines += ["", f"{key(found['verdict'])}.", ""]
    lines += ["| claim | " + " | ".join(f"{draw}" for draw in wide) + " |", "|---|" + "---|" * wide.shape[1]]
    for claim, row in zip(wide.index, wide.to_numpy(), strict=True):
        lines.append(f"| `{claim}` | " + " | ".join(LOOKS[verdict].sign for verdict in row) + " |")
    open_ = found[found["verdict"].isin(["undecided", "untested"])]
    lines += ["", "What left a statement open:", ""] if len(open_) else []
    lines += [
        f"- `{row.claim}`, draw {row.draw}: {row.verdict}: {prose(row.reason)}" for row in open_.itertuples(index=False)
    ]
    holds = found["verdict"].isin(["reproduced", "corrected"])
    alike = found[holds & found["reason"].str.contains(f"{SAME}|cannot be judged", regex=True)]
    if len(alike):
        lines += ["", "What holds on a draw that does not tell it from a rival, or of which little is open:", ""]
    lines += [f"- `{row.claim}`, draw {row.draw}: {prose(row.reason)}" for row in alike.itertuples(index=False)]
    lines += ["", "What each draw changed:", ""]
    for (paper, draw), rows in found.groupby(["paper", "draw"], sort=False):
        layer = json.loads(rows["settings"].iloc[0])
        changes = [
            f"{name}: " + ", ".join(f"{key} {value}" for key, value in block.items())
            for section in layer.values()
            for name, block in section.items()
        ]
        lines.append(f"- {paper}, draw {draw}: {'; '.join(changes)}")
    return "\n".join(lines) + "\n"


def _usual() -> dict[str, str]:
    known = published.read()
    return {} if known is None else dict(zip(known["claim"], known["verdict"], strict=True))
