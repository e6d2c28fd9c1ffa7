"""Operations are those that a step takes."""

import pytest
import torch
from bench import throughput
from torch import nn

from learning_dynamics.dynamics.training import Recipe


def test_operations_of_a_convolution_are_known():
    layers = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1, bias=False), nn.Conv2d(3, 4, 3, padding=1, bias=False))
    # 8 x 8 places; backward goes to the weights of both layers, and to the input of the second
    first, second = 8 * 8 * 9 * 2 * 3, 8 * 8 * 9 * 3 * 4
    assert throughput.operations_per_image(layers, torch.ones(4, 2, 8, 8)) == 2 * (2 * first + 3 * second)


class _Spy(nn.Module):
    """A network that notes in what arithmetic it is evaluated."""

    def __init__(self):
        super().__init__()
        self.layer, self.seen = nn.Linear(4, 2), set()

    def forward(self, x):
        self.seen.add(_flags())
        return self.layer(x)


def _flags():
    cuda = torch.backends.cuda.matmul, torch.backends.cudnn
    return torch.are_deterministic_algorithms_enabled(), *(one.allow_tf32 for one in cuda), cuda[1].benchmark


@pytest.mark.parametrize("precision", ["float32", "tf32"])
def test_a_network_is_timed_in_the_arithmetic_that_it_trains_in(precision, monkeypatch):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    before, timed, products = _flags(), _Spy(), set()
    recipe = Recipe(
        loss="mse", learning_rate=0.1, momentum=0.9, weight_decay=1e-3, batch=4, epochs=1, drops=(), precision=precision
    )
    throughput.images_per_second(timed, torch.randn(8, 4), torch.arange(8) % 2, recipe, seconds=0.0)
    monkeypatch.setattr(torch, "mm", lambda *_: products.add(_flags()))
    throughput.attainable(torch.device("cpu"), precision, seconds=0.0)
    tf32 = precision == "tf32"
    assert timed.seen == products == {(True, tf32, tf32, False)}
    assert _flags() == before
