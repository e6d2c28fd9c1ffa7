"""What is drawn: figures from the metrics tables alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from learning_dynamics.papers.deep_linear import theory
from learning_dynamics.plotting import COLOURS, WIDTH, sequence
from learning_dynamics.settings import Natural

Tables = Mapping[str, pd.DataFrame]

DEPTH_COLOURS = {1: COLOURS["black"], 2: COLOURS["blue"], 3: COLOURS["vermilion"], 4: COLOURS["green"],
                 8: COLOURS["purple"]}  # fmt: skip
DASHED = (0, (4, 2))
# what the slides print, by observations and method: reconstruction error, nuclear norm, effective rank
PRINTED = {
    "5k": {"nuclear norm min": ("8e-7", "221", "5"), "depth 2": ("5e-6", "221", "5"), "depth 3": ("4e-6", "221", "5")},
    "2k": {"nuclear norm min": ("2e-1", "217", "8"), "depth 2": ("6e-2", "220", "6"), "depth 3": ("3e-5", "221", "5")},
}


# -- matrix completion ----------------------------------------------------------------------------


def completion(tables: Tables) -> Figure:
    """Matrix completion by deep linear networks: reconstruction error against initialisation scale.

    Mean square error over all entries of a 100 × 100 matrix of rank 5, completed from 2000 (top) and 5000 (bottom)
    of them by gradient descent on two, three and four layers. Dots: draws; lines: their geometric means,
    solid and dashed for the two learning rates. Dotted: the minimiser of the nuclear norm. With few entries depth
    3 and 4 recover the matrix at every scale, depth 2 only in part and better the smaller the scale, the convex
    program not at all; with many entries all of them do. Runs that did not reach the training loss are not drawn.
    """
    depths = sorted(tables["completion_2k"]["depth"].unique())
    figure, axes = plt.subplots(2, len(depths), figsize=(WIDTH, 4.4), sharex=True, sharey=True, squeeze=False)
    for row, observed in zip(axes, ("2k", "5k"), strict=True):
        table = _converged(tables[f"completion_{observed}"], "error")
        baseline = tables[f"minimiser_{observed}"]
        least = _geometric_mean(baseline[baseline["quantity"] == "error"]["value"])
        for axis, depth in zip(row, depths, strict=True):
            axis.axhline(least, color=COLOURS["grey"], ls=":")
            for line, (_, rows) in zip(
                ("-", DASHED), table[table["depth"] == depth].groupby("learning_rate", sort=True), strict=False
            ):
                _with_draws(axis, rows, "scale", DEPTH_COLOURS[int(depth)], line, logarithmic=True)
            axis.set(xscale="log", yscale="log", title=f"{_entries(observed)} entries, depth {depth}")
        row[0].set_ylabel("reconstruction error")
    for axis in axes[-1]:
        axis.set_xlabel("initialisation scale $s$")
    handles = [
        Line2D([], [], color=COLOURS["black"], label="smaller learning rate"),
        Line2D([], [], color=COLOURS["black"], ls=DASHED, label="larger one"),
        Line2D([], [], color=COLOURS["grey"], ls=":", label="nuclear norm minimisation"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def norms(tables: Tables) -> Figure:
    """What the completed matrices have least of: reconstruction error, nuclear norm and effective rank against scale.

    Depths 2, 3 and 4 (means over draws, bars one standard deviation), from 2000 entries (top) and 5000 (bottom),
    at the smaller learning rate. Nuclear norms are less that of the matrix to be completed, which differs from
    draw to draw. Dotted: the minimiser of the nuclear norm; dashed: the matrix to be completed.
    With 2000 entries the networks' nuclear norm lies above the least one and their effective rank far below
    the minimiser's.
    """
    quantities = {
        "error": "reconstruction error",
        "nuclear_norm": "nuclear norm − truth's",
        "effective_rank": "effective rank",
    }
    figure, axes = plt.subplots(2, 3, figsize=(WIDTH, 4.6), sharex=True)
    for row, observed in zip(axes, ("2k", "5k"), strict=True):
        table, baseline = tables[f"completion_{observed}"], tables[f"minimiser_{observed}"]
        for axis, (quantity, label) in zip(row, quantities.items(), strict=True):
            rows = _against_truth(_converged(table, quantity), table)
            for depth, by_depth in rows.groupby("depth"):
                first = by_depth[by_depth["learning_rate"] == by_depth["learning_rate"].min()]
                spread = first.groupby("scale")["value"]
                mean = spread.agg(_geometric_mean) if quantity == "error" else spread.mean()
                bars = None if quantity == "error" else spread.std()
                axis.errorbar(
                    mean.index,
                    mean,
                    bars,
                    color=DEPTH_COLOURS[int(depth)],
                    marker="o",
                    ms=3,
                    capsize=2,
                    elinewidth=0.8,
                )
            known = _against_truth(baseline[baseline["quantity"] == quantity], baseline)["value"]
            axis.axhline(_geometric_mean(known) if quantity == "error" else known.mean(), color=COLOURS["grey"], ls=":")
            true = baseline[baseline["quantity"] == f"true_{quantity}"]
            if len(true):
                level = 0.0 if quantity == "nuclear_norm" else true["value"].mean()
                axis.axhline(level, color=COLOURS["black"], ls=DASHED, lw=1)
            axis.set(xscale="log", yscale="log" if quantity == "error" else "linear", ylabel=label)
        row[1].set_title(f"{_entries(observed)} observed entries")
    for axis in axes[-1]:
        axis.set_xlabel("initialisation scale $s$")
    depths = sorted(tables["completion_2k"]["depth"].unique())
    handles = [Line2D([], [], color=DEPTH_COLOURS[int(d)], marker="o", ms=3, label=f"depth {d}") for d in depths]
    handles.append(Line2D([], [], color=COLOURS["grey"], ls=":", label="nuclear norm minimisation"))
    handles.append(Line2D([], [], color=COLOURS["black"], ls=DASHED, lw=1, label="ground truth"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def completion_table(tables: Tables) -> Figure:
    """The slides' tables beside ours: reconstruction error, nuclear norm and effective rank of each method.

    Ours are means over draws, of logarithms for the error, with one standard deviation (for the error, the factor
    that it is); networks at the smallest scale and learning rate of the grid. The slides show one draw and do not
    print their initialisation scale. Errors are mean squares over all entries; the slides' 2e-1 and 6e-2 fit the root
    of ours, 0.18 and 0.07. The last column is the gap within which the convex program's optimum is
    proved to lie.
    """
    header = ["entries", "method", "error, slides", "error, ours", "norm, slides", "norm, ours", "rank, slides",
              "rank, ours", "proved gap"]  # fmt: skip
    lines = []
    for observed in ("5k", "2k"):
        for method, printed in PRINTED[observed].items():
            lines.append([_entries(observed), method, *_cells(tables, observed, method, printed)])
    figure, axis = plt.subplots(figsize=(WIDTH, 2.3))
    axis.axis("off")
    drawn = axis.table(cellText=lines, colLabels=header, loc="center", cellLoc="center", edges="horizontal",
                       colWidths=[0.075, 0.15, 0.11, 0.145, 0.1, 0.13, 0.1, 0.11, 0.1])  # fmt: skip
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(7.2)
    drawn.scale(1, 1.45)
    for (row, _), cell in drawn.get_celld().items():
        cell.set_linewidth(0.5)
        if row == 0:
            cell.set_text_props(fontweight="bold")
    return figure


def _cells(tables: Tables, observed: str, method: str, printed: Sequence[str]) -> list[str]:
    if method.startswith("depth"):
        table = tables[f"completion_{observed}"]
        rows = table[(table["depth"] == int(method[-1])) & table["converged"]]
        rows = rows[rows["scale"] == rows["scale"].min()]
        rows = rows[rows["learning_rate"] == rows["learning_rate"].min()]
        gap = ""
    else:
        rows = tables[f"minimiser_{observed}"]
        gap = _power(rows[rows["quantity"] == "gap"]["value"].max())
    by = {name: rows[rows["quantity"] == name]["value"] for name in ("error", "nuclear_norm", "effective_rank")}
    factor = 10 ** np.log10(by["error"]).std()
    ours = [
        f"{_power(_geometric_mean(by['error']))} ×÷ {factor:.1f}",
        f"{by['nuclear_norm'].mean():.1f} ± {by['nuclear_norm'].std():.1f}",
        f"{by['effective_rank'].mean():.1f} ± {by['effective_rank'].std():.1f}",
    ]
    return [text for pair in zip(printed, ours, strict=True) for text in pair] + [gap]


def singular_values(tables: Tables, *, draw: Natural) -> Figure:
    """Singular values of the end-to-end matrix along gradient descent, at depths 1, 2 and 3.

    Top: the ten largest, dark to light, from scaled identity layers, on a matrix of rank 5 of which 2000 entries are
    observed. Time is learning rate times iterations. At depth 1 all ten rise together; with depth five of them rise
    one after another and the rest stay small. Bottom: mean absolute entries of UᵀGV, for the gradient G in the
    basis of W's singular vectors, on the diagonal (which moves singular values) and off it (which turns singular
    vectors).
    """
    table = tables["paths"]
    table = table[table["draw"] == draw]
    depths = sorted(table["depth"].unique())
    figure, axes = plt.subplots(2, len(depths), figsize=(WIDTH, 4.4), sharex="col", squeeze=False)
    top = int(table["index"].max())
    for column, depth in zip(axes.T, depths, strict=True):
        rows = table[table["depth"] == depth]
        for index, colour in reversed(list(enumerate(sequence(top), start=1))):
            line = rows[(rows["quantity"] == "sigma") & (rows["index"] == index)]
            column[0].plot(line["time"], line["value"], color=colour, lw=1.2)
        for quantity, name in (("diagonal", "blue"), ("off_diagonal", "orange")):
            line = rows[rows["quantity"] == quantity]
            column[1].plot(line["time"], line["value"], color=COLOURS[name], label=quantity.replace("_", "-"))
        column[0].set(title=f"depth {depth}", ylim=(0, None))
        column[1].set(xlabel="learning rate × iterations", yscale="log")
        column[1].set_xlim(0, rows["time"].max())
    axes[0, 0].set_ylabel("singular values")
    axes[1, 0].set_ylabel(r"mean entry of $|U^\top \nabla\ell\, V|$")
    axes[1, 0].legend()
    for row in axes:
        for axis in row[1:]:
            axis.sharey(row[0]) if row is axes[0] else None
    return figure


def one_entry(tables: Tables) -> Figure:
    """One measurement of a 2 × 2 matrix: the smaller singular value against the larger, by depth.

    Left: an aligned measurement A = diag(1, ½), from a multiple of the identity; dots: gradient flow of the layers;
    lines: the closed forms, linear at depth 1, a power at depth 2, below an asymptote (dotted) from depth 3 on.
    Right: one observed entry, from random balanced layers, one line for each of several draws: the smaller singular
    value levels off at every depth alike, which the closed forms do not describe. Colours as on the left.
    """
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 2.9))
    aligned, entry = tables["one_measurement"], tables["one_entry"]
    settings = aligned.attrs["settings"]
    for depth, rows in aligned[aligned["quantity"] == "sigma"].groupby("depth"):
        wide = rows.pivot_table(index="time", columns="index", values="value")
        colour = DEPTH_COLOURS[int(depth)]
        larger = np.geomspace(settings["start"], wide[1].max(), 200)
        predicted = theory.smaller_singular_value(larger, settings["start"], settings["ratio"], int(depth))
        left.plot(larger, predicted, color=colour, label=f"depth {depth}")
        places = np.geomspace(settings["start"], wide[1].max(), 12)
        dots = wide.iloc[np.unique(np.searchsorted(wide[1].to_numpy(), places).clip(max=len(wide) - 1))]
        left.plot(dots[1], dots[2], "o", color=colour, ms=3.5)
        if depth >= 3:
            limit = theory.limiting_singular_value(settings["start"], settings["ratio"], int(depth))
            left.axhline(limit, color=colour, ls=":", lw=1)
    for (depth, _), rows in entry[entry["quantity"] == "sigma"].groupby(["depth", "seed"]):
        wide = rows.pivot_table(index="time", columns="index", values="value")
        right.plot(wide[1], wide[2], color=DEPTH_COLOURS[int(depth)], lw=1.2, alpha=0.8)
    left.set(xscale="log", yscale="log", title="aligned measurement")
    right.set(xscale="log", title="one observed entry", ylim=(0, None))
    for axis in (left, right):
        axis.set(xlabel=r"larger singular value $\sigma_1$", ylabel=r"smaller singular value $\sigma_2$")
    left.legend()
    return figure


# -- optimisation ---------------------------------------------------------------------------------


def acceleration(tables: Tables) -> Figure:
    """Depth and the speed of gradient descent on a regression, for the ℓ4 and the ℓ2 loss.

    Left: relative excess over the least loss against iterations, each at its best learning rate; solid: descent on
    the layers; dashed: the end-to-end update rule; one start of several. Right: iterations to the tolerance against
    the learning rate, for descent on the layers, median over starts; circles mark the chosen rate. With the ℓ4 loss
    two and three layers need about half the iterations of one; with ℓ2 they need no fewer.
    """
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 5.0), sharex="col")
    for (curves, rates), table in zip(axes, tables.values(), strict=True):
        settings = table.attrs["settings"]
        excess = table[(table["quantity"] == "excess") & (table["seed"] == 0)]
        for (depth, rule), rows in excess.groupby(["depth", "rule"]):
            # up to where it is reached; the run stops there
            shown = rows[(rows["value"] > settings["tolerance"]) & (rows["value"] > 0)]
            curves.plot(
                shown["iteration"],
                shown["value"],
                color=DEPTH_COLOURS[int(depth)],
                ls="-" if rule == "network" else DASHED,
                lw=1.3,
            )
        curves.axhline(settings["tolerance"], color=COLOURS["grey"], ls=":")
        tried = table[(table["quantity"] == "iterations") & (table["rule"] == "network")]
        for depth, rows in tried.groupby("depth"):
            # a start that never gets there counts as infinitely long
            mean = rows.fillna({"value": np.inf}).groupby("learning_rate")["value"].median()
            mean = mean[np.isfinite(mean)]
            rates.plot(mean.index, mean, ".-", color=DEPTH_COLOURS[int(depth)], ms=4, lw=1.1)
            rates.plot(mean.idxmin(), mean.min(), "o", color=DEPTH_COLOURS[int(depth)], mfc="none", ms=8)
        name = rf"$\ell_{{{settings['exponent']:g}}}$ loss"
        curves.set(yscale="log", ylabel=f"{name}: relative excess")
        rates.set(xscale="log", yscale="log", ylabel="iterations to the tolerance")
        rates.yaxis.set_minor_formatter(NullFormatter())
        rates.xaxis.set_minor_formatter(NullFormatter())
        rates.set_yticks([1000, 2000], ["1000", "2000"])
    axes[1, 0].set_xlabel("iterations")
    axes[1, 1].set_xlabel("learning rate")
    axes[1, 1].set_xticks([0.05, 0.1, 0.2], ["0.05", "0.1", "0.2"])
    depths = sorted(next(iter(tables.values()))["depth"].unique())
    handles = [Line2D([], [], color=DEPTH_COLOURS[int(depth)], label=f"depth {depth}") for depth in depths]
    handles.append(Line2D([], [], color=COLOURS["black"], ls=DASHED, label="end-to-end update"))
    handles.append(Line2D([], [], color=COLOURS["grey"], ls=":", label="tolerance"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def convergence(tables: Tables) -> Figure:
    """Where gradient descent converges: initialisations, and the assumptions of the guarantee.

    Left and middle: iterations to within 10⁻⁵ of the optimum against the standard deviation of the initialisation, at
    the best learning rate; of the layers' entries for independent Gaussian layers, of the end-to-end matrix's for
    balanced ones. Lines: medians; dots: draws; crosses at the top: draws that never got there. Right: loss over
    its start with both assumptions of the guarantee; balanced, but too far from the target, with a singular matrix
    in between; and unbalanced (cut off at 10³, where it has diverged). Dashed: the guaranteed bound.
    """
    ranges, guarantee = tables["initialisations"], tables["guarantee"]
    depths = sorted(ranges["depth"].unique())
    figure, axes = plt.subplots(1, len(depths) + 1, figsize=(WIDTH, 2.9))
    steps = ranges[ranges["quantity"] == "steps"]
    ceiling = 3 * steps["value"].max()
    colours = {"layer_wise": COLOURS["orange"], "balanced": COLOURS["blue"]}
    for axis, depth in zip(axes, depths, strict=False):
        for init, rows in steps[steps["depth"] == depth].groupby("init"):
            filled = rows.assign(value=rows["value"].fillna(np.inf))
            median = filled.groupby("deviation")["value"].median()
            axis.plot(median.index, median.where(np.isfinite(median)), color=colours[init],
                      label=init.replace("_", "-"))  # fmt: skip
            axis.plot(rows["deviation"], rows["value"], ".", color=colours[init], ms=4, alpha=0.6)
            lost = rows[rows["value"].isna()]
            shift = 1.15 if init == "balanced" else 1.0
            axis.plot(lost["deviation"], np.full(len(lost), ceiling * shift), "x", color=colours[init], ms=4)
        axis.set(xscale="log", yscale="log", title=f"depth {depth}", xlabel="standard deviation")
    for axis in axes[1:-1]:
        axis.sharey(axes[0])
    axes[0].set_ylabel("iterations")
    axes[0].legend(handlelength=1.2)
    _guarantee_panel(axes[-1], guarantee)
    return figure


def _guarantee_panel(axis: Axes, table: pd.DataFrame) -> None:
    loss = table[(table["quantity"] == "loss") & (table["value"] > 1e-20)]
    shown = {
        "assumptions hold": ("both", "blue"),
        "beyond a singular matrix": ("too far", "vermilion"),
        "unbalanced": ("unbalanced", "orange"),
    }
    for case, (label, colour) in shown.items():
        for number, (_, line) in enumerate(loss[loss["case"] == case].groupby("seed")):
            axis.plot(line["time"], line["value"].clip(upper=1e3), color=COLOURS[colour], lw=1.0,
                      label=None if number else label)  # fmt: skip
    bound = table[table["predicted"].notna()].groupby("time")["predicted"].first()
    axis.plot(bound.index, bound, color=COLOURS["black"], ls=DASHED, lw=1.0, label="guarantee")
    axis.set(yscale="log", ylim=(1e-12, 1e7), title="assumptions", xlabel="step × iterations", ylabel="loss / start")
    axis.legend(fontsize=7, loc="lower right", handlelength=1.2)


# -- trajectories ---------------------------------------------------------------------------------


def preconditioner(tables: Tables, *, member: Natural) -> Figure:
    """The end-to-end matrix moves by an equation of its own, and balance is what makes it so.

    Left: singular values of the product of three layers under gradient flow (lines) and of the end-to-end dynamics
    (dots), from balanced layers. Middle: how far the two are apart, from balanced layers and from Gaussian ones.
    Right: how far gradient descent with step η has left balance at a fixed time, draws in grey, with a line of
    slope one.
    """
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(WIDTH, 2.7))
    table = tables["balanced_flow"]
    rows = table[(table["depth"] == 3) & (table["seed"] == member)]
    count = int(rows[rows["quantity"] == "sigma"]["index"].max())
    for index, colour in enumerate(sequence(count), start=1):
        for quantity, marker in (("sigma", "-"), ("direct", ".")):
            line = rows[(rows["quantity"] == quantity)]
            line = line[line["index"] == (index if quantity == "sigma" else index - 1)]
            line = line if quantity == "sigma" else line.iloc[::4]
            left.plot(line["time"], line["value"], marker, color=colour, ms=5)
    left.set(xlabel="gradient-flow time $t$", ylabel="singular values", title="depth 3, balanced")
    for run, style in (("balanced_flow", "-"), ("unbalanced_flow", DASHED)):
        apart = tables[run][tables[run]["quantity"] == "difference"]
        for depth, by_depth in apart.groupby("depth"):
            worst = by_depth.groupby("time")["value"].max()
            worst = worst[worst > 0]
            middle.plot(worst.index, worst, color=DEPTH_COLOURS[int(depth)], ls=style, lw=1.2,
                        label=f"depth {depth}" if style == "-" else None)  # fmt: skip
    middle.plot([], [], color=COLOURS["black"], ls=DASHED, lw=1.2, label="unbalanced")
    middle.set(
        yscale="log", xlabel="gradient-flow time $t$", ylabel=r"$\|W_{N:1} - W\|_F$", title="layers and equation"
    )
    middle.legend(fontsize=7, handlelength=1.4, loc="center left", bbox_to_anchor=(0.0, 0.68))
    drift = tables["balancedness_descent"]
    for _, line in drift.groupby("seed"):
        right.plot(line["learning_rate"], line["value"], ".-", color=COLOURS["grey"], lw=0.8)
    mean = drift.groupby("learning_rate")["value"].mean()
    right.plot(
        mean.index, mean.iloc[0] * mean.index / mean.index[0], color=COLOURS["black"], ls=DASHED, label="slope 1"
    )
    right.set(xscale="log", yscale="log", xlabel=r"step $\eta$", ylabel="drift from balance", title="gradient descent")
    right.xaxis.set_minor_formatter(NullFormatter())
    right.legend()
    return figure


def line_integral(tables: Tables) -> Figure:
    """Integrals of the preconditioned gradient along a closed curve: no function has it as its gradient.

    Around an annular sector, by depth, for a square loss; each over the integral of the absolute value. Crosses: the
    closed form for one output and whitened inputs. At depth 1 the field is the gradient itself. At depth 2 with one
    output and whitened inputs the integral vanishes too; from depth 3 on it never does.
    """
    (table,) = tables.values()
    wide = table.pivot_table(index=["case", "depth"], columns="quantity", values="value")
    wide["share"] = wide["integral"] / wide["scale"]
    share = wide["share"].reset_index().pivot_table(index="depth", columns="case", values="share")
    figure, axis = plt.subplots(figsize=(0.62 * WIDTH, 2.9))
    shift = np.linspace(-0.2, 0.2, share.shape[1])
    colours = [COLOURS["orange"], COLOURS["blue"], COLOURS["green"]]
    for offset, colour, case in zip(shift, colours, share.columns, strict=False):
        axis.bar(share.index + offset, share[case], width=0.18, color=colour, label=case)
        exact = table[(table["case"] == case) & table["predicted"].notna()].set_index("depth")["predicted"]
        if len(exact):
            scale = wide.loc[case, "scale"].loc[exact.index]
            axis.plot(exact.index + offset, exact / scale, "x", color=COLOURS["black"], ms=5, label="closed form")
    axis.axhline(0, color=COLOURS["black"], lw=0.8)
    axis.set(xlabel="depth $N$", ylabel="closed-curve integral, relative", xticks=share.index)
    axis.legend(fontsize=7.5)
    return figure


# -- pieces ---------------------------------------------------------------------------------------


def _converged(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    return table[(table["quantity"] == quantity) & table["converged"]]


def _against_truth(rows: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return nuclear norms less the true one of their draw; other quantities as they are."""
    if rows["quantity"].iloc[0] != "nuclear_norm":
        return rows
    true = table[table["quantity"] == "true_nuclear_norm"].groupby("draw")["value"].first()
    return rows.assign(value=rows["value"] - rows["draw"].map(true))


def _geometric_mean(values: pd.Series) -> float:
    return float(np.exp(np.log(values).mean()))


def _with_draws(axis: Axes, rows: pd.DataFrame, by: str, colour: str, style: object, *, logarithmic: bool) -> None:
    mean = rows.groupby(by)["value"].agg(_geometric_mean if logarithmic else "mean")
    axis.plot(mean.index, mean, color=colour, ls=style)
    axis.plot(rows[by], rows["value"], ".", color=colour, ms=4, alpha=0.5, mew=0)


def _power(value: float) -> str:
    """Return one digit and the exponent, as the slides print errors."""
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _entries(observed: str) -> str:
    return {"2k": "2000", "5k": "5000"}[observed]
