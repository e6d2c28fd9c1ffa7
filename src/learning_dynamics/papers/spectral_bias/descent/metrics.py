"""The steps of discrete descent beside the paper's formulas for them, and the directions that they keep."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias import two_layer
from learning_dynamics.papers.spectral_bias.geometry import norm, transposed
from learning_dynamics.tidy import INDEX, QUANTITY, SEED, TIME, VALUE, columns, joined, rows
from learning_dynamics.trajectory import Trajectory


@columns(SEED, TIME, QUANTITY, INDEX, VALUE)
def linear_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure discrete descent; R = X^T (Y - X W a).

    Quantities, at each step: ``loss``; ``sigma_w1``; ``gradient_norm``, |R|, and ``output_norm``, |a|, relative to
    their largest; ``gradient_turning`` and ``output_turning``, sines between R(t), a(t) and R(0), zero once |R| is
    below 1e-8 of its start; ``layer_turning``, the part of W - W(0) off R(0) R(0)^T, relative to it. Distances of the
    step that was taken from a formula: ``output_step``, a + eta W^T R, and ``output_step_printed``, a + eta W^T a,
    relative to the largest |a|; ``gradient_step``, R - eta X^T X (W W^T + |a|^2) R - eta^2 (a^T W^T R) X^T X R,
    ``gradient_step_printed``, with a^T W R, and ``gradient_step_first``, without the term of second order, relative
    to |R(0)|.
    """
    X, Y = trajectory.constants["X"][:, None], trajectory.constants["Y"][:, None]
    step = trajectory.settings["step"]
    W, a = trajectory.series["W1"], trajectory.series["W2"]
    R = transposed(X) @ (Y - X @ W @ a)
    size = norm(R)[..., 0]
    first = R[:, :1] / size[:, :1, None, None]

    def sine(vectors: np.ndarray, where: np.ndarray) -> np.ndarray:
        length = norm(vectors)[..., 0]
        across = norm(vectors - first @ (transposed(first) @ vectors))[..., 0]
        return np.where(where & (length > 0), across / np.where(length > 0, length, 1.0), 0.0)

    awake = size > 1e-8 * size[:, :1]
    moved = W - W[:, :1]
    pattern = first @ transposed(first)
    off = norm(moved - np.sum(moved * pattern, axis=(-2, -1), keepdims=True) * pattern)[..., 0]
    travelled = norm(moved)[..., 0]
    gram = transposed(X) @ X
    linear = R - step * gram @ (W @ transposed(W) @ R + norm(a)[..., None] ** 2 * R)
    pulled = step * transposed(W) @ R
    reach, start = norm(a)[..., 0].max(axis=1, keepdims=True), size[:, :1]

    def second(inner: np.ndarray) -> np.ndarray:
        return linear - step**2 * inner * (gram @ R)

    def missed(states: np.ndarray, formula: np.ndarray, unit: np.ndarray) -> np.ndarray:
        apart = norm(states[:, 1:] - formula[:, :-1])[..., 0]
        return np.pad(apart / unit, ((0, 0), (0, 1)))

    measured = {
        "loss": two_layer.loss(W, a, X, Y),
        "sigma_w1": singular_values(W),
        "gradient_norm": size / size.max(axis=1, keepdims=True),
        "output_norm": norm(a)[..., 0] / norm(a)[..., 0].max(axis=1, keepdims=True),
        "gradient_turning": sine(R, awake),
        "output_turning": sine(a, np.ones_like(awake)),
        "layer_turning": np.where(travelled > 0, off / np.where(travelled > 0, travelled, 1.0), 0.0),
        "output_step": missed(a, a + pulled, reach),
        "output_step_printed": missed(a, a + step * transposed(W) @ a, reach),
        "gradient_step": missed(R, second(transposed(a) @ transposed(W) @ R), start),
        "gradient_step_printed": missed(R, second(transposed(a) @ W @ R), start),
        "gradient_step_first": missed(R, linear, start),
    }
    return joined(
        linear_descent.columns, rows(measured, {"seed": np.arange(trajectory.members), "time": trajectory.time})
    )
