import numpy as np
import pytest

from learning_dynamics.papers.tensor_networks.regression.theory import vanishing_power


@pytest.mark.parametrize("tie", [0.1, 0.5, 0.9])
def test_the_entry_outside_the_support_vanishes_with_the_power_that_its_column_sets(tie):
    power, predicted = vanishing_power(np.array([[1.0, tie]]), np.array([2.0]), np.array([0.7, 1.3]))
    assert predicted == pytest.approx(2 * (1 - tie))
    # rho_2 is alpha**(2 (1 - tie)), times a number, and times what that takes from rho_1
    assert power == pytest.approx(predicted, abs=0.01)


def test_multipliers_that_are_not_unique_predict_nothing():
    features = np.array([[1.0, 0.5, 0.0], [0.0, 0.3, 1.0]])
    assert np.isnan(vanishing_power(features, np.array([1.0, 0.0]), np.ones(3))).all()
