"""The noise-driven process against exponentials of its moments, special functions, and statistics made by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.linalg import expm
from scipy.special import hyperu
from scipy.stats import t as student

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias.noise import metrics, models, rates, runs, theory
from learning_dynamics.seeds import generators
from learning_dynamics.trajectories import Trajectory
from tests.papers.spectral_bias.plain import noise_step, second_moments, swaps, trajectory_and_table


@pytest.mark.parametrize("inputs", [2, 3, 5])
@pytest.mark.parametrize("time", [0.4, 1.5])
def test_second_moments(inputs, time):
    # of one column: w = e_1, a = 0
    rows, last = second_moments(np.ones(inputs), np.eye(inputs)[0], time)
    hidden, output = theory.second_moments(inputs, np.array([time]))
    assert hidden[0] == pytest.approx(rows.sum())
    assert output[0] == pytest.approx(last)


@pytest.mark.parametrize("inputs", [2, 3])
@pytest.mark.parametrize("time", [0.4, 1.5])
def test_the_commutators_second_moment(inputs, time):
    """Of two columns x, y the tensor x x y y obeys a linear equation; e = w_ij a_k - w_ik a_j is quadratic in them."""
    size = inputs + 1
    each = [np.kron(np.eye(size), swap) + np.kron(swap, np.eye(size)) for swap in swaps(np.ones(inputs))]
    # the pair z = x (x) y: dz = sum_j (A_j (x) 1 + 1 (x) A_j) z dB_j + sum_j A_j (x) A_j z dt
    drift = sum(np.kron(swap, swap) for swap in swaps(np.ones(inputs)))
    identity = np.eye(size**2)
    generator = np.kron(drift, identity) + np.kron(identity, drift) + sum(np.kron(one, one) for one in each)
    start = np.zeros(size**2)
    start[0 * size + 1] = 1.0  # x = e_1, y = e_2, both with a = 0
    moment = expm(generator * time) @ np.kron(start, start)
    moment = moment.reshape(size, size, size, size)
    # the entry of row i: x_i y_last - y_i x_last, squared, by row on average
    squares = [moment[i, -1, i, -1] - 2 * moment[i, -1, -1, i] + moment[-1, i, -1, i] for i in range(inputs)]
    found = theory.commutator_second_moment(inputs, np.array([time]))
    assert found[0] == pytest.approx(np.mean(squares))


@pytest.mark.parametrize("inputs", [2, 3, 4, 7, 20, 100])
def test_all_exponents_by_tricomis_function(inputs):
    p = np.arange(1.0, inputs + 1)
    args = (inputs + 1) / 2, (inputs - 1) / 2
    volumes = p * (inputs - 1 - p) / 4 * hyperu(p / 2 + 1, *args) / hyperu(p / 2, *args)
    found = theory.lyapunov_exponents(inputs)
    np.testing.assert_allclose(np.cumsum(found)[:-1], volumes, rtol=1e-9, atol=1e-11)
    assert found.sum() == pytest.approx(-inputs)
    assert (np.diff(found) < 0).all()


def test_a_quarter_of_many_grow():
    found, places = theory.lyapunov_exponents(640)[:-1], (np.arange(640) + 0.5) / 640
    assert (found > 0).sum() == 161
    inside = (places > 0.1) & (places < 0.9)
    # the next term is of order 1/d
    np.testing.assert_allclose(found[inside], theory.spectrum_limit(places[inside]), rtol=0, atol=4 / 640)


def test_the_mean_commutators_limit_by_quadrature():
    """Of tanh x = y / sqrt(1 + y^2) under the density y sqrt(1 + y^2) exp(-y^2 / 2)."""
    mass = quad(lambda y: y * np.sqrt(1 + y * y) * np.exp(-y * y / 2), 0, np.inf)[0]
    mean = quad(lambda y: y * y * np.exp(-y * y / 2), 0, np.inf)[0] / mass
    assert theory.commutator_mean_limit() == pytest.approx(2 / np.pi * mean, rel=1e-12)
    late = theory.mean_commutator(2, np.array([15.0]))[0]
    assert 2 / np.pi * late == pytest.approx(theory.commutator_mean_limit(), rel=1e-4)


@pytest.mark.parametrize("inputs", [2, 3, 5])
def test_the_mean_commutator_of_many_short_paths(inputs):
    """Euler steps of numpy's own on two columns alone; early, where no path is heavy."""
    rng, step, paths = np.random.default_rng(4), 0.005, 40_000
    columns = np.repeat(np.eye(inputs + 1)[None, :, :2], paths, axis=0)
    for count in range(1, 161):
        columns = noise_step(columns, np.sqrt(step) * rng.standard_normal((paths, inputs)))
        if count in (40, 160):
            x, y = columns[..., 0], columns[..., 1]
            length = np.linalg.norm(x[:, :-1] * y[:, -1:] - y[:, :-1] * x[:, -1:], axis=1)
            exact = theory.mean_commutator(inputs, np.array([count * step]))[0]
            lag = inputs * step * count * step / 2 * exact + step
            assert abs(length.mean() - exact) < 4 * length.std() / paths**0.5 + lag, f"step {count}"
    assert theory.mean_commutator(inputs, np.array([0.0]))[0] == 0.0


