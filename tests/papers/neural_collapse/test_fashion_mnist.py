"""The overlay of FashionMNIST: its runs against those on the digits, and two cells trained on small files."""

import numpy as np
import pytest

from learning_dynamics.datasets import benchmarks
from learning_dynamics.tidy import select
from tests.datasets import original_formats as formats
from tests.papers.neural_collapse.training.made_up import NETWORKS
from tests.support import ROOT, plan, tables_of

PAPER, OVERLAY = "neural_collapse", ROOT / "workflow/config/fashion_mnist.yaml"
CELLS = [(network, loss) for network in NETWORKS for loss in ("mse", "ce")]
every_cell = pytest.mark.parametrize(("network", "loss"), CELLS)
TRAIN_IMAGES, TEST_IMAGES = 200, 50  # in the small files


@pytest.fixture(scope="module")
def overlay():
    return plan(OVERLAY, papers=[PAPER])


@every_cell
def test_every_network_trains_on_fashion_mnist_under_both_losses(network, loss, overlay):
    run = f"fashion_mnist_{network}_{loss}"
    settings = overlay.run(PAPER, run)["settings"]
    assert overlay.run_data(PAPER, run) == "fashion_mnist"
    assert (settings["network"], settings["loss"]) == (network, loss)


@pytest.mark.parametrize("setting", ["learning_rate", "weight_decay", "momentum", "batch", "drops"])
@every_cell
def test_every_cell_has_the_recipe_of_its_cell_on_the_digits(network, loss, setting, overlay):
    settings, digits_settings = (
        overlay.run(PAPER, f"{data}_{network}_{loss}")["settings"] for data in ("fashion_mnist", "digits")
    )
    assert settings[setting] == digits_settings[setting]


@every_cell
def test_every_cell_has_the_two_seeds_that_an_interval_needs(network, loss, overlay):
    assert overlay.run(PAPER, f"fashion_mnist_{network}_{loss}")["settings"]["seeds"] >= 2


@pytest.fixture
def short_overlay(tmp_path, monkeypatch):
    """The overlay's plan with narrow networks and one epoch, on small files in the format of the published ones."""
    monkeypatch.setitem(benchmarks.COUNTS, "fashion_mnist", (TRAIN_IMAGES, TEST_IMAGES))
    formats.write_mnist(tmp_path, train=TRAIN_IMAGES, test=TEST_IMAGES)
    per_class = TRAIN_IMAGES // 10  # all of them
    changes = {
        "data": {"fashion_mnist": {"folder": str(tmp_path), "checksums": False, "per_class": per_class}},
        "runs": {
            f"fashion_mnist_{network}_{loss}": {
                **{"width": 4, "epochs": 1, "measurements": 1, "seeds": 1},
                "measure": {"robustness_epochs": 1, "robustness_images": 1, "frozen_epochs": 2},
            }
            for network, loss in CELLS
        },
    }
    return plan(OVERLAY, papers=[PAPER], changes={PAPER: changes})


@pytest.mark.parametrize("cell", ["densenet_mse", "resnet_ce"])
def test_a_cell_trains_for_an_epoch_and_is_measured_on_all_images(cell, short_overlay):
    run = short_overlay.describe_run(PAPER, f"fashion_mnist_{cell}")
    table = tables_of(short_overlay, PAPER, {"run": run})["run"]
    assert set(table["data"]) == {"fashion_mnist"}
    assert set(table["epoch"]) == {1}
    for split, images in (("train", TRAIN_IMAGES), ("test", TEST_IMAGES)):
        error = select(table, "error", split=split)["value"].item()
        # of all images, so that their number is whole
        assert error * images == pytest.approx(round(error * images)), split
        assert 0 < error < 1, split
    assert np.isfinite(select(table, "nc1", split="train")["value"]).all()
