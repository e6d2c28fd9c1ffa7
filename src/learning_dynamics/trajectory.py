"""Named arrays over time for an ensemble, and the ``.npz`` files that data and runs are kept in."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import replacing
from learning_dynamics.pipeline.provenance import KEY

Arrays = dict[str, np.ndarray]


@dataclass
class Trajectory:
    """What a run leaves behind: raw states, never metrics.

    Attributes
    ----------
    time : ndarray, shape (times,)
        When the states were recorded; the unit is the run's own (flow time, steps, epochs).
    series : dict of ndarray, each of shape (members, times, ...)
        One state per ensemble member and recorded time.
    constants : dict of ndarray
        What does not change during the run (data, initialisation), or belongs to its end.
    settings : dict
        The run's settings, filled in when the file is read.
    """

    time: np.ndarray
    series: Arrays
    constants: Arrays = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, array in self.series.items():
            if array.ndim < 2 or array.shape[1] != len(self.time):
                raise ValueError(f"series {name!r} has shape {array.shape}; expected (members, {len(self.time)}, ...)")

    @property
    def members(self) -> int:
        """Number of ensemble members."""
        return len(next(iter(self.series.values())))


def save_arrays(path: str | Path, arrays: Mapping[str, np.ndarray], record: Mapping[str, Any]) -> None:
    """Write arrays and their provenance to an uncompressed ``.npz``, whole or not at all."""
    with replacing(path) as partial, open(partial, "wb") as stream:
        np.savez(stream, **{KEY: np.array(json.dumps(record)), **arrays})  # type: ignore[arg-type]


def load_arrays(path: str | Path) -> tuple[Arrays, dict[str, Any]]:
    """Read what `save_arrays` wrote.

    Returns
    -------
    arrays : dict of ndarray
    record : dict
        The provenance.

    Raises
    ------
    ProjectError
        If the file is missing, truncated or not one of ours.
    """
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            if not hasattr(archive, "files") or KEY not in archive.files:
                raise ProjectError(f"{path}: not written by learning-dynamics; delete it and run snakemake again")
            arrays = {name: archive[name] for name in archive.files}
    except FileNotFoundError:
        raise ProjectError(f"{path}: no such file; run snakemake to make it") from None
    except (zipfile.BadZipFile, ValueError, EOFError, OSError, AttributeError, TypeError) as error:
        raise ProjectError(f"{path}: truncated, or not an .npz archive; delete it and run snakemake again") from error
    return arrays, json.loads(str(arrays.pop(KEY)))


def save_trajectory(path: str | Path, trajectory: Trajectory, record: Mapping[str, Any]) -> None:
    """Write a trajectory with its provenance."""
    arrays = {"time": trajectory.time}
    arrays |= {f"series/{name}": array for name, array in trajectory.series.items()}
    arrays |= {f"constants/{name}": np.asarray(array) for name, array in trajectory.constants.items()}
    save_arrays(path, arrays, record)


def load_trajectory(path: str | Path) -> Trajectory:
    """Read a trajectory; see `load_arrays` for the errors."""
    arrays, record = load_arrays(path)
    if "time" not in arrays:
        raise ProjectError(f"{path}: holds no trajectory; delete it and run snakemake again")

    def group(prefix: str) -> Arrays:
        return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

    return Trajectory(arrays["time"], group("series/"), group("constants/"), record["settings"])
