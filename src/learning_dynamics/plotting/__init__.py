"""One style for every figure: sheets, widths, a palette; panels, letters, legends and tables that figures share."""

from learning_dynamics.palette import COLOURS
from learning_dynamics.plotting.panels import (
    direct_labels,
    legend_below,
    legible_ticks,
    letters,
    panels,
    plain_number,
    shared_legend,
)
from learning_dynamics.plotting.style import COLUMN, LOOKS, WIDTH, Plot, sequence, sized, style
from learning_dynamics.plotting.tables import table_figure

__all__ = [
    "COLOURS",
    "COLUMN",
    "LOOKS",
    "WIDTH",
    "Plot",
    "direct_labels",
    "legend_below",
    "legible_ticks",
    "letters",
    "panels",
    "plain_number",
    "sequence",
    "shared_legend",
    "sized",
    "style",
    "table_figure",
]
