"""Measurements of a two-layer linear network's layers, however they were trained; draws that diverged stay nan."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias import theory, two_layer
from learning_dynamics.papers.spectral_bias.draws import STEPS
from learning_dynamics.papers.spectral_bias.geometry import norm
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE_IF_ANY, Column, joined, rows
from learning_dynamics.trajectories import Trajectory

PHASE = Column("phase", "str", "flow: at a recorded time; limit: where the flow was stopped as converged; draw: of all")
MAY_BE_OPEN = replace(VALUE_IF_ANY, description="measured; empty for a draw that did not arrive")
GAMMA = Column("gamma", "float", "initialisation scale")
WHEN = replace(TIME, nullable=True)
FLOW_COLUMNS = (SEED, PHASE, WHEN, QUANTITY, INDEX, MAY_BE_OPEN, PREDICTED, STEPS)

# value, or value and prediction, each of shape (members, times) or (members, times, entries), by quantity
Measured = dict[str, Any]


def spectra_and_loss(W1: np.ndarray, W2: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Measured:
    """Return loss, spectra of both layers and of beta, and distances to the minimum-norm interpolator beta_*.

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
        The largest `distance` that the residual leaves open for a beta in the row space of X.

    Parameters
    ----------
    W1, W2 : ndarray, shapes (members, times, inputs, width), (members, times, width, outputs)
    X, Y : ndarray, shapes (members, 1, samples, inputs), (members, 1, samples, outputs)
    """
    inputs, count = X.shape[-1], min(X.shape[-1], Y.shape[-1])
    beta, beta_star = W1 @ W2, theory.minimum_norm_interpolator(X, Y)
    residual = norm(X @ beta - Y)[..., 0]
    star, smallest = norm(beta_star)[..., 0], singular_values(X)[..., -1]
    return {
        "loss": two_layer.loss(W1, W2, X, Y),
        "sigma_w1": singular_values(W1, inputs),
        "sigma_w2": singular_values(W2, count),
        "sigma_beta": singular_values(beta, count),
        "distance": norm(beta - beta_star)[..., 0] / star,
        "residual": residual / norm(Y)[..., 0],
        "distance_bound": residual / (smallest * star),
    }


def of_finite_draws(
    measure: Callable[[Mapping[str, np.ndarray]], Measured], arrays: Mapping[str, np.ndarray], *watched: str
) -> Measured:
    """Measure the draws whose watched arrays are finite, and return nan for the others.

    Parameters
    ----------
    measure : callable
        From arrays, all with draws along the first axis, to quantities.
    arrays : mapping from name to ndarray
    *watched : str
        Names of the arrays that a diverged draw fills with nan.
    """
    finite = np.all([np.isfinite(arrays[name]).reshape(len(arrays[name]), -1).all(axis=1) for name in watched], axis=0)
    if finite.all():
        return measure(arrays)
    if not finite.any():
        raise ValueError("no draw has finite states: nothing to measure")

    def spread(values: np.ndarray) -> np.ndarray:
        all_draws = np.full((len(finite), *values.shape[1:]), np.nan)
        all_draws[finite] = values
        return all_draws

    quantities = measure({name: values[finite] for name, values in arrays.items()})
    return {
        quantity: tuple(map(spread, value)) if isinstance(value, tuple) else spread(value)
        for quantity, value in quantities.items()
    }


def flow_arrays(trajectory: Trajectory, hidden_layer: str, output_layer: str) -> dict[str, np.ndarray]:
    """Return layers with an axis for time, and data without one, draws along the first axis of each."""
    constants = trajectory.constants
    layers = [
        trajectory.series[name] if name in trajectory.series else constants[name][:, None]
        for name in (hidden_layer, output_layer)
    ]
    return {"W1": layers[0], "W2": layers[1], **{name: constants[name] for name in ("X", "Y", "P")}}


def unpacked(arrays: Mapping[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return W1, W2, X, Y and P from what `flow_arrays` returns, all with an axis for time."""
    return (arrays["W1"], arrays["W2"], *(arrays[name][:, None] for name in ("X", "Y", "P")))


def spectra_of(trajectory: Trajectory, hidden_layer: str, output_layer: str) -> Measured:
    """Return `spectra_and_loss` of two layers, by their names in the trajectory."""

    def measure(arrays: Mapping[str, np.ndarray]) -> Measured:
        return spectra_and_loss(*unpacked(arrays)[:4])

    return of_finite_draws(measure, flow_arrays(trajectory, hidden_layer, output_layer), "W1", "W2")


def flow_table(trajectory: Trajectory, flow: Measured, limit: Measured, per_draw: Measured) -> pd.DataFrame:
    """Return rows of what was measured along the flow, at its limit, and of each draw as a whole."""
    seeds = np.arange(trajectory.members)
    ends = trajectory.constants["limit_time"][:, None]
    labels = {"steps": trajectory.constants["steps"]}
    tables = [
        rows(flow, {"seed": seeds, "time": trajectory.time}, phase="flow", **labels),
        rows(limit, {"seed": seeds, "time": ends}, phase="limit", **labels),
    ]
    if per_draw:
        tables.append(rows(per_draw, {"seed": seeds}, phase="draw", time=0.0, **labels))
    return joined(FLOW_COLUMNS, *tables)
