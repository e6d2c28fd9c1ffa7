"""The engines of deep linear descent, each against a slow and plain version of itself."""

import signal
from functools import partial

import numpy as np
import pytest

from learning_dynamics.datasets.matrix_completion import low_rank
from learning_dynamics.dynamics.matrix_factorisation import FLOOR, SMOOTHING, descend
from learning_dynamics.papers.deep_linear import descent as deep_descent
from learning_dynamics.papers.deep_linear import lp_regression
from learning_dynamics.papers.deep_linear import networks as deep_linear
from learning_dynamics.papers.deep_linear.acceleration import steps_at_limit as acceleration_steps
from learning_dynamics.papers.deep_linear.acceleration.steps_at_limit import steps_at_limit
from learning_dynamics.papers.deep_linear.convergence import convergence_time

SIZE = 10


@pytest.fixture(scope="module")
def problem():
    data = low_rank(size=SIZE, rank=2, observed=60, draws=3, seed=1)
    normal = np.random.default_rng(2).standard_normal((4, 3, SIZE, SIZE)) * 0.3
    return data, normal


def plain(layers, truth, mask, rate, steps, optimiser):
    average = 0.0
    for step in range(1, steps + 1):
        gradient = 2 * mask * (deep_linear.product(layers) - truth) / mask.sum()
        changes = deep_linear.layer_gradients(layers, gradient)
        if optimiser == "group_rmsprop":
            average = SMOOTHING * average + (1 - SMOOTHING) * sum(np.sum(change**2) for change in changes)
            factor = rate / (np.sqrt(average / (1 - SMOOTHING**step)) + FLOOR)
        else:
            factor = rate
        layers = [layer - factor * change for layer, change in zip(layers, changes, strict=True)]
    return deep_linear.product(layers)


@pytest.mark.parametrize("optimiser", ["gradient_descent", "group_rmsprop"])
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_stacked_descent_is_plain_descent(problem, depth, optimiser):
    data, normal = problem
    rate = np.array([0.5, 0.25, 0.1]) * (1 if optimiser == "gradient_descent" else 0.02)
    ended = descend(
        list(normal[:depth]), data["truth"], data["mask"], rate, stop=0.0, max_steps=25, optimiser=optimiser, block=2
    )
    for member in range(3):
        expected = plain(
            list(normal[:depth, member]), data["truth"][member], data["mask"][member], rate[member], 25, optimiser
        )
        np.testing.assert_allclose(ended.end_to_end[member], expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ended.steps, 25)


def test_a_member_stops_on_its_own(problem):
    data, normal = problem
    rate = np.array([4.0, 1.0, 1e-3])
    together = descend(list(normal[:2]), data["truth"], data["mask"], rate, stop=1e-3, max_steps=4000, block=3)
    assert np.all(together.loss[:2] <= 1e-3)
    assert together.loss[2] > 1e-3
    assert together.steps[2] == 4000
    assert together.steps[0] < together.steps[1] < 4000
    for member in range(3):
        at = slice(member, member + 1)
        alone = descend(
            [layer[at] for layer in normal[:2]],
            data["truth"][at],
            data["mask"][at],
            rate[at],
            stop=1e-3,
            max_steps=4000,
        )
        np.testing.assert_allclose(alone.end_to_end[0], together.end_to_end[member], rtol=1e-9, atol=1e-12)


def test_single_precision_makes_the_errors_of_its_rounding(problem):
    data, normal = problem
    double, single = (
        descend(list(normal[:3]), data["truth"], data["mask"], np.ones(3), stop=1e-6, max_steps=3000, precision=each)
        for each in ("double", "single")
    )
    assert single.end_to_end.dtype == np.float32
    np.testing.assert_allclose(single.steps, double.steps, rtol=1e-3)
    # a loss of 1e-6 leaves residuals of 1e-3: rounding of 1e-7 moves what is found by far less
    np.testing.assert_allclose(single.end_to_end, double.end_to_end, atol=1e-5)


def test_a_member_stops_at_the_first_step_that_reaches_the_loss(problem):
    data, normal = problem
    descent = partial(descend, list(normal[:2]), data["truth"], data["mask"], np.ones(3))
    ended = descent(stop=1e-2, max_steps=4000)
    last = int(ended.steps.argmax())
    before = descent(stop=0.0, max_steps=int(ended.steps[last]) - 1)
    assert ended.loss[last] <= 1e-2 < before.loss[last]


def test_a_diverging_member_does_not_spoil_its_siblings(problem):
    data, normal = problem
    rate = np.array([1e3, 1.0, 1.0])
    ended = descend(list(normal[:3]), data["truth"], data["mask"], rate, stop=1e-3, max_steps=3000)
    assert ended.steps[0] < 100
    assert np.all(ended.loss[1:] <= 1e-3)


