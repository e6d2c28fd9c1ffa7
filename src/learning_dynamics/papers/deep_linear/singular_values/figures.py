"""Singular values on their way in matrix completion."""

from collections.abc import Sequence

import matplotlib.pyplot as plt

from learning_dynamics.papers.deep_linear import quantities
from learning_dynamics.papers.deep_linear.drawing import handle
from learning_dynamics.papers.deep_linear.singular_values.quantities import DIAGONAL, OFF_DIAGONAL
from learning_dynamics.papers.deep_linear.tables import depth_of
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters, sequence
from learning_dynamics.settings import Natural
from learning_dynamics.tidy import Table, select


def singular_values(paths: Sequence[Table], *, draw: Natural) -> Plot:
    r"""Singular values of the end-to-end matrix along gradient descent, by depth.

    Descent from scaled identity layers completes a matrix of rank {rank}. Panels (a) to (c) show the {top} largest
    singular values of the end-to-end matrix $W$, dark to light. The slides say that with depth the first of them, as
    many as the rank, rise one after another, while the rest stay small. Panels (d) to (f) show mean absolute entries of
    $U^\top \nabla\ell\, V$, the loss's gradient in the basis of $W$'s singular vectors. Entries on the diagonal move
    singular values; those off it turn singular vectors. Curves jump at the start, where these vectors are arbitrary.
    """
    figure, axes = plt.subplots(2, len(paths), figsize=(WIDTH, 4.5), sharex="col", sharey="row", squeeze=False)
    top = int(paths[0]["index"].max())
    colours = sequence(top)
    for (values_axis, gradient_axis), table in zip(axes.T, paths, strict=True):
        rows = select(table, draw=draw)
        for index in range(top, 0, -1):  # the largest singular value is drawn last, above the others
            line = select(rows, quantities.SIGMA, index=index)
            values_axis.plot(line["time"] / 1000, line["value"], color=colours[index - 1], lw=1.2)
        for quantity, name in ((DIAGONAL, "blue"), (OFF_DIAGONAL, "orange")):
            line = select(rows, quantity)
            gradient_axis.plot(line["time"] / 1000, line["value"], color=COLOURS[name])
        for axis in (values_axis, gradient_axis):
            axis.set_title(f"depth {depth_of(table)}")
        gradient_axis.set(xlabel="rate × iterations / 1000", yscale="log", xlim=(0, rows["time"].max() / 1000))
    axes[0, 0].set(ylim=(0, None), ylabel=r"singular values $\sigma_r$")
    axes[1, 0].set_ylabel(r"mean entry of $|U^\top \nabla\ell\, V|$")
    letters(axes.flat)
    ends = [handle(r"$\sigma_1$", colours[0]), handle(rf"$\sigma_{{{top}}}$", colours[-1])]
    legend_below(figure, [*ends, handle("diagonal", "blue"), handle("off-diagonal", "orange")])
    facts = {"top": top, "rank": int(select(paths[0], quantities.RANK)["value"].iloc[0])}
    return Plot(
        figure,
        facts=facts,
        alt="Singular values against time at three depths, together, then one by one. Below: the gradient.",
    )
