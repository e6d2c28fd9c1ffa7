"""Label noise by brute force: all signs of all steps, exponentials of second moments, torch's gradients, single paths.

X = U D V^T are the data; the process of appendix D has the singular values D_j as weights of its noise, W above a^T as
its state, and the squared step times noise of the descent as its step.
"""

import itertools

import numpy as np
import pytest
import torch

from learning_dynamics.datasets import regression
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias.label_noise import metrics, models, runs, theory
from learning_dynamics.seeds import generators
from tests.papers.spectral_bias.plain import by_time, noise_step, second_moments, spectrum, trajectory_and_table

WEIGHTS = np.array([1.0, 0.4])  # the singular values D_j of the data


@pytest.mark.parametrize("time", [0.3, 1.0, 2.0])
def test_second_moments_are_exponentials_of_their_linear_equation(time):
    start = np.array([0.5, 2.0])  # squared norms of the rows of W
    rows, output = second_moments(WEIGHTS, start, time)
    assert theory.output_second_moment(WEIGHTS, start, np.array([time]))[0] == pytest.approx(output)
    np.testing.assert_allclose(theory.row_growth(WEIGHTS, start, np.array([time]))[0], rows - start)


@pytest.mark.parametrize("time", [0.0, 0.4, 1.3])
def test_deviations_of_one_sample_are_those_of_geometric_brownian_motion(time):
    """With one sample W = W(0) exp(-D^2 t / 2) cosh(D B) and a = W(0) exp(-D^2 t / 2) sinh(D B).

    By the exponential moments of B, with g = exp(D^2 t), E W^2 and E a^2 are W(0)^2 (g +- 1 / g) / 2, and E W^4 and
    E a^4 are W(0)^4 (g^6 + 3 / g^2 +- 4) / 8.
    """
    weight, start = 0.8, 1.7  # D and W(0)^2
    g, sign = np.exp(weight**2 * time), np.array([1, -1])  # of W, and of a
    second = start * (g + sign / g) / 2
    fourth = start**2 * (g**6 + 3 / g**2 + 4 * sign) / 8
    expected = np.sqrt(np.maximum(fourth - second**2, 0.0))
    deviations = theory.deviations(np.array([weight]), np.array([start]), np.array([time]))[0]
    # the root of a rounded difference, which vanishes at time 0: the root of 1e-16 is 1e-8
    np.testing.assert_allclose(deviations, expected, rtol=1e-7, atol=1e-7)


def test_deviations_are_those_of_many_short_paths():
    """Euler's steps of the columns themselves, up to time 0.3."""
    rng = np.random.default_rng(5)
    step, steps, paths = 0.004, 75, 40_000
    start = np.array([0.5, 2.0])  # squared norms of the rows of W
    columns = np.tile(np.eye(3, 2) * np.sqrt(start), (paths, 1, 1))
    for _ in range(steps):
        columns = noise_step(columns, np.sqrt(step) * WEIGHTS * rng.standard_normal((paths, 2)))
    sampled = np.sum(columns**2, axis=2).std(axis=0)
    # over so many paths of heavy tails a deviation is known to a few per cent, and the scheme lags by less than one
    expected = theory.deviations(WEIGHTS, start, np.array([steps * step]))[0]
    np.testing.assert_allclose(sampled, expected, rtol=0.06)


def test_the_recursions_second_moment_is_the_mean_over_all_signs_of_two_point_noise():
    """Noise of the two values 1 and -1 has the second moments of Gaussian noise, and few enough outcomes to try all."""
    step, steps = 0.2, 3
    start = np.array([0.5, 2.0])  # squared norms of the rows of W
    outcomes = np.array(list(itertools.product([-1, 1], repeat=2 * steps)))  # two signs in each step
    columns = np.tile(np.eye(3, 2) * np.sqrt(start), (len(outcomes), 1, 1))
    for signs in np.split(outcomes, steps, axis=1):
        columns = noise_step(columns, np.sqrt(step) * WEIGHTS * signs)
    mean_square_of_a = np.mean(np.sum(columns[:, -1] ** 2, axis=1))
    assert theory.euler_output_second_moment(WEIGHTS, start, step, steps) == pytest.approx(mean_square_of_a)


