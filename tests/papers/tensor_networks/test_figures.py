"""The figures of tensor_networks, read from their artists."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from learning_dynamics.pipeline.stages.papers import paper_function

from learning_dynamics.papers.tensor_networks.architecture_styles import NETWORKS
from learning_dynamics.plotting import style
from tests.support import SMOKE, _measured, project

mpl.use("Agg")
PAPER = "tensor_networks"


def drawn(name: str):
    spec = project(*SMOKE).figure(PAPER, name)
    tables = {run: _measured(PAPER, run).copy() for run in spec["runs"]}
    with style():
        return paper_function(PAPER, "figures", name)(tables, **spec["settings"]), tables


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", list(project().figures(PAPER)))
def test_figure_draws_and_says_what_it_shows(name):
    figure, _ = drawn(name)
    figure.canvas.draw()
    assert project().caption(PAPER, name)
    shown = [axis for axis in figure.axes if axis.axison and axis.get_label() != "<colorbar>"]
    assert name == "fig2" or any(axis.get_xlabel() for axis in shown)


def test_fig1_has_equal_axes_and_ends_its_lines_in_its_circles():
    figure, tables = drawn("fig1")
    limits = tables["regression"].query("quantity == 'limit'")
    # gradient descent ends within its first-order error of Theorem 5, invisible at this size
    np.testing.assert_allclose(limits["value"], limits["predicted"], atol=5e-3)
    for axis in figure.axes:
        assert axis.get_aspect() == 1.0
        circles = [line for line in axis.lines if line.get_markerfacecolor() == "none"]
        assert len(circles) == 3 * 2


def test_architectures_keep_their_colours():
    figure, _ = drawn("log_time")
    legend = figure.legends[0]
    names = [text.get_text() for text in legend.get_texts()]
    colours = dict(zip(names, (line.get_color() for line in legend.get_lines()), strict=True))
    for colour, label in NETWORKS.values():
        assert colours[label] == colour