@pytest.mark.parametrize(("inputs", "rate"), [(2, 0.0), (3, None), (4, 6**0.5 - 2), (5, None)])
def test_the_mean_commutator_grows_at_its_rate(inputs, rate):
    found = theory.mean_commutator_rate(inputs)
    if rate is not None:
        assert found == pytest.approx(rate, abs=1e-6)
    late = theory.mean_commutator(inputs, np.array([20.0, 21.0]))
    assert np.log(late[1] / late[0]) == pytest.approx(found, abs=1e-4)
    # below half the rate of the second moment, by Jensen, and above twice the typical rate's half
    assert theory.lyapunov_exponents(inputs)[:2].sum() - 1e-6 < found < ((2 * inputs - 1) ** 0.5 - 1) / 2


def test_the_schemes_moments_are_those_of_its_steps():
    sizes = np.array([0.1, 0.3, 0.2])
    moment = np.diag([1.0, 0.0, 0.0, 0.0])
    hidden = []
    output = []
    for size in sizes:
        moment = moment + size * sum(swap @ moment @ swap for swap in swaps(np.ones(3)))
        hidden.append(np.trace(moment[:-1, :-1]))
        output.append(moment[-1, -1])
    np.testing.assert_allclose(theory.euler_second_moments(3, sizes), [hidden, output])


@pytest.mark.parametrize("path", [0, 1, 2])
def test_a_path_is_its_recursion(path):
    sizes = np.array([0.1, 0.2, 0.05, 0.1, 0.15, 0.2])
    W, a, average = models.simulate(2, 3, sizes, np.array([0, 1, 6]), seed=7)
    (rng,) = generators(7, "noise_process.paths", 1)
    normal = np.concatenate([models.standard_normals(rng, (steps, 2, 3)) for steps in (4, 2)])
    noise = np.sqrt(sizes)[:, None, None] * normal
    states = [(np.eye(2), np.zeros(2), np.zeros(2))]
    for size, kick in zip(sizes, noise[..., path], strict=True):
        hidden, output, mean = states[-1]
        states.append((hidden + np.outer(kick, output), output + hidden.T @ kick, mean + size * (output - mean)))
    recorded = zip(*(states[step] for step in (0, 1, 6)), strict=True)
    for name, simulated, expected in zip(("W", "a", "average"), (W, a, average), recorded, strict=True):
        np.testing.assert_allclose(simulated[path], expected, err_msg=name)


def test_a_statistic_is_of_a_recorded_time():
    times = pd.DataFrame({"time": [0.0, 0.3, 0.6], "value": [1.0, 2.0, 3.0]})
    table = times.assign(quantity="x", statistic="mean", lower=0.0, upper=4.0, paths=9)
    assert rates.statistic(table, "x", at=0.1 + 0.2).value == 2.0
    with pytest.raises(ProjectError, match=r"`x`: nothing is recorded at time 0\.4; the nearest time is 0\.3"):
        rates.statistic(table, "x", at=0.4)