def test_a_noisy_step_is_torchs_gradient_at_noisy_labels():
    data = regression.conditioned(samples=2, inputs=3, outputs=1, condition=2.0, seeds=1, seed=3)
    rng = np.random.default_rng(0)
    W1, W2 = rng.standard_normal((1, 3, 4)), rng.standard_normal((1, 4, 1))
    settings = {"step": 0.03, "steps": 2, "every": 1, "noise": 0.7}
    hidden, output = models.descend(W1, W2, data["X"], data["Y"], **settings, rngs=generators(5, "noise", members=1))
    noise = generators(5, "noise", members=1)[0].standard_normal((settings["steps"], 2, 1))  # of two samples
    X, W, a = torch.tensor(data["X"][0]), torch.tensor(W1[0]), torch.tensor(W2[0])
    for count in range(settings["steps"]):
        labels = torch.tensor(data["Y"][0] + settings["noise"] * noise[count])
        W.requires_grad_()
        a.requires_grad_()
        W_gradient, a_gradient = torch.autograd.grad(0.5 * ((X @ W @ a - labels) ** 2).sum(), [W, a])
        W, a = (W - settings["step"] * W_gradient).detach(), (a - settings["step"] * a_gradient).detach()
        np.testing.assert_allclose(hidden[0, count + 1], W, rtol=1e-12, err_msg=f"W after step {count + 1}")
        np.testing.assert_allclose(output[0, count + 1], a, rtol=1e-12, err_msg=f"a after step {count + 1}")


def test_noise_is_fresh_in_every_step_and_from_each_members_own_generator():
    """With X = I, W(0) = I and labels of zero, steps so small that W stays move a by the noise of that step."""
    step, steps = 1e-9, 600
    assert steps > 2 * models.NOISE_STEPS  # the noise of so many steps is drawn at once
    identities, zeros = np.stack([np.eye(3)] * 2), np.zeros((2, 3, 1))
    settings = {"step": step, "steps": steps, "every": 1, "noise": 1.0}
    _, a = models.descend(identities, zeros, X=identities, Y=zeros, rngs=generators(1, "noise", members=2), **settings)
    noise = [rng.standard_normal((steps, 3, 1)) for rng in generators(1, "noise", members=2)]
    # a moves by less than 1e-7 in all, and the residual with it
    np.testing.assert_allclose(np.diff(a, axis=1) / step, noise, rtol=0, atol=1e-6)


SQUARE = regression.conditioned(samples=3, inputs=3, outputs=1, condition=2.0, seeds=2, seed=3)
GAMMA, STEP, STEPS, EVERY = 0.3, 0.02, 40, 10


def descent(noise):
    """Return trajectory and table of descent from sqrt(2 gamma) P on two data sets, as many samples as inputs."""
    settings = {"width": 8, "gamma": GAMMA, "step": STEP, "steps": STEPS, "every": EVERY, "noise": noise}
    return trajectory_and_table(runs.label_noise_descent, metrics.label_noise_descent, settings, SQUARE, seed=1)


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("draw", [0, 1])
def test_loss_spectrum_and_norm_in_the_table_are_those_of_the_layers(noise, draw):
    trajectory, table = descent(noise)
    X, Y = SQUARE["X"][draw], SQUARE["Y"][draw]
    W1, W2 = trajectory.series["W1"][draw], trajectory.series["W2"][draw]
    losses = np.sum((X @ W1 @ W2 - Y) ** 2, axis=(1, 2)) / 2
    np.testing.assert_allclose(by_time(table, "loss", seed=draw)[:, 0], losses)
    np.testing.assert_allclose(by_time(table, "sigma_w1", seed=draw), spectrum(W1), rtol=1e-9)
    star = np.linalg.lstsq(X, Y, rcond=None)[0]
    np.testing.assert_allclose(by_time(table, "beta_norm", seed=draw), np.linalg.norm(star))


@pytest.mark.parametrize("noise", [0.0, 0.5])
@pytest.mark.parametrize("draw", [0, 1])
def test_descent_starts_from_orthogonal_rows(noise, draw):
    trajectory, _ = descent(noise)
    rows = trajectory.series["W1"][draw, 0]
    # a few roundings of numbers below one
    np.testing.assert_allclose(rows @ rows.T, 2 * GAMMA * np.eye(3), rtol=0, atol=1e-14)


