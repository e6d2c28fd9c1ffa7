"""Descent with and without label noise, and the moments of the process that is put in its place."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.spectral_bias.panels import (
    DASHES,
    index_handles,
    legend_below,
    line,
    marks,
    singular_values,
)
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn, sequence
from learning_dynamics.settings import Natural
from learning_dynamics.tidy import Table, by_draw, select, settings_of


def fig1b(plain: Table, noisy: Table, *, member: Natural) -> Drawn:
    r"""The hidden layer's singular values in scalar regression: gradient descent, and with label noise.

    Orthonormal data, a large initial scale. Plain descent raises one singular value, to the limit of Corollary 3.1
    (black dashes), and leaves the others where they started (they coincide). Label noise, drawn afresh at every step,
    makes them decay exponentially, so that the layer ends at rank one whatever its scale at the start. It also
    inflates the largest, to about $(\sqrt{d} |\beta_*|)^{1/2}$ (grey dashes), where noise no longer changes $|W_1|^2
    - d|W_2|^2$.
    """
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 2.8), sharey=True)
    inputs = by_draw(plain, "sigma_w1", time=0.0).shape[1]
    size = by_draw(plain, "beta_norm")[member, 0]
    gamma = settings_of(plain)["gamma"]
    quiet = 4 * np.log(1e3) / max(size, gamma)  # by when descent without noise has come to rest
    for axis, table, title in ((axes[0], plain, "gradient descent"), (axes[1], noisy, "label-noise gradient descent")):
        singular_values(axis, table, member)
        axis.set(yscale="log", xlabel="step size × number of steps", title=title)
    axes[0].set_xlim(0, min(quiet, plain["time"].max()))
    axes[0].axhline(np.sqrt(gamma + np.hypot(gamma, size)), color=COLOURS["black"], ls=DASHES, lw=1.0, zorder=3)
    axes[1].axhline(np.sqrt(np.sqrt(inputs) * size), color=COLOURS["grey"], ls=DASHES, lw=1.2, zorder=3)
    axes[0].set_ylabel(r"singular values $\sigma_i(W_1)$")
    more = [
        line("Corollary 3.1", "black", DASHES, 1.0),
        line(r"$(\sqrt{d} |\beta_*|)^{1/2}$", "grey", DASHES, 1.2),
    ]
    legend_below(figure, [*index_handles(inputs), *more])
    return Drawn(figure, alt="Without noise four singular values stay level; with noise they fall on straight lines.")


def label_noise_moments(ensembles: Sequence[Table]) -> Drawn:
    r"""The mean of $|a|^2$ over many paths of label-noise descent, beside the process of appendix D.

    One panel for each kind of data; colours are data sets. Dots: means over paths of the descent itself, with 95 %
    intervals. Lines: the process $dW = X^\top dB\, a^\top$, $da = W^\top X^\top dB$, whose rate is $\sqrt{\sum_j
    D_j^4}$ with the singular values $D_j$ of $X$. Dashes: what it would be if these were all equal to their quadratic
    mean.
    """
    figure, axes = plt.subplots(1, len(ensembles), figsize=(WIDTH, 2.8), sharey=True, squeeze=False)
    for axis, table in zip(axes[0], ensembles, strict=True):
        draws = sorted(table["seed"].unique())
        for seed, colour in zip(draws, sequence(len(draws)), strict=True):
            rows = select(table, "output_square", seed=seed).iloc[1:]
            axis.errorbar(rows["time"], rows["value"], 1.96 * rows["error"], fmt="o", ms=3, lw=0.8, color=colour)
            axis.plot(rows["time"], rows["predicted"], color=colour, lw=1.2)
            even = select(table, "isotropic", seed=seed).iloc[1:]
            axis.plot(even["time"], even["value"], "--", color=colour, lw=1.0)
        axis.set(yscale="log", xlabel=r"time $(\eta\delta)^2 t$")
        axis.set_title(f"$n = {table['samples'].iloc[0]}$, $d = {table['inputs'].iloc[0]}$")
    axes[0, 0].set_ylabel(r"mean of $|a|^2$")
    handles = [marks("descent", marker="."), line("process, appendix D"), line("equal $D_j$", style="--", width=1.0)]
    legend_below(figure, handles)
    return Drawn(figure, alt="Dots on the solid lines, away from the dashed ones.")
