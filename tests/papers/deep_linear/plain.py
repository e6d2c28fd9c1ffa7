"""Deep linear networks written out plainly, with derivatives by torch: what the papers' own code is compared with.

Nothing here is imported from the package. Layers are first layer first.
"""

from collections.abc import Callable, Sequence

import numpy as np
import scipy
import torch


def end_to_end(layers: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return W_N ... W_1."""
    return torch.linalg.multi_dot(list(layers)[::-1]) if len(layers) > 1 else layers[0]


def squared_loss(target: np.ndarray) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return half the squared distance from a target, as a function of W."""
    goal = torch.tensor(target)
    return lambda W: 0.5 * torch.sum((W - goal) ** 2)


def loss_on_observed(truth: np.ndarray, mask: np.ndarray) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the mean square error over observed entries, as a function of W."""
    goal, seen = torch.tensor(truth), torch.tensor(mask)
    return lambda W: torch.mean((W - goal)[seen] ** 2)


def balanced_layers(W: np.ndarray, depth: int) -> list[np.ndarray]:
    """Return layers whose product is W, each with the N-th roots of its singular values."""
    U, values, Vt = np.linalg.svd(W, full_matrices=False)
    roots = np.diag(values ** (1 / depth))
    return [roots @ Vt, *[roots] * (depth - 2), U @ roots] if depth > 1 else [W]


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


def descend_until(
    layers: Sequence[np.ndarray], loss: Callable, rate: float, stop: float, max_steps: int
) -> tuple[list[np.ndarray], list[float]]:
    """Return the layers after the first step with a loss of at most `stop`, and the losses before and after each step.

    `max_steps` steps or a loss of 1e9 end it as well.
    """
    losses = [float(loss(torch.tensor(multiply(layers))))]
    while stop < losses[-1] < 1e9 and len(losses) <= max_steps:
        layers = descend(layers, loss, rate, 1)
        losses.append(float(loss(torch.tensor(multiply(layers)))))
    return layers, losses


def flow(layers: Sequence[np.ndarray], loss: Callable, times: np.ndarray, rtol: float = 1e-9) -> list[list[np.ndarray]]:
    """Return the layers of gradient flow at the times, by scipy."""
    shapes = [layer.shape for layer in layers]
    cuts = np.cumsum([layer.size for layer in layers])[:-1]

    def layers_of(state: np.ndarray) -> list[np.ndarray]:
        return [entries.reshape(shape) for entries, shape in zip(np.split(state, cuts), shapes, strict=True)]

    def field(_time: float, state: np.ndarray) -> np.ndarray:
        return -np.concatenate([gradient.ravel() for gradient in gradients(layers_of(state), loss)])

    start = np.concatenate([layer.ravel() for layer in layers])
    solution = scipy.integrate.solve_ivp(field, (times[0], times[-1]), start, t_eval=times, rtol=rtol, atol=1e-3 * rtol)
    return [layers_of(state) for state in solution.y.T]


def jacobian(layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return d vec(W) / d(all layers), shape (d_N d_0, parameters)."""
    leaves = tuple(torch.tensor(layer) for layer in layers)
    by_layer = torch.autograd.functional.jacobian(lambda *variables: end_to_end(variables).flatten(), leaves)
    return torch.cat([derivatives.flatten(1) for derivatives in by_layer], dim=1).numpy()


def multiply(layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return W_N ... W_1 of arrays."""
    return end_to_end([torch.tensor(layer) for layer in layers]).numpy()
