"""A chart that a page carries: how much data it may have."""

import altair as alt
import pandas as pd

from learning_dynamics.plotting.interactive import Interactive, complete


def test_a_chart_of_many_points_is_completed_as_its_limit_is_one_of_bytes():
    points = pd.DataFrame({"epoch": range(6000), "size": 1.0})
    chart = alt.layer(alt.Chart(points).mark_line().encode(x="epoch:Q", y="size:Q"))
    completed = complete(Interactive(chart), "sizes")
    assert [len(rows) for rows in completed["datasets"].values()] == [6000]
