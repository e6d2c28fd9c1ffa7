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
def measured():
    data = regression.conditioned(samples=3, inputs=3, outputs=1, condition=2.0, seeds=2, seed=1)
    return data, *plain.measured(runs.linear_descent, metrics.linear_descent, SETTINGS, data)


def test_several_outputs_are_refused():
    data = whitened.orthogonal(inputs=3, outputs=2, seeds=1, seed=0)
    with pytest.raises(ProjectError, match="one output"):
        runs.linear_descent(data, **SETTINGS)


def test_descent_is_torchs(measured):
    data, trajectory, _ = measured
    for draw in range(2):
        X, Y = (torch.tensor(data[name][draw]) for name in ("X", "Y"))
        W = (torch.eye(3, dtype=torch.float64) * 0.1**0.5).requires_grad_()
        a = torch.zeros(3, 1, dtype=torch.float64, requires_grad=True)
        optimiser = torch.optim.SGD([W, a], lr=0.04)
        for count in range(61):
            np.testing.assert_allclose(trajectory.series["W1"][draw, count], W.detach(), atol=1e-13)
            np.testing.assert_allclose(trajectory.series["W2"][draw, count], a.detach(), atol=1e-13)
            optimiser.zero_grad()
            (0.5 * ((X @ W @ a - Y) ** 2).sum()).backward()
            optimiser.step()


def by_time(table, quantity, draw):
    return plain.by_time(table, quantity, seed=draw).ravel()


def sine(one, other):
    return np.sin(subspace_angles(one.reshape(-1, 1), other.reshape(-1, 1))[0])


@pytest.mark.parametrize("draw", [0, 1])
def test_what_is_measured(measured, draw):
    data, trajectory, table = measured
    X, Y = data["X"][draw], data["Y"][draw]
    states = list(zip(trajectory.series["W1"][draw], trajectory.series["W2"][draw], strict=True))
    gradients = [-X.T @ (X @ W @ a - Y) for W, a in states]
    sizes = np.array([np.sum(R**2) ** 0.5 for R in gradients])
    reach = np.array([np.sum(a**2) ** 0.5 for _, a in states])
    first = gradients[0]
    np.testing.assert_allclose(by_time(table, "loss", draw), [np.sum((X @ W @ a - Y) ** 2) / 2 for W, a in states])
    np.testing.assert_allclose(by_time(table, "gradient_norm", draw), sizes / sizes.max())
    np.testing.assert_allclose(by_time(table, "output_norm", draw), reach / reach.max(), atol=1e-15)
    spectra = plain.spectrum(trajectory.series["W1"][draw])
    np.testing.assert_allclose(by_time(table, "sigma_w1", draw), spectra.ravel())
    np.testing.assert_allclose(by_time(table, "gradient_turning", draw), [sine(R, first) for R in gradients], atol=1e-9)
    turned = [0.0] + [sine(a, first) for _, a in states[1:]]
    np.testing.assert_allclose(by_time(table, "output_turning", draw), turned, atol=1e-9)
    pattern, start = (first @ first.T).reshape(-1, 1), states[0][0]
    for count in (2, 30, 60):
        off = sine((states[count][0] - start).reshape(-1, 1), pattern)
        assert by_time(table, "layer_turning", draw)[count] == pytest.approx(off, abs=1e-9)


@pytest.mark.parametrize("draw", [0, 1])
def test_distances_of_a_step_from_formulas(measured, draw):
    """Entry by entry, with sums written out: what one step is missed by, under each reading of the appendix."""
    data, trajectory, table = measured
    X, Y, step = data["X"][draw], data["Y"][draw], SETTINGS["step"]
    W1, W2 = trajectory.series["W1"][draw], trajectory.series["W2"][draw]
    reach, count = np.sqrt((W2**2).sum(axis=(1, 2))).max(), 20
    gram = np.einsum("ni,nj->ij", X, X)

    def gradient(at):
        return np.einsum("ni,n->i", X, Y[:, 0] - np.einsum("ni,ij,j->n", X, W1[at], W2[at, :, 0]))

    W, a, R, size = W1[count], W2[count, :, 0], gradient(count), np.linalg.norm(gradient(0))
    moved = gradient(count + 1)
    along = np.einsum("ij,kj,k->i", W, W, R) + np.dot(a, a) * R
    first = R - step * np.einsum("ij,j->i", gram, along)
    bent = {name: np.einsum(path, a, W, R) for name, path in (("right", "j,ij,i->"), ("printed", "i,ij,j->"))}
    wanted = {
        "gradient_step": moved - first + step**2 * bent["right"] * np.einsum("ij,j->i", gram, R),
        "gradient_step_printed": moved - first + step**2 * bent["printed"] * np.einsum("ij,j->i", gram, R),
        "gradient_step_first": moved - first,
    }
    for quantity, apart in wanted.items():
        found = by_time(table, quantity, draw)[count]
        assert found == pytest.approx(np.linalg.norm(apart) / size, rel=1e-6, abs=1e-14)
    after = W2[count + 1, :, 0] - a
    for quantity, pull in (("output_step", R), ("output_step_printed", a)):
        apart = after - step * np.einsum("ji,j->i", W, pull)
        found = by_time(table, quantity, draw)[count]
        assert found == pytest.approx(np.linalg.norm(apart) / reach, rel=1e-6, abs=1e-14)
    # on these data both misprints show
    assert by_time(table, "gradient_step", draw).max() < 1e-13
    assert by_time(table, "gradient_step_printed", draw).max() > 1e-8
    assert by_time(table, "output_step_printed", draw).max() > 1e-3
