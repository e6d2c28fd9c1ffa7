"""Two singular values under one measurement: closed forms and runs against scipy's flows of the layers by torch.

Judges read made-up tables.
"""

import functools
import itertools

import numpy as np
import pandas as pd
import pytest
import scipy
import torch

from learning_dynamics.papers.deep_linear.one_entry import metrics, runs, theory
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import by_draw, select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.shared import trajectory_and_table
from tests.support import evaluation

START = 0.3  # singular value at the start
RATIO = 0.4  # of the second to the first: of singular values of a measurement, or of W at the start
TARGET = 2.0  # of what is measured of W
TOLERANCES = {"rtol": 1e-10, "atol": 1e-13}
FLOW_ERROR = 1e-7  # of two integrations, the less accurate with a relative tolerance of 1e-9; errors add up on the way

# -- closed forms of an aligned measurement, A = diag(1, RATIO) ------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 7])
def test_the_closed_curve_solves_its_own_equation(depth):
    """d sigma_2 / d sigma_1 is the ratio of two rates N sigma^(2 - 2/N) a."""
    larger = np.linspace(START, 5.0, 9)

    def slope(sigma_1, sigma_2):
        return RATIO * (sigma_2 / sigma_1) ** (2 - 2 / depth)

    solution = scipy.integrate.solve_ivp(slope, (START, 5.0), [START], t_eval=larger, rtol=1e-11, atol=1e-14)
    # a hundred relative tolerances of the integration
    np.testing.assert_allclose(theory.smaller_singular_value(larger, START, RATIO, depth), solution.y[0], rtol=1e-9)


@pytest.mark.parametrize("depth", [3, 4, 7])
def test_the_asymptote_is_the_closed_curve_far_out(depth):
    far = theory.smaller_singular_value(1e40, START, RATIO, depth)
    # sigma_1^(2/N - 1), which vanishes in the limit, is 5e-14 there at depth 3, and less at greater depth
    assert theory.limiting_singular_value(START, RATIO, depth) == pytest.approx(far, rel=1e-8)


def aligned_flow(depth):
    """Return the metrics of the aligned measurement at one depth, and sigma of diagonal layers by torch and scipy.

    Sigma has the shape (times, 2).
    """
    settings = {
        "depths": [depth],
        "ratio": RATIO,
        "start": START,
        "target": TARGET,
        "horizon": 2.0,
        "points": 6,
        **TOLERANCES,
    }
    trajectory, table = trajectory_and_table(runs.aligned_measurement, metrics.aligned_measurement, settings)
    A = torch.diag(torch.tensor([1.0, RATIO], dtype=torch.float64))

    def loss(W):
        return 0.5 * (torch.sum(A * W) - TARGET) ** 2

    path = plain.flow([START ** (1 / depth) * np.eye(2)] * depth, loss, trajectory.time)
    return table, np.array([np.diag(plain.multiply(layers)) for layers in path])


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_an_aligned_measurement_is_the_flow_of_diagonal_layers(depth):
    table, expected = aligned_flow(depth)
    for index in (1, 2):
        sigma = by_draw(table, "sigma", index=index)[0]
        np.testing.assert_allclose(sigma, expected[:, index - 1], rtol=FLOW_ERROR, err_msg=f"{index=}")


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_of_an_aligned_measurement_the_second_singular_value_alone_is_predicted(depth):
    table, expected = aligned_flow(depth)
    np.testing.assert_allclose(select(table, "sigma", index=2)["predicted"], expected[:, 1], rtol=FLOW_ERROR)
    assert select(table, "sigma", index=1)["predicted"].isna().all()


# -- one observed entry, the upper right one of 2 x 2 matrices -------------------------------------

ENTRY_DEPTHS, ENTRY_DRAWS = [1, 2, 3], 3


@pytest.fixture
def one_entry():
    """The run of three draws at three depths, and its metrics; members are draws within depths."""
    settings = {
        "depths": ENTRY_DEPTHS,
        "ratio": RATIO,
        "start": START,
        "target": TARGET,
        "horizon": 3.0,
        "points": 5,
        "seeds": ENTRY_DRAWS,
        "seed": 4,
        **TOLERANCES,
    }
    return trajectory_and_table(runs.one_entry, metrics.one_entry, settings)


