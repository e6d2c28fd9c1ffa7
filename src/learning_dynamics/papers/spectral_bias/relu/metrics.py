"""Spectra, ranks and plateaus of a ReLU student."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.measures.plateaus import plateaus
from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias.rows import INDEX, QUANTITY, SEED, TIME, VALUE, tidy
from learning_dynamics.tables import columns
from learning_dynamics.trajectory import Trajectory

# shares of |W|^2 in percent that the counted singular values must carry
CARRIED = (90, 95, 99)
# a plateau: the loss falls more slowly than time to this power, is above this share of its first value, and
# time grows by this factor
SLOPE, FLOOR, LEAST = 0.5, 1e-4, 1.25


@columns(SEED, TIME, QUANTITY, INDEX, VALUE)
def relu_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure a ReLU student.

    Quantities: ``loss``; ``sigma_w1``, singular values of the hidden layer; ``rank``, how many of them carry
    the share of |W|^2 that the index gives in percent; ``plateau_start`` and ``plateau_end``, times of the
    loss curve's plateaus, numbered by the index, at time 0.
    """
    W, a = trajectory.series["W1"], trajectory.series["W2"]
    X, y = trajectory.constants["X"][:, None], trajectory.constants["y"][:, None]
    from learning_dynamics.papers.spectral_bias.relu import (
        models as relu_student,  # imports numba, which no other run waits for
    )

    losses = relu_student.loss(W, a, X, y)
    sigma = singular_values(W)
    carried = np.cumsum(sigma**2, axis=-1) / np.sum(sigma**2, axis=-1, keepdims=True)
    ranks = np.stack([1 + np.sum(carried < share / 100, axis=-1) for share in CARRIED], axis=-1).astype(float)
    table = tidy({"loss": (losses[..., None], None), "sigma_w1": (sigma, None), "rank": (ranks, None)}, trajectory.time)
    table.loc[table["quantity"] == "rank", "index"] = np.tile(CARRIED, ranks[..., 0].size)
    rows = []
    for seed, curve in enumerate(losses):
        for number, (first, last) in enumerate(plateaus(trajectory.time[1:], curve[1:], SLOPE, FLOOR, LEAST), start=1):
            rows.append((seed, 0.0, "plateau_start", number, trajectory.time[1 + first]))
            rows.append((seed, 0.0, "plateau_end", number, trajectory.time[1 + last]))
    names = [column.name for column in relu_descent.columns]
    return pd.concat([table[names], pd.DataFrame(rows, columns=names)], ignore_index=True)
