"""Numbers from a run: ``<name>.parquet``, a tidy table whose columns the topic's module declares."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.functions import (
    arguments_for,
    error_context,
    fingerprint_here,
    paper_function,
    takes,
)
from learning_dynamics.pipeline.plan.quantities import refuse_unlisted
from learning_dynamics.pipeline.store.arrays import load_arrays, load_trajectory
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.tables import write_table
from learning_dynamics.tidy import QUANTITY, Settings
from learning_dynamics.trajectories import Trajectory


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
    """Call the metrics function of the run's name with the settings of measuring, and save its table.

    A function with a parameter `data` is given the data set that the run was simulated on.
    """
    columns = paper_function(paper, "metrics", spec["function"]).columns
    metrics_fingerprint = fingerprint_here("metrics", paper, spec["function"], spec, made_from, fingerprint)
    trajectory, record = load_trajectory(run, made_from)
    arrays = None if data is None else load_arrays(data, record.get("data"))[0]
    table = measure(paper, name, spec, trajectory, arrays)
    if QUANTITY in columns:
        refuse_unlisted(paper, spec["function"], table["quantity"].unique())
    record = provenance("metrics", paper, name, table.attrs["settings"], metrics_fingerprint)
    write_table(out, table, columns, record)


def measure(paper: str, name: str, spec: Mapping[str, Any], trajectory: Trajectory, data: Any = None) -> pd.DataFrame:
    """Return the metrics of a trajectory, given function and settings as `Plan.measure` has them.

    ``attrs`` hold the settings of run and metrics, and the run's name. A function that takes a data set is given
    `data`, without it the constants of the trajectory, which hold the data set of one that was simulated here.

    Raises
    ------
    ProjectError
        If the trajectory is of another kind of run.
    """
    function_name = trajectory.settings.get("function")
    if function_name != spec["function"]:
        raise ProjectError(
            f"{paper} {name}: measures {spec['function']}; this trajectory is of {function_name or 'nothing known'}"
        )
    function = paper_function(paper, "metrics", function_name)
    arguments = arguments_for(function, spec["settings"])
    if takes(paper, "metrics", function_name, "data"):
        arguments["data"] = trajectory.constants if data is None else data
    settings = {**trajectory.settings, **spec["settings"]}
    with error_context(f"metrics of {name}", settings):
        table: pd.DataFrame = function(trajectory, **arguments)
    table.attrs |= {"settings": Settings(settings), "run": name}
    return table
