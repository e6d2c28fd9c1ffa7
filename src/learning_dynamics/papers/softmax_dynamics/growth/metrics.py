"""How fast singular values grow at balanced starts, and while predictions stay uniform.

Series are the features `f`, (members, times, rows, d), and the classifier `W`, (members, times, d, V), with zeros
behind a member's own rows and classes. Rows of f are examples sorted by class, the largest class first; for repeated
contexts there is one row for each class. Constants are `classes`, the number V of classes, `largest`, the size N of the
largest class, and, for initial states only, `scale`, (members,) each. Every other class has one example. A cell is one
combination of these constants. Members come cell by cell, each cell with as many draws as the setting `seeds`, and the
column `seed` has the number of the draw.

A is the residual of eq. 12, the derivative of the loss by the logits f W. The i-th singular value of f and its singular
vectors are sigma_1i, u_1i and v_1i, those of W sigma_2i, u_2i and v_2i, numbered from the largest down; in
g_i = u_1i^T A v_2i they are paired. So the f and W of an initial state must have equally many: d is at most V, or V is
the number of rows.

Initial states have one time. `early_growth` has times in units of 1 / sqrt(N), `repeated_contexts` in units of 1 / N,
while growth rates are per unit of flow time.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from learning_dynamics.papers.softmax_dynamics import cells, starts, theory
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics.spectra import paired_svd, sorted_svd
from learning_dynamics.tidy import Column, Tables, columns
from learning_dynamics.trajectories import Trajectory

LARGEST = Column("largest", "int", "size of the largest class; the others have one example", draw=True)


@columns(
    cells.CLASSES,
    LARGEST,
    cells.FEATURES_SCALE,
    cells.MEMBER,
    Column("index", "int", "1, 2, ... singular values, descending"),
    Column("sigma", "float", "singular value of the features"),
    Column("rate", "float", "its derivative, u^T (df/dt) v"),
    Column("gain", "float", "g_i at the actual predictions"),
    Column("gain_many_classes", "float", "g_i without terms of order 1/V, the inner sum within the outer (eq. 21)"),
    Column("gain_separate", "float", "the same with the two sums of eq. 21 taken apart"),
    Column("fastest", "float", "spectral norm of A at uniform predictions"),
)
def initial_states(trajectory: Trajectory) -> Tables:
    """Measure how fast singular values grow at random balanced initial states."""
    for members, counts in _cells(trajectory):
        labels = model.one_hot(counts)
        # the cell's own rows and classes, without the zeros behind them, at the one time
        f = trajectory.series["f"][members, 0, : len(labels)]
        W = trajectory.series["W"][members, 0, :, : len(counts)]
        A = model.residual(f, W, labels, "cross_entropy")
        (U1, S1, V1), (_, _, V2) = paired_svd(f, W)
        rate = theory.singular_value_rates(U1, -A @ np.swapaxes(W, -1, -2), V1)  # df/dt by eq. 12
        seed, index = np.indices(S1.shape)
        yield pd.DataFrame(
            {
                "classes": len(counts),
                "largest": counts[0],
                # all members of a cell have its scale, so that the first one's serves
                "scale": trajectory.constants["scale"][members.start],
                "seed": seed.ravel(),
                "index": index.ravel() + 1,
                "sigma": S1.ravel(),
                "rate": rate.ravel(),
                "gain": theory.gains(U1, A, V2).ravel(),
                # eq. 21: without terms in 1/V the residual is minus the one-hot labels, so that g_i becomes -sum_k
                # v_2ik sum_(j of class k) u_1ij, the inner sum within the outer; `gain_separate` multiplies the two
                # sums, each over all of its entries
                "gain_many_classes": theory.gains(U1, -labels, V2).ravel(),
                "gain_separate": (-U1.sum(axis=-2) * V2.sum(axis=-2)).ravel(),
                "fastest": theory.fastest_growth(counts),
            }
        )


EARLY = (
    cells.CLASSES,
    LARGEST,
    cells.MEMBER,
    Column("time", "float", "flow time in units of 1 / sqrt(largest), of repeated contexts in units of 1 / largest"),
    Column("sigma", "float", "largest singular value of the features", nullable=True),
    Column("growth", "float", "its relative growth rate, d log(sigma) / dt", nullable=True),
    Column("across", "float", "spectral norm of f across the leading direction of A, over f's along it", nullable=True),
    Column("departure", "float", "largest difference of a prediction from 1/V", nullable=True),
    Column("fastest", "float", "spectral norm of A, or of A with its rows repeated, at uniform predictions"),
)


@columns(*EARLY)
def early_growth(trajectory: Trajectory) -> Tables:
    """Measure the growth of the features' largest singular value while predictions stay uniform.

    The column ``growth`` is d log(sigma) / dt per unit of flow time; the column ``time`` has another unit.
    """
    return _early(trajectory, repeated=False)


@columns(*EARLY)
def repeated_contexts(trajectory: Trajectory) -> Tables:
    """Measure the growth of the features' largest singular value where the examples of a class share one row of f.

    The column ``growth`` is d log(sigma) / dt per unit of flow time, as in `early_growth`.
    """
    return _early(trajectory, repeated=True)


def _early(trajectory: Trajectory, *, repeated: bool) -> Tables:
    """Yield the rows of each cell of `early_growth`, or of `repeated_contexts` where rows of f are `repeated`."""
    f, W, failed = starts.finite_factors(trajectory)
    for members, counts in _cells(trajectory):
        classes = len(counts)
        labels = np.eye(classes) if repeated else model.one_hot(counts)
        # how many examples share each row of features, shape (rows, 1)
        repeats = np.array(counts, dtype=float)[:, None] if repeated else np.ones((len(labels), 1))
        cell_f, cell_W = f[members, :, : len(labels)], W[members, :, :, :classes]
        A = model.residual(cell_f, cell_W, labels, "cross_entropy")
        df = -(repeats * A) @ np.swapaxes(cell_W, -1, -2)  # eq. 12, summed over the examples of a row
        U, S, V = sorted_svd(cell_f)  # V are right singular vectors; the number of classes is `classes`
        S[failed[members]] = np.nan
        rate = theory.singular_value_rates(U, df, V)
        departure = np.abs(model.softmax(cell_f @ cell_W) - 1 / classes).max(axis=(-2, -1))
        departure[failed[members]] = np.nan
        # Of A at uniform predictions, with each row multiplied by how many examples share it: left singular vectors,
        # and singular values, which bound the relative growth rates. These `gains` are not the g_i of `theory.gains`.
        directions, gains, _ = np.linalg.svd(repeats * (1 / classes - labels), full_matrices=False)
        across = _across(cell_f, directions[:, 0])
        across[failed[members]] = np.nan
        seed, time = np.indices(departure.shape)
        yield pd.DataFrame(
            {
                "classes": len(counts),
                "largest": counts[0],
                "seed": seed.ravel(),
                "time": trajectory.time[time.ravel()],
                "sigma": S[..., 0].ravel(),
                # of flow time, in which `df` is a derivative
                "growth": (rate[..., 0] / S[..., 0]).ravel(),
                "across": across.ravel(),
                "departure": departure.ravel(),
                "fastest": float(gains[0]),
            }
        )


def _across(f: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Return the spectral norm of f across a direction, over the norm of f along it, shape (...,).

    Along the direction u f has the component u^T f, and across it is f - u u^T f.

    Parameters
    ----------
    f : ndarray, shape (..., rows, d)
    direction : ndarray, shape (rows,)
        u, of length one.
    """
    along = direction @ f  # shape (..., d)
    rest = f - direction[:, None] * along[..., None, :]
    return np.linalg.norm(rest, 2, axis=(-2, -1)) / np.linalg.norm(along, axis=-1)


def _cells(trajectory: Trajectory) -> Iterator[tuple[slice, list[int]]]:
    """Yield the members and the class sizes of each cell."""
    seeds = trajectory.settings["seeds"]
    # `first` is a cell's first member; the constants are the same for all of its members
    for first in range(0, trajectory.members, seeds):
        classes, largest = (int(trajectory.constants[name][first]) for name in ("classes", "largest"))
        yield slice(first, first + seeds), [largest] + [1] * (classes - 1)
