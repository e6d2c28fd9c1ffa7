"""Print the table of claims; say loudly which verdicts are not the expected ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
from tabulate import tabulate

from learning_dynamics.claims import VERDICTS
from learning_dynamics.files import replacing
from learning_dynamics.pipeline.records import as_expected
from learning_dynamics.pipeline.tables import read_table


def execute(claims: Path, page: Path | None = None, out: Path | None = None) -> int:
    """Print or write the table; return 1 if a verdict is not the expected one."""
    table = read_table(claims)
    text = describe(table)
    if page is not None:
        text += f"\nfigures and claims to read: {page.resolve()}"
    unexpected = table[[not as_expected(row.verdict, row.expected) for row in table.itertuples()]]
    for row in unexpected.itertuples():
        print(
            f"error: {row.claim}: verdict `{row.verdict}`, expected `{row.expected}`; "
            f"{row.reason or row.criterion} "
            "Mend the cause, or record the new verdict under `expected` in the paper's file of workflow/config",
            file=sys.stderr,
        )
    if out is None:
        print(text)
    elif unexpected.empty:
        with replacing(out) as partial:
            partial.write_text(text + "\n", encoding="utf-8")
    return int(not unexpected.empty)


def describe(table: pd.DataFrame) -> str:
    """Return the claims as a text table, and how many there are of each verdict."""
    shown = pd.DataFrame(
        {
            "claim": table["claim"],
            "stands in": table["reference"],
            "predicted": table["predicted"].map("{:.4g}".format),
            "measured": [_with_margin(row.measured, row.uncertainty) for row in table.itertuples()],
            "verdict": [
                row.verdict if as_expected(row.verdict, row.expected) else f"{row.verdict} (expected: {row.expected})"
                for row in table.itertuples()
            ],
        }
    ).replace("nan", "")
    counts = table["verdict"].value_counts()
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts)
    return (
        tabulate(shown, headers="keys", showindex=False, disable_numparse=True) + f"\n\n{len(table)} claims: {summary}"
    )


def _with_margin(measured: float, uncertainty: float) -> str:
    return f"{measured:.4g} ± {uncertainty:.1g}" if uncertainty > 0 else f"{measured:.4g}"
