"""The noise-driven process against exponentials of its moments, special functions, plain steps and numpy's statistics.

W is square, with d = `inputs` rows above a^T; its singular values grow at the rates lambda_1 to lambda_d.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.linalg import expm
from scipy.special import hyperu
from scipy.stats import norm
from scipy.stats import t as student

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias.noise import metrics, models, rates, runs, theory
from learning_dynamics.seeds import generators
from learning_dynamics.trajectories import Trajectory
from tests.papers.spectral_bias.plain import noise_step, second_moments, swaps, trajectory_and_table


@pytest.mark.parametrize("inputs", [2, 3, 5])
@pytest.mark.parametrize("time", [0.4, 1.5])
def test_second_moments_are_exponentials_of_their_linear_equation(inputs, time):
    """E|w|^2 and E a^2 of one column of W above a^T, which starts at w = e_1 and a = 0."""
    of_entries_of_w, of_a = second_moments(np.ones(inputs), np.eye(inputs)[0], time)
    hidden, output = theory.second_moments(inputs, np.array([time]))
    assert hidden[0] == pytest.approx(of_entries_of_w.sum())
    assert output[0] == pytest.approx(of_a)


@pytest.mark.parametrize("inputs", [2, 3])
@pytest.mark.parametrize("time", [0.4, 1.5])
def test_the_commutators_second_moment_is_an_exponential_of_its_linear_equation(inputs, time):
    """Two columns x, y of W above a^T: an entry of the commutators is x_i y_last - y_i x_last.

    Predicted is the mean of its square over the rows i.
    """
    size = inputs + 1
    # the pair z = x (x) y: dz = sum_j (A_j (x) 1 + 1 (x) A_j) z dB_j + sum_j A_j (x) A_j z dt
    noise = [np.kron(np.eye(size), swap) + np.kron(swap, np.eye(size)) for swap in swaps(np.ones(inputs))]
    drift = sum(np.kron(swap, swap) for swap in swaps(np.ones(inputs)))
    # so that the mean of z (x) z obeys a linear equation
    identity = np.eye(size**2)
    generator = np.kron(drift, identity) + np.kron(identity, drift) + sum(np.kron(matrix, matrix) for matrix in noise)
    # x = e_1, y = e_2, both with the entry zero of a
    start = np.kron(np.eye(size)[0], np.eye(size)[1])
    moment = (expm(generator * time) @ np.kron(start, start)).reshape(size, size, size, size)  # E x_i y_j x_k y_l
    squares = [moment[i, -1, i, -1] - 2 * moment[i, -1, -1, i] + moment[-1, i, -1, i] for i in range(inputs)]
    mean_over_rows = np.mean(squares)
    assert theory.commutator_second_moment(inputs, np.array([time]))[0] == pytest.approx(mean_over_rows)


@pytest.mark.parametrize("inputs", [2, 3, 4, 7, 20, 100])
def test_all_exponents_are_quotients_of_tricomis_function(inputs):
    """lambda_1 + ... + lambda_p = p (d - 1 - p) / 4 U(p/2 + 1, (d+1)/2, (d-1)/2) / U(p/2, (d+1)/2, (d-1)/2), p <= d."""
    p = np.arange(1.0, inputs + 1)
    args = (inputs + 1) / 2, (inputs - 1) / 2
    sums = p * (inputs - 1 - p) / 4 * hyperu(p / 2 + 1, *args) / hyperu(p / 2, *args)
    # scipy's function has about ten digits here
    np.testing.assert_allclose(np.cumsum(theory.lyapunov_exponents(inputs))[:-1], sums, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("inputs", [2, 3, 4, 7, 20, 100])
def test_exponents_descend_and_add_up_to_the_trace_of_the_drift(inputs):
    exponents = theory.lyapunov_exponents(inputs)
    assert exponents.sum() == pytest.approx(-inputs)
    assert (np.diff(exponents) < 0).all()


MANY = 640  # dimensions


def test_in_many_dimensions_a_quarter_of_the_exponents_are_positive():
    # and one more: the next term of the limit is of order 1/d
    assert (theory.lyapunov_exponents(MANY)[:-1] > 0).sum() == MANY / 4 + 1


def test_exponents_in_many_dimensions_have_the_limit_of_their_place():
    exponents = theory.lyapunov_exponents(MANY)[:-1]
    places = (np.arange(MANY) + 0.5) / MANY  # (i - 1/2) / d of lambda_i
    inside = (places > 0.1) & (places < 0.9)  # the limit is infinite at the place 0, and steep near it
    # the next term is of order 1/d; four is its constant there, or more
    np.testing.assert_allclose(exponents[inside], theory.spectrum_limit(places[inside]), rtol=0, atol=4 / MANY)


def test_the_limit_of_the_mean_entry_of_the_commutator_is_a_quadrature():
    """2 / pi times the mean of tanh x = y / sqrt(1 + y^2) under the density y sqrt(1 + y^2) exp(-y^2 / 2)."""
    mass = quad(lambda y: y * np.sqrt(1 + y * y) * np.exp(-y * y / 2), 0, np.inf)[0]
    mean = quad(lambda y: y * y * np.exp(-y * y / 2), 0, np.inf)[0] / mass
    assert theory.commutator_mean_limit() == pytest.approx(2 / np.pi * mean, rel=1e-12)


def test_the_mean_commutator_in_the_plane_tends_to_its_limit():
    """An entry of the commutator has 2 / pi of its length, on average, as it points in all directions equally."""
    length = theory.mean_commutator(2, np.array([15.0]))[0]  # within exp(-15) of its limit
    # of the order of 1e-4 are the errors of the differences by which it is computed
    assert 2 / np.pi * length == pytest.approx(theory.commutator_mean_limit(), rel=1e-4)


@pytest.mark.parametrize("inputs", [2, 3, 5])
@pytest.mark.parametrize("steps", [40, 160])
def test_the_mean_commutator_is_that_of_many_short_paths(inputs, steps):
    """Paths by Euler's method, of two columns alone; early, where no path is heavy."""
    rng = np.random.default_rng(4)
    step, paths = 0.005, 40_000
    columns = np.repeat(np.eye(inputs + 1)[None, :, :2], paths, axis=0)
    for _ in range(steps):
        columns = noise_step(columns, np.sqrt(step) * rng.standard_normal((paths, inputs)))
    x, y = columns[..., 0], columns[..., 1]
    lengths = np.linalg.norm(x[:, :-1] * y[:, -1:] - y[:, :-1] * x[:, -1:], axis=1)
    time = steps * step
    exact = theory.mean_commutator(inputs, np.array([time]))[0]
    standard_error = lengths.std() / paths**0.5
    # second moments lag by d h t / 2, relative to them, with steps h; and near its start, zero, a length errs by a step
    lag = inputs * step * time / 2 * exact + step
    assert abs(lengths.mean() - exact) < 4 * standard_error + lag


