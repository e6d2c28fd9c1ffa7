"""The hidden layer's singular values as they rise.

Shapes: `times` (times,); `values` (times, n_values), the first singular values of W1, descending; `limits` (n_values,),
those that Corollary 3.1 gives.
"""

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.spectral_bias.panels import DASHES, colours_of_learned, level, power
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_BETA, SIGMA_W1
from learning_dynamics.plotting import COLOURS
from learning_dynamics.plotting.motion import FRAMES, MOVING, Motion
from learning_dynamics.settings import Count, Natural
from learning_dynamics.tidy import Table, select, settings_of


def fig1a(small: Table, *, member: Natural, top: Count) -> Motion:
    r"""In motion: at small scale only the first $k$ singular values of $W_1$ rise, as many as outputs, and the largest
    rises first.

    Gradient flow starts from the orthogonal layer at {scale}, on the same draw as above. On the left are the first
    {top} singular values up to the time shown, on the right those at that time. The grey ones stay near zero. Dashes
    show their limits by Corollary 3.1.
    """
    rows = select(small, SIGMA_W1, seed=member, phase="flow")
    by_time = rows.pivot(index="time", columns="index", values="value").iloc[:, :top]
    times, values = by_time.index.to_numpy(), by_time.to_numpy()
    n_values = values.shape[1]
    limit_rows = select(small, SIGMA_W1, seed=member, phase="limit").sort_values("index")
    limits = limit_rows["predicted"].to_numpy()[:n_values]
    n_learned = int(select(small, SIGMA_BETA)["index"].max())  # beta has k of them, as many as outputs
    colours = colours_of_learned(n_learned, n_values)
    figure, (left, right) = plt.subplots(1, 2, figsize=(MOVING, 2.3), sharey=True, width_ratios=[1.6, 1])
    lines, heads = [], []  # curves on the left, and a dot at the end of each
    # from the smallest to the largest, which is on top
    for colour, limit in zip(colours[::-1], limits[::-1], strict=True):
        level(left, limit, style=DASHES, width=0.9, zorder=2)
        lines += left.plot([], [], color=colour, zorder=3)
        heads += left.plot([], [], "o", color=colour, ms=4, zorder=4, clip_on=False)
    places = np.arange(1, n_values + 1)
    bars = right.bar(places, np.zeros(n_values), color=colours, width=0.75)
    right.hlines(limits, places - 0.5, places + 0.5, color=COLOURS["black"], lw=0.9, ls=DASHES, zorder=3)
    clock = left.set_title("$t = 0.0$")
    left.set(xlim=(0, times[-1]), ylim=(0, 1.08 * max(values.max(), np.nanmax(limits))), xlabel="time $t$")
    left.set_ylabel(r"singular values $\sigma_i(W_1)$")
    right.set(xlabel="index $i$", xticks=np.unique([1, (1 + n_values) // 2, n_values]))

    def draw(number: int) -> None:
        """Draw a frame: number 0 shows the first time, number FRAMES - 1 the last."""
        last_shown = round(number * (len(times) - 1) / (FRAMES - 1))
        # lines were drawn from the smallest singular value to the largest
        for line, head, course in zip(lines, heads, values.T[::-1], strict=True):
            line.set_data(times[: last_shown + 1], course[: last_shown + 1])
            head.set_data([times[last_shown]], [course[last_shown]])
        for bar, value in zip(bars, values[last_shown], strict=True):
            bar.set_height(value)
        clock.set_text(f"$t = {times[last_shown]:.1f}$")

    return Motion(
        figure,
        draw,
        facts={"scale": rf"$\gamma = {power(settings_of(small)['gamma'])}$", "top": n_values},
        alt="Curves that begin near zero: some rise steeply, the largest first, and settle on their dashed limits; the "
        "others stay where they begin.",
    )
