"""What is measured: spectra, invariants, distances to the predicted limits, and statistics of ensembles."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.measures.plateaus import plateaus
from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias import flow_metrics, noise_metrics, theory
from learning_dynamics.papers.spectral_bias.rows import tidy
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

SEED = Column("seed", "int", "ensemble member")
TIME = Column("time", "float", "gradient-flow time; for descent, step size times number of steps")
QUANTITY = Column("quantity", "str", "what the value is; see the metrics function")
INDEX = Column("index", "int", "1, 2, ... in descending order for singular values; 0 for scalars")
VALUE = Column("value", "float", "measured")
PREDICTED = Column("predicted", "float", "what the theory gives for it, where it does", nullable=True)
GAMMA = Column("gamma", "float", "initialisation scale")
STATISTIC = Column("statistic", "str", "mean, quantile or share over paths")
LOWER = Column("lower", "float", "lower end of the value's 95 % interval")
UPPER = Column("upper", "float", "upper end of the value's 95 % interval")

# shares of |W|^2 in percent that the counted singular values must carry
CARRIED = (90, 95, 99)
# a plateau: the loss falls more slowly than time to this power, is above this share of its first value, and
# time grows by this factor
SLOPE, FLOOR, LEAST = 0.5, 1e-4, 1.25


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
    flow = flow_metrics.layers(series["W1"], series["W2"], constants, settings, trajectory.time, at_limit=False)
    limits = (constants["limit_W1"][:, None], constants["limit_W2"][:, None])
    limit = flow_metrics.layers(*limits, constants, settings, limit_time, at_limit=True)
    tables = {"flow": tidy(flow, trajectory.time), "limit": tidy(limit, limit_time)}
    joined = pd.concat([table.assign(phase=phase) for phase, table in tables.items()], ignore_index=True)
    return joined[[column.name for column in linear_flow.columns]]


@columns(SEED, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def label_noise_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure (label-noise) gradient descent: ``loss``, ``sigma_w1``, ``sigma_w2``, ``sigma_beta``, ``distance``.

    As for `linear_flow`, but without predictions: the theory is of the flow without noise.
    """
    series = trajectory.series
    measured = flow_metrics.layers(
        series["W1"], series["W2"], trajectory.constants, trajectory.settings, trajectory.time, at_limit=False
    )
    return tidy(measured, trajectory.time)


@columns(SEED, GAMMA, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def reduced_flow(trajectory: Trajectory) -> pd.DataFrame:
    """Hold the network's flow against the smaller systems that should be equivalent to it.

    Quantities: ``loss``, predicted its bound (Lemma C.8, one output); ``subspace``, the part of the layers
    outside the span of P, and ``projected``, their distance from the projected pair, relative to |W1|
    (Lemma 3.1); ``alpha``, distance of Z1^{-T} Z2 from the Riccati equation's solution, and
    ``beta_from_alpha``, relative distance of beta from 2 gamma (I - alpha alpha^T)^{-1} alpha (Lemma 3.3);
    ``printed_beta_speed``, distance of d beta/dt from (I - alpha alpha^T)^{-1} alpha relative to the first
    speed; ``beta``, entries of the predictor, predicted by the mirror flow (Theorem 3.2 (b));
    ``mirror_speed``, speeds of the singular values' mirror coordinates, predicted the forces -dL/ds,
    ``mirror_coordinate``, predicted the forces' integral, and both as printed (Theorem 3.2 (a)).
    """
    measured = flow_metrics.reductions_of(trajectory.series, trajectory.constants, trajectory.time)
    return tidy(measured, trajectory.time[1:], gamma=trajectory.constants["gamma"])


@columns(SEED, GAMMA, TIME, QUANTITY, INDEX, VALUE, PREDICTED, Column("limit", "float", "as gamma vanishes"))
def jump_flow(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the learning of singular values in time rescaled by ln(1/gamma).

    ``sigma_beta``, singular values of beta, predicted by Theorem C.12, with their limit as gamma vanishes.
    """
    gamma, teacher = trajectory.constants["gamma"], np.sort(trajectory.constants["teacher"])[::-1]
    sigma = singular_values(trajectory.series["W1"] @ trajectory.series["W2"])
    scale, time = gamma[:, None, None], trajectory.time[None, :, None]
    curve = theory.learning_curve(teacher, scale, time * np.log(1 / scale))
    table = tidy({"sigma_beta": (sigma, curve)}, trajectory.time, gamma=gamma)
    return table.assign(limit=np.broadcast_to(theory.jump(teacher, time), sigma.shape).ravel())


@columns(SEED, TIME, QUANTITY, INDEX, VALUE)
def relu_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure a ReLU student.

    Quantities: ``loss``; ``sigma_w1``, singular values of the hidden layer; ``rank``, how many of them carry
    the share of |W|^2 that the index gives in percent; ``plateau_start`` and ``plateau_end``, times of the
    loss curve's plateaus, numbered by the index, at time 0.
    """
    W, a = trajectory.series["W1"], trajectory.series["W2"]
    X, y = trajectory.constants["X"][:, None], trajectory.constants["y"][:, None]
    from learning_dynamics.models import relu_student  # imports numba, which no other run waits for

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


@columns(TIME, QUANTITY, STATISTIC, VALUE, LOWER, UPPER, PREDICTED)
def noise_process(trajectory: Trajectory) -> pd.DataFrame:
    """Measure an ensemble of the noise-driven process.

    Quantities, as statistics over paths: ``hidden_norm``, |w_i|^2 of a column, ``output_norm``, a_i^2, and
    ``determinant``, det W, their means predicted (Proposition 4.1); ``commutator``, |e| for an entry of
    [w_i, a], and ``commutator_squared``; ``relative_commutator``, the sine of the angle between a row and a;
    ``sigma_1``, ``sigma_2`` of W; ``hidden_power_p`` and ``output_power_p``, |W|^p and |a|^p plus the moving
    average's.
    """
    return noise_metrics.ensemble(trajectory)


@columns(SEED, TIME, QUANTITY, VALUE)
def noise_paths(trajectory: Trajectory) -> pd.DataFrame:
    """Measure single paths: ``sigma_1``, ``sigma_2``, ``commutator``, ``relative_commutator``, ``determinant``."""
    return noise_metrics.single_paths(trajectory)


@columns(Column("inputs", "int", "dimension d"), QUANTITY, VALUE, LOWER, UPPER, PREDICTED)
def noise_growth(trajectory: Trajectory) -> pd.DataFrame:
    """Almost sure growth rates: ``largest``, of |W|; ``commutator``; ``relative_commutator``, their difference.

    The relative commutator divides by |w_i| |a|, which grows at twice the largest rate.
    """
    return noise_metrics.growth_rates(trajectory)
