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
from learning_dynamics.tidy import by_draw
from tests.papers.deep_linear import plain
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

RATE, STEPS = 0.4, 400


def recorded(data, draw, count, seed, share, scale):
    """Return at every step what moves the second singular value and the third, until the second is learned."""
    truth, mask = data["truth"][draw], torch.tensor(data["mask"][draw, count])
    goal = torch.tensor(truth)
    loss = lambda W: torch.mean((W - goal)[mask] ** 2)  # noqa: E731
    normal = list(generators(seed, "deep_linear.completion_exponents", 2))[draw].standard_normal((2, SIZE, SIZE))
    layers, found, wholes = list(normal * np.sqrt(scale / SIZE)), [], []
    for _ in range(STEPS):
        leaf = torch.tensor(plain.multiply(layers), requires_grad=True)
        loss(leaf).backward()
        W, G = leaf.detach().numpy(), leaf.grad.numpy()
        U, values, Vt = scipy.linalg.svd(W)
        passed = values[:2] > share * scipy.linalg.svdvals(truth)[:2]
        if passed.all():
            break
        number = int(passed[0])
        left = (np.eye(SIZE) - U[:, :number] @ U[:, :number].T) @ G
        outside = left @ (np.eye(SIZE) - Vt[:number].T @ Vt[:number])
        found.append(scipy.linalg.svdvals(outside)[1 - number : 3 - number])
        wholes.append(scipy.linalg.svdvals(G)[1:3])
        layers = plain.descend(layers, loss, RATE, 1)
    return np.array(found), np.array(wholes)


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_what_is_recorded_is_the_gradient_outside_what_is_learned(data, share):
    settings = {"depth": 2, "scale": 1e-3, "learning_rate": RATE, "share": share, "every": 1, "max_steps": STEPS}
    trajectory = runs.gradient_along_path(data, **settings, seed=8)
    trajectory.settings = settings
    table = metrics.gradient_along_path(trajectory)
    for draw in (0, 1):
        for count in (0, 1):
            found, wholes = recorded(data, draw, count, 8, share, 1e-3)
            member = 2 * draw + count
            assert 20 < len(found) < STEPS, "the path has an end"
            np.testing.assert_allclose(trajectory.series["outside"][member, : len(found)], found, rtol=1e-7)
            assert not trajectory.series["outside"][member, len(found) :].any()
            rows = table[(table["draw"] == draw) & (table["observed"] == SEEN[count])]
            row = rows.set_index("quantity")["value"]
            factors, of_wholes = 1 + RATE * found, 1 + RATE * wholes
            assert row["alpha"] == pytest.approx(np.log(factors[:, 1].prod()) / np.log(factors[:, 0].prod()))
            assert row["alpha_of_the_whole"] == pytest.approx(
                np.log(of_wholes[:, 1].prod()) / np.log(of_wholes[:, 0].prod())
            )
            assert row["alpha_at_the_start"] == pytest.approx(np.log(factors[0, 1]) / np.log(factors[0, 0]))
            assert row["alpha_of_the_flow"] == pytest.approx(found[:, 1].sum() / found[:, 0].sum())
            assert row["growth"] == pytest.approx(np.log(factors[:, 0].prod() ** 2))
            assert row["step"] == pytest.approx(np.log(factors[:, 1].max() ** 2))


def test_every_few_steps_stand_for_those_between(data):
    settings = {"depth": 2, "scale": 1e-3, "learning_rate": 0.1, "share": 0.5, "max_steps": 4000}
    alphas = []
    for every in (1, 5):
        trajectory = runs.gradient_along_path(data, **settings, every=every, seed=8)
        trajectory.settings = settings | {"every": every}
        table = metrics.gradient_along_path(trajectory)
        alphas.append(by_draw(table, "alpha", draw=["draw", "observed"])[:, 0])
        growth = by_draw(table, "growth", draw=["draw", "observed"])[:, 0]
    np.testing.assert_allclose(*alphas, rtol=0.01)
    # from a scale of 1e-3, up to half the second singular value
    assert np.all(np.abs(growth - np.log(1e3)) < 3)


