"""The terms that the MSE loss decomposes into, along training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.neural_collapse.collapse.figures import recipe
from learning_dynamics.papers.neural_collapse.panels import (
    DASHED,
    PLAIN,
    band,
    mark_epochs,
    place_of,
    shared_legend,
    title_of,
    training_grid,
)
from learning_dynamics.papers.neural_collapse.trainings import SUFFIXES, Decay, at_the_drop, by_seed, first_drop
from learning_dynamics.plotting import COLOURS, WIDTH, Drawn
from learning_dynamics.tidy import Table, settings_of

TERMS = {
    "loss_nc1": (r"$\mathcal{L}_{\mathrm{NC1}}$", "blue"),
    "loss_nc23": (r"$\mathcal{L}_{\mathrm{NC2/3}}$", "green"),
    "loss_ls_perp": (r"$\mathcal{L}_{\mathrm{LS}}^{\perp}$", "purple"),
}
PARTS = {
    "split_sampling": ("sampling of batches", "blue"),
    "split_batches": ("statistics of batches", "orange"),
    "loss_ls_perp": ("motion of features", "purple"),
}


def deviation_split(trainings: Sequence[Table]) -> Drawn:
    r"""What holds a network's classifier off the least-squares one, before the learning rate drops.

    Shares of $L_{LS}$, stacked up to $L_{LS}^\perp$ of the network at the last recorded epoch at the full learning
    rate, one bar for each seed. Lowest, a sliver: the last layer trained on with a frozen body in evaluation mode,
    where only the sampling of batches is left. Then what is added by batch norm in training mode, the body still
    frozen, and by features that move. {recipe}
    """
    figure, axis = plt.subplots(figsize=(WIDTH, 2.6))
    labels, place = [], 0
    for table in trainings:
        least = at_the_drop([table], "loss_nc1") + at_the_drop([table], "loss_nc23")
        below = np.zeros(len(least))
        places = place + np.arange(len(least))
        for quantity, (label, colour) in PARTS.items():
            upto = at_the_drop([table], quantity) / least
            axis.bar(places, upto - below, bottom=below, width=0.8, color=COLOURS[colour], label=label)
            below = upto
        labels.append((float(places.mean()), title_of(place_of(table))))
        place = int(places[-1]) + 2
    axis.set_xticks([where for where, _ in labels], [name for _, name in labels])
    axis.set_ylabel(r"share of $\mathcal{L}_{\mathrm{LS}}$")
    axis.margins(x=0.02)
    shared_legend(figure)
    whole = at_the_drop(trainings, "loss_ls_perp")
    shares = {
        "sampling": float(np.median(at_the_drop(trainings, "split_sampling") / whole)),
        "batches": float(np.median(at_the_drop(trainings, "split_batches") / whole)),
    }
    alt = (
        "Stacked bars: sampling of batches makes {sampling:.1g} of the deviation, with the statistics of batches "
        "{batches:.1g}, with the motion of features all of it (medians)."
    )
    return Drawn(figure, shares | {"recipe": recipe(trainings)}, alt)


def deviation_over(rates: Table, batches: Table, plain: Table) -> Drawn:
    r"""What holds a network's classifier off the least-squares one, over learning rates, batches and normalisation.

    $L_{LS}^\perp$ of a VGG over its $L_{LS}$ at the last recorded epoch at the full learning rate (purple, top), and
    what is left of it when the last layer is trained on with a frozen body: in training mode, where batch norm depends
    on the batch (orange), and in evaluation mode (blue). Right: the network without batch norm, whose two frozen bodies
    are one. Dashed: the first order in the learning rate of what batches drawn with replacement leave. Lines: geometric
    mean over {seeds} seeds, dots: seeds. Over rates batches have {batch} images; over batches the rate is {rate:g}.
    Epoch {epoch}; weight decay {decay:g}, momentum {momentum:g}.
    """
    swept = {"learning_rate": r"learning rate $\eta$", "batch": "images in a batch $B$"}
    titles = {"with batch norm": (rates, "learning_rate"), "with batch norm ": (batches, "batch"),
              "without batch norm": (plain, "learning_rate")}  # fmt: skip
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH, 2.6), sharey=True)
    shares = {}
    for axis, (title, (table, setting)) in zip(axes, titles.items(), strict=True):
        axis.set(xscale="log", yscale="log", xlabel=swept[setting], title=title.strip())
        values = settings_of(table)[setting]
        members = [[table[table[setting] == value]] for value in values]
        least = [at_the_drop(one, "loss_nc1") + at_the_drop(one, "loss_nc23") for one in members]
        below = None
        for quantity, (label, colour) in PARTS.items():
            share = np.array([at_the_drop(one, quantity) / whole for one, whole in zip(members, least, strict=True)])
            middle = np.exp(np.log(share).mean(axis=1))
            axis.plot(values, share, ".", ms=3, color=COLOURS[colour])
            axis.plot(values, middle, color=COLOURS[colour], label=label)
            if below is not None:
                axis.fill_between(values, below, middle, color=COLOURS[colour], alpha=0.2, linewidth=0)
            below = middle
        shares[title] = middle
        law = np.array([at_the_drop(one, "split_law") / whole for one, whole in zip(members, least, strict=True)])
        axis.plot(values, np.exp(np.log(law).mean(axis=1)), color=COLOURS["black"], ls=DASHED, lw=1.0,
                  label="first order, with replacement")  # fmt: skip
        axis.set_xticks(values[::2], [f"{value:g}" for value in values[::2]])
        axis.set_xticks([], minor=True)
    axes[0].set_ylabel(r"share of $\mathcal{L}_{\mathrm{LS}}$")
    shared_legend(figure, columns=2)
    low, high = (float(shares["with batch norm"][end]) for end in (0, -1))
    alt = "Three panels: the deviation grows from {low:.2g} to {high:.2g} of the least-squares loss with the rate."
    settings = settings_of(rates)
    facts = {"low": low, "high": high, "rate": settings_of(batches)["learning_rate"]}
    epochs = rates["epoch"].to_numpy()
    facts |= {"epoch": int(epochs[epochs <= first_drop(rates)].max())}
    facts |= {"decay": settings["weight_decay"], **{name: settings[name] for name in ("seeds", "batch", "momentum")}}
    return Drawn(figure, facts, alt)


CONVENTIONS: dict[Decay, str] = {
    "trained": "The terms have the trained weight decay.",
    "notebook": "The terms have a tenth of the trained weight decay, as copies of the authors' notebook do: the "
    "least-squares classifier is then not the optimum of the loss that was trained.",
}


def fig2(trainings: Sequence[Table], *, decay: Literal["trained", "notebook"]) -> Drawn:
    r"""The terms that the MSE loss decomposes into, along training.

    The loss, weight decay included (grey), is $L_{NC1} + L_{NC2/3} + L_{LS}^\perp$ to rounding: within-class
    variability, distance of class means and least-squares classifiers from the simplex, and what the actual classifier
    loses against the least-squares one (solid). Dashed: the first and the last without the part that weight decay adds
    to them, which is squared error alone; decay keeps $L_{NC1}$ from zero. Lines: geometric mean over seeds; bands:
    their range; vertical, red: the first measured epoch without a train error, median over seeds; dotted: the learning
    rate drops tenfold. {recipe} {convention}
    """
    figure, panels = training_grid(trainings, height=2.6, sharex=True, sharey=True)
    suffix, shares = SUFFIXES[decay], []
    for table in trainings:
        axis = panels[place_of(table)]
        axis.set(xscale="log", yscale="log")
        axis.xaxis.set_major_formatter(PLAIN)
        band(axis, by_seed(table, f"loss{suffix}"), color=COLOURS["grey"], lw=2.6, alpha=0.6, label="loss")
        for term, (label, colour) in TERMS.items():
            values = by_seed(table, f"{term}{suffix}")
            band(axis, values, color=COLOURS[colour], label=label)
            if term != "loss_nc23":
                data = values - by_seed(table, f"{term}_decay{suffix}")
                band(axis, data, color=COLOURS[colour], ls=DASHED, lw=1.0, label=f"{label}, without decay")
        mark_epochs(axis, table)
        deviation, total = (by_seed(table, f"{term}{suffix}").iloc[-1] for term in ("loss_ls_perp", "loss"))
        shares.append(deviation / total)
    next(iter(panels.values())).set_ylabel("term of the MSE loss")
    shared_legend(figure)
    alt = "Three terms of the MSE loss against epochs; at the end the deviation is a share {share:.2g} of the loss."
    facts = {
        "recipe": recipe(trainings),
        "share": float(np.mean(np.concatenate(shares))),
        "convention": CONVENTIONS[decay],
    }
    return Drawn(figure, facts, alt)
