"""Measurements of layers: norms, spans and shared vectors of stacks of matrices, and spectra of two-layer networks.

The members of a trajectory are draws here. In `scale` and `reductions` they are pairs of a scale and a draw, and what
is said of draws below is true of these. Every measure of a draw that diverged is nan.

Shapes of what a trajectory has:

- `W1` (draws, times, inputs, hidden) and `W2` (draws, times, hidden, outputs), the layers along the flow; `limit_W1`
  (draws, inputs, hidden) and `limit_W2` (draws, hidden, outputs), the layers where the flow was stopped as converged,
  or nan for a draw that did not converge.
- `X` (draws, samples, inputs) and `Y` (draws, samples, outputs), the data.
- `P` (draws, inputs, hidden), orthonormal rows to which those of W1(0) are parallel; zeros for starts without such.
- `limit_time` (draws,), when the flow was stopped, and `steps` (draws,), how many the integrator took.

Layers and P are in a basis of the hidden directions that a flow cannot leave, so that hidden is min(width, inputs +
outputs): products, norms and singular values are those of the network. `of_layers` gives every array an axis for time,
of length one where nothing changes. Times are gradient-flow time.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias import theory, two_layer
from learning_dynamics.papers.spectral_bias.quantities import (
    DISTANCE,
    DISTANCE_BOUND,
    LOSS,
    RESIDUAL,
    SIGMA_BETA,
    SIGMA_W1,
    SIGMA_W2,
)
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE_IF_ANY, Column, Tables, rows
from learning_dynamics.trajectories import Trajectory

# draw: a number for the whole flow of a draw, in rows of time 0
PHASE = Column("phase", "str", "flow: at a recorded time; limit: where the flow was stopped as converged; draw: of all")
MAY_BE_OPEN = replace(VALUE_IF_ANY, description="measured; empty for a draw that did not arrive")
STEPS = Column("steps", "int", "steps that the integrator took; 0 for a draw that it could not carry to its end")
GAMMA = Column("gamma", "float", "initialisation scale")
WHEN = replace(TIME, nullable=True)  # empty at the limit of a draw that did not arrive
FLOW_COLUMNS = (SEED, PHASE, WHEN, QUANTITY, INDEX, MAY_BE_OPEN, PREDICTED, STEPS)

# By the name of a quantity: an array of what was measured, or a tuple of it and its prediction. Shapes are
# (draws, times) or (draws, times, entries); of numbers for whole flows (draws,)
Measured = dict[str, Any]


def norm(matrices: np.ndarray) -> np.ndarray:
    """Frobenius norms over leading axes, shape (...)."""
    return np.linalg.norm(matrices, axis=(-2, -1))


def transposed(matrices: np.ndarray) -> np.ndarray:
    """Return the transposes over leading axes, shape (..., columns, rows)."""
    return np.swapaxes(matrices, -1, -2)


def ratio(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Return numerator / denominator, and zero where both are zero, as for the commutator of zero with a matrix.

    A numerator is returned as it is where only its denominator is zero, which no caller has.
    """
    return numerator / np.where(denominator == 0, 1.0, denominator)


