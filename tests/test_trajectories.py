"""Trajectories."""

import numpy as np
import pytest

from learning_dynamics.trajectories import Trajectory


def test_members_are_the_first_axis():
    assert Trajectory(np.arange(4.0), {"W": np.zeros((3, 4, 2))}).members == 3


@pytest.mark.parametrize("shape", [(2, 3), (4,), (2,)])
def test_a_series_of_the_wrong_length_is_refused(shape):
    with pytest.raises(ValueError, match=r"series 'W' has shape .* expected \(members, 4"):
        Trajectory(np.arange(4.0), {"W": np.zeros(shape)})
