"""Numbers from a run: ``<name>.parquet``, a tidy table whose columns the topic's module declares."""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.functions import arguments_for, error_context, fingerprint_here, paper_function
from learning_dynamics.pipeline.store.arrays import load_arrays, load_trajectory
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.tables import write_table
from learning_dynamics.pipeline.study.quantities import refuse_unlisted
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
    measure = paper_function(paper, "metrics", spec["kind"])
    metrics_fingerprint = fingerprint_here("metrics", paper, spec["kind"], spec, made_from, fingerprint)
    trajectory, record = load_trajectory(run, made_from)
    if trajectory.settings.get("kind") != spec["kind"]:
        raise ProjectError(f"{run}: is of kind {trajectory.settings.get('kind')}, not {spec['kind']}; name its own run")
    settings = {**trajectory.settings, **spec["settings"]}
    arguments: dict[str, Any] = {}
    if ("data" in inspect.signature(measure).parameters) != (data is not None):
        mend = "measures on the run's data set; name its .npz" if data is None else "takes no data set; leave it out"
        raise ProjectError(f"--data: `{spec['kind']}` {mend}")
    if data is not None:
        arguments["data"] = load_arrays(data, record.get("data"))[0]
    with error_context(f"metrics of {name}", settings):
        table = measure(trajectory, **arguments, **arguments_for(measure, spec["settings"]))
    if QUANTITY in measure.columns:
        refuse_unlisted(paper, spec["kind"], table["quantity"].unique())
    write_table(out, table, measure.columns, provenance("metrics", paper, name, settings, metrics_fingerprint))
