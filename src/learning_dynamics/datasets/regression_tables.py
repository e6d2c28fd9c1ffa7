"""Real regression problems with one output: features and labels, both z-scored."""

import hashlib
import zipfile
from pathlib import Path
from typing import Literal

import numpy as np
from sklearn.datasets import load_diabetes, load_iris, load_linnerud, load_wine

from learning_dynamics.datasets.downloads import read_file
from learning_dynamics.errors import ProjectError
from learning_dynamics.files import configured_path

GAS_SENSOR_PAGE = "https://archive.ics.uci.edu/dataset/270/gas+sensor+array+drift+dataset+at+different+concentrations"
ETHANOL, SAMPLES, FEATURES = 1, 2565, 128  # the archive's number of the gas; rows of it; features of a row
LOADERS = {"iris": load_iris, "linnerud": load_linnerud, "wine": load_wine}


def diabetes() -> dict[str, np.ndarray]:
    """The diabetes progression data that ship with scikit-learn (Efron et al. 2004).

    Returns
    -------
    dict
        X, shape (442, 10); Y, shape (442, 1).
    """
    X, Y = load_diabetes(return_X_y=True)
    return {"X": _standardised(X), "Y": _standardised(Y[:, None])}


def shipped(*, table: Literal["iris", "linnerud", "wine"]) -> dict[str, np.ndarray]:
    """A small table, besides `diabetes`, that ships with scikit-learn; its label is the first that scikit-learn gives.

    Of iris and wine that is the number of the class, of linnerud the weight.

    Returns
    -------
    dict
        X, shape (150, 4), (20, 3) or (178, 13); Y, with one column.
    """
    X, Y = LOADERS[table](return_X_y=True)
    return {"X": _standardised(X), "Y": _standardised(Y.reshape(len(X), -1)[:, :1].astype(float))}


def gas_sensor(*, file: str, sha256: str | None = None) -> dict[str, np.ndarray]:
    """Ethanol concentration from the UCI gas-sensor array data (id 270), from a file that the user downloads.

    Parameters
    ----------
    file : str
        The archive as UCI serves it, a zip of ``batch1.dat`` to ``batch10.dat``.
    sha256 : str, optional
        What the archive's digest must be. The digest found is kept with the data either way.

    Returns
    -------
    dict
        X, shape (2565, 128); Y, shape (2565, 1); sha256, the archive's digest.

    Raises
    ------
    ProjectError
        If the file is missing, is another one, does not hold the ethanol problem's 2565 x 128 numbers, or holds
        numbers that are not finite or a column that does not vary.
    """
    path = configured_path(file, "file")
    if not path.is_file():
        raise ProjectError(f"{path}: no such file; download the archive from {GAS_SENSOR_PAGE} and put it there")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if sha256 is not None and found != sha256.lower():
        raise ProjectError(f"{path}: its SHA-256 is {found}, not {sha256}; download it again from {GAS_SENSOR_PAGE}")
    table = read_file(path, _read_ethanol_rows, fix=f"the archive comes from {GAS_SENSOR_PAGE}")
    if table.shape != (SAMPLES, 1 + FEATURES):
        raise ProjectError(
            f"{path}: holds {len(table)} rows on ethanol, not {SAMPLES} with {FEATURES} features; "
            f"the archive comes from {GAS_SENSOR_PAGE}"
        )
    if not np.isfinite(table).all():
        raise ProjectError(
            f"{path}: a row on ethanol holds {table[~np.isfinite(table)][0]:g}, which is no measurement; "
            f"download the archive again from {GAS_SENSOR_PAGE}"
        )
    if not table.std(axis=0).all():
        column = int(np.argmin(table.std(axis=0)))
        name = f"feature {column}" if column else "the concentration"
        raise ProjectError(f"{path}: {name} is the same in every row on ethanol, and has no z-score")
    return {"X": _standardised(table[:, 1:]), "Y": _standardised(table[:, :1]), "sha256": np.array(found)}


def _read_ethanol_rows(path: Path) -> np.ndarray:
    """Return concentration and features of all rows on ethanol, shape (rows, 1 + features)."""
    rows = []
    with zipfile.ZipFile(path) as archive:
        for name in sorted(name for name in archive.namelist() if Path(name).match("batch*.dat")):
            for number, line in enumerate(archive.read(name).decode().splitlines(), start=1):
                if line.strip() and int(line.partition(";")[0]) == ETHANOL:
                    rows.append(_parse_row(line, f"{name}, line {number}"))
    return np.array(rows)


def _parse_row(line: str, place: str) -> list[float]:
    """Return concentration and features of a row ``gas;concentration 1:value 2:value ...``.

    Raises
    ------
    ValueError
        If features are not numbered 1, 2, ..., 128 in this order: columns would be mixed.
    """
    head, *pairs = line.split()
    numbers = [int(pair.partition(":")[0]) for pair in pairs]
    if len(numbers) != FEATURES:
        raise ValueError(f"{place}: has {len(numbers)} features, not {FEATURES}")
    for expected, number in enumerate(numbers, start=1):
        if number != expected:
            raise ValueError(f"{place}: feature {number} is where {expected} must be, of 1 to {FEATURES} in order")
    return [float(head.partition(";")[2]), *(float(pair.partition(":")[2]) for pair in pairs)]


def _standardised(columns: np.ndarray) -> np.ndarray:
    return (columns - columns.mean(axis=0)) / columns.std(axis=0)