def of_members(table, quantity, **where):
    """Return a quantity by member, in the trajectory's order: shape (members, times)."""
    return by_draw(table, quantity, draw=["depth", "seed"], **where)


@pytest.mark.parametrize("member", range(len(ENTRY_DEPTHS) * ENTRY_DRAWS))
def test_one_entry_is_the_flow_of_balanced_layers_by_torch(one_entry, member):
    trajectory, _ = one_entry
    W, depth = trajectory.series["end_to_end"][member], int(trajectory.constants["depth"][member])
    path = plain.flow(plain.balanced_layers(W[0], depth), lambda W: 0.5 * (W[0, 1] - TARGET) ** 2, trajectory.time)
    np.testing.assert_allclose(W, [plain.multiply(layers) for layers in path], rtol=0, atol=FLOW_ERROR)


def test_determinants_and_first_singular_values_are_measured(one_entry):
    trajectory, table = one_entry
    W = trajectory.series["end_to_end"]
    np.testing.assert_allclose(of_members(table, "determinant"), np.linalg.det(W), rtol=0, atol=1e-12)
    np.testing.assert_allclose(of_members(table, "sigma", index=1), np.linalg.norm(W, 2, axis=(-2, -1)))


def test_the_predicted_sign_is_that_when_the_observed_entry_alone_has_moved(one_entry):
    trajectory, table = one_entry
    at_depth_1 = trajectory.series["end_to_end"][:, 0].copy()
    at_depth_1[:, 0, 1] = TARGET
    signs = of_members(table, "predicted_sign")[:, 0]
    np.testing.assert_array_equal(signs, np.sign(np.linalg.det(at_depth_1)))


def test_starts_have_the_singular_values_asked_for_and_keep_orientation(one_entry):
    trajectory, _ = one_entry
    starts = trajectory.series["end_to_end"][:, 0]
    np.testing.assert_allclose(np.linalg.svd(starts, compute_uv=False), [[START, RATIO * START]] * len(starts))
    assert np.all(np.linalg.det(starts) > 0)


def test_draws_have_starts_of_their_own_which_depths_share(one_entry):
    trajectory, _ = one_entry
    starts = trajectory.series["end_to_end"][:, 0].reshape(len(ENTRY_DEPTHS), ENTRY_DRAWS, 4)
    assert len(np.unique(starts[0].round(9), axis=0)) == ENTRY_DRAWS
    for depth, at_depth in zip(ENTRY_DEPTHS, starts, strict=True):
        np.testing.assert_allclose(at_depth, starts[0], rtol=0, atol=1e-12, err_msg=f"{depth=}")


def test_a_flow_that_is_lost_at_the_third_time_has_no_singular_values_from_there_on(one_entry):
    trajectory, _ = one_entry
    trajectory.series["end_to_end"][0, 2:] = np.nan
    of_lost_flow = of_members(metrics.one_entry(trajectory), "sigma", index=2)[0]
    np.testing.assert_array_equal(np.isnan(of_lost_flow), [False, False, True, True, True])


# -- one path for every loss of one measurement ----------------------------------------------------

A = np.diag([1.0, 0.6, 0.2])  # the measurement
GROWTH = 8.0  # the path ends when W has grown so many times
POINTS = 33  # of the path
DEVIATION = 0.3  # of the entries of W at the start
TORCH_LOSSES = {"squared": lambda x: 0.5 * (x - 3.0) ** 2, "exponential": lambda x: torch.exp(-x)}  # of x = <A, W>

every_depth_of_paths = pytest.mark.parametrize("depth", [1, 2, 3])


@functools.cache
def path_of_measurement(depth):
    """Return the end-to-end matrices along the path of one draw, shape (POINTS, 3, 3), and the metrics."""
    settings = {
        "depths": [depth],
        "measurement": np.diag(A).tolist(),
        "start": DEVIATION,
        "growth": GROWTH,
        "points": POINTS,
        "seeds": 1,
        "seed": 2,
        **TOLERANCES,
    }
    trajectory, table = trajectory_and_table(runs.one_measurement, metrics.one_measurement, settings)
    return trajectory.series["end_to_end"][0], table


