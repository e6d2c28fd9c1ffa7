import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics.draws import share_difference


def test_newcombes_interval_of_a_difference_of_shares():
    # Newcombe 1998, table II: 56/70 and 48/80, method 10
    found = share_difference(np.arange(70) < 56, np.arange(80) < 48)
    assert found.value == pytest.approx(0.2)
    assert (found.lower, found.upper) == (pytest.approx(0.0524, abs=1e-4), pytest.approx(0.3339, abs=1e-4))
