"""Seek where verdicts turn: a setting on a grid, then halved between decided verdicts that differ."""

import itertools
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import VERDICTS
from learning_dynamics.pipeline.commands.in_process import Workbench
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.turning import describe_turning, format_value
from learning_dynamics.pipeline.report.verdict_styles import VERDICT_STYLES, draw_legend
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.records import CLAIM, PAPER, VERDICT
from learning_dynamics.pipeline.store.tables import write_table
from learning_dynamics.pipeline.study import regions
from learning_dynamics.pipeline.study.config import load
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.plotting import WIDTH
from learning_dynamics.tidy import Column

COLUMNS = (
    PAPER,
    CLAIM,
    Column("run", "str", "the run (or data set) whose setting was varied"),
    Column("setting", "str", "the setting that was varied"),
    Column("from", "str", "the first value tried at which the verdict is this"),
    Column("to", "str", "the last value tried, in a row, at which it is"),
    VERDICT,
    Column("share", "float", "least share of draws for the claim among these values", nullable=True),
    Column("reason", "str", "why, at the first of them"),
    Column("own", "bool", "whether the configured value lies among them"),
)
NOT_DECIDED = ("undecided", "untested")


def execute(paper: str, name: str, /, config: Mapping[str, Any], out: Path, made: str = "") -> None:
    """Judge the claims of a turning check over its range; what was judged is kept, and taken up after an interruption.

    What it will take is said first, on standard output.
    """
    project = Project(
        load([Path(file) for file in config["files"]], {**config["given"], "papers": [paper]}), check=False
    )
    checks = project.study.checks(paper, "turning")
    if name not in checks:
        raise ProjectError(f"{paper}: no turning check `{name}`; there are: {', '.join(checks) or 'none'}")
    check = checks[name]
    made = made or regions.region_fingerprint(project, paper, name)
    judged_file = out.parent.parent / "resume" / f"turning-{paper}-{name}-{made}.jsonl"
    judged_file.parent.mkdir(parents=True, exist_ok=True)
    judged_values = _read_judged(judged_file)
    grid = regions.turning_grid(check)
    print(
        f"{len(grid)} values of {check['setting']}, then at most {regions.MAX_BISECTIONS} between any two that differ",
        flush=True,
    )

    def judged(value: Any) -> dict[str, Any]:
        key = json.dumps(value)
        if key not in judged_values:
            judged_values[key] = _judge(project, paper, check, value)
            with open(judged_file, "a", encoding="utf-8") as file:
                file.write(json.dumps([key, judged_values[key]]) + "\n")
            print(
                f"{check['setting']} = {value}: {', '.join(f'{c} {f[0]}' for c, f in judged_values[key].items())}",
                flush=True,
            )
        return judged_values[key]

    for value in grid:
        judged(value)
    if "range" in check:
        for claim in check["claims"]:
            for low, high in itertools.pairwise(grid):
                _bisect(judged, claim, low, high)
    values = [json.loads(key) for key in judged_values]
    values = sorted(values) if "range" in check else grid
    section = "data" if "data" in check else "runs"
    configured = project.study.every_setting(paper, section, check.get("data") or check["run"]).get(check["setting"])
    rows = [row for claim in check["claims"] for row in _rows(paper, claim, check, values, judged_values, configured)]
    table = pd.DataFrame(rows, columns=[column.name for column in COLUMNS])
    write_table(out, table, COLUMNS, provenance("turning", paper, name, dict(check), made))
    judged_file.unlink(missing_ok=True)


def _read_judged(judged_file: Path) -> dict[str, Any]:
    """Return what an earlier attempt has judged; a line that was cut off is judged again."""
    judged_values = {}
    for line in judged_file.read_text(encoding="utf-8", errors="replace").splitlines() if judged_file.is_file() else []:
        with suppress(ValueError, TypeError):
            key, results = json.loads(line)
            if isinstance(key, str) and isinstance(results, dict):
                judged_values[key] = results
    return judged_values


