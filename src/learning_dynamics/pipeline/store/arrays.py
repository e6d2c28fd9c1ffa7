"""Data sets and trajectories as ``.npz`` files of named arrays, with their stamps."""

import json
import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.store.stamps import KEY, check_made_from, reading
from learning_dynamics.trajectories import Arrays, Trajectory

# compression is tried on `N_SAMPLES` pieces of an array, each of `SAMPLE_BYTES`; chosen: 64 KiB in all
N_SAMPLES = 8
SAMPLE_BYTES = 8192


def save_arrays(path: str | Path, arrays: Mapping[str, np.ndarray], record: Mapping[str, Any]) -> None:
    """Write arrays and their stamps to an ``.npz``, whole or not at all; what is worth it is compressed.

    Raises
    ------
    ProjectError
        If an array has masked entries, which the file could not tell from others.
    """
    for name, values in arrays.items():
        if np.ma.is_masked(values):
            raise ProjectError(f"{path}: array `{name}` has masked entries; leave them out, or fill them")
    # the names are written down: a zip archive does not notice that its directory has lost an entry
    description = np.array(json.dumps({**record, "arrays": list(arrays)}))
    with atomic_write(path) as partial, zipfile.ZipFile(partial, "w", compresslevel=1) as archive:
        for name, values in {KEY: description, **arrays}.items():
            array = np.asarray(values)
            archive.compression = zipfile.ZIP_DEFLATED if _is_compressible(array) else zipfile.ZIP_STORED
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def _is_compressible(array: np.ndarray) -> bool:
    """Whether compression takes a thirtieth or more of an array away, by pieces from all over it.

    The share is chosen: less is not worth the time of compressing.
    """
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
        The stamp.

    Raises
    ------
    ProjectError
        If the file is missing, damaged, not an output of this project, or not the one of this fingerprint.
    """
    arrays = _read(path)
    record = _parse(path, arrays.pop(KEY))
    with reading(path):
        if record.pop("arrays", list(arrays)) != list(arrays):
            raise ValueError("arrays are missing")
    check_made_from(path, record, fingerprint)
    return arrays, record


def read_record(path: str | Path) -> dict[str, Any]:
    """Return the stamp of an ``.npz`` without reading its arrays; see `load_arrays` for the errors."""
    record = _parse(path, _read(path, [KEY])[KEY])
    record.pop("arrays", None)
    return record


def _parse(path: str | Path, record: np.ndarray) -> dict[str, Any]:
    """Return the stamp that an array of text holds as JSON."""
    with reading(path):
        return dict(json.loads(str(record)))


def _read(path: str | Path, names: Collection[str] | None = None) -> Arrays:
    """Return some arrays of an archive; without `names` all, and an archive without the stamp's is an error."""
    arrays = {}
    with reading(path), zipfile.ZipFile(path) as archive:
        if names is None:
            entries = [entry.removesuffix(".npy") for entry in archive.namelist()]
            names = dict.fromkeys([KEY, *entries])
        for name in names:
            with archive.open(f"{name}.npy") as entry:
                arrays[name] = np.lib.format.read_array(entry, allow_pickle=False)
                if entry.read():  # at the end of an entry its CRC is checked
                    raise ValueError(f"{name}.npy is longer than its array")
    return arrays


def save_trajectory(path: str | Path, trajectory: Trajectory, record: Mapping[str, Any]) -> None:
    """Write a trajectory with its stamp."""
    arrays = {"time": trajectory.time}
    arrays |= {f"series/{name}": array for name, array in trajectory.series.items()}
    arrays |= {f"constants/{name}": array for name, array in trajectory.constants.items()}
    if trajectory.undecided is not None:
        arrays["undecided"] = np.asarray(trajectory.undecided, dtype=bool)
    save_arrays(path, arrays, record)


def load_trajectory(path: str | Path, fingerprint: str | None = None) -> tuple[Trajectory, dict[str, Any]]:
    """Read a trajectory and its stamp; see `load_arrays` for the errors."""
    arrays, record = load_arrays(path, fingerprint)

    def group(prefix: str) -> Arrays:
        return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}

    with reading(path):
        series = group("series/")
        if not series:
            raise ValueError("no series")
        trajectory = Trajectory(
            arrays["time"], series, group("constants/"), dict(record["settings"]), arrays.get("undecided")
        )
    return trajectory, record
