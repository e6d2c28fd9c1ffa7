"""Label noise by brute force: all signs of all steps, exponentials of second moments, torch's gradients."""

import itertools

import numpy as np
import pytest
import torch

from learning_dynamics.datasets import regression
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias.label_noise import metrics, models, runs, theory
from learning_dynamics.seeds import generators
from tests.papers.spectral_bias.plain import by_time, noise_step, second_moments, spectrum, trajectory_and_table

WEIGHTS = np.array([1.0, 0.4])


@pytest.mark.parametrize("time", [0.3, 1.0, 2.0])
def test_second_moments(time):
    start = np.array([0.5, 2.0])
    rows, output = second_moments(WEIGHTS, start, time)
    assert theory.output_second_moment(WEIGHTS, start, np.array([time]))[0] == pytest.approx(output)
    np.testing.assert_allclose(theory.row_growth(WEIGHTS, start, np.array([time]))[0], rows - start)


@pytest.mark.parametrize("time", [0.0, 0.4, 1.3])
def test_deviations_of_one_sample_are_those_of_geometric_brownian_motion(time):
    """With one sample W + a and W - a are independent of all else: a = W(0) exp(-D^2 t / 2) sinh(D B)."""
    weight, start = 0.8, 1.7
    grown = np.exp(weight**2 * time)  # E sinh^4 and E cosh^4 of a Gaussian variable, by its exponential moments
    fourth = start**2 * (grown**6 + 3 * grown**-2 + np.array([4, -4])) / 8
    second = start * (grown + np.array([1, -1]) / grown) / 2
    wanted = np.sqrt(np.maximum(fourth - second**2, 0.0))
    found = theory.deviations(np.array([weight]), np.array([start]), np.array([time]))[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-7)


def test_deviations_are_those_of_many_short_paths():
    """Euler's steps of the columns themselves; a deviation over 40,000 paths is known to a few per cent."""
    rng, step, start = np.random.default_rng(5), 0.004, np.array([0.5, 2.0])
    columns = np.tile(np.eye(3, 2) * np.sqrt(start), (40_000, 1, 1))
    for _ in range(75):
        columns = noise_step(columns, np.sqrt(step) * WEIGHTS * rng.standard_normal((40_000, 2)))
    sampled = np.sum(columns**2, axis=2).std(axis=0)
    np.testing.assert_allclose(sampled, theory.deviations(WEIGHTS, start, np.array([0.3]))[0], rtol=0.06)


def test_the_recursions_moment_is_the_mean_over_all_signs():
    """Two-point noise has the moments of Gaussian noise, and few enough outcomes to try all."""
    start, signs = np.array([0.5, 2.0]), np.array(list(itertools.product([-1, 1], repeat=6)))
    columns = np.tile(np.eye(3, 2) * np.sqrt(start), (len(signs), 1, 1))
    for step in np.split(signs, 3, axis=1):
        columns = noise_step(columns, np.sqrt(0.2) * WEIGHTS * step)
    found = theory.euler_output_second_moment(WEIGHTS, start, 0.2, 3)
    assert found == pytest.approx(np.mean(np.sum(columns[:, -1] ** 2, axis=1)))


def test_a_noisy_step_is_torchs_gradient_at_noisy_labels():
    data = regression.conditioned(samples=2, inputs=3, outputs=1, condition=2.0, seeds=1, seed=3)
    rng = np.random.default_rng(0)
    W1, W2 = rng.standard_normal((1, 3, 4)), rng.standard_normal((1, 4, 1))
    noise = generators(5, "noise", 1)[0].standard_normal((256, 2, 1))
    found = models.descend(
        W1, W2, data["X"], data["Y"], step=0.03, steps=2, every=1, noise=0.7, rngs=generators(5, "noise", 1)
    )
    layers = [torch.tensor(layer[0], requires_grad=True) for layer in (W1, W2)]
    X = torch.tensor(data["X"][0])
    for count in range(2):
        labels = torch.tensor(data["Y"][0] + 0.7 * noise[count])
        gradient = torch.autograd.grad(0.5 * ((X @ layers[0] @ layers[1] - labels) ** 2).sum(), layers)
        layers = [
            (layer - 0.03 * slope).detach().requires_grad_() for layer, slope in zip(layers, gradient, strict=True)
        ]
        for recorded, layer in zip(found, layers, strict=True):
            np.testing.assert_allclose(
                recorded[0, count + 1], layer.detach(), rtol=1e-12, err_msg=f"step {count + 1}, {tuple(layer.shape)}"
            )


