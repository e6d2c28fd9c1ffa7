"""What the claims on vanishing scales accept and refuse."""

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from tests.papers.spectral_bias.doctored import evaluation_on, everywhere, put, verdict_on


def powers(tables):
    """Let every draw's time be that of a growth at the rate 1 / 2, from units in which all is one."""
    table = tables["flow"]
    for name, value in (("first_gradient", 0.25), ("beta_norm", 1.0)):
        table.loc[table["quantity"] == name, "value"] = value
    rows = table["quantity"] == "time_to_loss"
    table.loc[rows, "value"] = 50 + 2 * np.log(1 / table.loc[rows, "gamma"])
    table.loc[rows, "predicted"] = 200 * table.loc[rows, "gamma"] ** -0.5


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([everywhere("first_gradient", 0.2525)], "contradicted"),
        ([put("time_to_loss", times=1.01, gamma=1e-16)], "contradicted"),
        # what lies above the largest scale of the slope is left alone, but not the bound
        ([put("time_to_loss", times=1.5, gamma=1e-2)], "reproduced"),
        ([put("time_to_loss", 201.0, gamma=1.0)], "contradicted"),
        ([put("time_to_loss", 199.0, gamma=1.0)], "reproduced"),
    ],
)
def test_the_time_to_a_loss(alterations, verdict):
    assert verdict_on("time_to_loss", powers, *alterations) == verdict


def test_one_scale_has_no_slope():
    with pytest.raises(ProjectError, match="a slope needs two"):
        verdict_on("time_to_loss", largest_gamma=1e-16)


def test_the_times_that_are_shown():
    found = evaluation_on("time_to_loss", powers)
    # from the scale 1 to 1e-16
    assert found.facts["times"] == pytest.approx((50 + 32 * np.log(10)) / 50)
    assert found.facts["bounds"] == pytest.approx(1e8)
    assert found.facts["worst"] < 1e-12


def halved_parts(tables):
    """Let the part across beta be half as large at each scale as at the larger one before it."""
    table = tables["flow"]
    rows = table["quantity"] == "part_across"
    scales = sorted(table["gamma"].unique(), reverse=True)
    table.loc[rows, "value"] = [2.0 ** -scales.index(gamma) for gamma in table.loc[rows, "gamma"]]
    table.loc[table["quantity"] == "distance_bound", "value"] = 0.0


def longest_time_but_one():
    """Return the time of `powers` at the scale 1e-12."""
    return 50 + 2 * np.log(1e12)


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([], "reproduced"),
        # one draw's time at the smallest scale, just above that at the scale before and just below
        ([put("time_to_loss", longest_time_but_one() * (1 + 1e-3), gamma=1e-16)], "reproduced"),
        ([put("time_to_loss", longest_time_but_one() * (1 - 1e-3), gamma=1e-16)], "contradicted"),
        ([put("time_to_loss", np.nan, gamma=1e-16)], "undecided"),
        # of the scales of these tables 1e-8 is the fourth and 1e-12 the fifth
        ([put("part_across", 2.0**-3 * (1 - 1e-3), gamma=1e-12)], "reproduced"),
        ([put("part_across", 2.0**-3 * (1 + 1e-3), gamma=1e-12)], "contradicted"),
        # what is open at the end hides a difference
        ([put("part_across", 2.0**-3 * (1 - 1e-3), gamma=1e-12), everywhere("distance_bound", 0.01)], "contradicted"),
    ],
)
def test_the_trade_off(alterations, verdict):
    assert verdict_on("trade_off", powers, halved_parts, *alterations) == verdict


def test_a_time_or_a_bias_that_does_not_depend_on_the_scale_is_no_trade_off():
    alterations = powers, halved_parts
    assert verdict_on("trade_off", *alterations, everywhere("time_to_loss", 50.0)) == "contradicted"
    assert verdict_on("trade_off", *alterations, everywhere("part_across", 0.1)) == "contradicted"


def test_the_factors_of_the_trade_off_that_are_shown():
    found = evaluation_on("trade_off", powers, halved_parts)
    # from the scale 1e-2 to 1e-4
    assert found.facts["least_growth"] == pytest.approx((50 + 8 * np.log(10)) / (50 + 4 * np.log(10)))
    assert found.facts["largest_left"] == pytest.approx(0.5)


