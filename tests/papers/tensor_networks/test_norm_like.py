"""The functions of Lemma 5.1 and the minimisers of Q, against integration and each other."""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks import norm_like
from learning_dynamics.papers.tensor_networks.regression.runs import depth_functions
from learning_dynamics.papers.tensor_networks.regression.theory import vanishing_power


@pytest.mark.parametrize("scale", [0.03, 1.0, 10.0])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_minimiser_is_stationary_and_interpolates(depth, scale):
    rng = np.random.default_rng(4)
    features, y, eta = rng.standard_normal((2, 5)), rng.standard_normal(2), 0.5 + rng.uniform(size=5)
    rho = norm_like.norm_like_minimiser(features, y, eta, scale=scale, depth=depth)
    np.testing.assert_allclose(features @ rho, y, rtol=1e-9)
    slope = norm_like.depth_h_inverse(rho / (scale * eta) ** depth, depth) * (scale * eta) ** (2 - depth)
    # the gradient of Q lies in the span of the features
    left = slope - np.linalg.lstsq(features.T, slope, rcond=None)[0] @ features
    np.testing.assert_allclose(left, 0.0, atol=1e-8 * np.abs(slope).max())


def test_a_scale_beyond_double_precision_is_an_error():
    with pytest.raises(ProjectError, match="not found"):
        norm_like.norm_like_minimiser(np.array([[1.0, 2.0]]), np.array([1.0]), np.ones(2), scale=1e-12, depth=5)


@pytest.mark.parametrize("tie", [0.1, 0.5, 0.9])
def test_the_entry_outside_the_support_vanishes_with_the_power_that_its_column_sets(tie):
    power, predicted = vanishing_power(np.array([[1.0, tie]]), np.array([2.0]), np.array([0.7, 1.3]))
    assert predicted == pytest.approx(2 * (1 - tie))
    # rho_2 is alpha**(2 (1 - tie)), times a number, and times what that takes from rho_1
    assert power == pytest.approx(predicted, abs=0.01)


def test_multipliers_that_are_not_unique_predict_nothing():
    features = np.array([[1.0, 0.5, 0.0], [0.0, 0.3, 1.0]])
    assert np.isnan(vanishing_power(features, np.array([1.0, 0.0]), np.ones(3))).all()


def test_a_blow_up_within_rounding_is_refused():
    given = {"depths": [8], "records": 5, "integration": Tolerances(rtol=1e-11, atol=1e-14)}
    with pytest.raises(ProjectError, match="depth 8: q passes 1000 within rounding of its blow-up; lower `last`"):
        depth_functions(last=1000.0, **given)
    assert depth_functions(last=50.0, **given).constants["reached"].shape == (2,)
