"""How fast a network trains on the device at hand, and how much of the device that uses."""

import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from learning_dynamics.dynamics.training import Recipe, arithmetic, executed, one_epoch


def operations_per_image(network: nn.Module, images: Tensor) -> float:
    """Return the floating-point operations of a training step, forward and backward, for one of the images."""
    with FlopCounterMode(display=False) as counter:
        network(images).sum().backward()
    network.zero_grad(set_to_none=True)
    return counter.get_total_flops() / len(images)


def images_per_second(network: nn.Module, images: Tensor, labels: Tensor, recipe: Recipe, *, seconds: float) -> float:
    """Return the images that training takes in a second, by whole epochs that last `seconds` or more together.

    The first epoch is not counted: it chooses algorithms, and compiles where the recipe asks for that. The
    network is trained in place, in the arithmetic that training has.
    """
    optimiser = torch.optim.SGD(
        network.parameters(), recipe.learning_rate, recipe.momentum, weight_decay=recipe.weight_decay
    )
    targets = functional.one_hot(labels, int(labels.max()) + 1).float() if recipe.loss == "mse" else labels
    forward = executed(network, recipe, images.device)
    order = torch.from_numpy(np.random.default_rng(0).permutation(len(images))).to(images.device)
    network.train()

    def epoch() -> None:
        with arithmetic(recipe.precision):
            one_epoch(forward, optimiser, images, targets, order, recipe)

    return len(images) * _rate(epoch, images.device, seconds)


def attainable(device: torch.device, precision: str, *, seconds: float) -> float:
    """Return the floating-point operations per second of a product of large square matrices in a precision.

    It is what a device reaches when nothing but arithmetic limits it: the peak to hold a network against.
    """
    size = 8192 if device.type == "cuda" else 2048
    kind = torch.bfloat16 if precision == "bfloat16" else torch.float32
    left, right = (torch.randn(size, size, device=device, dtype=kind) for _ in range(2))
    with arithmetic(precision):
        return 2.0 * size**3 * _rate(lambda: torch.mm(left, right), device, seconds)


def _rate(work: Callable[[], object], device: torch.device, seconds: float) -> float:
    """Return how many times a second `work` is done, its first time not counted."""

    def elapsed() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter()

    work()
    begun, done = elapsed(), 0
    while (now := elapsed()) - begun < seconds or not done:
        work()
        done += 1
    return done / (now - begun)