@every_depth_of_paths
def test_the_path_begins_at_a_gaussian_matrix_of_the_given_deviation(depth):
    path, _ = path_of_measurement(depth)
    (rng,) = generators(2, "deep_linear.one_measurement", 1)  # the seed of the run
    np.testing.assert_allclose(path[0], DEVIATION * rng.standard_normal((3, 3)), rtol=0, atol=1e-12)


@every_depth_of_paths
def test_points_of_the_path_are_equally_far_apart_relative_to_the_norm(depth):
    """Lengths are those of log ||W|| where W moves along itself: all together log(GROWTH)."""
    path, _ = path_of_measurement(depth)
    steps = np.linalg.norm(np.diff(path, axis=0), axis=(1, 2)) / np.linalg.norm(path[:-1], axis=(1, 2))
    # a chord over the norm where it begins is longer by about half a step, 0.03
    np.testing.assert_allclose(steps, np.log(GROWTH) / (POINTS - 1), rtol=0.1)


@every_depth_of_paths
@pytest.mark.parametrize("name", TORCH_LOSSES)
def test_flows_of_layers_on_any_loss_go_along_the_path(depth, name):
    path, _ = path_of_measurement(depth)

    def loss(W):
        return TORCH_LOSSES[name](torch.sum(torch.tensor(A) * W))

    # what is measured of W grows along the path, and says where a matrix is on it
    point_with = scipy.interpolate.interp1d(np.sum(A * path, axis=(1, 2)), path, axis=0)
    for layers in plain.flow(plain.balanced_layers(path[0], depth), loss, np.array([0.0, 0.2, 0.4]))[1:]:
        W = plain.multiply(layers)
        # between two recorded points, less than 0.1 apart there, the path is curved: the chord misses it by less than
        # the squared length over eight radii of curvature, which are of order one
        np.testing.assert_allclose(W, point_with(np.sum(A * W)), rtol=0, atol=0.1**2 / 8)


@every_depth_of_paths
def test_the_first_two_singular_values_alone_are_measured_along_the_path(depth):
    path, table = path_of_measurement(depth)
    values = np.linalg.svd(path, compute_uv=False)
    for index in (1, 2):
        np.testing.assert_allclose(by_draw(table, "sigma", index=index)[0], values[:, index - 1], err_msg=f"{index=}")
    assert sorted(table["index"].unique()) == [1, 2]


# -- the judge of the relation of two singular values, on made-up paths ----------------------------

# The claim: sigma_2 as a function of sigma_1 is a line at depth 1, a power at depth 2, and has an asymptote from depth
# 3 on. Each depth is judged by the median over draws of the exponent d log sigma_2 / d log sigma_1 at the end. As
# printed this is so under one entry. As corrected it is so under a measurement, with JUDGED_RATIO for slope and power,
# while under one entry the exponent is zero at every depth. Flows on an aligned measurement obey a closed form besides.
DEPTHS = (1, 2, 3, 4)
JUDGED_RATIO = 0.5  # of the second to the first singular value of the measurement
SHARE = 0.1
TOLERANCE = SHARE * JUDGED_RATIO  # of exponents and slopes
PATHS = 9  # draws
MIDDLE_PATH = PATHS // 2
ALIGNED_RTOL, AMPLIFICATION = 1e-10, 1000.0  # the closed form is to be met to their product


def sigma_rows(depth, draw, sigma_1, sigma_2):
    """Return the rows of one path of two singular values."""
    values = {1: sigma_1, 2: sigma_2}
    columns = {"depth": depth, "seed": draw, "time": np.arange(float(len(sigma_1))), "quantity": "sigma"}
    return pd.concat([pd.DataFrame({**columns, "index": index, "value": sigma}) for index, sigma in values.items()])


