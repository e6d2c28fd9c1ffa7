"""How a tensor network contracts its data tensor (Figure 2)."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from learning_dynamics.plotting import WIDTH
from learning_dynamics.tables import Tables


def fig2(tables: Tables) -> Figure:
    """A linear tensor network of three layers contracts its data tensor one axis at a time.

    M(x) has lengths 5, 4 and 3; v₁ takes inner products along the first axis and leaves a matrix, v₂ along the
    next and leaves a vector, v₃ leaves the output. Colours are the entries of a random example, each array
    relative to its largest.
    """
    table = tables["contraction"]
    figure, axis = plt.subplots(figsize=(WIDTH, 2.6))
    arrays = {name: _array(rows) for name, rows in table.groupby("array")}
    depth = len(arrays) // 2
    left = 0.0
    for stage in range(depth + 1):
        tensor = arrays[f"tensor_{stage}"]
        # the axis that is contracted next runs down the page
        width = _draw_tensor(axis, tensor, left)
        shape = r" \times ".join(str(length) for length in tensor.shape if length > 1) or "1"
        name = r"$\mathsf{M}(x)$" if stage == 0 else (rf"$\mathsf{{H}}_{stage}$" if stage < depth else r"$f(x)$")
        axis.text(left + width / 2, 3.6, f"{name}\n" + rf"${shape}$", ha="center", va="bottom")
        left += width + 0.7
        if stage < depth:
            vector = arrays[f"vector_{stage + 1}"]
            axis.text(left - 0.35, 0, r"$\circ$", ha="center", va="center", fontsize=13)
            _draw_tensor(axis, vector, left)
            axis.text(left + 0.5, 3.6, rf"$v_{stage + 1}$" + f"\n${len(vector)}$", ha="center", va="bottom")
            axis.text(left + 1.75, 0, r"$\longrightarrow$", ha="center", va="center", fontsize=13)
            left += 2.6
    axis.set_xlim(-0.2, left)
    axis.set_ylim(-3.4, 5.2)
    axis.set_aspect("equal")
    axis.set_axis_off()
    scale = ScalarMappable(Normalize(-1, 1), "RdBu_r")
    figure.colorbar(scale, ax=axis, shrink=0.75, pad=0.01, ticks=[-1, 0, 1], label="entry / largest")
    return figure


def _array(rows: pd.DataFrame) -> np.ndarray:
    shape = tuple(int(rows[f"axis_{number}"].max()) + 1 for number in (1, 2, 3))
    array = np.zeros(shape)
    array[rows["axis_1"], rows["axis_2"], rows["axis_3"]] = rows["value"]
    return np.squeeze(array)


def _draw_tensor(axis: Axes, tensor: np.ndarray, left: float) -> float:
    """Draw an array of order three or less, slices along its last axis one behind the other; return its width."""
    cube = np.asarray(tensor).reshape(*tensor.shape, *([1] * (3 - tensor.ndim)))
    rows, columns, slices = cube.shape
    shift = 0.55
    largest = np.abs(cube).max()
    norm, colours = Normalize(-largest, largest), mpl.colormaps["RdBu_r"]
    for k in reversed(range(slices)):
        for i in range(rows):
            for j in range(columns):
                corner = (left + j + shift * k, rows / 2 - i - 1 + shift * (k - (slices - 1) / 2))
                axis.add_patch(Rectangle(corner, 1, 1, fc=colours(norm(cube[i, j, k])), ec="white", lw=0.8))
    return columns + shift * (slices - 1)
