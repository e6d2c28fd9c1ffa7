"""Paths, statistics and growth rates of the noise-driven process."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from scipy.special import gamma

from learning_dynamics.papers.spectral_bias.noise import quantities, theory
from learning_dynamics.papers.spectral_bias.panels import curve, guide, level, line_handle, marks_handle, rgb
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, direct_labels, legend_below, letters, sequence
from learning_dynamics.settings import Count, Fraction
from learning_dynamics.tidy import Quantity, Table, select, settings_of

PATH_COLOURS = ("blue", "orange", "green", "vermilion", "purple", "sky")


def fig3a(paths: Table, exponents: Table) -> Plot:
    r"""Single paths of the noise-driven process in two dimensions: both singular values of $W$.

    The process is $dW = dB\, a^\top$, $da = W^\top dB$ from $W = I$, $a = 0$. The $n$-th time step is proportional to
    $n^{-1/2}$. Dashed lines show the smaller singular value. It decays, on almost every path at the exact long-run rate
    {second:.3f}, the slope of the black dashes. Solid lines show the larger one. It has the rate zero (black line) and
    wanders: {fallen} of these {count} paths end below where they started. The paper says of the paths of its Figure 3a
    that the smaller value decays and the larger one increases.
    """
    handles = [line_handle(r"$\sigma_1$, rate 0"), line_handle(r"$\sigma_2$, its rate", style="--")]
    figure, axis = _draw_paths(paths, quantities.SIGMA, handles, lw=1.2)
    end = paths["time"].max()
    second_rate = float(select(exponents, quantities.DIRECTION_RATE, index=2, inputs=2)["predicted"].iloc[0])
    level(axis, 1.0)
    guide(axis, [0, end], [1.0, np.exp(second_rate * end)], zorder=0)
    axis.set_ylabel("singular values of $W$")
    final_values = select(paths, quantities.SIGMA, index=1, time=end)["value"]
    facts = {"second": second_rate, "fallen": int((final_values < 1).sum()), "count": len(final_values)}
    return Plot(figure, facts, alt="Solid lines wander about one; dashed lines fall.")


def fig3b(paths: Table, exponents: Table) -> Plot:
    r"""Single paths of the noise-driven process in two dimensions: norms of the commutators of $W$'s rows with $a$.

    Lines show Frobenius norms $|w_i a^\top - a w_i^\top|$, on the paths of `fig3a` and in their colours. Solid lines
    are for the first row $w_1$, dashed ones for the second. A norm dips where the row and $a$ happen to be parallel.
    Along typical paths norms decay, as the paper says of its Figure 3b. The exact rate is {rate:.3f}, the slope of the
    black dotted line. The mean norm over paths does not decay, as `ensemble` shows.
    """
    handles = [line_handle("row 1"), line_handle("row 2", style="--"), line_handle("rate", style=":", width=1.6)]
    figure, axis = _draw_paths(paths, quantities.COMMUTATOR_NORM, handles, lw=1.1)
    end = paths["time"].max()
    rate = float(select(exponents, quantities.COMMUTATOR_RATE, inputs=2)["predicted"].iloc[0])
    guide(axis, [0, end], [1.0, np.exp(rate * end)], "black", ":", 1.6, zorder=3)
    axis.set_ylabel(r"commutator norm $|[w_i, a]|$")
    return Plot(figure, {"rate": rate}, alt="Curves that fluctuate and fall over time.")


def ensemble(plane: Table, space: Table, five: Table, exponents: Table, *, reliable: Fraction) -> Plot:
    r"""The noise-driven process over many paths: moments explode, paths align, the commutator keeps its mean size.

    The process is that of `fig3a`, in 2, 3 and 5 dimensions ({paths} paths). Bars are 95 % intervals, and shades hold
    eight in ten paths. A sample mean is drawn only while the largest thousandth of the paths makes up at most
    {reliable:.0%} of the sum. (a) Marks show second moments of a column $w_i$ of $W$ (blue) and of an entry of $a$
    (orange), for $d = 2$ (dots) and $d = 5$ (crosses). Dashes show their exact courses. Late sample means fall below
    these: rare paths, which samples miss, carry the moments. (b) For $d = 2$, $e = W_{i1} a_2 - W_{i2} a_1$ is an entry
    of the commutators of rows with $a$. The mean of $|e|$ (dark orange dots) tends to the constant {limit:.3f},
    computed exactly (dark orange dashes), where the paper has 0. Its median (blue) decays, in the long run at the rate
    {rate:.3f} (black dashes, slope only). (c) Dots show the mean length $|c|$ of the commutator of two columns, $c =
    W_{\cdot 1} a_2 - W_{\cdot 2} a_1$. Dashes show exact courses, whose late growth rates are {growing} (at zero the
    mean tends to a constant). (d) For $d = 2$, dark orange dots show the mean sine of the angle between a row of $W$
    and $a$, and the blue line the median. Mean and median fall. Green squares show the mean of $\det W$, a martingale:
    it is 1 (line), while the median falls (dotted). (e) Means of powers of $|W|$ all grow for $d = 5$, as Proposition
    4.1 (b) says. (f) Lines show medians of $|c|$. Dashes have the slopes of the almost sure rates $\lambda_1 +
    \lambda_2$ (see `exponents`): negative, zero and positive in 2, 3 and 5 dimensions.
    """
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 5.0))
    (moment_axis, entry_axis, mean_length_axis), (angle_axis, power_axis, median_length_axis) = axes
    limit = theory.commutator_mean_limit()
    rate = float(select(exponents, quantities.COMMUTATOR_RATE, inputs=2)["predicted"].iloc[0])
    spaces = {2: plane, 3: space, 5: five}
    _draw_second_moments(moment_axis, plane, "o", reliable)
    _draw_second_moments(moment_axis, five, "x", reliable)
    _draw_mean_and_median(entry_axis, plane, quantities.COMMUTATOR_ENTRY, reliable)
    level(entry_axis, limit, "vermilion", "--", zorder=2)
    median = select(plane, quantities.COMMUTATOR_ENTRY, statistic="quantile 0.5")
    _draw_late_slope(entry_axis, median, rate, since=0.5, factor=0.75)
    _draw_mean_and_median(angle_axis, plane, quantities.SINE_OF_ANGLE, reliable)
    _draw_mean(angle_axis, select(plane, quantities.DETERMINANT, statistic="mean"), "green", "s", reliable)
    level(angle_axis, 1.0, "green")
    curve(angle_axis, select(plane, quantities.DETERMINANT, statistic="quantile 0.5"), "green", ":", lw=1.4)
    powers = settings_of(five)["powers"]
    for power, colour in zip(powers, sequence(len(powers)), strict=True):
        rows = select(five, quantities.power_of_W(power), statistic="mean")
        curve(power_axis, rows[rows["heaviest"] <= reliable], colour, lw=1.4, label=f"power {power:g}")
    times = np.linspace(0.05, five["time"].max(), 80)  # not from 0, where the mean of |c| is zero and has no logarithm
    for (inputs, table), colour in zip(spaces.items(), sequence(len(spaces)), strict=True):
        label = f"$d = {inputs}$"
        rows = select(table, quantities.COMMUTATOR_LENGTH, statistic="mean").iloc[1:]
        _draw_mean(mean_length_axis, rows[rows["time"] <= times[-1]], colour, "o", reliable)
        guide(mean_length_axis, times, theory.mean_commutator(inputs, times), width=0.9, zorder=0, label=label)
        median = select(table, quantities.COMMUTATOR_LENGTH, statistic="quantile 0.5").iloc[1:]
        curve(median_length_axis, median, colour, lw=1.4, label=label)
        commutator_rate = float(theory.lyapunov_exponents(inputs)[:2].sum())  # lambda_1 + lambda_2
        _draw_late_slope(median_length_axis, median, commutator_rate, since=0.4, factor=1.25, width=0.9)
    moment_axis.set(title="second moments", ylabel=r"$E|w_i|^2$, $E a_i^2$")
    entry_axis.set(title="$|e|$, $d = 2$", ylabel="$|e|$")
    mean_length_axis.set(title="mean of $|c|$", ylabel="$E|c|$")
    angle_axis.set(title=r"angle, $\det W$, $d = 2$", ylabel="sine, determinant")
    power_axis.set(title="powers, $d = 5$", ylabel=r"mean of $|W|^p$")
    median_length_axis.set(title="median of $|c|$", ylabel="$|c|$")
    for axis in axes.flat:
        axis.set(yscale="log", xlabel="time $t$")
    letters(axes.flat)
    for axis in (moment_axis, entry_axis, angle_axis):
        axis.set_xlim(0, plane["time"].max())
    power_axis.set_xlim(0, five["time"].max())
    # room for the labels of lines
    mean_length_axis.set(xlim=(0, 1.3 * five["time"].max()), ylim=(0.4, 10))
    median_length_axis.set_xlim(0, 1.3 * plane["time"].max())
    moment_axis.set_ylim(0.3, None)
    power_axis.legend()
    for axis in (mean_length_axis, median_length_axis):
        direct_labels(axis)
    handles = [
        marks_handle(r"$E|w_i|^2$", "blue", "o"),
        marks_handle(r"$E a_i^2$", "orange", "o"),
        line_handle("exact, or slope", "black", "--", 0.9),
        marks_handle("mean", "vermilion", "o"),
        line_handle("median", "blue"),
        line_handle("8 in 10 paths", "sky", "-", 5),
        marks_handle(r"$\det W$, mean", "green", "s"),
        line_handle(r"$\det W$, median", "green", ":"),
    ]
    legend_below(figure, handles, 4)
    growing = ", ".join(f"{max(theory.mean_commutator_rate(inputs), 0.0):.3f}" for inputs in spaces)
    paths = ", ".join(f"{table['paths'].iloc[0]:.0f}" for table in spaces.values())
    facts = {"reliable": reliable, "limit": limit, "rate": rate, "growing": growing, "paths": paths}
    return Plot(
        figure, facts, alt="Means of moments rise on exact curves; the median commutator falls, its mean does not."
    )


def exponents(exponents: Table, weighted: Table) -> Plot:
    r"""Almost sure growth rates of the noise-driven process in every dimension, with 95 % intervals.

    Dots show rates along long paths, and lines exact rates. (a) Colours of the rates $\lambda_i$ of $\sigma_i(W)$ go
    from dark ($i = 1$) to light. The second singular value decays in dimensions {decay} and grows in {grow}. (b) Orange
    dots show the rates $\lambda_1 + \lambda_2$ of the commutators of rows with $a$, and blue dots those of the
    ratio $\sigma_2(W)/\sigma_1(W)$, $\lambda_2 - \lambda_1$. The ratio decays in every dimension, so that rows align
    with $a$, in probability; commutators decay only where dots are below zero. Diamonds of the same colours, at $d$ =
    {weights}, show noise of unequal weights, under which the ratio decays more slowly. (c) Dots show the smallest of
    all $d + 1$ rates, divided by $d$. In one dimension the two rates are equal.
    """
    figure, (singular_axis, commutator_axis, smallest_axis) = plt.subplots(
        1, 3, figsize=(WIDTH, 3.0), width_ratios=(5, 4, 3)
    )
    dimensions = sorted(exponents["inputs"].unique())
    largest = max(dimensions)
    rates = select(exponents, quantities.DIRECTION_RATE)
    index_colours = sequence(largest)
    for index, colour in enumerate(index_colours, start=1):
        # in dimensions d >= i: lambda_{d+1} is the rate of no singular value
        rows = rates[(rates["index"] == index) & (rates["inputs"] >= index)]
        _draw_rates(singular_axis, rows, colour)
    weighted_dimension = int(select(weighted, quantities.DIRECTION_RATE)["index"].max()) - 1  # of d + 1 directions
    for quantity, colour_name in ((quantities.COMMUTATOR_RATE, "vermilion"), (quantities.RATIO_RATE, "blue")):
        rows = select(exponents, quantity, inputs=lambda inputs: inputs > 1)
        _draw_rates(commutator_axis, rows, COLOURS[colour_name])
        value = select(weighted, quantity)["value"]
        commutator_axis.plot([weighted_dimension], value, "D", ms=5, color=COLOURS[colour_name], mfc="none")
    smallest = rates[rates["index"] == rates["inputs"] + 1]  # lambda_{d+1}, a row for each dimension d
    over_dimension = {
        column: smallest[column] / smallest["inputs"] for column in ("value", "lower", "upper", "predicted")
    }
    smallest = smallest.assign(**over_dimension)
    _draw_bars(smallest_axis, smallest["inputs"], smallest, COLOURS["green"])
    smallest_axis.plot(smallest["inputs"], smallest["predicted"], color=COLOURS["black"], lw=1.0, zorder=0)
    for axis, title, label in (
        (singular_axis, "singular values of $W$", "growth rate"),
        (commutator_axis, "commutators and ratio", "growth rate"),
        (smallest_axis, "smallest", "growth rate, over $d$"),
    ):
        level(axis, 0.0, "grey", width=0.8)
        axis.set(xlabel="dimension $d$", ylabel=label, title=title, xticks=dimensions[:: max(1, len(dimensions) // 5)])
    letters((singular_axis, commutator_axis, smallest_axis))
    smallest_axis.set_ylim(None, -0.4)
    handles = [
        line_handle(r"$\lambda_1$", index_colours[0]),
        line_handle(rf"$\lambda_{{{largest}}}$", index_colours[-1]),
        marks_handle("commutator", "vermilion", "."),
        marks_handle(r"$\sigma_2 / \sigma_1$", "blue", "."),
        marks_handle("unequal weights", "black", "D", hollow=True),
        marks_handle("smallest", "green", "."),
    ]
    legend_below(figure, handles)
    second_rates = rates[(rates["index"] == 2) & (rates["inputs"] > 1)]

    def list_dimensions(rows: pd.DataFrame) -> str:
        return ", ".join(str(inputs) for inputs in rows["inputs"]) or "none"

    facts = {
        "decay": list_dimensions(second_rates[second_rates["upper"] < 0]),
        "grow": list_dimensions(second_rates[second_rates["lower"] > 0]),
        "weights": weighted_dimension,
    }
    return Plot(
        figure,
        facts,
        alt="Rates rise with the dimension, the second one across zero; that of the ratio is negative and falls.",
    )


def spectrum(exponents: Sequence[Table], *, dimensions: list[Count]) -> Plot:
    r"""All growth rates of the singular values under the noise-driven process, in more and more dimensions.

    (a) The growth rate $\lambda_i$ of the $i$-th singular value is drawn against its place among the $d$ rates,
    $q = (i - 1/2)/d$. Lines show exact rates, darker in more dimensions; the largest leave the panel. Dots of the same
    colours are rates measured in {measured} dimensions, with 95 % intervals that are mostly smaller than the dots.
    Dashes show the limit $1/(4\sqrt{q}) - 1/2$, which crosses zero at a quarter (grey lines). (b) Blue dots show the
    share of the singular values that grow; it jumps, as their number is an integer. Orange dots show
    $\lambda_1/\sqrt{d}$. Dashes of the same colours show the limits, $1/4$ and $\Gamma(3/4)/\Gamma(1/4)$.
    """
    figure, (rate_axis, share_axis) = plt.subplots(1, 2, figsize=(WIDTH, 3.0), width_ratios=(3, 2))
    colours = dict(zip(dimensions, reversed(sequence(len(dimensions))), strict=True))
    for inputs, colour in colours.items():
        exact = theory.lyapunov_exponents(inputs)[:-1]  # the last rate is of no singular value
        rate_axis.plot((np.arange(inputs) + 0.5) / inputs, exact, color=colour, lw=1.0, label=f"$d = {inputs}$")
    measured_dimensions = [int(table["inputs"].max()) for table in exponents]
    for table, inputs in zip(exponents, measured_dimensions, strict=True):
        rows = select(table, quantities.DIRECTION_RATE, inputs=inputs)
        rows = rows[rows["index"] <= inputs]
        _draw_bars(rate_axis, (rows["index"] - 0.5) / inputs, rows, colours.get(inputs, COLOURS["vermilion"]))
    places = np.linspace(0.005, 1.0, 400)
    guide(rate_axis, places, theory.spectrum_limit(places))
    level(rate_axis, 0.0, "grey", width=0.8)
    rate_axis.axvline(0.25, color=COLOURS["grey"], lw=0.8, zorder=0)
    rate_axis.set(xlim=(0, 1), ylim=(-0.3, 1.6), xlabel="place of the rate, $(i - 1/2)/d$", ylabel=r"$\lambda_i$")
    rate_axis.set_title("growth rates")
    rate_axis.legend(loc="upper right")
    all_dimensions = np.unique(np.geomspace(3, max(dimensions), 24).round().astype(int))
    spectra = [theory.lyapunov_exponents(int(inputs)) for inputs in all_dimensions]
    share_that_grows = [np.mean(exact[:-1] > 0) for exact in spectra]  # the last rate is of no singular value
    largest_rates = [exact[0] for exact in spectra] / np.sqrt(all_dimensions)
    for values, limit, colour_name, label in (
        (share_that_grows, 0.25, "blue", "share that grows"),
        (largest_rates, float(gamma(0.75) / gamma(0.25)), "orange", r"$\lambda_1/\sqrt{d}$"),
    ):
        share_axis.plot(all_dimensions, values, ".", color=COLOURS[colour_name], label=label)
        level(share_axis, limit, colour_name, "--")
    share_axis.set(xscale="log", ylim=(0, 0.5), xlabel="dimension $d$", ylabel=r"share; $\lambda_1/\sqrt{d}$")
    share_axis.set_title("share that grows, largest rate")
    letters((rate_axis, share_axis))
    share_axis.legend(loc="lower right")
    return Plot(
        figure,
        {"measured": " and ".join(map(str, measured_dimensions))},
        alt="Lines that approach one falling curve, which crosses zero at a quarter; dots on the lines.",
    )


def _draw_paths(paths: Table, quantity: Quantity, handles: list[Line2D], lw: float) -> tuple[Figure, Axes]:
    """Draw the first (solid) and the second entry (dashed) of a quantity against time, each path in its colour.

    `handles` end the legend, and `lw` is the width of lines.
    """
    figure, axis = plt.subplots(figsize=(WIDTH, 2.8))
    colours = dict(zip(sorted(paths["seed"].unique()), PATH_COLOURS, strict=False))
    for seed, colour in colours.items():
        for index, style in ((1, "-"), (2, "--")):
            rows = select(paths, quantity, seed=seed, index=index)
            curve(axis, rows[rows["value"] > 0], colour, style, lw=lw)
    axis.set(yscale="log", xlabel="time $t$", xlim=(0, paths["time"].max()))
    path_handles = [line_handle(f"path {seed + 1}", colour) for seed, colour in colours.items()]
    figure.legend(handles=path_handles + handles, loc="outside right center")
    return figure, axis


def _draw_rates(axis: Axes, rows: pd.DataFrame, colour: str | tuple) -> None:
    """Draw measured rates against the dimension, with their intervals, and a line through the predicted ones."""
    _draw_bars(axis, rows["inputs"], rows, colour)
    axis.plot(rows["inputs"], rows["predicted"], color=colour, lw=0.9, zorder=0)


def _draw_bars(axis: Axes, x: pd.Series, rows: pd.DataFrame, colour: str | tuple) -> None:
    """Draw values as dots with their intervals as bars."""
    low, high = rows["value"] - rows["lower"], rows["upper"] - rows["value"]
    axis.errorbar(x, rows["value"], yerr=[low, high], fmt="o", ms=2.5, lw=1.0, color=colour)


def _draw_mean(axis: Axes, rows: pd.DataFrame, colour: str | tuple, marker: str, reliable: float) -> None:
    """Draw a mean over paths with its confidence interval as error bars, at the times at which it rests on many paths.

    These are the times at which the largest thousandth of the paths has at most the share `reliable` of their sum.
    """
    rows = rows[rows["heaviest"] <= reliable]
    # a bar of at most 0.95 of the value downwards, as zero has no place on the logarithmic axis
    low = np.minimum(rows["value"] - rows["lower"], 0.95 * rows["value"])
    high = rows["upper"] - rows["value"]
    axis.errorbar(rows["time"], rows["value"], yerr=[low, high], fmt=marker, ms=3.5, lw=1.0, color=rgb(colour))


def _draw_second_moments(axis: Axes, table: Table, marker: str, reliable: float) -> None:
    """Draw the means of |w_i|^2 (blue) and of a_i^2 (orange) after time 0, and their exact courses (dashes)."""
    for quantity, colour in ((quantities.HIDDEN_SQUARE, "blue"), (quantities.OUTPUT_SQUARE, "orange")):
        rows = select(table, quantity, statistic="mean", time=lambda time: time > 0)
        _draw_mean(axis, rows, colour, marker, reliable)
        curve(axis, rows, "black", "--", "predicted", lw=0.9, zorder=0)


def _draw_late_slope(
    axis: Axes, median: pd.DataFrame, rate: float, *, since: float, factor: float, width: float = 1.0
) -> None:
    """Draw a curve in proportion to exp(rate * t), from the share `since` of the time on.

    It starts at `factor` times the median at that time.
    """
    late = median[median["time"] >= since * median["time"].max()]
    time, first_value = late["time"], late["value"].iloc[0]
    guide(axis, time, factor * first_value * np.exp(rate * (time - time.iloc[0])), width=width)


def _draw_mean_and_median(axis: Axes, table: Table, quantity: Quantity, reliable: float) -> None:
    """Draw the mean (see `_draw_mean`), the median, and the band that holds 80 % of the paths, after time 0."""
    # .iloc[1:] leaves out time 0, at which the quantity is zero
    median, low, high = (
        select(table, quantity, statistic=f"quantile {part}").iloc[1:] for part in ("0.5", "0.1", "0.9")
    )
    axis.fill_between(median["time"], low["value"], high["value"], color=COLOURS["sky"], alpha=0.3, lw=0)
    _draw_mean(axis, select(table, quantity, statistic="mean").iloc[1:], "vermilion", "o", reliable)
    curve(axis, median, "blue")
