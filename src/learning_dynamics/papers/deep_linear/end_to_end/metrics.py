"""Gradient flow of the layers against the end-to-end dynamics, and how balanced the layers stay."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.deep_linear import models as deep_linear
from learning_dynamics.papers.deep_linear.long_tables import (
    DEPTH,
    INDEX,
    PREDICTED,
    QUANTITY,
    SEED,
    TIME,
    VALUE,
    long_table,
    over_time,
)
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory


@columns(DEPTH, SEED, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def end_to_end_flow(trajectory: Trajectory) -> pd.DataFrame:
    """Measure gradient flow of the layers against the end-to-end dynamics.

    Quantities: ``sigma``, singular values of the layers' product, predicted by the integrated rates;
    ``direct``, those of the end-to-end dynamics; ``difference``, ||product - direct||_F; ``drift``, how far
    the differences W_{j+1}^T W_{j+1} - W_j W_j^T have moved from where they were, and ``imbalance``, their
    size, both as the Frobenius norm over all j; ``scale``, ||product||_F; ``eigenvalue``, the extreme ones of
    P_W built term by term (1 smallest, 2 largest), predicted from the singular values.
    """
    constants = trajectory.constants
    W, direct = trajectory.series["end_to_end"], trajectory.series["direct"]
    differences = trajectory.series["gram_differences"]
    eigenvalues, expected = _extreme_eigenvalues(direct, constants["depth"])
    spectrum = singular_values(W)
    none = np.full((*W.shape[:2], 1), np.nan)
    measured: dict[str, tuple[np.ndarray, np.ndarray]] = {
        "sigma": (spectrum, trajectory.series["singular_values"]),
        "direct": (singular_values(direct), np.full(spectrum.shape, np.nan)),
        "difference": (np.linalg.norm(W - direct, axis=(-2, -1))[..., None], none),
        "drift": (np.linalg.norm(differences - differences[:, :1], axis=-1)[..., None], none),
        "imbalance": (np.linalg.norm(differences, axis=-1)[..., None], none),
        "scale": (np.linalg.norm(W, axis=(-2, -1))[..., None], none),
        "eigenvalue": (eigenvalues, expected),
    }
    frames = [
        over_time(name, values, trajectory.time).assign(predicted=predicted.ravel())
        for name, (values, predicted) in measured.items()
    ]
    table = pd.concat(frames, ignore_index=True)
    table["depth"] = constants["depth"][table["member"]]
    table["seed"] = constants["member"][table["member"]]
    return table[[column.name for column in end_to_end_flow.columns]]


def _extreme_eigenvalues(W: np.ndarray, depths: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
    found, expected = np.empty((*W.shape[:2], 2)), np.empty((*W.shape[:2], 2))
    rows, columns_ = W.shape[-2:]
    for member, depth in enumerate(depths):
        for time, matrix in enumerate(W[member]):
            found[member, time] = np.linalg.eigvalsh(deep_linear.preconditioner(matrix, int(depth)))[[0, -1]]
            values = np.linalg.svd(matrix, compute_uv=False)
            left, right = (np.pad(values, (0, size - len(values))) for size in (rows, columns_))
            factors = deep_linear.preconditioner_factors(left, right, int(depth))
            expected[member, time] = factors.min(), factors.max()
    return found, expected


@columns(Column("learning_rate", "float", "step size"), SEED, QUANTITY, VALUE)
def balancedness_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure ``drift``: how far gradient descent has moved the differences of layers' Gram matrices by its end."""
    differences = trajectory.series["gram_differences"]
    labels = {"learning_rate": trajectory.constants["learning_rate"], "seed": trajectory.constants["member"]}
    return long_table(labels, {"drift": np.linalg.norm(differences[:, -1] - differences[:, 0], axis=-1)})
