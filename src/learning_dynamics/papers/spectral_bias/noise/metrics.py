"""Spectra under label noise; alignment and growth in the noise-driven process, and how sure they are."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.measures.ensembles import mean_interval, quantile_interval
from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias.layers import layers
from learning_dynamics.papers.spectral_bias.noise import theory as noise_theory
from learning_dynamics.papers.spectral_bias.rows import INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE, tidy
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

STATISTIC = Column("statistic", "str", "mean, quantile or share over paths")
LOWER = Column("lower", "float", "lower end of the value's 95 % interval")
UPPER = Column("upper", "float", "upper end of the value's 95 % interval")

POWERS = (0.1, 0.5, 1.0)
QUANTILES = (0.1, 0.5, 0.9)


@columns(SEED, TIME, QUANTITY, INDEX, VALUE, PREDICTED)
def label_noise_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure (label-noise) gradient descent: ``loss``, ``sigma_w1``, ``sigma_w2``, ``sigma_beta``, ``distance``.

    As for `flow.linear_flow`, but without predictions: the theory is of the flow without noise.
    """
    series = trajectory.series
    measured = layers(
        series["W1"], series["W2"], trajectory.constants, trajectory.settings, trajectory.time, at_limit=False
    )
    return tidy(measured, trajectory.time)


@columns(TIME, QUANTITY, STATISTIC, VALUE, LOWER, UPPER, PREDICTED)
def noise_process(trajectory: Trajectory) -> pd.DataFrame:
    """Measure an ensemble of the noise-driven process.

    Quantities, as statistics over paths: ``hidden_norm``, |w_i|^2 of a column, ``output_norm``, a_i^2, and
    ``determinant``, det W, their means predicted (Proposition 4.1); ``commutator``, |e| for an entry of
    [w_i, a], and ``commutator_squared``; ``relative_commutator``, the sine of the angle between a row and a;
    ``sigma_1``, ``sigma_2`` of W; ``hidden_power_p`` and ``output_power_p``, |W|^p and |a|^p plus the moving
    average's.
    """
    rows = []
    inputs = trajectory.settings["inputs"]
    hidden, output = noise_theory.second_moments(inputs, trajectory.time)
    exact = {"hidden_norm": hidden, "output_norm": output, "determinant": np.ones(len(hidden))}
    for point, time in enumerate(trajectory.time):
        states = (trajectory.series[name][:, point] for name in ("W1", "W2", "average"))
        for quantity, values in _path_quantities(*states).items():
            predicted = exact[quantity][point] if quantity in exact else np.nan
            rows.append((time, quantity, "mean", *mean_interval(values), predicted))
            for share in QUANTILES:
                rows.append((time, quantity, f"quantile {share:g}", *quantile_interval(values, share), np.nan))
            if quantity.startswith("sigma"):
                rows.append((time, quantity, "share above 1", *mean_interval((values > 1).astype(float)), np.nan))
    return pd.DataFrame(rows, columns=["time", "quantity", "statistic", "value", "lower", "upper", "predicted"])


@columns(SEED, TIME, QUANTITY, VALUE)
def noise_paths(trajectory: Trajectory) -> pd.DataFrame:
    """Measure single paths: ``sigma_1``, ``sigma_2``, ``commutator``, ``relative_commutator``, ``determinant``."""
    tables = []
    for point, time in enumerate(trajectory.time):
        states = (trajectory.series[name][:, point] for name in ("W1", "W2", "average"))
        quantities = _path_quantities(*states)
        for quantity in ("sigma_1", "sigma_2", "commutator", "relative_commutator", "determinant"):
            values = quantities[quantity]
            tables.append(
                pd.DataFrame({"seed": np.arange(len(values)), "time": time, "quantity": quantity, "value": values})
            )
    return pd.concat(tables, ignore_index=True)


@columns(Column("inputs", "int", "dimension d"), QUANTITY, VALUE, LOWER, UPPER, PREDICTED)
def noise_growth(trajectory: Trajectory) -> pd.DataFrame:
    """Almost sure growth rates: ``largest``, of |W|; ``commutator``; ``relative_commutator``, their difference.

    The relative commutator divides by |w_i| |a|, which grows at twice the largest rate. The first tenth of each
    path, during which the process forgets its start, is left out.
    """
    growth, inputs = trajectory.series["log_growth"], trajectory.settings["inputs"]
    burn = max(1, len(trajectory.time) // 10)
    rates = (growth[:, -1] - growth[:, burn - 1]) / (trajectory.time[-1] - trajectory.time[burn - 1])
    exact_commutator = noise_theory.commutator_lyapunov_exponent() if inputs == 2 else np.nan
    named = {
        "largest": (rates[:, 0], noise_theory.largest_lyapunov_exponent(inputs)),
        "commutator": (rates[:, 1], exact_commutator),
        "relative_commutator": (rates[:, 1] - 2 * rates[:, 0], np.nan),
    }
    rows = [(inputs, quantity, *mean_interval(values), predicted) for quantity, (values, predicted) in named.items()]
    return pd.DataFrame(rows, columns=["inputs", "quantity", "value", "lower", "upper", "predicted"])


def _path_quantities(W: np.ndarray, a: np.ndarray, average: np.ndarray) -> dict[str, np.ndarray]:
    """Return what is measured on each path, arrays of shape (paths,), from one recorded time's states.

    ``commutator`` is the mean over rows of |e|, e the entry in the first row and second column of
    [w_i, a] = w_i a^T - a w_i^T; ``relative_commutator`` the sine of the angle between the first row and a.
    """
    entries = W[:, :, 0] * a[:, None, 1] - W[:, :, 1] * a[:, None, 0]
    first = W[:, 0]
    sizes = np.linalg.norm(first, axis=1) * np.linalg.norm(a, axis=1)
    parallel = np.abs(np.einsum("pi,pi->p", first, a))
    sine = np.sqrt(np.maximum(sizes**2 - parallel**2, 0.0)) / np.where(sizes > 0, sizes, 1.0)
    sigma = singular_values(W)
    quantities = {
        "hidden_norm": (W**2).sum(axis=1).mean(axis=1),
        "output_norm": (a**2).mean(axis=1),
        "commutator": np.abs(entries).mean(axis=1),
        "commutator_squared": (entries**2).mean(axis=1),
        "relative_commutator": sine,
        "determinant": np.linalg.det(W),
        "sigma_1": sigma[:, 0],
        "sigma_2": sigma[:, 1],
    }
    for power in POWERS:
        quantities[f"hidden_power_{power:g}"] = np.linalg.norm(W, axis=(1, 2)) ** power
        quantities[f"output_power_{power:g}"] = (
            np.linalg.norm(a, axis=1) ** power + np.linalg.norm(average, axis=1) ** power
        )
    return quantities
