"""Print the table of claims; say which verdicts are not the expected ones, and what differs from the published ones."""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

import pandas as pd
from tabulate import tabulate

from learning_dynamics.files import atomic_write
from learning_dynamics.judging import VERDICTS
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import fault, outdated_verdicts
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.markdown import measurement, number
from learning_dynamics.pipeline.report.robustness import marks, meanings
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.records import COLUMNS, is_expected, printed_check
from learning_dynamics.pipeline.store.tables import read_stamp, read_table

MAX_WIDTH = 160  # characters: a table is no wider on any terminal
MIN_QUANTITY_WIDTH = 20  # characters that the quantity always has
# folders of the default scale, the one that is published
DEFAULT_RESULTS, DEFAULT_FIGURES = Path("results"), Path("figures")


def execute(claims: Path = DEFAULT_RESULTS / "claims.parquet", /, out: Path | None = None) -> int:
    """Print the table, or write it to `out` if every verdict is the expected one; return 1 if one is not.

    In the table of a run of some papers, the other papers' verdicts are shown and decide nothing.
    """
    table = read_table(claims, declared=COLUMNS)
    record = read_stamp(claims)
    text = describe(table)
    if is_default(claims):
        text += describe_differences(table, published.read_claims())
    text += f"of science and configuration {record.get('fingerprint')}\n"
    for outdated in outdated_claims(claims, record):
        print(f"outdated: {outdated}", file=sys.stderr)
    unexpected = complaints(table[table["paper"].isin(papers_of_run(table, record))])
    for complaint in unexpected:
        print(complaint, file=sys.stderr)
    if out is None:
        print(text, end="")
    elif not unexpected:  # a file would end the rule's job as done
        with atomic_write(out) as partial:
            partial.write_text(text, encoding="utf-8")
    return int(bool(unexpected))


def is_default(claims: Path) -> bool:
    """Return whether a table of all claims is that of the default scale."""
    return claims.parent.absolute() == DEFAULT_RESULTS.absolute()


def papers_of_run(table: pd.DataFrame, record: Mapping[str, Any]) -> list[str]:
    """Return the papers of the run that wrote a table of claims; its other rows are of earlier runs."""
    return record["settings"]["papers"] if record.get("stage") == "report" else list(table["paper"].unique())


def outdated_claims(claims: Path, record: Mapping[str, Any]) -> list[str]:
    """Return which papers' verdicts, in the table of all papers, other settings, other code or an earlier run made.

    The last problem is of the table itself. The configuration is read again as it was read when the table was written;
    of another table nothing is known.
    """
    if record.get("stage") != "report":
        return []
    options = record["settings"]
    plan = Plan.read(options, check=False)
    given = {key: value for key, value in options["given"].items() if key != "papers"}
    plan_of_all_papers = Plan.read({**options, "given": given}, check=False)  # other papers' rows are of earlier runs
    present = [
        paper for paper in plan_of_all_papers.config.papers if Path(claims.parent, paper, "claims.parquet").is_file()
    ]
    papers = dict.fromkeys([*plan.config.papers, *present])
    problems = filter(None, (outdated_verdicts(plan_of_all_papers, paper, claims.parent) for paper in papers))
    return [*problems, *filter(None, [fault(claims, plan.verdicts_fingerprint)])]


def complaints(table: pd.DataFrame) -> list[str]:
    """Return which verdicts are not the expected ones, and what to do."""
    return [_complaint(row) for row in table.to_dict("records") if not is_expected(row["verdict"], row["expected"])]


def _complaint(row: dict[str, Any]) -> str:
    """Return which verdict the claim of a row of the table has, which is expected, why, and what to do."""
    paper = row["claim"].partition(".")[0]
    reasons = []
    if row["reason"]:
        reasons.append(row["reason"])
    if row["quantity"]:
        reasons.append(f"{row['quantity']}: {measurement(row)}, {row['criterion']}")
    message = f"error: {row['claim']}: verdict `{row['verdict']}`, expected `{row['expected']}`"
    if reasons:
        message += f": {maths.plain('; '.join(reasons))}"
    return (
        f"{message}\n"
        "    Fix the cause, or, if the new verdict is right, record it under "
        f"claims.{row['claim'].partition('.')[2]}.expected in workflow/config/{paper}.yaml"
    )


def describe(table: pd.DataFrame, width: int | None = None) -> str:
    """Return the claims as text, a table for each paper, and how many there are of each verdict."""
    width = min(width or shutil.get_terminal_size((120, 24)).columns, MAX_WIDTH)
    blocks = []
    for paper, rows in table.groupby("paper", sort=False):
        head = ["claim", "where", "verdict", "measured", "predicted", "as printed"]
        cells = []
        for row in rows.to_dict("records"):
            verdict = row["verdict"] + marks(row)
            if row["origin"] == "ours":
                verdict += " (ours)"
            if not is_expected(row["verdict"], row["expected"]):
                verdict += f" (expected: {row['expected']})"
            name = row["claim"].partition(".")[2]
            numbers = [measurement(row), number(row["predicted"]), measurement(printed_check(row))]
            cells.append([name, maths.plain(row["reference"]), verdict, *numbers])
        width_used = sum(max(len(cell) for cell in column) + 2 for column in zip(head, *cells, strict=True))
        # the quantity has what is left of a line
        room = max(width - width_used, MIN_QUANTITY_WIDTH)
        for row_of_cells, quantity in zip(cells, rows["quantity"], strict=True):
            row_of_cells.append(shorten(maths.plain(quantity), room, placeholder="…"))
        blocks.append(f"{paper}\n" + tabulate(cells, headers=[*head, "quantity"], disable_numparse=True))
    papers_claims = table[table["origin"] != "ours"]
    n_observations = len(table) - len(papers_claims)
    counts = papers_claims["verdict"].value_counts()
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    totals = f"{len(papers_claims)} claims: {summary}"
    if n_observations:
        totals += f"; and {n_observations} further observations"
    lines = [totals, *meanings(map(marks, table.to_dict("records")))]
    return "\n\n".join([*blocks, "\n".join(lines)]) + "\n"


def describe_differences(table: pd.DataFrame, published_claims: pd.DataFrame | None) -> str:
    """Return what is new and what differs from the published results, in a few lines; nothing if none are there."""
    if published_claims is None:
        return ""
    comparison = published.compare_claims(table, published_claims)
    lines = [
        f"differs from the published results: {row['claim']}: {row['verdict']}, was {row['verdict_published']}\n"
        for row in comparison.to_dict("records")
        if row["outcome"] == published.OTHER_VERDICT
    ]
    counts = ", ".join(f"{count} {outcome}" for outcome, count in comparison["outcome"].value_counts().items())
    return "".join([*lines, f"compared with docs/results: {counts}; python -m learning_dynamics compare lists them\n"])
