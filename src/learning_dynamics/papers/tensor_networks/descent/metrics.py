"""Two-layer networks under gradient descent: coefficients, and their distance from Theorem 5 (Section 6)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.tensor_networks import theory
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.distances import angle_between
from learning_dynamics.papers.tensor_networks.quantities import VALUE, grid, joined, rows_of
from learning_dynamics.papers.tensor_networks.reference_solutions import Norm, minimum_norm
from learning_dynamics.tables import Column, columns
from learning_dynamics.trajectory import Trajectory

# the norm whose max-margin or min-norm solution each two-layer network tends to
NORMS: dict[str, Norm] = {"fully_connected": "l2", "diagonal": "l1", "convolutional": "dft_l1"}


@columns(
    Column("network", "str", "architecture"),
    Column("scale", "float", "initial scale alpha; 0 where it does not enter"),
    Column("direction", "int", "which of the initial coefficients zbar_j; -1 where they do not enter"),
    Column("time", "float", "number of steps"),
    *VALUE,
)
def descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure two-layer networks under gradient descent.

    Quantities: ``coefficient``; ``limit``, the last coefficients, predicted by Theorem 5 where there is one
    data point and the loss is squared; ``loss``; ``angle``, in degrees, to the maximum-margin direction
    (classification); ``condition``, the largest lambda for which the initial directions fulfil Theorem 5;
    ``reference``, the solution of least norm or largest margin in the network's own norm.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    classification = settings["loss"] == "exponential"
    tables = []
    for architecture in settings["networks"]:
        network = network_of(architecture, X.shape[1], 2, 0)
        reference = minimum_norm(X, y, NORMS[architecture], classification=classification)
        tables.append(
            rows_of(
                "reference", reference[None], network=architecture, scale=0.0, direction=-1, time=trajectory.time[-1]
            )
        )
        for position, scale, direction in grid(settings, "scales", "directions"):
            states = trajectory.series[architecture][position]
            beta = network.coefficients(states)
            keys = {"network": architecture, "scale": scale, "direction": direction}
            outputs = beta @ X.T
            loss = np.exp(-y * outputs).sum(axis=1) if classification else 0.5 * np.sum((outputs - y) ** 2, axis=1)
            predicted = None
            if len(X) == 1:
                first, second = network.layers(states[0] / scale)
                tensor = network.data_tensor(X[0])
                condition = theory.one_point_condition(tensor, first, second)
                tables.append(rows_of("condition", [condition], time=0.0, **keys))
                if not classification:
                    limit = theory.one_point_limit(tensor, y[0], scale, first, second)
                    predicted = network.coefficients(np.concatenate(limit))
            tables += [
                rows_of("coefficient", beta, time=trajectory.time, **keys),
                rows_of("limit", beta[-1:], predicted, time=trajectory.time[-1:], **keys),
                rows_of("loss", loss, time=trajectory.time, **keys),
            ]
            if classification:
                tables.append(rows_of("angle", angle_between(beta, reference), time=trajectory.time, **keys))
    return joined(descent, tables)


@columns(
    Column("network", "str", "architecture"),
    Column("step", "float", "step size eta; 0 for the extrapolation from the two smallest"),
    Column("scale", "float", "initial scale alpha"),
    Column("direction", "int", "which of the initial coefficients zbar_j"),
    *VALUE,
)
def step_sizes(trajectory: Trajectory) -> pd.DataFrame:
    """Measure where gradient descent ends.

    Quantities: ``error``, the largest distance of a coefficient from Theorem 5; ``residual``, |f - y|;
    ``condition``, the largest lambda for which the initial directions fulfil Theorem 5.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    tables = []
    for architecture in settings["networks"]:
        network = network_of(architecture, X.shape[1], 2, 0)
        tensor = network.data_tensor(X[0])
        found, limits = {}, {}
        for position, step, scale, direction in grid(settings, "steps", "scales", "directions"):
            first, second = network.layers(trajectory.constants[f"initial/{architecture}"][position] / scale)
            predicted = np.concatenate(theory.one_point_limit(tensor, y[0], scale, first, second))
            beta = network.coefficients(trajectory.series[architecture][position, 0])
            limits[scale, direction] = network.coefficients(predicted)
            error = np.max(np.abs(beta - limits[scale, direction]))
            keys = {"network": architecture, "step": step, "scale": scale, "direction": direction}
            found[step, scale, direction] = beta
            tables += [
                rows_of("error", [error], **keys),
                rows_of("residual", [abs(X[0] @ beta - y[0])], **keys),
                rows_of("condition", [theory.one_point_condition(tensor, first, second)], **keys),
            ]
        fine, coarse = sorted(settings["steps"])[:2]
        for (scale, direction), limit in limits.items():
            # the line through the limits at the two smallest step sizes, at step size zero
            line = (coarse * found[fine, scale, direction] - fine * found[coarse, scale, direction]) / (coarse - fine)
            keys = {"network": architecture, "step": 0.0, "scale": scale, "direction": direction}
            tables.append(rows_of("error", [np.max(np.abs(line - limit))], **keys))
    return joined(step_sizes, tables)
