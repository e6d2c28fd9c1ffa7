"""The engines of deep linear descent: against torch, to the last step, and where they diverge or are interrupted."""

import signal
from functools import partial

import numpy as np
import pytest
import torch

from learning_dynamics.datasets.matrix_completion import low_rank
from learning_dynamics.dynamics.matrix_factorisation import descend
from learning_dynamics.papers.deep_linear import descent as deep_descent
from learning_dynamics.papers.deep_linear.acceleration import steps_at_limit as acceleration_steps
from learning_dynamics.papers.deep_linear.acceleration.steps_at_limit import steps_at_limit
from learning_dynamics.papers.deep_linear.convergence import convergence_time
from tests.papers.deep_linear import plain


@pytest.fixture(scope="module")
def problem():
    data = low_rank(size=10, rank=2, observed=60, draws=3, seed=1)
    # members observe different numbers of entries
    mask = data["mask"].copy()
    mask[1].flat[np.flatnonzero(mask[1])[0]] = False
    data["mask"] = mask
    assert mask.sum(axis=(1, 2)).tolist() == [60, 59, 60]
    return data, np.random.default_rng(2).standard_normal((4, 3, 10, 10)) * 0.3


def stacked(problem, depth, rates, **options):
    data, normal = problem
    return descend(list(normal[:depth]), data["truth"], data["mask"], np.array(rates), **options)


def group_rmsprop(layers, loss, rate, steps):
    average = 0.0  # smoothing 0.99 and floor 1e-4 are those of its authors' code
    for step in range(1, steps + 1):
        changes = plain.gradients(layers, loss)
        average = 0.99 * average + 0.01 * sum(np.sum(change**2) for change in changes)
        factor = rate / (np.sqrt(average / (1 - 0.99**step)) + 1e-4)
        layers = [layer - factor * change for layer, change in zip(layers, changes, strict=True)]
    return layers


@pytest.mark.parametrize(
    ("optimiser", "slow", "rates"),
    [("gradient_descent", plain.descend, [0.5, 0.25, 0.1]), ("group_rmsprop", group_rmsprop, [0.01, 0.005, 0.002])],
)
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_stacked_descent_is_plain_descent(problem, depth, optimiser, slow, rates):
    data, normal = problem
    # three members are two blocks
    ended = stacked(problem, depth, rates, stop=0.0, max_steps=25, optimiser=optimiser, block=2)
    for member, rate in enumerate(rates):
        loss = plain.observed(data["truth"][member], data["mask"][member])
        expected = plain.multiply(slow(list(normal[:depth, member]), loss, rate, 25))
        # 25 steps add rounding of about 1e-14 each
        np.testing.assert_allclose(ended.end_to_end[member], expected, rtol=1e-9, atol=1e-12, err_msg=f"{member=}")
        assert ended.loss[member] == pytest.approx(float(loss(torch.tensor(expected))), rel=1e-9), f"{member=}"
    np.testing.assert_array_equal(ended.steps, 25, err_msg="steps of the members")


def test_single_precision_makes_the_errors_of_its_rounding(problem):
    double, single = (
        stacked(problem, 3, [1.0] * 3, stop=1e-6, max_steps=3000, precision=each) for each in ("double", "single")
    )
    assert single.end_to_end.dtype == np.float32
    np.testing.assert_allclose(single.steps, double.steps, rtol=1e-3)
    # a loss of 1e-6 leaves residuals of 1e-3: rounding of 1e-7 moves what is found by far less
    np.testing.assert_allclose(single.end_to_end, double.end_to_end, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("optimiser", "rates"), [("gradient_descent", [1.0, 0.5, 0.25]), ("group_rmsprop", [0.01, 0.005, 0.0025])]
)
def test_the_torch_arrays_of_a_gpu_give_the_same_numbers(problem, optimiser, rates):
    # the same code path as on a GPU, with torch tensors that lie in main memory
    found = [
        stacked(problem, 3, rates, stop=1e-2, max_steps=300, optimiser=optimiser, device=device)
        for device in ("cpu", "cpu:0")
    ]
    np.testing.assert_array_equal(found[0].steps, found[1].steps)
    np.testing.assert_allclose(found[0].end_to_end, found[1].end_to_end, rtol=1e-9, atol=1e-12)


def test_a_diverging_member_does_not_spoil_its_siblings(problem):
    ended = stacked(problem, 3, [1e3, 1.0, 1.0], stop=1e-3, max_steps=3000)
    assert ended.steps[0] < 100
    assert np.all(ended.loss[1:] <= 1e-3)


def test_what_diverged_stays_finite():
    layers = [np.full((1, 1, 1), 30.0)] * 3
    (kept,) = deep_descent.descend(layers, lambda W: W, 1.0, np.array([50]), bound=1e3)
    assert np.isfinite(kept).all()


# -- compiled steps -------------------------------------------------------------------------------

AT_LIMIT = {
    "start": np.array([0.05, -0.05]),
    "stiffness": 1.0,
    "exponent": 2.0,
    "depth": 1,
    "target": 0.5,
    "slack": 1.5,
}


def test_the_last_step_that_is_waited_for_counts(monkeypatch):
    layers, target = [np.array([[0.4, 0.1, 0.2]])], np.array([0.6, 0.8, 0.0])
    fewest = partial(convergence_time.fewest_steps, layers, target, [0.1], tolerance=1e-5)
    at_limit = partial(steps_at_limit, **AT_LIMIT, rates=np.array([1e-3]), below=0)
    needed, needed_at_limit = fewest(cap=2000)[0], at_limit(cap=5000)[-1]
    assert min(needed, needed_at_limit) > 0
    for at_once in (3, 100_000):
        monkeypatch.setattr(convergence_time, "AT_ONCE", at_once)
        monkeypatch.setattr(acceleration_steps, "AT_ONCE", at_once)
        assert fewest(cap=needed) == (needed, 0.1), f"{at_once=}"
        assert fewest(cap=needed - 1)[0] == -1, f"{at_once=}"
        assert at_limit(cap=needed_at_limit)[-1] == needed_at_limit, f"{at_once=}"
        assert at_limit(cap=needed_at_limit - 1)[-1] == -1, f"{at_once=}"


def test_no_rate_is_reported_as_none():
    assert convergence_time.fewest_steps([np.zeros((1, 2))], np.ones(2), [1e-6], tolerance=1e-5, cap=10)[0] == -1
    assert steps_at_limit(**AT_LIMIT, rates=np.array([]), cap=5000, below=3) == (-1, 0.0, -1)


def test_a_grid_whose_largest_rate_is_stable_has_no_limit():
    steps, rate, fewest = steps_at_limit(**AT_LIMIT, rates=np.geomspace(1e-3, 1e-2, 8), cap=5000, below=3)
    assert (steps, rate) == (-1, 0.0)
    assert fewest > 0


def search_of_the_fewest_steps(rate):
    return convergence_time.fewest_steps([np.zeros((1, 2))], np.ones(2), [rate], tolerance=1e-5, cap=10**10)


def steps_at_the_limit_of_stability(rate):
    options = {"stiffness": 1.0, "exponent": 4.0, "depth": 3, "target": 1e-9, "cap": 10**10, "below": 0, "slack": 2.0}
    return steps_at_limit(0.5 * np.ones(2), np.array([rate]), **options)


@pytest.mark.parametrize("descend_for_long", [search_of_the_fewest_steps, steps_at_the_limit_of_stability])
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
