"""An oracle for the paper's networks, layer by layer with torch's derivatives; alterations of a claim's tables.

The package contracts data tensors, and writes its gradients down; the oracle does neither. A state is a vector of all
layers, one after the other; matrices are stored column by column. Architectures are those of `ARCHITECTURES`.
Alterations are for tests of what a claim refuses.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.integrate import solve_ivp
from scipy.optimize import linprog

from learning_dynamics.judging import Check, Evaluation
from learning_dynamics.tidy import select
from learning_dynamics.trajectories import Arrays, Trajectory
from tests.support import (
    claim_tables,
    each_of_roles,
    evaluation,
    named_after_its_call,
    smoke,
    trajectory_of,
    with_integration,
)

ARCHITECTURES = ["diagonal", "convolutional", "fully_connected"]
FLOW_RTOL = 1e-11  # of `flow`


def lengths_of(architecture: str, inputs: int, depth: int) -> list[int]:
    """The number of parameters of each layer: square matrices where fully connected, and a vector as the last."""
    length = inputs**2 if architecture == "fully_connected" else inputs
    return [length] * (depth - 1) + [inputs]


def coefficients(architecture: str, layers: Sequence[torch.Tensor]) -> torch.Tensor:
    """The coefficients of a network: its outputs at the unit inputs. Convolutions are circular."""
    inputs = len(layers[-1])
    values = torch.eye(inputs, dtype=torch.float64)
    for layer in layers[:-1]:
        if architecture == "diagonal":
            values = values * layer
        elif architecture == "convolutional":
            values = sum(torch.roll(values, -place, dims=1) * weight for place, weight in enumerate(layer))
        else:
            values = values @ layer.reshape(-1, inputs).T  # columns are stored one after the other
    return values @ layers[-1]


def layers_of(architecture: str, inputs: int, depth: int, state: np.ndarray) -> list[np.ndarray]:
    """The layers of a state, each a vector."""
    return np.split(state, np.cumsum(lengths_of(architecture, inputs, depth))[:-1])


def beta_of(architecture: str, inputs: int, depth: int, state: np.ndarray) -> np.ndarray:
    """The coefficients of the network with a state."""
    layers = [torch.tensor(layer) for layer in layers_of(architecture, inputs, depth, state)]
    return coefficients(architecture, layers).numpy()


def loss_of(architecture: str, depth: int, X: np.ndarray, y: np.ndarray, kind: str) -> Callable:
    """The loss as a function of the state, a torch vector; its kind is "squared" or "exponential"."""
    points, labels = torch.tensor(X), torch.tensor(y)
    lengths = lengths_of(architecture, X.shape[1], depth)

    def loss(state: torch.Tensor) -> torch.Tensor:
        outputs = points @ coefficients(architecture, torch.split(state, lengths))
        if kind == "squared":
            return ((outputs - labels) ** 2).sum() / 2
        return torch.exp(-labels * outputs).sum()

    return loss


def gradient(function: Callable, state: np.ndarray) -> np.ndarray:
    """The gradient of a function of a torch vector at a state."""
    variable = torch.tensor(state, requires_grad=True)
    (slope,) = torch.autograd.grad(function(variable), variable)
    return slope.numpy()


def flow(loss: Callable, start: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The states of gradient flow at given times by scipy's LSODA, shape (times, parameters)."""
    solution = solve_ivp(
        lambda _t, state: -gradient(loss, state),
        (0, times[-1]),
        start,
        method="LSODA",
        t_eval=times,
        rtol=FLOW_RTOL,
        atol=1e-13,
    )
    return solution.y.T


def least_l1(X: np.ndarray, y: np.ndarray, *, classification: bool = False) -> np.ndarray:
    """The interpolator of least l1 norm, or the classifier of largest margin, as a linear program."""
    # beta is the difference of two vectors without negative entries, whose sum is the l1 norm
    signed_features = np.hstack([X, -X])
    if classification:
        constraints = {"A_ub": -y[:, None] * signed_features, "b_ub": -np.ones(len(y))}  # margins of at least one
    else:
        constraints = {"A_eq": signed_features, "b_eq": y}
    positive_part, negative_part = linprog(np.ones(2 * X.shape[1]), **constraints).x.reshape(2, -1)
    return positive_part - negative_part