@pytest.fixture(scope="module")
def ensemble():
    """Return the table of an ensemble, and each of its quantities on every path, shape (paths, times)."""
    settings = {"inputs": 3, "paths": 2000, "horizon": 0.6, "points": 3, "step": 0.1, "schedule": "constant"}
    measuring = {"powers": [0.5], "quantiles": [0.5, 0.9]}
    _, table = trajectory_and_table(runs.noise_process, metrics.noise_process, settings, measuring=measuring, seed=1)
    W, a, average = models.simulate(3, 2000, np.full(6, 0.1), np.array([0, 3, 6]), seed=1)
    entries = W[:, :, :, 0] * a[:, :, None, 1] - W[:, :, :, 1] * a[:, :, None, 0]
    lengths = np.linalg.norm(W, axis=(2, 3))
    return table, {
        "hidden_square": lengths**2 / 3,
        "output_square": np.sum(a**2, axis=2) / 3,
        "average_square": np.sum(average**2, axis=2) / 3,
        "commutator_entry": np.abs(entries).mean(axis=2),
        "commutator_entry_squared": (entries**2).mean(axis=2),
        "commutator_length": np.sqrt((entries**2).sum(axis=2)),
        "determinant": np.linalg.det(W),
        "sigma_1": np.linalg.norm(W, 2, axis=(2, 3)),
        "power_of_W_0.5": lengths**0.5,
        "power_of_a_0.5": np.sum(a**2, axis=2) ** 0.25 + np.sum(average**2, axis=2) ** 0.25,
    }


QUANTITIES = (
    *(
        "hidden_square",
        "output_square",
        "average_square",
        "commutator_entry",
        "commutator_entry_squared",
        "commutator_length",
    ),
    *("determinant", "sigma_1", "power_of_W_0.5", "power_of_a_0.5"),
)


def statistics(table, quantity, statistic):
    """Return the rows of one statistic, by time."""
    return table[(table["quantity"] == quantity) & (table["statistic"] == statistic)].sort_values("time")


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_means_over_paths_and_their_intervals(ensemble, quantity):
    table, on_each_path = ensemble
    means, paths = statistics(table, quantity, "mean"), on_each_path[quantity]
    np.testing.assert_allclose(means["value"], paths.mean(axis=0), rtol=1e-5, atol=1e-7)
    half_widths = 1.96 * paths.std(axis=0, ddof=1) / 2000**0.5
    np.testing.assert_allclose(means["upper"] - means["value"], half_widths, rtol=2e-3, atol=1e-6)
    np.testing.assert_allclose(means["value"] - means["lower"], half_widths, rtol=2e-3, atol=1e-6)
    assert (means["paths"] == 2000).all()


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_share_of_the_heaviest_paths(ensemble, quantity):
    table, on_each_path = ensemble
    sizes = np.sort(np.abs(on_each_path[quantity]), axis=0)
    total = sizes.sum(axis=0)
    share = np.where(total > 0, sizes[-2:].sum(axis=0) / np.where(total > 0, total, 1.0), np.nan)
    np.testing.assert_allclose(statistics(table, quantity, "mean")["heaviest"], share, rtol=1e-5)


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("part", [0.5, 0.9])
def test_quantiles_over_paths(ensemble, quantity, part):
    table, on_each_path = ensemble
    quantiles = statistics(table, quantity, f"quantile {part}")["value"]
    np.testing.assert_allclose(quantiles, np.quantile(on_each_path[quantity], part, axis=0), rtol=1e-6, atol=0.05)


def test_the_share_of_paths_above_one(ensemble):
    table, on_each_path = ensemble
    above = statistics(table, "sigma_1", "share above 1")["value"]
    np.testing.assert_allclose(above, (on_each_path["sigma_1"] > 1).mean(axis=0), rtol=0, atol=1e-3)


def test_what_is_predicted_of_means(ensemble):
    table, _ = ensemble
    predicted = {name: statistics(table, name, "mean")["predicted"] for name in QUANTITIES}
    times = np.sort(table["time"].unique())
    assert (predicted["determinant"] == 1.0).all()
    np.testing.assert_allclose(predicted["hidden_square"], np.cosh(np.sqrt(3) * times))
    assert np.isnan(predicted["commutator_entry"]).all()


@pytest.fixture(scope="module")
def growth():
    """Growth of 20 paths in two dimensions, with the step and twice the step, and what is extrapolated from them."""
    growth = np.random.default_rng(0).standard_normal((20, 2, 3))
    return growth, growth[:, 0] + (growth[:, 0] - growth[:, 1])


def exponents_of(growth):
    trajectory = Trajectory(np.array([1.0, 2.0]), {"growth_2": growth}, {"dimensions": np.array([2])})
    return metrics.noise_exponents(trajectory).set_index(["quantity", "index"])


