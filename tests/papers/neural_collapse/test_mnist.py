"""The overlay of MNIST's own digits: the images are MNIST's, and a cell of it trains on them and is measured."""

import multiprocessing

import numpy as np
import pytest

from learning_dynamics.datasets.images import mnist_sample
from learning_dynamics.tidy import select
from tests.support import ROOT, plan, tables_of

PAPER = "neural_collapse"
IMAGES, TRAIN_IMAGES = 500, 20  # of each of ten digits: all that there are, and those that train
# changes of the overlay: small and short. The run that is trained here, `mnist_sample_resnet_mse`, extends this one
SHORT = {
    "data": {"mnist_sample": {"per_class": TRAIN_IMAGES}},
    "runs": {
        "mnist_sample_vgg_mse": {
            **{"width": 4, "epochs": 1, "measurements": 1, "seeds": 1},
            "measure": {"robustness_epochs": 1, "robustness_images": 1},
        }
    },
}


def test_of_500_images_of_each_digit_20_train_and_the_others_test():
    test_images = IMAGES - TRAIN_IMAGES
    data = mnist_sample(per_class=TRAIN_IMAGES, seed=0)
    assert data["train_images"].shape == (10 * TRAIN_IMAGES, 1, 28, 28)
    assert data["test_images"].shape == (10 * test_images, 1, 28, 28)
    assert np.bincount(data["train_labels"]).tolist() == 10 * [TRAIN_IMAGES]
    assert np.bincount(data["test_labels"]).tolist() == 10 * [test_images]


def test_images_look_like_mnists():
    data = mnist_sample(per_class=TRAIN_IMAGES, seed=0)
    images, labels = data["test_images"][:, 0], data["test_labels"]
    # strokes are white on black: in MNIST 81 % of the pixels are zero
    assert 0.75 < (images == 0).mean() < 0.85
    # in its middle a zero has a hole and a one has ink: about 20 times as bright, and 10 times is asked for
    middle_of_zeros, middle_of_ones = (images[labels == digit, 13:15, 13:15].mean() for digit in (0, 1))
    assert 10 * middle_of_zeros < middle_of_ones


# On processors that have no more than AVX2 oneDNN once wrote out of bounds, and the process died. The variable makes
# any processor compute like these; "DEFAULT" uses all that it has
@pytest.mark.parametrize("instructions", ["AVX2", "DEFAULT"])
def test_a_cell_of_the_overlay_trains_for_an_epoch_and_is_measured(monkeypatch, instructions):
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", instructions)
    child = multiprocessing.get_context("spawn").Process(target=train_and_measure)
    child.start()
    child.join()
    assert child.exitcode == 0  # an assertion below that fails ends the child with 1


def train_and_measure():
    """Train the cell and measure it, in the process of the test above."""
    short = plan(ROOT / "workflow/config/mnist.yaml", papers=[PAPER], changes={PAPER: SHORT})
    run = short.describe_run(PAPER, "mnist_sample_resnet_mse")
    table = tables_of(short, PAPER, {"run": run})["run"]
    assert set(table["data"]) == {"mnist_sample"}
    assert set(table["epoch"]) == {1}
    for split in ("train", "test"):
        # a network that decides at random is wrong on 0.9 of the images, on the 200 train images, which are fewer, with
        # a standard error of 0.02
        assert 0 < select(table, "error", split=split)["value"].item() < 0.95, split
    assert np.isfinite(select(table, "nc1", split="train")["value"]).all()
