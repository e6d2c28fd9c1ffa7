"""The phase diagram: where the rank falls while rare classes are learned, over examples and over classes."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import PercentFormatter

from learning_dynamics.evidence import share
from learning_dynamics.papers.softmax_dynamics.draws import fallen, ratio
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn, shared_legend
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, settings_of


def phase_diagram(region: Table, *, threshold: Positive) -> Drawn:
    r"""Where the rank falls while the rarest classes are learned: share of seeds, over skew, scale and dimensions.

    RankMe, centred, of one row for each class: every class counts once (top) or as often as it has examples (bottom),
    in {dimensions} dimensions (columns). Four classes of sizes $r^3 : r^2 : r : 1$, by the largest over the smallest;
    gradient flow from Gaussian starts, {seeds} seeds a cell. Falls of at least {threshold:g} count that follow a rise
    since the warm-up's trough, as far as they come while the rarest classes are learned. Cells give the share in per
    cent with its 95 % Wilson interval; the line separates cells in which most seeds fall.
    """
    dimensions = sorted(region["dimension"].unique())
    scales = sorted(region["scale"].unique())
    sizes = sorted(region["counts"].unique(), key=ratio)
    figure, axes = plt.subplots(
        2, len(dimensions), figsize=(WIDTH, 1.6 + 0.62 * len(sizes)), sharex=True, sharey=True, squeeze=False
    )
    for row, population in enumerate(("classes", "examples")):
        rows = fallen(region, "fall_rare", population, threshold)
        for axis, dimension in zip(axes[row], dimensions, strict=True):
            cells = rows[rows["dimension"] == dimension].groupby(["counts", "scale"])["fallen"].agg(["sum", "count"])
            shares = np.empty((len(sizes), len(scales)))
            for (i, size), (j, scale) in ((a, b) for a in enumerate(sizes) for b in enumerate(scales)):
                found = share(*cells.loc[(size, scale)].astype(int))
                shares[i, j] = found.value
                text = f"{100 * found.value:.0f}\n{100 * found.lower:.0f}–{100 * found.upper:.0f}"
                colour = "black" if found.value > 0.6 else "white"
                axis.text(j, i, text, ha="center", va="center", fontsize=7, color=colour, linespacing=1.0)
            image = axis.imshow(shares, vmin=0, vmax=1, cmap="cividis", aspect="auto", origin="lower")
            _boundary(axis, shares > 0.5)
            axis.set_xticks(range(len(scales)), [f"{scale:g}" for scale in scales])
            axis.set_yticks(range(len(sizes)), [f"{ratio(size):.0f}" for size in sizes])
            axis.tick_params(length=0)
            axis.spines[:].set_visible(False)
        axes[row, 0].set_ylabel(f"over {population}\nlargest class / smallest")
    for axis, dimension in zip(axes[0], dimensions, strict=True):
        axis.set_title(f"$d = {dimension}$" + (", no bottleneck" if dimension == 3 else ""))
    for axis in axes[-1]:
        axis.set_xlabel("initial scale")
    bar = figure.colorbar(image, ax=axes, aspect=30, pad=0.015)
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    bar.set_label("share of seeds that fall")
    facts = {
        "seeds": settings_of(region)["seeds"],
        "threshold": threshold,
        "dimensions": " and ".join(map(str, dimensions)),
    }
    alt = "Shares of seeds that fall, by skew and scale: over classes most do at large skews, over examples few do."
    return Drawn(figure, facts, alt)


def boundary(draws: Table, directions: Table, *, threshold: Positive) -> Drawn:
    r"""How far the rank over classes falls while the rarest class is learned: from one start without chance, and from
    random ones.

    Four classes in two dimensions, {laws} laws of sizes and two scales; the one start holds two growing directions of
    $A$ at uniform predictions, equally, and nothing else. Left: median over {seeds} seeds and middle half, against its
    fall; open, of the rank over examples. Right: share of seeds that fall by {threshold:g} or more, with 95 % Wilson
    intervals; the step is the one start's. It shows how little a random start matters at these scales and sizes, and is
    no law: at larger scales, at sizes near each other and at ties the two frequent classes may end side by side, and
    the two starts part.
    """
    figure, (depths, shares) = plt.subplots(1, 2, figsize=(WIDTH, 3.1))
    smallest = draws["threshold"][draws["threshold"] > 0].min()
    for population, face in (("examples", "none"), ("classes", "full")):
        rows = fallen(draws, "fall_rare", population, smallest)
        predicted = fallen(directions, "fall_rare", population, smallest).set_index(["counts", "scale"])["value"]
        for scale, colour, shape in zip(sorted(rows["scale"].unique()), ("blue", "orange"), "os", strict=False):
            found = rows[rows["scale"] == scale].groupby("counts")["value"]
            expected = predicted.xs(scale, level="scale")[list(found.groups)]
            low, middle, high = (found.quantile(q) for q in (0.25, 0.5, 0.75))
            style: dict[str, Any] = {
                "fmt": shape, "ms": 4.5, "lw": 1.0, "color": COLOURS[colour],
                "mfc": COLOURS[colour] if face == "full" else "none", "label": f"over {population}, scale {scale:g}",
            }  # fmt: skip
            depths.errorbar(expected, middle, yerr=[middle - low, high - middle], **style)
            if population == "classes":
                fell = [share(int((part >= threshold).sum()), len(part)) for _, part in found]
                values = np.array([one.value for one in fell])
                error = [values - [one.lower for one in fell], [one.upper for one in fell] - values]
                shares.errorbar(expected, values, yerr=error, **style)
    end = 1.1 * max(line.get_xdata().max() for line in depths.lines)
    depths.plot([0, end], [0, end], color=COLOURS["black"], lw=0.9, ls=(0, (4, 2)), zorder=0)
    shares.step([0, threshold, end], [0, 0, 1], where="pre", color=COLOURS["black"], lw=0.9, ls=(0, (4, 2)), zorder=0)
    depths.set(xlabel="fall from the one start", ylabel="fall from random starts")
    shares.set(xlabel="fall from the one start", ylabel="share of seeds that fall", ylim=(-0.03, 1.03))
    shares.yaxis.set_major_formatter(PercentFormatter(1.0))
    depths.legend(loc="upper left", fontsize=7.5, handletextpad=0.2)
    settings = settings_of(draws)
    facts = {"laws": len(settings["counts"]), "seeds": settings["seeds"], "threshold": threshold}
    return Drawn(figure, facts, "Falls from random starts near the diagonal of those from one start, and their shares.")


def _boundary(axis: plt.Axes, inside: np.ndarray) -> None:
    """Draw the edges between cells inside and outside a set."""
    style: dict[str, Any] = {"color": COLOURS["vermilion"], "lw": 2.0, "solid_capstyle": "projecting"}
    for i, j in np.argwhere(inside[:, 1:] != inside[:, :-1]):
        axis.plot([j + 0.5] * 2, [i - 0.5, i + 0.5], **style)
    for i, j in np.argwhere(inside[1:] != inside[:-1]):
        axis.plot([j - 0.5, j + 0.5], [i + 0.5] * 2, **style)


def many_classes(laws: Table, *, threshold: Positive) -> Drawn:
    r"""More classes: how far the rank ends below its highest, and how often by {threshold:g} or more, over d / V.

    {classes} classes whose sizes are equal, or fall with their number $k$ as $1/k$ or $1/k^2$, by the largest over the
    smallest; gradient flow from Gaussian starts of scale {scale:g}, one row a class, {seeds} seeds. RankMe, centred,
    over classes (filled, solid) and over examples (open, dashed). Left: share of seeds, with 95 % Wilson intervals.
    Right: median and middle half of the fall.
    """
    figure, (shares, depths) = plt.subplots(1, 2, figsize=(WIDTH, 2.9))
    sizes = sorted(laws["counts"].unique(), key=ratio)
    classes = len(sizes[0].split("-"))
    for counts, colour in zip(sizes, ("grey", "blue", "vermilion", "green", "purple"), strict=False):
        for population, line in (("classes", "o-"), ("examples", "o--")):
            rows = laws[(laws["counts"] == counts) & (laws["population"] == population)]
            ends = rows[rows["quantity"] == "end"].set_index(["dimension", "seed"])["value"]
            fall = rows[rows["quantity"] == "peak"].set_index(["dimension", "seed"])["value"] - ends
            by_dimension = fall.groupby("dimension")
            found = [share(int((part >= threshold).sum()), len(part)) for _, part in by_dimension]
            places = np.array(sorted(fall.index.get_level_values("dimension").unique())) / classes
            middle = np.array([one.value for one in found])
            error = [middle - [one.lower for one in found], [one.upper for one in found] - middle]
            face = COLOURS[colour] if population == "classes" else "none"
            style: dict[str, Any] = {"fmt": line, "ms": 4, "lw": 1.0, "color": COLOURS[colour], "mfc": face}
            label = f"largest / smallest {ratio(counts):.0f}, over {population}"
            shares.errorbar(places, middle, yerr=error, label=label, **style)
            low, half, high = (by_dimension.quantile(q).to_numpy() for q in (0.25, 0.5, 0.75))
            depths.errorbar(places, half, yerr=[half - low, high - half], **style)
    shares.set(xlabel="$d / V$", ylabel="share of seeds", ylim=(-0.03, 1.03))
    shares.yaxis.set_major_formatter(PercentFormatter(1.0))
    depths.set(xlabel="$d / V$", ylabel="fall from the highest rank")
    shared_legend(figure, [shares], fontsize=8, handlelength=1.8)
    settings = settings_of(laws)
    facts = {
        "classes": classes, "scale": settings["scales"][0], "seeds": settings["seeds"], "threshold": threshold,
    }  # fmt: skip
    alt = "Falls of the rank against d / V for sizes of three laws: over classes at power laws, over examples nowhere."
    return Drawn(figure, facts, alt)
