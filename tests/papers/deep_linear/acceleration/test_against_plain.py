"""Descent on regressions against torch and loops, the least loss by Nelder and Mead, and judges on made-up counts."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy
import torch

from learning_dynamics.papers.deep_linear import lp_regression
from learning_dynamics.papers.deep_linear.acceleration import metrics, runs
from learning_dynamics.papers.deep_linear.acceleration.stiffness import logarithm_at_depth_two, power_of_stiffness
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import by_draw, select
from tests.papers.deep_linear import plain
from tests.support import evaluation

SETTINGS = {"exponent": 4.0, "depths": [1, 2, 3], "start": 0.3, "lowest_rate": 0.02, "highest_rate": 0.08, "rates": 3,
            "tolerance": 0.5, "max_steps": 40, "seeds": 2}  # fmt: skip
RATES = [0.02, 0.04, 0.08]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((30, 2))
    return {"X": X, "Y": (X @ [1.0, -0.5] + 0.4 * rng.standard_normal(30))[:, None]}


@pytest.fixture(scope="module")
def least(data):
    X, Y = data["X"], data["Y"][:, 0]
    options = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000}
    return scipy.optimize.minimize(lambda w: np.mean((X @ w - Y) ** 4), [0.0, 0.0], method="Nelder-Mead",
                                   options=options).fun  # fmt: skip


def test_the_least_loss_is_that_of_a_search_without_slopes(data, least):
    assert lp_regression.optimum(data["X"], data["Y"][:, 0], 4.0) == pytest.approx(least, rel=1e-9)


def test_network_descent_is_torchs(data, least):
    trajectory = runs.lp_descent(data, **SETTINGS, seed=1)
    trajectory.settings = SETTINGS
    table = metrics.lp_descent(trajectory, curve_points=5)
    X, Y = torch.tensor(data["X"]), torch.tensor(data["Y"][:, 0])
    loss = lambda W: torch.mean((X @ W[0] - Y) ** 4)  # noqa: E731
    for seed, rng in enumerate(generators(1, "deep_linear.lp_descent", 2)):
        start = rng.standard_normal(2)
        start *= 0.3 / np.linalg.norm(start)
        for depth in (1, 2, 3):
            counts, curves = {}, {}
            root = 0.3 ** (1 / depth)
            for rate in RATES:
                layers = [(start / 0.3 * root)[None], *[np.array([[root]])] * (depth - 1)]
                curves[rate] = []
                for step in range(41):
                    curves[rate].append(float(loss(torch.tensor(plain.multiply(layers)))))
                    if curves[rate][-1] <= least * 1.5:
                        counts[rate] = step
                        break
                    layers = plain.descend(layers, loss, rate, 1)
            rows = select(table, "iterations", depth=depth, rule="network", seed=seed).set_index("learning_rate")
            for rate, measured in zip(RATES, rows.sort_index()["value"], strict=True):
                assert measured == counts[rate] if rate in counts else np.isnan(measured)
            best = min(counts, key=lambda rate: (counts[rate], rate))
            curve = select(table, "excess", depth=depth, rule="network", seed=seed).sort_values("iteration")
            np.testing.assert_array_equal(curve["iteration"], [0, 1, 3, 6, 10, 16, 20, 30, 40])
            padded = [*curves[best], *[curves[best][-1]] * 41]
            np.testing.assert_allclose(curve["value"], [padded[at] / least - 1 for at in curve["iteration"]], rtol=1e-6)
            np.testing.assert_allclose(curve["learning_rate"], best)
    assert set(select(table, "features")["value"]) == {2.0}
    assert set(table["rule"]) == {"network", "end_to_end"}
    assert set(select(table, "iterations", rule="end_to_end")["depth"]) == {2, 3}


def plain_steps(start, kappa, p, depth, rate, tolerance, cap=4000):
    """Steps of the end-to-end update on the samples (kappa, 0) and (0, 1); -1 if it does not arrive."""
    w = np.array(start)
    for step in range(cap + 1):
        residual = np.array([kappa * w[0] - 1, w[1] - 1])
        if np.mean(np.abs(residual) ** p) <= tolerance:
            return step
        if np.abs(residual).max() > 1e3:
            return -1
        slope = p / 2 * np.abs(residual) ** (p - 1) * np.sign(residual) * [kappa, 1.0]
        size = np.linalg.norm(w)
        along = w / size * (w @ slope) / size
        w = w - rate * size ** (2 - 2 / depth) * (slope + (depth - 1) * along)
    return -1


def test_two_samples_are_a_plain_loop():
    settings = {"exponents": [2.0, 3.0], "depths": [1, 3], "stiffness": [4.0], "start": 0.2, "lowest_rate": 0.2,
                "highest_rate": 10.0, "ratio": 1.5, "below": 3, "slack": 1.5, "tolerance": 1e-2, "max_steps": 4000,
                "seeds": 2}  # fmt: skip
    trajectory = runs.two_samples(**settings, seed=9)
    trajectory.settings = settings
    table = metrics.two_samples(trajectory)
    starts = [rng.standard_normal(2) for rng in generators(9, "deep_linear.two_samples", 2)]
    for p, kappa, depth, seed in itertools.product((2.0, 3.0), (4.0,), (1, 3), (0, 1)):
        where = {"exponent": p, "stiffness": kappa, "depth": depth, "seed": seed}
        row = select(table, **where).set_index("quantity")["value"]
        start = 0.2 / kappa * starts[seed] / np.linalg.norm(starts[seed])
        rate = row["learning_rate"]
        # at the limit and three rates below it steps are in proportion; at the next rate above they are not
        ladder = [plain_steps(start, kappa, p, depth, rate / 1.5**down, 1e-2) for down in range(-1, 4)]
        assert ladder[1] == row["steps"]
        assert all(0 < steps <= 1.5 * ladder[1] * 1.5**down for down, steps in enumerate(ladder[1:]))
        assert ladder[0] < 0 or any(steps > 1.5 * ladder[0] * 1.5**down for down, steps in enumerate(ladder[:4])), (
            where,
            ladder,
        )
        assert row["fewest"] <= row["steps"]


# -- judges ---------------------------------------------------------------------------------------

GRID = np.geomspace(0.01, 1.0, 9)
STEP = GRID[1] / GRID[0]


def counts(speedups, seeds=6, best=4, spread=0.0):
    """Iterations with one best rate; deeper networks take so many times fewer, starts spread by a factor."""
    rows = []
    for depth, faster in {1: 1.0, **speedups}.items():
        for seed in range(seeds):
            factor = np.exp(spread * (seed - (seeds - 1) / 2)) if depth > 1 else 1.0
            values = 1000.0 / (faster * factor) * (1 + (np.arange(len(GRID)) - best) ** 2)
            rows.append(pd.DataFrame({"depth": depth, "rule": "network", "seed": seed, "quantity": "iterations",
                                      "learning_rate": GRID, "iteration": 0, "value": values}))  # fmt: skip
    table = pd.concat(rows, ignore_index=True)
    extra = table.iloc[:1].assign(quantity="features", value=10.0)
    table = pd.concat([table, extra], ignore_index=True)
    table.attrs = {"settings": {}, "draw": ("depth", "rule", "seed")}
    return table


def state(claim, fourth, second, **settings):
    return evaluation("deep_linear", claim, {"fourth": fourth, "second": second}, steps=1.0, **settings)


FLAT, FAST = counts({2: 1.0, 3: 1.0}), counts({2: 4.0, 3: 3.0})


@pytest.mark.parametrize(
    ("speedups", "verdict"),
    [
        ({2: 1.1 * STEP, 3: 1.1 * STEP}, "reproduced"),
        ({2: 0.9 * STEP, 3: 3.0}, "not reproduced"),
        ({2: 3.0, 3: 0.9 * STEP}, "not reproduced"),
        ({2: 1 / 3.0, 3: 3.0}, "not reproduced"),
    ],
)
def test_a_speed_up_counts_beyond_the_ratio_of_neighbouring_rates(speedups, verdict):
    assert state("depth_accelerates_l4", counts(speedups), FLAT).verdict == verdict


@pytest.mark.parametrize(
    ("speedups", "verdict"),
    [
        ({2: 0.9 * STEP, 3: 1.0}, "reproduced"),
        ({2: 0.1, 3: 0.1}, "reproduced"),
        ({2: 1.1 * STEP, 3: 1.0}, "not reproduced"),
        ({2: 1.0, 3: 1.1 * STEP}, "not reproduced"),
    ],
)
def test_no_speed_up_is_allowed_beyond_it_for_squares(speedups, verdict):
    assert state("depth_does_not_accelerate_l2", FAST, counts(speedups)).verdict == verdict


@pytest.mark.parametrize("best", [0, 8])
def test_the_best_rate_must_lie_inside_the_grid(best):
    found = state("depth_accelerates_l4", counts({2: 4.0, 3: 4.0}, best=best), FLAT)
    assert found.judgement.state == "undecided"


def test_starts_that_disagree_too_much_decide_nothing():
    # a geometric mean of 3 with deviations of e^2: its interval reaches below one rate
    found = state("depth_accelerates_l4", counts({2: 3.0, 3: 3.0}, spread=2.0), FLAT)
    assert found.judgement.state == "undecided"
    assert found.judgement.headline.value == pytest.approx(3.0)


def test_a_start_that_arrives_at_no_rate_decides_nothing():
    table = counts({2: 4.0, 3: 4.0})
    table.loc[(table["depth"] == 3) & (table["seed"] == 2), "value"] = np.nan
    assert state("depth_accelerates_l4", table, FLAT).judgement.state == "undecided"


def further(*speedups, second=FLAT):
    """Judge tables of so many times fewer iterations at depth 2, and as many as there is no speed-up at depth 3."""
    tables = {"fourth": [counts({2: faster, 3: 1.0}) for faster in speedups], "second": [second] * len(speedups)}
    return evaluation("deep_linear", "l4_on_further_tables", tables, steps=1.0)


def test_depth_2_must_be_faster_on_every_further_table():
    assert further(2.0, 1.1 * STEP).verdict == "reproduced"
    assert further(2.0, 0.9 * STEP).verdict == "not reproduced"
    assert further(0.9 * STEP, 2.0).verdict == "not reproduced"
    assert further(2.0, 2.0, second=FAST).verdict == "undecided", "so would it be at p = 2"
    assert further(2.0, 3.0).facts["twos"] == "2, 3"
    assert further(2.0, 3.0).facts["threes"] == "1, 1"


@pytest.mark.parametrize(
    ("speedups", "verdict"),
    [
        ({2: 0.5, 3: 0.5}, "reproduced"),
        ({2: 0.9 * STEP, 3: 1.0}, "reproduced"),
        ({2: 1.1 * STEP, 3: 0.5}, "not reproduced"),
        ({2: 0.5, 3: 1.1 * STEP}, "not reproduced"),
    ],
)
def test_from_large_starts_neither_depth_may_be_faster(speedups, verdict):
    large, small = counts(speedups), counts({2: 4.0, 3: 3.0})
    for table, start in ((large, 1.0), (small, 0.1)):
        table.attrs["settings"] = {"start": start}
    found = evaluation("deep_linear", "l4_from_large_starts", {"large": large, "small": small}, steps=1.0)
    assert found.verdict == verdict


def test_the_gas_sensor_needs_its_own_data():
    assert state("depth_accelerates_l4_gas_sensor", FAST, FLAT).verdict == "untested"
    own = FAST.copy()
    own.loc[own["quantity"] == "features", "value"] = 128.0
    own.attrs["settings"] = {}
    assert state("depth_accelerates_l4_gas_sensor", own, FLAT).verdict == "reproduced"
    assert by_draw(own, "features").item() == 128.0


def grown(powers, *, kappas=(64.0, 256.0), starts=9, wobble=0.01, lost=()):
    """Steps that grow as given powers of kappa, by exponent and depth; the middle start has the power itself."""
    rows = []
    for (exponent, depth), power in powers.items():
        for kappa, seed in itertools.product(kappas, range(starts)):
            value = 5.0 * kappa ** (power + wobble * (seed - (starts - 1) / 2))
            rows += [{"exponent": exponent, "depth": depth, "stiffness": kappa, "seed": seed, "quantity": quantity,
                      "value": np.nan if seed in lost else value} for quantity in ("steps", "fewest")]  # fmt: skip
    table = pd.DataFrame(rows)
    table.attrs = {"settings": {}, "draw": ("depth", "exponent", "stiffness", "seed")}
    return table


POWERS_BY_HAND = [(1, 3.0, 2.0), (2, 2.0, 2.0), (2, 3.0, 1.0), (2, 6.0, 1.0), (3, 2.2, 2.0), (3, 6.0, 1.0),
                  (4, 3.0, 1.5), (4, 5.0, 1.0)]  # fmt: skip


@pytest.mark.parametrize(("depth", "p", "power"), POWERS_BY_HAND)
def test_the_power_is_that_of_flows_time_times_curvature(depth, p, power):
    """By hand: time to grow from 1/kappa to one, and the largest curvature times preconditioner on the way."""
    assert power_of_stiffness(p, depth) == pytest.approx(power)
    if depth == 1:
        return
    kappas = np.array([1e8, 1e10])

    # dw/dt = w^(2 - 2/N), from 1/kappa to one
    def slow(x):
        return np.exp(x * (2 / depth - 1))

    times = [scipy.integrate.quad(slow, -np.log(kappa), 0)[0] for kappa in kappas]
    # where the short sample has reached w, the long one's residual balances the push: kappa r^(p-1) = 1 / (kappa w)
    largest = []
    for kappa in kappas:
        w = np.geomspace(1 / kappa, 1.0, 200)
        residual = np.minimum((kappa**2 * w) ** (-1 / (p - 1)), 1.0)
        pushed = kappa**2 * residual ** (p - 2) * w ** (2 - 2 / depth)
        largest.append(max(pushed.max(), kappa ** (2 / depth)))
    slopes = np.diff(np.log(times * np.array(largest))) / np.diff(np.log(kappas))
    assert slopes[0] - logarithm_at_depth_two(depth, *kappas) == pytest.approx(power, abs=0.02)


CELLS = {(p, N): power_of_stiffness(p, N) for p in (2.2, 3.0, 4.0) for N in (2, 3)}


def of_law(powers, **options):
    table = grown({cell: power + logarithm_at_depth_two(cell[1], 64.0, 256.0) for cell, power in powers.items()},
                  **options)  # fmt: skip
    return evaluation("deep_linear", "steps_by_stiffness", {"samples": [table]}, tolerance=0.1667)


def test_steps_that_grow_by_the_law_are_reproduced():
    found = of_law(CELLS)
    assert found.verdict == "reproduced"
    assert found.facts["error"] < 1e-9
    assert found.facts["lucky"] == 0
    assert (found.facts["nearer"], found.facts["further"]) == ("2.2, 3, 4", "")
    assert of_law(CELLS, lost=(0,)).facts["unstable"] == 12


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_power_that_is_off_by_a_third_is_not(cell, sign):
    assert of_law(CELLS | {cell: CELLS[cell] + sign * 1 / 3}).verdict == "contradicted"
    assert of_law(CELLS | {cell: CELLS[cell] + sign * 0.1}).verdict == "reproduced"


@pytest.mark.parametrize("law", [lambda p, N: 2 / min(N, p - 1), lambda p, N: 2 / N, lambda p, N: 2.0])
def test_another_law_is_contradicted(law):
    assert of_law({cell: law(*cell) for cell in CELLS}).verdict == "contradicted"


def test_starts_that_differ_too_much_leave_the_law_open():
    assert of_law(CELLS, wobble=0.2).judgement.state == "undecided"


def existence(depth_2, at_two=2.0, **options):
    powers = {(p, 1): 2.0 for p in (2.0, *depth_2)} | {(p, 2): power for p, power in depth_2.items()}
    table = grown(powers | {(2.0, 2): at_two}, **options)
    # at depth 1 every start needs the same
    table.loc[table["depth"] == 1, "value"] = 3.0 * table["stiffness"] ** 2
    return evaluation("deep_linear", "accelerates_for_p_above_2", {"samples": table}).verdict


def test_a_speed_up_that_grows_at_every_exponent_is_enough():
    assert existence({2.2: 1.9, 4.0: 1.0}) == "reproduced"
    assert existence({2.2: 2.1, 4.0: 1.0}) == "not reproduced"
    assert existence({2.2: 1.9, 4.0: 2.1}) == "not reproduced"
    assert existence({2.2: 1.99, 4.0: 1.0}) == "undecided", "starts on either side"
    assert existence({2.2: 1.9, 4.0: 1.0}, at_two=1.5) == "undecided", "so would it be at p = 2"
