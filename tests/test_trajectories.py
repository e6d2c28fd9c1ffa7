"""Shapes that a trajectory refuses, and what an ensemble makes of its members, the lost ones among them."""

import numpy as np
import pytest

from learning_dynamics.errors import DivergenceError
from learning_dynamics.trajectories import Trajectory, ensemble


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param((2, 3), id="three states for four times"),
        pytest.param((4,), id="no axis of members"),
        pytest.param((2,), id="no axis of times"),
    ],
)
def test_a_series_that_is_not_members_by_times_is_refused(shape):
    with pytest.raises(ValueError, match=r"series 'W' has shape .* expected \(members, 4"):
        Trajectory(np.arange(4.0), {"W": np.zeros(shape)})


def test_flags_of_undecided_members_that_are_not_one_for_each_member_are_refused():
    with pytest.raises(ValueError, match=r"undecided has shape \(3,\); expected \(2,\)"):
        Trajectory(np.arange(4.0), {"W": np.zeros((2, 4))}, undecided=np.zeros(3, dtype=bool))


def follow(scale, draw):
    """Return the series `W` and constants of a member; above scale 2 it is lost, and draw 1 says it is undecided."""
    if scale > 2:
        raise DivergenceError(f"scale {scale} is lost")
    return {"W": scale * np.arange(3.0), "end": scale + draw, "steps": 7, "undecided": draw == 1}


@pytest.fixture
def run_of_four():
    """The trajectory of four members, of which the second is lost."""
    members = [(1.0, 0), (3.0, 0), (2.0, 1), (2.0, 0)]  # scale and draw
    return ensemble(follow, members, np.arange(3.0), "W", label="flow", X=np.ones(2))


def test_an_ensemble_stacks_the_series_of_its_members_with_nan_for_the_lost_one(run_of_four):
    assert run_of_four.members == 4
    np.testing.assert_array_equal(run_of_four.series["W"], np.outer([1, np.nan, 2, 2], np.arange(3.0)))


def test_constants_of_members_are_stacked_with_nan_or_zero_for_the_lost_one(run_of_four):
    np.testing.assert_array_equal(run_of_four.constants["end"], [1, np.nan, 3, 2])
    np.testing.assert_array_equal(run_of_four.constants["steps"], [7, 0, 7, 7])  # an integer is never nan


def test_constants_are_those_of_members_and_those_of_all_together(run_of_four):
    assert set(run_of_four.constants) == {"X", "end", "steps"}
    np.testing.assert_array_equal(run_of_four.constants["X"], np.ones(2))


def test_a_member_is_undecided_if_it_is_lost_or_says_so_itself(run_of_four):
    np.testing.assert_array_equal(run_of_four.undecided, [False, True, True, False])


def test_a_member_whose_states_are_not_finite_is_undecided():
    def scaled(scale):
        return {"W": scale * np.ones(2)}

    run = ensemble(scaled, [1.0, np.inf, np.nan], np.arange(2.0), "W", label="flow")
    np.testing.assert_array_equal(run.undecided, [False, True, True])


def test_a_member_that_is_no_tuple_is_one_argument():
    def states(member):
        return {"W": np.array(member)}

    run = ensemble(states, [[1.0, 2.0], [3.0, 4.0]], np.arange(2.0), "W", label="flow")
    np.testing.assert_array_equal(run.series["W"], [[1, 2], [3, 4]])


def test_an_ensemble_that_loses_every_member_raises_the_error_of_the_first():
    with pytest.raises(DivergenceError, match=r"scale 3\.0 is lost"):
        ensemble(follow, [(3.0, 0), (4.0, 0)], np.arange(3.0), "W", label="flow")
