"""Print the table of claims; say which verdicts are not the expected ones, and what differs from the published ones."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from tabulate import tabulate

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import VERDICTS
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.records import COLUMNS, as_expected
from learning_dynamics.pipeline.store.seals import sealing
from learning_dynamics.pipeline.store.tables import read_provenance, read_table
from learning_dynamics.pipeline.study.config import load
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.stale_outputs import fault, outdated_verdicts

WIDEST = 160  # characters: a table is no wider on any terminal
NARROWEST = 20  # characters that the quantity always has
DEFAULT = Path("results")  # where the claims of the default scale lie, the one that is published


def execute(claims: Path, page: Path | None = None, out: Path | None = None) -> int:
    """Print or write the table; return 1 if a verdict is not the expected one."""
    table = read_table(claims, declared=COLUMNS)
    made = read_provenance(claims)
    text = describe(table)
    if claims.parent == DEFAULT:
        # what is published is compared with, and made anew from this run: that it is damaged does not stop the run
        try:
            text += differing(table, published.read())
        except ProjectError as error:
            text += f"not compared with the published results: {error}\n"
    text += f"of science and configuration {made.get('fingerprint')}\n"
    for outdated in of_other_versions(claims, made):
        print(f"outdated: {outdated}", file=sys.stderr)
    if page is not None:
        text += f"\nfigures and claims to read: {page.resolve()}\n"
    unexpected = table[[not as_expected(row.verdict, row.expected) for row in table.itertuples()]]
    for row in unexpected.to_dict("records"):
        print(complaint(row), file=sys.stderr)
    if out is None:
        print(text, end="")
    elif unexpected.empty:
        with sealing(out) as partial:
            partial.write_text(text, encoding="utf-8")
    return int(not unexpected.empty)


def of_other_versions(claims: Path, made: Mapping[str, Any]) -> list[str]:
    """Return, of all papers' claims in one table, what other settings or code have made, or an earlier run.

    The configuration is read again as it was read when the table was written; of another table nothing is known.
    """
    which = made["settings"]
    if made.get("stage") != "report" or not {"files", "given"} <= set(which):
        return []
    project = Project(load([Path(file) for file in which["files"]], which["given"]))
    found = filter(None, (outdated_verdicts(project, paper, claims.parent) for paper in project.study.papers))
    joined = fault(claims, project.verdicts)
    return [*found, *([joined] if joined else [])]


def complaint(row: dict[str, Any]) -> str:
    """Return what is wrong with a claim whose verdict is not the expected one, and what to do."""
    paper = row["claim"].partition(".")[0]
    found = (
        f"{maths.plain(row['quantity'])}: {measured(row)}, {maths.plain(row['criterion'])}" if row["quantity"] else ""
    )
    why = "; ".join(part for part in (maths.plain(row["reason"]), found) if part)
    return (
        f"error: {row['claim']}: verdict `{row['verdict']}`, expected `{row['expected']}`{': ' if why else ''}{why}\n"
        "    Mend the cause, or, if the new verdict is right, record it under "
        f"claims.{row['claim'].partition('.')[2]}.expected in workflow/config/{paper}.yaml"
    )


def describe(table: pd.DataFrame, width: int | None = None) -> str:
    """Return the claims as text, a table for each paper, and how many there are of each verdict."""
    width = min(width or shutil.get_terminal_size((120, 24)).columns, WIDEST)
    blocks = []
    for paper, rows in table.groupby("paper", sort=False):
        head, cells = ["claim", "stands in", "verdict", "measured", "predicted"], []
        for row in rows.to_dict("records"):
            verdict = row["verdict"] + (" (ours)" if row["origin"] == "ours" else "")
            if not as_expected(row["verdict"], row["expected"]):
                verdict += f" (expected: {row['expected']})"
            name = row["claim"].partition(".")[2]
            cells.append([name, maths.plain(row["reference"]), verdict, measured(row), number(row["predicted"])])
        used = sum(max(len(one) for one in column) + 2 for column in zip(head, *cells, strict=True))
        room = max(width - used, NARROWEST)
        for line, quantity in zip(cells, rows["quantity"], strict=True):
            line.append(shortened(maths.plain(quantity), room))
        blocks.append(f"{paper}\n" + tabulate(cells, headers=[*head, "quantity"], disable_numparse=True))
    own = table[table["origin"] != "ours"]
    ours = len(table) - len(own)
    counts = own["verdict"].value_counts()
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    apart = f"; apart from them {ours} of ours" if ours else ""
    return "\n\n".join(blocks) + f"\n\n{len(own)} claims: {summary}{apart}\n"


def differing(table: pd.DataFrame, known: pd.DataFrame | None) -> str:
    """Return what is new and what differs from the published results, in a few lines; nothing if none are there."""
    if known is None:
        return ""
    both = published.compared(table, known)
    lines = []
    for word, told in (("new", "new since the published results"), ("missing", "published, but not in this run")):
        claims = both[both["comes"] == word]["claim"]
        if len(claims):
            lines.append(f"{told}: {', '.join(claims)}")
    for row in both[both["comes"] == "with another verdict"].to_dict("records"):
        lines.append(
            f"differs from the published results: {row['claim']}: {row['verdict']}, was {row['verdict_published']}"
        )
    moved = (both["comes"] == "with another number").sum()
    if moved:
        lines.append(f"{moved} verdicts as published with another number: python -m learning_dynamics compare")
    return "\n".join(lines or ["all verdicts are as published in docs/results"]) + "\n"


def measured(row: dict[str, Any]) -> str:
    """Return a measurement with its interval."""
    if pd.isna(row["measured"]):
        return ""
    interval = "" if pd.isna(row["lower"]) else f" [{number(row['lower'], 3)}, {number(row['upper'], 3)}]"
    return number(row["measured"]) + interval


def number(value: float, digits: int = 4) -> str:
    """Return a number in plain text, nothing where there is none."""
    return "" if pd.isna(value) else f"{value:.{digits}g}"


def shortened(text: str, room: int) -> str:
    """Return a text cut to so many characters, at a word."""
    if len(text) <= room:
        return text
    cut = text[: room - 1]
    return (cut[: cut.rfind(" ")] if " " in cut[room // 2 :] else cut) + "…"
