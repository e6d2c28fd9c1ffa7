"""How the cost of a piece of work grows with its size, and how it should."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench import collapse, flow, log_time, noise
from bench.harness import seconds
from learning_dynamics.dynamics import matrix_factorisation, multilinear_descent


@dataclass(frozen=True)
class Curve:
    """Work of several sizes.

    Attributes
    ----------
    work, size : str
        What is done, and what of it grows.
    sizes : tuple of float
    prepared : callable
        From a size to the work of that size.
    expected : float
        The power of the size that the cost should follow.
    because : str
    """

    work: str
    size: str
    sizes: tuple[float, ...]
    prepared: Callable[[float], Callable[[], Any]]
    expected: float
    because: str


def timed(curve: Curve, repeats: int) -> list[dict[str, Any]]:
    """Return a row for each size: the least of the times, its sizes in turn, after one that is not counted."""
    works = [curve.prepared(size) for size in curve.sizes]
    works[0]()
    spent = np.array([[seconds(work) for work in works] for _ in range(repeats)]).min(axis=0)
    about = {"work": curve.work, "size": curve.size, "expected": curve.expected, "because": curve.because}
    return [{**about, "value": size, "seconds": least} for size, least in zip(curve.sizes, spent, strict=True)]


def exponent(sizes: np.ndarray, costs: np.ndarray) -> float:
    """Return the power that fits best: the slope of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def curves() -> Iterator[Curve]:
    """Yield what grows."""
    yield Curve("two-layer descent", "steps", (1e5, 3e5, 1e6, 3e6), _descent, 1, "each step does the same")
    yield Curve("matrix completion", "rows n", (40, 80, 160, 320), _completion, 3, "products of n x n matrices")
    yield Curve(
        "flow of one network", "1 / rtol", (1e7, 1e9, 1e11, 1e13), _accuracy, 1 / 8, "DOP853's error is of order 8"
    )
    yield Curve("flows of small networks", "networks", (500, 1000, 2000, 4000), _ensemble, 1, "one after another")
    yield Curve(
        "classification", "log log t", (3.0, 4.5, 6.5, 9.0), _log_time, 1, "the flow's own time is the double logarithm"
    )
    yield Curve("label noise", "paths", (8192, 16384, 32768, 65536), _noise, 1, "batches of 4,096, one after another")
    yield Curve("class moments", "examples", (4e3, 1.6e4, 6.4e4), _examples, 1, "batches of 500, one after another")
    yield Curve("class moments", "features", (128, 256, 512, 1024), _features, 2, "a P x N matrix times its transpose")


def _descent(steps: float) -> Callable[[], Any]:
    rng = np.random.default_rng(0)
    tensors, labels = rng.standard_normal((3, 2, 2)), np.array([1.0, -1.0, 1.0])
    initial = rng.standard_normal((1, 4)) * 0.5
    return lambda: multilinear_descent.descend(
        tensors, labels, initial, loss="exponential", step=1e-3, steps=int(steps)
    )


def _completion(size: float) -> Callable[[], Any]:
    rng, n, members = np.random.default_rng(1), int(size), 4
    truth, layers = rng.standard_normal((members, n, n)), [0.1 * rng.standard_normal((members, n, n)) for _ in range(3)]
    mask, rates = (rng.random((members, n, n)) < 0.4).astype(float), np.full(members, 0.01)
    return lambda: matrix_factorisation.descend(layers, truth, mask, rates, stop=0.0, max_steps=50)


def _accuracy(accuracy: float) -> Callable[[], Any]:
    # while singular values grow: later the steps are as long as stability lets them be, whatever the tolerance
    ends = np.array([0.0, 0.5])
    return lambda: flow.followed(1 / accuracy, ends)


def _ensemble(members: float) -> Callable[[], Any]:
    return lambda: flow.each_alone(int(members), 1e-6, 1e-9)


def _log_time(twice: float) -> Callable[[], Any]:
    return lambda: log_time.followed(np.exp(twice) / np.log(10))


def _noise(paths: float) -> Callable[[], Any]:
    return lambda: noise.simulated(int(paths), steps=100)


def _examples(examples: float) -> Callable[[], Any]:
    return lambda: collapse.in_batches(int(examples), 256)


def _features(features: float) -> Callable[[], Any]:
    return lambda: collapse.in_batches(4000, int(features))
