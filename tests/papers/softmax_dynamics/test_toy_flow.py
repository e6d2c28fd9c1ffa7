"""The compiled flow of the toy is the flow of its vector field, whatever its rows stand for."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, toy_flow

TIMES = np.array([0.0, 1.0, 2.0])
TIGHT = Tolerances(rtol=1e-10, atol=1e-13)


def integrated(field, start):
    return solve_ivp(lambda _, y: field(y), (0.0, 2.0), start, "DOP853", TIMES, rtol=1e-12, atol=1e-14).y.T


@pytest.mark.parametrize("loss", ["cross_entropy", "squared"])
def test_it_is_the_flow_of_the_vector_field(loss):
    labels, initial = starts.cell_states(3, [4, 2, 1], 2, "gaussian", 1.0, 3)
    found = toy_flow.flow(labels, initial, 2, loss, TIMES, tolerances=TIGHT)
    field = model.vector_field(labels, 2, loss)
    for member, start in enumerate(initial):
        exact = integrated(lambda y, at=member: field(y[None], np.array([at]))[0], start)
        np.testing.assert_allclose(found[member], exact, atol=1e-8)


def test_rows_that_stand_for_several_examples_move_as_these_do():
    labels, initial = starts.cell_states(3, [1, 1, 1], 2, "gaussian", 1.0, 2)
    copies = np.array([[4.0, 2.0, 1.0]] * 2)
    of_each = np.repeat(np.arange(3), [4, 2, 1])
    f, W = model.unpack(initial, 3, 2, 3)
    alone = toy_flow.flow(labels[:, of_each], model.pack(f[:, of_each], W), 2, "cross_entropy", TIMES, tolerances=TIGHT)
    found = toy_flow.flow(labels, initial, 2, "cross_entropy", TIMES, copies=copies, tolerances=TIGHT)
    rows, classifier = model.unpack(alone, 7, 2, 3)
    np.testing.assert_allclose(found, model.pack(rows[:, :, [0, 4, 6]], classifier), atol=1e-8)


def test_examples_of_one_context_add_up_in_its_row():
    """By logits alone: one linear layer from repeated inputs, whose row of f is an input's image."""
    labels, initial = starts.cell_states(3, [1, 1, 1], 2, "gaussian", 1.0, 1)
    sizes = [4, 2, 1]
    inputs = np.repeat(np.eye(3), sizes, axis=0)
    linear = toy_flow.flow(
        np.repeat(labels, sizes, axis=1), initial, 2, "cross_entropy", TIMES, inputs=inputs[None], tolerances=TIGHT
    )
    copies = np.array([sizes], dtype=float)
    found = toy_flow.flow(labels, initial, 2, "cross_entropy", TIMES, copies=copies, shared=True, tolerances=TIGHT)
    np.testing.assert_allclose(found, linear, atol=1e-8)


def test_linear_features_move_by_the_chain_rule():
    rng = np.random.default_rng(2)
    X, labels = rng.standard_normal((1, 4, 6)), model.one_hot([2, 1, 1])[None]
    theta, W = rng.standard_normal((1, 6, 2)), rng.standard_normal((1, 2, 3))

    def field(y):
        now, weights = model.unpack(y, 6, 2, 3)
        moved, turned = model.derivatives(X[0] @ now, weights, labels[0], "cross_entropy")
        return model.pack(X[0].T @ moved, turned)

    start = model.pack(theta, W)
    found = toy_flow.flow(labels, start, 2, "cross_entropy", TIMES, inputs=X, tolerances=TIGHT)
    np.testing.assert_allclose(found[0], integrated(field, start[0]), atol=1e-8)


def test_a_member_that_fails_leaves_its_siblings_alone():
    labels, initial = starts.cell_states(3, [2, 1], 2, "gaussian", 0.1, 5)
    whole = toy_flow.flow(labels, initial, 2, "cross_entropy", TIMES, tolerances=TIGHT)
    initial[3] = np.inf
    states = toy_flow.flow(labels, initial, 2, "cross_entropy", TIMES, tolerances=TIGHT)
    assert starts.undecided(states).tolist() == [False, False, False, True, False]
    np.testing.assert_array_equal(states[3, 0], initial[3])
    np.testing.assert_array_equal(states[[0, 1, 2, 4]], whole[[0, 1, 2, 4]])