def test_descent_is_recorded_every_ten_steps():
    trajectory, _ = descent(noise=0.5)
    np.testing.assert_allclose(trajectory.time, STEP * np.arange(0, STEPS + 1, EVERY))


@pytest.mark.parametrize("draw", [0, 1])
def test_descent_without_noise_is_plain_descent(draw):
    """The predictor does not depend on the rotation of the rows that a draw starts from."""
    trajectory, _ = descent(noise=0.0)
    X, Y = SQUARE["X"][draw], SQUARE["Y"][draw]
    W, a = np.sqrt(2 * GAMMA) * np.eye(3), np.zeros((3, 1))
    for _ in range(STEPS):
        R = X.T @ (Y - X @ W @ a)
        W, a = W + STEP * R @ a.T, a + STEP * W.T @ R
    W1, W2 = trajectory.series["W1"][draw, -1], trajectory.series["W2"][draw, -1]
    # forty steps of numbers of order one, of some ten roundings each
    np.testing.assert_allclose(W1 @ W2, W @ a, rtol=0, atol=STEPS * 10 * np.finfo(float).eps)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_part_outside_the_data_is_the_largest_change_over_paths(draw):
    """Of layers that no descent has made, since descent changes nothing there; W(0) is the first of the times."""
    rng = np.random.default_rng(draw)
    W, a = rng.standard_normal((5, 3, 4, 4)), rng.standard_normal((5, 3, 4, 1))  # paths, times, then entries
    rows = np.linalg.qr(rng.standard_normal((4, 2)))[0].T  # the data's right singular vectors
    outside = runs._path_moments(W, a, rows)["outside"]
    away = np.eye(4) - rows.T @ rows
    for time in range(3):
        changes = [np.sum((away @ (path[time] - path[0])) ** 2) ** 0.5 / np.sum(path[time] ** 2) ** 0.5 for path in W]
        assert outside[time] == pytest.approx(max(changes)), f"time {time}"


SAMPLES, INPUTS, PATHS = 2, 3, 40
ENSEMBLE = {"gamma": 0.5, "step": 1e-3, "steps": 8, "every": 4, "noise": 300.0, "paths": PATHS}
STEP_OF_PROCESS = (ENSEMBLE["step"] * ENSEMBLE["noise"]) ** 2
RECORDED_STEPS = np.array([0, 4, 8])
TIMES = STEP_OF_PROCESS * RECORDED_STEPS
START = np.full(SAMPLES, 2 * ENSEMBLE["gamma"])  # squared norms of the rows of V^T W
SEED, DATA_SETS, DATA_SET = 2, 2, 1  # of two data sets, numbered from 0, the second is looked at


@pytest.fixture(scope="module")
def ensemble():
    """Return X and Y of one data set, with fewer samples than inputs, and the table of all paths on it."""
    data = regression.conditioned(samples=SAMPLES, inputs=INPUTS, outputs=1, condition=3.0, seeds=DATA_SETS, seed=3)
    _, table = trajectory_and_table(runs.label_noise_ensemble, metrics.label_noise_ensemble, ENSEMBLE, data, seed=SEED)
    return data["X"][DATA_SET], data["Y"][DATA_SET], table[table["seed"] == DATA_SET]


def test_an_ensemble_on_more_samples_than_inputs_is_refused():
    data = regression.gaussian(samples=4, inputs=3, outputs=1, seeds=1, seed=3)
    message = "needs data with at most as many samples as inputs, not 4 and 3; set `samples` to 3 or below"
    with pytest.raises(ProjectError, match=message):
        runs.label_noise_ensemble(data, **ENSEMBLE, seed=SEED)


def descent_of_one_path(X, Y, noise):
    """Return W and a, in pairs, at the recorded steps, by the recursion as appendix D writes it.

    `noise` is that of each step, shape (steps, samples, 1).
    """
    step, strength = ENSEMBLE["step"], ENSEMBLE["noise"]
    W, a = np.sqrt(2 * ENSEMBLE["gamma"]) * np.eye(INPUTS), np.zeros((INPUTS, 1))
    states = [(W, a)]
    for noise_of_step in noise:
        error = Y + strength * noise_of_step - X @ W @ a
        W, a = W + step * X.T @ error @ a.T, a + step * W.T @ X.T @ error
        states.append((W, a))
    return [states[count] for count in RECORDED_STEPS]


