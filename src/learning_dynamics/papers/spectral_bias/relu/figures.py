"""The ReLU student: its singular values and ranks, the teacher's directions, and the plateaus of its loss."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from learning_dynamics.evidence import share
from learning_dynamics.papers.spectral_bias.panels import index_handles, level, power, singular_values
from learning_dynamics.papers.spectral_bias.quantities import LOSS, SIGMA_W1
from learning_dynamics.papers.spectral_bias.relu import quantities
from learning_dynamics.papers.spectral_bias.relu.saddles import (
    first_saddle_losses,
    first_saddle_ranks,
    fitted_draws,
    last_ranks,
    plateaus,
    typical_draw,
)
from learning_dynamics.plotting import COLOURS, WIDTH, Plot, legend_below, letters
from learning_dynamics.settings import Count, Fraction
from learning_dynamics.tidy import Draws, Table, select, settings_of


def fig2(small: Table, large: Table, *, percent: Count, loss: Fraction) -> Plot:
    r"""The hidden layer's singular values in a ReLU student, from small and from large weights.

    A teacher of two ReLU neurons labels ten samples in five dimensions. (a), (b) Both panels show one draw: the first
    that from small weights ends at rank 2 and passes a plateau of rank 1. (a) From small weights singular values grow
    one after another, and those after the second stay far below the first. (b) From large weights all of them stay
    large. (a) and (b) agree with what the paper says of its Figure 2. (c) Bars show ranks at the end, over all draws:
    how many singular values carry {percent} % of $|W|^2$. (d) Boxes show cosines of the two principal angles between
    the span of the first two singular vectors of $W$ and that of the teacher's neurons. Colours are those of (c), and
    grey is for random spans. Boxes hold half of the draws, whiskers nine in ten. From small weights most draws learn
    one of the two directions; from large ones cosines are close to those of random spans.
    """
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH, 4.8))
    member = typical_draw(small, percent, loss)
    for axis, table, weights in zip(axes[0], (small, large), ("small", "large"), strict=True):
        singular_values(axis, table, member)
        settings = settings_of(table)
        title = rf"{weights} weights, initial scale ${power(settings['scale'])}$"
        axis.set(xscale="log", xlim=(settings["first_time"], table["time"].max()), ylim=(0, None), title=title)
        axis.set(xlabel="time $t$", ylabel=r"singular values $\sigma_i(W)$")
    rank_axis, cosine_axis = axes[1]
    _draw_last_ranks(rank_axis, small, large, percent)
    _draw_cosines(cosine_axis, small, large)
    inputs = int(select(small, SIGMA_W1)["index"].max())
    grey = Patch(color=COLOURS["grey"], alpha=0.6, label="(d): random spans")
    letters(axes.flat)
    legend_below(figure, [*index_handles(inputs), grey])
    return Plot(
        figure, {"percent": percent}, alt="From small weights two singular values stand out; from large ones none does."
    )


def fig5a(small: Table, scales: Table, *, percent: Count, loss: Fraction) -> Plot:
    r"""The ReLU student's loss from small weights: from saddle to saddle.

    (a) The line shows the training loss on the draw of `fig2`. Shades mark plateaus, on which the loss falls more
    slowly than time to the power of -{slope:g}. The first is the saddle at zero, near which draws start. Phase 1 lasts
    until the end of the second. (b) Bars show shares of draws by number of plateaus, at the scale of (a). Hatched parts
    are draws of rank 1 when the second plateau begins. {share_without_second_plateau:.0%} of draws have no second
    plateau. (c) Dots show, of {other_draws} other draws each, the share that has rank 1 when a second plateau begins
    and fits the data at the end, at each initial scale. Its 95 % intervals are above one half (dashed)
    {where_above_half}. The paper says of its Figure 5a, which shows one draw, that the loss goes from saddle to saddle.
    """
    figure, (loss_axis, counts_axis, share_axis) = plt.subplots(1, 3, figsize=(WIDTH, 2.8), width_ratios=(4, 3, 3))
    _draw_loss_and_plateaus(loss_axis, small, typical_draw(small, percent, loss))
    n_plateaus = np.array([len(plateaus(small, seed)) for seed in sorted(small["seed"].unique())])  # of each draw
    _draw_plateau_counts(counts_axis, n_plateaus, first_saddle_ranks(small, percent) == 1)
    # share of draws with rank 1 at the second plateau that go on from it, with its interval, by ascending scale
    share_by_scale = {}
    for scale, table in scales.groupby("scale"):
        is_on_saddle = (first_saddle_ranks(table, percent) == 1) & (first_saddle_losses(table) > loss)
        goes_on = is_on_saddle & fitted_draws(table, loss)
        share_by_scale[scale] = share(int(goes_on.sum()), len(goes_on))
    for scale, estimate in share_by_scale.items():
        bars = [[estimate.value - estimate.lower], [estimate.upper - estimate.value]]
        share_axis.errorbar([scale], [estimate.value], bars, fmt="o", ms=3.5, lw=1.0, color=COLOURS["blue"])
    level(share_axis, 0.5, style="--")
    share_axis.set(
        xscale="log", xlabel="initial scale", ylabel="rank 1, then fitted", ylim=(0, 1), title="small scales"
    )
    letters((loss_axis, counts_axis, share_axis))
    # from the smallest scale up to the last before one whose interval reaches one half
    scales_above_half = list(itertools.takewhile(lambda scale: share_by_scale[scale].lower > 0.5, share_by_scale))
    where_above_half = "at no scale tried"
    if scales_above_half:
        where_above_half = rf"from a scale of ${power(scales_above_half[-1])}$ down"
    facts = {
        "slope": settings_of(small)["slope"],
        "share_without_second_plateau": float((n_plateaus < 2).mean()),
        "where_above_half": where_above_half,
        "other_draws": min(table["seed"].nunique() for _, table in scales.groupby("scale")),
    }
    return Plot(figure, facts, alt="A loss that falls in steps, with flat stretches shaded.")


def fig5b(small: Table, *, percent: Count, loss: Fraction) -> Plot:
    r"""Phase 1 of the ReLU student: the hidden layer's singular values up to the end of the first saddle after zero.

    The draw is that of `fig5a`, with the second plateau shaded. One singular value grows far ahead of the others. The
    layer is approximately of rank 1 when the second plateau begins, as the paper says of its Figure 5b. At this scale
    {rank_one_draws} of {draws} draws have rank 1 when a second plateau begins; {fitted} draws have fitted the data at
    the end.
    """
    figure, axis = plt.subplots(figsize=(WIDTH, 2.8))
    member = typical_draw(small, percent, loss)
    spans = plateaus(small, member)
    last_time = small["time"].max()
    start, end = spans[1] if len(spans) > 1 else (last_time, last_time)
    singular_values(axis, small[small["time"] <= end], member)
    axis.axvspan(start, end, color=COLOURS["orange"], alpha=0.25, lw=0)
    axis.set(xlabel="time $t$", ylabel=r"singular values $\sigma_i(W)$", yscale="log", xscale="log")
    axis.set_xlim(settings_of(small)["first_time"], end)
    legend_below(figure, index_handles(int(select(small, SIGMA_W1)["index"].max())))
    facts = {
        "draws": small["seed"].nunique(),
        "rank_one_draws": int((first_saddle_ranks(small, percent) == 1).sum()),
        "fitted": int(fitted_draws(small, loss).sum()),
    }
    return Plot(figure, facts, alt="One singular value rises by orders of magnitude before the others follow.")


def _draw_last_ranks(axis: Axes, small: Table, large: Table, percent: int) -> None:
    """Draw the shares of draws by rank at the end, from small and from large weights."""
    inputs = int(select(small, SIGMA_W1)["index"].max())
    ranks = np.arange(1, inputs + 1)
    for shift, table, colour, label in (
        (-0.2, small, "blue", "small weights"),
        (0.2, large, "orange", "large weights"),
    ):
        counts = np.bincount(last_ranks(table, percent).astype(int), minlength=inputs + 1)[1:]
        axis.bar(ranks + shift, counts / counts.sum(), width=0.4, color=COLOURS[colour], label=label)
    axis.set(xlabel="rank at the end", ylabel="share of draws", title=f"{small['seed'].nunique()} draws")
    axis.legend(loc="upper center")


def _draw_cosines(axis: Axes, small: Table, large: Table) -> None:
    """Draw boxes of the cosines with the teacher's span: from small weights, from large ones, of random spans."""
    for quantity, table, colour, shift in (
        (quantities.TEACHER_COSINE, small, "blue", -0.25),
        (quantities.TEACHER_COSINE, large, "orange", 0.0),
        (quantities.CHANCE_COSINE, small, "grey", 0.25),
    ):
        cosines = Draws(table).entries(quantity)  # shape (draws, angles)
        angles = np.arange(1, cosines.shape[1] + 1)
        boxes = axis.boxplot(
            cosines, positions=angles + shift, widths=0.2, whis=(5, 95), showfliers=False, patch_artist=True
        )
        for box in boxes["boxes"]:
            box.set(facecolor=COLOURS[colour], alpha=0.6)
        for median in boxes["medians"]:
            median.set(color=COLOURS["black"])
    axis.set(xlabel="principal angle", ylabel="cosine of the angle", title="teacher's directions", ylim=(0, 1.02))
    axis.set_xticks(angles, [str(angle) for angle in angles])