def trajectory_with_settings(run: Callable, data: Arrays | None = None, **settings: Any) -> Trajectory:
    """A run's trajectory with its settings, as its metrics read them; see `trajectory_of`."""
    trajectory = trajectory_of(run, **settings) if data is None else trajectory_of(run, data, **settings)
    trajectory.settings = with_integration(run, settings)
    return trajectory


def read(table: pd.DataFrame, quantity: str, column: str = "value", **where: Any) -> np.ndarray:
    """The numbers of a quantity where columns match, in the order in which they were measured."""
    return select(table, quantity, **where)[column].to_numpy()


# -- the configuration, and what claims say ----------------------------------------------------------------------------


def run_settings(run: str) -> dict[str, Any]:
    """The settings of a run at smoke scale."""
    return smoke("tensor_networks").job("run", "tensor_networks", run).spec["settings"]


def claim_setting(claim: str, name: str) -> float:
    """A setting of a claim at smoke scale."""
    return smoke("tensor_networks").claim("tensor_networks", claim)["settings"][name]


def check_starting_with(words: str, evaluated: Evaluation) -> Check:
    """The one check of an evaluation whose name starts with given words."""
    (check,) = [check for check in evaluated.judgement.checks if check.name.startswith(words)]
    return check


# -- alterations of a claim's tables -----------------------------------------------------------------------------------


def evaluation_on(claim: str, *alterations: Callable, **settings: Any) -> Evaluation:
    """What a claim says of copies of its tables at smoke scale, altered."""
    tables = claim_tables("tensor_networks", claim)
    for alter in alterations:
        alter(tables)
    return evaluation("tensor_networks", claim, tables, **settings)


def verdict(claim: str, *alterations: Callable, **settings: Any) -> str:
    """The verdict on copies of a claim's tables at smoke scale, altered."""
    return evaluation_on(claim, *alterations, **settings).verdict


@named_after_its_call
def rewrite(
    quantity: str, value_of: Callable, *, role: str | None = None, column: str = "value", **where: Any
) -> Callable:
    """Let a quantity be what a function of its rows returns, in the rows where columns have given values.

    Other keywords are such columns, each with a value or a list of values. Without a role, all tables are altered.
    """

    def alter(tables: dict[str, Any]) -> None:
        is_changed = False
        for table in each_of_roles(tables if role is None else {role: tables[role]}):
            if not where.keys() <= set(table):
                continue
            rows = table["quantity"] == quantity
            for key, wanted in where.items():
                rows &= table[key].isin(wanted if isinstance(wanted, list) else [wanted])
            if rows.any():
                table.loc[rows, column] = value_of(table[rows])
                is_changed = True
        assert is_changed, f"no rows of {quantity!r} where {where}"

    return alter


def put(quantity: str, value: float | np.ndarray, **where: Any) -> Callable:
    """Let a quantity have a value, where columns match (see `rewrite`)."""
    return rewrite(quantity, lambda _rows: value, **where)


def multiply(quantity: str, factor: float, **where: Any) -> Callable:
    """Multiply a quantity by a factor, where columns match (see `rewrite`)."""
    return rewrite(quantity, lambda rows: factor * rows["value"], **where)


def off_prediction(quantity: str, error: float, **where: Any) -> Callable:
    """Let a quantity be its prediction plus an error, where columns match (see `rewrite`)."""
    return rewrite(quantity, lambda rows: rows["predicted"] + error, **where)


def off_prediction_relative(quantity: str, error: float, **where: Any) -> Callable:
    """Let a quantity be its prediction plus an error in units of the largest prediction, where columns match."""
    return rewrite(quantity, lambda rows: rows["predicted"] + error * rows["predicted"].abs().max(), **where)
