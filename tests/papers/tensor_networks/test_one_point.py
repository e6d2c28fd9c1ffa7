"""Two layers on one point: random starts within the condition of Theorem 5."""

import numpy as np
import pytest

from learning_dynamics.papers.tensor_networks import one_point
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.starts import within_condition


@pytest.mark.parametrize("architecture", ["general", "short_filters", "decomposable"])
def test_random_starts_fulfil_the_condition(architecture):
    network = network_of(architecture, 4, 2, seed=1)
    tensor = network.data_tensor(np.array([1.0, -0.3, 0.4, 2.0]))
    layers = network.layers(within_condition(tensor, np.random.default_rng(2)))
    assert one_point.one_point_condition(tensor, *layers) > 0
