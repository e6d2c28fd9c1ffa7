"""Compiled gradient descent on multilinear models, against a few lines of numpy."""

import numpy as np
import pytest

from learning_dynamics.dynamics import multilinear_descent
from learning_dynamics.dynamics.multilinear_descent import descend
from learning_dynamics.errors import DivergenceError

X = np.array([[1.0, 2.0, 0.5], [0.0, -3.0, 1.0]])  # two samples of three inputs
Y = np.array([1.0, -1.0])


def diagonal_tensors(depth):
    """Return the data tensors of the network <x, w_1 * ... * w_depth>: X[n, i] where all indices are i, else zero."""
    tensors = np.zeros((len(X), *[3] * depth))
    for entry in range(3):
        tensors[(slice(None), *[entry] * depth)] = X[:, entry]
    return tensors


def contract(tensors, layers, kept=None):
    """Contract tensors with all layers: the outputs; or with all but number `kept`: their derivatives by that layer."""
    letters = "abc"[: len(layers)]
    places = [place for place in range(len(layers)) if place != kept]
    subscripts = ",".join([f"n{letters}", *(letters[place] for place in places)])
    result = "n" if kept is None else f"n{letters[kept]}"
    return np.einsum(f"{subscripts}->{result}", tensors, *(layers[place] for place in places))


def by_hand(tensors, labels, state, *, loss, step, steps):
    """Return the state, all layers in one vector, after so many steps of gradient descent on the loss."""
    ends = np.cumsum(tensors.shape[1:])[:-1]  # of all layers but the last, in that vector
    for _ in range(steps):
        layers = np.split(state, ends)
        f = contract(tensors, layers)
        by_output = f - labels if loss == "squared" else -labels * np.exp(-labels * f)
        gradient = [by_output @ contract(tensors, layers, kept) for kept in range(len(layers))]
        state = state - step * np.concatenate(gradient)
    return state


STEP = 1e-3
RECORDS = np.array([0, 20, 50])  # numbers of steps


@pytest.mark.parametrize("loss", ["squared", "exponential"])
@pytest.mark.parametrize("lengths", [(3, 3), (6, 2), (2, 4, 3)])
def test_descent_takes_the_steps_of_numpy(lengths, loss):
    tensors = np.random.default_rng(1).standard_normal((len(Y), *lengths))
    starts = 0.5 * np.random.default_rng(0).standard_normal((2, sum(lengths)))  # shape (runs, parameters)
    descent = descend(tensors, Y, starts, loss=loss, step=STEP, steps=RECORDS[-1], records=RECORDS)
    # states have shape (runs, records, parameters)
    np.testing.assert_array_equal(descent.states[:, 0], starts)
    np.testing.assert_array_equal(descent.states[:, -1], descent.final_states)
    # each of the steps rounds numbers of order one
    rounding = RECORDS[-1] * np.finfo(float).eps
    for run, start in enumerate(starts):
        for record, steps in enumerate(RECORDS):
            expected = by_hand(tensors, Y, start, loss=loss, step=STEP, steps=steps)
            where = f"run {run} after {steps} steps"
            np.testing.assert_allclose(descent.states[run, record], expected, rtol=0, atol=rounding, err_msg=where)


START = np.full(6, 0.7)  # both layers of a network with three inputs
LARGER_STEP = 0.01
TOLERANCE = 1e-9  # of the error f - y, the derivative of the loss by an output
MOST_STEPS = 10**6
every_order = pytest.mark.parametrize("order", [[0, 1], [1, 0]], ids=["slower sample first", "slower sample last"])


def descent_to_tolerance(order):
    """Return a descent from START on two samples in this order, recorded after ten steps and after the most."""
    return descend(
        diagonal_tensors(depth=2)[order],
        Y[order],
        START[None],
        loss="squared",
        step=LARGER_STEP,
        steps=MOST_STEPS,
        records=np.array([10, MOST_STEPS]),
        tolerance=TOLERANCE,
    )


@every_order
def test_descent_stops_at_the_first_step_with_all_errors_within_the_tolerance(order):
    descent = descent_to_tolerance(order)
    (last_state,), (steps,) = descent.final_states, descent.steps
    state_a_step_earlier = by_hand(
        diagonal_tensors(depth=2)[order], Y[order], START, loss="squared", step=LARGER_STEP, steps=steps - 1
    )

    def largest_error(state):
        first_layer, second_layer = np.split(state, 2)
        return np.abs(X @ (first_layer * second_layer) - Y).max()

    assert largest_error(last_state) <= TOLERANCE
    assert largest_error(state_a_step_earlier) > TOLERANCE


@every_order
def test_records_after_the_descent_has_stopped_have_its_last_state(order):
    descent = descent_to_tolerance(order)
    (last_state,), (steps,) = descent.final_states, descent.steps
    assert steps < MOST_STEPS
    after_ten_steps, after_most_steps = descent.states[0]
    assert (after_ten_steps != after_most_steps).all()
    np.testing.assert_array_equal(after_most_steps, last_state)


@pytest.mark.parametrize("steps", [20, 21])
@pytest.mark.parametrize("tolerance", [0.0, 0.5], ids=["to the last step", "until it has arrived"])
def test_steps_in_portions_are_those_of_one_go(monkeypatch, steps, tolerance):
    """Signals interrupt compiled code between portions, here of 5 steps.

    Of 21 steps the last portion has a single one; 20 end where a portion does.
    """

    def go():
        return descend(
            diagonal_tensors(depth=2),
            Y,
            np.stack([START, START]),
            loss="squared",
            step=LARGER_STEP,
            steps=steps,
            records=np.array([0, 5, 7, 20]),
            tolerance=tolerance,
        )

    at_once = go()
    monkeypatch.setattr(multilinear_descent, "AT_ONCE", 5)
    in_portions = go()
    assert (at_once.steps < steps).all() == (tolerance > 0)
    for name in ("states", "final_states", "steps"):
        np.testing.assert_array_equal(getattr(in_portions, name), getattr(at_once, name), err_msg=name)


def test_divergence_is_an_error_that_suggests_smaller_steps():
    far_away = np.full((1, 9), 5.0)  # one run of three layers for three inputs
    with pytest.raises(DivergenceError, match=r"diverged at step size 1 \(run 0\); take smaller steps"):
        descend(diagonal_tensors(depth=3), Y, far_away, loss="squared", step=1.0, steps=1000)