def test_means_over_paths_are_those_of_the_recursion_path_by_path(ensemble):
    X, Y, table = ensemble
    V = np.linalg.eigh(X.T @ X)[1][:, ::-1][:, :SAMPLES]  # right singular vectors of X, the first one first
    rng = generators(SEED, "label_noise.ensemble", DATA_SETS)[DATA_SET]
    noise = rng.standard_normal((ENSEMBLE["steps"], PATHS, SAMPLES, 1))
    records = len(RECORDED_STEPS)
    output_squares, outside = np.zeros((records, PATHS)), np.zeros((records, PATHS))
    row_squares = np.zeros((records, PATHS, SAMPLES))
    for path in range(PATHS):
        states = descent_of_one_path(X, Y, noise[:, path])
        W_at_0, _ = states[0]
        for record, (W, a) in enumerate(states):
            output_squares[record, path] = np.sum(a**2)
            row_squares[record, path] = np.sum((V.T @ W) ** 2, axis=1)
            change_outside = (np.eye(INPUTS) - V @ V.T) @ (W - W_at_0)
            outside[record, path] = np.linalg.norm(change_outside) / np.linalg.norm(W)
    np.testing.assert_allclose(sorted(table["time"].unique()), TIMES)
    np.testing.assert_allclose(by_time(table, "output_second_moment")[:, 0], output_squares.mean(axis=1), rtol=1e-9)
    growth = row_squares.mean(axis=1) - START
    np.testing.assert_allclose(by_time(table, "row_growth"), growth, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(by_time(table, "gain_outside")[:, 0], outside.max(axis=1), rtol=0, atol=1e-13)


def test_standard_errors_are_exact_deviations_over_the_root_of_the_number_of_paths(ensemble):
    X, _, table = ensemble
    weights = np.linalg.svd(X, compute_uv=False)
    errors = theory.deviations(weights, START, TIMES) / PATHS**0.5  # of the rows of V^T W, and last of a
    of_output = by_time(table, "output_second_moment", column="error")[:, 0]
    of_rows = by_time(table, "row_growth", column="error")
    np.testing.assert_allclose(of_output, errors[:, -1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(of_rows, errors[:, :-1], rtol=1e-9, atol=1e-9)


def assert_moments_of_the_process(weights, output, growth):
    """Assert that E|a|^2, shape (times,), and the growth of rows, (times, samples), are those of noise of weights."""
    for record, time in enumerate(TIMES):
        row_squares, output_square = second_moments(weights, START, time)
        assert output[record] == pytest.approx(output_square, rel=0, abs=1e-12), f"time {time}"
        np.testing.assert_allclose(growth[record], row_squares - START, rtol=0, atol=1e-12, err_msg=f"time {time}")


def test_predicted_moments_are_those_of_the_process(ensemble):
    X, _, table = ensemble
    weights = np.sqrt(np.linalg.eigvalsh(X @ X.T))[::-1]
    output = by_time(table, "output_second_moment", column="predicted")[:, 0]
    assert_moments_of_the_process(weights, output, growth=by_time(table, "row_growth", column="predicted"))


def test_moments_of_equal_weights_are_those_of_the_process_with_their_quadratic_mean(ensemble):
    X, _, table = ensemble
    quadratic_mean = np.sqrt(np.linalg.eigvalsh(X @ X.T).mean())
    output = by_time(table, "output_second_moment_of_equal_weights")[:, 0]
    growth = by_time(table, "row_growth_of_equal_weights")
    assert_moments_of_the_process(np.full(SAMPLES, quadratic_mean), output, growth)


def test_the_recursions_second_moment_is_measured_at_the_recorded_steps(ensemble):
    X, _, table = ensemble
    weights = np.sqrt(np.linalg.eigvalsh(X @ X.T))[::-1]
    moments = [theory.euler_output_second_moment(weights, START, STEP_OF_PROCESS, count) for count in RECORDED_STEPS]
    np.testing.assert_allclose(by_time(table, "output_second_moment_of_recursion")[:, 0], moments)
