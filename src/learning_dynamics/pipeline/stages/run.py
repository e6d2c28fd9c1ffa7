"""Simulate or train: ``<name>.npz``, a trajectory of raw states."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from learning_dynamics.errors import DivergenceError
from learning_dynamics.pipeline.provenance import digest, provenance
from learning_dynamics.pipeline.sources import source_files, stage_modules
from learning_dynamics.pipeline.stages.papers import paper_function
from learning_dynamics.trajectory import Trajectory, load_arrays, save_trajectory


def execute(paper: str, name: str, spec: Mapping[str, Any], data: Path | None, out: Path) -> None:
    """Call the run's function with its data and settings and save its trajectory.

    A function with a parameter `resume` is given a folder in which it may keep what it has reached. The
    folder lies outside the declared outputs, which Snakemake deletes before a job, under the digest of the
    settings of run and data and of the code, so that nothing takes up the state of another configuration or of
    code that has changed since. It is removed when the trajectory is saved.
    """
    simulate = paper_function(paper, "runs", spec["kind"])
    arguments: dict[str, Any] = {}
    made_from = None
    if data is not None:
        arguments["data"], record = load_arrays(data)
        made_from = [record["name"], record["config_digest"]]
    resume = None
    if "resume" in inspect.signature(simulate).parameters:
        code = [path.read_text() for path in source_files(stage_modules("run", paper, spec["kind"]))]
        resume = out.parent.parent / "resume" / digest([spec["kind"], spec["settings"], made_from, code])
        arguments["resume"] = resume
    trajectory: Trajectory = simulate(**arguments, **spec["settings"])
    for series, states in trajectory.series.items():
        if np.issubdtype(states.dtype, np.floating) and not np.isfinite(states).all():
            when = trajectory.time[np.argwhere(~np.isfinite(states))[0][1]]
            raise DivergenceError(f"{name}: {series} is not finite at time {when:g}; settings {spec['settings']}")
    settings = {"kind": spec["kind"], **spec["settings"]}
    save_trajectory(out, trajectory, provenance("run", paper, name, settings))
    if resume is not None:
        shutil.rmtree(resume, ignore_errors=True)