def relative_commutator(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """|AB - BA| / (|A| |B|) of square matrices over leading axes, shape (...); zero where a factor is zero."""
    return ratio(norm(A @ B - B @ A), norm(A) * norm(B))


def outside_row_space(X: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Return |M - X^+ X M| / |M|, shape (...): the part of M outside the span of the rows of X, and zero for M = 0.

    Parameters
    ----------
    X : ndarray, shape (..., samples, inputs)
    matrices : ndarray, shape (..., inputs, columns)
        M.
    """
    inside = np.linalg.pinv(X) @ (X @ matrices)
    return ratio(norm(matrices - inside), norm(matrices))


def off_diagonal(matrices: np.ndarray, basis_of: np.ndarray) -> np.ndarray:
    """Return the norm of U^T M V without its diagonal, over |M|, shape (...); zero for M = 0.

    U and V are the singular vectors of another matrix.

    Parameters
    ----------
    matrices : ndarray, shape (..., rows, columns)
        M.
    basis_of : ndarray, shape (..., rows, columns)
        The other matrix, U S V^T.
    """
    U, _, Vt = np.linalg.svd(basis_of, full_matrices=True)
    rotated = transposed(U) @ matrices @ transposed(Vt)
    diagonal = np.zeros_like(rotated)
    count = min(rotated.shape[-2:])
    diagonal[..., range(count), range(count)] = rotated[..., range(count), range(count)]
    return ratio(norm(rotated - diagonal), norm(matrices))


def span_overlap(rows: np.ndarray, other_rows: np.ndarray) -> np.ndarray:
    """Cosines of the principal angles between the spans of two sets of rows, descending, shape (..., count).

    Parameters
    ----------
    rows : ndarray, shape (..., count, inputs)
    other_rows : ndarray, shape (..., count, inputs)
        The rows of each set are linearly independent: of others QR would complete the basis by arbitrary directions.
    """
    # the singular values of B^T C are the cosines, for orthonormal bases B and C of the spans
    basis, other_basis = (np.linalg.qr(transposed(matrix))[0] for matrix in (rows, other_rows))
    return np.clip(np.linalg.svd(transposed(basis) @ other_basis, compute_uv=False), 0.0, 1.0)


def spectra_and_loss(W1: np.ndarray, W2: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Measured:
    """Return loss, spectra of both layers and of beta, and distances to the minimum-norm interpolator beta_*.

    Where labels can be fitted, X beta - Y is X (beta - beta_*). For beta in the row space of X the norm of this is at
    least sigma_min(X), the smallest singular value of X, times the norm of beta - beta_*. So the distance of beta from
    beta_* is at most ||X beta - Y||_F / sigma_min(X).

    Quantities
    ----------
    loss
        1/2 ||X beta - Y||_F^2 (eq. 2.2).
    sigma_w1
        Singular values of W1, as many as inputs.
    sigma_w2
        Singular values of W2, as many as the smaller of inputs and outputs.
    sigma_beta
        Singular values of beta = W1 W2, as many as the smaller of inputs and outputs.
    distance
        ||beta - beta_*||_F / ||beta_*||_F, beta_* the minimum-norm interpolator.
    residual
        ||X beta - Y||_F / ||Y||_F.
    distance_bound
        ||X beta - Y||_F / (sigma_min(X) ||beta_*||_F), the largest `distance` that the residual leaves open for a beta
        in the row space of X.

    Parameters
    ----------
    W1, W2 : ndarray, shapes (draws, times, inputs, width), (draws, times, width, outputs)
    X, Y : ndarray, shapes (draws, 1, samples, inputs), (draws, 1, samples, outputs)
    """
    inputs, count = X.shape[-1], min(X.shape[-1], Y.shape[-1])
    beta, beta_star = W1 @ W2, theory.minimum_norm_interpolator(X, Y)
    residual = norm(X @ beta - Y)
    # |beta_*| and sigma_min(X), shape (draws, 1)
    star, smallest = norm(beta_star), singular_values(X)[..., -1]
    return {
        LOSS: two_layer.loss(W1, W2, X, Y),
        SIGMA_W1: singular_values(W1, inputs),
        SIGMA_W2: singular_values(W2, count),
        SIGMA_BETA: singular_values(beta, count),
        DISTANCE: norm(beta - beta_star) / star,
        RESIDUAL: residual / norm(Y),
        DISTANCE_BOUND: residual / (smallest * star),
    }


def of_finite_draws(
    measure: Callable[[Mapping[str, np.ndarray]], Measured], arrays: Mapping[str, np.ndarray]
) -> Measured:
    """Measure the draws whose arrays are finite, and return nan for the others.

    Parameters
    ----------
    measure : callable
        Takes arrays by name, and returns quantities. These have draws along the first axis, predictions too.
    arrays : mapping from name to ndarray
        Their first axis is draws. A diverged draw has nan in one of them, and need not have it in all.

    Raises
    ------
    ValueError
        If no draw is finite.
    """
    # for each draw, whether all entries of all its arrays are finite
    finite = np.all([np.isfinite(values).reshape(len(values), -1).all(axis=1) for values in arrays.values()], axis=0)
    if finite.all():
        return measure(arrays)
    if not finite.any():
        raise ValueError("no draw has finite states: nothing to measure")

    def spread(values: np.ndarray) -> np.ndarray:
        """Return what was measured of the finite draws as rows among all draws, with nan in the others."""
        all_draws = np.full((len(finite), *values.shape[1:]), np.nan)
        all_draws[finite] = values
        return all_draws

    quantities = measure({name: values[finite] for name, values in arrays.items()})
    # a quantity is an array, or a pair of what was measured and what is predicted
    return {
        quantity: tuple(map(spread, value)) if isinstance(value, tuple) else spread(value)
        for quantity, value in quantities.items()
    }


def of_layers(trajectory: Trajectory, measure: Callable[..., Measured], *, limit: bool = False) -> Measured:
    """Return what `measure` makes of the arrays W1, W2, X, Y and P, along the flow or at its limit.

    It gets them as keyword arguments. All five have the axes (draws, times, ..., ...), where X, Y and P have one time,
    and so have the layers at the limit.
    """
    constants = trajectory.constants
    layers = {name: constants[f"limit_{name}"][:, None] if limit else trajectory.series[name] for name in ("W1", "W2")}
    data = {name: constants[name][:, None] for name in ("X", "Y", "P")}
    return of_finite_draws(lambda arrays: measure(**arrays), layers | data)


def spectra_of(trajectory: Trajectory, *, limit: bool = False) -> Measured:
    """Return `spectra_and_loss` along the flow or at its limit."""

    def measure(W1: np.ndarray, W2: np.ndarray, X: np.ndarray, Y: np.ndarray, P: np.ndarray) -> Measured:
        return spectra_and_loss(W1, W2, X, Y)

    return of_layers(trajectory, measure, limit=limit)


def flow_table(trajectory: Trajectory, flow: Measured, limit: Measured, per_draw: Measured | None = None) -> Tables:
    """Yield a table for each phase: along the flow, at its limit and, if there are such numbers, of each draw.

    Arrays of `flow` and `limit` are (draws, times) or (draws, times, entries), with one time at the limit; those of
    `per_draw` are (draws,) or (draws, entries).
    """
    seeds = {"seed": np.arange(trajectory.members)}
    ends = trajectory.constants["limit_time"][:, None]  # shape (draws, 1): each draw has its own time
    steps = trajectory.constants["steps"]
    yield rows(flow, seeds | {"time": trajectory.time}, phase="flow", steps=steps)
    yield rows(limit, seeds | {"time": ends}, phase="limit", steps=steps)
    if per_draw:
        yield rows(per_draw, seeds, phase="draw", time=0.0, steps=steps)
