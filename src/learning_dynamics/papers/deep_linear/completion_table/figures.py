"""The slides' tables beside ours."""

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.deep_linear.completion_table.printed import METHODS, PRINTED, TRUE_NORM, measured
from learning_dynamics.papers.deep_linear.tables import minimiser_values, network_values
from learning_dynamics.plotting import WIDTH, Drawn
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table

HEADER = [
    "entries",
    "method",
    "error\nslides",
    "error\nours",
    "its root\nours",
    "norm − target's\nslides",
    "norm − target's\nours",
    "rank\nslides",
    "rank\nours",
    "proved\ngap",
]
WIDTHS = [0.07, 0.145, 0.07, 0.165, 0.08, 0.105, 0.155, 0.065, 0.13, 0.08]


def completion_table(
    depth_2: Table,
    depth_3: Table,
    minimiser: Table,
    depth_2_many: Table,
    depth_3_many: Table,
    minimiser_many: Table,
    *,
    scale: Positive,
) -> Drawn:
    r"""The slides' tables beside ours: reconstruction error, nuclear norm and effective rank of each method.

    Our values are medians over {draws} draws (depth 3 from few entries: {most}), with the smallest and the largest in
    brackets. Networks have the initialisation scale {scale:g} and the smallest learning rate of each run. The slides
    show one draw and print no scale. They print a nuclear norm of 221 for recovered matrices, which is taken for that
    of their target. Errors are mean squares over all entries; the root of the median is beside them. The last column is
    the gap within which the optimum of the convex program is proved to be. A dash: some draws did not reach the
    training loss. As mean squares four of the slides' errors agree with ours; those of nuclear-norm minimisation and of
    depth 2 from few entries do not.
    """
    tables = {"5k": (minimiser_many, depth_2_many, depth_3_many), "2k": (minimiser, depth_2, depth_3)}
    entries = {key: f"{minimiser_values(convex, 'observed')[0]:.0f}" for key, (convex, *_) in tables.items()}
    lines = []
    for observed, (convex, *deep) in tables.items():
        for (depth, row), table in zip(PRINTED[observed].items(), (convex, *deep), strict=True):
            error, norm, rank = measured(table, scale if depth else None)
            gap = "" if depth else f"{minimiser_values(table, 'gap').max():.0e}"
            lines.append(
                [
                    entries[observed],
                    METHODS[depth],
                    f"{row.error:.0e}",
                    _range(error, ".1e"),
                    _range(np.median(error, keepdims=True) ** 0.5, ".1e"),
                    f"{row.norm - TRUE_NORM:+.0f}",
                    _range(norm, "+.1f"),
                    f"{row.rank:.0f}",
                    _range(rank, ".1f"),
                    gap,
                ]
            )
    figure, axis = plt.subplots(figsize=(1.25 * WIDTH, 2.4))
    axis.axis("off")
    grid = axis.table(
        cellText=lines, colLabels=HEADER, loc="center", cellLoc="center", edges="horizontal", colWidths=WIDTHS
    )
    grid.auto_set_font_size(False)
    grid.set_fontsize(7.2)
    grid.scale(1, 1.5)
    for (place, _), cell in grid.get_celld().items():
        cell.set_linewidth(0.5)
        if place == 0:
            cell.set_text_props(fontweight="bold")
            cell.set_height(cell.get_height() * 1.5)
    alt = (
        f"A table of six rows: three methods, with {entries['5k']} and with {entries['2k']} entries observed, the "
        "slides' numbers beside ours."
    )
    draws, most = len(minimiser_values(minimiser, "error")), len(network_values(depth_3, "error", scale))
    facts = {"draws": draws, "most": most, "scale": scale}
    return Drawn(figure, facts=facts, alt=alt)


def _range(values: np.ndarray, form: str) -> str:
    """Return the median, with the smallest and the largest in brackets where they round to other numbers."""
    if np.isnan(values).any():
        return "–"
    low, middle, high = (format(value, form) for value in (np.min(values), np.median(values), np.max(values)))
    low, middle, high = (text.lstrip("+-") if float(text) == 0 else text for text in (low, middle, high))
    return middle if low == high else f"{middle} [{low}, {high}]"
