"""What the claims on the flow's limit accept and refuse: each bound met just inside, and missed by little.

beta = W1 W2 is the predictor, beta_* the interpolator of least norm, and the flow starts from W1 = sqrt(2 gamma) P with
orthonormal rows of P and W2 = 0. `put` alters one draw, `everywhere` all; see `doctored`, which also lists the
verdicts.
"""

import pytest

from tests.papers.spectral_bias.doctored import everywhere, put, verdict_on, with_steps

LIMIT = {"phase": "limit"}
# a thousand steps at 1e-12 each: claims allow the integrator an error of 1e-9
STEPS_BY_RTOL_IS_1E_9 = with_steps(steps=1000, rtol=1e-12)
# the remaining residual adds nothing to what is allowed
NO_RESIDUAL = [everywhere(name, 0.0, **LIMIT) for name in ("distance_bound", "sigma_w1_left_open")]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("distance_over_its_bound", 0.99)], "reproduced"),
        ([put("distance_over_its_bound", 1.01)], "contradicted"),
        # at the end, relative to the parameters: the root of the relative tolerance, 1e-6
        ([put("bound_at_end", 0.9e-6)], "reproduced"),
        ([put("bound_at_end", 1.1e-6)], "contradicted"),
        ([everywhere("distance_over_its_bound", 0.49)], "undecided"),  # half the bound would pass as well
        # lambda_max would pass instead of lambda_min, as they are equal
        ([everywhere("inverse_condition_of_X", 1.0)], "undecided"),
    ],
)
def test_theorem_3_1_i_asks_that_parameters_are_within_their_bound_which_vanishes(alterations, verdict):
    """|theta(t) - theta_infinity| <= |Y - X beta(t)| / sqrt(2 gamma lambda_min(X X^T)), theta both layers."""
    assert verdict_on("theorem_3_1_i", STEPS_BY_RTOL_IS_1E_9, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # allowed are steps times rtol, 1e-9, and the bound by the residual
        ([put("distance", 0.9e-9, **LIMIT)], "reproduced"),
        ([put("distance", 1.1e-9, **LIMIT)], "contradicted"),
        # both together, 1.1e-8, and a thousandth of the bound, as a residual is known to a few digits
        ([put("distance", 1.09e-8, **LIMIT), put("distance_bound", 1e-8, **LIMIT)], "reproduced"),
        ([put("distance", 1.12e-8, **LIMIT), put("distance_bound", 1e-8, **LIMIT)], "contradicted"),
        # zero from rows of unequal lengths too, in the role `unequal`, where the hypothesis fails: it shows nothing
        ([everywhere("distance", 0.0, **LIMIT)], "undecided"),
    ],
)
def test_theorem_3_1_ii_asks_that_the_limit_is_the_minimum_norm_interpolator(alterations, verdict):
    """The distance |beta - beta_*| / |beta_*| at the limit is zero; the role `flows` is from rows of one length."""
    at_beta_star = everywhere("distance", 0.0, role="flows", **LIMIT)
    assert verdict_on("theorem_3_1_ii", STEPS_BY_RTOL_IS_1E_9, *NO_RESIDUAL, at_beta_star, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # allowed are steps times rtol, 1e-9, times the condition number of Z1, 10, in W1, and its square in W2
        ([put("gradient_W1", 0.9e-8)], "reproduced"),
        ([put("gradient_W1", 1.1e-8)], "contradicted"),
        ([put("gradient_W2", 0.9e-7)], "reproduced"),
        ([put("gradient_W2", 1.1e-7)], "contradicted"),
        ([put("increase", 0.0)], "reproduced"),
        ([put("increase", -1e-9)], "contradicted"),
        # other potentials would pass: without the logarithm, or with twice the logarithm
        ([everywhere("gradient_W1_without_log_det", 0.0)], "undecided"),
        ([everywhere("gradient_W1_twice_log_det", 0.0)], "undecided"),
        ([everywhere("increase_without_log_det", 1.0)], "undecided"),
        ([everywhere("increase_twice_log_det", 1.0)], "undecided"),
        # another interpolator would pass
        ([everywhere("gradient_W2_elsewhere", 0.0)], "undecided"),
    ],
)
def test_theorem_3_1_iii_asks_that_the_limit_minimises_the_potential(alterations, verdict):
    """The potential is (|W1|^2 + |W2|^2) / 2 - gamma log det(W1 W1^T), among interpolators (eq. 3.1).

    Both gradients of its Lagrangian are zero, and no perturbation lowers it.
    """
    condition = everywhere("condition_of_Z1", 10.0)
    assert verdict_on("theorem_3_1_iii", STEPS_BY_RTOL_IS_1E_9, condition, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # allowed are steps times rtol, 1e-9, and what the residual leaves open, both relative to sigma_1
        ([put("sigma_w1", factor=1 + 0.9e-9, index=1, **LIMIT)], "reproduced"),
        ([put("sigma_w1", factor=1 - 1.1e-9, index=1, **LIMIT)], "contradicted"),
        # the smallest is 0.77 of sigma_1 on this draw: it may be off by 1.3e-9 of itself
        ([put("sigma_w1", factor=1 + 1.1e-9, index=6, **LIMIT)], "reproduced"),
        ([put("sigma_w1", factor=1 + 1.5e-9, index=6, **LIMIT)], "contradicted"),
        ([put("sigma_w1", factor=1 + 1.09e-8, **LIMIT), put("sigma_w1_left_open", 1e-8, **LIMIT)], "reproduced"),
        ([put("sigma_w1", factor=1 + 1.12e-8, **LIMIT), put("sigma_w1_left_open", 1e-8, **LIMIT)], "contradicted"),
        # of W2 more is allowed by (sigma_1(W1) / sigma_1(W2))^2, which is 2.42 on this draw
        ([put("sigma_w2", factor=1 + 2.3e-9, index=1, **LIMIT)], "reproduced"),
        ([put("sigma_w2", factor=1 + 2.6e-9, index=1, **LIMIT)], "contradicted"),
    ],
)
def test_corollary_3_1_asks_for_the_predicted_spectra_at_the_limit(alterations, verdict):
    """sigma_i(W1)^2 = sqrt(sigma_i(beta_*)^2 + gamma^2) + gamma, and for W2 the same with minus gamma.

    Beyond the two outputs sigma_i(beta_*) is zero.
    """
    assert verdict_on("corollary_3_1", STEPS_BY_RTOL_IS_1E_9, *NO_RESIDUAL, *alterations) == verdict
