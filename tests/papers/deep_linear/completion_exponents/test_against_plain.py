"""What is left beyond the rank: the gradient against torch, the law against flows, the judge on made-up powers."""

import numpy as np
import pandas as pd
import pytest
import scipy
import torch

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear.completion_exponents import metrics, runs, theory
from learning_dynamics.papers.deep_linear.completion_exponents.powers import measured_powers, predicted_powers
from learning_dynamics.papers.deep_linear.given_spectrum import nested
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.shared import trajectory_and_table
from tests.support import evaluation

SIZE, SEEN, SPECTRUM = 6, [28, 33], [3.0, 1.0]


@pytest.fixture(scope="module")
def data():
    return nested(size=SIZE, singular_values=SPECTRUM, observed=SEEN, draws=2, seed=6)


def test_matrices_have_the_given_spectrum_and_nested_entries(data):
    values = scipy.linalg.svdvals(data["truth"][0])
    np.testing.assert_allclose(values[:2], SIZE * np.array(SPECTRUM) / np.sqrt(10), rtol=1e-12)
    np.testing.assert_allclose(values[2:], 0, atol=1e-12)
    assert data["mask"].sum(axis=(-2, -1)).tolist() == [SEEN, SEEN]
    assert np.all(data["mask"][:, 1] >= data["mask"][:, 0])
    assert not np.allclose(data["truth"][0], data["truth"][1])
    assert not np.array_equal(data["mask"][0], data["mask"][1])


@pytest.mark.parametrize("wrong", [{"observed": [37]}, {"singular_values": [1.0] * 7}])
def test_more_than_a_matrix_has_is_refused(wrong):
    with pytest.raises(ProjectError, match="36 entries"):
        nested(**{"size": SIZE, "singular_values": SPECTRUM, "observed": SEEN, "draws": 1, "seed": 1, **wrong})


def test_one_is_learned_after_those_before_it():
    values = np.array([[0.4, 0.4], [0.6, 0.4], [0.6, 0.6], [0.4, 0.6]])
    np.testing.assert_array_equal(theory.learned(values, np.ones(2), 0.5), [0, 1, 2, 0])
    assert theory.learned(np.array([2.0, 0.3]), np.array([4.0, 0.5]), 0.6) == 0


# -- the recorded gradient ------------------------------------------------------------------------

SETTINGS = {"depth": 2, "scale": 1e-3, "learning_rate": 0.4, "share": 0.5, "every": 1, "max_steps": 400, "seed": 8}


def plain_gradient_path(data, draw, count, share, every):
    """Return at recorded steps what moves the second singular value and the third, until the second is learned."""
    truth = data["truth"][draw]
    loss = plain.observed(truth, data["mask"][draw, count])
    normal = list(generators(8, "deep_linear.completion_exponents", 2))[draw].standard_normal((2, SIZE, SIZE))
    layers = list(normal * np.sqrt(1e-3 / SIZE))
    outsides, wholes = [], []
    for _ in range(0, 400, every):
        W = plain.multiply(layers)
        (G,) = plain.gradients([W], loss)
        U, values, Vt = scipy.linalg.svd(W)
        passed = values[:2] > share * scipy.linalg.svdvals(truth)[:2]
        if passed.all():
            break
        number = int(passed[0])
        left = (np.eye(SIZE) - U[:, :number] @ U[:, :number].T) @ G
        outside = left @ (np.eye(SIZE) - Vt[:number].T @ Vt[:number])
        outsides.append(scipy.linalg.svdvals(outside)[1 - number : 3 - number])
        wholes.append(scipy.linalg.svdvals(G)[1:3])
        layers = plain.descend(layers, loss, 0.4, every)
    return np.array(outsides), np.array(wholes)


@pytest.fixture(scope="module", params=[(0.3, 1), (0.5, 2)], ids=["share 0.3, every step", "share 0.5, every other"])
def path_settings(request):
    share, every = request.param
    return SETTINGS | {"share": share, "every": every}


