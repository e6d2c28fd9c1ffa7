"""Numbers from a run: ``<name>.parquet``, a tidy table whose columns the topic's module declares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.arrays import load_trajectory
from learning_dynamics.pipeline.provenance import provenance
from learning_dynamics.pipeline.stages.functions import fingerprint_here, paper_function, told
from learning_dynamics.pipeline.tables import write_table


def execute(
    paper: str,
    name: str,
    run: Path,
    out: Path,
    spec: Mapping[str, Any],
    made_from: str | None = None,
    fingerprint: str | None = None,
) -> None:
    """Call the metrics function of the run's kind with the settings of measuring, and save its table."""
    measure = paper_function(paper, "metrics", spec["kind"])
    made = fingerprint_here("metrics", paper, spec["kind"], spec, made_from, fingerprint)
    trajectory, _ = load_trajectory(run, made_from)
    if trajectory.settings.get("kind") != spec["kind"]:
        raise ProjectError(f"{run}: is of kind {trajectory.settings.get('kind')}, not {spec['kind']}; name its own run")
    settings = {**trajectory.settings, **spec["settings"]}
    with told(f"metrics of {name}", settings):
        table = measure(trajectory, **spec["settings"])
    write_table(out, table, measure.columns, provenance("metrics", paper, name, settings, made))