def test_a_path_without_an_end_has_no_ratio(data):
    settings = {"depth": 2, "scale": 1e-3, "learning_rate": RATE, "share": 0.5, "every": 1, "max_steps": 5}
    trajectory = runs.gradient_along_path(data, **settings, seed=8)
    trajectory.settings = settings
    assert trajectory.undecided.all()
    assert metrics.gradient_along_path(trajectory)["value"].isna().all()


# -- the law --------------------------------------------------------------------------------------


def power_of(depth, truth, mask, scales, until):
    """Return the power of the scale in the second singular value, by flows of the layers."""
    goal, seen = torch.tensor(truth), torch.tensor(mask)
    loss = lambda W: torch.mean((W - goal)[seen] ** 2)  # noqa: E731
    normal = np.random.default_rng(3).standard_normal((depth, *truth.shape))
    left = []
    for scale in scales:
        layers = list(normal * scale ** (1 / depth) / np.sqrt(len(truth)))
        last = plain.flow(layers, loss, np.array([0.0, until(scale)]), rtol=1e-10)[-1]
        assert float(loss(torch.tensor(plain.multiply(last)))) < 1e-4, "learned"
        left.append(scipy.linalg.svdvals(plain.multiply(last))[1])
    return np.diff(np.log(left))[0] / np.diff(np.log(scales))[0]


@pytest.fixture(scope="module")
def rank_one():
    rng = np.random.default_rng(11)
    truth = np.outer(rng.standard_normal(5), rng.standard_normal(5))
    truth *= 5 / np.linalg.norm(truth)
    return truth, rng.permutation(25).reshape(5, 5) < 17


def test_at_rank_one_the_power_is_that_of_the_first_gradient(rank_one):
    """Nothing turns: G is constant until the one singular value is learned."""
    truth, mask = rank_one
    first, second = scipy.linalg.svdvals(mask * truth)[:2]
    found = power_of(2, truth, mask, (1e-6, 1e-10), lambda scale: 60.0 + 20 * np.log(1 / scale))
    # a nat in the prefactor over four decades
    assert found == pytest.approx(1 - second / first, abs=1 / np.log(1e4))


@pytest.mark.parametrize("growth", [0.2, 0.5, 0.8])
def test_at_rank_one_steps_of_descent_count_by_their_own_logarithm(rank_one, growth):
    """Each step multiplies the first singular value by (1 + growth) squared; a flow's rates are off."""
    truth, mask = rank_one
    goal, seen = torch.tensor(truth), torch.tensor(mask)
    loss = lambda W: torch.mean((W - goal)[seen] ** 2)  # noqa: E731
    first, second = scipy.linalg.svdvals(2 * mask * truth / mask.sum())[:2]
    rate, scales = growth / first, (1e-6, 1e-14)  # what is left is far above the rounding of what is learned
    normal = np.random.default_rng(3).standard_normal((2, *truth.shape))
    left = []
    for scale in scales:
        layers = list(normal * np.sqrt(scale / len(truth)))
        layers = plain.descend(layers, loss, rate, 400 + int(np.log(1 / scale) / np.log1p(growth)))
        assert float(loss(torch.tensor(plain.multiply(layers)))) < 1e-4, "learned"
        left.append(scipy.linalg.svdvals(plain.multiply(layers))[1])
    power = np.diff(np.log(left))[0] / np.diff(np.log(scales))[0]
    grown = theory.step_growth(np.array([first, second]), rate)
    # learned after a whole number of steps, at either scale
    step = grown[1] / np.log(scales[0] / scales[1])
    assert power == pytest.approx(1 - grown[1] / grown[0], abs=step)
    assert abs(power - (1 - second / first)) > step


def test_at_depth_three_the_power_is_one(rank_one):
    found = power_of(3, *rank_one, (1e-3, 1e-4), lambda scale: 60.0 + 20 * scale ** (-1 / 3))
    assert found == pytest.approx(1.0, abs=0.1)


# -- the judge ------------------------------------------------------------------------------------

COUNTS, SCALES = [100, 200], [1e-8, 1e-10, 1e-12]
WOBBLE = np.linspace(-0.01, 0.01, 8)
STEP = 0.03 * np.log(1e-8 / 1e-12)  # moves a power by 0.03
ALPHA, START = {100: 0.8, 200: 0.5}, {100: 0.9, 200: 0.8}


