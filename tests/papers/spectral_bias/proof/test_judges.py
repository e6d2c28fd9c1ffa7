"""What the claims on the proofs' steps accept and refuse: each bound met just inside, and missed by little."""

import pytest

from tests.papers.spectral_bias.doctored import evaluation_on, everywhere, put, verdict_on, with_steps

# a thousand steps at 1e-12 each: errors up to 1e-9 are the integrator's
EXACT = with_steps(1000, 1e-12)
FLOW, LIMIT = {"phase": "flow"}, {"phase": "limit"}


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # draw 0 of the first run: an imbalance of 2, relative to the largest of |Z1|^2
        ([everywhere("largest_eigenvalue", 4.0, **FLOW), put("imbalance", 2 + 3.9e-9, **FLOW)], "reproduced"),
        ([everywhere("largest_eigenvalue", 4.0, **FLOW), put("imbalance", 2 + 4.1e-9, **FLOW)], "contradicted"),
        ([put("imbalance", times=1 + 1e-6, index=1, **FLOW)], "contradicted"),
        ([everywhere("largest_eigenvalue", 1e12, **FLOW)], "undecided"),  # an error that hides the imbalance itself
    ],
)
def test_lemma_3_2(alterations, verdict):
    assert verdict_on("lemma_3_2", EXACT, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("alpha_outside_data", 0.9e-8, **FLOW)], "reproduced"),
        ([put("alpha_outside_data", 1.1e-8, **FLOW)], "contradicted"),
        # as many samples as inputs span everything: nothing could be outside
        ([everywhere("samples", 6.0)], "untested"),
        # directions at random would leave by a half; an error allowed that large says nothing
        ([everywhere("condition_of_Z1", 1e6, **FLOW)], "undecided"),
    ],
)
def test_lemma_c_3(alterations, verdict):
    assert verdict_on("lemma_c_3", EXACT, everywhere("condition_of_Z1", 10.0, **FLOW), *alterations) == verdict


PRINTED = everywhere("gradient_printed", 0.0, **LIMIT)  # a formula as it is printed that fits


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([], "corrected"),
        ([PRINTED], "reproduced"),
        # what the error of Z1 leaves open is rtol times steps, and the condition number's square: 1e-9 * 100
        ([put("gradient_corrected", 0.9e-7, **LIMIT)], "corrected"),
        ([put("gradient_corrected", 1.1e-7, **LIMIT)], "contradicted"),
        ([PRINTED, put("gradient_printed", 1.1e-7, **LIMIT)], "corrected"),
        ([put("asymmetry", 0.9e-12, role="equal", **LIMIT)], "corrected"),
        ([put("asymmetry", 1.1e-12, role="equal", **LIMIT)], "contradicted"),
        ([put("asymmetry", 1.1e-6, role="unequal", **LIMIT)], "corrected"),
        ([put("asymmetry", 0.9e-6, role="unequal", **LIMIT)], "contradicted"),
        ([put("imbalance_drift", 0.9e-9, role="unequal", **FLOW)], "corrected"),
        ([put("imbalance_drift", 1.1e-9, role="unequal", **FLOW)], "contradicted"),
    ],
)
def test_lemma_c_4(alterations, verdict):
    assert verdict_on("lemma_c_4", EXACT, everywhere("condition_of_Z1", 10.0, **LIMIT), *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([everywhere("decay_rate_of_residual", 4.0)], "corrected"),
        ([everywhere("decay_rate_of_residual", 4.0), put("decay_rate_of_residual", 4 * (1 - 2e-6))], "contradicted"),
        ([everywhere("decay_rate_of_R", 2.0)], "reproduced"),
        ([everywhere("decay_rate_of_R", 2.0), put("decay_rate_of_R", 2 * (1 - 2e-6))], "corrected"),
        ([everywhere("decay_rate_of_residual", 8.0)], "undecided"),  # a residual twice as fast
        ([everywhere("inverse_condition_of_X", 1.0)], "undecided"),  # the other eigenvalue
    ],
)
def test_lemma_c_6(alterations, verdict):
    assert verdict_on("lemma_c_6", *alterations) == verdict


def test_lemma_c_6_counts_the_draws_on_which_the_gradient_grows():
    calm = evaluation_on("lemma_c_6", everywhere("decay_rate_of_R", 1.0), put("decay_rate_of_R", -3.5))
    assert (calm.facts["growing"], calm.facts["fastest"]) == (1, 3.5)


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("sigma_w1", times=1 + 0.8e-9, index=1, **FLOW)], "reproduced"),
        ([put("sigma_w1", times=1 + 1.5e-9, index=1, **FLOW)], "contradicted"),
        ([put("sigma_w1", times=1 + 1e-6, index=6, **FLOW)], "contradicted"),
        ([put("sigma_w2", times=1 + 1e-6, index=2, **FLOW)], "contradicted"),
        ([put("sigma_w1", times=1 + 1e-6, index=1, column="predicted", **FLOW)], "contradicted"),
        ([put("sigma_w2", times=1 + 1e-6, index=1, column="predicted", **FLOW)], "contradicted"),
    ],
)
def test_lemma_c_10(alterations, verdict):
    assert verdict_on("lemma_c_10", EXACT, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # the square root of 1e-9 is 3.2e-5
        ([everywhere("sigma_w1", 1.0, index=1, **FLOW), put("sigma_w1", 3.1e-5, index=3, **FLOW)], "reproduced"),
        ([everywhere("sigma_w1", 1.0, index=1, **FLOW), put("sigma_w1", 3.3e-5, index=3, **FLOW)], "contradicted"),
        ([everywhere("sigma_w1", 0.0, index=3, **FLOW)], "undecided"),  # from layers that are not balanced too
        ([everywhere("sigma_w1", 0.0, index=2, **FLOW)], "undecided"),  # rank one would do
    ],
)
def test_balanced_start(alterations, verdict):
    assert verdict_on("balanced_start", EXACT, *alterations) == verdict
