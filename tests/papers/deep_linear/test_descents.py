"""Engines of deep linear descent against plain descent by torch; which steps count, divergence, and interruption.

The engines are the stacked descent of matrix completion, descent recorded at given steps, and two compiled loops that
count steps: to convergence on whitened data, and at the largest stable rate on two samples.
"""

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

# -- stacked descent of matrix completion ----------------------------------------------------------


@pytest.fixture(scope="module")
def problem():
    """Three matrices `truth` of rank 2 with entries observed by `mask`, shape (3, 10, 10), which differ in number."""
    data = low_rank(size=10, rank=2, observed=60, draws=3, seed=1)
    mask = data["mask"].copy()
    first_observed = np.flatnonzero(mask[1])[0]
    mask[1].flat[first_observed] = False
    assert mask.sum(axis=(1, 2)).tolist() == [60, 59, 60]
    return {"truth": data["truth"], "mask": mask}


@pytest.fixture(scope="module")
def start():
    """Gaussian layers of the three members, four at most: shape (layers, members, 10, 10)."""
    return np.random.default_rng(2).standard_normal((4, 3, 10, 10)) * 0.3


def stacked_descent(problem, start, *, depth, rates, **options):
    """Return where three members end that descend side by side, each at its own learning rate.

    It has `steps` and `loss`, by member, and `end_to_end`, shape (members, 10, 10).
    """
    return descend(list(start[:depth]), problem["truth"], problem["mask"], np.array(rates), **options)


def plain_group_rmsprop(layers, loss, rate, steps):
    """Return the layers after steps of one size for all layers: rate over the root of the smoothed squared gradient."""
    average = 0.0  # smoothing 0.99 and floor 1e-4 are those of its authors' code
    for step in range(1, steps + 1):
        gradients = plain.gradients(layers, loss)
        average = 0.99 * average + 0.01 * sum(np.sum(gradient**2) for gradient in gradients)
        factor = rate / (np.sqrt(average / (1 - 0.99**step)) + 1e-4)
        layers = [layer - factor * gradient for layer, gradient in zip(layers, gradients, strict=True)]
    return layers


@pytest.mark.parametrize(
    ("optimiser", "plain_descent", "rates"),
    [
        ("gradient_descent", plain.descend, [0.5, 0.25, 0.1]),
        ("group_rmsprop", plain_group_rmsprop, [0.01, 0.005, 0.002]),
    ],
)
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_stacked_descent_is_plain_descent_of_each_member(problem, start, depth, optimiser, plain_descent, rates):
    n_steps = 25
    options = {"stop": 0.0, "max_steps": n_steps, "optimiser": optimiser}  # no loss is zero: all steps are taken
    # `block` is how many members descend at once: three are a block of two and one of one
    ended = stacked_descent(problem, start, depth=depth, rates=rates, block=2, **options)
    np.testing.assert_array_equal(ended.steps, n_steps, err_msg="steps of the members")
    for member, rate in enumerate(rates):
        loss = plain.loss_on_observed(problem["truth"][member], problem["mask"][member])
        expected = plain.multiply(plain_descent(list(start[:depth, member]), loss, rate, n_steps))
        # each step adds rounding of about 1e-14
        np.testing.assert_allclose(ended.end_to_end[member], expected, rtol=1e-9, atol=1e-12, err_msg=f"{member=}")
        assert ended.loss[member] == pytest.approx(float(loss(torch.tensor(expected))), rel=1e-9), f"{member=}"


def test_single_precision_ends_where_double_precision_does_up_to_its_rounding(problem, start):
    stop = 1e-6
    double, single = (
        stacked_descent(problem, start, depth=3, rates=[1.0] * 3, stop=stop, max_steps=3000, precision=precision)
        for precision in ("double", "single")
    )
    assert single.end_to_end.dtype == np.float32
    # one of the last steps lowers a loss by about a hundredth of it; rounding changes it by 1e-5 of it
    np.testing.assert_array_equal(single.steps, double.steps)
    assert np.all(double.loss <= stop), "every member has arrived"
    # entries are up to 3; rounding of 1e-7 of them adds up to 2e-6 over some 600 steps
    np.testing.assert_allclose(single.end_to_end, double.end_to_end, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("optimiser", "rates"), [("gradient_descent", [1.0, 0.5, 0.25]), ("group_rmsprop", [0.1, 0.05, 0.025])]
)
def test_torch_tensors_as_on_a_gpu_give_the_numbers_of_numpy(problem, start, optimiser, rates):
    max_steps = 300
    options = {"depth": 3, "rates": rates, "stop": 1e-2, "max_steps": max_steps, "optimiser": optimiser}
    by_numpy, by_torch = (
        stacked_descent(problem, start, device=device, **options)
        for device in ("cpu", "cpu:0")  # "cpu:0" is the code path of a GPU, with tensors in main memory
    )
    assert np.all(by_numpy.steps < max_steps), "every member arrives, after a number of steps of its own"
    np.testing.assert_array_equal(by_numpy.steps, by_torch.steps)
    # sums in another order differ by rounding, of about 1e-14 a step, over 300 steps at most
    np.testing.assert_allclose(by_numpy.end_to_end, by_torch.end_to_end, rtol=1e-9, atol=1e-12)


