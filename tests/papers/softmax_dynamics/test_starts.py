import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics import starts


@pytest.mark.parametrize("init", ["balanced", "gaussian"])
def test_draws_of_a_cell_do_not_depend_on_how_many_there_are(init):
    few, many = (starts.cell_states(3, [2, 1], 2, init, 0.1, seeds)[1] for seeds in (2, 4))
    np.testing.assert_array_equal(few, many[:2])
