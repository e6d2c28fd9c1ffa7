"""Deep linear networks written out plainly, with derivatives by torch: what the papers' own code is held against.

Nothing here is imported from the package. Layers are first layer first.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy
import torch


def end_to_end(layers: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return W_N ... W_1."""
    return torch.linalg.multi_dot(list(layers)[::-1]) if len(layers) > 1 else layers[0]


def squared(target: np.ndarray) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return half the squared distance from a target, as a function of W."""
    goal = torch.tensor(target)
    return lambda W: 0.5 * torch.sum((W - goal) ** 2)


def gradients(layers: Sequence[np.ndarray], loss: Callable[[torch.Tensor], torch.Tensor]) -> list[np.ndarray]:
    """Return the loss's gradient with respect to every layer."""
    leaves = [torch.tensor(layer, requires_grad=True) for layer in layers]
    loss(end_to_end(leaves)).backward()
    return [leaf.grad.numpy() for leaf in leaves]


def descend(layers: Sequence[np.ndarray], loss: Callable, rate: float, steps: int) -> list[np.ndarray]:
    """Return the layers after so many steps of gradient descent."""
    current = [np.array(layer) for layer in layers]
    for _ in range(steps):
        current = [layer - rate * change for layer, change in zip(current, gradients(current, loss), strict=True)]
    return current


def flow(layers: Sequence[np.ndarray], loss: Callable, times: np.ndarray, rtol: float = 1e-9) -> list[list[np.ndarray]]:
    """Return the layers of gradient flow at the times, by scipy."""
    shapes = [layer.shape for layer in layers]
    cuts = np.cumsum([layer.size for layer in layers])[:-1]

    def back(state: np.ndarray) -> list[np.ndarray]:
        return [part.reshape(shape) for part, shape in zip(np.split(state, cuts), shapes, strict=True)]

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        return -np.concatenate([change.ravel() for change in gradients(back(state), loss)])

    start = np.concatenate([layer.ravel() for layer in layers])
    found = scipy.integrate.solve_ivp(field, (times[0], times[-1]), start, t_eval=times, rtol=rtol, atol=1e-3 * rtol)
    return [back(state) for state in found.y.T]


def jacobian(layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return d vec(W) / d(all layers), shape (d_N d_0, parameters)."""
    leaves = tuple(torch.tensor(layer) for layer in layers)
    parts = torch.autograd.functional.jacobian(lambda *given: end_to_end(given).flatten(), leaves)
    return torch.cat([part.flatten(1) for part in parts], dim=1).numpy()


def preconditioner(W: np.ndarray, depth: int) -> np.ndarray:
    """Return P_W, shape (d_N d_0, d_N d_0), from powers of W W^T and W^T W, with no use of its known spectrum."""
    return sum(
        np.kron(_power(W @ W.T, (depth - j) / depth), _power(W.T @ W, (j - 1) / depth)) for j in range(1, depth + 1)
    )


def _power(gram: np.ndarray, exponent: float) -> np.ndarray:
    if exponent == 0:
        return np.eye(len(gram))
    values, vectors = np.linalg.eigh(gram)
    # a root would turn the rounding of a zero eigenvalue into something that looks like one
    rounding = len(gram) * np.finfo(float).eps * values[-1]
    return (vectors * np.where(values > rounding, values, 0.0) ** exponent) @ vectors.T


def multiply(layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return W_N ... W_1 of arrays."""
    return end_to_end([torch.tensor(layer) for layer in layers]).numpy()


def placed(quantity: str, value: Any, *, add: bool = False, **where: Any) -> Callable[[dict], dict]:
    """Return an alteration of tables by role: set a quantity's values (or add to them) where columns match.

    `role` among the conditions restricts it to one table; a column's condition is a value or a predicate of it;
    `column` is the one to be set, ``value`` if none is given.
    """
    role, column = where.pop("role", None), where.pop("column", "value")

    def alter(tables: dict) -> dict:
        touched = 0
        for name, table in tables.items():
            if role not in (None, name):
                continue
            chosen = (table["quantity"] == quantity).to_numpy()
            for key, wanted in where.items():
                matches = wanted(table[key]) if callable(wanted) else table[key] == wanted
                chosen = chosen & matches.to_numpy()
            table.loc[chosen, column] = table.loc[chosen, column] + value if add else value
            touched += int(chosen.sum())
        assert touched, f"no rows of {quantity!r} where {where}"
        return tables

    return alter
