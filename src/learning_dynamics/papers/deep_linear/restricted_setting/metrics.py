"""Where deep networks end on commuting measurements: nuclear norms, and Schatten quasi-norms around the end.

Measurement i of a matrix W is the trace of W times a symmetric matrix. These matrices commute: they have common
eigenvectors, the columns of Q. A matrix fits if its measurements are those of a hidden matrix, y. Series and constants:

- `end_to_end` W, shape (members, 2, size, size): the product of the layers, at the start and at the end
- `basis` Q, (members, size, size)
- `eigenvalues` A, (members, measurements, size): row i has those of measurement i, whose matrix is Q diag(A[i]) Q^T
- `values` y, (members, measurements)
- `least`, (members, size): eigenvalues of the positive semidefinite matrix of least nuclear norm that fits; their sum
  is this norm
- `depth`, `scale`, the multiple of the identity at which W starts, and `member`, the number of the draw: (members,)
"""

import numpy as np
import pandas as pd
from scipy.linalg import null_space
from scipy.optimize import minimize

from learning_dynamics.papers.deep_linear.quantities import NUCLEAR_NORM
from learning_dynamics.papers.deep_linear.recorded import by_name
from learning_dynamics.papers.deep_linear.restricted_setting.quantities import (
    MEASUREMENT_CHANGE,
    MEASUREMENT_ERROR,
    NORM_AGAINST_LEAST_SQUARES,
    SCHATTEN_CHANGE,
    SCHATTEN_EXCESS,
)
from learning_dynamics.papers.deep_linear.tables import DEPTH
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, VALUE_IF_ANY, Column, columns, rows
from learning_dynamics.trajectories import Trajectory

START = Column("scale", "float", "the product of the layers starts at this multiple of the identity", draw=True)


@columns(DEPTH, START, SEED, QUANTITY, INDEX, VALUE_IF_ANY, PREDICTED)
def commuting_measurements(trajectory: Trajectory, *, powers: list[Positive], turn: Positive) -> pd.DataFrame:
    """Measure the end W of each flow, with singular values sigma; nan where the flow could not be integrated.

    W is also moved: by t (q_1 q_2^T + q_2 q_1^T), where q_1 and q_2 are the common eigenvectors with the two largest
    eigenvalues of W, and t is `turn` times the geometric mean of these eigenvalues. No measurement sees the move.

    Quantities
    ----------
    nuclear_norm
        Nuclear norm of W; predicted the least nuclear norm of positive semidefinite matrices that fit.
    least_squares_norm
        The same nuclear norm; predicted that of the matrix of least Frobenius norm that fits.
    misfit
        Largest error of a measurement, relative to its value for the hidden matrix.
    schatten_change
        Change of the sum of sigma^p by the move, relative to the sum; the index counts the `powers` p.
    measurement_change
        Largest change of a measurement by the move, relative to its value for the hidden matrix.
    schatten_excess
        How far the sum of sigma^p is above the least one of matrices that commute with the measurements and fit,
        relative to the sum; the index counts the `powers` p. nan for p up to one: below one the least sum is not a
        convex problem.
    """
    constants = trajectory.constants
    members = []
    for member, W in enumerate(trajectory.series["end_to_end"][:, -1]):
        Q, A, y = (constants[name][member] for name in ("basis", "eigenvalues", "values"))
        is_lost = not np.isfinite(W).all()
        # a lost flow is measured as the identity, and its values are replaced by nan below
        W = np.eye(len(W)) if is_lost else (W + W.T) / 2
        diagonal = np.einsum("ij,ik,kj->j", Q, W, Q)  # of Q^T W Q, shape (size,): the eigenvalues of W
        # measurements weigh the diagonal of Q^T W Q alone; the move is off it, and turns two eigenvectors of W
        second, first = np.argsort(diagonal)[-2:]
        step = turn * np.sqrt(abs(diagonal[first] * diagonal[second])) * np.outer(Q[:, first], Q[:, second])
        moved = W + step + step.T
        values = np.linalg.eigvalsh(W)
        moved_values = np.abs(np.linalg.eigvalsh(moved))
        # sum sigma^p at the end, and its relative change, by index of `powers`
        power_sums = np.array([np.sum(np.abs(values) ** p) for p in powers])
        change = [np.sum(moved_values**p) for p in powers] / power_sums - 1
        least_sums = np.array([_least_power_sum(A, y, p) if p > 1 else np.nan for p in powers])
        measurements = A @ diagonal
        moved_measurements = A @ np.einsum("ij,ik,kj->j", Q, moved, Q)
        measured = {
            "norm": np.abs(values).sum(),
            "least": constants["least"][member].sum(),
            # nuclear norm of the matrix of least Frobenius norm that fits, whose eigenvalues are pinv(A) y
            "frobenius": np.abs(np.linalg.pinv(A) @ y).sum(),
            MEASUREMENT_ERROR: np.max(np.abs(measurements - y) / y),
            MEASUREMENT_CHANGE: np.max(np.abs(moved_measurements - measurements) / y),
            SCHATTEN_CHANGE: change,
            SCHATTEN_EXCESS: 1 - least_sums / power_sums,
        }
        members.append({name: value * np.nan if is_lost else value for name, value in measured.items()})
    at_the_ends = by_name(members)
    norm, least, frobenius = (at_the_ends.pop(name) for name in ("norm", "least", "frobenius"))
    quantities = {NUCLEAR_NORM: (norm, least), NORM_AGAINST_LEAST_SQUARES: (norm, frobenius), **at_the_ends}
    return rows(quantities, {"seed": constants["member"]}, depth=constants["depth"], scale=constants["scale"])


def _least_power_sum(A: np.ndarray, y: np.ndarray, power: float) -> float:
    """Return the least sum of |x|^p over solutions of A x = y, for a power p above one.

    x are the eigenvalues of a matrix that commutes with the measurements; A x are its measurements. Solutions are
    ``start + free @ z`` for any z: the columns of `free` span the null space of A.
    """
    start, free = np.linalg.pinv(A) @ y, null_space(A)

    def value(z: np.ndarray) -> float:
        return float(np.sum(np.abs(start + free @ z) ** power))

    def slope(z: np.ndarray) -> np.ndarray:
        x = start + free @ z
        return power * free.T @ (np.sign(x) * np.abs(x) ** (power - 1))

    return float(minimize(value, np.zeros(free.shape[1]), jac=slope, method="BFGS").fun)
