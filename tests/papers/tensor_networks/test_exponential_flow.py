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
    # margins differ by a logarithm over the sharpness, and ln(1e5) is 12
    assert abs(gap) < 20 / sharpness


def test_residuals_point_along_the_support_vectors():
    """The largest margin in the l1 norm is that of (0, 1/2), whose only support vector is the first point."""
    network = network_of("diagonal", 2, 2, seed=0)
    start = np.array([1.0, 1.0, 0.0, 0.0])
    states = exponential_flow(
        network, X, Y, start, log_log_times=np.array([0.0, 50.0]), integration=Accuracy(1e-8, 1e-14, 1e5)
    )
    directions = residual_directions(network, Classified(X, Y), np.array([50.0]), states[-1:], sharpness=1e5)
    np.testing.assert_allclose(directions[0], X[0] / np.linalg.norm(X[0]), rtol=1e-12)


@pytest.mark.parametrize("seed", [7, 11])
def test_flows_with_stiff_layers_get_through(seed):
    data = points.separable(samples=2, inputs=4, margin=0.5, seeds=4, seed=seed)
    settings = {"networks": ["diagonal", "general"], "depth": 3, "scale": 1.0, "zero": "last", "last": 100.0}
    given = {"records": 5, "doublings": 1, "integration": Accuracy(1e-8, 1e-14, 1e5), "seed": seed}
    np.testing.assert_array_equal(from_random_layers(data, **settings, **given).undecided, False)
