"""Figures of growth."""

import matplotlib.pyplot as plt

from learning_dynamics.plotting import COLOURS, WIDTH, Plot
from learning_dynamics.tidy import Table, select


def growth(slow: Table, fast: Table) -> Plot:
    r"""Slow and fast growth.

    {draws} draws each; the state is $x (1 + r)^n$.
    """
    figure, axis = plt.subplots(figsize=(WIDTH / 2, 2.6))
    for table, colour in ((slow, "blue"), (fast, "orange")):
        for _, line in select(table, "x").groupby("seed"):
            axis.plot(line["time"], line["value"], color=COLOURS[colour])
    axis.set(xlabel="step", ylabel="$x$")
    return Plot(figure, {"draws": slow["seed"].nunique()}, alt="Two bundles of curves.")
