"""ReLU students against torch's descent, and their metrics on loss curves and spectra made by hand."""

import numpy as np
import pytest
import torch
from scipy.linalg import subspace_angles

from learning_dynamics.datasets import relu_teacher
from learning_dynamics.papers.spectral_bias.relu import metrics, runs, saddles
from learning_dynamics.seeds import generators
from learning_dynamics.trajectories import Trajectory
from tests.papers.spectral_bias.plain import spectrum

# ranks are of values that carry 90 and 99 % of |W|^2; a plateau is a stretch on which the loss falls more slowly than
# time to the power of -1/2, above 1e-4 of its first value, and over which time grows by a quarter or more
MEASURE = {"shares": [0.9, 0.99], "slope": 0.5, "floor": 1e-4, "least": 1.25}

INPUTS, NEURONS = 3, 5
SCALE, STEP, SEED = 0.4, 0.05, 4
FIRST_TIME, HORIZON, DECADE, POINTS = 0.1, 4.0, 2.5, 7
# the descent ends at the horizon, and `decade` later for each factor of ten by which the scale is below one
STEPS = round((HORIZON - DECADE * np.log10(SCALE)) / STEP)


@pytest.fixture(scope="module")
def descents():
    """Return data of two draws, and the trajectory of a student's descent on them."""
    data = relu_teacher.gaussian(samples=6, inputs=INPUTS, neurons=2, output_weights="gaussian", seeds=2, seed=0)
    times = {"first_time": FIRST_TIME, "horizon": HORIZON, "decade": DECADE, "points": POINTS}
    return data, runs.relu_descent(data, neurons=NEURONS, scale=SCALE, step=STEP, **times, seed=SEED)


@pytest.mark.parametrize("draw", [0, 1])
def test_labels_are_the_outputs_of_the_teacher(descents, draw):
    data, _ = descents
    X, y, W, a = (data[name][draw] for name in ("X", "y", "teacher_W", "teacher_a"))
    np.testing.assert_allclose(np.maximum(X @ W.T, 0.0) @ a, y, rtol=1e-12, atol=1e-12)  # rounding


