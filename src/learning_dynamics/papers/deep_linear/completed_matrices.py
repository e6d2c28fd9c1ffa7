"""Matrices completed by networks from small layers; errors, nuclear norm and effective rank of completed matrices.

Shapes: matrices are square. `end_to_end` W (members, 1, n, n); `truth` (draws, n, n); `mask` (draws, n, n), or (draws,
sets, n, n) where several sets of entries share a truth; `draw` (members,), and with several sets `entry_set`
(members,), are places along those axes. `measures_of` takes W, truth and mask with equal shapes, (members, n, n), and
returns (members,).
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
        truth, shape (draws, n, n), and all else that the run is to keep as constants.
    mask : ndarray, shape (members, n, n)
    members : dict
        draw, scale, and all other labels of members, each of shape (members,).
    learning_rate : ndarray, shape (members,)
    label : str
        Name of the random stream from which layers are drawn.
    **options
        As for `matrix_factorisation.descend`.

    Returns
    -------
    Trajectory
        Series end_to_end, shape (members, 1, n, n); constants are `problem`, `members`, and by member loss and steps.
    """
    draws, size = problem["truth"].shape[:2]
    draw = members["draw"]
    normal = np.array([rng.standard_normal((depth, size, size)) for rng in generators(seed, label, draws)])
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
    """Return by member the completed matrix, the one to complete, and the mask of its observed entries."""
    constants = trajectory.constants
    # a member's indices along the first axes of `mask`: its draw, and its set of entries where there are several
    place = tuple(constants[name] for name in ("draw", "entry_set") if name in constants)
    return trajectory.series["end_to_end"][:, 0], constants["truth"][place[0]], constants["mask"][place]


def spectrum(W: np.ndarray) -> np.ndarray:
    """Return the singular values of matrices, shape (..., n), descending; nan where W is not finite."""
    W = W.astype(float)  # descent may have been in single precision
    finite = np.asarray(np.isfinite(W).all(axis=(-2, -1)))
    # LAPACK refuses what is not finite: there it gets ones, and the result is replaced by nan
    return np.where(finite[..., None], singular_values(np.where(finite[..., None, None], W, 1.0)), np.nan)


def measures_of(W: np.ndarray, truth: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    """Return errors, nuclear norm and effective rank over leading axes of completed matrices; nan where W diverged.

    Quantities
    ----------
    error
        Mean square error over all entries.
    train_loss
        Mean square error over the observed entries.
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