@pytest.mark.parametrize("inputs", [2, 3, 5])
def test_the_mean_commutator_starts_at_zero(inputs):
    assert theory.mean_commutator(inputs, np.array([0.0]))[0] == 0.0


@pytest.mark.parametrize(("inputs", "rate"), [(2, 0.0), (4, 6**0.5 - 2)])
def test_the_rate_of_the_mean_commutator_in_two_and_four_dimensions_is_exact(inputs, rate):
    # the differences by which it is computed err by about 1e-6
    assert theory.mean_commutator_rate(inputs) == pytest.approx(rate, abs=1e-6)


@pytest.mark.parametrize("inputs", [2, 3, 4, 5])
def test_the_mean_commutator_grows_at_its_rate(inputs):
    before, after = theory.mean_commutator(inputs, np.array([20.0, 21.0]))  # late, when one mode is left
    assert np.log(after / before) == pytest.approx(theory.mean_commutator_rate(inputs), abs=1e-4)


@pytest.mark.parametrize("inputs", [2, 3, 4, 5])
def test_the_mean_commutator_grows_between_typical_paths_and_the_root_mean_square(inputs):
    """By Jensen's inequality: exp(E ln|c|) <= E|c| <= sqrt(E|c|^2), with |c| the length of the commutator.

    E ln|c| grows at the rate lambda_1 + lambda_2, and E|c|^2 at sqrt(2 d - 1) - 1.
    """
    on_typical_paths = theory.lyapunov_exponents(inputs)[:2].sum()
    of_root_mean_square = ((2 * inputs - 1) ** 0.5 - 1) / 2
    # the rate's own error is about 1e-6
    assert on_typical_paths - 1e-6 < theory.mean_commutator_rate(inputs) < of_root_mean_square


