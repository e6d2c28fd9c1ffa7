"""Two singular values under one measurement: closed forms and runs against scipy's flows of the layers by torch."""

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

START, RATIO, TARGET = 0.3, 0.4, 2.0
TOLERANCES = {"rtol": 1e-10, "atol": 1e-13}


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 7])
def test_the_closed_curve_solves_its_own_equation(depth):
    """d sigma_2 / d sigma_1 is the ratio of two rates N sigma^(2 - 2/N) a."""
    larger = np.linspace(START, 5.0, 9)

    def slope(first, second):
        return RATIO * (second / first) ** (2 - 2 / depth)

    found = scipy.integrate.solve_ivp(slope, (START, 5.0), [START], t_eval=larger, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(theory.smaller_singular_value(larger, START, RATIO, depth), found.y[0], rtol=1e-9)
    if depth >= 3:
        far = theory.smaller_singular_value(1e40, START, RATIO, depth)
        assert theory.limiting_singular_value(START, RATIO, depth) == pytest.approx(far, rel=1e-8)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_an_aligned_measurement_is_the_flow_of_diagonal_layers(depth):
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
    measurement = torch.diag(torch.tensor([1.0, RATIO], dtype=torch.float64))
    layers = [START ** (1 / depth) * np.eye(2)] * depth
    path = plain.flow(layers, lambda W: 0.5 * (torch.sum(measurement * W) - TARGET) ** 2, trajectory.time)
    expected = np.array([np.diag(plain.multiply(each)) for each in path])
    for index in (1, 2):
        np.testing.assert_allclose(
            by_draw(table, "sigma", index=index)[0], expected[:, index - 1], rtol=1e-7, err_msg=f"{index=}"
        )
    predicted = select(table, "sigma", index=2)["predicted"]
    np.testing.assert_allclose(predicted, expected[:, 1], rtol=1e-7)
    assert select(table, "sigma", index=1)["predicted"].isna().all()


@pytest.fixture
def entry():
    settings = {
        "depths": [1, 2, 3],
        "ratio": RATIO,
        "start": START,
        "target": TARGET,
        "horizon": 3.0,
        "points": 5,
        "seeds": 3,
        "seed": 4,
        **TOLERANCES,
    }
    return trajectory_and_table(runs.one_entry, metrics.one_entry, settings)


def test_one_entry_is_the_flow_of_layers_from_balanced_roots(entry):
    trajectory, table = entry
    ends = trajectory.series["end_to_end"]
    for W, depth in zip(ends, trajectory.constants["depth"], strict=True):
        path = plain.flow(plain.balanced(W[0], int(depth)), lambda W: 0.5 * (W[0, 1] - TARGET) ** 2, trajectory.time)
        np.testing.assert_allclose(W, [plain.multiply(each) for each in path], rtol=0, atol=1e-7, err_msg=f"{depth=}")
    determinants = by_draw(table, "determinant", draw=["depth", "seed"])
    np.testing.assert_allclose(determinants, np.linalg.det(ends), rtol=0, atol=1e-12)
    sizes = by_draw(table, "sigma", draw=["depth", "seed"], index=1)
    np.testing.assert_allclose(sizes, np.linalg.norm(ends, 2, axis=(-2, -1)))
    # the entry that is observed alone has moved
    moved = ends[:, 0].copy()
    moved[:, 0, 1] = TARGET
    signs = by_draw(table, "predicted_sign", draw=["depth", "seed"])[:, 0]
    np.testing.assert_array_equal(signs, np.sign(np.linalg.det(moved)))


def test_starts_have_the_singular_values_asked_for_and_keep_orientation(entry):
    starts = entry[0].series["end_to_end"][:, 0]
    np.testing.assert_allclose(np.linalg.svd(starts, compute_uv=False), [[START, RATIO * START]] * len(starts))
    assert np.all(np.linalg.det(starts) > 0)
    # draws differ, depths share them
    assert len(np.unique(starts.round(9)[:3].reshape(3, -1), axis=0)) == 3
    np.testing.assert_allclose(starts[:3], starts[3:6], rtol=0, atol=1e-12)


def test_a_lost_flow_has_no_singular_values(entry):
    trajectory, _ = entry
    trajectory.series["end_to_end"][0, 2:] = np.nan
    first = by_draw(metrics.one_entry(trajectory), "sigma", draw=["depth", "seed"], index=2)[0]
    np.testing.assert_array_equal(np.isnan(first), [False, False, True, True, True])


# -- one path for every loss ----------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_path_is_that_of_flows_on_other_losses(depth):
    settings = {
        "depths": [depth],
        "measurement": [1.0, 0.6, 0.2],
        "start": 0.3,
        "growth": 8.0,
        "points": 33,
        "seeds": 1,
        "seed": 2,
        **TOLERANCES,
    }
    trajectory, table = trajectory_and_table(runs.one_measurement, metrics.one_measurement, settings)
    (rng,) = generators(2, "deep_linear.one_measurement", 1)
    start = 0.3 * rng.standard_normal((3, 3))
    path = trajectory.series["end_to_end"][0]
    np.testing.assert_allclose(path[0], start, rtol=0, atol=1e-12)
    # the path's length is that of log ||W|| where W moves along itself
    steps = np.linalg.norm(np.diff(path, axis=0), axis=(1, 2)) / np.linalg.norm(path[:-1], axis=(1, 2))
    np.testing.assert_allclose(steps, np.log(8.0) / 32, rtol=0.1)
    A = np.diag([1.0, 0.6, 0.2])
    along = np.sum(A * path, axis=(1, 2))
    losses = {"squared": lambda x: 0.5 * (x - 3.0) ** 2, "exponential": lambda x: torch.exp(-x)}
    for name, loss in losses.items():
        of_layers = lambda W, loss=loss: loss(torch.sum(torch.tensor(A) * W))  # noqa: E731
        for layers in plain.flow(plain.balanced(start, depth), of_layers, np.array([0.0, 0.2, 0.4]))[1:]:
            W = plain.multiply(layers)
            # between two recorded points of the path, up to its curvature
            np.testing.assert_allclose(
                scipy.interpolate.interp1d(along, path, axis=0)(np.sum(A * W)), W, rtol=0, atol=3e-3, err_msg=f"{name=}"
            )
    values = np.linalg.svd(path, compute_uv=False)
    for index in (1, 2):
        np.testing.assert_allclose(by_draw(table, "sigma", index=index)[0], values[:, index - 1], err_msg=f"{index=}")
    assert sorted(table["index"].unique()) == [1, 2]


# -- the judges -----------------------------------------------------------------------------------

RATE, DEPTHS = 0.5, (1, 2, 3, 4)


def power_paths(exponents, slope=RATE, draws=9, wobble=0.0):
    """Return paths whose second singular value is a power of the first, at depth 1 a line of that slope.

    Exponents are by depth; at depth 1 an exponent of zero is a second singular value that stays.
    """
    larger = np.geomspace(1.0, 1e6, 121)
    rows = []
    for depth, draw in itertools.product(DEPTHS, range(draws)):
        power = exponents[depth] + wobble * (draw - (draws - 1) / 2)
        is_line = depth == 1 and exponents[1] != 0
        smaller = (slope if is_line else 0.3) * larger**power
        rows += [
            pd.DataFrame(
                {
                    "depth": depth,
                    "seed": draw,
                    "time": np.arange(121.0),
                    "quantity": "sigma",
                    "index": index,
                    "value": values,
                }
            )
            for index, values in ((1, larger), (2, smaller))
        ]
    table = pd.concat(rows, ignore_index=True)
    table.attrs = {"settings": {"measurement": [2.0, 2.0 * RATE]}, "draw": ("depth", "seed")}
    return table


def aligned_table(off=0.0, depth=2):
    """Return the aligned measurement's table, by its equation; one depth may be off by a share of its largest value."""
    rows = []
    larger = np.linspace(0.1, 50.0, 60)
    for N in DEPTHS:
        smaller = scipy.integrate.solve_ivp(
            lambda x, y, N=N: RATE * (y / x) ** (2 - 2 / N), (0.1, 50.0), [0.1], t_eval=larger, rtol=1e-12, atol=1e-15
        ).y[0]
        if depth == N:
            smaller[30] += off * smaller[-1]
        rows += [
            pd.DataFrame(
                {"depth": N, "seed": 0, "time": np.arange(60.0), "quantity": "sigma", "index": index, "value": values}
            )
            for index, values in ((1, larger), (2, smaller))
        ]
    table = pd.concat(rows, ignore_index=True)
    table.attrs = {"settings": {"start": 0.1, "ratio": RATE, "integration": {"rtol": 1e-10}}, "draw": ("depth", "seed")}
    return table


RIGHT, LEVEL = {1: 1.0, 2: RATE, 3: 0.0, 4: 0.0}, dict.fromkeys(DEPTHS, 0.0)


def evaluation_with(generic=RIGHT, entry=LEVEL, aligned=None, **options):
    tables = {
        "generic": power_paths(generic, **options),
        "entry": power_paths(entry),
        "aligned": aligned_table() if aligned is None else aligned,
    }
    return evaluation("deep_linear", "one_measurement", tables, share=0.1, amplification=1000.0)


def test_one_entry_levels_off_at_depth_one_and_a_measurement_has_the_families_of_the_depths():
    found = evaluation_with()
    assert found.verdict == "corrected"
    assert found.facts["off"] < 1e-9
    assert found.facts["slow"] == 0
    # beyond a tenth of a half, two draws on either side, at four depths
    assert evaluation_with(wobble=0.02).facts["slow"] == 2 * 2 * 4


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("sign", [1, -1])
def test_an_exponent_that_is_off_by_twice_the_tolerance_is_refused(depth, sign):
    assert evaluation_with(generic=RIGHT | {depth: RIGHT[depth] + sign * 0.1}).verdict == "contradicted"
    assert evaluation_with(entry=LEVEL | {depth: sign * 0.1}).verdict == "contradicted"
    if depth > 1:
        assert evaluation_with(generic=RIGHT | {depth: RIGHT[depth] + sign * 0.03}).verdict == "corrected"


@pytest.mark.parametrize("slope", [RATE - 0.1, RATE + 0.1])
def test_another_slope_at_depth_one_is_refused(slope):
    assert evaluation_with(slope=slope).verdict == "contradicted"


@pytest.mark.parametrize("depth", DEPTHS)
def test_a_curve_beyond_the_integrators_error_is_refused(depth):
    assert evaluation_with(aligned=aligned_table(2e-7, depth)).verdict == "contradicted"
    assert evaluation_with(aligned=aligned_table(2e-8, depth)).verdict == "corrected"


def test_draws_that_differ_too_much_leave_it_open():
    assert evaluation_with(wobble=0.2).corrected.state == "undecided"


def test_a_line_under_one_entry_is_reproduced_where_there_is_one():
    assert evaluation_with(entry=LEVEL | {1: 1.0}).verdict == "reproduced"


def evaluation_of_signs(shallow, deep, predicted):
    rows = []
    for depth in (1, 2, 3):
        for seed, sign in enumerate(shallow if depth == 1 else deep):
            rows += [
                {
                    "depth": depth,
                    "seed": seed,
                    "time": float(time),
                    "quantity": "determinant",
                    "index": 0,
                    "value": 0.2 * (sign if time else 1.0),
                }
                for time in (0, 1)
            ]
            rows.append(
                {
                    "depth": depth,
                    "seed": seed,
                    "time": 1.0,
                    "quantity": "predicted_sign",
                    "index": 0,
                    "value": predicted[seed],
                }
            )
    table = pd.DataFrame(rows)
    table.attrs["draw"] = ("depth", "seed")
    return evaluation("deep_linear", "one_entry_determinant_sign", {"flows": table})


def test_signs_of_determinants_are_judged_at_the_end():
    turning = (1.0, -1.0, -1.0)
    found = evaluation_of_signs(turning, (1.0, 1.0, 1.0), turning)
    assert found.verdict == "reproduced"
    assert found.facts["turned"] == 2
    assert evaluation_of_signs(turning, (1.0, 1.0, -1.0), turning).verdict == "contradicted"
    assert evaluation_of_signs((1.0, 1.0, -1.0), (1.0, 1.0, 1.0), turning).verdict == "contradicted"
    assert evaluation_of_signs(turning, (1.0, np.nan, 1.0), turning).judgement.state == "undecided"
