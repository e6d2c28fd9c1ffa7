"""Deep matrix factorisation: many runs of gradient descent side by side, as stacks of matrix products.

Gradients are written by hand. Each run stops at its own time and leaves the stack, so that slow runs pay for
nobody else; the stack is worked through in blocks that stay in a processor's cache.
Products of matrices take nearly all the time, so that single precision halves it.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from learning_dynamics.progress import progress

Optimiser = Literal["gradient_descent", "group_rmsprop"]
Precision = Literal["single", "double"]

SMOOTHING, FLOOR = 0.99, 1e-4  # of group RMSprop, from its authors' code
# entries of one layer of all members that move together; chosen: 320 kB in double precision, for a stack that stays in
# a cache
CACHED = 40_000
HOPELESS = 1e6  # a loss this many times the first one has diverged; chosen


@dataclass(frozen=True)
class Ended:
    """What a stack of runs left behind, each at its own end.

    Attributes
    ----------
    end_to_end : ndarray, shape (members, n, n)
        In the precision of the arithmetic.
    loss : ndarray, shape (members,)
        Mean square error on the observed entries.
    steps : ndarray of int, shape (members,)
    """

    end_to_end: np.ndarray
    loss: np.ndarray
    steps: np.ndarray


def descend(
    layers: list[np.ndarray],
    truth: np.ndarray,
    mask: np.ndarray,
    learning_rate: np.ndarray,
    *,
    stop: float,
    max_steps: int,
    optimiser: Optimiser = "gradient_descent",
    precision: Precision = "double",
    block: int | None = None,
    device: str = "cpu",
) -> Ended:
    """Minimise the mean square error on observed entries over the layers of W_N ... W_1, for every member.

    Parameters
    ----------
    layers : list of ndarray, each of shape (members, n, n)
        Where to start, first layer first; left as they are.
    truth, mask : ndarray, shape (members, n, n)
        The matrix to complete, and which entries of it are observed.
    learning_rate : ndarray, shape (members,)
    stop : float
        A member stops at the first step at which its loss is at most this.
    max_steps : int
        A member stops after so many steps in any case.
    optimiser : str
        gradient_descent, or group_rmsprop: every layer moves with one step size, `learning_rate` over the root
        of the smoothed squared norm of the whole gradient.
    precision : str
        Of the arithmetic.
    block : int, optional
        Members that move together; as many as a cache holds, if it is not given.
    device : str
        cpu, or a torch device such as cuda; the whole stack is then one block.
    """
    members = len(truth)
    size = members if device != "cpu" else block or max(1, CACHED // truth[0].size)
    parts = []
    for start in progress(range(0, members, size), f"depth {len(layers)}"):
        at = slice(start, start + size)
        stack = _Stack(
            [layer[at] for layer in layers], truth[at], mask[at], learning_rate[at], optimiser, precision, device
        )
        # a member that diverges overflows before its loss is looked at; the loss then ends it
        with np.errstate(over="ignore", invalid="ignore"):
            parts.append(stack.run(stop, max_steps))
    return Ended(*(np.concatenate(values) for values in zip(*parts, strict=True)))


class _Stack:
    """Members that move together, with the buffers for their products."""

    def __init__(
        self,
        layers: list[np.ndarray],
        truth: np.ndarray,
        mask: np.ndarray,
        learning_rate: np.ndarray,
        optimiser: Optimiser,
        precision: Precision,
        device: str,
    ) -> None:
        self.xp: Any = np
        self.optimiser = optimiser
        self.kind = "float32" if precision == "single" else "float64"
        self._place: Any = lambda array: np.array(array, dtype=self.kind)
        if device != "cpu":
            import torch

            self.xp = torch
            self._place = lambda array: torch.tensor(array, dtype=getattr(torch, self.kind), device=device)
        self.arrays = {f"layer{j}": self._place(layer) for j, layer in enumerate(layers)}
        observed = mask.sum(axis=(-2, -1), keepdims=True)
        # the mean over observed entries, its derivative and, for plain descent, the step size in one factor
        weight = 2.0 * mask / observed
        rate = learning_rate[:, None, None]
        self.arrays |= {
            "target": self._place(mask * truth),
            "mask": self._place(mask),
            "weight": self._place(weight * rate if optimiser == "gradient_descent" else weight),
            "rate": self._place(rate),
            "observed": self._place(observed[:, 0, 0]),
            "average": self._place(np.zeros((len(truth), 1, 1))),
        }
        self.depth = len(layers)
        self._allocate()

    def run(self, stop: float, max_steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return end-to-end matrices, losses and step counts."""
        count, size = self.arrays["target"].shape[:2]
        ends, losses = np.empty((count, size, size), self.kind), np.empty(count)
        steps = np.zeros(count, dtype=np.int64)
        waiting = np.arange(count)
        first = None
        for step in range(max_steps + 1):
            self._forward()
            loss = self._loss()
            first = loss if first is None else first
            going = (loss > stop) & (loss < HOPELESS * first) & (step < max_steps)
            if not going.all():
                ended = waiting[~going]
                ends[ended] = self._numpy(self.below[-1])[~going]
                losses[ended], steps[ended] = loss[~going], step
                waiting, first = waiting[going], first[going]
                if not len(waiting):
                    break
                self._keep(going)
                self._forward()
            self._backward(step)
        return ends, losses, steps

    def _forward(self) -> None:
        for j in range(1, self.depth):
            self.xp.matmul(self.arrays[f"layer{j}"], self.below[j - 1], out=self.below[j])
        self.xp.multiply(self.below[-1], self.arrays["mask"], out=self.residual)
        self.xp.subtract(self.residual, self.arrays["target"], out=self.residual)

    def _backward(self, step: int) -> None:
        xp, carried, spare = self.xp, self.carried, self.spare
        xp.multiply(self.residual, self.arrays["weight"], out=carried)
        for j in range(self.depth - 1, 0, -1):
            xp.matmul(carried, self.below[j - 1].swapaxes(-1, -2), out=self.gradients[j])
            xp.matmul(self.arrays[f"layer{j}"].swapaxes(-1, -2), carried, out=spare)
            carried, spare = spare, carried
        gradients = [carried, *self.gradients[1:]]
        if self.optimiser == "group_rmsprop":
            squared = sum(xp.einsum("bij,bij->b", gradient, gradient) for gradient in gradients)
            average = self.arrays["average"]
            average *= SMOOTHING
            average += (1 - SMOOTHING) * squared[:, None, None]
            factor = self.arrays["rate"] / ((average / (1 - SMOOTHING ** (step + 1))) ** 0.5 + FLOOR)
            for gradient in gradients:
                gradient *= factor
        for j, gradient in enumerate(gradients):
            self.arrays[f"layer{j}"] -= gradient

    def _loss(self) -> np.ndarray:
        squares = self._numpy(self.xp.einsum("bij,bij->b", self.residual, self.residual) / self.arrays["observed"])
        return squares.astype(float)

    def _keep(self, kept: np.ndarray) -> None:
        chosen = kept if self.xp is np else self.xp.as_tensor(kept, device=self.residual.device)
        self.arrays = {name: array[chosen] for name, array in self.arrays.items()}
        self._allocate()

    def _allocate(self) -> None:
        like = self.arrays["target"]
        self.below = [self.arrays["layer0"], *(self.xp.empty_like(like) for _ in range(1, self.depth))]
        self.gradients = [self.xp.empty_like(like) for _ in range(self.depth)]
        self.residual, self.carried, self.spare = (self.xp.empty_like(like) for _ in range(3))

    def _numpy(self, array: Any) -> np.ndarray:
        return array.copy() if self.xp is np else array.detach().cpu().numpy()
