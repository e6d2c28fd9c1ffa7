"""Two layers on one point: the closed form of Theorem 5 against integration."""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import integrate
from learning_dynamics.papers.tensor_networks import one_point
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.squared_flow import squared_loss_field
from learning_dynamics.papers.tensor_networks.starts import factors, within_condition


@pytest.mark.parametrize("label", [1.0, -0.6])
@pytest.mark.parametrize("architecture", ["diagonal", "convolutional", "fully_connected"])
def test_one_point_limit_is_where_the_flow_ends(architecture, label):
    network, x, scale = network_of(architecture, 3, 2, seed=0), np.array([1.0, 2.0, -0.4]), 0.4
    directions = factors(architecture, np.array([0.5, -1.0, 0.8]), 0.7)
    first, second = network.layers(directions)
    predicted = one_point.one_point_limit(network.data_tensor(x), label, scale, first, second)
    field = squared_loss_field(network.data_tensor(x[None]), np.array([label]), network)
    flow = integrate(field, scale * directions, np.array([0.0, 60.0]), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(flow.final_state, predicted, rtol=1e-8, atol=1e-9)
    assert one_point.one_point_condition(network.data_tensor(x), first, second) > 0


@pytest.mark.parametrize("architecture", ["general", "short_filters", "decomposable"])
def test_random_starts_fulfil_the_condition(architecture):
    network = network_of(architecture, 4, 2, seed=1)
    tensor = network.data_tensor(np.array([1.0, -0.3, 0.4, 2.0]))
    layers = network.layers(within_condition(tensor, np.random.default_rng(2)))
    assert one_point.one_point_condition(tensor, *layers) > 0
