"""Hold every claim of a paper against its metrics: ``claims.parquet`` and ``sensitivity.parquet``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.claims import COLUMNS, SENSITIVITY_COLUMNS, evaluate
from learning_dynamics.pipeline.config import sweep_members
from learning_dynamics.pipeline.provenance import provenance
from learning_dynamics.pipeline.stages.papers import paper_function
from learning_dynamics.pipeline.stages.tables import load_tables
from learning_dynamics.tables import write_table


def execute(paper: str, spec: Mapping[str, Any], metrics: Path, out: Path, sensitivity: Path) -> None:
    """Evaluate the claims, then again with each setting of the sensitivity checks varied."""
    rows, varied = [], []
    for name, block in spec["claims"].items():
        tables = load_tables(metrics, block["runs"])
        function = paper_function(paper, "claims", name)
        evidence = ", ".join(f"{metrics}/{run}.parquet" for run in block["runs"])
        rows.append(
            {
                "paper": paper,
                "claim": f"{paper}.{name}",
                **evaluate(function, tables, block["settings"]),
                "expected": block["expected"],
                "figure": block["figure"],
                "evidence": evidence,
            }
        )
        for check in spec["sensitivity"]:
            if name not in check["claims"]:
                continue
            for member, differing in sweep_members(check["run"], {check["setting"]: check["values"]}):
                replaced = tables | {check["run"]: load_tables(metrics, {member: None})[member]}
                found = evaluate(function, replaced, block["settings"])
                varied.append(
                    {
                        "paper": paper,
                        "claim": f"{paper}.{name}",
                        "run": check["run"],
                        "setting": check["setting"],
                        "value": str(differing[check["setting"]]),
                        "measured": found["measured"],
                        "verdict": found["verdict"],
                    }
                )
    record = provenance("claims", paper, "claims", spec)
    for path, found_rows, declared in ((out, rows, COLUMNS), (sensitivity, varied, SENSITIVITY_COLUMNS)):
        table = pd.DataFrame(found_rows, columns=[column.name for column in declared])
        write_table(path, table, declared, record)
