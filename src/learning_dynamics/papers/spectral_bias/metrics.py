"""What is measured: spectra, invariants and distances to the predicted limits."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.models import two_layer
from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

LIMIT = "limit"


@columns(
    Column("seed", "int", "ensemble member"),
    Column("phase", "str", "flow: at a recorded time; limit: where the flow was stopped as converged"),
    Column("time", "float", "gradient-flow time"),
    Column("quantity", "str", "what the value is; see the metrics function"),
    Column("index", "int", "1, 2, ... in descending order for singular values; 0 for scalars"),
    Column("value", "float", "measured"),
    Column("predicted", "float", "what the theory gives for it, where it does", nullable=True),
)
def linear_flow(trajectory: Trajectory) -> pd.DataFrame:
    """Measure a two-layer linear network's flow.

    Quantities: ``loss``; ``sigma_w1``, ``sigma_w2``, ``sigma_beta``, singular values, predicted during the
    flow from the measured spectrum of beta (Lemma C.10) and at the limit from the minimum-norm
    interpolator (Corollary 3.1; for a Gaussian layer, that of the orthogonal one of equal mean square);
    ``distance``, ||beta - beta_*||_F / ||beta_*||_F (Theorem 3.1);
    ``residual``, ||X beta - Y||_F / ||Y||_F; ``distance_bound``, the distance that this residual leaves
    open for a beta in the row space of X, and ``sigma_w1_bound``, what it leaves open for sigma_w1 at the
    limit, relative to the largest; ``imbalance``, largest singular value of
    Z1^T Z1 - Z2 Z2^T - 2 gamma I, and ``scale``, that of Z1^T Z1 (Lemma 3.2).
    """
    constants, settings = trajectory.constants, trajectory.settings
    limit_time = constants["limit_time"]
    flow = _measure(trajectory.series["W1"], trajectory.series["W2"], constants, settings, at_limit=False)
    times = np.broadcast_to(trajectory.time, (trajectory.members, len(trajectory.time)))
    limits = (constants["limit_W1"][:, None], constants["limit_W2"][:, None])
    limit = _measure(*limits, constants, settings, at_limit=True)
    return pd.concat([*_rows("flow", times, flow), *_rows(LIMIT, limit_time[:, None], limit)], ignore_index=True)


Measured = dict[str, tuple[np.ndarray, np.ndarray | None]]


def _measure(W1: np.ndarray, W2: np.ndarray, constants: dict, settings: dict, *, at_limit: bool) -> Measured:
    """Return (value, prediction) arrays of shape (members, times, count) by quantity."""
    X, Y = constants["X"][:, None], constants["Y"][:, None]
    inputs, outputs = X.shape[-1], Y.shape[-1]
    count = min(inputs, outputs)
    beta_star = theory.minimum_norm_interpolator(X, Y)
    beta = W1 @ W2
    sigma_beta = singular_values(beta, count)
    sigma_star = singular_values(beta_star, count)
    residual = _norm(X @ beta - Y)
    smallest = singular_values(X)[..., -1:]
    measured: Measured = {
        "loss": (two_layer.loss(W1, W2, X, Y)[..., None], None),
        "sigma_beta": (sigma_beta, sigma_star if at_limit else None),
        "distance": (_norm(beta - beta_star) / _norm(beta_star), None),
        "residual": (residual / _norm(Y), None),
        "distance_bound": (residual / (smallest * _norm(beta_star)), None),
    }
    sigma_w1, sigma_w2 = singular_values(W1, inputs), singular_values(W2, count)
    if "P" not in constants:
        # the orthogonal layer with the same mean square, whose rows a wide Gaussian layer resembles
        gamma = settings["width"] * settings["variance"] / 2
        like = theory.hidden_singular_values(sigma_star, gamma, inputs) if at_limit else None
        return measured | {"sigma_w1": (sigma_w1, like), "sigma_w2": (sigma_w2, None)}
    gamma, P = settings["gamma"], constants["P"][:, None]
    spectrum = sigma_star if at_limit else sigma_beta
    Z1, Z2 = W1 @ np.swapaxes(P, -1, -2), P @ W2
    gram = np.swapaxes(Z1, -1, -2) @ Z1
    imbalance = gram - Z2 @ np.swapaxes(Z2, -1, -2) - 2 * gamma * np.eye(inputs)
    if at_limit:
        # the end is a little before the limit: what beta's remaining distance can do to a singular value
        star, apart = theory.hidden_singular_values(sigma_star, gamma, count), residual / smallest
        above = theory.hidden_singular_values(sigma_star + apart, gamma, count) - star
        below = star - theory.hidden_singular_values(np.maximum(sigma_star - apart, 0.0), gamma, count)
        measured["sigma_w1_bound"] = (np.maximum(above, below) / star[..., :1], None)
    return measured | {
        "sigma_w1": (sigma_w1, theory.hidden_singular_values(spectrum, gamma, inputs)),
        "sigma_w2": (sigma_w2, theory.output_singular_values(spectrum, gamma)),
        "imbalance": (singular_values(imbalance, 1), None),
        "scale": (singular_values(gram, 1), None),
    }


def _norm(matrices: np.ndarray) -> np.ndarray:
    return np.linalg.norm(matrices, axis=(-2, -1))[..., None]


def _rows(phase: str, times: np.ndarray, measured: Measured) -> Iterable[pd.DataFrame]:
    for quantity, (value, predicted) in measured.items():
        members, points, count = value.shape
        seed, time, index = np.meshgrid(np.arange(members), np.arange(points), np.arange(count), indexing="ij")
        yield pd.DataFrame(
            {
                "seed": seed.ravel(),
                "phase": phase,
                "time": times[seed.ravel(), time.ravel()],
                "quantity": quantity,
                "index": index.ravel() + (count > 1 or quantity.startswith("sigma")),
                "value": value.ravel(),
                "predicted": np.nan if predicted is None else np.broadcast_to(predicted, value.shape).ravel(),
            }
        )
