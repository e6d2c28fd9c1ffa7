"""Write a paper's claims as LaTeX: a table, and every number as a macro."""

from __future__ import annotations

from pathlib import Path

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import replacing
from learning_dynamics.pipeline.config import folders, load
from learning_dynamics.pipeline.records import COLUMNS
from learning_dynamics.pipeline.report.tex import describe
from learning_dynamics.pipeline.tables import read_table


def execute(paper: str, files: list[Path], out: Path | None) -> None:
    """Write the claims of a paper's run; to standard output without a file."""
    results, _ = folders(load(files))
    claims = results / paper / "claims.parquet"
    if not claims.is_file():
        raise ProjectError(f"{claims}: is not there; make it: snakemake --cores all {claims}")
    text = describe(paper, read_table(claims, declared=COLUMNS))
    if out is None:
        print(text, end="")
        return
    with replacing(out) as partial:
        partial.write_text(text, encoding="utf-8")