def test_second_moments_of_eulers_scheme_are_those_of_its_steps():
    sizes = np.array([0.1, 0.3, 0.2])
    moment = np.diag([1.0, 0.0, 0.0, 0.0])  # of one column, which starts at w = e_1, with the entry zero of a
    hidden, output = [], []
    for size in sizes:
        moment = moment + size * sum(swap @ moment @ swap for swap in swaps(np.ones(3)))
        hidden.append(np.trace(moment[:-1, :-1]))
        output.append(moment[-1, -1])
    np.testing.assert_allclose(theory.euler_second_moments(3, sizes), [hidden, output])  # after each step


@pytest.mark.parametrize("path", [0, 1, 2])
def test_a_simulated_path_takes_eulers_steps_with_the_noise_of_its_generator(path):
    """W += dB a^T, a += W^T dB, and the moving average += size (a - average), all from the state before the step."""
    inputs, paths = 2, 3
    sizes = np.array([0.1, 0.2, 0.05, 0.1, 0.15, 0.2])
    recorded_steps = [0, 1, 6]
    simulated = models.simulate(inputs, paths, sizes, np.array(recorded_steps), seed=7)
    (rng,) = generators(7, "noise_process.paths", members=1)
    # numbers are drawn for four steps at once, and for the two that are left
    draws_of_steps = models.NOISE_STEPS, len(sizes) - models.NOISE_STEPS
    normal = np.concatenate([models.standard_normals(rng, (steps, inputs, paths)) for steps in draws_of_steps])
    W, a, average = np.eye(inputs), np.zeros(inputs), np.zeros(inputs)
    states = [(W, a, average)]
    for size, numbers in zip(sizes, normal[..., path], strict=True):
        dB = np.sqrt(size) * numbers
        W, a, average = W + np.outer(dB, a), a + W.T @ dB, average + size * (a - average)
        states.append((W, a, average))
    for record, step in enumerate(recorded_steps):
        for name, series, expected in zip(("W", "a", "average"), simulated, states[step], strict=True):
            np.testing.assert_allclose(series[path, record], expected, err_msg=f"{name} after step {step}")


def means_of_x():
    """Return a table of the mean over paths of a quantity `x`, recorded at the times 0, 0.3 and 0.6."""
    means = pd.DataFrame({"time": [0.0, 0.3, 0.6], "value": [1.0, 2.0, 3.0]})
    # the interval and the number of paths play no part
    return means.assign(quantity="x", statistic="mean", lower=0.0, upper=4.0, paths=9)


def test_a_statistic_is_found_at_its_time_up_to_rounding():
    rounded = 0.1 + 0.2  # is not 0.3
    assert rates.statistic(means_of_x(), "x", name="mean", at=rounded).value == 2.0


def test_a_statistic_at_a_time_that_is_not_recorded_is_refused():
    with pytest.raises(ProjectError, match=r"`x`: nothing is recorded at time 0\.4; the nearest time is 0\.3"):
        rates.statistic(means_of_x(), "x", name="mean", at=0.4)


