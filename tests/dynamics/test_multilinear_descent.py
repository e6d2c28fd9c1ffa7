"""Compiled gradient descent on multilinear models, against a few lines of numpy."""

import numpy as np
import pytest

from learning_dynamics.dynamics import multilinear_descent
from learning_dynamics.dynamics.multilinear_descent import descend
from learning_dynamics.errors import DivergenceError

X = np.array([[1.0, 2.0, 0.5], [0.0, -3.0, 1.0]])
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


def by_hand(tensors, labels, state, loss, step, steps):
    """Return the state, all layers in one vector, after so many steps of gradient descent on the loss."""
    ends = np.cumsum(tensors.shape[1:])[:-1]
    for _ in range(steps):
        layers = np.split(state, ends)
        f = contract(tensors, layers)
        by_output = f - labels if loss == "squared" else -labels * np.exp(-labels * f)
        gradient = [by_output @ contract(tensors, layers, kept) for kept in range(len(layers))]
        state = state - step * np.concatenate(gradient)
    return state


STEP = 1e-3
RECORDS = np.array([0, 20, 50])


@pytest.mark.parametrize("loss", ["squared", "exponential"])
@pytest.mark.parametrize("lengths", [(3, 3), (6, 2), (2, 4, 3)])
def test_descent_takes_the_steps_of_numpy(lengths, loss):
    tensors = np.random.default_rng(1).standard_normal((2, *lengths))
    start = 0.5 * np.random.default_rng(0).standard_normal((2, sum(lengths)))
    descent = descend(tensors, Y, start, loss=loss, step=STEP, steps=RECORDS[-1], records=RECORDS)
    np.testing.assert_array_equal(descent.states[:, 0], start)
    np.testing.assert_array_equal(descent.states[:, 2], descent.final_states)
    for run in range(2):
        for record, steps in enumerate(RECORDS):
            expected = by_hand(tensors, Y, start[run], loss, STEP, steps)
            where = f"run {run} after {steps} steps"
            # each of the steps rounds numbers of order one
            rounding = RECORDS[-1] * np.finfo(float).eps
            np.testing.assert_allclose(descent.states[run, record], expected, rtol=0, atol=rounding, err_msg=where)


TOLERANCE = 1e-9
MOST_STEPS = 10**6
every_order = pytest.mark.parametrize("order", [[0, 1], [1, 0]], ids=["slower sample first", "slower sample last"])


def descent_to_tolerance(order, start):
    """Return a descent on two samples in this order, recorded after ten steps and after the most."""
    return descend(
        diagonal_tensors(2)[order],
        Y[order],
        start[None],
        loss="squared",
        step=0.01,
        steps=MOST_STEPS,
        records=np.array([10, MOST_STEPS]),
        tolerance=TOLERANCE,
    )


@every_order
def test_descent_stops_at_the_first_step_with_all_errors_within_the_tolerance(order):
    start = np.full(6, 0.7)
    descent = descent_to_tolerance(order, start)
    a_step_earlier = by_hand(diagonal_tensors(2)[order], Y[order], start, "squared", 0.01, descent.steps[0] - 1)
    errors = []
    for state in (descent.final_states[0], a_step_earlier):
        first_layer, second_layer = np.split(state, 2)
        errors.append(np.abs(X[order] @ (first_layer * second_layer) - Y[order]).max())
    error_at_the_end, error_a_step_earlier = errors
    assert error_at_the_end <= TOLERANCE
    assert error_a_step_earlier > TOLERANCE


@every_order
def test_records_after_the_descent_has_stopped_have_its_last_state(order):
    descent = descent_to_tolerance(order, np.full(6, 0.7))
    after_ten_steps, after_all = descent.states[0]
    assert descent.steps[0] < MOST_STEPS
    assert (after_ten_steps != after_all).all()
    np.testing.assert_array_equal(after_all, descent.final_states[0])


@pytest.mark.parametrize("steps", [20, 21])
@pytest.mark.parametrize("tolerance", [0.0, 0.5], ids=["to the last step", "until it has arrived"])
def test_steps_in_portions_are_those_of_one_go(monkeypatch, steps, tolerance):
    """Signals interrupt compiled code between portions, here of 5 steps.

    Of 21 steps the last portion has a single one; 20 end where a portion does.
    """

    def go():
        start, records = np.full((2, 6), 0.7), np.array([0, 5, 7, 20])
        return descend(
            diagonal_tensors(2), Y, start, loss="squared", step=1e-2, steps=steps, records=records, tolerance=tolerance
        )

    at_once = go()
    monkeypatch.setattr(multilinear_descent, "AT_ONCE", 5)
    in_portions = go()
    assert (at_once.steps < steps).all() == (tolerance > 0)
    for name in ("states", "final_states", "steps"):
        np.testing.assert_array_equal(getattr(in_portions, name), getattr(at_once, name), err_msg=name)


def test_divergence_is_an_error_that_suggests_smaller_steps():
    with pytest.raises(DivergenceError, match="smaller steps"):
        descend(diagonal_tensors(3), Y, np.full((1, 9), 5.0), loss="squared", step=1.0, steps=1000)
