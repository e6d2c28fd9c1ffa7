"""Print the table of claims; say which verdicts are not the expected ones, and what differs from the published ones."""

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from tabulate import tabulate

from learning_dynamics.files import atomic_write
from learning_dynamics.judging import VERDICTS
from learning_dynamics.pipeline.plan.config_files import load
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import fault, outdated_verdicts
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.robustness import MARK, MARK_MEANING, is_turned
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.records import COLUMNS, is_expected
from learning_dynamics.pipeline.store.tables import read_provenance, read_table

MAX_WIDTH = 160  # characters: a table is no wider on any terminal
MIN_QUANTITY_WIDTH = 20  # characters that the quantity always has
DEFAULT_RESULTS = Path("results")  # where the claims of the default scale lie, the one that is published


def execute(claims: Path = Path("results/claims.parquet"), /, page: Path | None = None, out: Path | None = None) -> int:
    """Print or write the table; return 1 if a verdict is not the expected one."""
    table = read_table(claims, declared=COLUMNS)
    record = read_provenance(claims)
    text = describe(table)
    if claims.parent == DEFAULT_RESULTS:
        text += describe_differences(table, published.read_claims())
    text += f"of science and configuration {record.get('fingerprint')}\n"
    for outdated in outdated_claims(claims, record):
        print(f"outdated: {outdated}", file=sys.stderr)
    if page is not None:
        text += f"\nfigures and claims to read: {page.resolve()}\n"
    unexpected = table[[not is_expected(row.verdict, row.expected) for row in table.itertuples()]]
    for row in unexpected.to_dict("records"):
        print(complaint(row), file=sys.stderr)
    if out is None:
        print(text, end="")
    elif unexpected.empty:
        with atomic_write(out) as partial:
            partial.write_text(text, encoding="utf-8")
    return int(not unexpected.empty)


def outdated_claims(claims: Path, record: Mapping[str, Any]) -> list[str]:
    """Return, of all papers' claims in one table, what other settings or code have made, or an earlier run.

    The configuration is read again as it was read when the table was written; of another table nothing is known.
    """
    config = record["settings"]
    if record.get("stage") != "report" or not {"files", "given"} <= set(config):
        return []
    plan = Plan(load([Path(file) for file in config["files"]], config["given"]), check=False)
    problems = filter(None, (outdated_verdicts(plan, paper, claims.parent) for paper in plan.config.papers))
    joined_problem = fault(claims, plan.verdicts)
    return [*problems, *([joined_problem] if joined_problem else [])]


def complaint(row: dict[str, Any]) -> str:
    """Return what is wrong with a claim whose verdict is not the expected one, and what to do."""
    paper = row["claim"].partition(".")[0]
    measurement = (
        f"{maths.plain(row['quantity'])}: {format_measurement(row)}, {maths.plain(row['criterion'])}"
        if row["quantity"]
        else ""
    )
    reasons = "; ".join(part for part in (maths.plain(row["reason"]), measurement) if part)
    return (
        f"error: {row['claim']}: verdict `{row['verdict']}`, expected `{row['expected']}`"
        f"{': ' if reasons else ''}{reasons}\n"
        "    Mend the cause, or, if the new verdict is right, record it under "
        f"claims.{row['claim'].partition('.')[2]}.expected in workflow/config/{paper}.yaml"
    )


def describe(table: pd.DataFrame, width: int | None = None) -> str:
    """Return the claims as text, a table for each paper, and how many there are of each verdict."""
    width = min(width or shutil.get_terminal_size((120, 24)).columns, MAX_WIDTH)
    blocks = []
    for paper, rows in table.groupby("paper", sort=False):
        head, cells = ["claim", "stands in", "verdict", "measured", "predicted"], []
        for row in rows.to_dict("records"):
            verdict = row["verdict"] + MARK * is_turned(row["agreement"]) + " (ours)" * (row["origin"] == "ours")
            if not is_expected(row["verdict"], row["expected"]):
                verdict += f" (expected: {row['expected']})"
            name = row["claim"].partition(".")[2]
            cells.append(
                [name, maths.plain(row["reference"]), verdict, format_measurement(row), format_number(row["predicted"])]
            )
        width_used = sum(max(len(cell) for cell in column) + 2 for column in zip(head, *cells, strict=True))
        room = max(width - width_used, MIN_QUANTITY_WIDTH)
        for line, quantity in zip(cells, rows["quantity"], strict=True):
            line.append(truncate(maths.plain(quantity), room))
        blocks.append(f"{paper}\n" + tabulate(cells, headers=[*head, "quantity"], disable_numparse=True))
    papers_claims = table[table["origin"] != "ours"]
    n_observations = len(table) - len(papers_claims)
    counts = papers_claims["verdict"].value_counts()
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    remark = f"; and {n_observations} further observations" if n_observations else ""
    mark = f"{MARK_MEANING}\n" if any(map(is_turned, table["agreement"])) else ""
    return "\n\n".join(blocks) + f"\n\n{len(papers_claims)} claims: {summary}{remark}\n{mark}"


def describe_differences(table: pd.DataFrame, published_claims: pd.DataFrame | None) -> str:
    """Return what is new and what differs from the published results, in a few lines; nothing if none are there."""
    if published_claims is None:
        return ""
    comparison = published.compare_claims(table, published_claims)
    lines = []
    for word, label in (("new", "new since the published results"), ("missing", "published, but not in this run")):
        claims = comparison[comparison["comes"] == word]["claim"]
        if len(claims):
            lines.append(f"{label}: {', '.join(claims)}")
    for row in comparison[comparison["comes"] == "with another verdict"].to_dict("records"):
        lines.append(
            f"differs from the published results: {row['claim']}: {row['verdict']}, was {row['verdict_published']}"
        )
    n_other_number = (comparison["comes"] == "with another number").sum()
    if n_other_number:
        lines.append(f"{n_other_number} verdicts as published with another number: python -m learning_dynamics compare")
    return "\n".join(lines or ["all verdicts are as published in docs/results"]) + "\n"


def format_measurement(row: dict[str, Any]) -> str:
    """Return a measurement with its interval."""
    if pd.isna(row["measured"]):
        return ""
    interval = "" if pd.isna(row["lower"]) else f" [{format_number(row['lower'], 3)}, {format_number(row['upper'], 3)}]"
    return format_number(row["measured"]) + interval


def format_number(value: float, digits: int = 4) -> str:
    """Return a number in plain text, nothing where there is none."""
    return "" if pd.isna(value) else f"{value:.{digits}g}"


def truncate(text: str, room: int) -> str:
    """Return a text cut to so many characters, at a word."""
    if len(text) <= room:
        return text
    cut = text[: room - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[room // 2 :] else cut) + "…"