def test_noise_is_drawn_afresh_from_each_members_generator():
    """Steps so small that the identity layer stays: each moves the other by the labels of that step."""
    X, start, zero = (np.repeat(part[None], 2, axis=0) for part in (np.eye(3), np.eye(3), np.zeros((3, 1))))
    settings = {"step": 1e-9, "steps": 600, "every": 1, "noise": 1.0}
    _, found = models.descend(start, zero, X, zero, rngs=generators(1, "noise", 2), **settings)
    noise = [rng.standard_normal((600, 3, 1)) for rng in generators(1, "noise", 2)]
    np.testing.assert_allclose(np.diff(found, axis=1) / 1e-9, noise, rtol=0, atol=1e-5)


SQUARE = regression.conditioned(samples=3, inputs=3, outputs=1, condition=2.0, seeds=2, seed=3)


def descent(noise):
    settings = {"width": 8, "gamma": 0.3, "step": 0.02, "steps": 40, "every": 10, "noise": noise}
    return trajectory_and_table(runs.label_noise_descent, metrics.label_noise_descent, settings, SQUARE, seed=1)


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("draw", [0, 1])
def test_what_a_run_records(noise, draw):
    trajectory, table = descent(noise)
    X, Y = SQUARE["X"][draw], SQUARE["Y"][draw]
    W1, W2 = (trajectory.series[name][draw] for name in ("W1", "W2"))
    np.testing.assert_allclose(trajectory.time, [0.0, 0.2, 0.4, 0.6, 0.8])
    np.testing.assert_allclose(W1[0] @ W1[0].T, 0.6 * np.eye(3), rtol=0, atol=1e-12)
    losses = np.sum((X @ W1 @ W2 - Y) ** 2, axis=(1, 2)) / 2
    np.testing.assert_allclose(by_time(table, "loss", seed=draw)[:, 0], losses)
    np.testing.assert_allclose(by_time(table, "sigma_w1", seed=draw), spectrum(W1), rtol=1e-9)
    least = np.linalg.lstsq(X, Y, rcond=None)[0]
    np.testing.assert_allclose(by_time(table, "beta_norm", seed=draw), np.linalg.norm(least))


@pytest.mark.parametrize("draw", [0, 1])
def test_without_noise_it_is_plain_descent(draw):
    trajectory, _ = descent(0.0)
    X, Y = SQUARE["X"][draw], SQUARE["Y"][draw]
    W, a = np.sqrt(0.6) * np.eye(3), np.zeros((3, 1))
    for _ in range(40):
        slope = X.T @ (Y - X @ W @ a)
        W, a = W + 0.02 * slope @ a.T, a + 0.02 * W.T @ slope
    W1, W2 = (trajectory.series[name][draw, -1] for name in ("W1", "W2"))
    np.testing.assert_allclose(W1 @ W2, W @ a, rtol=0, atol=1e-12)


ENSEMBLE = {"gamma": 0.5, "step": 1e-3, "steps": 8, "every": 4, "noise": 300.0, "paths": 40}


