"""The learning curve as its scale vanishes."""

import itertools

import matplotlib.pyplot as plt
import numpy as np

from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.panels import guide, line_handle, marks_handle
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_BETA
from learning_dynamics.plotting import sequence
from learning_dynamics.plotting.motion import MOVING, Motion
from learning_dynamics.tidy import Table, select

REST, BETWEEN = 5, 8  # frames at a scale for which the flow was followed, and from one to the next


def jump(jump: Table) -> Motion:
    r"""In motion: as $\gamma$ goes from {first} to {last}, the learning curve becomes a staircase.

    Curves show the closed form of Theorem C.12 at the scale shown. Dots show gradient flow, at the {scales} scales for
    which it was followed; the motion pauses there. Dashes show the limit $\gamma \to 0$.
    """
    jump = select(jump, SIGMA_BETA)
    gammas = np.sort(jump["gamma"].unique())[::-1]
    # sigma_i(beta_*), descending: the limit is less before the jump and at it
    limits = jump.groupby("index")["limit"].max().sort_index().to_numpy()
    end = float(jump["time"].max())
    times = np.unique(np.r_[np.linspace(0, end, 601), 1 / (2 * limits)])  # the times of the jumps among them
    scales, has_flow = _frame_scales(gammas)
    figure, axis = plt.subplots(figsize=(MOVING, 2.5))
    colours = sequence(len(limits))
    for index, (sigma, colour) in enumerate(zip(limits, colours, strict=True), start=1):
        jump_time = 1 / (2 * sigma)
        guide(axis, [0, jump_time, jump_time, end], [0, 0, sigma, sigma], width=0.9)
        axis.annotate(rf"$\sigma_{index}$", (end, sigma), (5, 0), textcoords="offset points", va="center", color=colour)
    curves = [axis.plot([], [], color=colour, zorder=3)[0] for colour in colours]
    dots_of_flow = [axis.plot([], [], ".", ms=4, color=colour, zorder=4)[0] for colour in colours]
    clock = axis.set_title(rf"$\gamma = 10^{{{np.log10(scales[0]):.0f}}}$")
    axis.set(
        xlabel=r"$t \,/\, \ln(1/\gamma)$",
        ylabel=r"singular values $\sigma_i(\beta)$",
        xlim=(0, end),
        ylim=(0, 1.05 * limits.max()),
    )
    axis.legend(
        handles=[
            line_handle("closed form"),
            marks_handle("gradient flow"),
            line_handle(r"limit $\gamma \to 0$", "black", "--", 0.9),
        ],
        loc="center right",
        bbox_to_anchor=(1.0, 0.66),
    )

    def draw(number: int) -> None:
        """Draw a frame: the closed form at its scale, and dots if the flow was followed there."""
        gamma = scales[number]
        flow_rows = jump[(jump["gamma"] == gamma) & has_flow[number]]  # none where the flow was not followed
        for index, (curve, dots, sigma) in enumerate(zip(curves, dots_of_flow, limits, strict=True), start=1):
            curve.set_data(times, theory.learning_curve(sigma, gamma, times * np.log(1 / gamma)))
            rows = flow_rows[flow_rows["index"] == index].iloc[5::10]  # a dot at every tenth time
            dots.set_data(rows["time"], rows["value"])
        clock.set_text(rf"$\gamma = 10^{{{np.log10(gamma):.0f}}}$")

    first_scale, last_scale = (f"$10^{{{round(np.log10(gamma))}}}$" for gamma in (gammas[0], gammas[-1]))
    return Motion(
        figure,
        draw,
        frames=len(scales),
        facts={"first": first_scale, "last": last_scale, "scales": len(gammas)},
        alt="Smooth curves, one for each singular value, that rise one after another; as the scale vanishes each turns "
        "into a vertical step.",
    )


def _frame_scales(gammas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the scale of each frame, and whether the flow was followed there: the motion rests at those scales."""
    blocks = [np.full(REST, gammas[0])]
    for gamma, next_gamma in itertools.pairwise(gammas):
        # scales between, evenly in ln ln(1/gamma), as the first decades change the curve most; powers are -log10(gamma)
        powers = np.geomspace(-np.log10(gamma), -np.log10(next_gamma), BETWEEN + 2)[1:-1]
        blocks += [10.0**-powers, np.full(REST, next_gamma)]
    scales = np.concatenate(blocks)
    return scales, np.isin(scales, gammas)
