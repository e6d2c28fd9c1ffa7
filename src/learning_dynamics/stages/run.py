"""Simulate or train: ``<name>.npz``, a trajectory of raw states."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from learning_dynamics.errors import DivergenceError
from learning_dynamics.provenance import provenance
from learning_dynamics.trajectory import Trajectory, load_arrays, save_trajectory


def execute(paper: str, name: str, spec: Mapping[str, Any], data: Path | None, out: Path) -> None:
    """Call the run's function with its data and settings and save its trajectory."""
    simulate = getattr(importlib.import_module(f"learning_dynamics.papers.{paper}.runs"), spec["kind"])
    arguments = {} if data is None else {"data": load_arrays(data)[0]}
    trajectory: Trajectory = simulate(**arguments, **spec["settings"])
    for series, states in trajectory.series.items():
        if np.issubdtype(states.dtype, np.floating) and not np.isfinite(states).all():
            when = trajectory.time[np.argwhere(~np.isfinite(states))[0][1]]
            raise DivergenceError(f"{name}: {series} is not finite at time {when:g}; settings {spec['settings']}")
    settings = {"kind": spec["kind"], **spec["settings"]}
    save_trajectory(out, trajectory, provenance("run", paper, name, settings))
