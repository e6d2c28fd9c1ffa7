"""How fast one core of a machine is: fixed pieces of the three kinds of work that jobs are made of.

Job seconds times the speed are seconds of a core of speed one, and those of two machines can be compared.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

# processor seconds that a core of speed one takes
REFERENCE = {"interpreter": 0.100, "products of matrices": 0.100, "convolutions": 0.100}


def rows(repeats: int) -> list[dict[str, Any]]:
    """Return a row for each piece, and one for the machine, whose speed is their geometric mean."""
    measured: list[dict[str, Any]] = []
    pieces: dict[str, Callable[[], object]] = {
        "interpreter": _interpreter,
        "products of matrices": _products(),
        "convolutions": _convolutions(),
    }
    for piece, work in pieces.items():
        work()
        spent = min(_processor_seconds(work) for _ in range(repeats))
        reference = REFERENCE[piece]
        measured.append({"piece": piece, "seconds": spent, "at speed one": reference, "speed": reference / spent})
    geometric_mean = np.exp(np.mean([np.log(row["speed"]) for row in measured]))
    return [*measured, {"piece": "machine", "speed": float(geometric_mean)}]


def speed(repeats: int = 3) -> float:
    """Return the machine's speed."""
    return rows(repeats)[-1]["speed"]


def _interpreter() -> dict[int, list[str]]:
    by_length: dict[int, list[str]] = {}
    for number in range(600_000):
        by_length.setdefault(number % 97, []).append(str(number))
    return by_length


def _products() -> Callable[[], object]:
    left, right = np.random.default_rng(0).standard_normal((2, 512, 512))
    return lambda: [left @ right for _ in range(15)]


def _convolutions() -> Callable[[], object]:
    import torch

    from learning_dynamics.dynamics.training import seeded

    with seeded(0, "clock", 0):
        layer, images = torch.nn.Conv2d(32, 32, 3, padding=1), torch.randn(64, 32, 8, 8)
    return lambda: [layer(images).sum().backward() for _ in range(56)]


def _processor_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work, which waiting for others does not lengthen."""
    start = time.process_time()
    work()
    return time.process_time() - start
