"""Write the tables of a run as CSV, for who reads no parquet: what every run measured, and what claims say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from learning_dynamics.errors import ProjectError, near
from learning_dynamics.files import replacing
from learning_dynamics.pipeline.config import folders, load
from learning_dynamics.pipeline.tables import read_table


def execute(papers: Sequence[str], files: list[Path], out: Path) -> None:
    """Write ``<paper>/metrics/<run>.csv``, ``<paper>/claims.csv`` and so on, and all settings as ``<paper>.json``.

    Raises
    ------
    ProjectError
        If there is no such paper in the configuration, there are no tables of it, or one is not as it was written.
    """
    configuration = load(files)
    results, _ = folders(configuration)
    for paper in papers or list(configuration.papers):
        if paper not in configuration.papers:
            raise ProjectError(f"no paper `{paper}` in this configuration{near(paper, list(configuration.papers))}")
        home = results / paper
        tables = sorted([*home.glob("*.parquet"), *home.glob("metrics/*.parquet")])
        if not tables:
            raise ProjectError(f"{home}: no tables are there; make them: snakemake --cores all {paper}")
        settings = {}
        for file in tables:
            table = read_table(file)
            name = file.relative_to(home).with_suffix("")
            settings[name.as_posix()] = table.attrs["settings"]
            with replacing(out / paper / name.with_suffix(".csv")) as partial:
                table.to_csv(partial, index=False, lineterminator="\n")
        with replacing(out / f"{paper}.json") as partial:
            partial.write_text(json.dumps(settings, indent=1, default=str), encoding="utf-8")
        print(f"wrote {out / paper}: {len(tables)} tables, and what they were made with: {out / paper}.json")
