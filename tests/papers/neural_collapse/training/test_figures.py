"""The training figures: every one is drawn from metrics, and its lines are the numbers."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from learning_dynamics.pipeline.stages.papers import paper_function

from learning_dynamics.papers.neural_collapse.collapse import figures as collapse
from learning_dynamics.papers.neural_collapse.generalisation import figures as generalisation
from learning_dynamics.plotting import style
from tests.papers.test_neural_collapse_training_claims import EPOCHS, made_up
from tests.support import _measured

mpl.use("Agg")
FIGURES = [f"fig{number}" for number in range(1, 14)] + ["table1"]


@pytest.fixture(autouse=True)
def _closed():
    with style():
        yield
    plt.close("all")


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_from_smoke_scale_metrics(name, tmp_path):
    tables = {"digits_vgg_mse": _measured("neural_collapse", "digits_vgg_mse").copy()}
    figure = paper_function("neural_collapse", "figures", name)(tables)
    figure.savefig(tmp_path / "figure.png")
    assert all(axis.get_xlabel() == "epoch" for axis in figure.axes if name not in ("fig1", "fig13", "table1"))


def test_lines_are_geometric_means_over_seeds_and_the_rule_is_zero_error():
    tables = {f"digits_{network}_mse": made_up(f"digits_{network}_mse") for network in ("vgg", "resnet", "densenet")}
    figure = collapse.fig7(tables)
    assert [axis.get_title() for axis in figure.axes] == ["digits, VGG", "digits, ResNet", "digits, DenseNet"]
    curve, rule = figure.axes[0].lines
    np.testing.assert_array_equal(curve.get_xdata(), EPOCHS)
    expected = np.exp(np.mean(np.log([1.0, 1.02, 1.04]))) * EPOCHS.astype(float) ** -1.5
    np.testing.assert_allclose(curve.get_ydata(), expected)
    assert rule.get_xdata()[0] == 10


def test_several_data_sets_make_a_grid_of_networks_by_data_sets():
    cells = [
        f"{data}_{network}_{loss}"
        for data in ("mnist", "svhn")
        for network in ("vgg", "resnet")
        for loss in ("mse", "ce")
    ]
    figure = collapse.fig10({cell: made_up(cell) for cell in cells})
    titles = [axis.get_title() for axis in figure.axes]
    assert titles == ["MNIST, VGG", "SVHN, VGG", "MNIST, ResNet", "SVHN, ResNet"]
    # a curve and a rule for each loss
    assert [len(axis.lines) for axis in figure.axes] == [4] * 4


def test_the_paper_s_accuracies_stand_beside_ours():
    figure = generalisation.table1({"mnist_vgg_mse": made_up("mnist_vgg_mse")})
    texts = [cell.get_text().get_text() for cell in figure.axes[0].tables[0].get_celld().values()]
    assert "99.59" in texts
    assert "paper: at the end" in texts
