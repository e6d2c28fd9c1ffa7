"""The overlay of MNIST's own digits: a cell of it trains on them and is measured."""

import multiprocessing

import numpy as np
import pytest

from learning_dynamics.datasets.images import mnist_sample
from learning_dynamics.tidy import select
from tests.support import ROOT, plan, tables_of

SHORT = {  # the ResNet of the test extends the VGG's block
    "data": {"mnist_sample": {"per_class": 20}},
    "runs": {
        "mnist_sample_vgg_mse": {
            **{"width": 4, "epochs": 1, "measurements": 1, "seeds": 1},
            "measure": {"robustness_epochs": 1, "robustness_images": 1},
        }
    },
}


def test_the_digits_are_those_of_mnist():
    data = mnist_sample(per_class=20, seed=0)
    assert data["train_images"].shape == (200, 1, 28, 28)
    assert data["test_images"].shape == (4800, 1, 28, 28)
    assert np.bincount(data["train_labels"]).tolist() == [20] * 10
    assert np.bincount(data["test_labels"]).tolist() == [480] * 10
    # strokes in white on black: most pixels are empty, and a zero has a hole in its middle where a one has ink
    images, labels = data["test_images"][:, 0], data["test_labels"]
    assert 0.75 < (images == 0).mean() < 0.85
    middle = [images[labels == digit, 13:15, 13:15].mean() for digit in (0, 1)]
    assert 10 * middle[0] < middle[1]


# what a processor with AVX2 alone computes, on any: there oneDNN once wrote where it should not, and the process died
@pytest.mark.parametrize("instructions", ["AVX2", "DEFAULT"])
def test_a_cell_of_the_overlay_trains_for_an_epoch_and_is_measured(monkeypatch, instructions):
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", instructions)
    child = multiprocessing.get_context("spawn").Process(target=train_and_measure)
    child.start()
    child.join()
    assert child.exitcode == 0


def train_and_measure():
    short = plan(ROOT / "workflow/config/mnist.yaml", papers=["neural_collapse"], changes={"neural_collapse": SHORT})
    run = short.describe_run("neural_collapse", "mnist_sample_resnet_mse")
    table = tables_of(short, "neural_collapse", {"run": run})["run"]
    assert set(table["data"]) == {"mnist_sample"}
    assert set(table["epoch"]) == {1}
    for split in ("train", "test"):
        assert 0 < select(table, "error", split=split)["value"].item() < 0.95, split
    assert np.isfinite(select(table, "nc1", split="train")["value"]).all()