def test_a_diverging_member_does_not_spoil_its_siblings(problem, start):
    stop, max_steps, too_large = 1e-3, 3000, 1e3
    rates = [too_large, 1.0, 1.0]
    ended = stacked_descent(problem, start, depth=3, rates=rates, stop=stop, max_steps=max_steps)
    loss = plain.loss_on_observed(problem["truth"][0], problem["mask"][0])
    _, losses = plain.descend_until(list(start[:3, 0]), loss, too_large, stop, max_steps)
    # a member is given up at the first loss that is a million times its first one
    assert ended.steps[0] == np.flatnonzero(np.array(losses) >= 1e6 * losses[0])[0]
    assert np.all(ended.loss[1:] <= stop), "the others arrive"


# -- descent recorded at given steps ---------------------------------------------------------------


def test_a_network_beyond_the_bound_stays_where_it_is_and_does_not_overflow():
    layers = [np.full((1, 1, 1), 30.0)] * 3  # one member, whose product 30^3 is beyond the bound from the start

    def gradient_at(W):
        """Return the gradient of half the squared norm, along which 50 steps of rate 1 would overflow."""
        return W

    (after_50_steps,) = deep_descent.descend(
        layers, gradient_at, learning_rate=1.0, recorded_steps=np.array([50]), bound=1e3
    )
    np.testing.assert_array_equal(after_50_steps, layers)


# -- compiled steps -------------------------------------------------------------------------------

# descent of a linear model at one rate, until the loss exceeds the least one by 1e-5
RATE_OF_LINEAR_MODEL = 0.1
fewest_steps_to_convergence = partial(
    convergence_time.fewest_steps,
    layers=[np.array([[0.4, 0.1, 0.2]])],
    target=np.array([0.6, 0.8, 0.0]),
    rates=[RATE_OF_LINEAR_MODEL],
    tolerance=1e-5,
)
# descent of a linear model on the samples (1, 0) and (0, 1), with labels one, until the loss has fallen from one to a
# half
steps_on_two_samples = partial(
    steps_at_limit, start=np.array([0.05, -0.05]), stiffness=1.0, exponent=2.0, depth=1, target=0.5, slack=1.5
)

at_once = pytest.mark.parametrize("at_once", [3, 100_000])  # the most steps that one call of compiled code takes


@at_once
def test_the_search_of_the_fewest_steps_may_take_its_cap_of_steps_and_no_more(monkeypatch, at_once):
    monkeypatch.setattr(convergence_time, "AT_ONCE", at_once)
    needed, _ = fewest_steps_to_convergence(cap=2000)
    assert needed > 3, "with three steps a call it takes several calls"
    assert fewest_steps_to_convergence(cap=needed) == (needed, RATE_OF_LINEAR_MODEL)
    steps_if_one_is_missing, _ = fewest_steps_to_convergence(cap=needed - 1)
    assert steps_if_one_is_missing == -1


@at_once
def test_the_search_of_the_largest_stable_rate_may_take_its_cap_and_no_more(monkeypatch, at_once):
    monkeypatch.setattr(acceleration_steps, "AT_ONCE", at_once)

    def fewest(cap):
        _, _, fewest_steps = steps_on_two_samples(rates=np.array([1e-3]), below=0, cap=cap)
        return fewest_steps

    needed = fewest(5000)
    assert needed > 3, "with three steps a call it takes several calls"
    assert fewest(needed) == needed
    assert fewest(needed - 1) == -1


def test_steps_to_convergence_are_minus_one_where_no_rate_arrives():
    # at the rate 1e-6 ten steps leave the weights near zero
    steps, rate = convergence_time.fewest_steps([np.zeros((1, 2))], np.ones(2), [1e-6], tolerance=1e-5, cap=10)
    assert steps == -1
    assert np.isnan(rate)


def test_steps_at_the_largest_stable_rate_are_minus_one_without_any_rate():
    steps, rate, fewest = steps_on_two_samples(rates=np.array([]), below=3, cap=5000)
    assert (steps, rate, fewest) == (-1, 0.0, -1)


def test_a_grid_whose_largest_rate_is_stable_has_no_largest_stable_rate():
    """The limit of stability is then above the grid; its rates arrive all the same, the largest with fewest steps."""
    largest = 1e-2
    steps, rate, fewest = steps_on_two_samples(rates=np.geomspace(1e-3, largest, 8), below=3, cap=5000)
    assert (steps, rate) == (-1, 0.0)
    # a step multiplies either residual, 0.95 and 1.05 at first, by one less the rate
    first_loss = (0.95**2 + 1.05**2) / 2
    assert fewest == np.ceil(np.log(0.5 / first_loss) / (2 * np.log(1 - largest)))


def search_of_the_fewest_steps(rate):
    return convergence_time.fewest_steps([np.zeros((1, 2))], np.ones(2), [rate], tolerance=1e-5, cap=10**10)


def search_of_the_largest_stable_rate(rate):
    options = {"stiffness": 1.0, "exponent": 4.0, "depth": 3, "target": 1e-9, "cap": 10**10, "below": 0, "slack": 2.0}
    return steps_at_limit(0.5 * np.ones(2), np.array([rate]), **options)


@pytest.mark.parametrize("descend_for_long", [search_of_the_fewest_steps, search_of_the_largest_stable_rate])
def test_compiled_steps_can_be_interrupted(descend_for_long):
    def interrupt(*_):
        raise InterruptedError

    before = signal.signal(signal.SIGALRM, interrupt)
    # after a second, and again every half second, in case the first alarm comes while numba compiles
    signal.setitimer(signal.ITIMER_REAL, 1.0, 0.5)
    try:
        with pytest.raises(InterruptedError):
            descend_for_long(1e-300)  # at this rate nothing moves, and 10^10 steps take minutes
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
