"""Compare a person's own run with the published results, claim by claim."""

from __future__ import annotations

from pathlib import Path

from tabulate import tabulate

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.verdicts import number, of_other_versions
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.tables import read_provenance, read_table

HEAD = ("claim", "published", "", "here", "", "comes")


def execute(claims: Path) -> int:
    """Print both side by side; return 1 if a verdict differs or a claim is missing."""
    known = published.read()
    if known is None:
        raise ProjectError(
            f"{published.FOLDER / published.CLAIMS}: no published results; write them with: make publish"
        )
    both = published.compared(read_table(claims, declared=COLUMNS), known)
    for outdated in of_other_versions(claims, read_provenance(claims)):
        print(f"outdated: {outdated}")
    cells = [
        [
            row["claim"],
            *(row["verdict_published"], number(row["measured_published"])),
            *(row["verdict"], number(row["measured"])),
            row["comes"],
        ]
        for row in both.fillna({"verdict": "", "verdict_published": ""}).to_dict("records")
    ]
    print(tabulate(cells, headers=HEAD, disable_numparse=True))
    counts = both["comes"].value_counts()
    print(f"\n{len(both)} claims: " + ", ".join(f"{count} {comes}" for comes, count in counts.items()))
    return int(both["comes"].isin(["with another verdict", "missing"]).any())
