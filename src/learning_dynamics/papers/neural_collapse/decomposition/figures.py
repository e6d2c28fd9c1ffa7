"""The terms that the MSE loss decomposes into, along training."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from learning_dynamics.papers.neural_collapse.collapse.figures import recipe
from learning_dynamics.papers.neural_collapse.panels import (
    DASHED,
    PLAIN,
    band,
    describe_panels,
    mark_epochs,
    title_of,
    training_grid,
)
from learning_dynamics.papers.neural_collapse.training.quantities import (
    LOSS,
    LOSS_LS_PERP,
    LOSS_NC1,
    LOSS_NC23,
    SPLIT_BATCHES,
    SPLIT_LAW,
    SPLIT_SAMPLING,
    Decay,
)
from learning_dynamics.papers.neural_collapse.trainings import (
    EFFECTIVELY_ZERO,
    after_errors_end,
    at_the_drop,
    data_and_network,
    deviation_share,
    last_epoch_at_full_rate,
    loss_term,
)
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, letters, shared_legend
from learning_dynamics.tidy import Quantity, Table, settings_of

# by term of the loss: label and colour; captions call purple pink
TERMS = {
    LOSS_NC1: (r"$\mathcal{L}_{\mathrm{NC1}}$", "blue"),
    LOSS_NC23: (r"$\mathcal{L}_{\mathrm{NC2/3}}$", "green"),
    LOSS_LS_PERP: (r"$\mathcal{L}_{\mathrm{LS}}^{\perp}$", "purple"),
}
# By measured L_LS^perp: label and colour of a cause. Each measurement has the causes of the one before and the cause
# named here: the part of a bar is the difference of two measurements
PARTS = {
    SPLIT_SAMPLING: ("sampling of batches, as the last layer alone sees it", "blue"),
    SPLIT_BATCHES: ("statistics of batches", "orange"),
    LOSS_LS_PERP: ("features that move", "purple"),
}


def deviation_split(trainings: Sequence[Table]) -> Plot:
    r"""What keeps a network's classifier off the least-squares one, before the learning rate drops.

    A bar for each seed has the height of $\mathcal{L}_{\mathrm{LS}}^\perp$ over $\mathcal{L}_{\mathrm{LS}}$ (see
    `fig2`) at the last recorded epoch at the full learning rate. This share can exceed one.

    Each bar stacks three measurements. The blue part, at the bottom, is of the last layer trained alone; it makes
    {sampling:.1g} of a bar (median), and may be too thin to be seen. The last layer starts at the least-squares
    classifier, on a body (the layers before) frozen in evaluation mode, so that only the sampling of batches is left.
    The orange part is added when batch norm is in training mode, the body still frozen. The pink part is added when
    features move; the sampling of batches moves them, too. Black lines, right of the bars, show the range of the
    network's share from the end of train errors to that epoch; a seed that still makes errors has none. Trainings are
    those of `fig2`.
    """
    figure, axis = plt.subplots(figsize=(WIDTH, 2.6))
    # labels below the bars, by their position
    seeds: dict[float, str] = {}
    networks: dict[float, str] = {}
    offset = 0  # position of a network's first bar
    for table in trainings:
        positions = offset + np.arange(table["seed"].nunique())
        bottom = np.zeros(len(positions))  # shape (seeds,), as `top`
        for quantity, (label, colour) in PARTS.items():
            top = _share(table, quantity)
            axis.bar(positions, top - bottom, bottom=bottom, width=0.8, color=COLOURS[colour], label=label)
            bottom = top
        shares_before_drop = after_errors_end(
            deviation_share(table), table, EFFECTIVELY_ZERO, until=last_epoch_at_full_rate(table)
        )
        has_values = shares_before_drop.notna().any().to_numpy()  # not of seeds that still make train errors
        axis.vlines(
            positions[has_values] + 0.48,
            shares_before_drop.min()[has_values],
            shares_before_drop.max()[has_values],
            color=COLOURS["black"],
            lw=1.4,
            label="range over earlier epochs",
        )
        seeds |= {position: str(seed) for seed, position in enumerate(positions)}
        networks[positions.mean()] = title_of(data_and_network(table))
        offset = int(positions[-1]) + 2  # a gap of one bar between networks
    axis.set_xticks(list(seeds), list(seeds.values()), fontsize=8)
    axis.set_xlabel("seed", fontsize=8, ha="right", va="center")
    axis.xaxis.set_label_coords(-0.005, -0.085)  # beside the ticks' labels, in units of the axes
    below = axis.secondary_xaxis(-0.1)
    below.set_xticks(list(networks), list(networks.values()), fontsize=8)
    below.tick_params(length=0)
    below.spines["bottom"].set_visible(False)
    axis.set_ylabel(r"share of $\mathcal{L}_{\mathrm{LS}}$")
    axis.margins(x=0.02)
    shared_legend(figure, ncols=2)
    network_deviation = at_the_drop(trainings, LOSS_LS_PERP)
    shares = {
        "sampling": np.median(at_the_drop(trainings, SPLIT_SAMPLING) / network_deviation),
        "batches": np.median(at_the_drop(trainings, SPLIT_BATCHES) / network_deviation),
    }
    alt = (
        "Stacked bars: the sampling of batches, seen by the last layer alone, makes {sampling:.1g} of the deviation; "
        "with batch norm's batch statistics it makes {batches:.1g}; with features that move all of it (medians)."
    )
    return Plot(figure, shares, alt)


# What `deviation_over` draws, by quantity: label and colour. CONTINUED is of the network that is trained on, FROZEN of
# the last layer that is trained alone, LAW the prediction for the latter to first order in the learning rate
CONTINUED = {
    "continued_batches": ("network, batches", "purple"),
    "continued_whole": ("network, whole batches", "green"),
}
FROZEN = {
    SPLIT_BATCHES: ("last layer, batches and their statistics", "orange"),
    SPLIT_SAMPLING: ("last layer, sampling of batches", "blue"),
}
LAW = {SPLIT_LAW: ("last layer, first order, with replacement", "black")}


def deviation_over(rates: Table, batches: Table, plain: Table, plain_batches: Table) -> Plot:
    r"""What keeps a classifier off the least-squares one, over learning rates, batches and normalisation.

    Lines show $\mathcal{L}_{\mathrm{LS}}^\perp$, what a VGG's classifier loses against the least-squares one, over the
    latter's loss $\mathcal{L}_{\mathrm{LS}}$. Training goes on from epoch {epoch} at the full learning rate. (a), (c)
    The learning rate $\eta$ varies, with batches of {batch} images. (b), (d) The batch size $B$ varies, at the rate
    {rate:g}. (a), (b) The network has batch norm. (c), (d) It has none.

    For the pink line the network is trained on for {steps} steps, with batches as before; for the green line, with all
    images in each batch. Both are means over states of the second half of that time. Green varies with $B$ because the
    network was trained in such batches before. For orange and blue the last layer is trained on alone, its body frozen:
    for orange in training mode, where batch norm depends on the batch; for blue in evaluation mode, where only the
    sampling of batches is left. Without batch norm blue covers orange. The dashed line is the last layer's deviation to
    first order in $\eta$, if batches are drawn with replacement. Lines are geometric means over {seeds} seeds, and dots
    are seeds. Weight decay is {decay:g} and momentum is {momentum:g}.
    """
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 4.6), sharex="col", sharey=True)
    _deviation_panel(axes[0, 0], _by_learning_rate(rates))
    means_normalised = _deviation_panel(axes[0, 1], _by_batch(batches, rates))
    _deviation_panel(axes[1, 0], _by_learning_rate(plain))
    means_plain = _deviation_panel(axes[1, 1], _by_batch(plain_batches, plain))
    for row, title in zip(axes, ("with batch norm", "without batch norm"), strict=True):
        for axis in row:
            axis.set_title(title)
        row[0].set_ylabel(r"share of $\mathcal{L}_{\mathrm{LS}}$")
    axes[1, 0].set_xlabel(r"learning rate $\eta$")
    axes[1, 1].set_xlabel("images in a batch $B$")
    letters(axes.flat)
    shared_legend(figure, ncols=2)
    settings = settings_of(rates)
    epochs = rates["epoch"].to_numpy()
    facts = {
        "epoch": epochs[epochs <= last_epoch_at_full_rate(rates)].max(),
        "rate": settings_of(batches)["learning_rate"],
        "steps": settings["continued_steps"],
        "decay": settings["weight_decay"],
        **{name: settings[name] for name in ("seeds", "batch", "momentum")},
    }
    # the share of the deviation that whole batches leave, the median over batches
    remaining = {
        "normalised": np.median(means_normalised["continued_whole"] / means_normalised["continued_batches"]),
        "plain": np.median(means_plain["continued_whole"] / means_plain["continued_batches"]),
    }
    alt = (
        "Four panels: whole batches leave {normalised:.1g} of the deviation of a network with batch norm, {plain:.1g} "
        "of one without (medians over batches)."
    )
    return Plot(figure, facts | remaining, alt)


def _deviation_panel(axis: Axes, tables: Mapping[float, Table]) -> dict[str, np.ndarray]:
    """Draw deviations over the values of a swept setting; `tables` are by these values.

    Return their geometric means over seeds by quantity, shape (values,).
    """
    values = sorted(tables)
    axis.set(xscale="log", yscale="log")
    means = {}
    for quantity, (label, colour) in (CONTINUED | FROZEN | LAW).items():
        shares = np.array([_share(tables[value], quantity) for value in values])  # shape (values, seeds)
        means[quantity] = np.exp(np.log(shares).mean(axis=1))
        if quantity in LAW:
            axis.plot(values, means[quantity], color=COLOURS[colour], label=label, ls=DASHED, lw=1.0)
        else:
            axis.plot(values, shares, ".", ms=3, color=COLOURS[colour])
            axis.plot(values, means[quantity], color=COLOURS[colour], label=label)
    axis.set_xticks(values, [f"{value:g}" for value in values])
    axis.set_xticks([], minor=True)
    return means


def _by_learning_rate(rates: Table) -> dict[float, Table]:
    """Return the tables of a sweep of learning rates, by the rate."""
    return _by_swept_value(rates, "learning_rate")


def _by_batch(batches: Table, rates: Table) -> dict[float, Table]:
    """Return the tables of a sweep of batches, by the batch, with the one of the same rate in a sweep of rates."""
    shared_batch, shared_rate = settings_of(rates)["batch"], settings_of(batches)["learning_rate"]
    return _by_swept_value(batches, "batch") | {shared_batch: _by_learning_rate(rates)[shared_rate]}


def _by_swept_value(table: Table, setting: str) -> dict[float, Table]:
    """Return the tables of a sweep by the value of what is swept."""
    return {value: table[table[setting] == value] for value in table[setting].unique()}


def _share(table: Table, quantity: Quantity) -> np.ndarray:
    """Return L_LS^perp by a quantity over L_LS at the last recorded epoch at the full rate, shape (seeds,)."""
    values = at_the_drop([table], quantity)
    if quantity in CONTINUED:  # they are shares already, of the L_LS that the network has while it is trained on
        return values
    return values / (at_the_drop([table], LOSS_NC1) + at_the_drop([table], LOSS_NC23))


CONVENTIONS: dict[Decay, str] = {
    "trained": "The terms have the trained weight decay.",
    "notebook": "The terms have a tenth of the trained weight decay, as copies of the authors' notebook do. The "
    "least-squares classifier is then not the optimum of the loss that was trained.",
}


def fig2(trainings: Sequence[Table], *, decay: Decay) -> Plot:
    r"""The terms that the MSE loss decomposes into, along training.

    The loss, weight decay included (thick grey), is the sum of three terms (solid), to rounding. Blue is
    $\mathcal{L}_{\mathrm{NC1}}$, the term of within-class variability. Green is $\mathcal{L}_{\mathrm{NC2/3}}$, what
    the least-squares classifier would lose if all features were at their class means; the paper takes it for the
    distance from the simplex. Pink is $\mathcal{L}_{\mathrm{LS}}^\perp$, what the network's classifier loses against
    the least-squares one, whose loss $\mathcal{L}_{\mathrm{LS}}$ is blue plus green. Dashed lines leave out what weight
    decay adds to blue and pink; it keeps $\mathcal{L}_{\mathrm{NC1}}$ from zero. Lines are geometric means and bands
    are ranges over seeds. Train errors end at the broad orange line (99.9 % train accuracy, median over seeds). The
    learning rate drops tenfold at the dotted lines. In the paper's Figure 2 $\mathcal{L}_{\mathrm{LS}}^\perp$ becomes
    negligible from an early epoch on, and $\mathcal{L}_{\mathrm{NC2/3}}$ falls fastest. Here
    $\mathcal{L}_{\mathrm{LS}}^\perp$ ends at {share:.1g} of the loss (mean over trainings). {panels} {recipe}
    {convention}
    """
    figure, panels = training_grid(trainings, height=2.6)
    shares = []
    for table in trainings:
        axis = panels[data_and_network(table)]
        axis.set(xscale="log", yscale="log")
        axis.xaxis.set_major_formatter(PLAIN)
        band(axis, loss_term(table, LOSS, decay), color=COLOURS["grey"], lw=2.6, alpha=0.6, label="loss")
        for term, (label, colour) in TERMS.items():
            values = loss_term(table, term, decay)
            band(axis, values, color=COLOURS[colour], label=label)
            if term != LOSS_NC23:
                errors_alone = loss_term(table, term, decay, without_decay=True)
                band(axis, errors_alone, color=COLOURS[colour], ls=DASHED, lw=1.0, label=f"{label}, without decay")
        mark_epochs(axis, table)
        # at the last epoch, by seed
        deviation, total = (loss_term(table, term, decay).iloc[-1] for term in (LOSS_LS_PERP, LOSS))
        shares.append(deviation / total)
    next(iter(panels.values())).set_ylabel("term of the MSE loss")
    shared_legend(figure, ncols=4)
    alt = "Three terms of the MSE loss against epochs; at the end the deviation is a share {share:.1g} of the loss."
    facts = {
        "recipe": recipe(trainings),
        "panels": describe_panels(trainings),
        "share": np.mean(np.concatenate(shares)),
        "convention": CONVENTIONS[decay],
    }
    return Plot(figure, facts, alt)
