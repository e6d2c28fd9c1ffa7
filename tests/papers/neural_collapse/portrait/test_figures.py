"""The inset of the portrait: the factor of enlargement that its caption names, measured on the drawn figure."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.neural_collapse.portrait import figures
from tests.papers.neural_collapse.training.made_up import made_up

EPOCHS = (1, 10, 100)
EXAMPLES = 8
LAST_DEVIATIONS = 5  # index of the panel (f), on deviations at the last epoch, which has the inset


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def portrait_rows(epoch, label, mean, features):
    """Return the rows of a class: its mean, a classifier that equals the mean, and its features (examples, 2).

    A row is epoch, quantity, index of the coordinate from 1, label, example and value.
    """
    rows = []
    for index, coordinate in enumerate((0, 1), start=1):
        rows.append((epoch, "portrait_mean", index, label, -1, mean[coordinate]))
        rows.append((epoch, "portrait_classifier", index, label, -1, mean[coordinate]))
        for example, feature in enumerate(features):
            rows.append((epoch, "portrait_feature", index, label, example, feature[coordinate]))
    return rows


def training(widths):
    """Return a training whose deviations from three class means shrink as one over the root of the epoch.

    Their standard deviations along both axes are `widths` at epoch 1.
    """
    angles = 2 * np.pi * np.arange(3) / 3
    means = np.column_stack([np.cos(angles), np.sin(angles)])
    deviations = np.random.default_rng(0).standard_normal((3, EXAMPLES, 2)) * widths
    rows = []
    for epoch in EPOCHS:
        for label, mean in enumerate(means):
            rows += portrait_rows(epoch, label, mean, mean + deviations[label] / np.sqrt(epoch))
    table = pd.DataFrame(rows, columns=["epoch", "quantity", "index", "label", "example", "value"])
    table = table.assign(data="digits", seed=0, split="train")
    table.attrs["settings"] = made_up().attrs["settings"] | {"seeds": 1}
    return table


def pixels_per_unit(panel):
    """Return how many pixels a unit of a panel's data is long, across and upwards."""
    origin, across, upwards = panel.transData.transform([(0, 0), (1, 0), (0, 1)])
    return np.array([across[0] - origin[0], upwards[1] - origin[1]])


# the inset is a square on the shorter side of its panel
@pytest.mark.parametrize(
    "widths", [(0.4, 0.1), (0.1, 0.4), (0.3, 0.3)], ids=["wider than high", "higher than wide", "as wide as high"]
)
def test_the_inset_enlarges_its_panel_as_often_as_the_caption_says(widths):
    plot = figures.fig1(training(widths))
    plot.figure.canvas.draw()
    panel = plot.figure.axes[LAST_DEVIATIONS]
    (inset,) = panel.child_axes
    enlargement = pixels_per_unit(inset) / pixels_per_unit(panel)
    np.testing.assert_allclose(enlargement, plot.facts["zoom"], rtol=1e-6)


def test_the_caption_says_how_many_examples_of_a_class_are_drawn():
    assert figures.fig1(training((0.3, 0.3))).facts["examples"] == EXAMPLES