@pytest.mark.parametrize("draw", [0, 1])
def test_descent_is_torchs(descents, draw):
    data, trajectory = descents
    X, y = torch.tensor(data["X"][draw]), torch.tensor(data["y"][draw])
    rng = generators(SEED, "relu_student.initialisation", members=2)[draw]
    W = torch.tensor(SCALE * rng.standard_normal((NEURONS, INPUTS)), requires_grad=True)
    a = torch.tensor(SCALE * rng.standard_normal(NEURONS), requires_grad=True)
    optimiser = torch.optim.SGD([W, a], lr=STEP)
    losses, spectra = [], []
    for count in range(STEPS + 1):
        loss = 0.5 * ((torch.relu(X @ W.T) @ a - y) ** 2).mean()
        losses.append(loss.item())
        spectra.append(spectrum(W.detach().numpy()))
        optimiser.zero_grad()
        loss.backward()
        if count < STEPS:
            optimiser.step()
    recorded_steps = np.rint(trajectory.time / STEP).astype(int)
    np.testing.assert_allclose(trajectory.series["loss"][draw], np.array(losses)[recorded_steps], rtol=1e-9)
    # a spectrum is the root of eigenvalues
    np.testing.assert_allclose(trajectory.series["sigma"][draw], np.array(spectra)[recorded_steps], rtol=0, atol=1e-7)
    np.testing.assert_allclose(trajectory.constants["limit_W1"][draw], W.detach(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(trajectory.constants["limit_W2"][draw], a.detach(), rtol=0, atol=1e-10)


def teachers(*, seed, seeds, skipped):
    """Return the data of so many draws, after those that are skipped."""
    shape = {"samples": 3, "inputs": 2, "neurons": 2, "output_weights": "gaussian"}
    return relu_teacher.gaussian(**shape, seeds=seeds, skipped=skipped, seed=seed)


def test_skipped_draws_of_the_data_are_the_first_ones():
    all_draws, later_draws = teachers(seed=1, seeds=5, skipped=0), teachers(seed=1, seeds=3, skipped=2)
    for name, array in later_draws.items():
        np.testing.assert_array_equal(array, all_draws[name][2:], err_msg=name)


def test_draws_of_the_data_depend_on_the_seed():
    one_seed, another_seed = teachers(seed=1, seeds=3, skipped=2), teachers(seed=2, seeds=3, skipped=2)
    for name, array in one_seed.items():
        assert not np.isclose(array, another_seed[name]).any(), name


def test_records_are_evenly_spaced_in_the_logarithm_up_to_whole_steps(descents):
    _, trajectory = descents
    recorded_steps = np.rint(trajectory.time / STEP)
    # the start, and times from the first to the end
    expected = np.rint(np.geomspace(FIRST_TIME / STEP, STEPS, POINTS))
    np.testing.assert_array_equal(recorded_steps, [0, *expected])


def descent_of_one_student(*, scale, horizon, decade, step=0.001, first_time=0.1):
    """Return the trajectory of one student of eight neurons on ten samples."""
    data = relu_teacher.gaussian(samples=10, inputs=5, neurons=2, output_weights="gaussian", seeds=1, seed=0)
    times = {"first_time": first_time, "horizon": horizon, "decade": decade, "points": 5}
    return runs.relu_descent(data, neurons=8, scale=scale, step=step, **times, seed=0)


def test_a_descent_that_diverges_raises_no_error_and_ends_without_a_finite_loss():
    with np.errstate(all="ignore"):
        trajectory = descent_of_one_student(scale=10.0, step=10.0, first_time=10.0, horizon=500.0, decade=0.0)
    assert not np.isfinite(trajectory.series["loss"][:, -1]).any()


@pytest.mark.parametrize(("scale", "end"), [(2.0, 5.0), (1.0, 5.0), (0.1, 5.0 + 2.0), (1e-4, 5.0 + 4 * 2.0)])
def test_a_smaller_start_is_given_more_time(scale, end):
    """The horizon, 5, and `decade`, 2, more for each factor of ten by which the scale is below one."""
    assert descent_of_one_student(scale=scale, horizon=5.0, decade=2.0).time[-1] == pytest.approx(end)


def staircase(time, plateaus):
    """Return a loss that stands still on plateaus (first time, last time, height), and falls steeply between them.

    Before the first plateau it has the first height already.
    """
    corner_times, corner_heights = [], []
    for first, last, height in plateaus:
        corner_times += [first, last]
        corner_heights += [height, height]
    return np.exp(np.interp(np.log(time), np.log(corner_times), np.log(corner_heights)))


TIMES = np.r_[0.0, np.geomspace(0.1, 100.0, 301)]
TWO_PLATEAUS = [(0.1, 2.0, 1.0), (5.0, 20.0, 0.1)]  # from the first record to 2, and from 5 to 20
ONE_LATE_PLATEAU = [(0.05, 0.06, 1.0), (30.0, 60.0, 0.01)]  # the first one is over before the first record
# the first draw is of rank 1 until the time 10; later two values carry 99.5 % of the squares, and one 92 %
CHANGE_OF_RANK = 10.0


def made_up_trajectory(plateaus, sigma):
    """Return a trajectory with a loss of these plateaus for each draw, and singular values (draws, times, 3).

    A teacher of two neurons and a student of six, with three inputs, end at random layers.
    """
    draws = len(plateaus)
    losses = np.stack([np.r_[1.0, staircase(TIMES[1:], of_draw)] for of_draw in plateaus])
    rng = np.random.default_rng(0)
    constants = {
        "X": np.ones((draws, 7, 3)),
        "teacher_W": rng.standard_normal((draws, 2, 3)),
        "limit_W1": rng.standard_normal((draws, 6, 3)),
        "limit_W2": np.ones((draws, 6)),
    }
    return Trajectory(TIMES, {"loss": losses, "sigma": sigma}, constants)


@pytest.fixture(scope="module")
def trajectory_and_table():
    """Return a trajectory of two draws, and its table.

    The first draw has two plateaus and a change of rank, the second one late plateau and three equal singular values.
    """
    # the losses end at 1e-5 and 1e-6, below the floor of 1e-4: their last stretches do not count as plateaus
    plateaus = [[*TWO_PLATEAUS, (60.0, 60.1, 1e-5)], [*ONE_LATE_PLATEAU, (90.0, 90.1, 1e-6)]]
    sigma = np.ones((2, len(TIMES), 3))
    sigma[0] = np.where(TIMES[:, None] < CHANGE_OF_RANK, [1.0, 0.0, 0.0], np.sqrt([0.92, 0.075, 0.005]))
    trajectory = made_up_trajectory(plateaus, sigma)
    return trajectory, metrics.relu_descent(trajectory, **MEASURE)


@pytest.mark.parametrize(("percent", "ranks"), [(90, [1, 3]), (99, [2, 3])])
def test_the_rank_at_the_end_is_how_many_values_carry_so_many_percent_of_the_squares(
    trajectory_and_table, percent, ranks
):
    _, table = trajectory_and_table
    np.testing.assert_array_equal(saddles.last_ranks(table, percent), ranks)


def test_the_rank_follows_the_spectrum_over_time(trajectory_and_table):
    _, table = trajectory_and_table
    ranks = table[(table["quantity"] == "rank") & (table["seed"] == 0) & (table["index"] == 99)]
    np.testing.assert_array_equal(ranks["value"], np.where(ranks["time"] < CHANGE_OF_RANK, 1, 2))


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        pytest.param(0, [(0.1, 2.0), (5.0, 20.0)], id="two from the start on"),
        pytest.param(1, [(30.0, 60.0)], id="one late"),
    ],
)
def test_plateaus_are_where_the_loss_stands_still(trajectory_and_table, draw, expected):
    _, table = trajectory_and_table
    ratio = TIMES[2] / TIMES[1]  # of neighbouring records
    # up to two records, at which the slope is not yet that of the plateau
    np.testing.assert_allclose(saddles.plateaus(table, draw), expected, rtol=2 * (ratio - 1))