PATHS = 2000
INPUTS = 3  # d


@pytest.fixture(scope="module")
def ensemble():
    """Return the table of an ensemble, and each of its quantities on every path, shape (paths, times)."""
    integration = {"horizon": 0.6, "points": 3, "step": 0.1, "schedule": "constant"}
    settings = {"inputs": INPUTS, "paths": PATHS, "integration": integration}
    measuring = {"powers": [0.5], "quantiles": [0.5, 0.9]}
    _, table = trajectory_and_table(runs.noise_process, metrics.noise_process, settings, measuring=measuring, seed=1)
    # the same paths, at the same three times: after none, three and all of six steps
    W, a, average = models.simulate(INPUTS, PATHS, sizes=np.full(6, 0.1), recorded_steps=np.array([0, 3, 6]), seed=1)
    # W_i1 a_2 - W_i2 a_1 of each row i of W, shape (paths, times, rows)
    entries = W[:, :, :, 0] * a[:, :, None, 1] - W[:, :, :, 1] * a[:, :, None, 0]
    lengths = np.linalg.norm(W, axis=(2, 3))
    return table, {
        "hidden_square": lengths**2 / INPUTS,
        "output_square": np.sum(a**2, axis=2) / INPUTS,
        "average_square": np.sum(average**2, axis=2) / INPUTS,
        "commutator_entry": np.abs(entries).mean(axis=2),
        "commutator_entry_squared": (entries**2).mean(axis=2),
        "commutator_length": np.sqrt((entries**2).sum(axis=2)),
        "determinant": np.linalg.det(W),
        "sigma_1": np.linalg.norm(W, 2, axis=(2, 3)),
        "power_of_W_0.5": lengths**0.5,
        "power_of_a_0.5": np.sum(a**2, axis=2) ** 0.25 + np.sum(average**2, axis=2) ** 0.25,
    }


# the keys of the fixture's dictionary
QUANTITIES = [
    "hidden_square",
    "output_square",
    "average_square",
    "commutator_entry",
    "commutator_entry_squared",
    "commutator_length",
    "determinant",
    "sigma_1",
    "power_of_W_0.5",
    "power_of_a_0.5",
]


