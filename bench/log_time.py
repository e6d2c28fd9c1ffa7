"""Classification in logarithmic time, against gradient descent, which takes ten times as many steps each decade."""

import numpy as np

from bench.harness import Row, close
from learning_dynamics.dynamics import multilinear_descent
from learning_dynamics.papers.tensor_networks import tensor_network
from learning_dynamics.papers.tensor_networks.exponential_flow import Accuracy, exponential_flow

DECADES = 60
STEP, REACHED = 5e-4, 1e3  # the step of the paper's own descent, and the time to which it is taken here
ACCURACY = Accuracy(sharpness=1e7, rtol=1e-9, atol=1e-14)


def problem() -> tuple[tensor_network.TensorNetwork, np.ndarray, np.ndarray, np.ndarray]:
    """Return a diagonal network of two layers, two points that it can separate, their labels, and a start."""
    X, labels = np.array([[1.0, 2.0], [0.0, -3.0]]), np.array([1.0, -1.0])
    return tensor_network.diagonal(2, 2), X, labels, 0.5 * np.random.default_rng(0).standard_normal(4)


def followed(decades: float) -> np.ndarray:
    """Return the rescaled layers at t = 0, at `REACHED`, where it lies before the end, and at t = 10**decades."""
    network, X, labels, initial = problem()
    log_times = np.unique([0.0, min(np.log1p(REACHED), decades * np.log(10)), decades * np.log(10)])
    return exponential_flow(network, X, labels, initial, np.log1p(log_times), ACCURACY)


def rows() -> list[Row]:
    """To t = 1e60, of which descent does the first three decades."""
    network, X, labels, initial = problem()
    tensors = network.data_tensor(X)

    def descended(step: float = STEP) -> np.ndarray:
        steps = round(REACHED / step)
        done = multilinear_descent.descend(tensors, labels, initial[None], loss="exponential", step=step, steps=steps)
        return done.final_states[0]

    def agree(flow: np.ndarray, descent: np.ndarray) -> None:
        log_time = np.log1p(REACHED)
        layers = flow[1] * np.sqrt(1 + log_time)
        # the step's error is of first order, so that doubling it adds as much again; and what `ACCURACY` leaves out
        step_error = np.abs(descended(2 * STEP) - descent).max() / np.abs(descent).max()
        close(2 * step_error + (1 + log_time) ** 2 / ACCURACY.sharpness)(layers, descent)

    steps = REACHED / STEP
    return [
        Row(
            "classification to t = 1e60",
            "gradient descent, compiled",
            1e6,
            lambda: followed(DECADES),
            descended,
            agree,
            REACHED / 10.0**DECADES,
            f"extrapolated: the peer takes {steps:.1g} steps to t = {REACHED:.0e}, where the two are compared, and ten "
            "times as many for each decade more; nobody could run it",
        )
    ]