def test_recorded_descent_agrees_with_the_stack(problem):
    data, normal = problem
    weight = 2 * data["mask"] / data["mask"].sum(axis=(-2, -1), keepdims=True)
    kept = deep_descent.descend(list(normal[:3]), lambda W: weight * (W - data["truth"]), 0.5, np.array([0, 7, 30]))
    ended = descend(list(normal[:3]), data["truth"], data["mask"], np.full(3, 0.5), stop=0.0, max_steps=30)
    np.testing.assert_allclose(deep_linear.product(kept[-1]), ended.end_to_end, rtol=1e-10, atol=1e-13)
    np.testing.assert_array_equal(kept[0][0], normal[0])


def test_what_diverged_stays_finite():
    layers = [np.full((1, 1, 1), 30.0)] * 3
    kept = deep_descent.descend(layers, lambda W: W, 1.0, np.array([0, 50]), bound=1e3)
    assert np.isfinite(deep_linear.product(kept[-1])).all()


# -- l_p regression -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((40, 3))
    return X, X @ np.array([1.0, -0.5, 0.2]) + 0.3 * rng.standard_normal(40)


@pytest.mark.parametrize("exponent", [2.0, 4.0])
@pytest.mark.parametrize(("depth", "rule"), [(1, "network"), (2, "network"), (3, "network"), (3, "end_to_end")])
def test_every_route_reaches_the_least_loss(regression, exponent, depth, rule):
    X, Y = regression
    least = lp_regression.optimum(X, Y, exponent)
    start = np.array([[0.05, 0.05, 0.05]])
    found = lp_regression.descend(
        start, X, Y, exponent=exponent, depth=depth, rule=rule, learning_rate=np.array([0.05]),
        target=least * (1 + 1e-6), max_steps=5000,
    )  # fmt: skip
    assert 0 < found.iterations[0] < 5000
    assert found.losses[0, -1] <= least * (1 + 1e-6)
    # nothing is below the optimum, up to where its gradient was stopped
    assert found.losses.min() >= least * (1 - 1e-12)


@pytest.mark.parametrize("exponent", [2.0, 3.0, 4.0])
def test_gradient_matches_differences(regression, exponent):
    X, Y = regression
    w, d, step = np.array([0.3, 0.2, -0.4]), np.array([1.0, -2.0, 0.5]), 1e-6
    slope = (lp_regression.loss(w + step * d, X, Y, exponent) - lp_regression.loss(w - step * d, X, Y, exponent)) / (
        2 * step
    )
    np.testing.assert_allclose(lp_regression.gradient(w, X, Y, exponent) @ d, slope, rtol=1e-7)


TWO_STARTS = np.array([[0.05, -0.05], [0.02, 0.1]])


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("exponent", [2.0, 2.5, 3.0, 4.0, 6.0])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_steps_at_the_limit_are_those_of_the_end_to_end_rule(exponent, depth):
    """The largest rate of a grid with three below it that arrive in steps in proportion, found by trying all."""
    rates, target = np.geomspace(1e-3, 10.0, 25), 0.05
    for start in TWO_STARTS:
        steps, rate, fewest = steps_at_limit(start, 3.0, exponent, depth, rates, target, 5000, below=3, slack=1.5)
        plain = lp_regression.descend(
            np.tile(start, (len(rates), 1)), np.diag([3.0, 1.0]), np.ones(2), exponent=exponent, depth=depth,
            rule="end_to_end", learning_rate=rates, target=target, max_steps=5000,
        ).iterations  # fmt: skip
        stable = []
        for place in range(3, len(rates)):
            neighbours = plain[place - 3 : place + 1]
            expected = plain[place] * rates[place] / rates[place - 3 : place + 1]
            if np.all(neighbours >= 0) and np.all(neighbours <= 1.5 * expected):
                stable.append(place)
        assert (steps, rate) == (plain[stable[-1]], rates[stable[-1]])
        tried = plain[stable[-1] - 3 :]
        assert fewest == tried[tried >= 0].min()


def test_a_grid_whose_largest_rate_is_stable_has_no_limit():
    rates = np.geomspace(1e-3, 1e-2, 8)
    for start in TWO_STARTS:
        steps, rate, fewest = steps_at_limit(start, 1.0, 2.0, 1, rates, 0.5, 5000, below=3, slack=1.5)
        assert (steps, rate) == (-1, 0.0)
        assert fewest > 0


def test_a_grid_without_rates_has_no_limit():
    found = steps_at_limit(TWO_STARTS[0], 1.0, 2.0, 1, np.array([]), 0.5, 5000, below=3, slack=1.5)
    assert found == (-1, 0.0, -1)


