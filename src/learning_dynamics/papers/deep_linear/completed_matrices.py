"""Matrices completed by networks from small layers; errors, nuclear norm and effective rank of completed matrices.

Matrices are n by n. A draw is a matrix to complete, the truth, with one or several sets of observed entries. A member
is a matrix that is completed from one set of a draw. Trajectories have

- the series `end_to_end` W, shape (members, 1, n, n): the completed matrices, at the one recorded time
- the constants `truth`, (draws, n, n), and `mask`, of bool, which says whether an entry is observed: (draws, n, n), or
  (draws, sets, n, n) where draws have several sets
- the constant `draw`, (members,), a member's place along the axis of draws, and with several sets `entry_set`,
  (members,), its place along the axis of sets
"""

from typing import Any

import numpy as np

from learning_dynamics.dynamics import matrix_factorisation
from learning_dynamics.measures.spectra import effective_rank, singular_values
from learning_dynamics.papers.deep_linear.quantities import (
    EFFECTIVE_RANK,
    ERROR,
    NUCLEAR_NORM,
    TRAIN_LOSS,
    TRUE_EFFECTIVE_RANK,
    TRUE_NUCLEAR_NORM,
)
from learning_dynamics.papers.deep_linear.recorded import AT_THE_END
from learning_dynamics.seeds import generators
from learning_dynamics.trajectories import Arrays, Trajectory


def complete(
    problem: Arrays,
    mask: np.ndarray,
    members: Arrays,
    learning_rate: np.ndarray,
    *,
    depth: int,
    seed: int,
    label: str,
    **options: Any,
) -> Trajectory:
    """Complete matrices by networks that start from small Gaussian layers.

    Entries of each of the N layers, n by n matrices, have standard deviation scale^(1/N) n^(-1/2). A draw starts from
    the same Gaussian layers, up to that factor, at every scale; a deeper network has the layers of a shallower one and
    more.

    Parameters
    ----------
    problem : dict
        truth, shape (draws, n, n), and all else that the run is to keep as constants by draw.
    mask : ndarray, shape (members, n, n)
        Which entries each member observes.
    members : dict
        draw, a member's place among the draws, scale, and all other labels of members, each of shape (members,).
    learning_rate : ndarray, shape (members,)
    depth : int
        Number of layers N.
    seed, label : int, str
        Of the random streams from which layers are drawn, one for each draw.
    **options
        Those of `matrix_factorisation.descend`: when descent stops, and how it is computed.

    Returns
    -------
    Trajectory
        Series end_to_end, shape (members, 1, n, n): the end-to-end matrices at the end. Constants are those of
        `problem` and `members`, and of shape (members,) loss, the mean square error over observed entries at the end,
        and steps, how many were taken. Members that diverged are undecided.
    """
    draws, size = problem["truth"].shape[:2]
    draw = members["draw"]
    normal = np.array([rng.standard_normal((depth, size, size)) for rng in generators(seed, label, draws)])
    # standard deviation of the layers' entries, shape (members, 1, 1); each layer then has shape (members, n, n)
    deviation = (members["scale"] ** (1 / depth) / np.sqrt(size))[:, None, None]
    layers = [normal[draw, j] * deviation for j in range(depth)]
    final = matrix_factorisation.descend(layers, problem["truth"][draw], mask, learning_rate, **options)
    return Trajectory(
        AT_THE_END,
        {"end_to_end": final.end_to_end[:, None]},
        problem | members | {"loss": final.loss, "steps": final.steps},
        undecided=~np.isfinite(final.end_to_end).all(axis=(1, 2)),
    )


def completed(trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the completed matrices, those to complete, and the masks of observed entries, each (members, n, n)."""
    constants = trajectory.constants
    # members' places along the first axes of `mask`: their draws, and their sets of entries where draws have several
    place = tuple(constants[name] for name in ("draw", "entry_set") if name in constants)
    return trajectory.series["end_to_end"][:, 0], constants["truth"][place[0]], constants["mask"][place]


def spectrum(W: np.ndarray) -> np.ndarray:
    """Return the singular values of matrices, shape (..., n), descending; nan where W is not finite."""
    W = W.astype(float)  # descent may have been in single precision
    finite = np.asarray(np.isfinite(W).all(axis=(-2, -1)))
    # LAPACK refuses what is not finite: there it gets ones, and the result is replaced by nan
    return np.where(finite[..., None], singular_values(np.where(finite[..., None, None], W, 1.0)), np.nan)


def measures_of(W: np.ndarray, truth: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    """Return errors, nuclear norm and effective rank of completed matrices W, by quantity; nan where W is not finite.

    W, truth and mask have equal shapes, (members, n, n); what is returned has shape (members,).

    Quantities
    ----------
    error
        Mean over all entries of the squared difference of the completed matrix from the matrix to complete.
    train_loss
        Mean over the observed entries of the same squared difference.
    nuclear_norm
        Sum of the completed matrix's singular values.
    effective_rank
        exp of the entropy of the singular values' shares of their sum, of the completed matrix.
    true_nuclear_norm
        Nuclear norm of the matrix to complete.
    true_effective_rank
        Effective rank of the matrix to complete.
    """
    finite = np.isfinite(W).all(axis=(-2, -1))
    squares = np.where(finite[..., None, None], W - truth, np.nan) ** 2
    values, true_values = spectrum(W), spectrum(truth)
    return {
        ERROR: squares.mean(axis=(-2, -1)),
        TRAIN_LOSS: np.sum(mask * squares, axis=(-2, -1)) / mask.sum(axis=(-2, -1)),
        NUCLEAR_NORM: values.sum(axis=-1),
        EFFECTIVE_RANK: effective_rank(values),
        TRUE_NUCLEAR_NORM: true_values.sum(axis=-1),
        TRUE_EFFECTIVE_RANK: effective_rank(true_values),
    }
