"""Singular values and their rates, invariants and effective ranks along single flows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.measures.continuation import continued_svd, difference_rates, smallest_gap
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.ranks import RANKS
from learning_dynamics.papers.softmax_dynamics.svd import paired_svd, sorted_svd
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

TIDY = (
    Column("seed", "int", "ensemble member"),
    Column("time", "float", "flow time: learning rate times steps"),
    Column("quantity", "str", "what the value is; see the metrics function"),
    Column("index", "int", "1, 2, ... for singular values, examples and classes; 0 for scalars"),
    Column("value", "float", "measured"),
    Column("predicted", "float", "what the theory gives for it, where it does", nullable=True),
)


@columns(*TIDY)
def flow(trajectory: Trajectory) -> pd.DataFrame:
    """Measure features and classifier along gradient flow.

    Singular values are numbered at the start, descending, and followed by their vectors. Quantities:
    ``sigma_f``, ``sigma_w``; ``rate_f``, ``rate_w``, their derivatives by finite differences, with -g_i sigma
    of the other factor as the prediction (Theorem B.3); ``lemma_f``, ``lemma_w``, the same derivatives with
    u^T (dM/dt) v as the prediction (Lemma B.1); ``speed_f``, ``speed_w``, norms of dM/dt; ``gap``, smallest
    distance within the spectra relative to the largest singular value; ``drift``, norm of the change of
    f^T f - W W^T since the start, and ``size``, norm of f^T f + W W^T (conservation); ``spectra``, largest
    difference of squared singular values, and ``directions``, largest sine between v_1i and u_2i times the
    gap of the squared spectrum, both relative to sigma_1^2 (Theorem B.2); ``rankme``, ``rankme_centred``,
    ``effective_rank``; ``loss``; the first two coordinates of features (``feature_x``, ``feature_y``)
    and of classifier columns (``class_x``, ``class_y``).
    """
    f, W = trajectory.series["f"], trajectory.series["W"]
    loss = trajectory.settings["loss"]
    labels = trajectory.constants["labels"][:, None]
    df, dW = model.derivatives(f, W, labels, loss)
    A = model.residual(f, W, labels, loss)
    U1, S1, V1 = continued_svd(f, min(f.shape[-2:]))
    U2, S2, V2 = continued_svd(W, min(W.shape[-2:]))
    # the sorted triples, in which differences and the theorem's pairs are taken
    (U1s, S1s, V1s), (U2s, S2s, V2s) = paired_svd(f, W)
    g = theory.gains(U1s, A, V2s)
    rank_f, rank_w = np.argsort(np.argsort(-S1, axis=-1), axis=-1), np.argsort(np.argsort(-S2, axis=-1), axis=-1)

    def named(values: np.ndarray, ranks: np.ndarray) -> np.ndarray:
        return np.take_along_axis(values, ranks, axis=-1)

    rate_f = named(difference_rates(f, df, S1.shape[-1]), rank_f)
    rate_w = named(difference_rates(W, dW, S2.shape[-1]), rank_w)
    left, right = _gram(f), _gram(np.swapaxes(W, -1, -2))
    top = S1s[..., :1] ** 2
    # the sine as a length, since 1 - cosine^2 would lose half of the digits
    sine = np.linalg.norm(V1s - U2s * np.sum(V1s * U2s, axis=-2, keepdims=True), axis=-2)
    squares_gap = smallest_gap(S1s**2)[..., None]
    measured: dict[str, tuple[np.ndarray, np.ndarray | None]] = {
        "sigma_f": (S1, None),
        "sigma_w": (S2, None),
        "rate_f": (rate_f, named(-g * S2s, rank_f)),
        "rate_w": (rate_w, named(-g * S1s, rank_w)),
        "lemma_f": (rate_f, theory.singular_value_rates(U1, df, V1)),
        "lemma_w": (rate_w, theory.singular_value_rates(U2, dW, V2)),
        "speed_f": (_norm(df), None),
        "speed_w": (_norm(dW), None),
        "gap": (np.minimum(smallest_gap(S1s) / S1s[..., 0], smallest_gap(S2s) / S2s[..., 0])[..., None], None),
        "drift": (_norm((left - right) - (left - right)[:, :1]), None),
        "size": (_norm(left + right), None),
        "spectra": (np.max(np.abs(S1s**2 - S2s**2), axis=-1, keepdims=True) / top, None),
        "directions": (sine.max(axis=-1, keepdims=True) * squares_gap / top, None),
        "loss": (model.summed_loss(f, W, labels, loss)[..., None], None),
        "feature_x": (f[..., 0], None),
        "feature_y": (f[..., 1], None),
        "class_x": (W[..., 0, :], None),
        "class_y": (W[..., 1, :], None),
    }
    measured |= {name: (measure(f)[..., None], None) for name, measure in RANKS.items()}
    return pd.concat([_rows(name, trajectory.time, *pair) for name, pair in measured.items()], ignore_index=True)


@columns(Column("learning_rate", "float", "step size of gradient descent"), *TIDY)
def descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the imbalance f^T f - W W^T along gradient descent: ``drift`` and ``size``, as for the flow."""
    f, W = trajectory.series["f"], trajectory.series["W"]
    left, right = _gram(f), _gram(np.swapaxes(W, -1, -2))
    drift = _norm((left - right) - (left - right)[:, :1])
    rates = trajectory.constants["learning_rate"]
    rows = [_rows("drift", trajectory.time, drift), _rows("size", trajectory.time, _norm(left + right))]
    table = pd.concat(rows, ignore_index=True)
    table.insert(0, "learning_rate", rates[table["seed"]])
    return table.assign(seed=table["seed"] % np.count_nonzero(rates == rates[0]))


@columns(*TIDY)
def matrix_curves(trajectory: Trajectory) -> pd.DataFrame:
    """Measure singular values' rates along smooth curves.

    Quantities: ``lemma``, the derivative by fourth-order differences in time, with u^T (dM/dt) v as the
    prediction (Lemma B.1); ``speed``, norm of dM/dt; ``gap``, smallest distance within the spectrum.
    """
    M, dM, nearby = (trajectory.series[name] for name in ("M", "dM", "nearby"))
    values = np.linalg.svd(nearby, compute_uv=False)
    step = trajectory.settings["step"]
    difference = (8 * (values[..., 2, :] - values[..., 1, :]) - (values[..., 3, :] - values[..., 0, :])) / (12 * step)
    U, S, V = sorted_svd(M)
    measured = {
        "lemma": (difference, theory.singular_value_rates(U, dM, V)),
        "speed": (_norm(dM), None),
        "gap": (smallest_gap(S)[..., None], None),
    }
    return pd.concat([_rows(name, trajectory.time, *pair) for name, pair in measured.items()], ignore_index=True)


def _gram(factors: np.ndarray) -> np.ndarray:
    return np.swapaxes(factors, -1, -2) @ factors


def _norm(matrices: np.ndarray) -> np.ndarray:
    return np.linalg.norm(matrices, axis=(-2, -1))[..., None]


def _rows(quantity: str, times: np.ndarray, value: np.ndarray, predicted: np.ndarray | None = None) -> pd.DataFrame:
    members, points, count = value.shape
    seed, time, index = np.meshgrid(np.arange(members), np.arange(points), np.arange(count), indexing="ij")
    return pd.DataFrame(
        {
            "seed": seed.ravel(),
            "time": times[time.ravel()],
            "quantity": quantity,
            "index": index.ravel() + (count > 1),
            "value": value.ravel(),
            "predicted": np.nan if predicted is None else predicted.ravel(),
        }
    )
