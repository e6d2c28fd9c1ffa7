"""How a tensor network contracts its data tensor (figure 2)."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import Polygon

from learning_dynamics.plotting import WIDTH, Plot
from learning_dynamics.tidy import Table

# lengths in units of the side of an entry's square
BEHIND = 0.45  # how far each slice of the third axis is drawn up and to the right of the one before
# centres, from left to right along a row, of what the row shows
TENSOR_AT, CONTRACTION_SIGN_AT, VECTOR_AT, EQUALS_SIGN_AT, RESULT_AT = 3.0, 6.25, 8.1, 9.4, 12.2


def fig2(contraction: Table) -> Plot:
    r"""A linear tensor network of three layers contracts its data tensor one axis at a time.

    Each row is one stage; $\circ$ is the inner product along the first axis, which is drawn downwards. With $v_1$ it
    turns the tensor $M(x)$ into a matrix, with $v_2$ the matrix into a vector. Finally $v_3$ leaves one number, $f(x)$.
    In the tensor the second axis goes right and the third backwards; in each result the first axis that remains goes
    down, and the next one right. Colours are the entries of a random example, each array divided by its largest
    absolute entry, so that the single output is $\pm 1$. The sizes are those of the paper's Figure 2.
    """
    arrays = {name: _array(rows) for name, rows in contraction.groupby("array")}
    stages = len(arrays) // 2  # L + 1 tensors and L vectors
    figure, axis = plt.subplots(figsize=(0.82 * WIDTH, 6.2))
    names = [  # of tensor_0, ..., tensor_L
        "$M(x)$",
        *(rf"$M(x) \circ ({_vector_names(k)})$" for k in range(1, stages)),
        r"$f(x)$",
    ]
    top = 0.0  # of the row; the vertical coordinate falls from row to row
    for stage in range(stages):
        tensor = arrays[f"tensor_{stage}"]
        # below the row's top: a name, the slices behind the front one, and half of the front slice
        behind = BEHIND * (tensor.shape[2] - 1) if tensor.ndim > 2 else 0.0
        middle = top - 1.0 - behind - len(tensor) / 2
        _draw_array(axis, tensor, names[stage], TENSOR_AT, middle)
        axis.text(CONTRACTION_SIGN_AT, middle, r"$\circ$", ha="center", va="center", fontsize=14)
        _draw_array(axis, arrays[f"vector_{stage + 1}"], f"$v_{stage + 1}$", VECTOR_AT, middle)
        axis.text(EQUALS_SIGN_AT, middle, "$=$", ha="center", va="center", fontsize=14)
        _draw_array(axis, arrays[f"tensor_{stage + 1}"], names[stage + 1], RESULT_AT, middle)
        top = middle - len(tensor) / 2 - 0.6
    axis.set(xlim=(0.3, 14.2), ylim=(top, 0.0), aspect="equal")
    axis.set_axis_off()
    figure.colorbar(
        ScalarMappable(Normalize(-1, 1), "RdBu_r"),
        ax=axis,
        shrink=0.5,
        pad=0.01,
        ticks=[-1, 0, 1],
        label="entry / largest absolute entry",
    )
    return Plot(
        figure,
        {},
        alt="Three rows: a block of five by four by three entries times a vector gives a matrix, the matrix times a "
        "vector gives a vector, and the vector times a vector gives one number.",
    )


def _vector_names(count: int) -> str:
    """Return the names of the first vectors, in mathematics, for example ``v_1, v_2``."""
    return ", ".join(f"v_{k}" for k in range(1, count + 1))


def _array(rows: Table) -> np.ndarray:
    """Return an array, of order three or less, from the rows of its entries; axes of length one are left out."""
    indices = tuple(rows[f"axis_{number}"] for number in (1, 2, 3))
    array = np.zeros([index.max() + 1 for index in indices])
    array[indices] = rows["value"]
    return np.squeeze(array)


def _draw_array(axis: Axes, array: np.ndarray, name: str, across: float, middle: float) -> None:
    """Draw an array of order three or less, its front slice around a point, with its name and shape above it.

    The first axis is downwards, the second to the right, the third backwards.
    """
    cube = array.reshape(*array.shape, *([1] * (3 - array.ndim)))
    rows, columns, slices = cube.shape
    largest = max(np.abs(cube).max(), 1e-300)
    norm, colours = Normalize(-largest, largest), mpl.colormaps["RdBu_r"]
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=float)
    for k in reversed(range(slices)):
        for i, j in np.ndindex(rows, columns):
            corner = np.array([across - columns / 2 + j, middle + rows / 2 - i - 1]) + BEHIND * k
            axis.add_patch(Polygon(corner + square, fc=colours(norm(cube[i, j, k])), ec="white", lw=0.8))
    top = middle + rows / 2 + BEHIND * (slices - 1)
    shape = r" \times ".join(str(length) for length in array.shape) or "1"
    axis.text(across, top + 0.25, f"{name},  ${shape}$", ha="center", va="bottom", fontsize=9)
