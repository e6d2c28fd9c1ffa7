"""What the caption of the portrait says of its inset, measured on the drawn figure."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.neural_collapse.portrait import figures
from tests.papers.neural_collapse.training.made_up import made_up

EPOCHS = (1, 10, 100)
EXAMPLES = 8


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def training(widths):
    """Return a training whose deviations from three class means have these widths, and shrink as the epoch's root."""
    angles = 2 * np.pi * np.arange(3) / 3
    means = np.column_stack([np.cos(angles), np.sin(angles)])
    deviations = np.random.default_rng(0).standard_normal((3, EXAMPLES, 2)) * widths
    rows = []
    for epoch in EPOCHS:
        for label, mean in enumerate(means):
            features = mean + deviations[label] / np.sqrt(epoch)
            rows += [(epoch, "portrait_mean", axis, label, -1, mean[axis - 1]) for axis in (1, 2)]
            rows += [(epoch, "portrait_classifier", axis, label, -1, mean[axis - 1]) for axis in (1, 2)]
            rows += [
                (epoch, "portrait_feature", axis, label, example, features[example, axis - 1])
                for axis in (1, 2)
                for example in range(EXAMPLES)
            ]
    table = pd.DataFrame(rows, columns=["epoch", "quantity", "index", "label", "example", "value"])
    table = table.assign(data="digits", seed=0, split="train")
    table.attrs["settings"] = made_up().attrs["settings"] | {"seeds": 1}
    return table


def units_on_the_page(axis):
    """Return how long one unit of a panel's data is across and upwards, in pixels."""
    origin, across, upwards = axis.transData.transform([(0, 0), (1, 0), (0, 1)])
    return across[0] - origin[0], upwards[1] - origin[1]


@pytest.mark.parametrize("widths", [(0.4, 0.1), (0.1, 0.4), (0.3, 0.3)])
def test_the_inset_enlarges_its_panel_as_often_as_the_caption_says(widths):
    drawn = figures.fig1(training(widths))
    drawn.figure.canvas.draw()
    panel = drawn.figure.axes[5]
    (inset,) = panel.child_axes
    enlarged = np.divide(units_on_the_page(inset), units_on_the_page(panel))
    assert enlarged == pytest.approx([drawn.facts["zoom"]] * 2, rel=1e-6)
    assert drawn.facts["examples"] == EXAMPLES
