"""How a tensor network contracts its data tensor (figure 2)."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Polygon

from learning_dynamics.plotting import WIDTH, Drawn
from learning_dynamics.tidy import Table


def fig2(contraction: Table) -> Drawn:
    r"""A linear tensor network of three layers contracts its data tensor one axis at a time.

    Each row is one stage: $v_1$ takes inner products along the first axis of $M(x)$ (downwards) and leaves a matrix,
    $v_2$ along its first axis and leaves a vector, $v_3$ leaves the output $f(x)$. Every entry is drawn, slices of
    the third axis one behind the other and apart; colours are the entries of a random example, each array relative to
    its largest.
    """
    arrays = {name: _array(rows) for name, rows in contraction.groupby("array")}
    stages = len(arrays) // 2
    figure, axes = plt.subplots(stages, 1, figsize=(WIDTH, 5.6), height_ratios=[6.4, 4.4, 3.4][:stages])
    names = [r"$\mathsf{M}(x)$", *(rf"$\mathsf{{M}}(x) \circ ({_named(k)})$" for k in range(1, stages)), r"$f(x)$"]
    for stage, axis in enumerate(axes):
        tensor, vector, left = arrays[f"tensor_{stage}"], arrays[f"vector_{stage + 1}"], arrays[f"tensor_{stage + 1}"]
        reach = 0.0
        for array, name, sign in (
            (tensor, names[stage], r"$\circ$"),
            (vector, rf"$v_{stage + 1}$", "$=$"),
            (left, names[stage + 1], ""),
        ):
            width, height = _draw(axis, array, reach)
            shape = r" \times ".join(str(length) for length in array.shape) or "1"
            axis.text(reach + width / 2, height / 2 + 0.3, f"{name},  ${shape}$", ha="center", va="bottom", fontsize=9)
            reach += max(width, 2.4) + 0.9
            if sign:
                axis.text(reach - 0.1, 0, sign, ha="center", va="center", fontsize=14)
            reach += 0.9
        axis.set_xlim(-0.6, 21.5)
        axis.set_ylim(-3.9 + 0.7 * stage, 4.6 - 0.7 * stage)
        axis.set_aspect("equal", anchor="W")
        axis.set_axis_off()
    figure.colorbar(
        ScalarMappable(Normalize(-1, 1), "RdBu_r"),
        ax=axes,
        shrink=0.5,
        pad=0.01,
        ticks=[-1, 0, 1],
        label="entry / largest",
    )
    return Drawn(
        figure,
        {},
        alt="Three rows: a block of five by four by three entries times a vector gives a matrix, the matrix times a "
        "vector gives a vector, and the vector times a vector gives one number.",
    )


def _named(count: int) -> str:
    return ", ".join(f"v_{k}" for k in range(1, count + 1))


def _array(rows: Table) -> np.ndarray:
    shape = tuple(int(rows[f"axis_{number}"].max()) + 1 for number in (1, 2, 3))
    array = np.zeros(shape)
    array[rows["axis_1"], rows["axis_2"], rows["axis_3"]] = rows["value"]
    return np.squeeze(array)


def _draw(axis: Axes, array: np.ndarray, left: float) -> tuple[float, float]:
    """Draw an array of order three or less around height zero, the first axis downwards; return width, height."""
    cube = np.asarray(array).reshape(*array.shape, *([1] * (3 - array.ndim)))
    rows, columns, slices = cube.shape
    gap = (columns + 0.4) if slices > 1 else 0.0  # slices stand apart, so that none hides another
    largest = max(np.abs(cube).max(), 1e-300)
    norm, colours = Normalize(-largest, largest), mpl.colormaps["RdBu_r"]
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=float)
    size = 0.62 if slices > 1 else 1.0
    for k in range(slices):
        for i in range(rows):
            for j in range(columns):
                corner = np.array([left + size * (j + gap * k), size * (rows / 2 - i - 1)])
                axis.add_patch(Polygon(corner + size * square, fc=colours(norm(cube[i, j, k])), ec="white", lw=0.8))
    return size * (columns + gap * (slices - 1)), size * rows
