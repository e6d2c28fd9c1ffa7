"""Numbers from a run: ``<name>.parquet``, a tidy table whose columns the topic's module declares."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.functions import arguments_for, error_context, paper_function, takes
from learning_dynamics.pipeline.commands.planned import find_job, record_of, verify_science
from learning_dynamics.pipeline.plan.quantities import refuse_unlisted
from learning_dynamics.pipeline.store.arrays import load_arrays, load_trajectory
from learning_dynamics.pipeline.store.tables import write_table
from learning_dynamics.tidy import QUANTITY, Settings
from learning_dynamics.trajectories import Trajectory


def execute(
    paper: str, name: str, /, plan: Path | None = None, fingerprint: str | None = None, files: Sequence[Path] = ()
) -> None:
    """Call the metrics function of the run's name with the settings of measuring, and save its table.

    A function with a parameter `data` is given the data set that the run was simulated on.
    """
    job = find_job("metrics", paper, name, plan=plan, planned_fingerprint=fingerprint, files=files)
    spec, data = job.spec, job.inputs.get("data")
    columns = paper_function(paper, "metrics", spec["function"]).columns
    digests = verify_science(job, spec["function"])
    trajectory, record = load_trajectory(job.inputs["run"], job.made_from)
    arrays = None if data is None else load_arrays(data, record.get("data"))[0]
    table = measure(paper, name, spec, trajectory, arrays)
    if QUANTITY in columns:
        refuse_unlisted(paper, spec["function"], table["quantity"].unique())
    write_table(job.output, table, columns, record_of(job, table.attrs["settings"], digests))


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
