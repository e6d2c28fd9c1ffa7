"""Simulate or train: ``<name>.npz``, a trajectory of raw states."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from learning_dynamics.errors import DivergenceError
from learning_dynamics.pipeline.arrays import load_arrays, save_trajectory
from learning_dynamics.pipeline.provenance import provenance
from learning_dynamics.pipeline.stages.functions import fingerprint_here, paper_function, told
from learning_dynamics.trajectory import Trajectory


def execute(
    paper: str,
    name: str,
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
    code that has changed since. It is removed when the trajectory is saved.
    """
    simulate = paper_function(paper, "runs", spec["kind"])
    made = fingerprint_here("run", paper, spec["kind"], spec, made_from, fingerprint)
    arguments: dict[str, Any] = {}
    if data is not None:
        arguments["data"], _ = load_arrays(data, made_from)
    resume = None
    if "resume" in inspect.signature(simulate).parameters:
        resume = out.parent.parent / "resume" / made
        arguments["resume"] = resume
    with told(f"run {name}", spec["settings"]):
        trajectory: Trajectory = simulate(**arguments, **spec["settings"])
    check_finite(name, trajectory, spec["settings"])
    settings = {"kind": spec["kind"], **spec["settings"]}
    save_trajectory(out, trajectory, provenance("run", paper, name, settings, made))
    if resume is not None:
        shutil.rmtree(resume, ignore_errors=True)


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
            raise DivergenceError(f"{name}: {series} is not finite at time {when:g}; settings {dict(settings)}")