def _draw_loss_and_plateaus(axis: Axes, table: Table, member: int) -> None:
    """Draw one draw's loss after time 0, with its plateaus shaded."""
    losses = select(table, LOSS, seed=member).iloc[1:]
    axis.loglog(losses["time"], losses["value"], color=COLOURS["blue"])
    for number, (start, end) in enumerate(plateaus(table, member)):
        axis.axvspan(start, end, color=COLOURS["orange"], alpha=0.25, lw=0, label=None if number else "plateau")
    axis.set(xlabel="time $t$", ylabel="training loss", title="one draw")
    axis.set_xlim(losses["time"].min(), losses["time"].max())
    axis.legend(loc="upper right")


def _draw_plateau_counts(axis: Axes, n_plateaus: np.ndarray, has_rank_1: np.ndarray) -> None:
    """Draw the shares of draws by number of plateaus, and hatched those of rank 1 at the second; shapes (draws,)."""
    draws = len(n_plateaus)
    numbers = np.arange(n_plateaus.max() + 1)
    shares = np.bincount(n_plateaus) / draws
    shares_of_rank_1 = np.bincount(n_plateaus[has_rank_1], minlength=len(numbers)) / draws
    axis.bar(numbers, shares, color=COLOURS["orange"], label="all")
    axis.bar(
        numbers,
        shares_of_rank_1,
        color="none",
        edgecolor=COLOURS["black"],
        hatch="///",
        lw=0.6,
        label="rank 1 at 2nd plateau",
    )
    axis.set(xlabel="number of plateaus", ylabel="share of draws", xticks=numbers)
    axis.set(ylim=(0, 1.25 * shares.max()), title=f"{draws} draws")
    axis.legend(loc="upper right", fontsize=7)
