"""The flow in doubly logarithmic time, far beyond where the exponent is cut."""

import numpy as np
import pytest

from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.classification.measures import Classified, residual_directions
from learning_dynamics.papers.tensor_networks.classification.runs import from_random_layers
from learning_dynamics.papers.tensor_networks.exponential_flow import Accuracy, exponential_flow
from learning_dynamics.papers.tensor_networks.solutions import minimum_norm, norm_of

X = np.array([[1.0, 2.0], [0.0, -3.0]])
Y = np.array([1.0, -1.0])


@pytest.mark.parametrize("sharpness", [1e4, 1e5])
def test_the_limit_does_not_depend_on_the_cut_of_the_exponent(sharpness):
    network = network_of("diagonal", 2, 2, seed=0)
    start = np.array([1.0, 1.0, 0.0, 0.0])
    states = exponential_flow(
        network, X, Y, start, log_log_times=np.array([0.0, 50.0]), integration=Accuracy(1e-8, 1e-14, sharpness)
    )
    beta = network.coefficients(states[-1])
    best = minimum_norm(X, Y, "l1", classification=True)
    gap = 1 - np.min(Y * (X @ beta)) * norm_of(best, "l1") / norm_of(beta, "l1")
    # margins of support vectors differ by a logarithm over the sharpness
    assert abs(gap) < 20 / sharpness
    pushed = residual_directions(network, Classified(X, Y), np.array([50.0]), states[-1:], sharpness=sharpness)
    np.testing.assert_allclose(np.linalg.norm(pushed), 1.0, rtol=1e-14)


@pytest.mark.parametrize("seed", [7, 11])
def test_draws_that_once_stopped_the_integrator_get_through(seed):
    data = points.separable(samples=2, inputs=4, margin=0.5, seeds=4, seed=seed)
    settings = {"networks": ["diagonal", "general"], "depth": 3, "scale": 1.0, "zero": "last", "last": 100.0}
    given = {"records": 5, "doublings": 1, "integration": Accuracy(1e-8, 1e-14, 1e5), "seed": seed}
    assert not from_random_layers(data, **settings, **given).undecided.any()
