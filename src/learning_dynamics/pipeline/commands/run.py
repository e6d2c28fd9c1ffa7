"""Simulate or train: ``<name>.npz``, a trajectory of raw states."""

import dataclasses
import inspect
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from learning_dynamics.errors import DivergenceError, ProjectError, UnfinishedError
from learning_dynamics.pipeline.commands.functions import (
    arguments_for,
    error_context,
    fingerprint_here,
    paper_function,
    takes_data,
)
from learning_dynamics.pipeline.store.arrays import load_arrays, save_trajectory
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.study import cluster
from learning_dynamics.trajectories import Trajectory


def execute(
    paper: str,
    name: str,
    /,
    spec: Mapping[str, Any],
    data: Path | None,
    out: Path,
    made_from: str | None = None,
    fingerprint: str | None = None,
) -> None:
    """Call the run's function with its data and settings and save its trajectory.

    A function with a parameter `resume` is given a folder in which it may keep what it has reached. The
    folder lies outside the declared outputs, which Snakemake deletes before a job, under the fingerprint of
    settings, data and science, so that nothing takes up the state of another configuration or of
    code that has changed since. It is removed when the trajectory is saved. A job of Slurm's that runs out of time
    before the function is done goes back into the queue, and on from there.

    Constants that are arrays of the data set are not written where metrics are given the data set anyway.
    """
    simulate = paper_function(paper, "runs", spec["kind"])
    run_fingerprint = fingerprint_here("run", paper, spec["kind"], spec, made_from, fingerprint)
    arguments: dict[str, Any] = {}
    takes = inspect.signature(simulate).parameters
    if ("data" in takes) != (data is not None):
        mend = "takes a data set; name its .npz" if data is None else "takes no data set; leave it out"
        raise ProjectError(f"--data: `{spec['kind']}` {mend}")
    source: str | None = None
    if data is not None:
        arguments["data"], record = load_arrays(data, made_from)
        source = record["fingerprint"]
        if record["stage"] != "data":
            raise ProjectError(f"{data}: is no data set; name one that `data` has made")
    resume = None
    if "resume" in takes:
        resume = out.parent.parent / "resume" / run_fingerprint
        arguments["resume"] = resume
    try:
        with error_context(f"run {name}", spec["settings"]):
            trajectory: Trajectory = simulate(**arguments, **arguments_for(simulate, spec["settings"]))
    except UnfinishedError as unfinished:
        if cluster.may_requeue():
            cluster.requeue(str(unfinished))
        raise
    check_finite(name, trajectory, spec["settings"])
    settings = {"kind": spec["kind"], **spec["settings"]}
    record_of_run = provenance("run", paper, name, settings, run_fingerprint)
    if data is not None and takes_data(paper, "metrics", spec["kind"]):
        trajectory = without_data(trajectory, arguments["data"])
        record_of_run["data"] = source
    save_trajectory(out, trajectory, record_of_run)
    if resume is not None:
        shutil.rmtree(resume, ignore_errors=True)


def without_data(trajectory: Trajectory, data: Mapping[str, np.ndarray]) -> Trajectory:
    """Return a trajectory less the constants that are arrays of a data set."""
    constants = {name: array for name, array in trajectory.constants.items() if array is not data.get(name)}
    return dataclasses.replace(trajectory, constants=constants)


def check_finite(name: str, trajectory: Trajectory, settings: Mapping[str, Any]) -> None:
    """Refuse states that left the finite numbers, but for members that the run itself calls undecided.

    Raises
    ------
    DivergenceError
        It names the series, the time and the settings.
    """
    decided = slice(None) if trajectory.undecided is None else ~np.asarray(trajectory.undecided, dtype=bool)
    for series, states in trajectory.series.items():
        if np.issubdtype(states.dtype, np.inexact) and not np.isfinite(states[decided]).all():
            when = trajectory.time[np.argwhere(~np.isfinite(states[decided]))[0][1]]
            raise DivergenceError(
                f"{name}: {series} is not finite at time {when:g}; shorten the step or the time, or say with "
                f"`Trajectory(undecided=...)` which members do not arrive; settings {dict(settings)}"
            )
