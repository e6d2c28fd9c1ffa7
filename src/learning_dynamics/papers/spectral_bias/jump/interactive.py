"""The learning curve at any scale."""

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_BETA
from learning_dynamics.plotting import COLOURS
from learning_dynamics.plotting.interactive import DASHES, INK, Interactive, colours, italic, power, reading, slider
from learning_dynamics.tidy import Table, select

POINTS = 181  # of a curve, at even times
START = -4.0  # the slider's first position, as a power of ten
EVERY = 10  # one of so many recorded times of a flow has a dot
SUBSCRIPTS = "₁₂₃₄₅₆₇₈₉"


def jump(jump: Table) -> Interactive:
    r"""Move the initial scale $\gamma$: as it vanishes, the learning curve becomes a staircase.

    Curves show the closed form of Theorem C.12 at the chosen scale, from {first} to {last}. Dots show gradient flow, at
    the {scales} scales for which it was followed. Dashes show the limit $\gamma \to 0$.
    """
    jump = select(jump, SIGMA_BETA)
    flow_exponents = np.log10(np.sort(jump["gamma"].unique()))
    exponents = np.arange(np.ceil(flow_exponents[0]), np.floor(flow_exponents[-1]) + 1)
    # sigma_i(beta_*), descending: the limit is less before the jump and at it
    sigma = jump.groupby("index")["limit"].max().sort_index().to_numpy()
    modes = [f"{italic('σ')}{SUBSCRIPTS[place]}({italic('β')})" for place in range(len(sigma))]
    end = float(jump["time"].max())
    x_label = f"{italic('t')} / ln(1/{italic('γ')})"
    x = alt.X("time:Q", title=x_label, scale=alt.Scale(domain=[0, end]), axis=alt.Axis(tickCount=6))
    y = alt.Y(
        "value:Q",
        title=f"singular values {italic('σᵢ')}({italic('β')})",
        scale=alt.Scale(domain=[0, 1.08 * float(sigma.max())], nice=False),
        axis=alt.Axis(tickCount=5),
    )
    mode_colours = dict(zip(modes, (COLOURS[name] for name in ("blue", "vermilion", "green")), strict=False))
    colour = alt.Color("mode:N", scale=colours(mode_colours))
    gamma = slider("gamma", f"initial scale {italic('γ')}", exponents.tolist(), START)  # its value is the power of ten
    at_chosen_scale = "abs(datum.exponent - gamma) < 1e-6"
    limit_lines = (
        alt.Chart(alt.InlineData(values=_staircases(sigma, modes, end)))
        .mark_line(color=INK, strokeDash=DASHES, strokeWidth=1)
        .encode(x, y, order="order:Q", detail="mode:N")
    )
    # a curve's values become rows, with the numbers 1, 2, ..., and these numbers become times
    curve_lines = (
        alt.Chart(alt.InlineData(values=_curves(sigma, modes, exponents, end)))
        .transform_filter(at_chosen_scale)
        .transform_flatten(["value"])
        .transform_window(place="row_number()", groupby=["mode"])
        .transform_calculate(time=f"(datum.place - 1) * {end / (POINTS - 1)}")
        .mark_line(strokeWidth=2.2)
        .encode(x, y, colour)
    )
    dots = (
        alt.Chart(_flow_dots(jump, modes))
        .transform_filter(at_chosen_scale)
        .mark_point(filled=True, size=34, opacity=1)
        .encode(x, y, colour)
    )
    title = reading("gamma", exponents.tolist(), [f"{italic('γ')} = {power(exponent)}" for exponent in exponents])
    return Interactive(
        alt.layer(limit_lines, curve_lines, dots).add_params(gamma).properties(title=title),
        facts={"first": _scale(exponents[-1]), "last": _scale(exponents[0]), "scales": len(flow_exponents)},
        alt="Curves, one for each singular value, that rise one after another; as the slider takes the scale down from "
        "{first} to {last}, each turns from a smooth slope into a vertical step.",
    )


def _curves(sigma: np.ndarray, modes: list[str], exponents: np.ndarray, end: float) -> list[dict[str, Any]]:
    """Return a list of values for each mode at each scale: the closed form at POINTS even times up to an end.

    A mode is a singular value of the predictor; `sigma` are those of beta_*, and `modes` their names. Scales are powers
    of ten with the given exponents.
    """
    times = np.linspace(0, end, POINTS)  # flow time over ln(1/gamma)
    curves = []
    for exponent in exponents:
        flow_times = -times * exponent * np.log(10)  # ln(1/gamma) is -exponent * ln(10)
        for mode, limit in zip(modes, sigma, strict=True):
            values = theory.learning_curve(limit, 10**exponent, flow_times).round(4).tolist()
            curves.append({"exponent": float(exponent), "mode": mode, "value": values})
    return curves


def _flow_dots(jump: Table, modes: list[str]) -> pd.DataFrame:
    """Return a row for each dot: values of the flow at one of EVERY recorded times."""
    times = np.sort(jump["time"].unique())[5::EVERY]
    rows = select(jump, time=times)
    return pd.DataFrame(
        {
            "exponent": np.log10(rows["gamma"]).round(6),
            "mode": [modes[index - 1] for index in rows["index"]],
            "time": rows["time"].round(4),
            "value": rows["value"].round(4),
        }
    )


def _staircases(sigma: np.ndarray, modes: list[str], end: float) -> list[dict[str, Any]]:
    """Return the corners of each mode's limit, a step at its jump, up to an end, in their order along the line."""
    corners = []
    for mode, limit in zip(modes, sigma, strict=True):
        jump_time = 1 / (2 * limit)
        points = [(0.0, 0.0), (jump_time, 0.0), (jump_time, limit), (end, limit)]
        corners += [
            {"mode": mode, "time": time, "value": value, "order": order} for order, (time, value) in enumerate(points)
        ]
    return corners


def _scale(exponent: float) -> str:
    """Return a power of ten as a scale in TeX."""
    return rf"$\gamma = 10^{{{exponent:.0f}}}$"
