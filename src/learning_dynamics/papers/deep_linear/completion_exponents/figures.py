"""Powers of the initialisation scale against the number of entries, measured and predicted."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from learning_dynamics.papers.deep_linear import quantities
from learning_dynamics.papers.deep_linear.completion_exponents.powers import measured_powers, predicted_powers
from learning_dynamics.papers.deep_linear.completion_exponents.quantities import ALPHA, ALPHA_AT_START
from learning_dynamics.papers.deep_linear.drawing import DEPTH_COLOURS
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, sequence, shared_legend
from learning_dynamics.tidy import Table, select, settings_of


def completion_exponents(
    uneven: Table, uneven_path: Table, gaussian: Table, gaussian_path: Table, deeper: Table, coarse: Table
) -> Plot:
    r"""The singular value that completion leaves beyond the rank $r$, as a power of the initialisation scale $s$.

    (a) Dots are $\sigma_{r+1}$ at the end of descent at depth 2, medians over those of {draws} draws that reached their
    training loss. Dotted lines have the predicted power, through the median at the smallest $s$. The claim reads powers
    at $s$ below {smallest_coarse_scale:g}. (b) Small dots are the powers of draws against the number of entries, for
    singular values 3 : 1. Circles and squares are medians at depths 2 and 3. At depth 3 the prediction is 1. The solid
    line is the median prediction $1 - \alpha$ at depth 2, where $\alpha$ is the growth of $\log \sigma_{r+1}$ over that
    of $\log \sigma_r$. The gradient's singular values along each draw's path at $s$ = {path_scale:g} give $\alpha$. The
    grey dashed line takes $\alpha$ from the start of the path alone. (c) Dots compare measured and predicted powers,
    for every draw of both kinds of matrices at depth 2. On the line they are equal.
    """
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(WIDTH, 3.2))
    _against_scale(left, pd.concat([uneven, coarse]), uneven_path)
    _against_entries(middle, {2: uneven, 3: deeper}, uneven_path)
    _against_prediction(right, uneven, uneven_path, colour=COLOURS["blue"], label="singular values 3 : 1")
    _against_prediction(right, gaussian, gaussian_path, colour=COLOURS["orange"], label="Gaussian factors")
    right.axline((0, 0), slope=1, color=COLOURS["black"], lw=0.8)
    right.set(xlabel=r"predicted, $1 - \alpha$", ylabel="measured", xlim=(0, 1), ylim=(0, 1))
    right.legend(fontsize=7.5, loc="upper left", handlelength=0.6, borderaxespad=0.1)
    for axis, title in ((left, "against the scale"), (middle, "by entries"), (right, "every draw")):
        axis.set_title(title)
    letters((left, middle, right))
    shared_legend(figure, [left, middle], ncols=4)
    facts = {
        "draws": uneven["draw"].nunique(),
        "path_scale": settings_of(uneven_path)["scale"],
        "smallest_coarse_scale": min(settings_of(coarse)["scales"]),
    }
    return Plot(figure, facts=facts, alt="Singular values beyond the rank against scale; powers against entries.")


def _against_scale(axis: Axes, ends: Table, path: Table) -> None:
    """Draw the first singular value beyond the rank against the scale, for each number of observed entries."""
    counts = sorted(ends["observed"].unique())
    for count, colour in zip(counts, sequence(len(counts)), strict=True):
        rows = select(ends, quantities.BEYOND_RANK, observed=count)
        medians = rows[rows["converged"]].groupby("scale")["value"].median()
        scales, power = medians.index, np.median(predicted_powers(path, count))
        axis.loglog(scales, medians, "o-", ms=3, lw=1, color=colour, label=f"(a) {count} entries")
        axis.loglog(scales, medians.iloc[0] * (scales / scales[0]) ** power, ":", color=colour)
    axis.plot([], [], ":", color=COLOURS["grey"], label="(a) predicted power")
    axis.set(xlabel="initialisation scale $s$", ylabel=r"$\sigma_{r+1}$ at the end")


def _against_entries(axis: Axes, ends_by_depth: dict[int, Table], path: Table) -> None:
    """Draw the powers that are measured at two depths, and those predicted at depth 2, by number of entries."""
    counts = sorted(path["observed"].unique())
    for (depth, ends), marker in zip(ends_by_depth.items(), ("o", "s"), strict=True):
        colour = DEPTH_COLOURS[depth]
        powers = [measured_powers(ends, count) for count in counts]  # shape (draws,) each
        for count, powers_of_draws in zip(counts, powers, strict=True):
            x = np.full(len(powers_of_draws), count)
            axis.plot(x, powers_of_draws, ".", ms=3.5, mew=0, alpha=0.5, color=colour)
        medians = [np.nanmedian(powers_of_draws) for powers_of_draws in powers]
        axis.plot(counts, medians, marker, ms=5, color=colour, label=f"(b) depth {depth}")
    styles = {
        ALPHA: (COLOURS["blue"], "-", r"(b) $1 - \alpha$, path"),
        ALPHA_AT_START: (COLOURS["grey"], "--", r"(b) $1 - \alpha$, its start"),
    }
    for alpha, (colour, line, label) in styles.items():
        predicted = [np.median(predicted_powers(path, count, alpha)) for count in counts]
        axis.plot(counts, predicted, color=colour, ls=line, lw=1.2, label=label)
    axis.set(xlabel="observed entries", ylabel="power of $s$", ylim=(0, 1.07))


def _against_prediction(axis: Axes, ends: Table, path: Table, *, colour: str, label: str) -> None:
    """Draw measured powers against predicted ones, a dot for each draw and number of entries."""
    counts = path["observed"].unique()
    predicted = np.concatenate([predicted_powers(path, count) for count in counts])
    measured = np.concatenate([measured_powers(ends, count) for count in counts])
    axis.plot(predicted, measured, ".", ms=4.5, mew=0, alpha=0.7, color=colour, label=label)
