"""The hidden layer's singular values when both layers start Gaussian."""

import matplotlib.pyplot as plt

from learning_dynamics.papers.spectral_bias.panels import DASHES, index_handles, legend_below, limits_panel, line
from learning_dynamics.plotting import WIDTH, Drawn
from learning_dynamics.settings import Count, Natural
from learning_dynamics.tidy import Table, select, settings_of


def fig4(first: Table, second: Table, *, member: Natural, top: Count) -> Drawn:
    r"""The hidden layer's singular values when both layers start Gaussian.

    Otherwise as `fig1a`. Grey dashes: the limits that Corollary 3.1 gives the orthogonal layer of equal mean square
    with $W_2 = 0$. The more $W_2$ brings along, the less $W_1$ has to grow. On how many draws the last of the values
    that should grow, as many as there are outputs, does not stand out from the others, the claim counts.
    """
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.7), sharey=True)
    for axis, table in zip(axes, (first, second), strict=True):
        limits_panel(axis, table, member, top, "grey")
        settings = settings_of(table)
        axis.set_title(rf"variance of $W_1$ ${settings['variance']:g}$, of $W_2$ ${settings['output_variance']:g}$")
        axis.set_xlabel("time $t$")
    axes[0].set_ylabel(r"singular values $\sigma_i(W_1)$")
    axes[0].set_ylim(0, None)
    handles = index_handles(min(top, int(select(first, "sigma_w1")["index"].max())))
    legend_below(figure, [*handles, line("orthogonal layer of equal size", "grey", DASHES, 1.0)], 6)
    return Drawn(figure, alt="Two panels; the largest singular values rise, the others move little.")