def test_rules_agree_in_the_limit_of_small_steps(regression):
    X, Y = regression
    start = np.array([[0.3, -0.2, 0.1]])
    gaps = []
    for rate, steps in ((2e-3, 100), (1e-3, 200)):
        ends = [
            lp_regression.descend(
                start,
                X,
                Y,
                exponent=4.0,
                depth=3,
                rule=rule,
                learning_rate=np.array([rate]),
                target=0.0,
                max_steps=steps,
            ).losses[0, -1]
            for rule in ("network", "end_to_end")
        ]
        gaps.append(abs(ends[0] - ends[1]))
    # they differ at second order of each step, so at first order over a stretch of time
    assert gaps[1] == pytest.approx(gaps[0] / 2, rel=0.1)


# -- convergence times ----------------------------------------------------------------------------


def slow_count(layers, target, rate, tolerance, cap):
    layers = [layer.copy() for layer in layers]
    for step in range(cap + 1):
        gap = deep_linear.product(layers) - target
        excess = 0.5 * np.sum(gap**2)
        if excess <= tolerance:
            return step
        if not np.isfinite(excess) or excess > 1e9:
            return -1
        changes = deep_linear.layer_gradients(layers, gap)
        layers = [layer - rate * change for layer, change in zip(layers, changes, strict=True)]
    return -1


@pytest.fixture(params=[3, 100_000])
def at_once(request, monkeypatch):
    """How many steps are taken before an interrupt is heard: it is no matter to what is counted."""
    monkeypatch.setattr(convergence_time, "AT_ONCE", request.param)
    monkeypatch.setattr(acceleration_steps, "AT_ONCE", request.param)


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_fewest_steps_is_the_best_of_all_rates(depth):
    rng = np.random.default_rng(depth)
    target = np.array([0.6, 0.8, 0.0])
    layers = [0.4 * rng.standard_normal(shape) for shape in [(6, 3), *[(6, 6)] * (depth - 2), (1, 6)][-depth:]]
    layers = layers if depth > 1 else [0.4 * rng.standard_normal((1, 3))]
    rates = [1e-2, 0.1, 0.5, 3.0]
    counts = {rate: slow_count(layers, target, rate, 1e-5, 2000) for rate in rates}
    reached = {rate: steps for rate, steps in counts.items() if steps >= 0}
    steps, rate = convergence_time.fewest_steps(layers, target, rates, 1e-5, 2000)
    assert steps == min(reached.values())
    assert reached[rate] == steps


@pytest.mark.usefixtures("at_once")
def test_the_last_step_that_is_waited_for_counts():
    layers, target = [np.array([[0.4, 0.1, 0.2]])], np.array([0.6, 0.8, 0.0])
    needed = slow_count(layers, target, 0.1, 1e-5, 2000)
    assert convergence_time.fewest_steps(layers, target, [0.1], 1e-5, needed) == (needed, 0.1)
    assert convergence_time.fewest_steps(layers, target, [0.1], 1e-5, needed - 1)[0] == -1
    descend = partial(steps_at_limit, TWO_STARTS[0], 1.0, 2.0, 1, np.array([1e-3]), 0.5, below=0, slack=1.5)
    needed = descend(5000)[-1]
    assert needed > 0
    for cap, fewest in ((needed, needed), (needed - 1, -1)):
        assert descend(cap)[-1] == fewest


def test_no_rate_is_reported_as_none():
    assert convergence_time.fewest_steps([np.zeros((1, 2))], np.ones(2), [1e-6], 1e-5, 10)[0] == -1


@pytest.mark.parametrize(
    "descend_for_long",
    [
        lambda rate: convergence_time.fewest_steps([np.zeros((1, 2))], np.ones(2), [rate], 1e-5, 10**10),
        lambda rate: steps_at_limit(0.5 * np.ones(2), 1.0, 4.0, 3, np.array([rate]), 1e-9, 10**10, below=0, slack=2.0),
    ],
)
def test_compiled_steps_can_be_interrupted(descend_for_long):
    def interrupt(*_):
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 1.0, 0.5)
    try:
        with pytest.raises(InterruptedError):
            descend_for_long(1e-300)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("optimiser", ["gradient_descent", "group_rmsprop"])
def test_the_torch_arrays_of_a_gpu_give_the_same_numbers(problem, optimiser):
    data, normal = problem
    rate = np.array([1.0, 0.5, 0.25]) * (1 if optimiser == "gradient_descent" else 0.01)
    # the same code path as on a GPU, with torch tensors that lie in main memory
    found = [
        descend(
            list(normal[:3]),
            data["truth"],
            data["mask"],
            rate,
            stop=1e-2,
            max_steps=300,
            optimiser=optimiser,
            device=device,
        )
        for device in ("cpu", "cpu:0")
    ]
    np.testing.assert_array_equal(found[0].steps, found[1].steps)
    np.testing.assert_allclose(found[0].end_to_end, found[1].end_to_end, rtol=1e-9, atol=1e-12)
