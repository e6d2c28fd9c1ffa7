"""Classification to its limit (Theorems 1 and 2; Corollaries 1 to 3; Remarks 2 and 3)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.limit_measures import Classified, measured
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, Column, columns, joined, rows
from learning_dynamics.trajectory import Trajectory

NETWORK = Column("network", "str", "architecture")
DEPTH = Column("depth", "int", "number of layers L")
SCALE = Column("scale", "float", "initial scale alpha")
DIRECTION = Column("direction", "int", "which of the initial directions")
SIGMA = Column("sigma", "float", "log(1 + log(1 + t))")
VALUE = Column("value", "float", "measured; empty where the flow could not be followed, or the fit has no points", True)
DECLARED = (SEED, NETWORK, DEPTH, SCALE, DIRECTION, SIGMA, QUANTITY, INDEX, VALUE, PREDICTED)


@columns(*DECLARED)
def from_random_layers(trajectory: Trajectory, *, window: list[Positive]) -> pd.DataFrame:
    """Measure the flow of classification from random layers.

    Quantities, by sigma: ``margin``, the least y_i f(x_i) / (1 + log(1 + t)), which tends to one where the loss falls
    like 1/t; ``gap_l2``, ``gap_l1``, ``gap_dft_l1``, by how much the margin of the coefficients, divided by their norm,
    is below the largest possible, relative to it; ``gap_own``, that of the norm which theory gives the network, where
    it is a norm; ``angle``, in degrees, to that norm's max-margin direction; ``exponent``, of 1 / log t in the angle,
    fitted within the window; ``turned``, the angle in degrees between X^T r and its last direction; ``singular``, the
    largest distance of a layer's direction from solving the singular-vector equations of M(-u), relative to the
    singular value, and ``singular_data``, ``singular_coefficients``, the same with the labelled data's sum or the last
    coefficients in place of -u; ``top``, by how much two layers' directions miss the largest singular value.

    Of all parameters in one vector: ``misaligned``, one minus the cosine between them and the negative gradient of the
    loss, ``misaligned_data``, of the sum of all margins; ``moved``, the distance of their direction from the last;
    ``share``, the largest distance of a layer's share of the squared norm from 1 / L, ``share_lengths``, from its
    length's; ``growth``, L times the norm's logarithm, relative to log log t. Of fully connected networks ``against``,
    the distance of the coefficients' direction from that of -X^T r, ``against_data``, from the labelled data's sum.

    For orthogonally decomposable networks ``stationarity_own``, the residual of Theorem 2's conditions, and
    ``stationarity_l1``, ``stationarity_l2``, with another power in place of 2/L; ``dense_transformed`` and
    ``dense_inputs``, the share of |rho| or |beta| that lies beyond as many entries as there are points; ``excess``, of
    the l_(2/L) quasi-norm to the power 2/L at unit margin above its global minimum, relative (real networks).
    """
    sizes = np.full(trajectory.members, trajectory.settings["scale"])
    return _measured(trajectory, window, trajectory.settings["depth"], sizes, np.zeros(trajectory.members, dtype=int))


@columns(*DECLARED)
def from_coefficients(trajectory: Trajectory, *, window: list[Positive]) -> pd.DataFrame:
    """Measure the flow from given coefficients; quantities as in `from_random_layers`."""
    settings, sets = trajectory.settings, len(trajectory.constants["X"])
    scales = np.tile(np.repeat(settings["scales"], settings["directions"]), sets)
    directions = np.tile(np.arange(settings["directions"]), sets * len(settings["scales"]))
    return _measured(trajectory, window, 2, scales, directions)


def _measured(
    trajectory: Trajectory, window: list[float], depth: int, scales: np.ndarray, directions: np.ndarray
) -> pd.DataFrame:
    constants, settings = trajectory.constants, trajectory.settings
    data = [Classified(X, y) for X, y in zip(constants["X"], constants["y"], strict=True)]
    seeds = np.repeat(np.arange(len(data)), len(scales) // len(data))
    tables = []
    for architecture in settings["networks"]:
        network = network_of(architecture, constants["X"].shape[-1], depth, settings["seed"])
        for position, states in enumerate(trajectory.series[architecture]):
            found = measured(
                network, architecture, data[seeds[position]], trajectory.time, states, settings["sharpness"],
                (window[0], window[1]),
            )  # fmt: skip
            labels = {"network": architecture, "depth": depth, "scale": scales[position]}
            tables.append(
                rows(
                    found,
                    {"sigma": trajectory.time[1:]},
                    seed=seeds[position],
                    direction=directions[position],
                    **labels,
                )
            )
    return joined(DECLARED, *tables)


@columns(SEED, SCALE, Column("time", "float", "gradient-flow time"), QUANTITY, INDEX, VALUE, PREDICTED)
def from_opposed_layers(trajectory: Trajectory) -> pd.DataFrame:
    """Measure ``loss`` and ``size``, the largest parameter, of layers that start opposed."""
    X, y, scales = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings["scales"]
    states = trajectory.series["states"]
    half = states.shape[-1] // 2
    seeds = np.repeat(np.arange(len(X)), len(scales))
    outputs = np.einsum("mtj,mj->mt", states[..., :half] * states[..., half:], (y[..., None] * X)[seeds, 0])
    found = {"loss": np.exp(-outputs), "size": np.abs(states).max(axis=-1)}
    table = rows(found, {"seed": seeds, "time": trajectory.time}, scale=np.tile(scales, len(X)))
    return joined((SEED, SCALE, Column("time", "float", ""), QUANTITY, INDEX, VALUE, PREDICTED), table)
