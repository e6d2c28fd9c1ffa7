"""Simulate or train: ``<name>.npz``, a trajectory of raw states."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from learning_dynamics.errors import DivergenceError, UnfinishedError
from learning_dynamics.pipeline.commands.functions import arguments_for, error_context, paper_function, takes
from learning_dynamics.pipeline.commands.planned import find_job, record_of, verify_science
from learning_dynamics.pipeline.plan import cluster
from learning_dynamics.pipeline.store.arrays import load_arrays, save_trajectory
from learning_dynamics.trajectories import Trajectory


def execute(
    paper: str, name: str, /, plan: Path | None = None, fingerprint: str | None = None, files: Sequence[Path] = ()
) -> None:
    """Call the run's function with its data and settings and save its trajectory.

    A function with a parameter `resume` is given a folder in which it may keep its state. The folder is outside the
    declared outputs, which Snakemake deletes before a job. Its name is the fingerprint of settings, data and science,
    so that no run resumes from the state of another configuration or of other code. It is removed when the trajectory
    is saved. If a Slurm job's time ends before the function is done, the job goes back into the queue, and later
    resumes.

    Constants that are arrays of the data set are not written where metrics are given the data set anyway.
    """
    job = find_job("run", paper, name, plan=plan, planned_fingerprint=fingerprint, files=files)
    spec, function_name = job.spec, job.spec["function"]
    paper_function(paper, "runs", function_name)  # read before its digest is
    digests = verify_science(job, function_name)
    data = job.inputs.get("data")
    arrays, record_of_data = (None, {}) if data is None else load_arrays(data, job.made_from)
    resume = Path(job.folder, "resume", job.fingerprint)
    try:
        trajectory = simulate(paper, name, spec, arrays, resume)
    except UnfinishedError as unfinished:
        if cluster.may_requeue():
            cluster.requeue(str(unfinished))
        raise
    record = record_of(job, trajectory.settings, digests)
    if arrays is not None and takes(paper, "metrics", function_name, "data"):
        own = {key: array for key, array in trajectory.constants.items() if array is not arrays.get(key)}
        trajectory = replace(trajectory, constants=own)
        record["data"] = record_of_data["fingerprint"]
    save_trajectory(job.output, trajectory, record)
    shutil.rmtree(resume, ignore_errors=True)


def simulate(
    paper: str, name: str, spec: Mapping[str, Any], data: Any = None, resume: Path | None = None
) -> Trajectory:
    """Return the trajectory of a run, given function and settings as `Plan.run` has them, and its data if it takes any.

    The run keeps its state in the folder `resume`; without one, in a temporary folder that is deleted when it ends.

    Raises
    ------
    ProjectError
        If the run's function refuses its settings.
    DivergenceError
        If a state leaves the finite numbers, except of members that the run itself calls undecided.
    """
    function, settings = paper_function(paper, "runs", spec["function"]), spec["settings"]
    arguments = arguments_for(function, settings) | ({} if data is None else {"data": data})
    with tempfile.TemporaryDirectory() as folder, error_context(f"run {name}", settings):
        if takes(paper, "runs", spec["function"], "resume"):
            arguments["resume"] = resume or Path(folder)
        trajectory: Trajectory = function(**arguments)
    decided = slice(None) if trajectory.undecided is None else ~np.asarray(trajectory.undecided, dtype=bool)
    for series, states in trajectory.series.items():
        if np.issubdtype(states.dtype, np.inexact) and not np.isfinite(states[decided]).all():
            when = trajectory.time[np.argwhere(~np.isfinite(states[decided]))[0][1]]
            raise DivergenceError(
                f"{name}: {series} is not finite at time {when:g}; shorten the step or the time, or say with "
                f"`Trajectory(undecided=...)` which members do not arrive; settings {dict(settings)}"
            )
    trajectory.settings = {"function": spec["function"], **settings}
    return trajectory
