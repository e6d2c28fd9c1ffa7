"""Conserved quantities of gradient flow, and rates of singular values, along single flows and smooth curves.

Series and constants of the four runs, for V classes and d dimensions:

- `flow`: features `f`, (members, times, examples, d); the classifier `W`, (members, times, d, V); `labels`, one-hot,
  (members, examples, V). Members are draws. Singular vectors of f and W are paired, so that both must have as many
  singular values: d is at most V, or V is the number of examples.
- `descent`: `f` and `W` as of `flow`; `learning_rate`, (members,). Members are all pairs of a rate and a draw; draws
  vary fastest.
- `matrix_curves`: `M` and its derivative `dM`, (seeds, times, rows, columns); `nearby`, (seeds, times, 4, rows,
  columns), M at t + step * (-2, -1, 1, 2).
- `linear_inputs`: `linear`, `free` and `looser`, (members, times, examples, d), all of them features; `correlation`,
  (members,). Members are all pairs of a correlation and a draw; draws vary fastest.

Times are flow time, which is learning rate times steps. A is the residual of eq. 12, and g_i = u_1i^T A v_2i. The i-th
singular value of f and its singular vectors are sigma_1i, u_1i and v_1i, those of W sigma_2i, u_2i and v_2i, numbered
from the largest down at each time. The column `seed` has the number of the draw.
"""

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import difference_rates, smallest_gap
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, theory
from learning_dynamics.papers.softmax_dynamics.flow_errors import DIFFERENCE_STEP
from learning_dynamics.papers.softmax_dynamics.invariants.quantities import (
    CLASSIFIER,
    CURVE_LEMMA,
    CURVE_SPEED,
    DEPARTURE,
    DIRECTION_DIFFERENCE,
    DRIFT,
    FEATURES,
    GAP,
    IMBALANCE,
    LOOSER,
    SIGMA,
    SPECTRUM_DIFFERENCE,
)
from learning_dynamics.papers.softmax_dynamics.spectra import paired_svd, sorted_svd
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE_IF_ANY, Column, columns, rows
from learning_dynamics.trajectories import Trajectory

TIDY = (SEED, TIME, QUANTITY, INDEX, VALUE_IF_ANY, PREDICTED)
CORRELATION = Column("correlation", "float", "of any two inputs", draw=True)
RATE = Column("learning_rate", "float", "step size of gradient descent")


@columns(*TIDY)
def flow(trajectory: Trajectory) -> pd.DataFrame:
    """Measure invariants and rates of singular values along gradient flow; nan where a flow failed.

    The singular values of f are sigma_1i, those of W sigma_2i, numbered from the largest down at each time. Norms are
    Frobenius'.

    Quantities
    ----------
    sigma
        Singular values of the features, sigma_1i.
    rate_f, rate_w
        Derivatives in time of the singular values of f, and of W, by finite differences along the motion; predicted by
        -g_i sigma_2i, and -g_i sigma_1i, with g_i = u_1i^T A v_2i (Theorem B.3, eqs. 17 and 18).
    lemma_f, lemma_w
        The same derivatives as ``rate_f`` and ``rate_w``; predicted by u_i^T (dM/dt) v_i for M = f, and M = W, with
        their singular vectors (Lemma B.1).
    speed_f, speed_w
        Norm of df/dt, and of dW/dt.
    gap
        Smallest distance between neighbours among a factor's singular values and zero, relative to its largest singular
        value; that of f or that of W, whichever is smaller.
    `_drift`
        Along the flow.
    spectra
        Largest |sigma_1i^2 - sigma_2i^2|, relative to sigma_11^2 (Theorem B.2).
    directions
        Largest sine of the angle between the singular vectors v_1i and u_2i, times the smallest distance between
        neighbours among the values sigma_1i^2 and zero, relative to sigma_11^2 (Theorem B.2).
    """
    f, W, failed = starts.finite_factors(trajectory)
    # labels get an axis of length one for times
    loss, labels = trajectory.settings["loss"], trajectory.constants["labels"][:, None]
    df, dW = model.derivatives(f, W, labels, loss)
    (U1, S1, V1), (U2, S2, V2) = paired_svd(f, W)
    g = theory.gains(U1, model.residual(f, W, labels, loss), V2)
    rate_f = difference_rates(f, df, S1.shape[-1], DIFFERENCE_STEP)
    rate_w = difference_rates(W, dW, S2.shape[-1], DIFFERENCE_STEP)
    drift, imbalance = _drift(f, W)
    top = S1[..., 0] ** 2  # sigma_11^2
    # the sine as the length of v_1i across u_2i, since 1 - cosine^2 would lose half of the digits
    sine = np.linalg.norm(V1 - U2 * np.sum(V1 * U2, axis=-2, keepdims=True), axis=-2)
    quantities = {
        SIGMA: S1,
        FEATURES.rate: (rate_f, -g * S2),  # eq. 17
        CLASSIFIER.rate: (rate_w, -g * S1),  # eq. 18
        FEATURES.lemma: (rate_f, theory.singular_value_rates(U1, df, V1)),
        CLASSIFIER.lemma: (rate_w, theory.singular_value_rates(U2, dW, V2)),
        FEATURES.speed: _norm(df),
        CLASSIFIER.speed: _norm(dW),
        GAP: np.minimum(smallest_gap(S1) / S1[..., 0], smallest_gap(S2) / S2[..., 0]),
        DRIFT: drift,
        IMBALANCE: imbalance,
        SPECTRUM_DIFFERENCE: np.max(np.abs(S1**2 - S2**2), axis=-1) / top,
        DIRECTION_DIFFERENCE: sine.max(axis=-1) * smallest_gap(S1**2) / top,
    }
    table = rows(quantities, {"seed": np.arange(len(f)), "time": trajectory.time})
    # members are draws here, so that the column `seed` has their numbers
    table.loc[failed[table["seed"]], "value"] = np.nan
    return table


