"""The slides' tables beside ours."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear.completion_table.printed import (
    DEPTH_2,
    DEPTH_3,
    ENTRIES_2K,
    ENTRIES_5K,
    MINIMISATION,
    PRINTED,
    measured_row,
)
from learning_dynamics.papers.deep_linear.quantities import ERROR, GAP
from learning_dynamics.papers.deep_linear.tables import network_values, observed_entries, values_by_draw
from learning_dynamics.plotting import WIDTH, Plot, table_figure
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table

DASH = "–"
COLUMNS = [
    "entries",
    "method",
    "error,\nslides",
    "error,\nours",
    "its root,\nours",
    "norm less\ntarget's, slides",
    "norm less\ntarget's, ours",
    "effective\nrank, slides",
    "effective\nrank, ours",
    "proved\ngap",
]


def completion_table(
    depth_2: Table,
    depth_3: Table,
    minimiser: Table,
    depth_2_many: Table,
    depth_3_many: Table,
    minimiser_many: Table,
    *,
    scale: Positive,
) -> Plot:
    r"""The slides' tables beside ours: reconstruction error, nuclear norm and effective rank of each method.

    Slides 31 (5000 entries) and 32 (2000 entries) show one draw, completed by three methods. Our values are medians
    over {draws} draws (networks from 2000 entries: {draws_of_networks}). The smallest and the largest are in brackets.
    Networks start at scale {scale:g}; the slides print no scale. Our errors are mean squares over all entries, as in
    the authors' code. Roots are beside them, as the slides do not say which of the two they print. We take the slides'
    nuclear norm of recovered matrices, 221, for that of their target. The last column is the convex solver's proved
    gap, the largest over draws: the solver's nuclear norm exceeds the least one by no more than this share.{dashes}
    """
    tables = {
        ENTRIES_5K: {MINIMISATION: minimiser_many, DEPTH_2: depth_2_many, DEPTH_3: depth_3_many},
        ENTRIES_2K: {MINIMISATION: minimiser, DEPTH_2: depth_2, DEPTH_3: depth_3},
    }
    entries = {observed: str(observed_entries(by_method[MINIMISATION])) for observed, by_method in tables.items()}
    rows = []
    for observed, by_method in tables.items():
        for method, run in by_method.items():
            printed = PRINTED[observed][method]
            is_network = method != MINIMISATION
            measured = measured_row(run, scale if is_network else None)
            gap = "" if is_network else _scientific(values_by_draw(run, GAP).max(), digits=1)
            rows.append(
                [
                    entries[observed],
                    method,
                    _scientific(printed.error, digits=1),
                    _error_range(measured.error),
                    _scientific(np.median(measured.error) ** 0.5),
                    _signed(printed.norm_difference, 0),
                    _range(measured.norm_difference, lambda value: _signed(value, 1)),
                    f"{printed.rank:.0f}",
                    _range(measured.rank, lambda value: f"{value:.1f}"),
                    gap,
                ]
            )
    table = pd.DataFrame(rows, columns=COLUMNS)
    alt = (
        f"A table of six rows: three methods, with {entries[ENTRIES_5K]} and with {entries[ENTRIES_2K]} entries "
        "observed, the slides' numbers beside ours."
    )
    has_dashes = table.isin([DASH]).any(axis=None)
    facts = {
        "draws": len(values_by_draw(minimiser, ERROR)),
        "draws_of_networks": len(network_values(depth_3, ERROR, scale)),
        "scale": scale,
        "dashes": " A dash means that some draws did not reach the training loss." if has_dashes else "",
    }
    return Plot(table_figure(table, width=1.25 * WIDTH), facts=facts, alt=alt, table=table)


def _scientific(value: float, digits: int = 2) -> str:
    """Return a number with its power of ten; a dash for nan."""
    if np.isnan(value):
        return DASH
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    return rf"${mantissa} \cdot 10^{{{int(power)}}}$"


def _signed(value: float, decimals: int) -> str:
    """Return a number with its sign, and zero without."""
    text = f"{value:+.{decimals}f}"
    return text.lstrip("+-") if float(text) == 0 else f"${text}$"


def _error_range(errors: np.ndarray) -> str:
    """Return the median, and in brackets the smallest and the largest, in units of the median's power of ten.

    It is a dash if one of the errors is nan.
    """
    if np.isnan(errors).any():
        return DASH
    power = int(np.floor(np.log10(np.median(errors))))
    return _range(errors / 10.0**power, lambda value: f"{value:.1f}") + rf" $\cdot 10^{{{power}}}$"


def _range(values: np.ndarray, as_text: Callable[[float], str]) -> str:
    """Return the median, with the smallest and the largest in brackets if these two differ as texts; a dash for nan."""
    if np.isnan(values).any():
        return DASH
    smallest, median, largest = (as_text(value) for value in (values.min(), np.median(values), values.max()))
    return median if smallest == largest else f"{median} [{smallest}, {largest}]"
