"""Figures of deep_linear are drawn from smoke-scale tables, and show what they say."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from learning_dynamics.pipeline.stages.papers import paper_function

from learning_dynamics.papers.deep_linear import theory
from tests.support import SMOKE, _measured, project

PAPER = "deep_linear"


@pytest.fixture(autouse=True)
def drawing():
    with mpl.rc_context({"backend": "Agg"}):
        yield
    plt.close("all")


def draw(name):
    spec = project(*SMOKE).figure(PAPER, name)
    tables = {run: _measured(PAPER, run).copy() for run in spec["runs"]}
    return paper_function(PAPER, "figures", name)(tables, **spec["settings"])


@pytest.mark.parametrize("name", project().figures(PAPER))
def test_figure_is_drawn_with_finite_points(name):
    figure = draw(name)
    figure.canvas.draw()
    drawn = [line for axis in figure.axes for line in axis.lines]
    assert drawn or any(axis.patches or axis.tables for axis in figure.axes)
    for line in drawn:
        assert np.isfinite(np.asarray(line.get_ydata(), dtype=float)).any() or not len(line.get_ydata())


def test_aligned_measurement_lies_on_its_closed_form():
    left, _ = draw("one_entry").axes
    dots = [line for line in left.lines if line.get_marker() == "o"]
    assert len(dots) == 4
    for depth, line in enumerate(dots, start=1):
        expected = theory.smaller_singular_value(np.asarray(line.get_xdata()), 0.1, 0.5, depth)
        np.testing.assert_allclose(line.get_ydata(), expected, rtol=1e-7)


def test_table_has_a_row_for_each_method_and_observation():
    (axis,) = draw("completion_table").axes
    (table,) = axis.tables
    rows = {row for row, _ in table.get_celld()}
    assert len(rows) == 7
