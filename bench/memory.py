"""What a piece of work holds in memory at once, beside its result, as it grows: each measured in a process of its own.

``python -m bench.memory WORK SIDE SIZE`` prints the megabytes of one.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench import collapse, noise
from bench.spent import Spent
from learning_dynamics.papers.spectral_bias.noise.models import simulate

FEATURES, STEPS = 512, 20


@dataclass(frozen=True)
class Work:
    """One piece of work, of sizes that grow, by this project and by an alternative.

    Attributes
    ----------
    what, size : str
        Its name in the table, and what grows, as ``paths``.
    sizes, peers_sizes : tuple of int
        The peer's may end earlier; the last that both have is compared.
    sides : dict
        "ours" first, then the peers: from a size to the arrays that come out.
    goal : float or None
        Ours over the peers' at most.
    """

    what: str
    size: str
    sizes: tuple[int, ...]
    peers_sizes: tuple[int, ...]
    sides: dict[str, Callable[[int], tuple[np.ndarray, ...]]]
    goal: float | None


WORKS = {
    "label noise": Work(
        what="label noise, 20 steps",
        size="paths",
        sizes=(20_000, 100_000, 500_000),
        peers_sizes=(20_000, 100_000, 500_000),
        sides={
            "ours": lambda paths: simulate(noise.INPUTS, paths, np.full(STEPS, noise.STEP), np.array([STEPS]), seed=0),
            "numpy, all paths at once": lambda paths: (noise.all_at_once(paths, STEPS),),
        },
        goal=None,
    ),
    "class moments": Work(
        what=f"within-class covariance, P = {FEATURES}",
        size="examples",
        sizes=(10_000, 100_000, 1_000_000),
        peers_sizes=(10_000, 100_000),
        sides={
            "ours": lambda examples: (collapse.in_batches(examples, FEATURES),),
            "an outer product for each example": lambda examples: (
                # it needs as much memory for ten batches as for all
                collapse.by_outer_products(min(examples, 10 * collapse.PEERS_BATCH), FEATURES),
            ),
            "numpy, all examples at once": lambda examples: (collapse.all_at_once(examples, FEATURES),),
        },
        goal=0.25,
    ),
}


def rows(name: str) -> list[dict[str, Any]]:
    """Return a row for each side and size of one piece of work: megabytes beside the result."""
    work = WORKS[name]
    measured = []
    for side in work.sides:
        for size in work.sizes if side == "ours" else work.peers_sizes:
            command = [sys.executable, "-m", "bench.memory", name, side, str(size)]
            ended = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
            about = {"work": work.what, "size": work.size, "goal": work.goal}
            measured.append({**about, "by": side, "value": size, "MB": float(ended.stdout)})
    return measured


def main(name: str, side: str, size: str) -> None:
    """Print the megabytes that one side of one piece of work needs."""
    do = WORKS[name].sides[side]
    do(1000)  # what is imported and compiled belongs to no size
    counter = Spent()
    result = do(int(size))
    print(counter.read()["MB"] - sum(array.nbytes for array in result) / 1e6)


if __name__ == "__main__":
    main(*sys.argv[1:])
