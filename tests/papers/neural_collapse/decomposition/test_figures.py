"""Figures of the deviation from the least-squares classifier: what is drawn of made-up trainings, in numbers."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.neural_collapse.decomposition import figures
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import BEFORE_DROP, ZERO_ERROR, expected_value, made_up, seed_factor

SEED_FACTORS = np.array([seed_factor(seed) for seed in range(3)])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def least_squares_loss(epoch):
    """Return L_LS = L_NC1 + L_NC2/3 of seed 0."""
    return expected_value("loss_nc1", epoch) + expected_value("loss_nc23", epoch)


def sweep(setting, values, *, whole):
    """Return a table of trainings at several values of a setting: the made-up deviations, divided by the value.

    Those of networks trained on in whole batches ("continued_whole") are `whole` times as large besides.
    """
    tables = []
    for value in values:
        table = made_up()
        is_deviation = table["quantity"].str.match("continued_|split_")
        table.loc[is_deviation, "value"] /= value
        table.loc[table["quantity"] == "continued_whole", "value"] *= whole
        tables.append(table.assign(**{setting: value}))
    table = pd.concat(tables, ignore_index=True)
    table.attrs["settings"] = made_up().attrs["settings"] | {setting: list(values), "continued_steps": 100}
    return table


# Panels (a) and (c) are over rates, (b) and (d) over batches. The sweep over batches leaves out 64, the batch of the
# sweep over rates: the figure takes it from there, at the trained rate, 0.05. So deviations are as made up, times these
FACTORS = {"rates": {0.05: 1 / 0.05, 0.1: 1 / 0.1}, "batches": {16: 1 / 16, 64: 1 / 0.05, 256: 1 / 256}}


PLAIN = 3.0  # times as much is left by whole batches without batch norm, panels (c) and (d), as with it


def draw_deviation_over():
    """Return the figure of four sweeps: over rates and over batches, with batch norm and then without."""
    sweeps = [
        sweep(setting, values, whole=whole)
        for whole in (1.0, PLAIN)
        for setting, values in (("learning_rate", [0.05, 0.1]), ("batch", [16, 256]))
    ]
    return figures.deviation_over(*sweeps)


@pytest.mark.parametrize(
    ("panel", "over", "whole"),
    [
        pytest.param(0, "rates", 1.0, id="a"),
        pytest.param(1, "batches", 1.0, id="b"),
        pytest.param(2, "rates", PLAIN, id="c"),
        pytest.param(3, "batches", PLAIN, id="d"),
    ],
)
def test_each_panel_has_a_solid_line_of_geometric_means_for_each_deviation(panel, over, whole):
    axis = draw_deviation_over().figure.axes[panel]
    # Shares of L_LS of three seeds, at the epoch before the drop. "continued_" quantities are recorded as shares,
    # "split_" ones as losses
    split = {quantity: expected_value(quantity, BEFORE_DROP) for quantity in ("split_batches", "split_sampling")}
    shares = {
        "network, batches": expected_value("continued_batches", BEFORE_DROP) * SEED_FACTORS,
        "network, whole batches": whole * expected_value("continued_whole", BEFORE_DROP) * SEED_FACTORS,
        # the factors of seeds cancel
        "last layer, batches and their statistics": np.full(
            3, split["split_batches"] / least_squares_loss(BEFORE_DROP)
        ),
        "last layer, sampling of batches": np.full(3, split["split_sampling"] / least_squares_loss(BEFORE_DROP)),
    }
    solid_lines = {line.get_label(): line for line in axis.lines if line.get_linestyle() == "-"}
    assert solid_lines.keys() == shares.keys()
    values, factors = list(FACTORS[over]), np.array(list(FACTORS[over].values()))
    for label, share in shares.items():
        geometric_mean = np.exp(np.mean(np.log(share)))
        assert solid_lines[label].get_xdata() == pytest.approx(values), label
        assert solid_lines[label].get_ydata() == pytest.approx(geometric_mean * factors), label


def test_no_panel_is_shaded():
    for axis in draw_deviation_over().figure.axes:
        assert not axis.collections, axis.get_title()


def test_the_caption_has_the_epoch_and_the_share_that_whole_batches_leave():
    facts = draw_deviation_over().facts
    assert facts["epoch"] == BEFORE_DROP
    # of the deviation in batches; "normalised" is with batch norm, "plain" without
    left = expected_value("continued_whole", BEFORE_DROP) / expected_value("continued_batches", BEFORE_DROP)
    assert (facts["normalised"], facts["plain"]) == pytest.approx((left, PLAIN * left))


def share_of_network(epoch):
    """Return L_LS^perp over L_LS of VGG; factors of seeds cancel."""
    return expected_value("loss_ls_perp", epoch) / least_squares_loss(epoch)


RESNET = 1.5  # times as large a deviation as VGG's


def axis_of_deviation_split():
    """Return the axis of the figure on two networks of three seeds: bars of VGG, then of ResNet."""
    tables = {"trainings": [made_up("vgg"), made_up("resnet")]}
    altered.put(tables, "trainings", "loss_ls_perp", lambda value: RESNET * value, network="resnet")
    (axis,) = figures.deviation_split(tables["trainings"]).figure.axes
    return axis


def test_each_bar_reaches_the_share_of_its_network_before_the_drop():
    tops = {}  # of bars, which are stacked of parts, by where they are on the horizontal axis
    for part in axis_of_deviation_split().patches:
        centre = part.get_x() + part.get_width() / 2
        tops[centre] = max(tops.get(centre, 0.0), part.get_y() + part.get_height())
    share = share_of_network(BEFORE_DROP)
    tops_from_left_to_right = [tops[centre] for centre in sorted(tops)]
    assert tops_from_left_to_right == pytest.approx(3 * [share] + 3 * [RESNET * share])  # three seeds each


def test_a_line_beside_each_bar_spans_the_shares_from_zero_error_to_the_drop():
    axis = axis_of_deviation_split()
    segments = np.concatenate([lines.get_segments() for lines in axis.collections])  # shape (lines, ends, x and y)
    from_left_to_right = np.argsort(segments[:, 0, 0])
    spans = np.sort(segments[from_left_to_right, :, 1], axis=1)  # lower and upper end of each line
    expected = np.sort([share_of_network(epoch) for epoch in (ZERO_ERROR, BEFORE_DROP)])
    np.testing.assert_allclose(spans, 3 * [expected] + 3 * [RESNET * expected])
