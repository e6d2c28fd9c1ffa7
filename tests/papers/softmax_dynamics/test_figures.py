from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from learning_dynamics.pipeline.stages.papers import paper_function

from learning_dynamics.plotting import style
from tests.support import SMOKE, _measured, project

PAPER = "softmax_dynamics"


@pytest.fixture
def drawn(request):
    spec = project(*SMOKE).figure(PAPER, request.param)
    tables = {name: _measured(PAPER, name).copy() for name in spec["runs"]}
    with style():
        figure = paper_function(PAPER, "figures", request.param)(tables, **spec["settings"])
        figure.canvas.draw()
        yield figure, tables, spec["settings"]
    plt.close(figure)


@pytest.mark.parametrize("drawn", ["trajectories"], indirect=True)
def test_trajectories_show_one_member_and_the_flow_of_its_singular_values(drawn):
    figure, tables, settings = drawn
    plane, spectrum, rank = figure.axes
    table = tables["skewed"]
    rows = table[(table["seed"] == settings["member"]) & (table["quantity"] == "sigma_f") & (table["index"] == 1)]
    np.testing.assert_array_equal(spectrum.lines[0].get_ydata(), rows.loc[rows["time"] > 0, "value"])
    # eight features, four classifier columns with their ends, two axes
    assert len(plane.lines) == 8 + 2 * 4 + 2
    assert [text.get_text() for text in rank.get_legend().get_texts()] == [
        "RankMe",
        "RankMe, centred",
        "effective rank",
    ]


@pytest.mark.parametrize("drawn", ["growth"], indirect=True)
def test_growth_draws_measured_against_predicted_rates(drawn):
    figure, _, _ = drawn
    for line in figure.axes[0].lines[:2]:
        np.testing.assert_allclose(line.get_xdata(), line.get_ydata(), rtol=1e-6)


@pytest.mark.parametrize("drawn", ["dominant_class"], indirect=True)
def test_aligned_rates_lie_on_the_root_of_the_class_size(drawn):
    figure, _, _ = drawn
    lines = {line.get_label(): line for line in figure.axes[1].lines}
    many = lines["aligned, $V = 100$"]
    np.testing.assert_allclose(many.get_ydata(), np.sqrt(many.get_xdata()), rtol=0.02)


@pytest.mark.parametrize("drawn", ["phases"], indirect=True)
def test_the_table_of_phases_states_shares_with_intervals_around_them(drawn):
    figure, tables, settings = drawn
    table = tables["cross_entropy_grid"]
    rows = table[(table["measure"] == settings["measure"]) & (table["threshold"] == settings["threshold"])]
    cell = rows[(rows["counts"] == "5-1-1-1") & (rows["scale"] == 0.001)]
    share, interval = figure.axes[0].texts[0].get_text().split("\n")
    assert int(share) == round(100 * (cell["first"] < 0).mean())
    low, high = map(int, interval.split("–"))
    assert low <= int(share) <= high
    assert len(figure.axes[0].texts) == 16


@pytest.mark.parametrize("drawn", ["controls"], indirect=True)
def test_controls_show_medians_and_shares(drawn):
    figure, tables, _ = drawn
    table = tables["uniform"]
    late = table[(table["quantity"] == "rankme") & (table["time"] == table["time"].max())]["value"].median()
    assert figure.axes[1].lines[0].get_ydata()[-1] == pytest.approx(late)
    assert len(figure.axes[5].get_yticks()) == 5
