"""ReLU students against torch's descent, and what is measured of them on curves and spectra made by hand."""

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles

from learning_dynamics.datasets import relu_teacher
from learning_dynamics.papers.spectral_bias.relu import metrics, runs, saddles
from learning_dynamics.seeds import generators
from learning_dynamics.trajectories import Trajectory
from tests.papers.spectral_bias.plain import spectrum

MEASURE = {"shares": [0.9, 0.99], "slope": 0.5, "floor": 1e-4, "least": 1.25}


@pytest.fixture(scope="module")
def descents():
    data = relu_teacher.gaussian(samples=6, inputs=3, neurons=2, output_weights="gaussian", seeds=2, seed=0)
    settings = {"neurons": 5, "scale": 0.4, "step": 0.05, "first_time": 0.1, "horizon": 4.0, "decade": 2.5, "points": 7}
    return data, runs.relu_descent(data, **settings, seed=4)


@pytest.mark.parametrize("draw", [0, 1])
def test_labels_are_the_teachers(descents, draw):
    data, _ = descents
    X, y, W, a = (data[name][draw] for name in ("X", "y", "teacher_W", "teacher_a"))
    np.testing.assert_allclose(np.maximum(X @ W.T, 0.0) @ a, y, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("draw", [0, 1])
def test_descent_is_torchs(descents, draw):
    data, run = descents
    X, y = (torch.tensor(data[name][draw]) for name in ("X", "y"))
    rng = generators(4, "relu_student.initialisation", 2)[draw]
    W = torch.tensor(0.4 * rng.standard_normal((5, 3)), requires_grad=True)
    a = torch.tensor(0.4 * rng.standard_normal(5), requires_grad=True)
    optimiser = torch.optim.SGD([W, a], lr=0.05)
    losses, spectra = [], []
    for count in range(101):
        loss = 0.5 * ((torch.relu(X @ W.T) @ a - y) ** 2).mean()
        losses.append(loss.item())
        spectra.append(spectrum(W.detach().numpy()))
        optimiser.zero_grad()
        loss.backward()
        if count < 100:
            optimiser.step()
    recorded = np.rint(run.time / 0.05).astype(int)
    np.testing.assert_allclose(run.series["loss"][draw], np.array(losses)[recorded], rtol=1e-9)
    np.testing.assert_allclose(run.series["sigma"][draw], np.array(spectra)[recorded], rtol=0, atol=1e-7)
    np.testing.assert_allclose(run.constants["limit_W1"][draw], W.detach(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(run.constants["limit_W2"][draw], a.detach(), rtol=0, atol=1e-10)


def test_skipped_draws_are_the_first_and_every_draw_comes_with_the_seed():
    shape = {"samples": 3, "inputs": 2, "neurons": 2, "output_weights": "gaussian"}
    all_draws, later = (
        relu_teacher.gaussian(**shape, seeds=5 - skipped, skipped=skipped, seed=1) for skipped in (0, 2)
    )
    other_seed = relu_teacher.gaussian(**shape, seeds=3, skipped=2, seed=2)
    for name, array in later.items():
        np.testing.assert_array_equal(array, all_draws[name][2:])
        assert not np.isclose(array, other_seed[name]).any(), name


def test_records_are_evenly_spaced_in_the_logarithm(descents):
    _, run = descents
    counts = np.rint(run.time / 0.05)
    assert (counts[0], counts[-1]) == (0, 100)
    ratios = counts[2:] / counts[1:-1]
    # to whole steps
    assert ratios.max() / ratios.min() < 1.6


def small_problem(**settings):
    data = relu_teacher.gaussian(samples=10, inputs=5, neurons=2, output_weights="gaussian", seeds=1, seed=0)
    return runs.relu_descent(
        data, **({"neurons": 8, "step": 0.001, "first_time": 0.1, "points": 5, "seed": 0} | settings)
    )


def test_a_descent_that_diverges_is_nan_and_no_error_of_its_own():
    with np.errstate(all="ignore"):
        found = small_problem(scale=10.0, step=10.0, first_time=10.0, horizon=500.0, decade=0.0)
    assert not np.isfinite(found.series["loss"][:, -1]).any()


def test_a_small_start_is_given_its_logarithm_of_time():
    ends = [small_problem(scale=scale, horizon=5.0, decade=2.0).time[-1] for scale in (2.0, 1.0, 0.1, 1e-4)]
    np.testing.assert_allclose(ends, [5.0, 5.0, 7.0, 13.0])


def staircase(time, plateaus):
    """Return a loss that stands still on plateaus (first, last, height), and falls steeply between them."""
    logs, heights = [np.log(1e-3)], [np.log(plateaus[0][2])]
    for first, last, height in plateaus:
        logs += [np.log(first), np.log(last)]
        heights += [np.log(height)] * 2
    return np.exp(np.interp(np.log(time), logs, heights))


@pytest.fixture(scope="module")
def trajectory_and_table():
    """Two draws: one with plateaus from the start to 2, and from 5 to 20; one that has its only one late."""
    time = np.r_[0.0, np.geomspace(0.1, 100.0, 301)]
    curves = [
        [(0.1, 2.0, 1.0), (5.0, 20.0, 0.1), (60.0, 60.1, 1e-5)],
        [(0.05, 0.06, 1.0), (30.0, 60.0, 0.01), (90.0, 90.1, 1e-6)],
    ]
    losses = np.stack([np.r_[1.0, staircase(time[1:], plateaus)] for plateaus in curves])
    spectrum = np.array([[np.sqrt(0.92), np.sqrt(0.075), np.sqrt(0.005)], [1.0, 1.0, 1.0]])
    sigma = np.repeat(spectrum[:, None], len(time), axis=1)
    sigma[0, time < 10] = [1.0, 0.0, 0.0]
    rng = np.random.default_rng(0)
    teacher, W = rng.standard_normal((2, 2, 3)), rng.standard_normal((2, 6, 3))
    constants = {"X": np.ones((2, 7, 3)), "teacher_W": teacher, "limit_W1": W, "limit_W2": np.ones((2, 6))}
    trajectory = Trajectory(time, {"loss": losses, "sigma": sigma}, constants)
    return trajectory, metrics.relu_descent(trajectory, **MEASURE)


def test_ranks_carry_their_share(trajectory_and_table):
    _, table = trajectory_and_table
    np.testing.assert_array_equal(saddles.last_ranks(table, 90), [1, 3])
    np.testing.assert_array_equal(saddles.last_ranks(table, 99), [2, 3])
    at = table[(table["quantity"] == "rank") & (table["seed"] == 0) & (table["index"] == 99)]
    np.testing.assert_array_equal(at["value"], np.where(at["time"] < 10, 1, 2))


def test_plateaus_are_where_they_were_put(trajectory_and_table):
    _, table = trajectory_and_table
    spacing = 1000 ** (1 / 300)  # of records
    (first, second), late = saddles.plateaus(table, 0)[:2], saddles.plateaus(table, 1)
    np.testing.assert_allclose(first, (0.1, 2.0), rtol=2 * (spacing - 1))
    np.testing.assert_allclose(second, (5.0, 20.0), rtol=2 * (spacing - 1))
    np.testing.assert_allclose(late[0], (30.0, 60.0), rtol=2 * (spacing - 1))
    np.testing.assert_array_equal(saddles.starts_at_zero(table), [True, False])
    np.testing.assert_array_equal(saddles.first_saddle_ranks(table, 99), [1, np.nan])
    np.testing.assert_array_equal(saddles.fitted_draws(table, 1e-4), [True, True])
    np.testing.assert_array_equal(saddles.fitted_draws(table, 3e-6), [False, True])


@pytest.mark.parametrize("draw", [0, 1])
def test_directions_by_angles_between_subspaces(trajectory_and_table, draw):
    trajectory, table = trajectory_and_table
    W, teacher = trajectory.constants["limit_W1"][draw], trajectory.constants["teacher_W"][draw]
    first = np.linalg.eigh(W.T @ W)[1][:, ::-1][:, :2]
    angles = np.sort(subspace_angles(first, teacher.T))
    values = table[table["seed"] == draw].set_index(["quantity", "index"])["value"]
    np.testing.assert_allclose(values["teacher_cosine"], np.cos(angles), rtol=0, atol=1e-12)
    # energy inside the span: what is left after least squares takes it away
    fitted = teacher.T @ np.linalg.lstsq(teacher.T, W.T, rcond=None)[0]
    assert values["inside"].iloc[0] == pytest.approx(1 - np.sum((W.T - fitted) ** 2) / np.sum(W**2))
    assert values["chance_inside"].iloc[0] == pytest.approx(2 / 3)
    assert values["samples"].iloc[0] == 7


def test_chance_is_the_cosine_of_spans_at_random():
    """Many teachers: means over spans that were drawn apart, in five dimensions."""
    rng, draws = np.random.default_rng(1), 400
    teacher = rng.standard_normal((draws, 2, 5))
    time = np.array([0.0, 0.1, 1.0, 10.0])
    constants = {"X": np.ones((draws, 7, 5)), "limit_W2": np.ones((draws, 6))}
    constants |= {"teacher_W": teacher, "limit_W1": rng.standard_normal((draws, 6, 5))}
    series = {"loss": np.ones((draws, 4)), "sigma": np.ones((draws, 4, 5))}
    table = metrics.relu_descent(Trajectory(time, series, constants), **MEASURE)
    rows = table[table["quantity"] == "chance_cosine"]
    found = [rows.loc[rows["index"] == index, "value"].to_numpy() for index in (1, 2)]
    others = np.array([np.cos(np.sort(subspace_angles(*rng.standard_normal((2, 5, 2))))) for _ in range(draws)])
    errors = np.sqrt((np.var(found, axis=1) + others.var(axis=0)) / draws)
    assert (np.abs(np.mean(found, axis=1) - others.mean(axis=0)) < 4 * errors).all()


def test_the_draw_that_is_shown(trajectory_and_table):
    _, table = trajectory_and_table
    # neither ends at rank 2 with 90 %; with 99 % the first does, by a plateau of rank 1
    assert saddles.typical_draw(table, 99, 1e-4) == 0
    assert saddles.typical_draw(table, 99, 3e-6) == 0
