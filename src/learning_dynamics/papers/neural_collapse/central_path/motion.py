"""Collapse in two numbers for each direction of the class means: how far apart they are, and how wide each class is.

A course (moments, C - 1) has the C - 1 non-zero SNR singular values omega_j of C classes (eq. 8), the largest first, in
a row for each moment. Moments are the recorded times of a flow, or the recorded epochs of a network.
"""

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from learning_dynamics.papers.neural_collapse.central_path import quantities
from learning_dynamics.papers.neural_collapse.central_path.figures import drawn_member
from learning_dynamics.papers.neural_collapse.panels import DASHED, title_of
from learning_dynamics.papers.neural_collapse.training import quantities as training_quantities
from learning_dynamics.papers.neural_collapse.trainings import data_and_network
from learning_dynamics.plotting import COLOURS, sequence
from learning_dynamics.plotting.motion import FRAMES, MOVING, Motion
from learning_dynamics.settings import Natural
from learning_dynamics.tidy import Table, select


def central_path(flows: Table, training: Table, *, size: Natural, member: Natural) -> Motion:
    r"""In motion: on the central path class means become a simplex and classes points; a network goes part of the way.

    Bars show how far class means spread along each of their directions: the SNR singular values in units of the
    largest, $\omega_j/\omega_{\max}$. On a simplex all reach one, the dashed line. The grey band is the standard
    deviation within classes, which is one in whitened features, in units of the means' along the first direction,
    $\sqrt{C}/\omega_{\max}$ with $C$ classes. The central path is Riemannian gradient flow, shown at recorded times.
    The network in training, seed {seed}, is shown only at the {epochs} epochs at which it was measured. It is neither
    on the central path nor renormalised.
    """
    rows = drawn_member(flows, size, member)
    classes = int(rows["classes"].iloc[0])
    path = _course(select(rows, quantities.OMEGA, flow=quantities.ORTHOGONAL), "time")
    seed = int(training["seed"].min())
    network = _course(select(training, training_quantities.SNR, seed=seed), "epoch")
    figure, (left, right) = plt.subplots(1, 2, figsize=(MOVING, 2.4), sharey=True, width_ratios=[1, 2])
    movers = [
        _panel(left, path, classes, lambda time: f"$t = {_power(time)}$"),
        _panel(right, network, network.shape[1] + 1, lambda epoch: f"epoch {epoch:g}"),
    ]
    left.set(xlabel="central path", ylabel=r"in units of $\omega_{\max}$", ylim=(0, 1.12))
    right.set_xlabel(f"network ({title_of(data_and_network(training))})")

    def draw(number: int) -> None:
        for move in movers:
            move(number)

    return Motion(
        figure,
        draw,
        seconds=4.5,
        facts={"seed": seed, "epochs": len(network), "least": network.iloc[-1].min() / network.iloc[-1].max()},
        alt="Bars of different height become equal on the central path; of a network the smallest ends at "
        "{least:.2g} of the largest. A grey band across them, the width of the classes, shrinks to almost nothing.",
    )


def _course(rows: pd.DataFrame, by: str) -> pd.DataFrame:
    """Return a course from rows in which the column `by` has the moment; moments that miss a value are left out."""
    return rows.pivot_table(index=by, columns="index", values="value").dropna()


def _panel(axis: Axes, course: pd.DataFrame, classes: int, clock: Callable[[float], str]) -> Callable[[int], None]:
    """Prepare the bars of one course; return the function that brings them to the frame of a number.

    `clock` says what the title writes for a moment.
    """
    values = course.to_numpy()  # shape (moments, C - 1)
    largest = values.max(axis=1)
    moments = np.round(np.linspace(0, len(values) - 1, FRAMES)).astype(int)  # the row of each frame
    count = values.shape[1]
    positions = np.arange(1, count + 1)
    bars = axis.bar(positions, np.zeros(count), color=sequence(count), width=0.75)
    (noise,) = axis.bar([(1 + count) / 2], [0], width=count, color=COLOURS["grey"], alpha=0.65, linewidth=0)
    axis.axhline(1, color=COLOURS["black"], ls=DASHED, lw=0.9)
    axis.set(xticks=positions, xlim=(0.4, count + 0.6))
    title = axis.set_title(clock(float(course.index[0])))

    def move(number: int) -> None:
        row = moments[number]
        for bar, value in zip(bars, values[row], strict=True):
            bar.set_height(value / largest[row])
        # The standard deviation of class means is omega_j / sqrt(C) along direction j, that of features within classes
        # is one: sqrt(C) / omega_max in units of the class means' along the first direction
        noise.set_height(np.sqrt(classes) / largest[row])
        title.set_text(clock(float(course.index[row])))

    return move


def _power(moment: float) -> str:
    return f"10^{{{np.log10(moment):.1f}}}" if moment > 0 else "0"
