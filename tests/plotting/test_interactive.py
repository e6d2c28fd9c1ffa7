"""A chart that a page carries: Altair's limit of rows does not apply to it."""

import altair as alt
import pandas as pd

from learning_dynamics.plotting.interactive import Interactive, complete

ALTAIRS_LIMIT = 5000


def test_a_chart_of_more_rows_than_altair_allows_is_completed_with_all_of_them():
    points = pd.DataFrame({"epoch": range(ALTAIRS_LIMIT + 1), "size": 1.0})
    chart = alt.layer(alt.Chart(points).mark_line().encode(x="epoch:Q", y="size:Q"))
    completed = complete(Interactive(chart), "sizes")
    assert [len(rows) for rows in completed["datasets"].values()] == [ALTAIRS_LIMIT + 1]
