"""The learning curve at any scale."""

import altair as alt
import numpy as np
import pandas as pd

from learning_dynamics.papers.spectral_bias import theory
from learning_dynamics.papers.spectral_bias.quantities import SIGMA_BETA
from learning_dynamics.plotting import COLOURS
from learning_dynamics.plotting.interactive import DASHES, INK, Interactive, colours, italic, power, reading, slider
from learning_dynamics.tidy import Table, select

POINTS = 181  # of a curve: a hundredth of its time apart
START = -4.0  # the power of ten that the slider first stands at
EVERY = 10  # of the times at which flows were recorded, for a dot
SUBSCRIPTS = "₁₂₃₄₅₆₇₈₉"


def jump(jump: Table) -> Interactive:
    r"""Move the initial scale $\gamma$: as it vanishes, the learning curve becomes a staircase.

    Curves: the closed form of Theorem C.12 at the chosen scale, from {first} to {last}. Dots: gradient flow, at the
    {scales} scales for which it was followed. Dashes: the limit $\gamma \to 0$.
    """
    jump = select(jump, SIGMA_BETA)
    flow_exponents = np.log10(np.sort(jump["gamma"].unique()))
    exponents = np.arange(np.ceil(flow_exponents[0]), np.floor(flow_exponents[-1]) + 1)
    teacher = jump.groupby("index")["limit"].max().sort_index().to_numpy()
    modes = [f"{italic('σ')}{SUBSCRIPTS[place]}({italic('β')})" for place in range(len(teacher))]
    end = float(jump["time"].max())
    times = np.linspace(0, end, POINTS)
    curves = [
        {
            "exponent": float(exponent),
            "mode": mode,
            "value": theory.learning_curve(final, 10**exponent, -times * exponent * np.log(10)).round(4).tolist(),
        }
        for exponent in exponents
        for mode, final in zip(modes, teacher, strict=True)
    ]
    dot_rows = jump[jump["time"].isin(np.sort(jump["time"].unique())[5::EVERY])]
    dots = pd.DataFrame(
        {
            "exponent": np.log10(dot_rows["gamma"]).round(6),
            "mode": [modes[index - 1] for index in dot_rows["index"]],
            "time": dot_rows["time"].round(4),
            "value": dot_rows["value"].round(4),
        }
    )
    steps = [
        {"mode": mode, "time": time, "value": value, "order": order}
        for mode, final in zip(modes, teacher, strict=True)
        for order, (time, value) in enumerate(_step(final, end))
    ]
    label = f"{italic('t')} / ln(1/{italic('γ')})"
    x = alt.X("time:Q", title=label, scale=alt.Scale(domain=[0, end]), axis=alt.Axis(tickCount=6))
    y = alt.Y(
        "value:Q",
        title=f"singular values {italic('σᵢ')}({italic('β')})",
        scale=alt.Scale(domain=[0, 1.08 * float(teacher.max())], nice=False),
        axis=alt.Axis(tickCount=5),
    )
    tints = colours(dict(zip(modes, (COLOURS[name] for name in ("blue", "vermilion", "green")), strict=False)))
    colour = alt.Color("mode:N", scale=tints)
    gamma = slider("gamma", f"initial scale {italic('γ')}", exponents.tolist(), START)
    labels = [f"{italic('γ')} = {power(exponent)}" for exponent in exponents]
    chosen = "abs(datum.exponent - gamma) < 1e-6"
    limit = (
        alt.Chart(alt.InlineData(values=steps))
        .mark_line(color=INK, strokeDash=DASHES, strokeWidth=1)
        .encode(x, y, order="order:Q", detail="mode:N")
    )
    curve = (
        alt.Chart(alt.InlineData(values=curves))
        .transform_filter(chosen)
        .transform_flatten(["value"])
        .transform_window(place="row_number()", groupby=["mode"])
        .transform_calculate(time=f"(datum.place - 1) * {end / (POINTS - 1)}")
        .mark_line(strokeWidth=2.2)
        .encode(x, y, colour)
    )
    dot = alt.Chart(dots).transform_filter(chosen).mark_point(filled=True, size=34, opacity=1).encode(x, y, colour)
    return Interactive(
        alt.layer(limit, curve, dot).add_params(gamma).properties(title=reading("gamma", exponents.tolist(), labels)),
        facts={"first": _scale(exponents[-1]), "last": _scale(exponents[0]), "scales": len(flow_exponents)},
        alt="Three curves that rise one after the other; as the slider takes the scale down from {first} to {last}, "
        "each turns from a smooth slope into a vertical step.",
    )


def _step(final: float, end: float) -> list[tuple[float, float]]:
    """Return the corners of what one mode's learning curve becomes, up to a time."""
    at = 1 / (2 * final)
    return [(0.0, 0.0), (at, 0.0), (at, final), (end, final)]


def _scale(exponent: float) -> str:
    return rf"$\gamma = 10^{{{exponent:.0f}}}$"
