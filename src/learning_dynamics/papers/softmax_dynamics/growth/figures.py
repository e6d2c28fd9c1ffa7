"""Growth rates of singular values, against their size and against the largest class's."""

from itertools import cycle

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import NullFormatter

from learning_dynamics.evidence import slope
from learning_dynamics.papers.softmax_dynamics.flow_errors import at_each_time, difference_error
from learning_dynamics.papers.softmax_dynamics.panels import DASHED, EXPECTED
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn, sequence
from learning_dynamics.settings import Count, Positive
from learning_dynamics.tidy import Table, select


def growth(flow: Table, starts: Table, *, members: Count, simple: Positive) -> Drawn:
    r"""How fast singular values change, against how large they are.

    Left: along the flow, what is left of derivatives by differences after $-g_i \sigma_i$ is taken away, relative to
    the matrix's speed, against the gap of the spectrum (Theorem B.3); the line is the rounding of differences.
    Middle: at random balanced starts of one scale, where singular values differ by chance; the fitted slope is
    {slope:.2f} (95 % interval {low:.2f} to {high:.2f}; dashed: slopes 0 and 2). Right: along the flow, against the
    singular value itself. What bends the paths away from the slope of one (dashed) is that $g_i$ changes.
    """
    figure, (residual, initial, along_flow) = plt.subplots(1, 3, figsize=(WIDTH, 2.8))
    rates = select(flow, "rate_f")
    gap, speed = at_each_time(flow, "gap"), at_each_time(flow, "speed_f")
    for index, colour in zip((1, 2), sequence(2), strict=True):
        rows = rates[rates["index"] == index].set_index(["seed", "time"])
        error = ((rows["value"] - rows["predicted"]).abs() / speed).clip(lower=1e-17)
        residual.plot(gap, error, ".", ms=1.5, color=colour, label=rf"$\sigma_{index}$", rasterized=True)
    ends = np.geomspace(0.5 * simple, 1.0, 50)
    residual.plot(ends, difference_error(ends), **EXPECTED)
    residual.axvline(simple, color=COLOURS["grey"], lw=0.9, ls=":")
    residual.set(xlabel="relative gap of singular values", ylabel=r"error of $-g_i \sigma_i$", xlim=(0.5 * simple, 1.2))
    residual.legend(loc="lower left", markerscale=5, handletextpad=0.0)
    x, y = np.log(starts["sigma"].to_numpy()), np.log(starts["rate"].abs().to_numpy())
    fit = slope(x, y)
    sample = slice(0, 3000)
    initial.plot(np.exp(x[sample]), np.exp(y[sample]), ".", ms=1.2, color=COLOURS["sky"], rasterized=True)
    domain = np.array([x.min(), x.max()])
    for order, line, name in ((0.0, "--", "grey"), (2.0, "--", "grey"), (fit.value, "-", "black")):
        initial.plot(
            np.exp(domain), np.exp(y.mean() + order * (domain - x.mean())), ls=line, color=COLOURS[name], lw=1.1
        )
    low, high = np.quantile(y, [0.005, 1.0])
    initial.set(xlabel=r"$\sigma_i$ at the start", ylabel=r"$|\dot\sigma_i|$ at the start")
    initial.set_ylim(np.exp(low), 2 * np.exp(high))
    initial.set_xlim(0.5 * np.exp(np.quantile(x, 0.001)), 10.0 ** np.ceil(np.log10(np.exp(x.max()))))
    sigma = select(flow, "sigma")
    for index, colour in reversed(list(zip((1, 2), sequence(2), strict=True))):
        for seed in range(members):
            rows = [table[(table["index"] == index) & (table["seed"] == seed)]["value"] for table in (sigma, rates)]
            label = rf"$\sigma_{index}$" if seed == 0 else None
            along_flow.plot(rows[0], rows[1].abs(), color=colour, lw=0.6, alpha=0.6, label=label)
    domain = np.array([sigma["value"].min(), sigma["value"].max()])
    along_flow.plot(domain, domain, zorder=3, label="slope 1", **EXPECTED)
    along_flow.set(xlabel=r"$\sigma_i$", ylabel=r"$|\dot\sigma_i|$", xlim=(0.7 * domain[0], 1.5 * domain[1]))
    along_flow.set_ylim(bottom=np.quantile(rates["value"].abs(), 0.002))
    along_flow.legend(loc="lower center", handlelength=1.2, labelspacing=0.2)
    for axis in (residual, initial, along_flow):
        axis.set(xscale="log", yscale="log")
    initial.xaxis.set_minor_formatter(NullFormatter())
    facts = {"slope": fit.value, "low": fit.lower, "high": fit.upper}
    alt = "Errors of the predicted product against the gap; rates against singular values at starts and along flows."
    return Drawn(figure, facts, alt)


