"""Captions for Snakemake's own report, read when it is written: filled in, and no character of them is markup."""

from pathlib import Path

from learning_dynamics.pipeline.study.study import Study


class Captions:
    """The captions of a configuration's figures."""

    def __init__(self, study: Study, figures: Path) -> None:
        self.study, self.figures = study, figures

    def of(self, paper: str, name: str) -> str:
        """Return a drawn figure's caption as reStructuredText, formulas in Unicode."""
        from learning_dynamics.pipeline.report import maths
        from learning_dynamics.pipeline.report.templates import fill
        from learning_dynamics.pipeline.store.pictures import read_record

        record = read_record(self.figures / paper / f"{name}.png")
        return maths.rst(fill(self.study.caption(paper, name), record["facts"]))
