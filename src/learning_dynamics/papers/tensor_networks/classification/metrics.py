"""Classification to its limit (Theorems 1 and 2; Corollaries 1 to 3; Remarks 2 and 3)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.classification.theory import (
    fitted_power,
    outside_support,
    pushes_at_the_limit,
)
from learning_dynamics.papers.tensor_networks.limit_measures import Classified, measured, singular_products
from learning_dynamics.papers.tensor_networks.solutions import least_quasi_norm, minimum_norm
from learning_dynamics.papers.tensor_networks.tensor_network import TensorNetwork
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, Column, columns, joined, rows
from learning_dynamics.trajectory import Trajectory

NETWORK = Column("network", "str", "architecture")
DEPTH = Column("depth", "int", "number of layers L")
SCALE = Column("scale", "float", "initial scale alpha")
DIRECTION = Column("direction", "int", "which of the initial directions")
SIGMA = Column("sigma", "float", "log(1 + log(1 + t))")
VALUE = Column("value", "float", "measured; empty where the flow could not be followed, or the fit has no points", True)
FLOOR = 1e4  # in units of the integrator's atol: layers below are its error
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

    At the last time ``power``, the power of 1 / log t with which a share vanishes, fitted within the window: of two
    orthogonally decomposable layers one for each entry of rho off the support of the l1 max margin, its share of the
    l1 norm, predicted to be 1 - s_j by the margin problem's multipliers; of fully connected networks of any depth the
    share of the coefficients outside of what the support vectors span, predicted to be 1 / L. With the same index
    ``between``, the share of all such entries at the window's start; ``moving``, by how much a power may be off as the
    entries on the support do not yet grow alike, which moves the multipliers; and ``sign``, the least cosine within the
    window between an entry and what pushes it in the limit.
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
            labels = {
                "network": architecture, "depth": depth, "scale": scales[position],
                "seed": seeds[position], "direction": directions[position],
            }  # fmt: skip
            tables.append(rows(found, {"sigma": trajectory.time[1:]}, **labels))
            inside = (trajectory.time >= window[0]) & (trajectory.time <= window[1])
            late = _powers(
                network, architecture, data[seeds[position]], trajectory.time[inside], states[inside], settings["atol"]
            )
            if late:
                tables.append(rows(late, {"sigma": trajectory.time[-1:]}, **labels))
    return joined(DECLARED, *tables)


def _powers(
    network: TensorNetwork, architecture: str, data: Classified, sigmas: np.ndarray, states: np.ndarray, atol: float
) -> dict:
    """Return the powers of what vanishes within the window, shapes (1, entries), with predictions where it has them."""
    beta = network.coefficients(states)
    if architecture == "fully_connected":
        outside = outside_support(data.X, data.y, data.best("l2"))
        if np.linalg.norm(outside, 2) < 0.5 or len(sigmas) < 2:
            return {}
        share = np.linalg.norm(beta @ outside, axis=-1) / np.linalg.norm(beta, axis=-1)
        power = np.array([[fitted_power(sigmas, share)]])
        return {"power": (power, 1 / network.depth), "between": np.zeros((1, 1)), "moving": np.zeros((1, 1)),
                "sign": np.ones((1, 1))}  # fmt: skip
    if network.S is None or network.depth != 2 or len(sigmas) < 2:
        return {}
    features = data.X @ network.S.T
    if architecture == "convolutional":  # S is a multiple of the unitary transform
        largest = np.linalg.solve(network.S.T, data.best("dft_l1"))
    else:
        largest = minimum_norm(features, data.y, "l1", classification=True)
    push, response = pushes_at_the_limit(features, data.y, largest)
    rho, off = singular_products(network, states), np.abs(largest) < 1e-6 * np.abs(largest).max()
    if not off.any():
        return {}
    share = np.abs(rho) / np.abs(rho).sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        cosine = ((rho * push).real / (np.abs(rho) * np.abs(push)))[:, off].min(axis=0)
    resolved = (np.abs(rho) > (FLOOR * atol) ** 2).all(axis=0)[off]
    powers = [
        fitted_power(sigmas, share[:, j]) if seen else np.nan
        for j, seen in zip(np.flatnonzero(off), resolved, strict=True)
    ]
    # the margin grows like sigma, and in the limit all on the support; by how much faster, multipliers are off
    margins = (data.y * (rho @ features.T).real).min(axis=1) / np.abs(rho).sum(axis=1)
    growing = fitted_power(sigmas, margins) if margins.min() > 0 else np.inf
    faster = np.array([growing - fitted_power(sigmas, share[:, j]) for j in np.flatnonzero(~off)])
    moving = np.abs(growing) + np.abs(response[off]) @ np.abs(faster)
    return {
        "power": (np.array([powers]), 1 - np.abs(push[off])),
        "between": np.full((1, off.sum()), share[0, off].sum()),
        "moving": moving[None],
        "sign": cosine[None],
    }


STARTS = (SEED, NETWORK, DEPTH, Column("start", "int", "which of the starts"), SIGMA, QUANTITY, INDEX, VALUE, PREDICTED)


@columns(*STARTS)
def from_many_starts(trajectory: Trajectory) -> pd.DataFrame:
    """Measure ``direction``, the coefficients at unit length, and at the last time ``excess``.

    The excess is that of the l_(2/L) quasi-norm, as in `from_random_layers`, for real decomposable networks.
    """
    X, y, settings = trajectory.constants["X"], trajectory.constants["y"], trajectory.settings
    tables = []
    for architecture in settings["networks"]:
        for depth in settings["depths"]:
            network = network_of(architecture, X.shape[-1], depth, settings["seed"])
            states = trajectory.series[f"{architecture}_{depth}"][:, 1:]
            beta = network.coefficients(states)
            direction = beta / np.linalg.norm(beta, axis=-1, keepdims=True)
            axes = {"seed": np.arange(len(X)), "sigma": trajectory.time[1:], "start": np.arange(settings["starts"])}
            labels = {"network": architecture, "depth": depth}
            tables.append(rows({"direction": direction}, axes, **labels))
            if network.S is None or not np.isrealobj(network.S):
                continue
            power, rho = 2 / depth, singular_products(network, states[:, -1])
            margins = np.einsum("mni,msi,mn->msn", X, beta[:, -1], y).min(axis=-1)
            least = [least_quasi_norm(x @ network.S.T, label, power) for x, label in zip(X, y, strict=True)]
            excess = np.sum(np.abs(rho) ** power, axis=-1) / margins**power / np.array(least)[:, None] - 1
            tables.append(rows({"excess": excess[:, None]}, axes | {"sigma": trajectory.time[-1:]}, **labels))
    return joined(STARTS, *tables)


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
