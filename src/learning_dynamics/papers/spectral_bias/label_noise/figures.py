"""Descent with and without label noise, and the moments of the process that appendix D puts in its place."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.spectral_bias.label_noise import quantities
from learning_dynamics.papers.spectral_bias.panels import (
    DASHES,
    guide,
    index_handles,
    level,
    line_handle,
    marks_handle,
    singular_values,
)
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_W1
from learning_dynamics.plotting import WIDTH, Plot, legend_below, letters, sequence
from learning_dynamics.settings import Natural
from learning_dynamics.tidy import Draws, Table, select, settings_of


def fig1b(plain: Table, noisy: Table, *, member: Natural) -> Plot:
    r"""The hidden layer's singular values in scalar regression: gradient descent, without and with label noise.

    The data are orthonormal, with $d$ inputs, and the initial scale is large. (a) Plain descent runs until it rests.
    One singular value rises to the limit of Corollary 3.1 (black dashes). The others stay where they started, on one
    line. (b) Descent with label noise runs for far longer. The small singular values decay exponentially, so that from
    a large scale too the layer tends to rank one. Noise also inflates the largest one, to about
    $(\sqrt{d} |\beta_*|)^{1/2}$ (grey dashes). At this value $|W_1|^2 = d|W_2|^2$, and noise on average no longer
    changes the imbalance $|W_1|^2 - |W_2|^2$. (a) and (b) agree with what the paper says of its Figure 1b.
    """
    figure, (plain_axis, noisy_axis) = plt.subplots(1, 2, figsize=(WIDTH, 2.8), sharey=True)
    inputs = Draws(plain, time=0.0).entries(SIGMA_W1).shape[1]
    beta_norm = Draws(plain, time=0.0)[quantities.BETA_NORM][member]  # |beta_*|
    gamma = settings_of(plain)["gamma"]
    # the time by which descent without noise has come to rest. Chosen: four times that in which the faster one of
    # exp(-|beta_*| t) and exp(-gamma t) falls to a thousandth
    rest = 4 * np.log(1e3) / max(beta_norm, gamma)
    for axis, table in ((plain_axis, plain), (noisy_axis, noisy)):
        singular_values(axis, table, member)
        axis.set(yscale="log", xlabel="step size × number of steps")
    plain_axis.set_title("gradient descent")
    noisy_axis.set_title("label-noise gradient descent")
    letters((plain_axis, noisy_axis))
    level(plain_axis, np.sqrt(gamma + np.hypot(gamma, beta_norm)), "black", DASHES, zorder=3)
    level(noisy_axis, np.sqrt(np.sqrt(inputs) * beta_norm), "grey", DASHES, 1.2, zorder=3)
    plain_axis.set(xlim=(0, min(rest, plain["time"].max())), ylabel=r"singular values $\sigma_i(W_1)$")
    dashes = [
        line_handle("Corollary 3.1", "black", DASHES, 1.0),
        line_handle(r"$(\sqrt{d} |\beta_*|)^{1/2}$", "grey", DASHES, 1.2),
    ]
    legend_below(figure, [*index_handles(inputs), *dashes])
    return Plot(
        figure, alt="Without noise all singular values but one stay level; with noise these fall on straight lines."
    )


def label_noise_moments(ensembles: Sequence[Table]) -> Plot:
    r"""Means over many paths of label-noise descent, and of the process of appendix D.

    Each column is one data set, with {paths} paths. (a), (b) Panels show the mean of $|a|^2$, with the output weights
    $a$. (c), (d) Panels show the growth of the mean square of each row of $V^\top W$, where $X = U D V^\top$. Colours
    of rows go from dark for the largest $D_j$ to light for the smallest. Dots show descent after $t$ steps of size
    $\eta$ with label noise of standard deviation $\delta$. Bars are 95 % intervals by exact standard errors. As steps
    are finite, the first dots in (c) and (d) are below the lines. Solid lines show the process $dW = X^\top dB\,
    a^\top$, $da = W^\top X^\top dB$ of appendix D. Dashes show the same process with all $D_j$ at their quadratic mean,
    which raises all rows by the same amount.
    """
    figure, axes = plt.subplots(2, len(ensembles), figsize=(WIDTH, 4.4), sharex=True, sharey="row", squeeze=False)
    for (top, bottom), table in zip(axes.T, ensembles, strict=True):
        later = table[table["time"] > 0]
        for axis, quantity, of_equal_weights in (
            (top, quantities.OUTPUT_SECOND_MOMENT, quantities.OUTPUT_SECOND_MOMENT_OF_EQUAL_WEIGHTS),
            (bottom, quantities.ROW_GROWTH, quantities.ROW_GROWTH_OF_EQUAL_WEIGHTS),
        ):
            rows = select(later, quantity, seed=0)
            for (_, entry), colour in zip(rows.groupby("index"), sequence(rows["index"].nunique()), strict=True):
                half_width = 1.96 * entry["error"]
                # a bar of at most nine tenths of the value downwards, as zero has no place on the logarithmic axis
                low = np.minimum(half_width, 0.9 * entry["value"].clip(lower=1e-12))
                axis.errorbar(entry["time"], entry["value"], [low, half_width], fmt="o", ms=3, lw=0.8, color=colour)
                axis.plot(entry["time"], entry["predicted"], color=colour, lw=1.2)
            # equal weights raise all rows by the same amount: that of the first is drawn
            equal = select(later, of_equal_weights, seed=0)
            equal = equal[equal["index"] == equal["index"].min()]
            guide(axis, equal["time"], equal["value"])
            axis.set(yscale="log")
        bottom.set(xlabel=r"time $(\eta\delta)^2 t$")
        for axis in (top, bottom):
            axis.set_title(f"$n = {table['samples'].iloc[0]}$, $d = {table['inputs'].iloc[0]}$")
    axes[0, 0].set_ylabel(r"mean of $|a|^2$")
    axes[1, 0].set_ylabel("growth of the rows")
    letters(axes.flat)
    largest, smallest = sequence(2)
    handles = [
        marks_handle("descent"),
        line_handle("process, appendix D"),
        line_handle("equal $D_j$", style="--", width=1.0),
        line_handle("row of the largest $D_j$", largest, width=1.6),
        line_handle("of the smallest", smallest, width=1.6),
    ]
    legend_below(figure, handles)
    alt = "Dots on the solid lines; the rows' growths spread over two decades, on both sides of the dashed line."
    return Plot(figure, {"paths": settings_of(ensembles[0])["paths"]}, alt=alt)
