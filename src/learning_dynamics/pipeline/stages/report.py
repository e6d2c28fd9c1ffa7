"""Write the page that a person reads, and all papers' claims as one table."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from learning_dynamics.claims import COLUMNS
from learning_dynamics.files import replacing
from learning_dynamics.pipeline.config import Project
from learning_dynamics.pipeline.provenance import provenance
from learning_dynamics.pipeline.report import page
from learning_dynamics.pipeline.sources import SOURCE_ROOT
from learning_dynamics.tables import read_table, write_table

SCHEMA = SOURCE_ROOT.parent / "workflow/schemas/config.schema.yaml"


def execute(config: Path, results: Path, figures: Path, out: Path, claims: Path) -> None:
    """Read every paper's claims and figures; write the page and the joined claims."""
    project = Project(json.loads(config.read_text()), SCHEMA, str(config))
    found = {paper: read_table(results / paper / "claims.parquet") for paper in project.papers}
    varied = {paper: read_table(results / paper / "sensitivity.parquet") for paper in project.papers}
    record = provenance("report", "all", "page", {"papers": project.papers})
    html = page.render(project, found, varied, figures, out.parent, record)
    joined = pd.concat(found.values(), ignore_index=True) if found else pd.DataFrame()
    write_table(claims, joined, COLUMNS, record)
    with replacing(out) as partial:
        partial.write_text(html, encoding="utf-8")
