"""Where descent converges: initialisations, and the assumptions of the guarantee."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from learning_dynamics.papers.deep_linear.convergence import quantities
from learning_dynamics.papers.deep_linear.convergence.theory import probability_of_assumption
from learning_dynamics.papers.deep_linear.drawing import DASHED, DEPTH_COLOURS, depth_handles, handle
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters
from learning_dynamics.tidy import Table, select, settings_of

INITS = {"layer_wise": "orange", "balanced": "blue"}


def convergence(initialisations: Table, guarantee: Table) -> Plot:
    r"""Where gradient descent converges: initialisations, and the assumptions of the guarantee of slide 22.

    Panels (a) and (b) show iterations on a regression to a loss within {tolerance:g} of the least, at the best learning
    rate of a grid. The horizontal axis is the standard deviation of the entries of the end-to-end matrix $W$ at the
    start. Entries of independent Gaussian layers (layer-wise) are scaled so that their product has this deviation.
    Lines are medians, dots are {draws} draws, {reached}. Balanced layers of depth {deepest} take {smallest_ratio:.2g}
    to {largest_ratio:.3g} times as many iterations as layer-wise ones of the same deviation. (c) Lines show the loss
    relative to its start. Blue starts meet both assumptions of the guarantee: less loss than every singular matrix, and
    balanced layers; the black dashed line is the guaranteed bound on their loss. Lines "past a singular $W$" are of
    balanced layers that stop at a singular matrix on the way. Lines "unbalanced" have diverged, and are cut off at
    $10^3$. Lines "shorter step" are of the same starts with the step divided by {shortened:g}; the horizontal axis
    still has the undivided step.
    """
    depths = sorted(initialisations["depth"].unique())
    figure, axes = plt.subplots(1, len(depths) + 1, figsize=(1.1 * WIDTH, 3.0))
    steps = select(initialisations, quantities.STEPS)
    some_unconverged = steps["value"].isna().any()
    for axis in axes[1:-1]:
        axis.sharey(axes[0])
    for axis, depth in zip(axes[:-1], depths, strict=True):
        _iterations_panel(axis, steps, depth)
    axes[0].set_ylabel("iterations")
    axes[0].legend(handlelength=1.2, fontsize=7.5)
    _guarantee_panel(axes[-1], guarantee)
    letters(axes)
    settings = settings_of(initialisations)
    alt = "Iterations against deviation for two initialisations at two depths; losses with and without assumptions."
    cap = settings["max_steps"]
    reached = (
        f"and open triangles in the shaded strip are those that no rate of the grid brought there in {cap} iterations"
        if some_unconverged
        else f"which all come to that loss within {cap} iterations"
    )
    at_deepest = select(steps, depth=depths[-1])
    balanced, layer_wise = (_median_steps(select(at_deepest, init=init)) for init in ("balanced", "layer_wise"))
    times_as_many = balanced / layer_wise  # by deviation: a series with the deviations as its index
    facts = {
        "draws": initialisations["seed"].nunique(),
        "deepest": depths[-1],
        "smallest_ratio": times_as_many.min(),
        "largest_ratio": times_as_many.max(),
        "tolerance": settings["tolerance"],
        "reached": reached,
        "shortened": settings_of(guarantee)["rescaling"] ** 2,
    }
    return Plot(figure, facts=facts, alt=alt)


def _median_steps(steps: Table) -> pd.Series:
    """Return the median over draws by deviation; a draw that does not converge counts as infinitely long."""
    return steps.fillna({"value": np.inf}).groupby("deviation")["value"].median()


def _iterations_panel(axis: Axes, steps: Table, depth: int) -> None:
    """Draw steps against deviation at one depth; draws that do not converge are triangles in a strip above."""
    # triangles and their strip are above the largest number of steps; the multiples of it are chosen
    most_steps = steps["value"].max()
    for init, name in INITS.items():
        rows, colour = select(steps, depth=depth, init=init), COLOURS[name]
        medians = _median_steps(rows)
        axis.plot(medians.index, medians.where(np.isfinite(medians)), color=colour, label=init.replace("_", "-"))
        axis.plot(rows["deviation"], rows["value"], ".", color=colour, ms=4, alpha=0.6)
        unconverged = rows["deviation"][rows["value"].isna()]
        height = 2.5 * most_steps * (1.5 if init == "balanced" else 1.0)  # of the triangles: a row for each kind
        axis.plot(unconverged, np.full(len(unconverged), height), "^", color=colour, ms=4, mfc="none")
    if steps["value"].isna().any():
        axis.axhspan(1.8 * most_steps, 5.5 * most_steps, color=COLOURS["grey"], alpha=0.15, lw=0)
    axis.set(xscale="log", yscale="log", title=f"depth {depth}", xlabel="deviation of $W$")


def _guarantee_panel(axis: Axes, table: Table) -> None:
    """Draw the relative excess against time: from four kinds of starts, and the guaranteed bound."""
    excess = select(table, quantities.RELATIVE_EXCESS)
    excess = excess[excess["value"] > 1e-20]  # without zeros: the axis is logarithmic, and ends at 1e-12
    # for each kind of start its label, and the label's colour, place and horizontal alignment
    case_styles = {
        quantities.MEETS_BOTH: ("both hold", "blue", (11, 1e-10), "left"),
        quantities.BEYOND_SINGULAR: ("past a singular $W$", "vermilion", (81, 0.4), "right"),
        quantities.UNBALANCED: ("unbalanced", "orange", (81, 60.0), "right"),
        quantities.UNBALANCED_SHORTER_STEP: ("shorter step", "green", (40, 1e-8), "right"),
    }
    for case, (label, colour, place, side) in case_styles.items():
        # Time in the table is step times iterations. Starts with a shorter step have theirs divided by the square of
        # `rescaling`: multiplied by it their time is that with the undivided step
        stretch = settings_of(table)["rescaling"] ** 2 if case == quantities.UNBALANCED_SHORTER_STEP else 1.0
        for _, line in select(excess, case=case).groupby("seed"):
            axis.plot(stretch * line["time"], line["value"].clip(upper=1e3), color=COLOURS[colour], lw=1.0)
        axis.annotate(label, place, color=COLOURS[colour], fontsize=7, ha=side)
    bound = select(table, quantities.RELATIVE_EXCESS, case=quantities.MEETS_BOTH).groupby("time")["predicted"].first()
    axis.plot(bound.index, bound, color=COLOURS["black"], ls=DASHED, lw=1.0)
    axis.annotate("guarantee", (81, 1e-4), color=COLOURS["black"], fontsize=7, ha="right")
    axis.set(
        yscale="log",
        ylim=(1e-12, 1e4),
        title="assumptions",
        xlabel="step × iterations",
        ylabel="loss / loss at the start",
    )


def guarantees(flows: Table, starts: Table) -> Plot:
    r"""What the guarantee of slide 22 promises, and how often a random start meets its first assumption.

    (a) Marks are the smallest average decay rate, $-\ln(\ell(t)/\ell(0))/t$ minimised over $t$, along a flow. By the
    first assumption the start has less loss than every matrix with a singular value up to the margin $c$. The
    guaranteed rate is $c^{2(N-1)/N}$ at depth $N$. Dots start at the target with its smallest singular value lowered to
    $c$. Crosses start equally far from the target, in a random direction; their smallest singular value stays larger.
    Neighbouring marks are {targets} random targets. (b) Dots are the share of {draws} random balanced starts with one
    output that meet this assumption at $c$ = {margin:g} over $d$, against the dimension $d$ of the input. Lines are
    closed forms.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 3.8))
    _decay_panel(left, flows)
    _random_starts_panel(right, starts)
    handles = [
        *depth_handles(sorted(flows["depth"].unique())),
        handle("guaranteed rate"),
        handle("$2N$ times the guaranteed rate", line=DASHED),
        handle(r"start, smallest $\sigma_r$ lowered", line="", marker="o", ms=4),
        handle("start, random direction", line="", marker="x", ms=4),
    ]
    legend_below(figure, handles, columns=3)
    figure.legends[0].set_title("(a)")
    figure.legends[0].set_alignment("left")
    letters((left, right))
    alt = "Rates of fall against margins, dots of the guaranteed slope, crosses above; shares of starts by dimension."
    settings = settings_of(starts)
    facts = {
        "targets": flows["seed"].nunique(),
        "draws": settings["draws"],
        "margin": settings["margin"] * settings["deviation"],  # c times d, see `probability_of_assumption`
    }
    return Plot(figure, facts=facts, alt=alt)