def _judge(project: Project, paper: str, check: Mapping[str, Any], value: Any) -> dict[str, list[Any]]:
    """Return verdict, share of draws for it, and reason, of each claim with the setting at a value."""
    results: dict[str, list[Any]] = {}
    workbench = None
    for claim in check["claims"]:
        try:
            workbench = workbench or Workbench(
                Project(regions.turning_configuration(project.study, paper, check, value))
            )
            evaluation = workbench.judge(paper, claim)
        except ProjectError as error:
            results[claim] = ["untested", None, maths.plain(str(error))]
            continue
        headline = evaluation.standing.headline if evaluation.standing else None
        share = headline.draws_for / headline.draws if headline and headline.draws else None
        results[claim] = [evaluation.verdict, share, evaluation.reason]
    return results


def _bisect(judge_at: Any, claim: str, low: Any, high: Any) -> None:
    """Halve the way between two values at which a claim's decided verdicts differ."""
    for _ in range(regions.MAX_BISECTIONS):
        low_verdict, high_verdict = judge_at(low)[claim][0], judge_at(high)[claim][0]
        middle = regions.midpoint(low, high)
        if low_verdict == high_verdict or low_verdict in NOT_DECIDED or high_verdict in NOT_DECIDED or middle is None:
            return
        verdict = judge_at(middle)[claim][0]
        if verdict == low_verdict:
            low = middle
        else:
            high = middle


def _rows(
    paper: str,
    claim: str,
    check: Mapping[str, Any],
    values: Sequence[Any],
    judged_values: Mapping[str, Any],
    configured: Any,
) -> list[dict[str, Any]]:
    results = [judged_values[json.dumps(value)][claim] for value in values]
    rows = []
    for first, last in regions.verdict_stretches(values, [verdict for verdict, *_ in results]):
        shares = [share for _, share, _ in results[first : last + 1] if share is not None]
        inside = configured in values[first : last + 1]
        if "range" in check and isinstance(configured, int | float):
            inside = values[first] <= configured <= values[last]
        rows.append(
            {
                "paper": paper,
                "claim": f"{paper}.{claim}",
                "run": check.get("data") or check["run"],
                "setting": check["setting"],
                "from": _format_value(values[first]),
                "to": _format_value(values[last]),
                "verdict": results[first][0],
                "share": min(shares, default=float("nan")),
                "reason": results[first][2],
                "own": bool(inside),
            }
        )
    return rows


def _format_value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def check_joined(_files: Sequence[Path], _rows: pd.DataFrame) -> None:
    """Join anything: a paper may have no turning check."""


def to_csv(rows: pd.DataFrame) -> str:
    """Return the stretches of each verdict, as CSV."""
    return rows[["claim", "run", "setting", "from", "to", "verdict"]].to_csv(index=False, lineterminator="\n")


def describe(all_rows: pd.DataFrame) -> str:
    """Return a line for each claim and setting, as Markdown."""
    lines = ["# Where verdicts turn", "", "Settings that the papers do not state, varied until a verdict turns.", ""]
    for (claim, _, _), rows in all_rows.groupby(["claim", "run", "setting"], sort=False):
        lines.append(f"- `{claim}`: {describe_turning(rows.to_dict('records'))}")
    return "\n".join(lines) + "\n"


def draw(all_rows: pd.DataFrame) -> Figure:
    """Draw a bar for each claim and setting: the values tried, from the first to the last, coloured by verdict."""
    groups = list(all_rows.groupby(["claim", "run", "setting"], sort=False))
    figure, axis = plt.subplots(figsize=(WIDTH, 0.9 + 0.28 * max(len(groups), 1)))
    for index, (_, rows) in enumerate(groups):
        for part, row in enumerate(rows.to_dict("records")):
            width = 1 / len(rows)
            axis.barh(index, width, left=part * width, height=0.86, color=VERDICT_STYLES[row["verdict"]].fill, lw=0)
            first, last = (format_value(row[end]) for end in ("from", "to"))
            ends = first if first == last else f"{first} … {last}"
            weight = "bold" if row["own"] else "normal"
            axis.text((part + 0.5) * width, index, ends, ha="center", va="center", fontsize=6, fontweight=weight)
    names = [f"{claim}: {setting}" for (claim, _, setting), _ in groups]
    axis.set_yticks(range(len(groups)), names, fontsize=6)
    axis.set(xlim=(0, 1), ylim=(len(groups) - 0.5, -0.5), xticks=[], xlabel="values tried; bold: the configured one")
    axis.tick_params(length=0)
    for spine in axis.spines.values():
        spine.set_visible(False)
    draw_legend(figure, all_rows["verdict"], len(VERDICTS))
    return figure
