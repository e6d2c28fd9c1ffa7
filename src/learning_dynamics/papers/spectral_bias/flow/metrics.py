"""Singular values, invariants and distances to the predicted limits along the gradient flow."""

from __future__ import annotations

import pandas as pd

from learning_dynamics.papers.spectral_bias.layers import layers
from learning_dynamics.papers.spectral_bias.rows import INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE, tidy
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory


@columns(
    SEED,
    Column("phase", "str", "flow: at a recorded time; limit: where the flow was stopped as converged"),
    TIME,
    QUANTITY,
    INDEX,
    VALUE,
    PREDICTED,
)
def linear_flow(trajectory: Trajectory) -> pd.DataFrame:
    """Measure a two-layer linear network's flow.

    Quantities: ``loss``; ``sigma_w1``, ``sigma_w2``, ``sigma_beta``, singular values, predicted during the
    flow from the measured spectrum of beta (Lemma C.10) or, for beta itself on whitened data, by its learning
    curve (Theorem C.12), and at the limit from the minimum-norm interpolator (Corollary 3.1; for a Gaussian
    layer, that of the orthogonal one of equal mean square); ``distance``, ||beta - beta_*||_F / ||beta_*||_F
    (Theorem 3.1); ``residual``, ||X beta - Y||_F / ||Y||_F; ``distance_bound``, the distance that this
    residual leaves open for a beta in the row space of X, and ``sigma_w1_bound``, what it leaves open for
    sigma_w1 at the limit, relative to the largest; ``imbalance``, largest singular value of
    Z1^T Z1 - Z2 Z2^T - 2 gamma I, and ``scale``, that of Z1^T Z1 (Lemma 3.2); ``shared_vectors`` and, on
    whitened data, ``turning``, how far singular vectors are from shared and from standing still
    (Theorem C.11); at the limit ``stationarity_W1``, ``stationarity_W2`` and ``excess`` (Theorem 3.1 (iii)).
    """
    constants, settings = trajectory.constants, trajectory.settings
    limit_time = constants["limit_time"][:, None]
    series = trajectory.series
    flow = layers(series["W1"], series["W2"], constants, settings, trajectory.time, at_limit=False)
    limits = (constants["limit_W1"][:, None], constants["limit_W2"][:, None])
    limit = layers(*limits, constants, settings, limit_time, at_limit=True)
    tables = {"flow": tidy(flow, trajectory.time), "limit": tidy(limit, limit_time)}
    joined = pd.concat([table.assign(phase=phase) for phase, table in tables.items()], ignore_index=True)
    return joined[[column.name for column in linear_flow.columns]]
