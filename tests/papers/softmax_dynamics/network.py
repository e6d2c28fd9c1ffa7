"""The toy as a network of torch's own parts, and what is measured of it: they share nothing with the package."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from scipy import stats
from scipy.integrate import solve_ivp

from learning_dynamics.trajectories import Trajectory
from tests.support import trajectory_of


def trajectory_with_settings(run: Callable[..., Trajectory], settings: Mapping[str, Any], **seed: int) -> Trajectory:
    """Return a run's trajectory with its settings, as metrics read them."""
    trajectory = trajectory_of(run, **settings, **seed)
    trajectory.settings = dict(settings)
    return trajectory


def loss_of(f: torch.Tensor, W: torch.Tensor, classes: torch.Tensor, loss: str) -> torch.Tensor:
    """Return the loss summed over examples; `classes` holds each example's class."""
    if loss == "cross_entropy":
        return torch.nn.functional.cross_entropy(f @ W, classes, reduction="sum")
    return 0.5 * torch.nn.functional.mse_loss(
        f @ W, torch.nn.functional.one_hot(classes, W.shape[1]).double(), reduction="sum"
    )


def velocity(f: np.ndarray, W: np.ndarray, counts: Sequence[int], loss: str) -> tuple[np.ndarray, np.ndarray]:
    """Return minus the gradient by automatic differentiation."""
    factors = [torch.tensor(factor, dtype=torch.float64, requires_grad=True) for factor in (f, W)]
    classes = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    found = torch.autograd.grad(loss_of(*factors, classes, loss), factors)
    return -found[0].numpy(), -found[1].numpy()


def rates_of_singular_values(matrix: np.ndarray, derivative: np.ndarray) -> np.ndarray:
    """Return d sigma_k / dt, descending, by automatic differentiation of torch's singular values."""
    given = torch.tensor(matrix, dtype=torch.float64)
    moved = torch.tensor(derivative, dtype=torch.float64)
    _, found = torch.func.jvp(torch.linalg.svdvals, (given,), (moved,))
    return found.numpy()


def integrate_by_scipy(
    f: np.ndarray, W: np.ndarray, times: np.ndarray, derivatives: Callable[..., tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return f and W at `times` by an implicit scipy integrator, from `derivatives(f, W)`."""

    def field(_: float, state: np.ndarray) -> np.ndarray:
        parts = derivatives(state[: f.size].reshape(f.shape), state[f.size :].reshape(W.shape))
        return np.concatenate([part.ravel() for part in parts])

    start = np.concatenate([f.ravel(), W.ravel()])
    found = solve_ivp(field, (times[0], times[-1]), start, "LSODA", times, rtol=1e-9, atol=1e-12).y.T
    return found[:, : f.size].reshape(-1, *f.shape), found[:, f.size :].reshape(-1, *W.shape)


def rank_of(points: np.ndarray, *, copies: Sequence[int] | None = None, centred: bool = True) -> float:
    """Return RankMe by numpy's covariance and scipy's entropy; a row counts as often as `copies` says."""
    second = np.cov(points.T, fweights=copies, bias=True) if centred else points.T @ points
    return float(np.exp(stats.entropy(np.clip(np.linalg.eigvalsh(second), 0, None))))


def learning_places(own: np.ndarray, sizes: Sequence[int], lower: float, upper: float) -> tuple[int, int, int, int]:
    """Return where the first class is learned, the rarest begin to be, these are, and all are, by a search in time.

    `own` has each class's probability, shape (times, classes); what does not come is put at the end.
    """
    last = len(own) - 1
    rarest = [k for k, size in enumerate(sizes) if size == min(sizes)]

    def first(holds: Callable[[np.ndarray], Any]) -> int:
        return next((t for t in range(len(own)) if holds(own[t])), last)

    begin = max(first(lambda p: (p[rarest] > lower).any()) - 1, 0)
    learned, every = first(lambda p: (p[rarest] > upper).all()), first(lambda p: (p > upper).all())
    return first(lambda p: (p > 0.5).any()), begin, learned, every
