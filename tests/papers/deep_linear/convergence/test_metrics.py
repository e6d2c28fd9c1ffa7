"""The smallest rate of a loss is not read from what an integrator leaves after it has vanished."""

import numpy as np
import pytest

from learning_dynamics.papers.deep_linear.convergence.metrics import _smallest_rate


def test_a_loss_that_rises_again_from_below_the_floor_has_the_rate_it_fell_at():
    time = np.linspace(0.0, 30.0, 61)[None]
    loss = np.exp(-2 * time)
    loss[0, 30:] = 2e-12
    assert _smallest_rate(loss, time, 1e-12) == pytest.approx(2.0)
    # while it stays above the floor it counts
    loss[0, 10:] = np.exp(-10.0)
    assert _smallest_rate(loss, time, 1e-12) == pytest.approx(1 / 3)
