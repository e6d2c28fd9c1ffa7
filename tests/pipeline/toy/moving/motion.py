"""A film of growth."""

from __future__ import annotations

import matplotlib.pyplot as plt

from learning_dynamics.plotting.motion import MOVING, Motion
from learning_dynamics.tidy import Table, select


def growth(slow: Table) -> Motion:
    """In motion: slow growth of {draws} draws."""
    table = select(slow, "x", seed=0)
    figure, axis = plt.subplots(figsize=(MOVING, 2.0))
    (line,) = axis.plot(table["time"], table["value"])
    axis.set(xlabel="step", ylabel="$x$")

    def draw(number: int) -> None:
        line.set_data(table["time"][: number + 1], table["value"][: number + 1])

    return Motion(figure, draw, frames=len(table), facts={"draws": 3}, alt="A curve of {draws} draws.")