@pytest.fixture(scope="module")
def gradients(path_settings, data):
    return trajectory_and_table(runs.gradient_along_path, metrics.gradient_along_path, path_settings, data)


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize("count", [0, 1])
def test_what_is_recorded_is_the_gradient_outside_what_is_learned(data, gradients, path_settings, draw, count):
    trajectory, _ = gradients
    expected, _ = plain_gradient_path(data, draw, count, path_settings["share"], path_settings["every"])
    outside = trajectory.series["outside"][2 * draw + count]
    assert 20 < len(expected) < 400 / path_settings["every"], "the path has an end"
    np.testing.assert_allclose(outside[: len(expected)], expected, rtol=1e-7)
    assert not outside[len(expected) :].any()


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize("count", [0, 1])
def test_ratios_and_growths_are_those_of_what_is_recorded(data, gradients, path_settings, draw, count):
    _, table = gradients
    outside, whole = plain_gradient_path(data, draw, count, path_settings["share"], path_settings["every"])
    row = select(table, draw=draw, observed=SEEN[count]).set_index("quantity")["value"]
    growth, growth_of_whole = np.log(1 + 0.4 * outside), np.log(1 + 0.4 * whole)
    expected = {
        "alpha": growth[:, 1].sum() / growth[:, 0].sum(),
        "alpha_of_the_whole": growth_of_whole[:, 1].sum() / growth_of_whole[:, 0].sum(),
        "alpha_at_the_start": growth[0, 1] / growth[0, 0],
        "alpha_of_the_flow": outside[:, 1].sum() / outside[:, 0].sum(),
        "growth": 2 * path_settings["every"] * growth[:, 0].sum(),
        "growth_in_one_step": 2 * growth[:, 1].max(),
    }
    assert row[list(expected)].to_dict() == pytest.approx(expected)


def test_a_path_without_an_end_has_no_ratio(data):
    settings = SETTINGS | {"max_steps": 5}
    trajectory, table = trajectory_and_table(runs.gradient_along_path, metrics.gradient_along_path, settings, data)
    assert trajectory.undecided.all()
    assert table["value"].isna().all()


# -- the law --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rank_one():
    rng = np.random.default_rng(11)
    truth = np.outer(rng.standard_normal(5), rng.standard_normal(5))
    truth *= 5 / np.linalg.norm(truth)
    return truth, rng.permutation(25).reshape(5, 5) < 17


def power_of(ends, scales, loss):
    """Return the power of the scale in the second singular value of what was learned from two scales."""
    products = [plain.multiply(layers) for layers in ends]
    assert all(float(loss(torch.tensor(W))) < 1e-4 for W in products), "learned"
    left = [scipy.linalg.svdvals(W)[1] for W in products]
    return np.log(left[1] / left[0]) / np.log(scales[1] / scales[0])


@pytest.mark.parametrize("growth", [0.2, 0.8])
def test_at_rank_one_steps_of_descent_count_by_their_own_logarithm(rank_one, growth):
    """Nothing turns; each step multiplies the first singular value by (1 + growth) squared; a flow's rates are off."""
    truth, mask = rank_one
    loss = plain.observed(truth, mask)
    first, second = scipy.linalg.svdvals(2 * mask * truth / mask.sum())[:2]
    rate, scales = growth / first, (1e-6, 1e-14)  # what is left is far above the rounding of what is learned
    normal = np.random.default_rng(3).standard_normal((2, *truth.shape))
    ends = []
    for scale in scales:
        steps = 400 + int(np.log(1 / scale) / np.log1p(growth))
        ends.append(plain.descend(list(normal * np.sqrt(scale / len(truth))), loss, rate, steps))
    grown = theory.step_growth(np.array([first, second]), rate)
    # learned after a whole number of steps, at either scale
    step = grown[1] / np.log(scales[0] / scales[1])
    power = power_of(ends, scales, loss)
    assert power == pytest.approx(1 - grown[1] / grown[0], abs=step)
    assert abs(power - (1 - second / first)) > step


def test_at_depth_three_the_power_is_one(rank_one):
    truth, mask = rank_one
    loss, scales = plain.observed(truth, mask), (1e-3, 1e-4)
    normal = np.random.default_rng(3).standard_normal((3, *truth.shape))
    ends = []
    for scale in scales:
        times = np.array([0.0, 60.0 + 20 * scale ** (-1 / 3)])
        ends.append(plain.flow(list(normal * scale ** (1 / 3) / np.sqrt(len(truth))), loss, times, rtol=1e-10)[-1])
    assert power_of(ends, scales, loss) == pytest.approx(1.0, abs=0.1)


# -- the judge ------------------------------------------------------------------------------------

COUNTS, SCALES = [100, 200], [1e-8, 1e-10, 1e-12]
WOBBLE = np.linspace(-0.01, 0.01, 8)
STEP = 0.03 * np.log(1e-8 / 1e-12)  # moves a power by 0.03
ALPHA, START = {100: 0.8, 200: 0.5}, {100: 0.9, 200: 0.8}


def end_table(powers, *, converged=True):
    """Return what was learned from each scale, as a power of it, by number of entries seen."""
    rows = [
        {
            "observed": count,
            "draw": draw,
            "scale": scale,
            "quantity": "beyond_rank",
            "converged": converged,
            "value": 3 * scale ** (powers[count] + wobble),
        }
        for count in COUNTS
        for draw, wobble in enumerate(WOBBLE)
        for scale in SCALES
    ]
    table = pd.DataFrame(rows).sample(frac=1, random_state=1)
    table.attrs["settings"] = {"scales": SCALES}
    return table


