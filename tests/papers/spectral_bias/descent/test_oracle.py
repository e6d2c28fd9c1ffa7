"""Discrete descent against torch's gradients, and what is measured of it, entry by entry."""

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles

from learning_dynamics.datasets import regression, whitened
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias.descent import metrics, runs
from tests.papers.spectral_bias import plain

SETTINGS = {"gamma": 0.05, "step": 0.04, "steps": 60}


@pytest.fixture(scope="module")
def trajectory_and_table():
    data = regression.conditioned(samples=3, inputs=3, outputs=1, condition=2.0, seeds=2, seed=1)
    return data, *plain.trajectory_and_table(runs.linear_descent, metrics.linear_descent, SETTINGS, data)


def test_several_outputs_are_refused():
    data = whitened.orthogonal(inputs=3, outputs=2, seeds=1, seed=0)
    with pytest.raises(ProjectError, match="one output"):
        runs.linear_descent(data, **SETTINGS)


@pytest.mark.parametrize("draw", [0, 1])
def test_descent_is_torchs(trajectory_and_table, draw):
    data, trajectory, _ = trajectory_and_table
    X, Y = (torch.tensor(data[name][draw]) for name in ("X", "Y"))
    W = (torch.eye(3, dtype=torch.float64) * 0.1**0.5).requires_grad_()
    a = torch.zeros(3, 1, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.SGD([W, a], lr=0.04)
    hidden, output = [], []
    for _ in range(61):
        hidden.append(W.detach().numpy().copy())
        output.append(a.detach().numpy().copy())
        optimiser.zero_grad()
        (0.5 * ((X @ W @ a - Y) ** 2).sum()).backward()
        optimiser.step()
    np.testing.assert_allclose(trajectory.series["W1"][draw], hidden, rtol=0, atol=1e-13)
    np.testing.assert_allclose(trajectory.series["W2"][draw], output, rtol=0, atol=1e-13)


def by_time(table, quantity, draw):
    return plain.by_time(table, quantity, seed=draw).ravel()


def sine(one, other):
    return np.sin(subspace_angles(one.reshape(-1, 1), other.reshape(-1, 1))[0])


def states_of(trajectory_and_table, draw):
    """Return W and a, and the gradient R, at each step of a draw."""
    data, trajectory, _ = trajectory_and_table
    X, Y = data["X"][draw], data["Y"][draw]
    states = list(zip(trajectory.series["W1"][draw], trajectory.series["W2"][draw], strict=True))
    return states, [-X.T @ (X @ W @ a - Y) for W, a in states]


@pytest.mark.parametrize("draw", [0, 1])
def test_loss_norms_and_spectrum(trajectory_and_table, draw):
    data, trajectory, table = trajectory_and_table
    X, Y = data["X"][draw], data["Y"][draw]
    states, gradients = states_of(trajectory_and_table, draw)
    sizes = np.array([np.sum(R**2) ** 0.5 for R in gradients])
    reach = np.array([np.sum(a**2) ** 0.5 for _, a in states])
    np.testing.assert_allclose(by_time(table, "loss", draw), [np.sum((X @ W @ a - Y) ** 2) / 2 for W, a in states])
    np.testing.assert_allclose(by_time(table, "gradient_norm", draw), sizes / sizes.max())
    np.testing.assert_allclose(by_time(table, "output_norm", draw), reach / reach.max(), rtol=0, atol=1e-15)
    spectra = plain.spectrum(trajectory.series["W1"][draw])
    np.testing.assert_allclose(by_time(table, "sigma_w1", draw), spectra.ravel())


@pytest.mark.parametrize("draw", [0, 1])
def test_directions_turn_by_the_angles_between_subspaces(trajectory_and_table, draw):
    _, _, table = trajectory_and_table
    states, gradients = states_of(trajectory_and_table, draw)
    first = gradients[0]
    np.testing.assert_allclose(
        by_time(table, "gradient_turning", draw), [sine(R, first) for R in gradients], rtol=0, atol=1e-9
    )
    turned = [0.0] + [sine(a, first) for _, a in states[1:]]
    np.testing.assert_allclose(by_time(table, "output_turning", draw), turned, rtol=0, atol=1e-9)
    pattern, start = (first @ first.T).reshape(-1, 1), states[0][0]
    # W moves from the second step on, since a starts at zero
    off = [sine((W - start).reshape(-1, 1), pattern) for W, _ in states[2:]]
    np.testing.assert_allclose(by_time(table, "layer_turning", draw)[2:], off, rtol=0, atol=1e-9)


def missed_by_formulas(trajectory_and_table, draw, count):
    """What a step is missed by under each reading of the appendix, entry by entry, with sums written out."""
    data, trajectory, _ = trajectory_and_table
    X, Y, step = data["X"][draw], data["Y"][draw], SETTINGS["step"]
    W1, W2 = trajectory.series["W1"][draw], trajectory.series["W2"][draw]
    reach = np.sqrt((W2**2).sum(axis=(1, 2))).max()
    gram = np.einsum("ni,nj->ij", X, X)

    def gradient_at(at):
        return np.einsum("ni,n->i", X, Y[:, 0] - np.einsum("ni,ij,j->n", X, W1[at], W2[at, :, 0]))

    W, a, R, size = W1[count], W2[count, :, 0], gradient_at(count), np.linalg.norm(gradient_at(0))
    moved = gradient_at(count + 1)
    along = np.einsum("ij,kj,k->i", W, W, R) + np.dot(a, a) * R
    first = R - step * np.einsum("ij,j->i", gram, along)
    bent = {name: np.einsum(path, a, W, R) for name, path in (("right", "j,ij,i->"), ("printed", "i,ij,j->"))}
    gradient = {
        "gradient_step": moved - first + step**2 * bent["right"] * np.einsum("ij,j->i", gram, R),
        "gradient_step_printed": moved - first + step**2 * bent["printed"] * np.einsum("ij,j->i", gram, R),
        "gradient_step_first": moved - first,
    }
    after = W2[count + 1, :, 0] - a
    output = {
        "output_step": after - step * np.einsum("ji,j->i", W, R),
        "output_step_printed": after - step * np.einsum("ji,j->i", W, a),
    }
    missed = {quantity: np.linalg.norm(apart) / size for quantity, apart in gradient.items()}
    return missed | {quantity: np.linalg.norm(apart) / reach for quantity, apart in output.items()}


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize(
    "quantity",
    ["gradient_step", "gradient_step_printed", "gradient_step_first", "output_step", "output_step_printed"],
)
def test_distances_of_a_step_from_formulas(trajectory_and_table, draw, quantity):
    missed = missed_by_formulas(trajectory_and_table, draw, 20)[quantity]
    assert by_time(trajectory_and_table[-1], quantity, draw)[20] == pytest.approx(missed, rel=1e-6, abs=1e-14)


@pytest.mark.parametrize("draw", [0, 1])
def test_both_misprints_show(trajectory_and_table, draw):
    _, _, table = trajectory_and_table
    assert by_time(table, "gradient_step", draw).max() < 1e-13
    assert by_time(table, "gradient_step_printed", draw).max() > 1e-8
    assert by_time(table, "output_step_printed", draw).max() > 1e-3
