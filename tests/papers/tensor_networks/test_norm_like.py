"""Minimisers of Q: what makes them one, how fast their entries vanish with the scale, and where precision ends."""

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks import norm_like
from learning_dynamics.papers.tensor_networks.regression.runs import depth_functions
from learning_dynamics.papers.tensor_networks.regression.theory import vanishing_power


@pytest.mark.parametrize("scale", [0.03, 1.0, 10.0])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_the_minimiser_fulfils_the_conditions_of_an_optimum(depth, scale):
    """It interpolates, and the gradient of Q is in the span of the features."""
    rng = np.random.default_rng(4)
    features, labels, eta = rng.standard_normal((2, 5)), rng.standard_normal(2), 0.5 + rng.uniform(size=5)
    rho = norm_like.norm_like_minimiser(features, labels, eta, scale=scale, depth=depth)
    # Newton's method stops where its steps are rounding, far below 1e-9
    np.testing.assert_allclose(features @ rho, labels, rtol=1e-9)
    size = scale * eta
    gradient = size ** (2 - depth) * norm_like.depth_h_inverse(rho / size**depth, depth)  # of Q, as in (66)
    multipliers, *_ = np.linalg.lstsq(features.T, gradient, rcond=None)
    # the gradient has rho's relative errors, at most tenfold
    np.testing.assert_allclose(gradient, multipliers @ features, rtol=0, atol=1e-8 * np.abs(gradient).max())


def test_a_scale_at_which_double_precision_does_not_reach_the_minimiser_is_an_error():
    # at the minimiser h_5, about q^5, is 0.5 / 1e-60: the time left until the blow-up, q^-3 / 3, is 1e-36
    with pytest.raises(ProjectError, match="not found"):
        norm_like.norm_like_minimiser(np.array([[1.0, 2.0]]), np.array([1.0]), np.ones(2), scale=1e-12, depth=5)


@pytest.mark.parametrize("second_feature", [0.1, 0.5, 0.9])
def test_the_entry_outside_the_support_vanishes_with_the_power_that_its_feature_sets(second_feature):
    """Of rho_1 + s rho_2 = 2 the least l1 norm is at rho = (2, 0), with multiplier 1: the power is 2 (1 - s)."""
    features, labels, eta = np.array([[1.0, second_feature]]), np.array([2.0]), np.array([0.7, 1.3])
    power, predicted = vanishing_power(features, labels, eta)
    assert predicted == pytest.approx(2 * (1 - second_feature))
    # rho_2 is alpha**power times a factor, which changes between the scales 1e-15 and 1e-30 (`theory.SMALL`) by what
    # rho_2 takes from rho_1, 1e-3 at most: the power errs by that over log(1e15), which is far below the tolerance
    assert power == pytest.approx(predicted, abs=0.01)


def test_multipliers_that_are_not_unique_predict_nothing():
    # (1, 0, 0) interpolates with the least l1 norm: one entry, which leaves one of two multipliers free
    features, labels = np.array([[1.0, 0.5, 0.0], [0.0, 0.3, 1.0]]), np.array([1.0, 0.0])
    assert np.isnan(vanishing_power(features, labels, np.ones(3))).all()


# at depth 8 q' = p^7, which is about q^7: the time left until the blow-up at q = last is last**-6 / 6
DEPTH_8 = {"depths": [8], "records": 5, "integration": Tolerances(rtol=1e-11, atol=1e-14)}


def test_a_last_value_within_rounding_of_the_blow_up_is_refused():
    # the time left at 1000, 2e-19, is below the rounding of the time itself, 1e-16
    with pytest.raises(ProjectError, match="depth 8: q passes 1000 within rounding of its blow-up; lower `last`"):
        depth_functions(last=1000.0, **DEPTH_8)


def test_a_last_value_further_from_the_blow_up_is_reached_both_ways_in_time():
    # the time left at 50, 1e-11, is above rounding and below the integrator's error, 100 times its rtol (`FLOW_ERROR`)
    passing_times = depth_functions(last=50.0, **DEPTH_8).constants["reached"]
    blow_up_time = norm_like.blow_up_time(8)
    np.testing.assert_allclose(passing_times, [blow_up_time, -blow_up_time], rtol=1e-9)
