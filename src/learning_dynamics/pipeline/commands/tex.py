"""Write a paper's claims as LaTeX: a table, and every number as a macro."""

from pathlib import Path

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.report.tex import describe
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.seals import sealing
from learning_dynamics.pipeline.store.tables import read_table
from learning_dynamics.pipeline.study.config import load, output_folders
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.stale_outputs import outdated_verdicts


def execute(paper: str, files: list[Path], out: Path | None) -> None:
    """Write the claims of a paper's run; to standard output without a file.

    Raises
    ------
    ProjectError
        If there are none, or they are not those of the configuration and the code as they stand.
    """
    configuration = load(files, {"papers": [paper]})
    results, _ = output_folders(configuration)
    claims = results / paper / "claims.parquet"
    if not claims.is_file():
        raise ProjectError(f"{claims}: is not there; make it: snakemake --cores all {claims}")
    outdated = outdated_verdicts(Project(configuration), paper, results)
    if outdated is not None:
        raise ProjectError(outdated)
    text = describe(paper, read_table(claims, declared=COLUMNS))
    if out is None:
        print(text, end="")
        return
    with sealing(out) as partial:
        partial.write_text(text, encoding="utf-8")
