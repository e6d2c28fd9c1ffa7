"""The measurement of throughput: operations by a formula, and times in the arithmetic that trainings have."""

from typing import NamedTuple

import pytest
import torch
from bench import throughput
from torch import nn

from learning_dynamics.dynamics.training import Recipe


def test_operations_of_a_convolution_are_known():
    layers = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1, bias=False), nn.Conv2d(3, 4, 3, padding=1, bias=False))
    # multiplications, each with an addition: at 8 x 8 places, by 3 x 3 weights, from each channel to each
    first, second = 8 * 8 * 9 * 2 * 3, 8 * 8 * 9 * 3 * 4
    # forward through both; backward to the weights of both, and to the input of the second
    assert throughput.operations_per_image(layers, torch.ones(4, 2, 8, 8)) == 2 * (2 * first + 3 * second)


class Arithmetic(NamedTuple):
    """Torch's flags of arithmetic."""

    is_deterministic: bool
    tf32_in_products: bool
    tf32_in_convolutions: bool
    chooses_fastest_algorithm: bool

    @classmethod
    def now(cls):
        return cls(
            is_deterministic=torch.are_deterministic_algorithms_enabled(),
            tf32_in_products=torch.backends.cuda.matmul.allow_tf32,
            tf32_in_convolutions=torch.backends.cudnn.allow_tf32,
            chooses_fastest_algorithm=torch.backends.cudnn.benchmark,
        )


class Spy(nn.Module):
    """A network that notes in what arithmetic it is evaluated."""

    def __init__(self):
        super().__init__()
        self.layer, self.seen = nn.Linear(4, 2), set()

    def forward(self, x):
        self.seen.add(Arithmetic.now())
        return self.layer(x)


def arithmetic_of_training(*, rounds_to_tf32):
    """Return the flags that a training sets: products and convolutions round alike."""
    return Arithmetic(
        is_deterministic=True,
        tf32_in_products=rounds_to_tf32,
        tf32_in_convolutions=rounds_to_tf32,
        chooses_fastest_algorithm=False,
    )


every_precision = pytest.mark.parametrize(("precision", "rounds_to_tf32"), [("float32", False), ("tf32", True)])


@pytest.fixture
def process_allows_tf32(monkeypatch):
    """Let the process round to tf32 in convolutions by default, which a training in float32 must not."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)


@every_precision
def test_a_network_is_timed_in_the_arithmetic_that_it_trains_in(precision, rounds_to_tf32, process_allows_tf32):
    before, network = Arithmetic.now(), Spy()
    recipe = Recipe(
        loss="mse", learning_rate=0.1, momentum=0.9, weight_decay=1e-3, batch=4, epochs=1, drops=(), precision=precision
    )
    throughput.images_per_second(network, torch.randn(8, 4), torch.arange(8) % 2, recipe, seconds=0.0)
    assert network.seen == {arithmetic_of_training(rounds_to_tf32=rounds_to_tf32)}
    assert Arithmetic.now() == before


@every_precision
def test_the_peak_of_a_device_is_timed_in_the_same_arithmetic(
    precision, rounds_to_tf32, process_allows_tf32, monkeypatch
):
    before, seen = Arithmetic.now(), set()
    monkeypatch.setattr(torch, "mm", lambda *_: seen.add(Arithmetic.now()))
    throughput.attainable(torch.device("cpu"), precision, seconds=0.0)
    assert seen == {arithmetic_of_training(rounds_to_tf32=rounds_to_tf32)}
    assert Arithmetic.now() == before