@columns(RATE, *TIDY)
def descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure along gradient descent what the flow conserves.

    Quantities
    ----------
    `_drift`
        Along descent.
    """
    drift, imbalance = _drift(trajectory.series["f"], trajectory.series["W"])
    rates = trajectory.constants["learning_rate"]
    # every rate has as many members as there are draws, and they come rate by rate: counting those of the first rate
    # gives the number of draws, and a member's number modulo that is its draw
    seeds = np.arange(len(rates)) % np.count_nonzero(rates == rates[0])
    axes = {"seed": seeds, "time": trajectory.time}
    return rows({DRIFT: drift, IMBALANCE: imbalance}, axes, learning_rate=rates)


@columns(*TIDY)
def matrix_curves(trajectory: Trajectory) -> pd.DataFrame:
    """Measure rates of singular values along smooth curves of matrices M(t).

    Quantities
    ----------
    lemma
        Derivative of each singular value by fourth-order differences in time; predicted by u^T (dM/dt) v (Lemma B.1).
    speed
        Frobenius norm of dM/dt.
    gap
        Smallest distance between neighbours among the singular values of M and zero, not relative to any of them.
    """
    M, dM, nearby = (trajectory.series[name] for name in ("M", "dM", "nearby"))
    values = np.linalg.svd(nearby, compute_uv=False)
    step = trajectory.settings["step"]
    # On the axis of `nearby` the places 0 to 3 are t - 2h, t - h, t + h and t + 2h, where h is the step. The derivative
    # of a function s by fourth-order differences is (8 [s(t + h) - s(t - h)] - [s(t + 2h) - s(t - 2h)]) / 12h.
    difference = (8 * (values[..., 2, :] - values[..., 1, :]) - (values[..., 3, :] - values[..., 0, :])) / (12 * step)
    U, S, V = sorted_svd(M)
    quantities = {
        CURVE_LEMMA: (difference, theory.singular_value_rates(U, dM, V)),
        CURVE_SPEED: _norm(dM),
        GAP: smallest_gap(S),
    }
    return rows(quantities, {"seed": np.arange(len(M)), "time": trajectory.time})


@columns(CORRELATION, *TIDY)
def linear_inputs(trajectory: Trajectory) -> pd.DataFrame:
    """Measure how far linear features come from free ones of the same start.

    Quantities
    ----------
    departure
        Frobenius distance of linear features from free ones at the same time, relative to the free ones' norm.
    looser
        Frobenius distance of free features that are integrated at looser tolerances from the free ones, relative to the
        free ones' norm.
    """
    free = trajectory.series["free"]
    correlation = trajectory.constants["correlation"]
    # every correlation has as many members as there are draws, and they come correlation by correlation: counting those
    # of the first gives the number of draws, and a member's number modulo that is its draw
    seeds = np.arange(len(free)) % np.count_nonzero(correlation == correlation[0])
    axes = {"seed": seeds, "time": trajectory.time}
    quantities = {
        DEPARTURE: _norm(trajectory.series["linear"] - free) / _norm(free),
        LOOSER: _norm(trajectory.series["looser"] - free) / _norm(free),
    }
    return rows(quantities, axes, correlation=correlation)


def _drift(f: np.ndarray, W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two norms of f^T f - W W^T, which the flow conserves (eqs. 15 and 16), shape (members, times) each.

    Quantities
    ----------
    drift
        Frobenius norm of the change of f^T f - W W^T since the start, relative to the norm of f^T f + W W^T at the same
        time; zero where f^T f - W W^T is conserved.
    imbalance
        Frobenius norm of f^T f - W W^T, relative to the norm of f^T f + W W^T at the same time.
    """
    gram_f, gram_w = np.swapaxes(f, -1, -2) @ f, W @ np.swapaxes(W, -1, -2)
    difference, size = gram_f - gram_w, _norm(gram_f + gram_w)
    return _norm(difference - difference[:, :1]) / size, _norm(difference) / size


def _norm(matrices: np.ndarray) -> np.ndarray:
    """Return Frobenius norms over the last two axes."""
    return np.linalg.norm(matrices, axis=(-2, -1))
