"""Trajectories."""

import numpy as np
import pytest

from learning_dynamics.errors import DivergenceError
from learning_dynamics.trajectories import Trajectory, ensemble


@pytest.mark.parametrize("shape", [(2, 3), (4,), (2,)])
def test_a_series_of_the_wrong_length_is_refused(shape):
    with pytest.raises(ValueError, match=r"series 'W' has shape .* expected \(members, 4"):
        Trajectory(np.arange(4.0), {"W": np.zeros(shape)})


def follow(scale, draw):
    if scale > 2:
        raise DivergenceError(f"scale {scale} is lost")
    return {"W": scale * np.arange(3.0), "end": scale + draw, "steps": 7, "undecided": draw == 1}


def test_an_ensemble_stacks_its_members_and_counts_the_lost_ones():
    members = [(1.0, 0), (3.0, 0), (2.0, 1), (np.inf, 0), (2.0, 0)]
    run = ensemble(follow, members[:3] + members[4:], np.arange(3.0), "W", label="flow", X=np.ones(2))
    assert run.members == 4
    np.testing.assert_array_equal(run.series["W"], np.outer([1, np.nan, 2, 2], np.arange(3.0)))
    np.testing.assert_array_equal(run.constants["end"], [1, np.nan, 3, 2])
    np.testing.assert_array_equal(run.constants["steps"], [7, 0, 7, 7])
    np.testing.assert_array_equal(run.undecided, [False, True, True, False])
    assert set(run.constants) == {"X", "end", "steps"}


def test_states_that_are_not_finite_are_undecided_and_losing_every_member_is_an_error():
    run = ensemble(lambda scale: {"W": scale * np.ones(2)}, [1.0, np.inf], np.arange(2.0), "W", label="flow")
    np.testing.assert_array_equal(run.undecided, [False, True])
    with pytest.raises(DivergenceError, match=r"scale 3\.0 is lost"):
        ensemble(follow, [(3.0, 0), (4.0, 0)], np.arange(4.0), "W", label="flow")
