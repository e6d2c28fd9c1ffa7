"""RankMe along the toy's flow, with a slider for the skew of its classes and a choice of the dimension.

The skew is the ratio r of neighbouring class sizes: of V classes they are r^(V - 1), ..., r, 1. The dimension is d. The
tables have rows by dimension, seed (the number of a draw), time and quantity.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from learning_dynamics.papers.softmax_dynamics.panels import learned_times
from learning_dynamics.papers.softmax_dynamics.phases.figures import POPULATION_NAMES
from learning_dynamics.plotting import COLOURS
from learning_dynamics.plotting.interactive import (
    DASHES,
    INK,
    Interactive,
    choice,
    colours,
    italic,
    powers,
    reading,
    slider,
)
from learning_dynamics.tidy import Table, select, settings_of

# labels of the two vertical lines, at the median times at which the first class and the last are learned
LABELS = ("first learned", "all learned")
# colours of the curves by what the rank is taken over
TINTS = dict(zip(POPULATION_NAMES.values(), (COLOURS["blue"], COLOURS["vermilion"]), strict=True))


def rank_by_skew(skews: Sequence[Table]) -> Interactive:
    r"""Move the skew of the class sizes and choose the dimension $d$: the three phases come and go.

    RankMe, centred, is drawn over all examples and over class means, along gradient flow of cross-entropy from Gaussian
    starts of deviation {scale:g}. There are {classes} classes, and the rarest has one example. The skew is how many
    times as many examples each class has as the next. Thick lines are the median of {draws} draws, thin lines single
    draws. Dashed lines are the median times at which the first and the last class are learned (its mean probability
    passes one half). Features compress where the curve over classes falls after the first class is learned.
    """
    settings = settings_of(skews[0])
    # `counts` has the largest size, r^(V - 1), first
    ratios = [round(settings_of(table)["counts"][0] ** (1 / (len(settings["counts"]) - 1))) for table in skews]
    dimensions = sorted(int(number) for number in skews[0]["dimension"].unique())
    names = {number: f"{italic('d')} = {number}" for number in dimensions}
    times = np.sort(skews[0]["time"].unique())
    times = times[times > 0]
    step = float(np.log(times[-1] / times[0]) / (len(times) - 1))  # between neighbours in ln t, evenly spaced
    draws, medians, learned = _courses(dict(zip(ratios, skews, strict=True)), names, times)
    x = alt.X(
        "time:Q",
        title=f"gradient-flow time {italic('t')}",
        scale=alt.Scale(type="log", domain=[float(times[0]), float(times[-1])]),
        axis=powers(int(np.ceil(np.log10(times[0]))), int(np.log10(times[-1]))),
    )
    y = alt.Y(
        "rank:Q",
        title="RankMe",
        scale=alt.Scale(domain=[0.98, max(dimensions) + 0.02], nice=False),
        axis=alt.Axis(tickCount=5),
    )
    colour = alt.Color("population:N", scale=colours(TINTS))
    skew = slider("skew", "skew", ratios, ratios[-2])  # it begins at the last skew but one
    features = choice("features", "features", list(names.values()), list(names.values()), names[dimensions[0]])
    captions = [f"class sizes {', '.join(map(str, settings_of(table)['counts']))}" for table in skews]
    # rows of `_courses` that the slider and the choice, named skew and features on the page, let through
    selection = "datum.ratio == skew && datum.d == features"

    def curves(rows: list[dict[str, Any]], by: list[str]) -> alt.Chart:
        """Return curves of ranks from rows that have the whole curve in the field `rank`.

        The page computes the times of its values, times[0] * exp(place * step) for places from 0, so that rows are
        short; Vega counts `place` from 1.
        """
        return (
            alt.Chart(alt.InlineData(values=rows))
            .transform_filter(selection)
            .transform_flatten(["rank"])
            .transform_window(place="row_number()", groupby=by)
            .transform_calculate(time=f"{times[0]} * exp((datum.place - 1) * {step})")
        )

    times_of_learning = alt.Chart(pd.DataFrame(learned)).transform_filter(selection)
    chart = alt.layer(
        times_of_learning.mark_rule(color=INK, strokeDash=DASHES, opacity=0.7).encode(x),
        times_of_learning.transform_filter(f"datum.label == '{LABELS[0]}'")
        .mark_text(align="right", dx=-5, y=6, baseline="top", fontSize=12)
        .encode(x, text="label:N"),
        times_of_learning.transform_filter(f"datum.label == '{LABELS[1]}'")
        .mark_text(align="left", dx=5, y=6, baseline="top", fontSize=12)
        .encode(x, text="label:N"),
        curves(draws, ["population", "seed"])
        .mark_line(strokeWidth=0.9, opacity=0.4)
        .encode(x, y, colour, detail="seed:N"),
        curves(medians, ["population"]).mark_line(strokeWidth=2.6).encode(x, y, colour),
    )
    return Interactive(
        chart.add_params(skew, features).properties(title=reading("skew", ratios, captions)),
        facts={"scale": settings["scale"], "classes": len(settings["counts"]), "draws": settings["seeds"]},
        alt="Two curves of RankMe over time, over examples and over classes, at the chosen skew and dimension.",
    )


def _courses(
    skews: Mapping[int, Table], names: Mapping[int, str], times: np.ndarray
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return three lists of rows: ranks of every draw, median ranks over draws, and median times of learning.

    Parameters
    ----------
    skews : mapping from ratio of neighbouring class sizes to Table
    names : mapping from dimension to its name on the page
    times : ndarray, shape (times,)
        Recorded times after the start.
    """
    draws, medians, learned = [], [], []
    for ratio, table in skews.items():
        for number, rows in table.groupby("dimension"):
            place = {"ratio": ratio, "d": names[int(number)]}
            for quantity, name in POPULATION_NAMES.items():
                ranks = select(rows, quantity).pivot_table(index="seed", columns="time", values="value")[times]
                draws += [
                    place | {"population": name, "seed": seed, "rank": rank.round(3).tolist()}
                    for seed, rank in zip(ranks.index, ranks.to_numpy(), strict=True)
                ]
                medians.append(place | {"population": name, "rank": ranks.median().round(3).tolist()})
            # shape (classes,): the median over draws of when each class is learned
            class_times = np.median([learned_times(draw) for _, draw in rows.groupby("seed")], axis=0)
            learned += [
                place | {"time": float(time), "label": label}
                for time, label in zip((class_times.min(), class_times.max()), LABELS, strict=True)
                if np.isfinite(time)
            ]
    return draws, medians, learned
