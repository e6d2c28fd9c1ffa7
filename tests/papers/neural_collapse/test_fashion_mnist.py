"""The overlay of FashionMNIST: a cell of it trains on the images' own files, and all test images are measured."""

import itertools

import numpy as np
import pytest

from learning_dynamics.datasets import benchmarks
from learning_dynamics.tidy import select
from tests.datasets import original_formats as formats
from tests.papers.neural_collapse.training.made_up import NETWORKS
from tests.support import ROOT, plan, tables_of

PAPER, OVERLAY = "neural_collapse", ROOT / "workflow/config/fashion_mnist.yaml"


def test_three_families_and_both_losses_see_the_same_images():
    whole = plan(OVERLAY, papers=[PAPER])
    for network, loss in itertools.product(NETWORKS, ("mse", "ce")):
        run = f"fashion_mnist_{network}_{loss}"
        settings = whole.run(PAPER, run)["settings"]
        recipe = whole.run(PAPER, f"digits_{network}_{loss}")["settings"]
        assert whole.run_data(PAPER, run) == "fashion_mnist", network
        assert (settings["network"], settings["loss"]) == (network, loss), network
        for key in ("learning_rate", "weight_decay", "momentum", "batch", "drops"):
            assert settings[key] == recipe[key], (run, key)
        assert settings["seeds"] >= 2, network


@pytest.fixture
def short(tmp_path, monkeypatch):
    """The overlay with few images and one epoch."""
    monkeypatch.setitem(benchmarks.COUNTS, "fashion_mnist", (200, 50))
    formats.write_mnist(tmp_path, train=200, test=50)
    changes = {
        "data": {"fashion_mnist": {"folder": str(tmp_path), "checksums": False, "per_class": 20}},
        "runs": {
            f"fashion_mnist_{network}_{loss}": {
                **{"width": 4, "epochs": 1, "measurements": 1, "seeds": 1},
                "measure": {"robustness_epochs": 1, "robustness_images": 1, "frozen_epochs": 2},
            }
            for network, loss in itertools.product(NETWORKS, ("mse", "ce"))
        },
    }
    return plan(OVERLAY, papers=[PAPER], changes={PAPER: changes})


@pytest.mark.parametrize("cell", ["densenet_mse", "resnet_ce"])
def test_a_cell_of_the_overlay_trains_for_an_epoch_and_is_measured(cell, short):
    run = short.describe_run(PAPER, f"fashion_mnist_{cell}")
    table = tables_of(short, PAPER, {"run": run})["run"]
    assert set(table["data"]) == {"fashion_mnist"}
    assert set(table["epoch"]) == {1}
    for split, images in (("train", 200), ("test", 50)):
        error = select(table, "error", split=split)["value"].item()
        assert error * images == pytest.approx(round(error * images)), split
        assert 0 < error < 1, split
    assert np.isfinite(select(table, "nc1", split="train")["value"]).all()