COMBINATIONS = {
    ("direction_rate", 1): [1, 0, 0],
    ("direction_rate", 2): [0, 1, 0],
    ("direction_rate", 3): [0, 0, 1],
    ("commutator_rate", 0): [1, 1, 0],
    ("angle_rate", 0): [-1, 1, 0],
    ("volume_rate", 0): [1, 0, 0],
    ("total_rate", 0): [1, 1, 1],
}


@pytest.mark.parametrize("key", COMBINATIONS)
def test_rates_are_means_over_paths_extrapolated_to_step_zero(growth, key):
    both_steps, at_zero = growth
    values, row = at_zero @ COMBINATIONS[key], exponents_of(both_steps).loc[key]
    half = student.ppf(0.975, 19) * values.std(ddof=1) / 20**0.5
    assert row["value"] == pytest.approx(values.mean())
    assert row["upper"] == pytest.approx(values.mean() + half)
    assert row["lower"] == pytest.approx(values.mean() - half)


def test_what_extrapolation_takes_away(growth):
    both_steps, _ = growth
    differences = both_steps[:, 1] - both_steps[:, 0]
    half = student.ppf(0.975, 19) * differences.std(axis=0, ddof=1) / 20**0.5
    index = np.abs(differences.mean(axis=0)).argmax()
    scheme = np.abs(differences.mean(axis=0))[index]
    row = exponents_of(both_steps).loc["difference_between_steps", 0]
    assert row[["value", "lower", "upper"]].tolist() == pytest.approx(
        [scheme, scheme - half[index], scheme + half[index]]
    )
    assert row["paths"] == 20


def test_rates_that_are_predicted_in_the_plane(growth):
    predicted = exponents_of(growth[0])["predicted"]
    # all three add up to -2, and the first vanishes
    assert predicted["direction_rate", 1] == pytest.approx(0.0, abs=1e-10)
    assert predicted["direction_rate", 2] + predicted["direction_rate", 3] == pytest.approx(-2.0)
    assert predicted["commutator_rate", 0] == pytest.approx(predicted["direction_rate", 2])
    assert predicted["angle_rate", 0] == pytest.approx(predicted["direction_rate", 2])
    assert (predicted["total_rate", 0], predicted["volume_rate", 0]) == (-2.0, 0.0)


def test_rates_for_unequal_weights(growth):
    both_steps, at_zero = growth
    trajectory = Trajectory(np.array([1.0, 2.0]), {"growth": both_steps})
    trajectory.settings = {"weights": [1.0, 0.5]}
    weighted = metrics.weighted_noise_exponents(trajectory).set_index(["quantity", "index"])
    assert weighted.loc[("direction_rate", 2), "value"] == pytest.approx(at_zero[:, 1].mean())
    assert weighted.loc[("total_rate", 0), "predicted"] == pytest.approx(-1.25)


def test_weighted_rates_of_a_long_path_by_plain_steps():
    """Euler's method with tiny steps and numpy's QR, on other noise: the same rates within their errors."""
    weights, step, blocks, every = np.array([1.0, 0.5]), 0.005, 400, 40
    rng = np.random.default_rng(3)
    frames, sums = np.repeat(np.eye(3)[None], 60, axis=0), np.zeros((60, 3))
    for block in range(blocks):
        for _ in range(every):
            frames = noise_step(frames, np.sqrt(step) * weights * rng.standard_normal((60, 2)))
        frames, upper = np.linalg.qr(frames)
        if block >= 40:
            sums += np.log(np.abs(np.diagonal(upper, axis1=1, axis2=2)))
    found = sums / (step * every * (blocks - 40))
    settings = {"weights": [1.0, 0.5], "paths": 60, "horizon": 60.0, "burn": 5.0, "step": 0.04}
    growth = runs.weighted_noise_exponents(**settings, seed=2).series["growth"]
    extrapolated = 2 * growth[:, 0] - growth[:, 1]
    error = np.sqrt((found.var(axis=0) + extrapolated.var(axis=0)) / 60)
    # Euler's rates are off by the order of its step times the squared rate of the last direction
    assert (np.abs(found.mean(axis=0) - extrapolated.mean(axis=0)) < 4 * error + 2 * step).all()


@pytest.mark.parametrize(
    ("numbers", "text"), [([], "none"), ([3], "3"), ([2, 3, 4], "2 to 4"), ([9, 2, 5, 6], "2, 5 to 6, 9")]
)
def test_numbers_as_a_person_writes_them(numbers, text):
    assert rates.number_ranges(numbers) == text