@pytest.fixture(scope="module")
def ensemble():
    """One data set with fewer samples than inputs, and the moments of 40 paths on it."""
    data = regression.conditioned(samples=2, inputs=3, outputs=1, condition=3.0, seeds=2, seed=3)
    _, table = trajectory_and_table(runs.label_noise_ensemble, metrics.label_noise_ensemble, ENSEMBLE, data, seed=2)
    return data["X"][1], data["Y"][1], table[table["seed"] == 1]


def test_more_samples_than_inputs_are_refused():
    data = regression.gaussian(samples=4, inputs=3, outputs=1, seeds=1, seed=3)
    with pytest.raises(ProjectError, match="not 4 and 3; set `samples` to 3 or below"):
        runs.label_noise_ensemble(data, **ENSEMBLE, seed=2)


TIMES = 0.09 * np.array([0, 4, 8])  # of the process: every four of eight steps


def test_means_over_paths(ensemble):
    X, Y, table = ensemble
    np.testing.assert_allclose(sorted(table["time"].unique()), TIMES)
    noise = generators(2, "label_noise.ensemble", 2)[1].standard_normal((9, 40, 2, 1))
    # path by path: the recursion as appendix D writes it
    vectors = np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :2]
    squares, rows, outside = np.zeros((3, 40)), np.zeros((3, 40, 2)), np.zeros((3, 40))
    for path in range(40):
        W, a = np.eye(3), np.zeros((3, 1))
        for count in range(9):
            if count % 4 == 0:
                squares[count // 4, path] = np.sum(a**2)
                rows[count // 4, path] = np.sum((vectors.T @ W) ** 2, axis=1)
                across = (np.eye(3) - vectors @ vectors.T) @ (W - np.eye(3))
                outside[count // 4, path] = np.linalg.norm(across) / np.linalg.norm(W)
            error = Y + 300.0 * noise[count, path] - X @ W @ a
            W, a = W + 1e-3 * X.T @ error @ a.T, a + 1e-3 * W.T @ X.T @ error
    np.testing.assert_allclose(by_time(table, "output_second_moment")[:, 0], squares.mean(axis=1), rtol=1e-9)
    np.testing.assert_allclose(by_time(table, "row_growth"), rows.mean(axis=1) - 1, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(by_time(table, "gain_outside")[:, 0], outside.max(axis=1), rtol=0, atol=1e-13)


def test_errors_of_means_over_paths(ensemble):
    X, _, table = ensemble
    weights = np.linalg.svd(X, compute_uv=False)
    wanted = theory.deviations(weights, np.ones(2), TIMES) / 40**0.5
    np.testing.assert_allclose(
        by_time(table, "output_second_moment", "error")[:, 0], wanted[:, -1], rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(by_time(table, "row_growth", "error"), wanted[:, :-1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("output", "growth", "column", "equal"),
    [
        ("output_second_moment", "row_growth", "predicted", False),
        ("output_second_moment_of_equal_weights", "row_growth_of_equal_weights", "value", True),
    ],
)
def test_moments_of_the_process(ensemble, output, growth, column, equal):
    X, _, table = ensemble
    weights = np.sqrt(np.linalg.eigvalsh(X @ X.T))[::-1]
    if equal:
        weights = np.full(2, np.sqrt((weights**2).mean()))
    rows, last = zip(*(second_moments(weights, np.ones(2), time) for time in TIMES), strict=True)
    np.testing.assert_allclose(by_time(table, output, column)[:, 0], last, rtol=0, atol=1e-12)
    np.testing.assert_allclose(by_time(table, growth, column), np.array(rows) - 1, rtol=0, atol=1e-12)


def test_the_recursions_moment_is_measured_at_its_steps(ensemble):
    X, _, table = ensemble
    weights = np.sqrt(np.linalg.eigvalsh(X @ X.T))[::-1]
    euler = [theory.euler_output_second_moment(weights, np.ones(2), 0.09, count) for count in (0, 4, 8)]
    np.testing.assert_allclose(by_time(table, "output_second_moment_of_recursion")[:, 0], euler)
