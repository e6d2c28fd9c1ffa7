"""The compiled descent against a few lines of numpy."""

import numpy as np
import pytest

from learning_dynamics.dynamics.multilinear_descent import descend
from learning_dynamics.errors import DivergenceError
from learning_dynamics.papers.tensor_networks.architectures import network_of
from learning_dynamics.papers.tensor_networks.tensor_network import contractions, outputs

X = np.array([[1.0, 2.0, 0.5], [0.0, -3.0, 1.0]])
Y = np.array([1.0, -1.0])


def by_hand(network, state, loss, step, steps):
    tensors = network.data_tensor(X)
    for _ in range(steps):
        layers = network.layers(state)
        f = outputs(tensors, layers)
        weights = f - Y if loss == "squared" else -Y * np.exp(-Y * f)
        gradient = contractions(np.tensordot(weights, tensors, axes=1), layers)
        state = state - step * np.concatenate(gradient)
    return state


@pytest.mark.parametrize("loss", ["squared", "exponential"])
@pytest.mark.parametrize(("architecture", "depth"), [("convolutional", 2), ("fully_connected", 2), ("general", 3)])
def test_descent_takes_the_steps_of_numpy(architecture, depth, loss):
    network = network_of(architecture, 3, depth, seed=1)
    start = 0.5 * np.random.default_rng(0).standard_normal((2, sum(network.lengths)))
    run = descend(network.data_tensor(X), Y, start, loss=loss, step=1e-3, steps=50, records=np.array([0, 20, 50]))
    np.testing.assert_array_equal(run.states[:, 0], start)
    np.testing.assert_array_equal(run.states[:, 2], run.final_states)
    for member in range(2):
        for record, steps in enumerate([0, 20, 50]):
            expected = by_hand(network, start[member], loss, 1e-3, steps)
            np.testing.assert_allclose(run.states[member, record], expected, rtol=1e-11, atol=1e-13)


def test_descent_stops_at_the_tolerance_and_fills_later_records():
    network = network_of("diagonal", 3, 2, seed=0)
    start = np.full((1, 6), 0.7)
    run = descend(
        network.data_tensor(X),
        Y,
        start,
        loss="squared",
        step=1e-2,
        steps=10**6,
        records=np.array([10, 10**6]),
        tolerance=1e-9,
    )
    assert run.steps[0] < 10**6
    np.testing.assert_array_equal(run.states[0, 1], run.final_states[0])
    np.testing.assert_allclose(X @ network.coefficients(run.final_states[0]), Y, atol=1e-9)


def test_divergence_is_an_error():
    network = network_of("diagonal", 3, 3, seed=0)
    with pytest.raises(DivergenceError, match="smaller steps"):
        descend(network.data_tensor(X), Y, np.full((1, 9), 5.0), loss="squared", step=1.0, steps=1000)
