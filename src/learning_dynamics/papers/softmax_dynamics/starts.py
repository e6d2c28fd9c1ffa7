"""Where members start."""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.seeds import generators


def cell_states(
    seed: int, counts: Sequence[int], dimension: int, init: str, scale: float, seeds: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return labels, shape (seeds, examples, classes), and packed initial states.

    A cell's draws depend on its own settings alone, not on the other cells of the grid.
    """
    draw = {"balanced": model.balanced, "gaussian": model.gaussian}[init]
    label = f"softmax_dynamics.{init}.{'-'.join(map(str, counts))}.{dimension}.{scale}"
    states = [
        model.pack(*draw(rng, sum(counts), dimension, len(counts), scale)) for rng in generators(seed, label, seeds)
    ]
    return np.repeat(model.one_hot(counts)[None], seeds, axis=0), np.stack(states)


def factors_of(states: np.ndarray, labels: np.ndarray, dimension: int) -> dict[str, np.ndarray]:
    """Return the series f and W of packed states."""
    _, examples, classes = labels.shape
    f, W = model.unpack(states, examples, dimension, classes)
    return {"f": f, "W": W}


def undecided(states: np.ndarray) -> np.ndarray:
    """Return which members have states that are not finite, shape (members,)."""
    return ~np.all(np.isfinite(states.reshape(len(states), -1)), axis=1)