def dominant_class(starts: Table, early: Table, repeated: Table, *, classes: Count) -> Drawn:
    r"""Growth rates at uniform predictions, against the size of the largest class and the number of classes.

    Left: relative growth rates $|\dot\sigma_i| / \sigma_i$ at random balanced starts with {classes} classes (dots;
    circles, their root mean square) against the largest class's size $N$; lines, as $\sqrt{N}$ and $N$ would continue
    the first. Middle: the growth
    rate of $\sigma_1$ after a tiny start has aligned with the fastest direction: $\sqrt{N}$ where inputs are
    orthonormal (filled), $N$ where the $N$ examples repeat one context and share its row of $f$ (open); lines, the
    spectral norm of $A$, its rows repeated in the second case. Right: what dropping terms in $1/V$ from $g_i$ costs
    (eq. 21; triangles, with its two sums taken apart), and how far the spectral norm of $A$ lies below $\sqrt{N}$,
    worst over $N$.
    """
    figure, (random, aligned, many) = plt.subplots(1, 3, figsize=(WIDTH, 2.9))
    class_count = min(classes, starts["classes"].max())
    chosen = starts[starts["classes"] == class_count]
    rate = chosen["rate"].abs() / chosen["sigma"]
    sizes = np.array(sorted(chosen["largest"].unique()), dtype=float)
    random.plot(chosen["largest"], rate, ".", ms=2.0, color=COLOURS["sky"])
    mean_square = np.sqrt((rate**2).groupby(chosen["largest"]).mean())
    random.plot(mean_square.index, mean_square, "o", ms=4, color=COLOURS["blue"], label="starts")
    first = mean_square.iloc[0] / sizes[0]
    random.plot(sizes, first * sizes, color=COLOURS["vermilion"], ls=DASHED, label="$N$")
    random.plot(sizes, first * np.sqrt(sizes[0] * sizes), color=COLOURS["black"], ls=(0, (1, 1)), label=r"$\sqrt{N}$")
    random.set(yscale="log", ylabel=r"$|\dot\sigma_i| / \sigma_i$", title=f"random start, $V = {class_count}$")
    random.set_ylim(np.quantile(rate, 0.05), 6 * first * sizes.max())
    for table, filled in ((early, True), (repeated, False)):
        end = table[table["time"] == table["time"].max()]
        for count, colour in zip(sorted(end["classes"].unique()), cycle(("green", "purple"))):
            cell = end[end["classes"] == count].groupby("largest")[["growth", "fastest"]].median()
            label = rf"$V = {count}$" if filled else None
            aligned.plot(cell.index, cell["fastest"], color=COLOURS[colour], lw=1.0, ls="-" if filled else "--")
            face = COLOURS[colour] if filled else "none"
            aligned.plot(cell.index, cell["growth"], "o", ms=4.5, color=COLOURS[colour], mfc=face, label=label)
        middle = end["growth"].groupby(end["largest"]).median()
        aligned.annotate(
            "orthonormal" if filled else "one context",
            (middle.index[len(middle) // 2], middle.iloc[len(middle) // 2]),
            xytext=(6, -14),
            textcoords="offset points",
            fontsize=8,
        )
    aligned.set_yscale("log", base=2)
    aligned.set(ylabel=r"$\dot\sigma_1 / \sigma_1$", title="aligned start")
    squares = starts.assign(square=starts["gain"] ** 2).groupby("classes")["square"].sum()
    for column, marker, label in (("gain_many_classes", "o", "$g_i$, eq. 21"), ("gain_separate", "^", "sums apart")):
        errors = starts.assign(error=(starts[column] - starts["gain"]) ** 2).groupby("classes")["error"].sum()
        many.plot(
            squares.index,
            np.sqrt(errors / squares),
            f"{marker}-",
            ms=4,
            lw=1.0,
            label=label,
            color=COLOURS["blue" if marker == "o" else "sky"],
        )
    short = 1 - (starts["fastest"] / np.sqrt(starts["largest"])).groupby(starts["classes"]).min()
    many.plot(short.index, short, "s-", ms=4, lw=1.0, color=COLOURS["orange"], label=r"$\|A\|$ below $\sqrt{N}$")
    domain = squares.index.to_numpy(dtype=float)
    many.plot(domain, 1 / np.sqrt(domain), color=COLOURS["black"], lw=0.8, ls=DASHED, label=r"$1/\sqrt{V}$")
    many.set(xscale="log", yscale="log", xlabel="number of classes $V$", ylabel="relative error")
    many.set_title("terms in $1/V$ dropped")
    many.set_ylim(top=2e3)
    for axis in (random, aligned):
        axis.set_xscale("log", base=2)
        axis.set_xlabel("largest class size $N$")
    spacing = {"handlelength": 1.4, "labelspacing": 0.2, "columnspacing": 0.8, "handletextpad": 0.4}
    for axis, place, columns in ((random, "upper left", 3), (aligned, "upper left", 1), (many, "upper right", 1)):
        axis.legend(loc=place, ncols=columns, fontsize=7.5, **spacing)
    alt = "Growth rates at random and at aligned starts against N, and errors of dropped terms against V."
    return Drawn(figure, {"classes": int(class_count)}, alt)