def ends(powers, *, converged=True):
    rows = [{"observed": count, "draw": draw, "scale": scale, "quantity": "beyond_rank", "converged": converged,
             "value": 3 * scale ** (powers[count] + wobble)}
            for count in COUNTS for draw, wobble in enumerate(WOBBLE) for scale in SCALES]  # fmt: skip
    table = pd.DataFrame(rows).sample(frac=1, random_state=1)
    table.attrs["settings"] = {"scales": SCALES}
    return table


def path(alpha=ALPHA, start=START):
    quantities = {"alpha": alpha, "alpha_at_the_start": start, "alpha_of_the_whole": {100: 0.95, 200: 0.9},
                  "alpha_of_the_flow": {100: 0.78, 200: 0.45}, "step": {100: STEP, 200: STEP}}  # fmt: skip
    rows = [{"observed": count, "draw": draw, "quantity": name, "value": values[count]}
            for count in COUNTS for draw in range(len(WOBBLE)) for name, values in quantities.items()]  # fmt: skip
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"scale": 1e-6}
    return table


def of(**changed):
    law = ends({100: 0.2, 200: 0.5})
    tables = {"uneven": law, "uneven_path": path(), "gaussian": law, "gaussian_path": path(),
              "deeper": ends({100: 1.0, 200: 1.0}), "coarse": ends({100: 0.25, 200: 0.55})} | changed  # fmt: skip
    return evaluation("deep_linear", "completion_exponents", tables, share=0.5)


def test_powers_are_slopes_of_logarithms_by_draw():
    np.testing.assert_allclose(measured_powers(ends({100: 0.2, 200: 0.5}), 200), 0.5 + WOBBLE, rtol=1e-9)
    np.testing.assert_allclose(predicted_powers(path(), 100), 0.2)
    assert np.isnan(measured_powers(ends({100: 0.2, 200: 0.5}, converged=False), 100)).all()


def test_powers_that_the_gradient_predicts_are_reproduced():
    found = of()
    assert found.verdict == "reproduced"
    assert found.facts["off"] == pytest.approx(0.0, abs=1e-9)
    assert found.facts["flow"] == pytest.approx(0.05)
    assert found.facts["off_coarse"] == pytest.approx(0.05)
    assert (found.facts["lowest"], found.facts["highest"]) == pytest.approx((0.2, 0.5))
    assert found.facts["further"] == 0
    assert found.facts["paths"] == 48


@pytest.mark.parametrize(
    ("role", "powers"),
    [
        ("uneven", {100: 0.1, 200: 0.2}),  # the start's
        ("uneven", {100: 0.35, 200: 0.35}),
        ("uneven", {100: 1.0, 200: 1.0}),
        ("gaussian", {100: 0.2, 200: 0.7}),
        ("deeper", {100: 0.2, 200: 0.5}),
        ("deeper", {100: 1.0, 200: 0.8}),
    ],
)
def test_other_powers_are_not(role, powers):
    assert of(**{role: ends(powers)}).verdict == "contradicted"


def test_the_tolerance_is_half_of_what_tells_the_path_from_its_start():
    """Here a tenth: half of the median of 0.1 and 0.3."""
    assert of(uneven=ends({100: 0.2, 200: 0.59})).verdict == "reproduced"
    assert of(uneven=ends({100: 0.2, 200: 0.63})).verdict == "contradicted"


@pytest.mark.parametrize(("gap", "off", "verdict"), [(0.02, 0.03, "undecided"), (0.04, 0.08, "contradicted")])
def test_where_path_and_start_are_alike_a_step_more_or_less_is_allowed_for(gap, off, verdict):
    near = path(start={count: alpha + gap for count, alpha in ALPHA.items()})
    off_by = ends({100: 0.2 - off, 200: 0.5 - off})
    assert of(uneven=off_by, uneven_path=near, gaussian_path=near).verdict == verdict


def test_runs_that_did_not_converge_decide_nothing():
    assert of(deeper=ends({100: 1.0, 200: 1.0}, converged=False)).judgement.state == "undecided"
