"""The hidden layer's singular values when both layers start Gaussian."""

from __future__ import annotations

import matplotlib.pyplot as plt

from learning_dynamics.papers.spectral_bias.panels import DASHES, index_handles, legend_below, limits_panel, line
from learning_dynamics.plotting import WIDTH, Drawn
from learning_dynamics.settings import Count, Natural
from learning_dynamics.tidy import Table, settings_of


def fig4(first: Table, second: Table, *, member: Natural, top: Count) -> Drawn:
    r"""The hidden layer's top singular values when both layers start Gaussian.

    Otherwise as `fig1a`. Grey dashes: the limits that Corollary 3.1 gives the orthogonal layer of equal mean square
    with $W_2 = 0$. The largest singular values, as many as there are outputs, grow most, and the others little; the
    more $W_2$ brings along, the less $W_1$ has to grow.
    """
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.7), sharey=True)
    for axis, table in zip(axes, (first, second), strict=True):
        limits_panel(axis, table, member, top, "grey")
        settings = settings_of(table)
        axis.set_title(rf"variance of $W_1$ ${settings['variance']:g}$, of $W_2$ ${settings['output_variance']:g}$")
        axis.set_xlabel("time $t$")
    axes[0].set_ylabel(r"singular values $\sigma_i(W_1)$")
    axes[0].set_ylim(0, None)
    legend_below(figure, [*index_handles(top), line("Corollary 3.1", "grey", DASHES, 1.0)])
    return Drawn(figure, alt="Two panels; three singular values rise, the others stay level near their start.")
