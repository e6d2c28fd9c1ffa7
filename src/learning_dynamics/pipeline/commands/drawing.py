"""What is alike in drawing a figure, one that moves and one whose reader moves it: from a job's words to a call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from learning_dynamics.pipeline.commands.functions import fingerprint_here, paper_function
from learning_dynamics.pipeline.commands.roles import load_tables
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.study.sources import PARTS


@dataclass(frozen=True)
class Drawing:
    """A function that draws, with its tables by role and its settings, and the record of what it draws."""

    function: Callable[..., Any]
    tables: Mapping[str, Any]
    settings: Mapping[str, Any]
    record: dict[str, Any]

    def __call__(self) -> Any:
        """Draw."""
        return self.function(**self.tables, **self.settings)


def prepare_drawing(
    stage: str,
    paper: str,
    name: str,
    spec: Mapping[str, Any] | None,
    metrics: Path | None,
    fingerprint: str | None,
) -> Drawing:
    """Return what a stage is to draw from the parquet of its runs; what is not given is the configuration's."""
    if spec is None:
        # a job is told its spec, and waits for no configuration
        from learning_dynamics.pipeline.study.config import load
        from learning_dynamics.pipeline.study.project import Project

        spec = Project(load()).spec(stage, paper, name)
    kind, runs, settings = spec["kind"], spec["runs"], spec["settings"]
    function = paper_function(paper, PARTS[stage], kind)
    drawing_fingerprint = fingerprint_here(stage, paper, kind, spec, None, fingerprint)
    tables = load_tables(metrics or Path("results", paper, "metrics"), runs)
    return Drawing(
        function, tables, settings, provenance(stage, paper, name, {"runs": runs, **settings}, drawing_fingerprint)
    )
