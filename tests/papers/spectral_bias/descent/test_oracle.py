"""Discrete descent against torch's gradients, and its metrics against sums written out entry by entry.

W is `W1`, a is `W2`, and R = X^T (Y - X W a), as in appendix C.1.
"""

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles

from learning_dynamics.datasets import regression, whitened
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias.descent import metrics, runs
from tests.papers.spectral_bias import plain

INPUTS = 3  # and as many hidden units
GAMMA, STEP, STEPS = 0.05, 0.04, 60
SETTINGS = {"gamma": GAMMA, "step": STEP, "steps": STEPS}


@pytest.fixture(scope="module")
def descent():
    """Return data of two draws, and trajectory and table of descent on them."""
    data = regression.conditioned(samples=3, inputs=INPUTS, outputs=1, condition=2.0, seeds=2, seed=1)
    return data, *plain.trajectory_and_table(runs.linear_descent, metrics.linear_descent, SETTINGS, data)


def test_data_with_several_outputs_are_refused():
    data = whitened.orthogonal(inputs=3, outputs=2, seeds=1, seed=0)
    with pytest.raises(ProjectError, match="linear_descent needs data with one output, not 2"):
        runs.linear_descent(data, **SETTINGS)


@pytest.mark.parametrize("draw", [0, 1])
def test_descent_is_torchs(descent, draw):
    data, trajectory, _ = descent
    X, Y = torch.tensor(data["X"][draw]), torch.tensor(data["Y"][draw])
    W = (torch.eye(INPUTS, dtype=torch.float64) * (2 * GAMMA) ** 0.5).requires_grad_()
    a = torch.zeros(INPUTS, 1, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.SGD([W, a], lr=STEP)
    hidden, output = [], []
    for _ in range(STEPS + 1):
        hidden.append(W.detach().numpy().copy())
        output.append(a.detach().numpy().copy())
        optimiser.zero_grad()
        (0.5 * ((X @ W @ a - Y) ** 2).sum()).backward()
        optimiser.step()
    rounding = 1e-13  # of sixty steps, of numbers of order one
    np.testing.assert_allclose(trajectory.series["W1"][draw], hidden, rtol=0, atol=rounding)
    np.testing.assert_allclose(trajectory.series["W2"][draw], output, rtol=0, atol=rounding)


def by_step(table, quantity, draw):
    """Return a quantity at the start and after each step of a draw, shape (steps + 1,); of a spectrum all in turn."""
    return plain.by_time(table, quantity, seed=draw).ravel()


def sine_between(array, direction):
    """Return the sine of the angle between two arrays, as vectors."""
    return np.sin(subspace_angles(array.reshape(-1, 1), direction.reshape(-1, 1))[0])


def states_and_gradients(descent, draw):
    """Return W and a, in pairs, and the gradient R, at the start and after each step of a draw."""
    data, trajectory, _ = descent
    X, Y = data["X"][draw], data["Y"][draw]
    states = list(zip(trajectory.series["W1"][draw], trajectory.series["W2"][draw], strict=True))
    return states, [-X.T @ (X @ W @ a - Y) for W, a in states]


@pytest.mark.parametrize("draw", [0, 1])
def test_loss_norms_and_spectrum_are_those_of_the_states(descent, draw):
    data, trajectory, table = descent
    X, Y = data["X"][draw], data["Y"][draw]
    states, gradients = states_and_gradients(descent, draw)
    norms_of_R = np.array([np.sum(R**2) ** 0.5 for R in gradients])
    norms_of_a = np.array([np.sum(a**2) ** 0.5 for _, a in states])
    np.testing.assert_allclose(by_step(table, "loss", draw), [np.sum((X @ W @ a - Y) ** 2) / 2 for W, a in states])
    np.testing.assert_allclose(by_step(table, "gradient_norm", draw), norms_of_R / norms_of_R.max())
    # a starts at zero; a norm below one rounds by a few 1e-16
    np.testing.assert_allclose(by_step(table, "output_norm", draw), norms_of_a / norms_of_a.max(), rtol=0, atol=1e-15)
    spectra = plain.spectrum(trajectory.series["W1"][draw])
    np.testing.assert_allclose(by_step(table, "sigma_w1", draw), spectra.ravel())


@pytest.mark.parametrize("draw", [0, 1])
def test_directions_turn_by_the_angles_between_subspaces(descent, draw):
    _, _, table = descent
    states, gradients = states_and_gradients(descent, draw)
    R_at_0, W_at_0 = gradients[0], states[0][0]
    turning_of_R = [sine_between(R, R_at_0) for R in gradients]
    # a starts at zero, which has no direction
    turning_of_a = [0.0] + [sine_between(a, R_at_0) for _, a in states[1:]]
    # and W moves from the second step on, since a starts at zero
    turning_of_W = [sine_between(W - W_at_0, R_at_0 @ R_at_0.T) for W, _ in states[2:]]
    # scipy's small angles are known to 1e-9
    np.testing.assert_allclose(by_step(table, "gradient_turning", draw), turning_of_R, rtol=0, atol=1e-9)
    np.testing.assert_allclose(by_step(table, "output_turning", draw), turning_of_a, rtol=0, atol=1e-9)
    np.testing.assert_allclose(by_step(table, "layer_turning", draw)[2:], turning_of_W, rtol=0, atol=1e-9)


def distances_of_a_step(descent, draw, count):
    """Return how far the step after step `count` is from each reading of the recursion, by the table's quantities.

    Sums are written out.
    """
    data, trajectory, _ = descent
    X, Y = data["X"][draw], data["Y"][draw]
    W1, W2 = trajectory.series["W1"][draw], trajectory.series["W2"][draw]
    gram = np.einsum("ni,nj->ij", X, X)

    def gradient_at(step):
        return np.einsum("ni,n->i", X, Y[:, 0] - np.einsum("ni,ij,j->n", X, W1[step], W2[step, :, 0]))

    W, a, R = W1[count], W2[count, :, 0], gradient_at(count)
    next_a, next_R = W2[count + 1, :, 0], gradient_at(count + 1)
    # R' = R - eta X^T X (W W^T + |a|^2) R - eta^2 (a^T W^T R) X^T X R
    first_order = R - STEP * gram @ (np.einsum("ij,kj,k->i", W, W, R) + np.dot(a, a) * R)
    second_order = STEP**2 * np.einsum("j,ij,i->", a, W, R) * gram @ R
    second_order_printed = STEP**2 * np.einsum("i,ij,j->", a, W, R) * gram @ R  # with a^T W R
    differences_of_R = {
        "gradient_step": next_R - (first_order - second_order),
        "gradient_step_printed": next_R - (first_order - second_order_printed),
        "gradient_step_first": next_R - first_order,
    }
    differences_of_a = {
        "output_step": next_a - (a + STEP * np.einsum("ji,j->i", W, R)),
        "output_step_printed": next_a - (a + STEP * np.einsum("ji,j->i", W, a)),
    }
    size_of_R, size_of_a = np.linalg.norm(gradient_at(0)), np.sqrt((W2**2).sum(axis=(1, 2))).max()
    distances = {quantity: np.linalg.norm(vector) / size_of_R for quantity, vector in differences_of_R.items()}
    return distances | {quantity: np.linalg.norm(vector) / size_of_a for quantity, vector in differences_of_a.items()}


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize(
    "quantity",
    ["gradient_step", "gradient_step_printed", "gradient_step_first", "output_step", "output_step_printed"],
)
def test_distances_of_a_step_from_the_recursion_as_corrected_and_as_printed(descent, draw, quantity):
    _, _, table = descent
    count = STEPS // 3  # when neither R nor a is near zero
    distance = distances_of_a_step(descent, draw, count)[quantity]
    # from the corrected recursion it is rounding, 1e-16; from the others 5e-10 or more
    assert by_step(table, quantity, draw)[count] == pytest.approx(distance, rel=1e-6, abs=1e-14)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_recursion_as_printed_is_missed_by_far_more_than_rounding(descent, draw):
    _, _, table = descent
    rounding = 100 * np.finfo(float).eps  # of the few dozen operations of a step
    assert by_step(table, "gradient_step", draw).max() < rounding
    assert by_step(table, "output_step", draw).max() < rounding
    # the misprint in R' is of second order in the step; 1e-8 is still 4e5 times the rounding
    assert by_step(table, "gradient_step_printed", draw).max() > 1e-8
    assert by_step(table, "output_step_printed", draw).max() > 1e-3
