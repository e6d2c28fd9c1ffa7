"""A table as print sets it: rules above and below the head and at the end."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from learning_dynamics.plotting.style import WIDTH

HEAD = 0.5  # inches
ROW = 0.24  # inches


def table_figure(table: pd.DataFrame, *, width: float = WIDTH) -> Figure:
    """Return a figure of a table of texts; a column's name may have line breaks.

    Parameters
    ----------
    table : DataFrame of str
        As `Plot.table`.
    width : float
        In inches.
    """
    height = HEAD + ROW * len(table)
    figure, axis = plt.subplots(figsize=(width, height))
    axis.axis("off")
    grid = axis.table(
        cellText=table.to_numpy(), colLabels=list(table.columns), cellLoc="center", bbox=Bbox.unit(), edges="open"
    )
    grid.auto_set_font_size(False)
    grid.set_fontsize(8)
    grid.auto_set_column_width(list(range(table.shape[1])))
    for (row, _), cell in grid.get_celld().items():
        cell.get_text().set_math_fontfamily("dejavusans")
        cell.set_height((HEAD if row == 0 else ROW) / height)
        if row == 0:
            cell.visible_edges = "BT"
        elif row == len(table):
            cell.visible_edges = "B"
    return figure
