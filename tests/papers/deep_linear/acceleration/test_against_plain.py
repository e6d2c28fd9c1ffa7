"""Descent on regressions against torch and loops, the least loss by Nelder and Mead, and judges on made-up counts."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy
import torch

from learning_dynamics.papers.deep_linear import lp_regression
from learning_dynamics.papers.deep_linear.acceleration import metrics, runs, steps_at_limit
from learning_dynamics.papers.deep_linear.acceleration.stiffness import logarithm_at_depth_two, power_of_stiffness
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.shared import trajectory_and_table
from tests.support import evaluation

SETTINGS = {
    "exponent": 4.0,
    "depths": [1, 2, 3],
    "start": 0.3,
    "lowest_rate": 0.02,
    "highest_rate": 0.08,
    "rates": 3,
    "tolerance": 0.5,
    "max_steps": 40,
    "seeds": 2,
    "seed": 1,
}
RATES = [0.02, 0.04, 0.08]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((30, 2))
    return {"X": X, "Y": (X @ [1.0, -0.5] + 0.4 * rng.standard_normal(30))[:, None]}


def least_loss_by_search(data, exponent):
    """Return the least mean of |x w - y|^p, found by a search without derivatives."""
    X, Y = data["X"], data["Y"][:, 0]
    options = {"xatol": 1e-10, "fatol": 1e-14, "maxiter": 4000}
    loss = lambda w: np.mean(np.abs(X @ w - Y) ** exponent)  # noqa: E731
    return scipy.optimize.minimize(loss, [0.0, 0.0], method="Nelder-Mead", options=options).fun


@pytest.mark.parametrize("exponent", [2.0, 4.0])
def test_the_least_loss_is_that_of_a_search_without_slopes(data, exponent):
    found = lp_regression.least_loss(data["X"], data["Y"][:, 0], exponent)
    assert found == pytest.approx(least_loss_by_search(data, exponent), rel=1e-9)


def test_network_descent_is_torchs(data):
    _, table = trajectory_and_table(runs.lp_descent, metrics.lp_descent, SETTINGS, data, curve_points=5)
    X, Y, least_loss = torch.tensor(data["X"]), torch.tensor(data["Y"][:, 0]), least_loss_by_search(data, 4.0)
    loss = lambda W: torch.mean((X @ W[0] - Y) ** 4)  # noqa: E731
    for seed, rng in enumerate(generators(1, "deep_linear.lp_descent", 2)):
        start = rng.standard_normal(2)
        start *= 0.3 / np.linalg.norm(start)
        for depth in (1, 2, 3):
            root = 0.3 ** (1 / depth)
            layers = [(start / 0.3 * root)[None], *[np.array([[root]])] * (depth - 1)]
            curves = {rate: plain.descend_until(layers, loss, rate, least_loss * 1.5, 40)[1] for rate in RATES}
            counts = {rate: len(curve) - 1 for rate, curve in curves.items() if curve[-1] <= least_loss * 1.5}
            rows = select(table, "iterations", depth=depth, rule="network", seed=seed).set_index("learning_rate")
            for rate, value in zip(RATES, rows.sort_index()["value"], strict=True):
                assert value == counts[rate] if rate in counts else np.isnan(value), f"{seed=}, {depth=}"
            best = min(counts, key=lambda rate: (counts[rate], rate))
            curve = select(table, "excess", depth=depth, rule="network", seed=seed).sort_values("iteration")
            np.testing.assert_array_equal(
                curve["iteration"], [0, 1, 3, 6, 10, 16, 20, 30, 40], err_msg=f"{seed=}, {depth=}"
            )
            padded = [*curves[best], *[curves[best][-1]] * 41]
            excess = [padded[at] / least_loss - 1 for at in curve["iteration"]]
            np.testing.assert_allclose(curve["value"], excess, rtol=1e-6, err_msg=f"{seed=}, {depth=}")
            np.testing.assert_allclose(curve["learning_rate"], best, err_msg=f"{seed=}, {depth=}")
    assert set(select(table, "features")["value"]) == {2.0}
    assert set(table["rule"]) == {"network", "end_to_end"}
    assert set(select(table, "iterations", rule="end_to_end")["depth"]) == {2, 3}


def test_the_end_to_end_rule_is_descent_on_layers_in_the_limit_of_small_steps(data):
    start = np.array([[0.3, -0.2]])
    gaps = []
    for rate, steps in ((2e-3, 100), (1e-3, 200)):
        given = {"exponent": 4.0, "depth": 3, "learning_rate": np.array([rate]), "target": 0.0, "max_steps": steps}
        network, end_to_end = (
            lp_regression.descend(start, data["X"], data["Y"][:, 0], rule=rule, **given).losses[0, -1]
            for rule in ("network", "end_to_end")
        )
        gaps.append(abs(network - end_to_end))
    # they differ at second order of each step, so at first order over a stretch of time
    assert gaps[1] == pytest.approx(gaps[0] / 2, rel=0.1)


def test_two_samples_take_their_steps_at_the_largest_stable_rate(monkeypatch):
    """The largest rate of a grid with three below it that arrive in steps in proportion, found by trying all."""
    monkeypatch.setattr(steps_at_limit, "AT_ONCE", 3)  # it is no matter to what is counted
    settings = {
        "exponents": [2.0, 2.5, 3.0, 4.0, 6.0],
        "depths": [1, 2, 3],
        "stiffness": [4.0],
        "start": 0.2,
        "lowest_rate": 0.05,
        "highest_rate": 10.0,
        "ratio": 1.15,
        "below": 3,
        "slack": 1.5,
        "tolerance": 0.05,
        "max_steps": 4000,
        "seeds": 2,
        "seed": 9,
    }
    _, table = trajectory_and_table(runs.two_samples, metrics.two_samples, settings)
    rates = np.array([10.0 / 1.15**down for down in range(58)][::-1])
    assert rates[0] >= 0.05 / 4.0**2 > rates[0] / 1.15
    starts = [rng.standard_normal(2) for rng in generators(9, "deep_linear.two_samples", 2)]
    for exponent, depth, seed in itertools.product(settings["exponents"], (1, 2, 3), (0, 1)):
        start = 0.2 / 4.0 * starts[seed] / np.linalg.norm(starts[seed])
        steps = lp_regression.descend(
            np.tile(start, (len(rates), 1)),
            np.diag([4.0, 1.0]),
            np.ones(2),
            exponent=exponent,
            depth=depth,
            rule="end_to_end",
            learning_rate=rates,
            target=0.05,
            max_steps=4000,
        ).iterations
        steps = np.where(steps < 0, np.inf, steps)  # a network that does not arrive has -1

        # below the largest stable rate steps times rate is a constant: none of three rates below takes 1.5 times more
        work = steps * rates
        stable = [place for place in range(3, len(rates)) if max(work[place - 3 : place + 1]) <= 1.5 * work[place]]
        limit = max(place for place in stable if work[place] < np.inf)
        row = select(table, exponent=exponent, depth=depth, seed=seed).set_index("quantity")["value"]
        case = f"{exponent=}, {depth=}, {seed=}"
        assert row["steps"] == steps[limit], case
        assert row["learning_rate"] == pytest.approx(rates[limit]), case
        assert row["fewest_steps"] == steps[limit - 3 :].min(), case


# -- judges ---------------------------------------------------------------------------------------

GRID = np.geomspace(0.01, 1.0, 9)
STEP = GRID[1] / GRID[0]


def iteration_table(speedups, seeds=6, best=4, spread=0.0, lost=None):
    """Return iterations by learning rate, the fewest at GRID[best].

    `speedups` has by depth how many times fewer iterations it takes than depth 1; the start of seed `lost` does not
    arrive at depths above 1; starts differ by factors exp(spread).
    """
    rows = []
    for depth, faster in {1: 1.0, **speedups}.items():
        for seed in range(seeds):
            values = 1000.0 / faster * (1 + (np.arange(len(GRID)) - best) ** 2)
            if depth > 1:
                values = values / np.exp(spread * (seed - (seeds - 1) / 2))
            if depth > 1 and seed == lost:
                values = np.nan * values
            rows.append(
                pd.DataFrame(
                    {
                        "depth": depth,
                        "rule": "network",
                        "seed": seed,
                        "quantity": "iterations",
                        "learning_rate": GRID,
                        "iteration": 0,
                        "value": values,
                    }
                )
            )
    table = pd.concat(rows, ignore_index=True)
    extra = table.iloc[:1].assign(quantity="features", value=10.0)
    table = pd.concat([table, extra], ignore_index=True)
    table.attrs = {"settings": {"start": 0.1, "max_steps": 2000, "tolerance": 1e-5}, "draw": ("depth", "rule", "seed")}
    return table


def evaluation_with(claim, l4, l2, **settings):
    return evaluation("deep_linear", claim, {"l4": l4, "l2": l2}, grid_steps=1.0, **settings)


FLAT, FAST = iteration_table({2: 1.0, 3: 1.0}), iteration_table({2: 4.0, 3: 3.0})
# speed-ups that the grid of rates cannot show, and that it can
UNDER, OVER = 0.9 * STEP, 1.1 * STEP


@pytest.mark.parametrize(
    ("speedups", "verdict"),
    [
        ({2: OVER, 3: OVER}, "reproduced"),
        ({2: UNDER, 3: 3.0}, "not reproduced"),
        ({2: 3.0, 3: UNDER}, "not reproduced"),
    ],
)
def test_a_speed_up_counts_beyond_the_ratio_of_neighbouring_rates(speedups, verdict):
    assert evaluation_with("depth_accelerates_l4", iteration_table(speedups), FLAT).verdict == verdict


@pytest.mark.parametrize(
    ("speedups", "verdict"),
    [
        ({2: UNDER, 3: 0.5}, "reproduced"),
        ({2: OVER, 3: 0.5}, "not reproduced"),
        ({2: 0.5, 3: OVER}, "not reproduced"),
    ],
)
def test_no_speed_up_is_allowed_beyond_it_for_squares_and_from_large_starts(speedups, verdict):
    assert evaluation_with("depth_does_not_accelerate_l2", FAST, iteration_table(speedups)).verdict == verdict
    found = from_large_starts(iteration_table(speedups))
    assert found.verdict == verdict
    assert (found.facts["start"], found.facts["small_start"]) == (1.0, 0.1)


def from_large_starts(large, **settings):
    large.attrs["settings"] = large.attrs["settings"] | {"start": 1.0, **settings}
    return evaluation("deep_linear", "l4_from_large_starts", {"large": large, "small": FAST}, grid_steps=1.0)


@pytest.mark.parametrize(("waited", "state"), [(2000, "holds"), (20, "undecided")])
def test_a_deeper_network_that_does_not_arrive_counts_with_the_iterations_that_were_waited(waited, state):
    large = iteration_table({2: 0.5, 3: 0.5}, lost=2)
    assert from_large_starts(large, max_steps=waited).judgement.state == state


def test_a_linear_model_that_does_not_arrive_decides_nothing():
    large = iteration_table({2: 0.5, 3: 0.5})
    large.loc[(large["depth"] == 1) & (large["seed"] == 2), "value"] = np.nan
    assert from_large_starts(large).judgement.state == "undecided"


@pytest.mark.parametrize(
    "table",
    [
        iteration_table({2: 4.0, 3: 4.0}, best=0),
        iteration_table({2: 4.0, 3: 4.0}, best=8),
        # deviations of e^2: the interval of the mean reaches below one rate
        iteration_table({2: 3.0, 3: 3.0}, spread=2.0),
        iteration_table({2: 4.0, 3: 4.0}, lost=2),
    ],
    ids=["lowest rate is best", "highest rate is best", "starts disagree", "a start arrives at no rate"],
)
def test_speed_ups_that_are_not_known_decide_nothing(table):
    assert evaluation_with("depth_accelerates_l4", table, FLAT).judgement.state == "undecided"


def test_a_start_whose_best_rate_ties_with_the_grids_end_decides_nothing():
    """Also where other starts have lower and higher best rates."""
    table = iteration_table({2: 4.0, 3: 4.0})
    at_depth_2 = (table["quantity"] == "iterations") & (table["depth"] == 2)
    for seed, best in ((0, 2), (1, 3)):  # the other starts: 4
        table.loc[at_depth_2 & (table["seed"] == seed), "value"] = 250.0 * (1 + (np.arange(len(GRID)) - best) ** 2)
    assert evaluation_with("depth_accelerates_l4", table, FLAT).verdict == "reproduced"
    table.loc[at_depth_2 & (table["seed"] == 1) & (table["learning_rate"] == GRID[-1]), "value"] = 250.0
    assert evaluation_with("depth_accelerates_l4", table, FLAT).judgement.state == "undecided"


def evaluation_of_sets(*speedups, l2=FLAT):
    """Return what the claim says of data sets on which depth 2 is so many times faster, and depth 3 is not."""
    l4 = [iteration_table({2: faster, 3: 1.0}) for faster in speedups]
    tables = {"l4": l4, "l2": [l2] * len(speedups)}
    return evaluation("deep_linear", "l4_on_further_tables", tables, grid_steps=1.0)


def test_depth_2_must_be_faster_on_every_further_table():
    assert evaluation_of_sets(2.0, OVER).verdict == "reproduced"
    assert evaluation_of_sets(2.0, UNDER).verdict == "not reproduced"
    assert evaluation_of_sets(UNDER, 2.0).verdict == "not reproduced"
    assert evaluation_of_sets(2.0, 2.0, l2=FAST).verdict == "undecided", "so would it be at p = 2"
    assert evaluation_of_sets(2.0, 3.0).facts["ratios_at_depth_2"] == "2, 3"
    assert evaluation_of_sets(2.0, 3.0).facts["ratios_at_depth_3"] == "1, 1"


def test_the_gas_sensor_needs_its_own_data_under_both_losses():
    def of_gas_sensor(table):
        features = table["quantity"] == "features"
        return table.assign(value=table["value"].where(~features, 128.0))

    def verdict(l4, l2):
        return evaluation_with("depth_accelerates_l4_gas_sensor", l4, l2).verdict

    assert verdict(FAST, FLAT) == "untested"
    assert verdict(of_gas_sensor(FAST), FLAT) == "untested"
    assert verdict(FAST, of_gas_sensor(FLAT)) == "untested"
    assert verdict(of_gas_sensor(FAST), of_gas_sensor(FLAT)) == "reproduced"


def steps_table(powers, *, kappas=(64.0, 256.0), starts=9, wobble=0.01, lost=()):
    """Return steps that grow as given powers of kappa, by exponent and depth; the middle start has the power itself."""
    rows = []
    for (exponent, depth), power in powers.items():
        for kappa, seed in itertools.product(kappas, range(starts)):
            value = 5.0 * kappa ** (power + wobble * (seed - (starts - 1) / 2))
            rows += [
                {
                    "exponent": exponent,
                    "depth": depth,
                    "stiffness": kappa,
                    "seed": seed,
                    "quantity": quantity,
                    "value": np.nan if seed in lost else value,
                }
                for quantity in ("steps", "fewest_steps")
            ]
    table = pd.DataFrame(rows)
    table.attrs = {"settings": {}, "draw": ("depth", "exponent", "stiffness", "seed")}
    return table


POWERS_BY_HAND = [
    (1, 3.0, 2.0),
    (2, 2.0, 2.0),
    (2, 3.0, 1.0),
    (2, 6.0, 1.0),
    (3, 2.2, 2.0),
    (3, 6.0, 1.0),
    (4, 3.0, 1.5),
    (4, 5.0, 1.0),
]


@pytest.mark.parametrize(("depth", "p", "power"), POWERS_BY_HAND)
def test_the_power_is_that_of_flows_time_times_curvature(depth, p, power):
    """By hand: time to grow from 1/kappa to one, and the largest curvature times preconditioner on the way."""
    assert power_of_stiffness(p, depth) == pytest.approx(power)
    if depth == 1:
        return
    kappas = np.array([1e8, 1e10])
    # dw/dt = w^(2 - 2/N), from 1/kappa to one
    times = [scipy.integrate.quad(lambda x: np.exp(x * (2 / depth - 1)), -np.log(kappa), 0)[0] for kappa in kappas]
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


def evaluation_of_powers(powers, **options):
    table = steps_table(
        {cell: power + logarithm_at_depth_two(cell[1], 64.0, 256.0) for cell, power in powers.items()}, **options
    )
    return evaluation("deep_linear", "steps_by_stiffness", {"samples": [table]}, tolerance=0.1667)


def test_steps_that_grow_by_the_law_are_reproduced_unless_starts_differ_too_much():
    found = evaluation_of_powers(CELLS)
    assert found.verdict == "reproduced"
    assert found.facts["error"] < 1e-9
    assert found.facts["lucky"] == 0
    assert (found.facts["nearer"], found.facts["further"]) == ("2.2, 3, 4", "")
    assert evaluation_of_powers(CELLS, lost=(0,)).facts["unstable"] == 12
    assert evaluation_of_powers(CELLS, wobble=0.2).judgement.state == "undecided"


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_power_that_is_off_by_a_third_is_not(cell, sign):
    assert evaluation_of_powers(CELLS | {cell: CELLS[cell] + sign * 1 / 3}).verdict == "contradicted"
    assert evaluation_of_powers(CELLS | {cell: CELLS[cell] + sign * 0.1}).verdict == "reproduced"


def verdict_on_existence(depth_2, at_two=2.0, **options):
    """Return the verdict on depth 2's powers of kappa by p, and `at_two` at p = 2, where depth 1 has 2 at every p."""
    powers = {(p, 1): 2.0 for p in (2.0, *depth_2)} | {(p, 2): power for p, power in depth_2.items()}
    table = steps_table(powers | {(2.0, 2): at_two}, **options)
    # at depth 1 every start needs the same
    table.loc[table["depth"] == 1, "value"] = 3.0 * table["stiffness"] ** 2
    return evaluation("deep_linear", "accelerates_for_p_above_2", {"samples": table}).verdict


def test_a_speed_up_that_grows_at_every_exponent_is_enough():
    assert verdict_on_existence({2.2: 1.9, 4.0: 1.0}) == "reproduced"
    assert verdict_on_existence({2.2: 2.1, 4.0: 1.0}) == "not reproduced"
    assert verdict_on_existence({2.2: 1.9, 4.0: 2.1}) == "not reproduced"
    assert verdict_on_existence({2.2: 1.99, 4.0: 1.0}) == "undecided", "starts on either side"
    assert verdict_on_existence({2.2: 1.9, 4.0: 1.0}, at_two=1.5) == "undecided", "so would it be at p = 2"
