"""Oracles of the toy, from torch, numpy and scipy: gradients, flows, ranks, and times of learning.

They share no code with the package; tests compare its runs and metrics with them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy import stats
from scipy.integrate import solve_ivp

from learning_dynamics.trajectories import Trajectory
from tests.support import trajectory_of


def trajectory_with_settings(run: Callable[..., Trajectory], settings: Mapping[str, Any], **seed: int) -> Trajectory:
    """Return a run's trajectory with its settings, as metrics read them.

    `run` takes `rtol`, `atol`, `first_time`, `horizon` and `points` as its argument `integration`, where it has that.
    """
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
    """Return minus the gradient in f and in W, by automatic differentiation; examples are sorted by class."""
    factors = [torch.tensor(factor, dtype=torch.float64, requires_grad=True) for factor in (f, W)]
    classes = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    gradient_f, gradient_W = torch.autograd.grad(loss_of(*factors, classes, loss), factors)
    return -gradient_f.numpy(), -gradient_W.numpy()


def rates_of_singular_values(matrix: np.ndarray, derivative: np.ndarray) -> np.ndarray:
    """Return d sigma_k / dt, descending, by automatic differentiation of torch's singular values."""
    point = torch.tensor(matrix, dtype=torch.float64)
    tangent = torch.tensor(derivative, dtype=torch.float64)
    _, rates = torch.func.jvp(torch.linalg.svdvals, (point,), (tangent,))
    return rates.numpy()


def integrate_by_scipy(
    f: np.ndarray, W: np.ndarray, times: np.ndarray, derivatives: Callable[..., tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return f and W at `times` by an implicit scipy integrator, from `derivatives(f, W)`."""

    def field(_: float, state: np.ndarray) -> np.ndarray:
        df, dW = derivatives(state[: f.size].reshape(f.shape), state[f.size :].reshape(W.shape))
        return np.concatenate([df.ravel(), dW.ravel()])

    start = np.concatenate([f.ravel(), W.ravel()])
    states = solve_ivp(field, (times[0], times[-1]), start, method="LSODA", t_eval=times, rtol=1e-9, atol=1e-12).y.T
    return states[:, : f.size].reshape(-1, *f.shape), states[:, f.size :].reshape(-1, *W.shape)


def rank_of(points: np.ndarray, *, copies: Sequence[int] | None = None, centred: bool = True) -> float:
    """Return RankMe by numpy's covariance and scipy's entropy; a row counts as often as `copies` says."""
    second = np.cov(points.T, fweights=copies, bias=True) if centred else points.T @ points
    return float(np.exp(stats.entropy(np.clip(np.linalg.eigvalsh(second), 0, None))))


class LearningPlaces(NamedTuple):
    """Places along times, 0, 1, 2, ..., of what a flow learns; the last place for what never comes."""

    first_learned: int  # some class has a probability above one half
    rare_begin: int  # the last place before one of the rarest classes passes `lower`
    rare_learned: int  # all of the rarest classes are above `upper`
    all_learned: int  # all classes are above `upper`


def learning_places(own: np.ndarray, sizes: Sequence[int], lower: float, upper: float) -> LearningPlaces:
    """Return when classes are learned, by a search in time.

    `own` has the probability of each class on its own examples, shape (times, classes).
    """
    last = len(own) - 1
    rarest = [k for k, size in enumerate(sizes) if size == min(sizes)]

    def first_place(holds: Callable[[np.ndarray], Any]) -> int:
        return next((place for place in range(len(own)) if holds(own[place])), last)

    return LearningPlaces(
        first_learned=first_place(lambda p: (p > 0.5).any()),
        rare_begin=max(first_place(lambda p: (p[rarest] > lower).any()) - 1, 0),
        rare_learned=first_place(lambda p: (p[rarest] > upper).all()),
        all_learned=first_place(lambda p: (p > upper).all()),
    )
