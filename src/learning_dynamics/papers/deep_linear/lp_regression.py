"""Gradient descent on an l_p regression through redundant linear layers of width one (Cohen 2019, slide 24).

A network of N layers has one row of weights and N - 1 scalars; their product is the vector w of end-to-end weights. The
loss is the mean of |x.w - y|^p over samples x, the rows of X, and labels y, the entries of Y.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import minimize

Rule = Literal["network", "end_to_end"]
DIVERGED = 1e6  # chosen: a member has diverged when its loss is at least this many times its first, or nan


@dataclass(frozen=True)
class Descent:
    """Several descents: a member for each starting point, with a learning rate of its own.

    Attributes
    ----------
    losses : ndarray, shape (members, max_steps + 1)
        The loss after 0, 1, ... steps; once a member has ended, its last loss that is not nan.
    iterations : ndarray of int, shape (members,)
        The first step at which the loss was at most the target; -1 where it never was.
    """

    losses: np.ndarray
    iterations: np.ndarray


def loss(weights: np.ndarray, X: np.ndarray, Y: np.ndarray, exponent: float) -> np.ndarray:
    """Return the mean of |x.w - y|^p, for weights of shape (..., features)."""
    return np.mean(np.abs(weights @ X.T - Y) ** exponent, axis=-1)


def gradient(weights: np.ndarray, X: np.ndarray, Y: np.ndarray, exponent: float) -> np.ndarray:
    """Return the gradient of `loss` for p >= 2, shape (..., features)."""
    residual = weights @ X.T - Y
    return exponent * (np.abs(residual) ** (exponent - 2) * residual) @ X / len(Y)


def least_loss(X: np.ndarray, Y: np.ndarray, exponent: float) -> float:
    """Return the least loss for p >= 2, where it is smooth enough for BFGS; it is convex in the weights."""
    start = np.linalg.lstsq(X, Y, rcond=None)[0]
    if exponent == 2:
        return float(loss(start, X, Y, exponent))
    # with this `gtol` the least loss is right to a share of 1e-9, as tests find; runs stop within a share of 1e-5 of it
    return minimize(loss, start, (X, Y, exponent), jac=gradient, method="BFGS", options={"gtol": 1e-10}).fun


def descend(
    start: np.ndarray,
    X: np.ndarray,
    Y: np.ndarray,
    *,
    exponent: float,
    depth: int,
    rule: Rule,
    learning_rate: np.ndarray,
    target: float,
    max_steps: int,
) -> Descent:
    """Follow every member until its loss is at most `target`, it has diverged, or `max_steps` are taken.

    Parameters
    ----------
    start : ndarray, shape (members, features)
        The end-to-end weights at the start; a network starts from balanced layers whose product they are.
    X, Y : ndarray, shape (samples, features) and (samples,)
    exponent : float
        p of the loss, at least 2.
    depth : int
        Number of layers N.
    rule : str
        network: descent on the layers. end_to_end: descent on w alone, by the update that balanced layers make to first
        order in the step (Arora, Cohen and Hazan 2018, theorem 1).
    learning_rate : ndarray, shape (members,)
    target : float
        Loss at which a member ends.
    max_steps : int
    """
    # Layers of a balanced network all have one norm: |w|^(1/N) is the row's, and each scalar. With the end-to-end
    # rule the row is w itself, and there are no scalars
    size = np.linalg.norm(start, axis=1, keepdims=True)
    root = size ** (1 / depth)
    row = start / size * root if rule == "network" else start.copy()
    scalars = np.repeat(root, depth - 1, axis=1) if rule == "network" else np.ones((len(start), 0))
    rate = learning_rate[:, None]
    losses = np.full((len(start), max_steps + 1), np.nan)
    iterations = np.full(len(start), -1)
    running = np.arange(len(start))  # the members that have not ended; row, scalars and rate are theirs
    with np.errstate(over="ignore", invalid="ignore"):
        for step in range(max_steps + 1):
            # shapes: weights (running, features); residual and power (running, samples); current (running,).
            # `loss` and `gradient` are written out: they share the residual's power, which takes most of the time
            weights = row * scalars.prod(axis=1, keepdims=True)
            residual = weights @ X.T - Y
            power = np.abs(residual) ** (exponent - 2) if exponent != 2 else np.ones_like(residual)
            current = np.mean(power * residual**2, axis=1)
            losses[running, step] = current
            reached, diverged = current <= target, ~(current < DIVERGED * losses[running, 0])  # nan has diverged
            if reached.any() or diverged.any():
                iterations[running[reached]] = step
                remaining = ~(reached | diverged)
                running, row, scalars, rate, residual, power = (
                    array[remaining] for array in (running, row, scalars, rate, residual, power)
                )
                if not len(running):
                    break
            slope = exponent * (power * residual) @ X / len(Y)  # the gradient with respect to w
            if rule == "network":
                row, scalars = _network_step(row, scalars, slope, rate)
            else:
                row = _end_to_end_step(row, slope, rate, depth)
    # After its end a member keeps its last loss that is not nan. `last` is the step of that loss, shape (members,);
    # `recorded` is the step whose loss each step gets, shape (members, max_steps + 1)
    last = np.where(np.isnan(losses), 0, np.arange(max_steps + 1)).max(axis=1)
    recorded = np.minimum(np.arange(max_steps + 1), last[:, None])
    losses = np.take_along_axis(losses, recorded, axis=1)
    return Descent(losses, iterations)


def _network_step(
    row: np.ndarray, scalars: np.ndarray, slope: np.ndarray, rate: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return row and scalars after one step; `slope` is the gradient with respect to the end-to-end weights w.

    w is the row times all scalars. So the gradient with respect to the row is the slope times all scalars, and that
    with respect to a scalar is <slope, row> times the other scalars. Shapes of row and slope are (running, features),
    of scalars (running, N - 1), of the rate (running, 1).
    """
    inner = np.sum(slope * row, axis=1, keepdims=True)
    other_products = np.ones_like(scalars)
    for j in range(scalars.shape[1]):
        other_products[:, j] = np.delete(scalars, j, axis=1).prod(axis=1)
    return row - rate * slope * scalars.prod(axis=1, keepdims=True), scalars - rate * inner * other_products


def _end_to_end_step(weights: np.ndarray, slope: np.ndarray, rate: np.ndarray, depth: int) -> np.ndarray:
    """Return end-to-end weights w after one step of the discrete end-to-end dynamics (slide 24), for one output.

    Here the end-to-end matrix W is the row w: W W^T is |w|^2, and W^T W is |w|^2 times the projection onto w. So the
    sum over layers of slide 16, ``sum_j (W W^T)**((N-j)/N) g (W^T W)**((j-1)/N)`` of a gradient g, is ``|w|**(2 - 2/N)
    (g + (N - 1) <u, g> u)`` for the unit vector u along w. In the code g is `slope`, and `parallel` is <u, g> u.
    """
    size = np.linalg.norm(weights, axis=1, keepdims=True)
    direction = weights / size
    parallel = np.sum(slope * direction, axis=1, keepdims=True) * direction
    return weights - rate * size ** (2 - 2 / depth) * (slope + (depth - 1) * parallel)
