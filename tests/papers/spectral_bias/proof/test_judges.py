"""What the claims on the proofs' steps accept and refuse: each bound met just inside, and missed by little.

The flow of W1 = Z1 P and W2 = P^T Z2 starts at Z1 = sqrt(2 gamma) I and Z2 = 0; beta = W1 W2. `put` alters one draw,
`everywhere` all; see `doctored`, which also lists the verdicts.
"""

import pytest

from tests.papers.spectral_bias.doctored import evaluation_on, everywhere, put, verdict_on, with_steps

# a thousand steps at 1e-12 each: claims allow the integrator an error of 1e-9
STEPS_BY_RTOL_IS_1E_9 = with_steps(steps=1000, rtol=1e-12)
FLOW, LIMIT = {"phase": "flow"}, {"phase": "limit"}


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # allowed are 1e-9 of the largest sigma_1(Z1)^2, which is set to 4; on draw 0 2 gamma is 2
        ([everywhere("largest_eigenvalue", 4.0, **FLOW), put("imbalance", 2 + 3.9e-9, **FLOW)], "reproduced"),
        ([everywhere("largest_eigenvalue", 4.0, **FLOW), put("imbalance", 2 + 4.1e-9, **FLOW)], "contradicted"),
        (  # of six eigenvalues one alone
            [everywhere("largest_eigenvalue", 4.0, **FLOW), put("imbalance", 2 - 4.1e-9, index=6, **FLOW)],
            "contradicted",
        ),
        # 1e-9 of it is an error that hides the imbalance itself
        ([everywhere("largest_eigenvalue", 1e12, **FLOW)], "undecided"),
    ],
)
def test_lemma_3_2_asks_that_every_eigenvalue_of_the_imbalance_stays_2_gamma(alterations, verdict):
    """Z1^T Z1 - Z2 Z2^T = 2 gamma I at all times."""
    assert verdict_on("lemma_3_2", STEPS_BY_RTOL_IS_1E_9, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # allowed are steps times rtol, 1e-9, times the condition number of Z1, 10
        ([put("alpha_outside_data", 0.9e-8, **FLOW)], "reproduced"),
        ([put("alpha_outside_data", 1.1e-8, **FLOW)], "contradicted"),
        # as many samples as inputs, which are six, span everything: nothing could be outside
        ([everywhere("samples", 6.0)], "untested"),
        # 1e-3 is allowed: a rival, a thousandth of what is outside for directions at random, passes
        ([everywhere("condition_of_Z1", 1e6, **FLOW)], "undecided"),
    ],
)
def test_lemma_c_3_asks_that_alpha_stays_in_the_span_of_the_data(alterations, verdict):
    """The columns of alpha = Z1^{-T} Z2 are in the span of the rows of X; what is outside is relative to |alpha|."""
    condition = everywhere("condition_of_Z1", 10.0, **FLOW)
    assert verdict_on("lemma_c_3", STEPS_BY_RTOL_IS_1E_9, condition, *alterations) == verdict