def rich(tables):
    """Let potentials, norms and parameters be those of one singular value of one, and a scale that vanishes."""
    table = tables["flow"]
    ones = {"nuclear_norm": 3.0, "frobenius_norm": 2.0, "least_singular_value": 1.0, "increase_elsewhere": 0.1}
    for name, value in (ones | {"distance_bound": 0.0, "half_square": 3.0}).items():
        table.loc[table["quantity"] == name, "value"] = value
    for name in ("potential", "printed_potential"):
        rows = table["quantity"] == name
        table.loc[rows, "value"] = 1.5 * np.log(1 / table.loc[rows, "gamma"])


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # the slope's error is allowed ten times the largest scale, 1e-3; the hyperbolic entropy is twice the potential
        ([everywhere("potential", times=1 + 0.9e-3)], "reproduced"),
        ([everywhere("potential", times=1 + 1.1e-3)], "contradicted"),
        ([everywhere("potential", times=1 - 1.1e-3)], "contradicted"),
        ([put("potential", times=1.1, gamma=1e-8)], "contradicted"),
        # what lies above the largest scale of the slope is left alone
        ([put("potential", times=1.1, gamma=1e-2)], "reproduced"),
        # the potential of Theorem 3.2 (a) is no hyperbolic entropy
        ([everywhere("printed_potential", times=2.0)], "reproduced"),
        ([everywhere("frobenius_norm", 3.0)], "undecided"),
    ],
)
def test_the_hyperbolic_entropy(alterations, verdict):
    assert verdict_on("potential_asymptotics", rich, *alterations) == verdict


def test_the_slopes_of_the_potentials_are_facts():
    facts = evaluation_on("potential_asymptotics", rich, everywhere("printed_potential", times=0.5)).facts
    assert (facts["of_theorem"], facts["of_dynamics"]) == pytest.approx((0.25, 0.5))
    assert facts["worst"] < 1e-12


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # six inputs, a scale of 1e-8, a norm of 3: 2e-8 of it
        ([put("half_square", 3 * (1 + 1.9e-8), gamma=1e-8)], "reproduced"),
        ([put("half_square", 3 * (1 - 2.1e-8), gamma=1e-8)], "contradicted"),
        ([put("half_square", 3 * (1 + 1e-6), gamma=1e-8), put("distance_bound", 1e-7, gamma=1e-8)], "reproduced"),
        ([put("increase_elsewhere", 0.0, gamma=1e-8)], "reproduced"),
        ([put("increase_elsewhere", -1.1e-6, gamma=1e-8)], "contradicted"),
        ([everywhere("frobenius_norm", 3.0)], "undecided"),
    ],
)
def test_the_rich_limit(alterations, verdict):
    assert verdict_on("nuclear_norm_limit", rich, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([everywhere("largest_sine", 0.9e-2, role="unfed")], "undecided"),  # columns align, fed or not
        ([put("largest_sine", 1.1e-2, gamma=1e-16, role="flow")], "contradicted"),
        ([put("part_across", times=1.01, gamma=1e-16)], "contradicted"),
        ([put("part_across", times=1.5, gamma=1.0)], "corrected"),
        ([put("components_along", times=-1.0, gamma=1e-12, index=1)], "contradicted"),
        ([put("sigma_w1", times=1 + 1e-3, gamma=1.0, index=2)], "contradicted"),
        ([put("sigma_w1", times=1 + 1e-3, gamma=1.0, index=1)], "contradicted"),
        ([put("sigma_w1", times=1.1, gamma=1.0, index=3)], "corrected"),
        ([everywhere("beta_norm", times=1.01)], "contradicted"),
    ],
)
def test_columns_align(alterations, verdict):
    assert verdict_on("column_alignment", *alterations) == verdict


@pytest.mark.parametrize(("share", "undecided"), [(3e-7, (1, 0)), (1e-8, (1, 1))])
def test_a_share_too_small_for_the_smallest_scale_leaves_the_alignment_open(share, undecided):
    def shrink(given):
        flow = given["flow"]
        rows = (flow["quantity"] == "components_along") & (flow["index"] == 1) & (flow["seed"] == 0)
        flow.loc[rows, ["value", "predicted"]] = share

    found = evaluation_on("column_alignment", shrink).corrected
    assert (found.headline.draws_undecided, found.checks[2].draws_undecided) == undecided


def test_columns_that_keep_the_share_they_start_with_are_another_prediction():
    # draws in which both shares are the same leave nothing to tell
    def alike(given):
        flow = given["flow"]
        shares = flow.loc[flow["quantity"] == "components_along", "predicted"].to_numpy()
        flow.loc[flow["quantity"] == "shares_of_beta_star", "value"] = shares

    assert verdict_on("column_alignment", alike) == "undecided"
