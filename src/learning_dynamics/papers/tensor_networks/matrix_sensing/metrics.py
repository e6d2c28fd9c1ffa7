"""Limits of deep matrix sensing against the minimisers that are predicted, and the growth of rounding (Corollary 7).

- `matrix_sensing`: the series ``product_<depth>`` (data sets, scales, size, size) has the limits of W_1 ... W_L in the
  sensors' eigenbasis, with scales alpha instead of times. The constant `A` (data sets, samples, size, size) are the
  sensors, which are symmetric, and `Q` (data sets, size, size) their common eigenvectors, as columns. `X` (data sets,
  samples, size) are their eigenvalues, which are to the diagonal of W_1 ... W_L what inputs are to coefficients. `y`
  (data sets, samples) are the labels.
- `rounding`: the series ``<precision>`` (data sets, times, scales) has the largest entry off the diagonal, and
  ``loss/<precision>``, of the same shape, the loss. Times are in units of alpha^(2 - L), which differ between scales.

The letter Q is an array of eigenvectors in the code and Theorem 4's function in the docstrings ("the minimiser of Q").
"""

from typing import Literal

import numpy as np

from learning_dynamics.papers.tensor_networks.matrix_sensing import quantities
from learning_dynamics.papers.tensor_networks.norm_like import norm_like_minimiser
from learning_dynamics.papers.tensor_networks.solutions import minimum_matrix_norm
from learning_dynamics.papers.tensor_networks.tables import DEPTH, MEASURED, OTHER_DEPTH, OTHER_SCALE, SCALE, measured
from learning_dynamics.tidy import SEED, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory

CONVERGED = measured("where the flow did not converge")
TIME = Column("time", "float", "gradient-flow time, in units of alpha^(2 - L)")
PRECISION = Column("precision", "str", "floating-point format", draw=True)


@columns(SEED, DEPTH, SCALE, *CONVERGED)
def matrix_sensing(trajectory: Trajectory) -> Tables:
    """Measure limits of deep matrix sensing in the sensors' eigenbasis (Corollary 7).

    Quantities
    ----------
    entry
        Entries of W_1 ... W_L at the limit, predicted by the diagonal matrix whose diagonal minimises Q among those
        that fit the labels with the sensors' eigenvalues.
    other_depth
        `entry`, predicted by the minimiser of Q for a layer more.
    other_scale
        `entry`, predicted by the minimiser of Q for twice the scale.
    least_nuclear_norm, least_frobenius_norm
        `entry`, predicted by the solution of least nuclear or Frobenius norm.
    sensitivity
        Relative change of the minimiser of Q over the relative change of one entry of the initial layers that causes
        it: the largest ratio of all entries.
    """
    constants, settings = trajectory.constants, trajectory.settings
    scales = trajectory.time
    X, y, Q, A = (constants[name] for name in ("X", "y", "Q", "A"))
    norms: dict[str, Literal["nuclear", "frobenius"]] = {
        quantities.LEAST_NUCLEAR_NORM: "nuclear",
        quantities.LEAST_FROBENIUS_NORM: "frobenius",
    }
    # solutions of least norm in the sensors' eigenbasis, Q^T Z Q, shape (data sets, size, size)
    minimum_norms = {
        quantity: np.array([q.T @ minimum_matrix_norm(a, b, norm) @ q for a, b, q in zip(A, y, Q, strict=True)])
        for quantity, norm in norms.items()
    }
    for depth in settings["depths"]:
        products = trajectory.series[f"product_{depth}"]
        # (data sets, scales, entries row by row)
        flat = products.reshape(*products.shape[:2], -1)

        def minimisers(deep: int, factor: float) -> np.ndarray:
            """Return the minimisers of Q for a depth and multiples of the scales, as diagonal matrices, like `flat`."""
            eta = np.ones(X.shape[-1])
            return np.array(
                [
                    [
                        np.diag(norm_like_minimiser(x, b, eta, scale=factor * scale, depth=deep)).ravel()
                        for scale in scales
                    ]
                    for x, b in zip(X, y, strict=True)
                ]
            )

        measures = {
            quantities.ENTRY: (flat, minimisers(depth, 1.0)),
            OTHER_DEPTH: (flat, minimisers(depth + 1, 1.0)),
            OTHER_SCALE: (flat, minimisers(depth, 2.0)),
            **{name: (flat, matrices.reshape(len(matrices), 1, -1)) for name, matrices in minimum_norms.items()},
            quantities.SENSITIVITY: np.array(
                [[_sensitivity(x, b, scale, depth) for scale in scales] for x, b in zip(X, y, strict=True)]
            ),
        }
        yield rows(measures, {"seed": np.arange(len(X)), "scale": scales}, depth=depth)


def _sensitivity(features: np.ndarray, labels: np.ndarray, scale: float, depth: int) -> float:
    """Return the relative change of the minimiser of Q over that of one entry of the start, the largest of all entries.

    The start has an entry for each eigenvalue, which all layers but the last share. The ratio is a difference quotient
    at a change of 1e-4. This is chosen: small against the entries of the start, which are all one, and large against
    the error of the minimiser, which fits the labels to 1e-8 of their norm or better.
    """
    start, change = np.ones(features.shape[-1]), 1e-4
    limit = norm_like_minimiser(features, labels, start, scale=scale, depth=depth)
    moved = [
        norm_like_minimiser(features, labels, start + change * entry, scale=scale, depth=depth) - limit
        for entry in np.eye(len(start))
    ]
    return float(np.linalg.norm(moved, axis=1).max() / (change * np.linalg.norm(limit)))


@columns(SEED, PRECISION, SCALE, TIME, *MEASURED)
def rounding(trajectory: Trajectory) -> Tables:
    """Measure how far rounding takes the layers from the matrices that commute with the sensors.

    Quantities
    ----------
    off_diagonal
        Largest absolute value of an entry of a layer off the diagonal, in the sensors' eigenbasis.
    loss
        Half the sum of squared residuals.
    """
    settings = trajectory.settings
    for precision in settings["precisions"]:
        for place, scale in enumerate(settings["scales"]):
            measures = {
                quantities.OFF_DIAGONAL: trajectory.series[precision][..., place],
                quantities.LOSS: trajectory.series[f"loss/{precision}"][..., place],
            }
            axes = {"seed": np.arange(trajectory.members), "time": trajectory.time}
            yield rows(measures, axes, precision=precision, scale=scale)
