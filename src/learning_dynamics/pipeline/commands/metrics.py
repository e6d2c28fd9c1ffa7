"""Numbers from a run: ``<name>.parquet``, a tidy table whose columns the topic's module declares."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.functions import check_data, fingerprint_here, paper_function
from learning_dynamics.pipeline.commands.stages import measure
from learning_dynamics.pipeline.plan.quantities import refuse_unlisted
from learning_dynamics.pipeline.store.arrays import load_arrays, load_trajectory
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.tables import write_table
from learning_dynamics.tidy import QUANTITY


def execute(
    paper: str,
    name: str,
    /,
    run: Path,
    out: Path,
    spec: Mapping[str, Any],
    made_from: str | None = None,
    fingerprint: str | None = None,
    data: Path | None = None,
) -> None:
    """Call the metrics function of the run's kind with the settings of measuring, and save its table.

    A function with a parameter `data` is given the data set that the run was simulated on.
    """
    columns = paper_function(paper, "metrics", spec["kind"]).columns
    metrics_fingerprint = fingerprint_here("metrics", paper, spec["kind"], spec, made_from, fingerprint)
    trajectory, record = load_trajectory(run, made_from)
    if trajectory.settings.get("kind") != spec["kind"]:
        raise ProjectError(f"{run}: is of kind {trajectory.settings.get('kind')}, not {spec['kind']}; name its own run")
    check_data(paper, "metrics", spec["kind"], data)
    arrays = None if data is None else load_arrays(data, record.get("data"))[0]
    table = measure(paper, name, spec, trajectory, arrays)
    settings = {**trajectory.settings, **spec["settings"]}
    if QUANTITY in columns:
        refuse_unlisted(paper, spec["kind"], table["quantity"].unique())
    write_table(out, table, columns, provenance("metrics", paper, name, settings, metrics_fingerprint))
