"""Checks of where flows end, all draws of all runs together: how slowly directions settle, and predicted limits."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from learning_dynamics.judging import Check, Checks, Finding, equal_on_every_draw, every_draw
from learning_dynamics.tidy import Quantity, Table, by_draw, settings_of

# Error of a flow's limit, relative, in units of the integrator's rtol, which it allows itself in each step. Flows to a
# limit take 300 to 3,400 steps; a bound of so many is set from five seeds, whose worst flow was off by 730 times rtol.
LIMIT_ERROR = 2000.0
RIVAL_MINIMISERS = {"the minimiser for one more layer": "other_depth", r"the minimiser for $2 \alpha$": "other_scale"}
LAG = r"(1 - s) (\log t)^{-(1 - s)} \leq 1 / (e \log \log t)"


def slowest(tables: Sequence[Table], slack: float) -> float:
    """Return the largest lag that a direction may have at the last time.

    A singular direction whose singular value of M(-u) is the fraction s of the largest lowers a margin by
    (1 - s) (log t)^(s - 1) times its share at the start. Over all s that is at most 1 / (e sigma), sigma = log log t;
    `slack` bounds the shares.
    """
    return slack / (np.e * last_sigma(tables))


def last_sigma(tables: Sequence[Table]) -> float:
    """Return the log log t to which all flows are followed."""
    return min(float(table["sigma"].max()) for table in tables)


def last_values(tables: Sequence[Table], quantity: Quantity, **where: Any) -> np.ndarray:
    """Return a quantity at each table's last time, one value a draw, in the order of the tables."""
    return np.concatenate([by_draw(table, quantity, sigma=table["sigma"].max(), **where)[:, 0] for table in tables])


def late_values(table: Table, quantity: Quantity) -> np.ndarray:
    """Return a quantity over the second half of log log t, shape (draws, times)."""
    return by_draw(table[table["sigma"] >= table["sigma"].max() / 2], quantity)


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
    values = [np.abs(late_values(table, quantity)) for table in tables]
    return np.concatenate([late.max(axis=1) > 1.1 * late.min(axis=1) for late in values])


def while_exact(tables: Sequence[Table]) -> list[Table]:
    """Return tables up to a log t of a hundredth of `sharpness`, where the loss's exponent is exact to a hundredth."""
    return [table[table["sigma"] <= np.log1p(settings_of(table)["integration"]["sharpness"] / 100)] for table in tables]


def loss_vanishes(tables: Sequence[Table], slack: float, power: float, **where: Any) -> Check:
    """Check that the loss falls like a power of 1 / t, as long as its exponent is not capped."""
    exact = while_exact(tables)
    sigma = last_sigma(exact)
    return every_draw(
        rf"loss $\to 0$ like $t^{{-{power:g}}}$, before its cap: $|\min_i y_i f(x_i) / \log t - {power:g}|$",
        np.abs(last_values(exact, "margin", **where) - power),
        at_most=slack * sigma * np.exp(-sigma),
        because=rf"{slack:g} times $\log \log t / \log t$: $\log 1 / \mathcal{{L}} = \log t + (2 - 2 / L) \log \log t$ "
        "and a number of order one",
    )


# -- limits that are predicted entry by entry --------------------------------------------------------------------------


def limit_error(tables: Sequence[Table]) -> float:
    """Return the relative error that the integrator may make in a flow's limit."""
    return LIMIT_ERROR * max(settings_of(table)["integration"]["rtol"] for table in tables)


def check_limits(name: str, measured: np.ndarray, predicted: np.ndarray, tables: Sequence[Table]) -> Check:
    """Check that limits of the flows of some tables are those that are predicted."""
    return equal_on_every_draw(
        name,
        measured,
        predicted,
        tolerance=limit_error(tables),
        because="the integrator's tolerance, step by step",
    )


def limit_finding(
    flows: Sequence[Table],
    name: str,
    limit: Quantity,
    printed: Quantity,
    norms: dict[str, Quantity],
    *,
    corrected: Quantity | None = None,
    **options: Any,
) -> Finding:
    """Return the finding that every flow's limit is the one that a quantity of the tables predicts.

    Rivals are the minimisers for another depth and another scale, and the solutions of least norm.
    """
    measured = stacked([by_draw(table, limit) for table in flows])

    def predictions(quantity: Quantity) -> np.ndarray:
        return stacked([by_draw(table, quantity, column="predicted") for table in flows])

    def judge(predicted: np.ndarray) -> Checks:
        yield check_limits(name, measured, predicted, flows)

    return Finding(
        judge,
        predictions(printed),
        rivals={words: predictions(quantity) for words, quantity in (RIVAL_MINIMISERS | norms).items()},
        corrected=None if corrected is None else predictions(corrected),
        **options,
    )


def stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return arrays of shapes (draws, entries) one below the other, padded with zeros to the most entries."""
    width = max(array.shape[1] for array in arrays)
    return np.concatenate([np.pad(array, ((0, 0), (0, width - array.shape[1]))) for array in arrays])


def compared(table: Table, quantity: Quantity, **where: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what was measured and what is predicted, both of shape (draws, entries)."""
    return by_draw(table, quantity, **where), by_draw(table, quantity, column="predicted", **where)


def relative_distances(table: Table, quantity: Quantity, **where: Any) -> np.ndarray:
    """Return the distance of what was measured from its prediction, relative to that one's norm, one a draw."""
    value, predicted = compared(table, quantity, **where)
    return np.linalg.norm(value - predicted, axis=1) / np.linalg.norm(predicted, axis=1)
