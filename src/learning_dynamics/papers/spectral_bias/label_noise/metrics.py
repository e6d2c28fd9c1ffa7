"""Spectra under label noise, and moments over many paths beside those of the process of appendix D."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.measures.ensembles import mean_interval
from learning_dynamics.papers.spectral_bias.label_noise import theory
from learning_dynamics.papers.spectral_bias.layers import spectra_and_loss
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE, Column, columns, joined, rows
from learning_dynamics.trajectory import Trajectory

SAMPLES, INPUTS = Column("samples", "int", "samples n of the data"), Column("inputs", "int", "inputs d")
ERROR = Column("error", "float", "standard error of a mean over paths; 0 where the value is no mean")


@columns(SEED, TIME, QUANTITY, INDEX, VALUE)
def label_noise_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure (label-noise) gradient descent: the quantities of `layers.spectra_and_loss`, and ``beta_norm``,
    |beta_*|.
    """
    X, Y = trajectory.constants["X"][:, None], trajectory.constants["Y"][:, None]
    series = trajectory.series
    measured = spectra_and_loss(series["W1"], series["W2"], X, Y)
    norms = np.linalg.norm(np.linalg.pinv(X) @ Y, axis=(-2, -1))
    measured["beta_norm"] = np.broadcast_to(norms, measured["loss"].shape)
    table = rows(measured, {"seed": np.arange(trajectory.members), "time": trajectory.time})
    return joined(label_noise_descent.columns, table)


@columns(SEED, SAMPLES, INPUTS, TIME, QUANTITY, INDEX, VALUE, PREDICTED, ERROR)
def label_noise_ensemble(trajectory: Trajectory) -> pd.DataFrame:
    """Measure means over the paths of each data set (the seed).

    Quantities: ``output_square``, the mean of |a|^2, predicted for the process (appendix D); ``isotropic`` and
    ``all_directions``, what it would be if all singular values of X were their quadratic mean, or as many as inputs;
    ``euler``, the recursion's own mean without drift; ``outside``, the largest change over paths of what W has outside
    the span of the rows of X, relative to |W|.
    """
    X, settings, time = trajectory.constants["X"], trajectory.settings, trajectory.time
    sets, paths, inputs = len(X), settings["paths"], X.shape[-1]
    W = trajectory.series["W1"].reshape(sets, paths, len(time), inputs, inputs)
    a = trajectory.series["W2"].reshape(sets, paths, len(time), -1)
    found: dict[str, list[np.ndarray]] = {
        name: [] for name in ("mean", "error", "exact", "same", "all", "euler", "out")
    }
    for member in range(sets):
        _, weights, Vt = np.linalg.svd(X[member], full_matrices=False)
        start = np.sum((Vt @ W[member, 0, 0]) ** 2, axis=1)
        mean, low, _ = mean_interval(np.sum(a[member] ** 2, axis=-1))
        even = np.full(len(weights), np.sqrt(np.mean(weights**2)))
        every = np.full(inputs, np.sqrt(np.mean(weights**2)))
        whole = np.sum(W[member, 0, 0] ** 2, axis=1)
        size, spacing = (settings["step"] * settings["noise"]) ** 2, settings["every"]
        moved = W[member] - W[member, :, :1]
        across = moved - Vt.T @ (Vt @ moved)
        found["mean"].append(mean)
        found["error"].append((mean - low) / 1.959964)
        found["exact"].append(theory.output_second_moment(weights, start, time))
        found["same"].append(theory.output_second_moment(even, start, time))
        found["all"].append(theory.output_second_moment(every, whole, time))
        found["euler"].append(
            [theory.euler_output_second_moment(weights, start, size, spacing * point) for point in range(len(time))]
        )
        ratios = np.linalg.norm(across, axis=(-2, -1)) / np.linalg.norm(W[member], axis=(-2, -1))
        found["out"].append(ratios.max(axis=0))
    axes = {"seed": np.arange(sets), "time": time}
    values = {name: np.array(given) for name, given in found.items()}
    shape = {"samples": X.shape[1], "inputs": inputs}
    main = rows({"output_square": (values["mean"], values["exact"])}, axes, **shape).assign(
        error=values["error"].ravel()
    )
    names = {"isotropic": "same", "all_directions": "all", "euler": "euler", "outside": "out"}
    others = rows({quantity: values[name] for quantity, name in names.items()}, axes, **shape).assign(error=0.0)
    return joined(label_noise_ensemble.columns, main, others)