PRINTED_FITS = everywhere("gradient_printed", 0.0, **LIMIT)


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([], "corrected"),
        ([PRINTED_FITS], "reproduced"),
        # a formula's distance from the gradient may be steps times rtol, 1e-9, times the squared condition number, 100
        ([put("gradient_corrected", 0.9e-7, **LIMIT)], "corrected"),
        ([put("gradient_corrected", 1.1e-7, **LIMIT)], "contradicted"),
        ([PRINTED_FITS, put("gradient_printed", 1.1e-7, **LIMIT)], "corrected"),
        # from rows of one length the derivative is symmetric up to rounding, 1e-12
        ([put("asymmetry", 0.9e-12, role="equal", **LIMIT)], "corrected"),
        ([put("asymmetry", 1.1e-12, role="equal", **LIMIT)], "contradicted"),
        # from rows of unequal lengths it is not: from 1e-6 on, the claim's `visible`, an asymmetry is above rounding
        ([put("asymmetry", 1.1e-6, role="unequal", **LIMIT)], "corrected"),
        ([put("asymmetry", 0.9e-6, role="unequal", **LIMIT)], "contradicted"),
        # the imbalance stays as it was, up to steps times rtol
        ([put("imbalance_drift", 0.9e-9, role="unequal", **FLOW)], "corrected"),
        ([put("imbalance_drift", 1.1e-9, role="unequal", **FLOW)], "contradicted"),
    ],
)
def test_lemma_c_4_asks_for_its_gradient_and_for_a_potential_from_equal_rows_alone(alterations, verdict):
    """Corrected: the gradient is Z1 - Z1^{-T} D, D the imbalance; its derivative is symmetric for D = 2 gamma I."""
    condition = everywhere("condition_of_Z1", 10.0, **LIMIT)
    assert verdict_on("lemma_c_4", STEPS_BY_RTOL_IS_1E_9, condition, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # rates, the slowest along each flow, are in units of gamma lambda_min(X X^T); 1e-6 of them may be rounding
        ([everywhere("decay_rate_of_residual", 4.0), put("decay_rate_of_residual", 4 * (1 - 0.9e-6))], "corrected"),
        ([everywhere("decay_rate_of_residual", 4.0), put("decay_rate_of_residual", 4 * (1 - 1.1e-6))], "contradicted"),
        # as printed: of R, at half that rate
        ([everywhere("decay_rate_of_R", 2.0), put("decay_rate_of_R", 2 * (1 - 0.9e-6))], "reproduced"),
        ([everywhere("decay_rate_of_R", 2.0), put("decay_rate_of_R", 2 * (1 - 1.1e-6))], "corrected"),
        # rivals that would pass: twice the rate, and lambda_max in place of lambda_min
        ([everywhere("decay_rate_of_residual", 8.0)], "undecided"),
        ([everywhere("inverse_condition_of_X", 1.0)], "undecided"),
    ],
)
def test_lemma_c_6_asks_that_the_squared_residual_decays_at_four_units_or_faster(alterations, verdict):
    """Corrected: d|Y - X beta|^2/dt <= -4 gamma lambda_min(X X^T) |Y - X beta|^2.

    As printed, for R = X^T (Y - X beta): d|R|^2/dt <= -2 gamma lambda_min |R|^2.
    """
    assert verdict_on("lemma_c_6", *alterations) == verdict


def test_lemma_c_6_counts_the_draws_on_which_the_gradient_grows_and_says_how_fast():
    alterations = everywhere("decay_rate_of_R", 1.0), put("decay_rate_of_R", -3.5)  # it grows on one draw
    facts = evaluation_on("lemma_c_6", *alterations).facts
    assert (facts["growing_draws"], facts["fastest_growth"]) == (1, 3.5)


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # allowed are steps times rtol, 1e-9, of the largest sigma_1(Z1) along the flow
        ([put("sigma_w1", factor=1 + 0.9e-9, index=1, **FLOW)], "reproduced"),
        ([put("sigma_w1", factor=1 + 1.1e-9, index=1, **FLOW)], "contradicted"),
        # the smallest value is 0.79 of that on this draw: it may be off by 1.3e-9 of itself
        ([put("sigma_w1", factor=1 + 1.1e-9, index=6, **FLOW)], "reproduced"),
        ([put("sigma_w1", factor=1 + 1.5e-9, index=6, **FLOW)], "contradicted"),
        ([put("sigma_w2", factor=1 + 1e-6, index=2, **FLOW)], "contradicted"),
        ([put("sigma_w1", factor=1 + 1e-6, index=1, column="predicted", **FLOW)], "contradicted"),
        ([put("sigma_w2", factor=1 + 1e-6, index=1, column="predicted", **FLOW)], "contradicted"),
    ],
)
def test_lemma_c_10_asks_for_the_predicted_spectra_of_both_layers_along_the_flow(alterations, verdict):
    """sigma_i(Z1)^2 = sqrt(gamma^2 + sigma_i(beta)^2) + gamma, and for Z2 the same with minus gamma."""
    assert verdict_on("lemma_c_10", STEPS_BY_RTOL_IS_1E_9, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # the third value over the first, which is set to one, may be the root of steps times rtol, 3.16e-5
        ([everywhere("sigma_w1", 1.0, index=1, **FLOW), put("sigma_w1", 3.1e-5, index=3, **FLOW)], "reproduced"),
        ([everywhere("sigma_w1", 1.0, index=1, **FLOW), put("sigma_w1", 3.3e-5, index=3, **FLOW)], "contradicted"),
        # rivals that would pass: rank two from layers that are not balanced too, and rank one
        ([everywhere("sigma_w1", 0.0, index=3, **FLOW)], "undecided"),
        ([everywhere("sigma_w1", 0.0, index=2, **FLOW)], "undecided"),
    ],
)
def test_from_balanced_layers_the_rank_may_not_exceed_the_number_of_outputs(alterations, verdict):
    """From W1^T W1 = W2 W2^T, and with two outputs, sigma_3(W1) is zero at all times."""
    assert verdict_on("balanced_start", STEPS_BY_RTOL_IS_1E_9, *alterations) == verdict
