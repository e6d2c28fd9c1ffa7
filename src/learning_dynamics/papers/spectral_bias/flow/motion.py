"""The hidden layer's singular values as they rise.

Shapes: the course (times, values) has the first singular values, descending, as columns; limits are (values,).
"""

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.spectral_bias.panels import DASHES, colours_of_learned, level, power
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_BETA, SIGMA_W1
from learning_dynamics.plotting import COLOURS
from learning_dynamics.plotting.motion import FRAMES, MOVING, Motion
from learning_dynamics.settings import Count, Natural
from learning_dynamics.tidy import Draws, Table, select, settings_of


def fig1a(small: Table, *, member: Natural, top: Count) -> Motion:
    r"""In motion: at small scale the first $k$ singular values of $W_1$ rise, the largest first, and no other.

    Gradient flow from the orthogonal layer at {scale}, on the same draw as above. Left: the first {top} singular values
    up to the time shown. Right: their values at that time. Dashes: their limits by Corollary 3.1.
    """
    rows = select(small, SIGMA_W1, seed=member, phase="flow")
    course = rows.pivot_table(index="time", columns="index", values="value").iloc[:, :top].dropna()
    limits = Draws(small, phase="limit").entries(SIGMA_W1, column="predicted")[member, :top]
    times, values = course.index.to_numpy(), course.to_numpy()
    count = values.shape[1]
    colours = colours_of_learned(int(select(small, SIGMA_BETA)["index"].max()), count)
    figure, (left, right) = plt.subplots(1, 2, figsize=(MOVING, 2.3), sharey=True, width_ratios=[1.6, 1])
    lines, heads = [], []
    for colour, limit in reversed(list(zip(colours, limits, strict=True))):
        level(left, limit, "black", DASHES, 0.9, zorder=2)
        lines += left.plot([], [], color=colour, zorder=3)
        heads += left.plot([], [], "o", color=colour, ms=4, zorder=4, clip_on=False)
    places = np.arange(1, count + 1)
    bars = right.bar(places, np.zeros(count), color=colours, width=0.75)
    right.hlines(limits, places - 0.5, places + 0.5, color=COLOURS["black"], lw=0.9, ls=DASHES, zorder=3)
    clock = left.set_title("$t = 0.0$")
    left.set(xlim=(0, times[-1]), ylim=(0, 1.08 * max(values.max(), np.nanmax(limits))), xlabel="time $t$")
    left.set_ylabel(r"singular values $\sigma_i(W_1)$")
    right.set(xlabel="index $i$", xticks=np.unique([1, (1 + count) // 2, count]))

    def draw(number: int) -> None:
        now = round(number * (len(times) - 1) / (FRAMES - 1))
        for line, head, course in zip(lines, heads, values.T[::-1], strict=True):
            line.set_data(times[: now + 1], course[: now + 1])
            head.set_data([times[now]], [course[now]])
        for bar, value in zip(bars, values[now], strict=True):
            bar.set_height(value)
        clock.set_text(f"$t = {times[now]:.1f}$")

    return Motion(
        figure,
        draw,
        facts={"scale": rf"$\gamma = {power(settings_of(small)['gamma'])}$", "top": count},
        alt="Curves that begin near zero: some rise steeply, the largest first, and settle on their dashed limits; the "
        "others stay where they begin.",
    )
