"""Checks of a flow at its last time, all draws of all runs together, against how slowly directions can settle."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from learning_dynamics.judging import Check, every_draw
from learning_dynamics.tidy import Quantity, Table, by_draw, select, settings_of

# Error of a flow's limit, relative, in units of the integrator's rtol, which it allows itself in each step. Flows to a
# limit take 300 to 3,400 steps; a bound of so many is set from five seeds, whose worst flow was off by 730 times rtol.
LIMIT_ERROR = 2000.0
LAG = r"(1 - s) (\log t)^{-(1 - s)} \leq 1 / (e \log \log t)"


def slowest(tables: Sequence[Table], slack: float) -> float:
    """Return the largest lag that a direction may have at the last time.

    A singular direction whose singular value of M(-u) is the fraction s of the largest lowers a margin by
    (1 - s) (log t)^(s - 1) times its share at the start. Over all s that is at most 1 / (e sigma), sigma = log log t;
    `slack` bounds the shares.
    """
    return slack / (np.e * min(float(table["sigma"].max()) for table in tables))


def last_values(tables: Sequence[Table], quantity: Quantity, **where: Any) -> np.ndarray:
    """Return a quantity at each table's last time, one value a draw, in the order of the tables."""
    values = []
    for table in tables:
        final_rows = select(table, quantity, sigma=table["sigma"].max(), **where)
        values.append(by_draw(final_rows, quantity)[:, 0])
    return np.concatenate(values)


def vanishes(name: str, tables: Sequence[Table], quantity: Quantity, slack: float, **where: Any) -> Check:
    """Check that a quantity has vanished at the last time on every draw, up to the largest lag."""
    values = np.abs(last_values(tables, quantity, **where))
    return every_draw(name, values, at_most=slowest(tables, slack), because=f"{slack:g} times ${LAG}$")


def settles(name: str, tables: Sequence[Table], quantity: Quantity, slack: float) -> Check:
    """Check that a quantity has vanished up to the largest lag; draws on which it still changes are undecided."""
    values, bound = np.abs(last_values(tables, quantity)), slowest(tables, slack)
    return every_draw(
        name,
        values,
        at_most=bound,
        because=f"{slack:g} times ${LAG}$; undecided while it changes",
        undecided=(values > bound) & in_passage(tables, quantity),
    )


def in_passage(tables: Sequence[Table], quantity: Quantity) -> np.ndarray:
    """Return which draws have not come to rest: the quantity changes by a tenth over the second half of log log t.

    Layers that leave a singular vector for one of a slightly larger singular value do so more slowly than any power of
    log t, and what vanishes at either end grows on the way.
    """
    masks = []
    for table in tables:
        late = select(table, quantity)
        values = np.abs(by_draw(late[late["sigma"] >= table["sigma"].max() / 2], quantity))
        masks.append(values.max(axis=1) > 1.1 * values.min(axis=1))
    return np.concatenate(masks)


def while_exact(tables: Sequence[Table]) -> list[Table]:
    """Return tables up to a log t of a hundredth of `sharpness`, where the loss's exponent is exact to a hundredth."""
    return [table[table["sigma"] <= np.log1p(settings_of(table)["integration"]["sharpness"] / 100)] for table in tables]


def loss_vanishes(tables: Sequence[Table], slack: float, power: float = 1.0, **where: Any) -> Check:
    """Check that the loss falls like a power of 1 / t, as long as its exponent is not capped."""
    exact = while_exact(tables)
    return falls_like(last_values(exact, "margin", **where), exact, slack, power)


def falls_like(margins: np.ndarray, exact: Sequence[Table], slack: float, power: float) -> Check:
    """Check least margins, divided by log t, at the last times of tables in which the flow is exact."""
    sigma = min(float(table["sigma"].max()) for table in exact)
    return every_draw(
        rf"loss $\to 0$ like $t^{{-{power:g}}}$, before its cap: $|\min_i y_i f(x_i) / \log t - {power:g}|$",
        np.abs(margins - power),
        at_most=slack * sigma * np.exp(-sigma),
        because=rf"{slack:g} times $\log \log t / \log t$: $\log 1 / \mathcal{{L}} = \log t + (2 - 2 / L) \log \log t$ "
        "and a number of order one",
    )
