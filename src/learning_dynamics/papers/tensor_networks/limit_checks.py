"""Checks of a flow at its last time, all draws of all runs together, against how slowly directions can settle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from learning_dynamics.claims import Check, every_draw
from learning_dynamics.tidy import Table, by_draw, select

DRAW = ["network", "depth", "seed", "scale", "direction"]
LAG = r"(1 - s) (\log t)^{-(1 - s)} \leq 1 / (e \log \log t)"


def slowest(tables: Sequence[Table], slack: float) -> float:
    """Return the largest lag that a direction may have at the last time.

    A singular direction whose singular value of M(-u) is the fraction s of the largest lowers a margin by
    (1 - s) (log t)^(s - 1) times its share at the start. Over all s that is at most 1 / (e sigma), sigma = log log t;
    `slack` bounds the shares.
    """
    return slack / (np.e * min(float(table["sigma"].max()) for table in tables))


def last_values(tables: Sequence[Table], quantity: str, **where: Any) -> np.ndarray:
    """Return a quantity at each table's last time, one value a draw, in the order of the tables."""
    found = []
    for table in tables:
        last = select(table, quantity, sigma=table["sigma"].max(), **where)
        found.append(by_draw(last, quantity, draw=DRAW)[:, 0])
    return np.concatenate(found)


def vanishes(name: str, tables: Sequence[Table], quantity: str, slack: float, **where: Any) -> Check:
    """Check that a quantity has vanished at the last time on every draw, but for what lags."""
    values = np.abs(last_values(tables, quantity, **where))
    return every_draw(name, values, at_most=slowest(tables, slack), because=f"{slack:g} times ${LAG}$")


def loss_vanishes(tables: Sequence[Table], slack: float, **where: Any) -> Check:
    """Check that the least margin, divided by log t, has come to one: the loss falls like 1/t."""
    values = np.abs(1 - last_values(tables, "margin", **where))
    bound = slowest(tables, slack)
    return every_draw(r"loss $\to 0$: $|1 - \min_i y_i f(x_i) / \log t|$", values, at_most=bound, because="as above")
