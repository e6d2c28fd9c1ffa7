"""What the figures of the deviation draw, read off their lines, from made-up trainings."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.neural_collapse.decomposition import figures
from tests.papers.neural_collapse.training.made_up import made_up

LUCK = 1 + 0.02 * np.arange(3)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def swept(setting, values):
    """A sweep in which all that holds the classifier off is the smaller, the larger the value."""
    tables = []
    for value in values:
        table = made_up()
        moved = table["quantity"].str.match("continued_|split_")
        table.loc[moved, "value"] /= value
        tables.append(table.assign(**{setting: value}))
    table = pd.concat(tables, ignore_index=True)
    table.attrs["settings"] = made_up().attrs["settings"] | {setting: list(values), "continued_steps": 100}
    return table


def test_each_panel_has_a_line_for_each_deviation_and_no_shading():
    rates, batches = swept("learning_rate", [0.05, 0.1]), swept("batch", [16, 256])
    drawn = figures.deviation_over(rates, batches, rates, batches)
    # epoch 30 is the last at the full rate of a hundred epochs that drop at a third
    least = (0.1 * 30**-0.3 + 0.1 * 30**-2.0) * LUCK
    starts = [0.4 * LUCK, 0.05 * LUCK, 0.02 * 30**-1.2 * LUCK / least, 0.0008 * 30**-1.2 * LUCK / least]
    middles = np.exp([np.mean(np.log(start)) for start in starts])
    for place, axis in enumerate(drawn.figure.axes):
        assert not axis.collections, place
        values = [0.05, 0.1] if place % 2 == 0 else [16, 64, 256]
        # batches of 64 are the run of the other sweep at the rate of this one
        factors = [1 / {64: 0.05}.get(value, value) for value in values]
        solid = [line for line in axis.lines if line.get_linestyle() == "-"]
        assert len(solid) == 4, place
        for line, middle in zip(solid, middles, strict=True):
            assert line.get_xdata() == pytest.approx(values), place
            assert line.get_ydata() == pytest.approx(middle * np.array(factors)), (place, line.get_label())
    assert drawn.facts["epoch"] == 30
    assert drawn.facts["normalised"] == drawn.facts["plain"] == pytest.approx(0.05 / 0.4)


def test_bars_are_stacked_and_a_line_spans_what_the_network_had_since_train_errors_ended():
    drawn = figures.deviation_split([made_up("vgg"), made_up("resnet")])
    (axis,) = drawn.figure.axes
    tops = sorted({round(bar.get_y() + bar.get_height(), 9) for bar in axis.patches})
    epochs = np.array([10, 30])
    share = 0.05 * epochs**-1.2 / (0.1 * epochs**-0.3 + 0.1 * epochs**-2.0)
    assert tops[-1] == pytest.approx(share[1])
    segments = np.concatenate([lines.get_segments() for lines in axis.collections])
    assert len(segments) == 6
    np.testing.assert_allclose(np.sort(segments[:, :, 1], axis=1), [sorted(share)] * 6)
