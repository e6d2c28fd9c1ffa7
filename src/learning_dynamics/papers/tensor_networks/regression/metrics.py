"""Limits of regression against the minimisers that are predicted (Theorems 4 and 6; Lemma 5.1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.tensor_networks import tensor_network, theory
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.distances import relative_distance
from learning_dynamics.papers.tensor_networks.quantities import VALUE, grid, joined, rows_of
from learning_dynamics.papers.tensor_networks.reference_solutions import minimum_norm
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory


@columns(
    Column("seed", "int", "data set"),
    Column("method", "str", "flow: gradient flow; descent: gradient descent"),
    Column("depth", "int", "number of layers L"),
    Column("scale", "float", "initial scale alpha"),
    *VALUE,
)
def interpolation(trajectory: Trajectory) -> pd.DataFrame:
    """Measure limits of regression against the minimisers of Q (Theorem 4; Corollaries 5 and 6).

    Quantities: ``coefficient``, predicted by Theorem 4; ``error``, the relative distance from that;
    ``printed_error``, the relative distance from the minimiser of Q(F z) without the factor of the data tensor's
    singular values, as Corollary 6 is printed (convolutional networks); ``l1_distance`` and ``l2_distance``,
    the relative distances from the solutions of least weighted norm that Q tends to (Remark 4).
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    tables = []
    for depth in settings["depths"]:
        network = network_of(settings["network"], X.shape[-1], depth, settings["seed"])
        assert network.S is not None
        sizes = settings | {"sets": len(X)}
        for position, member, scale in grid(sizes, "sets", "scales"):
            eta = trajectory.constants[f"eta_{depth}"][member]
            even = settings["network"] == "convolutional"
            features, back = X[member] @ network.S.T, network.S.T
            if even:  # an even sequence's transform is real, and so is the program
                features, back = features.real, back.real
            predicted = back @ theory.norm_like_minimiser(features, y[member], eta, scale, depth)
            least_l1 = back @ (eta ** (depth - 2) * minimum_norm(features * eta ** (depth - 2), y[member], "l1"))
            least_l2 = back @ (eta ** (depth - 1) * minimum_norm(features * eta ** (depth - 1), y[member], "l2"))
            others = {"l1_distance": least_l1, "l2_distance": least_l2}
            if even:
                F = tensor_network.fourier(X.shape[-1]).real
                others["printed_error"] = F @ theory.norm_like_minimiser(X[member] @ F, y[member], eta, scale, depth)
            for method in ("flow", "descent"):
                if f"{method}_{depth}" not in trajectory.series:
                    continue
                beta = network.coefficients(trajectory.series[f"{method}_{depth}"][position, 0])
                keys = {"seed": member, "method": method, "depth": depth, "scale": scale}
                tables += [
                    rows_of("coefficient", beta[None], predicted, **keys),
                    rows_of("error", [relative_distance(beta, predicted)], **keys),
                    *(
                        rows_of(quantity, [relative_distance(beta, other)], **keys)
                        for quantity, other in others.items()
                    ),
                ]
    return joined(interpolation, tables)


@columns(
    Column("seed", "int", "data set"),
    Column("depth", "int", "number of layers L"),
    Column("scale", "float", "initial scale alpha"),
    *VALUE,
)
def deep_regression(trajectory: Trajectory) -> pd.DataFrame:
    """Measure where deep fully connected networks end (Theorem 6).

    Quantities: ``distance``, |beta - beta_*| / |beta_*| from the interpolator of least l2 norm; ``residual``,
    the largest |f(x_i) - y_i| relative to the largest |y_i|.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    tables = []
    for depth in settings["depths"]:
        network = tensor_network.fully_connected([X.shape[-1]] * depth)
        for position, member, scale in grid(settings | {"sets": len(X)}, "sets", "scales"):
            beta = network.coefficients(trajectory.series[f"flow_{depth}"][position, 0])
            least = np.linalg.pinv(X[member]) @ y[member]
            residual = np.max(np.abs(X[member] @ beta - y[member])) / np.max(np.abs(y[member]))
            keys = {"seed": member, "depth": depth, "scale": scale}
            tables += [
                rows_of("distance", [relative_distance(beta, least)], **keys),
                rows_of("residual", [residual], **keys),
            ]
    return joined(deep_regression, tables)


@columns(
    Column("depth", "int", "number of layers L"),
    Column("sign", "int", "1 forward, -1 backward in time"),
    Column("time", "float", "t"),
    *VALUE,
)
def depth_functions(trajectory: Trajectory) -> pd.DataFrame:
    """Measure the functions of Lemma 5.1.

    Quantities: ``q`` and ``h``, predicted in closed form; ``reached``, the time at which |q| passes the bound
    of the configuration, predicted likewise.
    """
    settings = trajectory.settings
    tables = []
    for position, depth, sign in grid(settings | {"signs": [1, -1]}, "depths", "signs"):
        times = trajectory.time * trajectory.constants["reached"][position]
        p, q = trajectory.series["state"][position].T
        keys = {"depth": depth, "sign": sign}
        tables += [
            rows_of("q", q, theory.depth_q(times, depth), time=times, **keys),
            rows_of("h", p ** (depth - 1) * q, theory.depth_h(times, depth), time=times, **keys),
            rows_of(
                "reached",
                times[-1:],
                theory.depth_time(np.array([sign * settings["last"]]), depth),
                time=times[-1:],
                **keys,
            ),
        ]
    return joined(depth_functions, tables)
