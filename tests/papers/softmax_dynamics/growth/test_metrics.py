import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics.growth import metrics, runs


@pytest.fixture(scope="module")
def starts():
    settings = {"classes": [4, 50], "largest": [3], "dimension": 2, "scales": [1e-5], "seeds": 20}
    trajectory = runs.initial_states(**settings, seed=1)
    trajectory.settings = settings
    return metrics.initial_states(trajectory)


def test_rates_are_the_gains_times_the_singular_values(starts):
    np.testing.assert_allclose(starts["rate"], -starts["gain"] * starts["sigma"], rtol=1e-9, atol=1e-18)


def test_gains_without_terms_in_the_number_of_classes_are_near_where_classes_are_many(starts):
    error = (starts["gain_many_classes"] - starts["gain"]).abs().groupby(starts["classes"]).mean()
    size = starts["gain"].abs().groupby(starts["classes"]).mean()
    # of order 1 / sqrt(V), within a factor of two
    assert error[50] / size[50] < 2 / np.sqrt(50) < error[4] / size[4] * 2


def test_no_gain_exceeds_the_norm_of_the_residual(starts):
    assert (starts["gain"].abs() <= starts["fastest"] * (1 + 1e-9)).all()
