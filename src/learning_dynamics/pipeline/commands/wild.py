"""Judge a paper's theorems and formulas on a wild draw: whatever the configuration says that they leave free."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import Evaluation, Judgement
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.in_process import Workbench
from learning_dynamics.pipeline.commands.replication import draw_matrix
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.markdown import prose
from learning_dynamics.pipeline.report.verdict_styles import legend, sign_table
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.records import CLAIM, PAPER, VERDICT
from learning_dynamics.pipeline.store.tables import write_table
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
MIN_DECIDED = 0.9  # share of the draws on which a statement should be decided, and of what one of them holds

SAME_VERDICT = "would get the same verdict on this draw"


def execute(paper: str, /, draw: int, config: Mapping[str, Any], out: Path, made: str = "") -> None:
    """Simulate, measure and judge one draw in this process; a claim whose run fails on it is untested, with the reason.

    Raises
    ------
    ProjectError
        If the paper's configuration has no ``wild:`` block.
    """
    project = Project(
        load([Path(file) for file in config["files"]], {**config["given"], "papers": [paper]}), check=False
    )
    study = project.study
    if not regions.is_wild(study, paper):
        raise ProjectError(f"{paper}: its configuration has no `wild:` block; add one to a data set or run")
    if draw < 1:
        raise ProjectError(f"--draw: from 1 on (is {draw})")
    layer = regions.wild_layer(study, paper, draw)
    made = made or regions.region_fingerprint(project, paper, layer)
    name = f"wild draw {draw}"
    workbench = Workbench(Project(regions.with_layer(study.configuration, paper, layer, name, study.seed + draw)))
    rows = []
    for claim in regions.wild_claims(study, paper):
        spec = project.claim(paper, claim)
        about = getattr(paper_function(paper, "claims", spec["kind"]), "claim", None)
        if about is None or about.empirical:
            continue  # an experiment's outcome is judged over ranges, by `turning`
        measured = margin = float("nan")
        try:
            evaluation = workbench.judge(paper, claim)
            verdict, reason = verdict_on_draw(evaluation, study.paper_block(paper)["claims"][claim].get("expected", ""))
            if evaluation.standing:
                measured, margin = evaluation.standing.headline.value, evaluation.standing.headline.margin
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


def verdict_on_draw(evaluation: Evaluation, expected: str) -> tuple[str, str]:
    """Return what a draw says of a statement, and why.

    A statement that is corrected elsewhere may hold as printed on a draw (of one layer, of one sample): its
    correction counts, if it holds there too. Where the correction cannot be judged nothing is contradicted. A rival
    that says the same on a draw leaves the statement open where it was settled, but not on that draw; nor do a few
    data sets or starts of the draw that cannot be judged, where all others agree.
    """
    printed, corrected = evaluation.judgement, evaluation.corrected
    if printed is None:
        return evaluation.verdict, evaluation.reason
    if expected == "corrected" and corrected is not None:
        if evaluation.verdict in ("reproduced", "undecided") and corrected.state == "holds":
            return "corrected", "the correction holds; as printed it is not refused on this draw"
        if evaluation.verdict == "contradicted" and corrected.state == "undecided":
            few_undecided = _explain_few_undecided(corrected)
            if few_undecided:
                return "corrected", few_undecided
            undecided = next(c for c in (corrected.headline, *corrected.parts) if c.state == "undecided")
            return "undecided", f"fails as printed; of the correction {undecided.name}: {undecided.open_because}"
    if evaluation.verdict == "undecided" and printed.state == "holds":
        rivals = " and ".join(rival for rival, verdict in evaluation.rivals.items() if verdict == "reproduced")
        if rivals:
            return "reproduced", f"{rivals} {SAME_VERDICT}"
    if evaluation.verdict == "undecided" and _explain_few_undecided(printed):
        return "reproduced", _explain_few_undecided(printed)
    reason = evaluation.reason
    if evaluation.verdict == "contradicted":
        worst = next(c for c in (printed.headline, *printed.parts) if c.state == "fails")
        reason = "; ".join(filter(None, [reason, str(worst)]))
    return evaluation.verdict, reason


def _explain_few_undecided(judgement: Judgement) -> str:
    """Return what is open where nothing but one in ten of the draws that all parts are judged on is; else ""."""
    checks = (judgement.headline, *judgement.parts)
    undecided = [check for check in checks if check.state != "holds"]
    is_few = (
        sum(check.draws_undecided for check in checks)
        <= (1 - MIN_DECIDED) * sum(check.draws for check in checks) + 1e-9
    )
    # and each part for no other reason: of an average all draws are open
    is_only_reason = all(
        check.state == "undecided" and not check.draws_against and 0 < 2 * check.draws_undecided <= check.draws
        for check in undecided
    )
    return "; ".join(f"{check.name}: {check.open_because}" for check in undecided) if is_few and is_only_reason else ""


def check_joined(files: Sequence[Path], rows: pd.DataFrame) -> None:
    """Refuse to join no draws, or one twice."""
    if not files:
        raise ProjectError(
            "wild: no paper of `replicated` in config.yaml has a `wild:` block; add one to its runs or data"
        )
    if rows.duplicated(["claim", "draw"]).any():
        raise ProjectError("regions wild: a draw is given twice; name each file once")


def to_csv(rows: pd.DataFrame) -> str:
    """Return the verdict on each draw, as CSV."""
    return rows[["claim", "draw", "verdict", "reason"]].to_csv(index=False, lineterminator="\n")


def draw(rows: pd.DataFrame) -> Figure:
    """Draw a matrix of claims against draws."""
    return draw_matrix(rows, "draw")


def describe(all_rows: pd.DataFrame) -> str:
    """Return which statements fail on a draw, which are seldom decided, and every verdict, as Markdown."""
    by_draw = all_rows.set_index(["claim", "draw"])["verdict"].unstack()  # noqa: PD010 - text, nothing to aggregate
    by_draw = by_draw.loc[list(dict.fromkeys(all_rows["claim"]))]
    published_verdicts = _published_verdicts()
    contradicted = [
        row
        for row in all_rows.to_dict("records")
        if row["verdict"] == "contradicted" != published_verdicts.get(row["claim"])
    ]
    decided = (~by_draw.isin(["undecided", "untested"])).mean(axis=1)
    seldom = decided[decided < MIN_DECIDED]
    lines = [
        "# On wild draws",
        "",
        f"{len(by_draw)} theorems, lemmas, propositions, corollaries and formulas on {by_draw.shape[1]} draws of what "
        "their hypotheses leave free (`wild:` in the configuration: sizes, conditioning, scales). "
        f"{len({row['claim'] for row in contradicted})} are contradicted on a draw; {len(seldom)} are decided on fewer "
        f"than {MIN_DECIDED:.0%} of the draws.",
        "",
    ]
    lines += [f"- `{row['claim']}`, draw {row['draw']}: contradicted: {prose(row['reason'])}" for row in contradicted]
    for claim, share in seldom.items():
        rows = all_rows[(all_rows["claim"] == claim) & all_rows["verdict"].isin(["undecided", "untested"])]
        lines.append(f"- `{claim}`: decided on {share:.0%}; for example: {prose(rows['reason'].mode().iloc[0])}")
    lines += ["", f"{legend(all_rows['verdict'])}.", ""]
    lines += sign_table(by_draw)
    undecided = all_rows[all_rows["verdict"].isin(["undecided", "untested"])]
    lines += ["", "What left a statement open:", ""] if len(undecided) else []
    lines += [
        f"- `{row.claim}`, draw {row.draw}: {row.verdict}: {prose(row.reason)}"
        for row in undecided.itertuples(index=False)
    ]
    holds = all_rows["verdict"].isin(["reproduced", "corrected"])
    hardly_decided = all_rows[holds & all_rows["reason"].str.contains(f"{SAME_VERDICT}|cannot be judged", regex=True)]
    if len(hardly_decided):
        lines += ["", "What holds on a draw that does not tell it from a rival, or of which little is open:", ""]
    lines += [
        f"- `{row.claim}`, draw {row.draw}: {prose(row.reason)}" for row in hardly_decided.itertuples(index=False)
    ]
    lines += ["", "What each draw changed:", ""]
    for (paper, draw), rows in all_rows.groupby(["paper", "draw"], sort=False):
        layer = json.loads(rows["settings"].iloc[0])
        changes = [
            f"{name}: " + ", ".join(f"{key} {value}" for key, value in block.items())
            for section in layer.values()
            for name, block in section.items()
        ]
        lines.append(f"- {paper}, draw {draw}: {'; '.join(changes)}")
    return "\n".join(lines) + "\n"


def _published_verdicts() -> dict[str, str]:
    claims = published.read_claims()
    return {} if claims is None else dict(zip(claims["claim"], claims["verdict"], strict=True))
