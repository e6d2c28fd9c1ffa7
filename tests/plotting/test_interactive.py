"""A chart that a page carries: Altair's limit of 5000 rows does not apply to it."""

import altair as alt
import pandas as pd

from learning_dynamics.plotting.interactive import Interactive, complete


def test_a_chart_of_more_rows_than_altair_allows_is_completed_with_all_of_them():
    points = pd.DataFrame({"epoch": range(6000), "size": 1.0})
    chart = alt.layer(alt.Chart(points).mark_line().encode(x="epoch:Q", y="size:Q"))
    completed = complete(Interactive(chart), "sizes")
    assert [len(rows) for rows in completed["datasets"].values()] == [6000]