def path_table(alpha=ALPHA, start=START, whole=None):
    """Return measured ratios, by number of entries seen: along the path, at its start, and of the whole gradient."""
    quantities = {
        "alpha": alpha,
        "alpha_at_the_start": start,
        "alpha_of_the_whole": whole or {100: 0.95, 200: 0.9},
        "alpha_of_the_flow": {100: 0.78, 200: 0.45},
        "growth_in_one_step": {100: STEP, 200: STEP},
    }
    rows = [
        {"observed": count, "draw": draw, "quantity": name, "value": values[count]}
        for count in COUNTS
        for draw in range(len(WOBBLE))
        for name, values in quantities.items()
    ]
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"scale": 1e-6}
    return table


def evaluation_with(**changed):
    law = end_table({100: 0.2, 200: 0.5})
    tables = {
        "uneven": law,
        "uneven_path": path_table(),
        "gaussian": law,
        "gaussian_path": path_table(),
        "deeper": end_table({100: 1.0, 200: 1.0}),
        "coarse": end_table({100: 0.25, 200: 0.55}),
    } | changed
    return evaluation("deep_linear", "completion_exponents", tables, share=0.5)


def test_powers_are_slopes_of_logarithms_by_draw():
    np.testing.assert_allclose(measured_powers(end_table({100: 0.2, 200: 0.5}), 200), 0.5 + WOBBLE, rtol=1e-9)
    np.testing.assert_allclose(predicted_powers(path_table(), 100), 0.2)
    assert np.isnan(measured_powers(end_table({100: 0.2, 200: 0.5}, converged=False), 100)).all()


def test_powers_that_the_gradient_predicts_are_reproduced():
    found = evaluation_with()
    assert found.verdict == "reproduced"
    expected = {
        "off": 0.0,
        "largest_rise_by_flow": 0.05,
        "off_coarse": 0.05,
        "lowest": 0.2,
        "highest": 0.5,
        "further": 0,
        "all_draws": 48,
        "medians": 4,
        "largest_scale": 1e-8,
        "smallest_scale": 1e-12,
    }
    assert {name: found.facts[name] for name in expected} == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("role", "powers"),
    [
        ("uneven", {100: 0.1, 200: 0.2}),  # the start's
        ("gaussian", {100: 0.2, 200: 0.7}),
        ("deeper", {100: 0.2, 200: 0.5}),
        ("deeper", {100: 1.0, 200: 0.8}),
    ],
)
def test_other_powers_are_not(role, powers):
    assert evaluation_with(**{role: end_table(powers)}).verdict == "contradicted"


def test_the_tolerance_is_half_of_what_tells_the_path_from_its_start():
    """Here a tenth: half of the median of 0.1 and 0.3."""
    assert evaluation_with(uneven=end_table({100: 0.2, 200: 0.59})).verdict == "reproduced"
    assert evaluation_with(uneven=end_table({100: 0.2, 200: 0.63})).verdict == "contradicted"


@pytest.mark.parametrize(("gap", "off", "verdict"), [(0.02, 0.03, "undecided"), (0.04, 0.08, "contradicted")])
def test_where_path_and_start_are_alike_a_step_more_or_less_is_allowed_for(gap, off, verdict):
    near = path_table(start={count: alpha + gap for count, alpha in ALPHA.items()})
    off_by = end_table({100: 0.2 - off, 200: 0.5 - off})
    assert evaluation_with(uneven=off_by, uneven_path=near, gaussian_path=near).verdict == verdict


@pytest.mark.parametrize(
    ("role", "powers", "verdict"),
    [
        ("uneven", {100: 0.2, 200: 0.5}, "reproduced"),
        ("uneven", {100: 0.2, 200: 0.53}, "reproduced"),  # one step more or less
        ("uneven", {100: 0.2, 200: 0.56}, "contradicted"),
        ("gaussian", {100: 0.35, 200: 0.35}, "contradicted"),
        ("deeper", {100: 0.2, 200: 0.5}, "contradicted"),
    ],
)
def test_at_rank_one_path_and_start_are_alike_and_the_law_is_judged(role, powers, verdict):
    """Nothing is set aside before the last is learned, so that the whole gradient's ratio is the path's."""
    rounded = {count: alpha + 1e-13 for count, alpha in ALPHA.items()}  # the whole gradient is not rotated
    alike = path_table(start={count: alpha + 0.001 for count, alpha in ALPHA.items()}, whole=rounded)
    tables = {"uneven_path": alike, "gaussian_path": alike} | {role: end_table(powers)}
    assert evaluation_with(**tables).verdict == verdict


def test_runs_that_did_not_converge_decide_nothing():
    assert evaluation_with(deeper=end_table({100: 1.0, 200: 1.0}, converged=False)).judgement.state == "undecided"
