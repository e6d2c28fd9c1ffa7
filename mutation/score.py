"""The score from cosmic-ray's result databases: the share of mutants that tests notice, with and without the net."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import WorkerOutcome
from scipy.stats import binomtest

EQUIVALENT = Path(__file__).with_name("equivalent.yaml")


def outcome(killed: bool, output: str) -> str:
    """Return what the output of `trial` says: noticed by ``tests`` or ``verdicts``, or not: ``moved``, ``unmoved``."""
    stages = re.findall(r"^stage: (\w+)$", output, re.MULTILINE)
    last = stages[-1] if stages else "verdicts"  # nothing is known of when a process that waits was ended
    if killed and last == "numbers":
        return "moved"  # it crashed where only numbers were compared
    return last


def results(sessions: Mapping[str, Path], equivalent: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    """Return a row for each mutant that was run: group, file, line, operator, outcome, and the changed lines.

    Raises
    ------
    RuntimeError
        If cosmic-ray could not run a mutant.
    ValueError
        If an equivalent mutant has no reason.
    """
    for known in equivalent:
        if not known.get("because"):
            raise ValueError(f"{EQUIVALENT.name}: {known}: say why it computes the same")
    known_changes = {(known["file"], known["before"].strip(), known["after"].strip()) for known in equivalent}
    rows: list[dict[str, Any]] = []
    for group, session in sessions.items():
        with use_db(str(session), WorkDB.Mode.open) as database:
            for item, result in database.completed_work_items:
                mutation = item.mutations[0]
                if result.worker_outcome != WorkerOutcome.NORMAL:
                    raise RuntimeError(f"{session}: {mutation}: {result.output}")
                before, after = changed_lines(result.diff, "-"), changed_lines(result.diff, "+")
                row = {"group": group, "file": str(mutation.module_path), "line": mutation.start_pos[0]}
                row |= {"operator": mutation.operator_name, "before": before, "after": after}
                row["outcome"] = outcome(result.is_killed, result.output)
                is_known = (row["file"], before.strip(), after.strip()) in known_changes
                if is_known and row["outcome"] in ("moved", "unmoved"):
                    row["outcome"] = "equivalent"
                rows.append(row)
    return pd.DataFrame(rows)


def changed_lines(diff: str, sign: str) -> str:
    """Return the lines that a diff takes away (``-``) or adds (``+``), without its heads ``--- file``, ``+++ file``."""
    lines = [line for line in diff.splitlines() if line.startswith(sign) and not line.startswith(f"{3 * sign} ")]
    return "\n".join(line[1:] for line in lines)


def scores(mutants: pd.DataFrame) -> pd.Series:
    """Return counts and shares of some mutants; shares are of those that move a number."""
    outcomes = ["equivalent", "unmoved", "tests", "verdicts", "moved"]
    count = mutants["outcome"].value_counts().reindex(outcomes, fill_value=0)
    moving = int(count[["tests", "verdicts", "moved"]].sum())
    row: dict[str, Any] = {"drawn": len(mutants), "equivalent": count["equivalent"], "move nothing": count["unmoved"]}
    row["move a number"] = moving
    for name, noticed in (("noticed", count["tests"] + count["verdicts"]), ("without the net", count["tests"])):
        row |= {name: noticed, f"{name}, %": share(int(noticed), moving)}
    return pd.Series(row)


def share(part: int, whole: int) -> str:
    """Return a share in percent with its 95 % interval (Wilson 1927)."""
    if not whole:
        return ""
    interval = binomtest(part, whole).proportion_ci(0.95, method="wilson")
    return f"{100 * part / whole:.0f} ({100 * interval.low:.0f}-{100 * interval.high:.0f})"


def table(mutants: pd.DataFrame) -> str:
    """Return the scores by group, by paper and part of the library, and of all, as Markdown."""
    paper = mutants["group"].str.partition("/")[0]
    rows = {group: scores(of_group) for group, of_group in mutants.groupby("group", sort=False)}
    rows |= {f"**{name}**": scores(of_paper) for name, of_paper in mutants.groupby(paper, sort=False)}
    rows["**all**"] = scores(mutants)
    return pd.DataFrame(rows).T.to_markdown()


def report(sessions: Mapping[str, Path]) -> str:
    """Return the mutants that nothing notices, those that move a number first, and the table of scores."""
    mutants = results(sessions, yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")))
    parts = []
    for name, heading in (("moved", "move a number, and no test notices"), ("unmoved", "move no number")):
        survivors = mutants[mutants["outcome"] == name]
        parts += [f"{len(survivors)} {heading}:", *(_as_diff(row) for row in survivors.to_dict("records"))]
    return "\n\n".join([*parts, table(mutants)])


def _as_diff(row: Mapping[str, Any]) -> str:
    lines = [f"{row['file']}:{row['line']} ({row['operator']})"]
    lines += [f"- {line}" for line in row["before"].splitlines()]
    lines += [f"+ {line}" for line in row["after"].splitlines()]
    return "\n".join(lines)