def statistics(table, quantity, statistic):
    """Return the rows of one statistic, by time."""
    return table[(table["quantity"] == quantity) & (table["statistic"] == statistic)].sort_values("time")


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_means_over_paths_have_normal_intervals(ensemble, quantity):
    table, on_each_path = ensemble
    means, values = statistics(table, quantity, "mean"), on_each_path[quantity]
    # series are kept in single precision
    np.testing.assert_allclose(means["value"], values.mean(axis=0), rtol=1e-5, atol=1e-7)
    half_widths = norm.ppf(0.975) * values.std(axis=0, ddof=1) / PATHS**0.5
    np.testing.assert_allclose(means["upper"] - means["value"], half_widths, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(means["value"] - means["lower"], half_widths, rtol=1e-5, atol=1e-6)
    assert (means["paths"] == PATHS).all()


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_the_heaviest_thousandth_of_paths_has_its_share_of_the_sum(ensemble, quantity):
    table, on_each_path = ensemble
    sizes = np.sort(np.abs(on_each_path[quantity]), axis=0)
    count = PATHS // 1000
    heaviest, total = sizes[-count:].sum(axis=0), sizes.sum(axis=0)
    # at the start, where all paths are zero, there is no share
    shares = np.divide(heaviest, total, out=np.full(len(total), np.nan), where=total > 0)
    np.testing.assert_allclose(statistics(table, quantity, "mean")["heaviest"], shares, rtol=1e-5)


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("part", [0.5, 0.9])
def test_quantiles_over_paths_are_numpys(ensemble, quantity, part):
    table, on_each_path = ensemble
    quantiles = statistics(table, quantity, f"quantile {part}")["value"]
    # series are kept in single precision
    np.testing.assert_allclose(quantiles, np.quantile(on_each_path[quantity], part, axis=0), rtol=1e-5, atol=1e-6)


def test_the_share_above_one_counts_the_paths_whose_first_singular_value_is(ensemble):
    table, on_each_path = ensemble
    above = statistics(table, "sigma_1", "share above 1")["value"]
    # single precision puts a path or two on the other side
    np.testing.assert_allclose(above, (on_each_path["sigma_1"] > 1).mean(axis=0), rtol=0, atol=2 / PATHS)


def test_means_are_predicted_where_they_are_known(ensemble):
    table, _ = ensemble
    predicted = {name: statistics(table, name, "mean")["predicted"] for name in QUANTITIES}
    times = np.sort(table["time"].unique())
    assert (predicted["determinant"] == 1.0).all()
    root = np.sqrt(INPUTS)
    np.testing.assert_allclose(predicted["hidden_square"], np.cosh(root * times))
    np.testing.assert_allclose(predicted["output_square"], np.sinh(root * times) / root, atol=1e-15)
    # both functions are compared with other means above
    second_moments_of_entries = theory.commutator_second_moment(INPUTS, times)
    np.testing.assert_array_equal(predicted["commutator_entry_squared"], second_moments_of_entries)
    np.testing.assert_array_equal(predicted["commutator_length"], theory.mean_commutator(INPUTS, times))
    known = {"determinant", "hidden_square", "output_square", "commutator_entry_squared", "commutator_length"}
    for quantity in set(QUANTITIES) - known:
        assert np.isnan(predicted[quantity]).all(), quantity


@pytest.fixture(scope="module")
def growth():
    """Return made-up growth rates of 20 paths in two dimensions, (paths, step and twice the step, directions)."""
    return np.random.default_rng(0).standard_normal((20, 2, 3))


def extrapolated(growth):
    """Return growth at step zero, linearly from that with the step and with twice the step, (paths, directions)."""
    with_step, with_twice_the_step = growth[:, 0], growth[:, 1]
    return 2 * with_step - with_twice_the_step


def half_width_of_mean(values):
    """Return the half-width of the 95 % interval of a mean over paths, by Student's law."""
    paths = len(values)
    return student.ppf(0.975, paths - 1) * values.std(axis=0, ddof=1) / paths**0.5


def exponents_of(growth):
    """Return the table of rates, by quantity and index."""
    # the run has the step and twice the step where others have times
    trajectory = Trajectory(np.array([1.0, 2.0]), {"growth_2": growth}, {"dimensions": np.array([2])})
    return metrics.noise_exponents(trajectory).set_index(["quantity", "index"])


# each rate as a sum of those of the three directions, d = 2, by quantity and index; rates of no direction have index 0
COMBINATIONS = {
    ("direction_rate", 1): [1, 0, 0],
    ("direction_rate", 2): [0, 1, 0],
    ("direction_rate", 3): [0, 0, 1],
    ("commutator_rate", 0): [1, 1, 0],
    ("ratio_rate", 0): [-1, 1, 0],
    ("volume_rate", 0): [1, 0, 0],
    ("total_rate", 0): [1, 1, 1],
}


@pytest.mark.parametrize(("quantity", "index"), COMBINATIONS)
def test_rates_are_means_over_paths_extrapolated_to_step_zero(growth, quantity, index):
    rates_of_paths = extrapolated(growth) @ COMBINATIONS[quantity, index]
    mean, half = rates_of_paths.mean(), half_width_of_mean(rates_of_paths)
    row = exponents_of(growth).loc[(quantity, index)]
    assert (row["value"], row["lower"], row["upper"]) == pytest.approx((mean, mean - half, mean + half))


def test_the_difference_between_steps_is_the_largest_mean_over_directions(growth):
    differences = growth[:, 1] - growth[:, 0]
    largest = np.abs(differences.mean(axis=0)).argmax()
    mean, half = np.abs(differences[:, largest].mean()), half_width_of_mean(differences[:, largest])
    row = exponents_of(growth).loc["difference_between_steps", 0]
    assert (row["value"], row["lower"], row["upper"]) == pytest.approx((mean, mean - half, mean + half))
    assert row["paths"] == len(growth)


def test_rates_predicted_in_the_plane_follow_from_that_of_the_second_direction(growth):
    """lambda_1 = 0 for d = 2, and all three directions add up to -2."""
    predicted = exponents_of(growth)["predicted"]
    assert predicted["direction_rate", 1] == pytest.approx(0.0, abs=1e-10)
    assert predicted["direction_rate", 2] + predicted["direction_rate", 3] == pytest.approx(-2.0)
    assert predicted["commutator_rate", 0] == pytest.approx(predicted["direction_rate", 2])
    assert predicted["ratio_rate", 0] == pytest.approx(predicted["direction_rate", 2])
    assert (predicted["total_rate", 0], predicted["volume_rate", 0]) == (-2.0, 0.0)


WEIGHTS = [1.0, 0.5]


def weighted_exponents_of(growth):
    """Return the table of rates under unequal weights, by quantity and index."""
    trajectory = Trajectory(np.array([1.0, 2.0]), {"growth": growth})
    trajectory.settings = {"weights": WEIGHTS}
    return metrics.weighted_noise_exponents(trajectory).set_index(["quantity", "index"])


def test_rates_under_unequal_weights_are_extrapolated_to_step_zero(growth):
    second_rate = weighted_exponents_of(growth).loc[("direction_rate", 2), "value"]
    assert second_rate == pytest.approx(extrapolated(growth)[:, 1].mean())


def test_the_predicted_sum_of_rates_is_minus_the_sum_of_squared_weights(growth):
    total_rate = weighted_exponents_of(growth).loc[("total_rate", 0), "predicted"]
    assert total_rate == pytest.approx(-sum(weight**2 for weight in WEIGHTS))


def rates_by_plain_steps(weights, *, paths, step, blocks, burn_blocks, every):
    """Return growth rates by Euler's method and numpy's QR, after each of `blocks` of `every` steps, (paths, d + 1)."""
    d = len(weights)
    rng = np.random.default_rng(3)
    frames, sums = np.repeat(np.eye(d + 1)[None], paths, axis=0), np.zeros((paths, d + 1))
    for block in range(blocks):
        for _ in range(every):
            frames = noise_step(frames, np.sqrt(step) * weights * rng.standard_normal((paths, d)))
        frames, upper = np.linalg.qr(frames)
        if block >= burn_blocks:
            sums += np.log(np.abs(np.diagonal(upper, axis1=1, axis2=2)))
    return sums / (step * every * (blocks - burn_blocks))


def test_rates_under_unequal_weights_are_those_of_eulers_method_with_small_steps():
    paths, step = 60, 0.005
    plain = rates_by_plain_steps(np.array(WEIGHTS), paths=paths, step=step, blocks=400, burn_blocks=40, every=40)
    settings = {"weights": WEIGHTS, "paths": paths, "horizon": 60.0, "burn": 5.0, "step": 0.04}
    measured = extrapolated(runs.weighted_noise_exponents(**settings, seed=2).series["growth"])
    standard_error = np.sqrt((plain.var(axis=0) + measured.var(axis=0)) / paths)
    # Euler's rates are off by the order of the step times the square of the last direction's rate, which is about -1
    distance = np.abs(plain.mean(axis=0) - measured.mean(axis=0))
    np.testing.assert_array_less(distance, 4 * standard_error + 2 * step)


@pytest.mark.parametrize(
    ("numbers", "text"), [([], "none"), ([3], "3"), ([2, 3, 4], "2 to 4"), ([9, 2, 5, 6], "2, 5 to 6, 9")]
)
def test_numbers_in_a_row_are_written_as_a_range(numbers, text):
    assert rates.number_ranges(numbers) == text