def power_paths(exponents, *, slope=JUDGED_RATIO, wobble=0.0):
    """Return paths of nine draws whose second singular value is a power of the first, which grows a millionfold.

    Parameters
    ----------
    exponents : dict from depth to float
        At depth 1 an exponent of zero is a second singular value that stays, any other one that of a line.
    slope : float
        Of that line.
    wobble : float
        By how much exponents of neighbouring draws differ; the middle one has the given exponent.
    """
    sigma_1 = np.geomspace(1.0, 1e6, 121)
    paths = []
    for depth, draw in itertools.product(DEPTHS, range(PATHS)):
        is_line = depth == 1 and exponents[1] != 0
        factor = slope if is_line else 0.3
        sigma_2 = factor * sigma_1 ** (exponents[depth] + wobble * (draw - MIDDLE_PATH))
        paths.append(sigma_rows(depth, draw, sigma_1, sigma_2))
    table = pd.concat(paths, ignore_index=True)
    table.attrs = {"settings": {"measurement": [2.0, 2.0 * JUDGED_RATIO]}, "draw": ("depth", "seed")}
    return table


def aligned_table(error=0.0, depth=2):
    """Return the aligned measurement's table, by its equation; at one depth one value, midway, is off.

    `error` is relative to the largest second singular value of that depth.
    """
    start, end = 0.1, 50.0  # of both singular values, and of the first
    sigma_1 = np.linspace(start, end, 60)
    paths = []
    for N in DEPTHS:

        def slope(first, second, N=N):
            return JUDGED_RATIO * (second / first) ** (2 - 2 / N)

        solution = scipy.integrate.solve_ivp(slope, (start, end), [start], t_eval=sigma_1, rtol=1e-12, atol=1e-15)
        sigma_2 = solution.y[0]
        if depth == N:
            sigma_2[len(sigma_2) // 2] += error * sigma_2[-1]
        paths.append(sigma_rows(N, 0, sigma_1, sigma_2))
    table = pd.concat(paths, ignore_index=True)
    settings = {"start": start, "ratio": JUDGED_RATIO, "integration": {"rtol": ALIGNED_RTOL}}
    table.attrs = {"settings": settings, "draw": ("depth", "seed")}
    return table


# exponents by depth with which the claim is corrected: under a measurement a line, a power and asymptotes, under one
# entry asymptotes at every depth
RIGHT = {1: 1.0, 2: JUDGED_RATIO, 3: 0.0, 4: 0.0}
LEVEL = dict.fromkeys(DEPTHS, 0.0)


def evaluation_with(generic=RIGHT, entry=LEVEL, aligned=None, **options):
    """Return what the claim says of exponents under a measurement and under one entry; options are of the former."""
    tables = {
        "generic": power_paths(generic, **options),
        "entry": power_paths(entry),
        "aligned": aligned_table() if aligned is None else aligned,
    }
    return evaluation("deep_linear", "one_measurement", tables, share=SHARE, amplification=AMPLIFICATION)


def test_exponents_as_corrected_correct_the_sentence():
    assert evaluation_with().verdict == "corrected"


def test_exponents_as_corrected_have_no_error():
    judged = evaluation_with()
    assert judged.facts["largest_median_error"] < 1e-9, "the middle start has the predicted exponents, up to rounding"
    assert judged.facts["paths_beyond_tolerance"] == 0, "no draw is beyond the tolerance"


def test_a_line_under_one_entry_is_reproduced_where_there_is_one():
    assert evaluation_with(entry=LEVEL | {1: 1.0}).verdict == "reproduced"


every_error_of_an_exponent = pytest.mark.parametrize(
    ("depth", "error"), [(depth, share * TOLERANCE) for depth in DEPTHS for share in (1.1, -1.1)]
)


@every_error_of_an_exponent
def test_an_exponent_under_a_measurement_beyond_the_tolerance_is_refused(depth, error):
    assert evaluation_with(generic=RIGHT | {depth: RIGHT[depth] + error}).verdict == "contradicted"


@every_error_of_an_exponent
def test_an_exponent_under_one_entry_beyond_the_tolerance_is_refused(depth, error):
    assert evaluation_with(entry=LEVEL | {depth: error}).verdict == "contradicted"


# at depth 1 another exponent changes the slope at the end as well, which is compared with the same tolerance
@pytest.mark.parametrize(
    ("depth", "error"), [(depth, share * TOLERANCE) for depth in (2, 3, 4) for share in (0.9, -0.9)]
)
def test_an_exponent_within_the_tolerance_is_allowed(depth, error):
    assert evaluation_with(generic=RIGHT | {depth: RIGHT[depth] + error}).verdict == "corrected"


@pytest.mark.parametrize(
    ("slope", "verdict"),
    [
        (JUDGED_RATIO - 1.1 * TOLERANCE, "contradicted"),
        (JUDGED_RATIO + 1.1 * TOLERANCE, "contradicted"),
        (JUDGED_RATIO - 0.9 * TOLERANCE, "corrected"),
        (JUDGED_RATIO + 0.9 * TOLERANCE, "corrected"),
    ],
)
def test_a_slope_at_depth_one_may_be_off_by_the_tolerance(slope, verdict):
    assert evaluation_with(slope=slope).verdict == verdict


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(("share", "verdict"), [(1.1, "contradicted"), (0.9, "corrected")])
def test_a_curve_may_be_off_by_the_integrators_error(share, verdict, depth):
    error = share * AMPLIFICATION * ALIGNED_RTOL
    assert evaluation_with(aligned=aligned_table(error, depth)).verdict == verdict


def test_draws_beyond_the_tolerance_are_counted():
    # exponents of neighbouring draws differ by 0.02: two draws on either side are beyond 0.05, at each depth
    assert evaluation_with(wobble=0.02).facts["paths_beyond_tolerance"] == 2 * 2 * len(DEPTHS)


def test_draws_that_differ_too_much_decide_nothing():
    # the median's interval is from the second of nine draws to the eighth: 0.3 on either side, where 0.25 is half of
    # the way from an asymptote's exponent to the power's
    assert evaluation_with(wobble=0.1).corrected.state == "undecided"


# -- the judge of signs of determinants ------------------------------------------------------------


AS_PREDICTED, KEPT = (1.0, -1.0, -1.0), (1.0, 1.0, 1.0)  # signs of three draws


def evaluation_of_signs(shallow, deep, predicted=AS_PREDICTED):
    """Return what the claim says of last signs of three draws, at depth 1 and at depths 2 and 3.

    All begin with one; `predicted` are the last ones at depth 1 by the start.
    """
    rows = []
    for depth, last_signs in ((1, shallow), (2, deep), (3, deep)):
        for draw, last_sign in enumerate(last_signs):
            columns = {"depth": depth, "seed": draw, "index": 0}
            rows += [
                {**columns, "time": 0.0, "quantity": "determinant", "value": 0.2},
                {**columns, "time": 1.0, "quantity": "determinant", "value": 0.2 * last_sign},
                {**columns, "time": 1.0, "quantity": "predicted_sign", "value": predicted[draw]},
            ]
    table = pd.DataFrame(rows)
    table.attrs["draw"] = ("depth", "seed")
    return evaluation("deep_linear", "one_entry_determinant_sign", {"flows": table})


def test_signs_that_turn_at_depth_one_where_predicted_and_never_beyond_are_reproduced():
    assert evaluation_of_signs(shallow=AS_PREDICTED, deep=KEPT).verdict == "reproduced"


def test_signs_that_turn_at_depth_one_are_counted():
    facts = evaluation_of_signs(shallow=AS_PREDICTED, deep=KEPT).facts
    assert facts["signs_turned_at_depth_1"] == AS_PREDICTED.count(-1.0)


@pytest.mark.parametrize(
    ("shallow", "deep"),
    [
        pytest.param(AS_PREDICTED, (1.0, 1.0, -1.0), id="one turns in deeper networks"),
        pytest.param((1.0, 1.0, -1.0), KEPT, id="one does not turn at depth 1"),
    ],
)
def test_another_last_sign_is_contradicted(shallow, deep):
    """Deeper networks must keep the sign on every draw, and depth 1 have the predicted one."""
    assert evaluation_of_signs(shallow, deep).verdict == "contradicted"


def test_a_lost_flow_decides_nothing_on_signs():
    assert evaluation_of_signs(shallow=AS_PREDICTED, deep=(1.0, np.nan, 1.0)).judgement.state == "undecided"
