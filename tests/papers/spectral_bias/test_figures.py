"""Every figure of spectral_bias draws what its tables hold, with labelled axes."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from learning_dynamics.pipeline.stages.papers import paper_function

from learning_dynamics.plotting import style
from tests.support import SMOKE, _measured, project

PAPER = "spectral_bias"
PANELS = {
    "fig1a": 4,
    "fig1b": 2,
    "fig2": 3,
    "fig3a": 1,
    "fig3b": 1,
    "fig4": 2,
    "fig5a": 2,
    "fig5b": 1,
    "jump": 1,
    "mirror": 2,
    "rate": 1,
    "ensemble": 3,
}


@pytest.fixture
def drawn(request):
    spec = project(*SMOKE).figure(PAPER, request.param)
    tables = {name: _measured(PAPER, name).copy() for name in spec["runs"]}
    with style():
        figure = paper_function(PAPER, "figures", request.param)(tables, **spec["settings"])
    yield request.param, figure, tables
    plt.close(figure)


def test_every_figure_is_listed():
    assert set(PANELS) == set(project().figures(PAPER))


@pytest.mark.parametrize("drawn", PANELS, indirect=True)
def test_figure_has_its_panels_and_labels(drawn):
    name, figure, _ = drawn
    assert len(figure.axes) == PANELS[name]
    assert all(axis.get_xlabel() for axis in figure.axes)
    assert figure.axes[0].get_ylabel() or figure.axes[0].get_title()
    for axis in figure.axes:
        assert axis.lines or axis.patches
        for line in axis.lines:
            x, y = (np.asarray(data, dtype=float) for data in line.get_data())
            assert np.isfinite(x).all()
            assert np.isfinite(y).all()


@pytest.mark.parametrize("drawn", ["fig1b"], indirect=True)
def test_curves_are_the_measured_singular_values_and_fit_the_axis(drawn):
    _, figure, tables = drawn
    for axis, table in zip(figure.axes, tables.values(), strict=True):
        rows = table[(table["seed"] == 0) & (table["quantity"] == "sigma_w1")]
        largest = rows[rows["index"] == 1]["value"].to_numpy()
        np.testing.assert_array_equal(axis.lines[-1].get_ydata(), largest)
        assert axis.get_ylim()[1] >= largest.max()
