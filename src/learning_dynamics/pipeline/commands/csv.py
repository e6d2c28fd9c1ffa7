"""Write the tables of a run as CSV, for who reads no parquet: what every run measured, and what claims say."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from learning_dynamics.errors import ProjectError, suggest_name
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.store.tables import read_provenance, read_table
from learning_dynamics.pipeline.study.config import load, output_folders
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.stale_outputs import expected_outputs, fault

TABLE = re.compile(r"(metrics/)?[a-z][A-Za-z0-9_.+-]*")  # the name of one, below the folder of its paper


def execute(papers: Sequence[str], files: list[Path], out: Path) -> None:
    """Write ``<paper>/metrics/<run>.csv``, ``<paper>/claims.csv`` and so on, and all settings as ``<paper>.json``.

    What this command wrote before is replaced, by what ``<paper>.json`` lists; nothing else is.

    Raises
    ------
    ProjectError
        If there is no such paper in the configuration, there are no tables of it, one is not as it was written or of
        other settings or code, or a file of somebody else's is in the way.
    """
    configuration = load(files)
    results, figures = output_folders(configuration)
    if {Path("results").resolve(), Path("figures").resolve()} & {out.resolve(), *out.resolve().parents}:
        raise ProjectError(f"--out {out}: lies in results or figures, which Snakemake fills; name another folder")
    expected = expected_outputs(Project(configuration), str(results), str(figures))
    for paper in dict.fromkeys(papers or list(configuration.papers)):
        if paper not in configuration.papers:
            raise ProjectError(
                f"no paper `{paper}` in this configuration{suggest_name(paper, list(configuration.papers))}"
            )
        folder = results / paper
        tables = sorted([*folder.glob("*.parquet"), *folder.glob("metrics/*.parquet")])
        if not tables:
            raise ProjectError(f"{folder}: no tables are there; make them: snakemake --cores all {paper}")
        problems = (fault(file, expected[str(file)]) for file in tables if str(file) in expected)
        for problem in filter(None, problems):
            raise ProjectError(problem)
        names = [file.relative_to(folder).with_suffix("").as_posix() for file in tables]
        settings = {name: read_provenance(file)["settings"] for name, file in zip(names, tables, strict=True)}
        for name in _tables_written_before(out, paper, names):
            (out / paper / f"{name}.csv").unlink(missing_ok=True)
        with atomic_write(out / f"{paper}.json") as partial:
            partial.write_text(json.dumps(settings, indent=1, default=str), encoding="utf-8")
        for name, file in zip(names, tables, strict=True):
            with atomic_write(out / paper / f"{name}.csv") as partial:
                read_table(file).to_csv(partial, index=False, lineterminator="\n")
        print(f"wrote {out / paper}: {len(tables)} tables, and what they were made with: {out / paper}.json")


def _tables_written_before(out: Path, paper: str, names: Sequence[str]) -> list[str]:
    """Return the tables of a paper that this command has written into a folder.

    Raises
    ------
    ProjectError
        If one that it is to write, or the list of them, is a file that it did not write.
    """
    settings_file = out / f"{paper}.json"
    try:
        written_before = list(json.loads(settings_file.read_text(encoding="utf-8"))) if settings_file.exists() else []
        is_own = all(TABLE.fullmatch(name) for name in written_before)
    except (OSError, ValueError, TypeError):
        written_before, is_own = [], False
    foreign = [out / paper / f"{name}.csv" for name in names if name not in written_before]
    for file in [*([] if is_own else [settings_file]), *(file for file in foreign if file.exists())]:
        raise ProjectError(f"{file}: is there, and was not written by this command; delete it, or name another folder")
    return [name for name in written_before if (out / paper / f"{name}.csv").is_file()]
