"""Operations are those that a step takes; rates are counted against the clock."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from learning_dynamics.measures import throughput


def test_operations_of_a_linear_layer_are_known():
    layer = nn.Linear(30, 20, bias=False)
    # two operations for each weight: forward, and backward to the weights; the input needs no gradient
    assert throughput.operations_per_image(layer, torch.ones(5, 30)) == 2 * 2 * 30 * 20


def test_operations_of_a_convolution_are_known():
    layers = nn.Sequential(nn.Conv2d(2, 3, 3, padding=1, bias=False), nn.Conv2d(3, 4, 3, padding=1, bias=False))
    # 8 x 8 places; backward goes to the weights of both layers, and to the input of the second
    first, second = 8 * 8 * 9 * 2 * 3, 8 * 8 * 9 * 3 * 4
    assert throughput.operations_per_image(layers, torch.ones(4, 2, 8, 8)) == 2 * (2 * first + 3 * second)


def test_the_rate_leaves_out_the_first_time(monkeypatch):
    now = [0.0]
    lasting = iter([100.0] + [0.5] * 20)

    def work():
        now[0] += next(lasting)

    monkeypatch.setattr(throughput.time, "perf_counter", lambda: now[0])
    assert throughput._rate(work, torch.device("cpu"), 4.0) == pytest.approx(2.0)
