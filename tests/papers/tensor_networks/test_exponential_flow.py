"""The flow of the exponential loss in tau = log(1 + log(1 + t)), at times when its stiffness e^tau is capped."""

import numpy as np
import pytest

from learning_dynamics.papers.tensor_networks import points
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.classification.measures import LabelledData, push_directions
from learning_dynamics.papers.tensor_networks.classification.runs import from_random_layers
from learning_dynamics.papers.tensor_networks.exponential_flow import Accuracy, exponential_flow
from learning_dynamics.papers.tensor_networks.solutions import minimum_norm, norm_of

# two points whose largest margin in the l1 norm is that of (0, 1/2): the first supports it, the second has 3/2
X = np.array([[1.0, 2.0], [0.0, -3.0]])
Y = np.array([1.0, -1.0])
NETWORK = network_of("diagonal", 2, 2, seed=0)
TAU = 50.0  # of the last record: e^tau is far above every sharpness here


def last_state(sharpness, X=X):
    """Return the two diagonal layers at TAU, shape (4,), from a first layer of ones and a second of zeros."""
    states = exponential_flow(
        NETWORK,
        X,
        Y,
        np.array([1.0, 1.0, 0.0, 0.0]),
        log_log_times=np.array([0.0, TAU]),
        integration=Accuracy(rtol=1e-8, atol=1e-14, sharpness=sharpness),
    )
    return states[-1]


@pytest.mark.parametrize("sharpness", [1e4, 1e5])
def test_the_limit_has_the_largest_margin_whatever_the_cap_on_stiffness(sharpness):
    X = np.array([[3.0, 1.0], [-1.0, -2.0]])  # both points support the largest margin, with multipliers 1/5 and 2/5
    beta = NETWORK.coefficients(last_state(sharpness, X))
    best = minimum_norm(X, Y, "l1", classification=True)
    # the margin at unit norm lacks this share of the largest, 1 / |best|
    gap = 1 - np.min(Y * (X @ beta)) / norm_of(beta, "l1") * norm_of(best, "l1")
    # margins of the two support vectors differ by the logarithm of the ratio of their multipliers, over the sharpness
    assert 0 < gap < np.log(2) / sharpness


def test_the_push_is_along_the_support_vector():
    sharpness = 1e5
    states = last_state(sharpness)[None]  # at one time
    (direction,) = push_directions(NETWORK, LabelledData(X, Y), np.array([TAU]), states, sharpness=sharpness)
    # the second point's margin exceeds the first's by a half: its weight relative to the first's, exp(-5e4), is zero
    np.testing.assert_allclose(direction, X[0] / np.linalg.norm(X[0]), rtol=1e-12)


@pytest.mark.parametrize("seed", [7, 11])
def test_the_integrator_does_not_give_up_on_draws_on_which_it_once_did(seed):
    """A member of a trajectory is undecided where the integrator gave its flow up."""
    trajectory = from_random_layers(
        points.separable(samples=2, inputs=4, margin=0.5, seeds=4, seed=seed),
        networks=["diagonal", "general"],
        depth=3,
        scale=1.0,
        zero="last",
        last=100.0,
        records=5,
        doublings=1,
        integration=Accuracy(rtol=1e-8, atol=1e-14, sharpness=1e5),
        seed=seed,
    )
    np.testing.assert_array_equal(trajectory.undecided, False)
