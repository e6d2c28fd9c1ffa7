"""What the claims on whitened data accept and refuse: each bound met just inside, and missed by little.

Unless a case says otherwise one draw alone is altered; see `doctored`, which also lists the verdicts.
"""

import numpy as np
import pytest

from tests.papers.spectral_bias.doctored import evaluation_on, everywhere, put, verdict_on, with_steps

FLOW = {"phase": "flow"}

# -- Theorem C.11: singular vectors that are shared, and that stand still on whitened data -----------------------------
# The role `whitened` is on whitened data, `others` on Gaussian data, `unequal` from rows of unequal lengths.

# claims allow errors of steps times rtol, 1e-9, times the squared condition number of Z1, 100: 1e-7
ALLOWED_IS_1E_7 = [with_steps(1000, 1e-12), everywhere("condition_of_Z1", 10.0, **FLOW)]
INSIDE_AND_OUTSIDE = pytest.mark.parametrize(("value", "verdict"), [(0.9e-7, "reproduced"), (1.1e-7, "contradicted")])


@pytest.mark.parametrize("quantity", ["beta_off_diagonal", "alpha_off_diagonal"])
@INSIDE_AND_OUTSIDE
def test_theorem_c_11_asks_that_singular_vectors_stand_still_on_whitened_data(quantity, value, verdict):
    """beta and alpha are diagonal in the singular basis of beta_*."""
    assert verdict_on("theorem_c_11", *ALLOWED_IS_1E_7, put(quantity, value, role="whitened", **FLOW)) == verdict


@pytest.mark.parametrize("quantity", ["c_17", "c_18", "c_22"])
@INSIDE_AND_OUTSIDE
def test_theorem_c_11_asks_that_the_proofs_products_are_symmetric_on_whitened_data(quantity, value, verdict):
    assert verdict_on("theorem_c_11", *ALLOWED_IS_1E_7, put(quantity, value, role="whitened", **FLOW)) == verdict


@pytest.mark.parametrize("quantity", ["commutator_with_layers", "commutator_with_alpha"])
@pytest.mark.parametrize("role", ["whitened", "others"])
@INSIDE_AND_OUTSIDE
def test_theorem_c_11_asks_that_singular_vectors_are_shared_on_all_data(quantity, role, value, verdict):
    assert verdict_on("theorem_c_11", *ALLOWED_IS_1E_7, put(quantity, value, role=role, **FLOW)) == verdict


@pytest.mark.parametrize(
    ("role", "quantities"),
    [
        pytest.param("others", ["beta_off_diagonal", "alpha_off_diagonal"], id="vectors stand still on any data"),
        pytest.param("others", ["c_17", "c_18", "c_22"], id="products are symmetric on any data"),
        pytest.param("unequal", ["commutator_with_layers", "commutator_with_alpha"], id="vectors are always shared"),
    ],
)
def test_theorem_c_11_is_undecided_where_its_statement_holds_without_its_hypotheses(role, quantities):
    without_hypotheses = [everywhere(quantity, 0.0, role=role) for quantity in quantities]
    assert verdict_on("theorem_c_11", *ALLOWED_IS_1E_7, *without_hypotheses) == "undecided"


# -- Theorem C.12 and section 3.2: the learning curve and its jumps ----------------------------------------------------
# The teacher's singular values 2, 1 and 1/2 jump at the times 1/4, 1/2 and 1, in units of ln(1/gamma). The role `jump`
# has the scales 1e-4, 1e-16 and 1e-32, which take the place of draws, and `networks` are networks on whitened data.

SMALLEST = {"gamma": 1e-32, "draw": None, "role": "jump"}


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # at its jump a value s is s / (1 + 2 s), up to steps times rtol, 1e-9 of s
        ([put("sigma_beta", factor=1 + 0.9e-9, index=1, time=0.25, **SMALLEST)], "corrected"),
        ([put("sigma_beta", factor=1 + 1e-8, index=1, time=0.25, **SMALLEST)], "contradicted"),
        ([put("sigma_beta", factor=1 + 1e-8, index=3, time=1.0, **SMALLEST)], "contradicted"),
        # s itself, which is printed, is refused where it is not what the closed form predicts
        ([put("sigma_beta", 2.0, index=1, time=0.25, **SMALLEST)], "contradicted"),
        # the closed form along the flow
        ([put("sigma_beta", factor=1 + 1e-8, role="networks", **FLOW)], "contradicted"),
        ([put("sigma_beta", factor=1 + 1e-8, index=2, gamma=1e-4, draw=None, role="jump")], "contradicted"),
    ],
)
def test_theorem_c_12_asks_for_the_closed_form_and_its_limit_at_the_jump(alterations, verdict):
    assert verdict_on("theorem_c_12", with_steps(1000, 1e-12), *alterations) == verdict


def test_theorem_c_12_would_be_reproduced_if_values_at_the_jumps_were_the_printed_ones():
    """As printed a singular value s is s at its jump."""
    alterations = []
    for column in ("value", "predicted"):
        alterations.append(put("sigma_beta", 2.0, index=1, time=0.25, column=column, **SMALLEST))
        alterations.append(put("sigma_beta", 1.0, index=2, time=0.5, column=column, **SMALLEST))
        alterations.append(put("sigma_beta", 0.5, index=3, time=1.0, column=column, **SMALLEST))
    assert verdict_on("theorem_c_12", *alterations) == "reproduced"


def learnt_later(index, by_share):
    """Let a singular value be learnt later at every scale, by a share of the time."""

    def alter(tables):
        table = tables["jump"]
        for _, curve in table[table["index"] == index].groupby("gamma"):
            logarithm = np.log(curve["value"].clip(lower=1e-300))
            table.loc[curve.index, "value"] = np.exp(
                np.interp(curve["time"] / (1 + by_share), curve["time"], logarithm)
            )

    return alter


@pytest.mark.parametrize("index", [1, 2, 3])
def test_a_jump_later_by_a_fiftieth_of_its_time_is_refused(index):
    assert verdict_on("jump_process", learnt_later(index, by_share=0.02)) == "contradicted"


def test_an_error_of_a_millionth_of_an_extrapolated_time_of_a_jump_would_be_refused():
    assert evaluation_on("jump_process").min_detectable_error < 1e-6


def test_a_smaller_scale_may_not_be_further_from_the_limit_away_from_the_jump():
    """The third value jumps at time 1; until then its limit is 0."""
    away = [put("sigma_beta", 0.3, index=3, time=time, **SMALLEST) for time in (0.25, 0.5)]
    assert verdict_on("jump_process", *away) == "contradicted"


def test_near_the_jump_a_smaller_scale_may_be_further_from_the_limit():
    """Times nearer than 1/4 to the jump, at time 1, do not count."""
    near = [put("sigma_beta", 0.3, index=3, time=time, **SMALLEST) for time in (0.9, 1.1)]
    _extrapolated_time, distance_shrinks = evaluation_on("jump_process", *near).judgement.checks
    assert distance_shrinks.state == "holds"
