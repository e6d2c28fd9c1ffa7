"""Numbers from a run: ``<name>.parquet``, a tidy table whose columns the paper's module declares."""

from __future__ import annotations

from pathlib import Path

from learning_dynamics.pipeline.provenance import provenance
from learning_dynamics.pipeline.stages.papers import paper_function
from learning_dynamics.tables import write_table
from learning_dynamics.trajectory import load_trajectory


def execute(paper: str, name: str, run: Path, out: Path) -> None:
    """Call the metrics function of the run's kind and save its table."""
    trajectory = load_trajectory(run)
    kind = trajectory.settings["kind"]
    measure = paper_function(paper, "metrics", kind)
    record = provenance("metrics", paper, name, trajectory.settings)
    write_table(out, measure(trajectory), measure.columns, record)