def test_a_draw_starts_at_zero_if_its_loss_starts_on_a_plateau(trajectory_and_table):
    _, table = trajectory_and_table
    np.testing.assert_array_equal(saddles.starts_at_zero(table), [True, False])


def test_the_rank_at_the_first_saddle_is_that_when_the_second_plateau_begins(trajectory_and_table):
    _, table = trajectory_and_table
    # at time 5, before the change of rank; the second draw does not start at zero
    np.testing.assert_array_equal(saddles.first_saddle_ranks(table, 99), [1, np.nan])


@pytest.mark.parametrize(("loss", "is_fitted"), [(1e-4, [True, True]), (3e-6, [False, True])])
def test_draws_are_fitted_if_their_loss_has_come_down_to_a_share_of_its_start(trajectory_and_table, loss, is_fitted):
    """The draws end at losses of 1e-5 and 1e-6."""
    _, table = trajectory_and_table
    np.testing.assert_array_equal(saddles.fitted_draws(table, loss), is_fitted)


@pytest.mark.parametrize("draw", [0, 1])
def test_cosines_of_directions_are_those_of_angles_between_subspaces(trajectory_and_table, draw):
    trajectory, table = trajectory_and_table
    W, teacher = trajectory.constants["limit_W1"][draw], trajectory.constants["teacher_W"][draw]
    first_right_vectors = np.linalg.eigh(W.T @ W)[1][:, ::-1][:, :2]
    angles = np.sort(subspace_angles(first_right_vectors, teacher.T))
    values = table[table["seed"] == draw].set_index(["quantity", "index"])["value"]
    np.testing.assert_allclose(values["teacher_cosine"], np.cos(angles), rtol=0, atol=1e-12)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_share_of_W_inside_the_teachers_span_is_that_of_the_squares_of_its_projection(trajectory_and_table, draw):
    trajectory, table = trajectory_and_table
    W, teacher = trajectory.constants["limit_W1"][draw], trajectory.constants["teacher_W"][draw]
    # columns are the rows of W, projected on the span of the teacher's rows
    fit = teacher.T @ np.linalg.lstsq(teacher.T, W.T, rcond=None)[0]
    values = table[table["seed"] == draw].set_index("quantity")["value"]
    assert values["inside"] == pytest.approx(np.sum(fit**2) / np.sum(W**2))
    assert values["chance_inside"] == pytest.approx(2 / 3)  # two neurons in three dimensions


def test_each_draw_has_the_number_of_samples(trajectory_and_table):
    trajectory, table = trajectory_and_table
    _, samples, _ = trajectory.constants["X"].shape
    assert (table.loc[table["quantity"] == "samples", "value"] == samples).all()


@pytest.mark.parametrize("index", [1, 2])
def test_cosines_by_chance_are_those_of_spans_at_random(index):
    """Means over many teachers, and over pairs of spans drawn here, of two directions in five dimensions."""
    rng, draws = np.random.default_rng(1), 400
    constants = {
        "X": np.ones((draws, 7, 5)),
        "teacher_W": rng.standard_normal((draws, 2, 5)),
        "limit_W1": rng.standard_normal((draws, 6, 5)),
        "limit_W2": np.ones((draws, 6)),
    }
    series = {"loss": np.ones((draws, 4)), "sigma": np.ones((draws, 4, 5))}
    table = metrics.relu_descent(Trajectory(np.array([0.0, 0.1, 1.0, 10.0]), series, constants), **MEASURE)
    measured = table.loc[(table["quantity"] == "chance_cosine") & (table["index"] == index), "value"]
    pairs = rng.standard_normal((draws, 2, 5, 2))
    cosines = np.array([np.cos(np.sort(subspace_angles(*pair)))[index - 1] for pair in pairs])
    standard_error = np.sqrt((measured.var() + cosines.var()) / draws)
    assert abs(measured.mean() - cosines.mean()) < 4 * standard_error


RANK_1, RANK_2, RANK_3 = [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("loss", "typical"),
    [
        pytest.param(1e-4, 2, id="fitted at rank 2 after a plateau of rank 1"),
        pytest.param(3e-6, 1, id="fitted at rank 2"),
        pytest.param(1e-7, 0, id="the first of all"),
    ],
)
def test_the_typical_draw_is_fitted_at_rank_2_and_after_rank_1_if_there_is_one(loss, typical):
    """Of three draws each is less typical than the next; a draw is fitted that ends at the share `loss` or below."""
    spectra_on_plateau_and_at_end = [(RANK_1, RANK_3), (RANK_2, RANK_2), (RANK_1, RANK_2)]
    sigma = [np.where(TIMES[:, None] < CHANGE_OF_RANK, *spectra) for spectra in spectra_on_plateau_and_at_end]
    last_losses = (1e-6, 1e-6, 1e-5)  # so that the last draw is the first that is no longer fitted
    plateaus = [[*TWO_PLATEAUS, (60.0, 60.1, last_loss)] for last_loss in last_losses]
    table = metrics.relu_descent(made_up_trajectory(plateaus, np.stack(sigma)), **MEASURE)
    assert saddles.typical_draw(table, 99, loss) == typical
