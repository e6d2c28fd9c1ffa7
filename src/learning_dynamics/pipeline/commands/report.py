"""Write the pages that a person reads, and all papers' claims as one table."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.check import find_stale
from learning_dynamics.pipeline.commands.claims import TABLES
from learning_dynamics.pipeline.report import page
from learning_dynamics.pipeline.report.contents import gather
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.tables import read_table, write_table
from learning_dynamics.pipeline.study.config import load
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.stale_outputs import joined_of_other_versions


def execute(config: Mapping[str, Any], results: Path, figures: Path, out: Path, claims: Path) -> None:
    """Read every paper's claims and figures, and verdicts under other seeds if there are; write pages and claims.

    The pages of papers lie beside the first, `out`.
    """
    if set(config) != {"files", "given"}:
        raise ProjectError("--config: must have the keys `files` and `given`; copy the command from Snakemake's log")
    project = Project(load([Path(file) for file in config["files"]], config["given"]), check=False)
    tables = read_claim_tables(project, results)
    record = provenance("report", "all", claims.stem, {"papers": project.study.papers, **config}, project.verdicts)
    n_checked, problems = find_stale(project, results)
    joined_tables = (results / f"{name}.parquet" for name in ("replication", "turning"))
    problems += filter(None, (joined_of_other_versions(project, table) for table in joined_tables if table.is_file()))
    papers = gather(project.study, tables, figures, config, read_replication(results), read_turning(results))
    pages = page.render(papers, out.parent, record | {"checked": n_checked, "stale": problems, "page": project.page})
    all_claims = pd.concat([tables_of_paper["claims"] for tables_of_paper in tables.values()], ignore_index=True)
    write_table(claims, all_claims, COLUMNS, record)
    for name, html in reversed(pages.items()):  # the first leads to all others
        with atomic_write(out.parent / name) as partial:
            partial.write_text(html, encoding="utf-8")


def read_claim_tables(project: Project, results: Path) -> dict[str, dict[str, pd.DataFrame]]:
    """Return every paper's tables of claims, parts, variants and sensitivity."""
    return {
        paper: {
            name: read_table(results / paper / f"{name}.parquet", declared=declared)
            for name, declared in TABLES.items()
        }
        for paper in project.study.papers
    }


def read_replication(results: Path) -> pd.DataFrame | None:
    """Return the verdicts under several seeds, if they are there."""
    replication = results / "replication.parquet"
    return read_table(replication) if replication.is_file() else None


def read_turning(results: Path) -> pd.DataFrame | None:
    """Return where verdicts turn, if it was sought."""
    turning = results / "turning.parquet"
    return read_table(turning) if turning.is_file() else None
