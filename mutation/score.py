"""What a campaign says: how many errors are noticed, by paper and topic, and those that are not."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from tabulate import tabulate

EQUIVALENT = Path(__file__).with_name("equivalent.yaml")
HEAD = ["", "drawn", "equal", "move nothing", "move a number", "noticed", "", "by tests alone", ""]


def equivalent(results: Iterable[Mapping[str, Any]], judged: list[Mapping[str, str]] | None = None) -> set[str]:
    """Return the names of mutants that are listed as equivalent.

    Raises
    ------
    ValueError
        If an entry gives no reason.
    """
    known = yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")) if judged is None else judged
    for one in known:
        if not one.get("because"):
            raise ValueError(f"{EQUIVALENT.name}: {one}: say why it computes the same")
    listed = {(one["file"], one["before"].strip(), one["after"].strip()) for one in known}
    return {one["id"] for one in results if (one["file"], one["before"].strip(), one["after"].strip()) in listed}


def counts(results: Iterable[Mapping[str, Any]], same: set[str]) -> dict[str, int]:
    """Return how many mutants there are of each kind.

    Those that a test or a verdict notices move something; of the others, some move a number that nobody notices, and
    some move none that was looked at.
    """
    found = {"drawn": 0, "equal": 0, "tests": 0, "verdicts": 0, "moved": 0, "unmoved": 0}
    for one in results:
        found["drawn"] += 1
        found["equal" if one["id"] in same and one["outcome"] in ("moved", "unmoved") else one["outcome"]] += 1
    return found


def row(name: str, found: Mapping[str, int]) -> list[Any]:
    """Return a line of the table: the two scores are of those mutants that move a number."""
    moving = found["tests"] + found["verdicts"] + found["moved"]
    noticed = found["tests"] + found["verdicts"]
    shares = [f"{part / moving:.0%}" if moving else "" for part in (noticed, found["tests"])]
    unmoved = [found["drawn"], found["equal"], found["unmoved"], moving]
    return [name, *unmoved, noticed, shares[0], found["tests"], shares[1]]


def table(results: Sequence[Mapping[str, Any]], same: set[str]) -> str:
    """Return the scores by topic, by paper and part of the library, and of all, as Markdown."""
    groups = list(dict.fromkeys(one["group"] for one in results))
    wholes = list(dict.fromkeys(group.partition("/")[0] for group in groups))
    lines = []
    for whole in wholes:
        inside = [group for group in groups if group.partition("/")[0] == whole]
        of = {group: [one for one in results if one["group"] == group] for group in inside}
        if inside != [whole]:
            lines += [row(group, counts(of[group], same)) for group in inside]
        lines.append(row(f"**{whole}**", counts([one for group in inside for one in of[group]], same)))
    lines.append(row("**all**", counts(results, same)))
    return tabulate(lines, HEAD, tablefmt="github", disable_numparse=True)


def survivors(results: Sequence[Mapping[str, Any]], same: set[str]) -> str:
    """Return the mutants that nothing notices, those that move a number first: place, lines, what moves."""
    texts = []
    for outcome, heading in (("moved", "move a number, and nothing notices"), ("unmoved", "move no number looked at")):
        left = [one for one in results if one["outcome"] == outcome and one["id"] not in same]
        texts.append(f"{len(left)} {heading}:")
        for one in left:
            told = f"; {one['by']}" if one["by"] else ""
            looked = f"{one['tests']} test files, {one['claims']} claims"
            texts.append(f"\n{one['file']}:{one['line']} ({one['operator']}; {looked}{told})")
            texts += [f"- {line}" for line in one["before"].splitlines()]
            texts += [f"+ {line}" for line in one["after"].splitlines()]
        texts.append("")
    return "\n".join(texts)
