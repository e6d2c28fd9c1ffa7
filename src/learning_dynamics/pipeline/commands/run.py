"""Simulate or train: ``<name>.npz``, a trajectory of raw states."""

import dataclasses
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from learning_dynamics.errors import ProjectError, UnfinishedError
from learning_dynamics.pipeline.commands.functions import check_data, fingerprint_here, paper_function, takes
from learning_dynamics.pipeline.commands.stages import simulate
from learning_dynamics.pipeline.plan import cluster
from learning_dynamics.pipeline.store.arrays import load_arrays, save_trajectory
from learning_dynamics.pipeline.store.provenance import provenance
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
    kind = spec["kind"]
    paper_function(paper, "runs", kind)  # read before its digest is
    run_fingerprint = fingerprint_here("run", paper, kind, spec, made_from, fingerprint)
    check_data(paper, "runs", kind, data)
    arrays, source = None, None
    if data is not None:
        arrays, record = load_arrays(data, made_from)
        source = record["fingerprint"]
        if record["stage"] != "data":
            raise ProjectError(f"{data}: is no data set; name one that `data` has made")
    resume = out.parent.parent / "resume" / run_fingerprint if takes(paper, "runs", kind, "resume") else None
    try:
        trajectory = simulate(paper, name, spec, arrays, resume)
    except UnfinishedError as unfinished:
        if cluster.may_requeue():
            cluster.requeue(str(unfinished))
        raise
    record_of_run = provenance("run", paper, name, trajectory.settings, run_fingerprint)
    if arrays is not None and takes(paper, "metrics", kind, "data"):
        trajectory = without_data(trajectory, arrays)
        record_of_run["data"] = source
    save_trajectory(out, trajectory, record_of_run)
    if resume is not None:
        shutil.rmtree(resume, ignore_errors=True)


def without_data(trajectory: Trajectory, data: Mapping[str, np.ndarray]) -> Trajectory:
    """Return a trajectory less the constants that are arrays of a data set."""
    constants = {name: array for name, array in trajectory.constants.items() if array is not data.get(name)}
    return dataclasses.replace(trajectory, constants=constants)