def _decay_panel(axis: Axes, flows: Table) -> None:
    """Draw the smallest decay rates of flows against the margin, the guaranteed rate, and 2N times it."""
    rates = select(flows, quantities.SMALLEST_RATE)
    for depth in sorted(rates["depth"].unique()):
        colour, rows = DEPTH_COLOURS[depth], select(rates, depth=depth)
        guaranteed = rows.groupby("margin")["predicted"].first()
        axis.plot(guaranteed.index, guaranteed, color=colour, lw=1)
        axis.plot(guaranteed.index, 2 * depth * guaranteed, color=colour, lw=1, ls=DASHED)
        for start, marker in ((quantities.SMALLEST_DIRECTION, "o"), (quantities.RANDOM_DIRECTION, "x")):
            dots = select(rows, start=start)
            axis.plot(dots["margin"], dots["value"], marker, color=colour, ms=4, mew=0 if marker == "o" else 1)
    axis.set(xscale="log", yscale="log", xlabel="margin $c$", ylabel="smallest average decay rate")
    axis.set_title("decay of the loss")


def _random_starts_panel(axis: Axes, starts: Table) -> None:
    """Draw the share of random starts that meet the first assumption against the dimension, with its closed form."""
    settings = settings_of(starts)
    styles = {
        # purple: blue is a depth in the other panel
        quantities.OVER_DIMENSION: (COLOURS["purple"], r"$\propto 1/d$"),
        quantities.OVER_ROOT: (COLOURS["orange"], r"$\propto 1/\sqrt{d}$"),
    }
    for deviation, (colour, label) in styles.items():
        share = select(starts, quantities.MEETS_ASSUMPTION, deviation=deviation).groupby("dimension")["value"].mean()
        axis.plot(share.index, share, "o", color=colour, label=label)
        dimensions = np.unique(np.geomspace(min(share.index), max(share.index), 40).round().astype(int))
        over_root = deviation == quantities.OVER_ROOT
        probabilities = [
            probability_of_assumption(d, settings["deviation"], settings["margin"], over_root=over_root)
            for d in dimensions
        ]
        axis.plot(dimensions, probabilities, color=colour, lw=1)
    axis.set(xscale="log", xlabel="dimension $d$ of the input", ylabel="share of starts", ylim=(-0.02, 0.65))
    axis.set_title("starts that meet the assumption")
    axis.legend(title="standard deviation of entries", fontsize=7.5, loc="upper right", ncols=2)
