"""The functions of Lemma 5.1 and the minimisers of Q, against integration and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks import norm_like

DEPTHS = [2, 3, 4, 5]


@settings(max_examples=40)
@given(depth=st.sampled_from(DEPTHS), size=st.floats(-8, 8), sign=st.sampled_from([-1.0, 1.0]))
def test_h_inverts(depth, size, sign):
    z = sign * 10.0**size
    # close to the blow-up h amplifies the rounding of t by at most z**((L-2)/L) * L
    amplified = 1 + abs(z) ** ((depth - 2) / depth) * depth**2
    assert norm_like.depth_h(norm_like.depth_h_inverse(z, depth), depth) == pytest.approx(
        z, rel=1e-13 * amplified + 1e-12
    )


@pytest.mark.parametrize("scale", [0.03, 1.0, 10.0])
@pytest.mark.parametrize("depth", [2, 3, 4])
def test_minimiser_is_stationary_and_interpolates(depth, scale):
    rng = np.random.default_rng(4)
    features, y, eta = rng.standard_normal((2, 5)), rng.standard_normal(2), 0.5 + rng.uniform(size=5)
    rho = norm_like.norm_like_minimiser(features, y, eta, scale, depth)
    np.testing.assert_allclose(features @ rho, y, rtol=1e-9)
    slope = norm_like.depth_h_inverse(rho / (scale * eta) ** depth, depth) * (scale * eta) ** (2 - depth)
    # the gradient of Q lies in the span of the features
    left = slope - np.linalg.lstsq(features.T, slope, rcond=None)[0] @ features
    np.testing.assert_allclose(left, 0.0, atol=1e-8 * np.abs(slope).max())


def test_a_scale_beyond_double_precision_is_an_error():
    with pytest.raises(ProjectError, match="not found"):
        norm_like.norm_like_minimiser(np.array([[1.0, 2.0]]), np.array([1.0]), np.ones(2), 1e-12, 5)
