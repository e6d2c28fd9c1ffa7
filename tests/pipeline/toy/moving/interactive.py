"""A chart of growth whose slider chooses the draw."""

from __future__ import annotations

import altair as alt

from learning_dynamics.plotting.interactive import Interactive, reading, slider
from learning_dynamics.tidy import Table, select


def growth(slow: Table) -> Interactive:
    """Move the draw: slow growth of {draws} draws."""
    rows = select(slow, "x")
    draws = sorted(int(draw) for draw in rows["seed"].unique())
    line = alt.Chart(rows[["seed", "time", "value"]]).transform_filter("datum.seed == draw").mark_line()
    chart = alt.layer(line.encode(x="time:Q", y="value:Q")).add_params(slider("draw", "draw", draws, 0))
    chart = chart.properties(title=reading("draw", draws, [f"draw {draw} </script>" for draw in draws]))
    return Interactive(chart, facts={"draws": len(draws)}, alt="A curve, one of {draws}.")
