"""What is written into the panels of the figures on robustness, from made-up trainings."""

import numpy as np
import pytest

from learning_dynamics.papers.neural_collapse.panels import title_of
from learning_dynamics.papers.neural_collapse.perturbations import figures
from learning_dynamics.papers.neural_collapse.trainings import data_and_network
from tests.papers.neural_collapse import altered
from tests.papers.neural_collapse.training.made_up import LAST_EPOCH, ZERO_ERROR, expected_value, made_up

# as `full.yaml` lists trainings: a data set after another, while panels are drawn a network after another
BY_DATA_SET = [("digits", "vgg"), ("digits", "resnet"), ("mnist", "vgg"), ("mnist", "resnet")]
ROBUSTNESS = 0.1  # at the last epoch, times a factor of each training
FACTORS = (2.0, 5.0, 10.0, 20.0)


@pytest.mark.parametrize(
    "cells", [BY_DATA_SET, BY_DATA_SET[::-1], BY_DATA_SET[:2]], ids=["by data set", "backwards", "one data set"]
)
def test_each_panel_of_figure_9_shows_the_growth_of_its_own_training(cells):
    tables = {"mse": [made_up(network, data=data) for data, network in cells]}
    where_errors_end = np.mean([expected_value("robustness", ZERO_ERROR, split="test", seed=seed) for seed in range(3)])
    expected = {}
    for table, factor in zip(tables["mse"], FACTORS, strict=False):  # there may be fewer trainings than factors
        data, network = data_and_network(table)
        expected[title_of((data, network))] = f"growth ${factor * ROBUSTNESS - where_errors_end:.2f}$"
        altered.put(tables, "mse", "robustness", factor * ROBUSTNESS, network=network, data=data, epoch=LAST_EPOCH)
    shown = {}
    for axis in figures.fig9(tables["mse"]).figure.axes:
        (growth,) = (text.get_text() for text in axis.texts if text.get_text().startswith("growth"))
        title_without_letter = axis.get_title().partition(") ")[2]  # "(a) digits, VGG"
        shown[title_without_letter] = growth
    assert shown == expected
