"""Data, runs and metrics: a paper's function called with the settings of a spec, for jobs and for notebooks.

Apart from `functions`, which claims and figures read too: results depend on what a job imports.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from learning_dynamics.errors import DivergenceError
from learning_dynamics.pipeline.commands.functions import arguments_for, data_function, error_context, paper_function
from learning_dynamics.trajectories import Trajectory

Spec = Mapping[str, Any]  # `Plan.data`, `Plan.run`, `Plan.measure`


def make_data(paper: str, name: str, spec: Spec) -> Any:
    """Return a data set's arrays."""
    function = data_function(paper, spec["source"])
    with error_context(f"data {name}", spec["settings"]):
        return function(**arguments_for(function, spec["settings"]))


def simulate(paper: str, name: str, spec: Spec, data: Any = None, resume: Path | None = None) -> Trajectory:
    """Return the trajectory of a run, given its data if it takes any, and where to keep what it has reached.

    Raises
    ------
    ProjectError
        If the run's function refuses its settings.
    DivergenceError
        If a state leaves the finite numbers, except of members that the run itself calls undecided.
    """
    function, settings = paper_function(paper, "runs", spec["kind"]), spec["settings"]
    given = {"data": data, "resume": resume}
    arguments = {key: value for key, value in given.items() if value is not None}
    with error_context(f"run {name}", settings):
        trajectory: Trajectory = function(**arguments, **arguments_for(function, settings))
    decided = slice(None) if trajectory.undecided is None else ~np.asarray(trajectory.undecided, dtype=bool)
    for series, states in trajectory.series.items():
        if np.issubdtype(states.dtype, np.inexact) and not np.isfinite(states[decided]).all():
            when = trajectory.time[np.argwhere(~np.isfinite(states[decided]))[0][1]]
            raise DivergenceError(
                f"{name}: {series} is not finite at time {when:g}; shorten the step or the time, or say with "
                f"`Trajectory(undecided=...)` which members do not arrive; settings {dict(settings)}"
            )
    trajectory.settings = {"kind": spec["kind"], **settings}
    return trajectory


def measure(paper: str, name: str, spec: Spec, trajectory: Trajectory, data: Any = None) -> Any:
    """Return the metrics of a trajectory, given the data set that it was simulated on if its function takes one."""
    function = paper_function(paper, "metrics", spec["kind"])
    arguments = {} if data is None else {"data": data}
    with error_context(f"metrics of {name}", {**trajectory.settings, **spec["settings"]}):
        return function(trajectory, **arguments, **arguments_for(function, spec["settings"]))
