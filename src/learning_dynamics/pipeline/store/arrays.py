"""Data sets and trajectories as ``.npz`` files of named arrays, with their provenance."""

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.store.provenance import KEY, check_made_from
from learning_dynamics.pipeline.store.seals import opened, sealing
from learning_dynamics.trajectories import Arrays, Trajectory

# what reading raises where an archive is truncated, damaged or something else
READ_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, RuntimeError),
    *(ValueError, EOFError, OSError, AttributeError, TypeError, KeyError),
)
N_SAMPLES, SAMPLE_BYTES = 8, 8192  # of an array that is to be written, and bytes of each, by which compression is tried


def save_arrays(path: str | Path, arrays: Mapping[str, np.ndarray], record: Mapping[str, Any]) -> None:
    """Write arrays and their provenance to an ``.npz``, whole or not at all; what is worth it is compressed."""
    with sealing(path) as partial, zipfile.ZipFile(partial, "w", compresslevel=1) as archive:
        for name, values in {KEY: np.array(json.dumps(record)), **arrays}.items():
            array = np.asarray(values)
            archive.compression = zipfile.ZIP_DEFLATED if _is_compressible(array) else zipfile.ZIP_STORED
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _is_compressible(array: np.ndarray) -> bool:
    """Whether compression takes a thirtieth or more of an array away, by pieces from all over it."""
    flat = array.reshape(-1)
    starts = np.linspace(0, flat.size, N_SAMPLES, endpoint=False, dtype=int)
    sample = b"".join(flat[start : start + SAMPLE_BYTES // max(array.itemsize, 1)].tobytes() for start in starts)
    return len(zlib.compress(sample, 1)) <= 0.97 * len(sample)


def load_arrays(path: str | Path, fingerprint: str | None = None) -> tuple[Arrays, dict[str, Any]]:
    """Read what `save_arrays` wrote.

    Parameters
    ----------
    fingerprint : str, optional
        What the file must have been made from.

    Returns
    -------
    arrays : dict of ndarray
    record : dict
        The provenance.

    Raises
    ------
    ProjectError
        If the file is missing, not as it was written, not one of ours, or not the one of this fingerprint.
    """
    arrays, record = _read(path, None)
    check_made_from(path, record, fingerprint)
    return arrays, record


def read_record(path: str | Path) -> dict[str, Any]:
    """Return the provenance of an ``.npz`` without reading its arrays; see `load_arrays` for the errors."""
    return _read(path, ())[1]


def _read(path: str | Path, names: tuple[str, ...] | None) -> tuple[Arrays, dict[str, Any]]:
    foreign = ProjectError(f"{path}: not written by learning-dynamics; delete it and run snakemake again")
    try:
        with opened(path) as stream, np.load(stream, allow_pickle=False) as archive:
            if not hasattr(archive, "files") or KEY not in archive.files:
                raise foreign
            record = json.loads(str(archive[KEY]))
            arrays = {name: archive[name] for name in (archive.files if names is None else names) if name != KEY}
    except json.JSONDecodeError:
        raise foreign from None
    except READ_ERRORS as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the disk or network, not of the archive
            raise ProjectError(f"{path}: cannot be read ({error.strerror})") from error
        raise ProjectError(f"{path}: not an .npz archive; delete it and run snakemake again") from error
    if not isinstance(record, dict):
        raise foreign
    return arrays, record


def save_trajectory(path: str | Path, trajectory: Trajectory, record: Mapping[str, Any]) -> None:
    """Write a trajectory with its provenance."""
    arrays = {"time": trajectory.time}
    arrays |= {f"series/{name}": array for name, array in trajectory.series.items()}
    arrays |= {f"constants/{name}": np.asarray(array) for name, array in trajectory.constants.items()}
    if trajectory.undecided is not None:
        arrays["undecided"] = np.asarray(trajectory.undecided, dtype=bool)
    save_arrays(path, arrays, record)


def load_trajectory(path: str | Path, fingerprint: str | None = None) -> tuple[Trajectory, dict[str, Any]]:
    """Read a trajectory and its provenance; see `load_arrays` for the errors."""
    arrays, record = load_arrays(path, fingerprint)

    def group(prefix: str) -> Arrays:
        return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

    error = ProjectError(f"{path}: holds no trajectory; delete it and run snakemake again")
    if (
        "time" not in arrays
        or arrays["time"].ndim != 1
        or not group("series/")
        or not isinstance(record.get("settings"), dict)
    ):
        raise error
    try:
        trajectory = Trajectory(
            arrays["time"], group("series/"), group("constants/"), record["settings"], arrays.get("undecided")
        )
    except ValueError:
        raise error from None
    return trajectory, record
