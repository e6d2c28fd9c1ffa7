"""What claims on classification refuse: each reads tables of flows at smoke scale in which one thing is altered.

Alterations are just inside of a criterion and just beyond it. Times are log log t.
"""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.pipeline.plan.blocks import map_roles
from tests.papers.tensor_networks.plain import evaluation_on, off_prediction, put, rewrite, verdict

LAST = 3200.0
SECOND_HALF = [1600.0, LAST]  # the times recorded in it: what is at rest no longer changes between them
SLACK = 10  # the configuration's factor on bounds
BOUND = SLACK / (np.e * LAST)  # the largest lag, `limit_checks.largest_lag`
# the last time recorded before the exponent's cap, at a log t of a hundredth of the sharpness, 1e5
RECORDED = np.linspace(0, 20, 61) ** 2
EXACT = RECORDED[np.log1p(1e5 / 100) >= RECORDED].max()
ORTHOGONAL = ["diagonal", "convolutional", "decomposable"]
DRAW = {"seed": 2, "depth": 3}  # the draw that is altered, if no other is named


def put_late(quantity, value, network="diagonal", log_log_time=LAST, **where):
    """Let a quantity of one draw have a value at the last time, or at those given."""
    return put(quantity, value, log_log_time=log_log_time, network=network, **(DRAW | where))


# -- Theorems 1 and 2, Corollaries 1 to 3, equation (14): what vanishes, and losses ------------------------------------

VANISHING = pytest.mark.parametrize(
    ("claim", "quantity", "network", "depth"),
    [
        ("theorem_2", "stationarity_residual", "decomposable", 2),
        ("theorem_2", "stationarity_residual", "decomposable", 3),
        ("theorem_2", "gap_own", "decomposable", 2),
        ("theorem_2", "top_gap", "decomposable", 2),
        ("corollary_1", "gap_l2", "fully_connected", 2),
        ("corollary_1", "gap_l2", "fully_connected", 3),
        ("corollary_2", "gap_l1", "diagonal", 2),
        ("corollary_2", "stationarity_residual", "diagonal", 3),
        ("corollary_3", "gap_dft_l1", "convolutional", 2),
        ("corollary_3", "stationarity_residual", "convolutional", 3),
        ("equation_14", "layer_share_error", "general", 3),
        ("equation_14", "distance_from_push", "fully_connected", 2),
    ],
)


@VANISHING
@pytest.mark.parametrize(("share", "expected"), [(0.95, "reproduced"), (1.1, "contradicted"), (-1.1, "contradicted")])
def test_what_vanishes_may_lag_by_the_bound_on_every_draw_and_no_more(claim, quantity, network, depth, share, expected):
    assert verdict(claim, put_late(quantity, share * BOUND, network, depth=depth)) == expected


SETTLING = pytest.mark.parametrize(
    ("claim", "quantity"), [("theorem_1", "singular_residual"), ("equation_14", "misalignment")]
)


@SETTLING
@pytest.mark.parametrize(("share", "expected"), [(0.95, "reproduced"), (1.1, "contradicted")])
def test_what_settles_and_is_at_rest_may_lag_by_the_bound_and_no_more(claim, quantity, share, expected):
    assert verdict(claim, put_late(quantity, share * BOUND, "general", SECOND_HALF)) == expected


@SETTLING
def test_what_settles_beyond_the_bound_and_still_changes_is_undecided(claim, quantity):
    halfway, end = (
        put_late(quantity, share * BOUND, "general", time)
        for share, time in zip((1.1, 1.3), SECOND_HALF, strict=True)  # a change of more than a tenth
    )
    evaluated = evaluation_on(claim, halfway, end)
    assert evaluated.verdict not in ("reproduced", "contradicted")
    assert evaluated.judgement.headline.draws_undecided == 1


# a network of each claim
NETWORK = {
    "theorem_1": "general",
    "theorem_2": "decomposable",
    "corollary_1": "fully_connected",
    "corollary_2": "diagonal",
    "corollary_3": "convolutional",
    "equation_14": "general",
}
LOSS_TOLERANCE = SLACK * EXACT * np.exp(-EXACT)  # log log t / log t before the cap


@pytest.mark.parametrize("claim", ["theorem_2", "corollary_1", "corollary_2", "corollary_3"])
@pytest.mark.parametrize(("share", "expected"), [(0.95, "reproduced"), (-1.1, "contradicted"), (1.1, "contradicted")])
def test_losses_fall_like_one_over_t_before_the_cap(claim, share, expected):
    margin = 1 + share * LOSS_TOLERANCE  # over log t
    assert verdict(claim, put_late("margin", margin, NETWORK[claim], EXACT)) == expected


@pytest.mark.parametrize("claim", ["theorem_1", "corollary_1", "equation_14"])
def test_a_loss_that_may_be_above_one_before_the_cap_decides_nothing(claim):
    # with a margin of log 100 the loss of a hundred points is one; margins are over log t
    least = np.log(100) / np.expm1(EXACT)
    assert verdict(claim, put_late("margin", 0.95 * least, NETWORK[claim], EXACT)) == "undecided"


@pytest.mark.parametrize(("share", "expected"), [(0.95, "reproduced"), (-1.1, "contradicted")])
def test_parameters_grow_like_a_power_of_log_t_up_to_a_factor_of_order_one(share, expected):
    # such a factor is SLACK / log log t in the power
    assert verdict("equation_14", put_late("growth_power", 1 + share * SLACK / LAST, "general")) == expected


# -- Theorems 1 and 2, Corollaries 2 and 3: draws whose X^T r still turns ----------------------------------------------

TURNS_AT_MOST = np.degrees(BOUND)  # degrees by which X^T r turns over the second half of log log t if it is at rest
UNDER_A_PREMISE = pytest.mark.parametrize(
    ("claim", "quantity", "network"),
    [
        ("theorem_1", "singular_residual", "general"),
        ("theorem_2", "stationarity_residual", "decomposable"),
        ("corollary_2", "stationarity_residual", "diagonal"),
        ("corollary_3", "stationarity_residual", "convolutional"),
    ],
)

EACH_CLAIM_UNDER_A_PREMISE = pytest.mark.parametrize("claim", ["theorem_1", "theorem_2", "corollary_2", "corollary_3"])


def let_turn(network, share=1.1, **where):
    """Let X^T r of one draw turn by a share of what a direction at rest may."""
    return put_late("turn_of_residuals", share * TURNS_AT_MOST, network, SECOND_HALF, **where)


@UNDER_A_PREMISE
@pytest.mark.parametrize(("residual", "expected"), [(0.95, "reproduced"), (1.1, "contradicted")])
def test_a_draw_that_hardly_turns_is_at_rest_and_judged(claim, quantity, network, residual, expected):
    at_rest = let_turn(network, share=0.95)
    evaluated = evaluation_on(claim, at_rest, put_late(quantity, residual * BOUND, network, SECOND_HALF))
    assert evaluated.verdict == expected
    assert evaluated.facts["turning"] == 0


def falling_beyond_the_bound(quantity, network):
    """Let a residual end beyond the bound, having fallen by more than a tenth since halfway."""
    halfway, last = SECOND_HALF
    return put_late(quantity, 1.3 * BOUND, network, halfway), put_late(quantity, 1.1 * BOUND, network, last)


@UNDER_A_PREMISE
def test_a_draw_that_turns_and_whose_residual_falls_is_left_out(claim, quantity, network):
    evaluated = evaluation_on(claim, let_turn(network), *falling_beyond_the_bound(quantity, network))
    assert evaluated.verdict == "reproduced"
    assert evaluated.facts["turning"] == 1
    assert any(check.excluded.startswith("1 left out: $X^T r$ still turns") for check in evaluated.judgement.checks)


@UNDER_A_PREMISE
def test_a_draw_that_turns_and_whose_residual_is_within_the_bound_is_left_out(claim, quantity, network):
    small = put_late(quantity, 0.95 * BOUND, network, SECOND_HALF)
    assert evaluation_on(claim, let_turn(network), small).facts["turning"] == 1


@UNDER_A_PREMISE
def test_the_largest_turn_that_is_stated_is_of_draws_that_are_not_left_out(claim, quantity, network):
    evaluated = evaluation_on(claim, let_turn(network), *falling_beyond_the_bound(quantity, network))
    assert evaluated.facts["turned"] < TURNS_AT_MOST


@UNDER_A_PREMISE
@pytest.mark.parametrize(
    "halfway",
    [
        pytest.param(1.1, id="stays"),
        pytest.param(0.95, id="grows from within the bound"),
        pytest.param(0.9 * 1.1, id="grows by a tenth"),
        pytest.param(1.09 * 1.1, id="falls by less than a tenth"),
    ],
)
def test_a_draw_that_turns_and_whose_residual_does_not_fall_is_undecided(claim, quantity, network, halfway):
    """More time might not help it: it ends at 1.1 times the bound."""
    residuals = [
        put_late(quantity, share * BOUND, network, time)
        for share, time in zip((halfway, 1.1), SECOND_HALF, strict=True)
    ]
    evaluated = evaluation_on(claim, let_turn(network), *residuals)
    assert evaluated.verdict == "undecided"
    assert evaluated.facts["turning"] == 0
    assert "draws cannot be judged" in evaluated.reason


@pytest.mark.parametrize(
    ("claim", "quantity", "network"),
    [
        ("theorem_2", "gap_own", "decomposable"),
        ("theorem_2", "top_gap", "decomposable"),
        ("corollary_2", "gap_l1", "diagonal"),
        ("corollary_3", "gap_dft_l1", "convolutional"),
    ],
)
def test_a_draw_of_two_layers_that_turns_and_whose_gap_stays_large_is_undecided(claim, quantity, network):
    stays_large = put_late(quantity, 50 * BOUND, network, SECOND_HALF, depth=2)
    evaluated = evaluation_on(claim, let_turn(network, depth=2), stays_large)
    assert evaluated.verdict == "undecided"
    assert evaluated.facts["turning"] == 0


@UNDER_A_PREMISE
def test_a_draw_at_rest_that_fails_is_not_hidden_by_one_that_is_undecided(claim, quantity, network):
    undecided = let_turn(network), put_late(quantity, 1.1 * BOUND, network, SECOND_HALF)
    at_rest_and_fails = put_late(quantity, 5 * BOUND, network, SECOND_HALF, seed=1)
    assert verdict(claim, *undecided, at_rest_and_fails) == "contradicted"


@UNDER_A_PREMISE
def test_a_draw_at_rest_that_fails_is_not_hidden_by_one_that_is_left_out(claim, quantity, network):
    at_rest_and_fails = put_late(quantity, 1.1 * BOUND, network, SECOND_HALF, seed=1)
    assert verdict(claim, let_turn(network), at_rest_and_fails) == "contradicted"


def double_the_draws(tables):
    """Add every draw a second time, under a number larger by four: eight draws of each architecture and depth."""

    def doubled(table):
        both = pd.concat([table, table.assign(seed=table["seed"] + 4)], ignore_index=True)
        both.attrs = table.attrs
        return both

    tables |= map_roles(doubled, tables)


@EACH_CLAIM_UNDER_A_PREMISE
@pytest.mark.parametrize(
    ("turning", "left_out", "expected"),
    [
        (2, 2, "reproduced"),  # a quarter
        (3, 0, "undecided"),
    ],
)
def test_at_most_a_quarter_of_the_draws_of_an_architecture_may_be_left_out(claim, turning, left_out, expected):
    evaluated = evaluation_on(claim, double_the_draws, let_turn(NETWORK[claim], seed=list(range(turning))))
    assert evaluated.facts["turning"] == left_out
    assert evaluated.verdict == expected


@EACH_CLAIM_UNDER_A_PREMISE
@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("turning", [2, 4])
def test_nothing_is_left_out_where_half_or_all_of_the_draws_turn(claim, depth, turning):
    evaluated = evaluation_on(claim, let_turn(NETWORK[claim], depth=depth, seed=list(range(turning))))
    assert evaluated.verdict == "undecided"
    assert not any("still turns" in check.excluded for check in evaluated.judgement.checks)


@EACH_CLAIM_UNDER_A_PREMISE
def test_a_draw_whose_turn_is_nan_is_undecided_and_not_left_out(claim):
    evaluated = evaluation_on(claim, put_late("turn_of_residuals", np.nan, NETWORK[claim], SECOND_HALF))
    assert evaluated.verdict == "undecided"
    assert evaluated.facts["turning"] == 0


@pytest.mark.parametrize("claim", ["theorem_2", "corollary_2", "corollary_3"])
def test_the_loss_of_a_draw_that_turns_is_judged(claim):
    slow = put_late("margin", 1 + 1.1 * LOSS_TOLERANCE, NETWORK[claim], EXACT)
    assert verdict(claim, let_turn(NETWORK[claim]), slow) == "contradicted"


# -- the global minimum with three layers ------------------------------------------------------------------------------

# the claims that count draws above it, and of how many real networks
COUNTING = pytest.mark.parametrize(("claim", "networks"), [("theorem_2", 2), ("corollary_2", 1)])
DRAWS = 4  # of each network
AT_MINIMUM = put("quasi_norm_excess", 0.005, depth=3)  # up to a hundredth a draw counts as at the global minimum
ONE_ABOVE_MINIMUM = put_late("quasi_norm_excess", 0.02)


@COUNTING
def test_draws_at_the_global_minimum_are_not_counted_above_it(claim, networks):
    facts = evaluation_on(claim, AT_MINIMUM).facts
    assert facts["above_minimum"] == 0
    assert facts["deep"] == DRAWS * networks


@pytest.mark.parametrize("claim", ["theorem_2", "corollary_2"])
def test_draws_above_the_global_minimum_are_counted(claim):
    assert evaluation_on(claim, AT_MINIMUM, ONE_ABOVE_MINIMUM).facts["above_minimum"] == 1


@COUNTING
def test_a_draw_that_turns_is_not_counted_above_the_global_minimum(claim, networks):
    facts = evaluation_on(claim, let_turn("diagonal"), ONE_ABOVE_MINIMUM).facts
    assert facts["deep"] == DRAWS * networks - 1


def test_theorem_2_states_the_largest_gap_of_two_layers():
    # larger than any other draw's
    assert evaluation_on("theorem_2", put_late("gap_own", 0.9 * BOUND, depth=2)).facts["gap"] == pytest.approx(
        0.9 * BOUND
    )


ALL_AT_MINIMUM = put("quasi_norm_excess", 0.0, depth=3)


@pytest.mark.parametrize(("share", "expected"), [(0.95, "reproduced"), (1.1, "corrected")])
def test_the_max_margin_solution_is_as_printed_where_three_layers_reach_it(share, expected):
    # the margin at unit l_2/3 norm, (1 + excess)^(-3/2) of the largest, is then below it by that share of the bound
    excess = (1 - share * BOUND) ** (-2 / 3) - 1
    assert verdict("max_margin_solution", ALL_AT_MINIMUM, put_late("quasi_norm_excess", excess)) == expected


@pytest.mark.parametrize(
    ("quantity", "network", "depth"),
    [("gap_own", "convolutional", 2), ("gap_own", "decomposable", 2), ("stationarity_residual", "diagonal", 3)],
)
@pytest.mark.parametrize(("share", "expected"), [(0.95, "corrected"), (1.1, "contradicted")])
def test_the_correction_of_the_max_margin_solution_allows_the_lag_and_no_more(
    quantity, network, depth, share, expected
):
    assert verdict("max_margin_solution", put_late(quantity, share * BOUND, network, depth=depth)) == expected


def test_max_margin_solutions_that_all_draws_of_three_layers_reach_are_counted():
    facts = evaluation_on("max_margin_solution", ALL_AT_MINIMUM).facts
    assert facts["reached"] == 2 * DRAWS  # of two real networks
    assert facts["above_minimum"] == 0
    assert facts["lost"] == 0


def test_a_draw_that_misses_the_max_margin_solution_is_counted_with_the_margin_that_it_loses():
    facts = evaluation_on("max_margin_solution", ALL_AT_MINIMUM, put_late("quasi_norm_excess", 3.0)).facts
    assert facts["reached"] == 2 * DRAWS - 1
    assert facts["above_minimum"] == 1
    assert facts["deep"] == 2 * DRAWS
    assert facts["lost"] == pytest.approx(1 - 4 ** (-3 / 2))


# -- Remarks 2 and 3 ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize(("share", "expected"), [(0.95, "reproduced"), (1.1, "contradicted")])
def test_remark_3_refuses_a_rho_that_is_not_sparse(depth, share, expected):
    not_sparse = put_late("dense_share_rho", share * BOUND, "decomposable", depth=depth)
    assert verdict("remark_3", not_sparse) == expected


@pytest.mark.parametrize("rival", ["dense_share_beta", "dense_share_s_beta"])
def test_remark_3_is_undecided_where_another_vector_is_sparse_too(rival):
    assert verdict("remark_3", put(rival, 0.95 * BOUND, network="decomposable")) == "undecided"


def test_remark_3_states_what_the_largest_entries_of_each_vector_leave_out():
    alterations = [
        put("dense_share_beta", 0.25),
        put("dense_share_s_beta", 0.5),
        put_late("dense_share_rho", 0.5 * BOUND, "decomposable"),
    ]
    facts = evaluation_on("remark_3", *alterations).facts
    assert facts["inputs"] == 0.25
    assert facts["mapped"] == 0.5
    assert facts["value"] == pytest.approx(0.5 * BOUND)


@pytest.mark.parametrize(("share", "expected"), [(0.95, "reproduced"), (-1.1, "contradicted")])
def test_remark_2_refuses_opposed_layers_whose_loss_does_not_come_to_one(share, expected):
    tolerance = SLACK / (2 * np.e * 50)  # of |x_j| exp(-2 |x_j| t) at the last time, 50
    loss = put("loss", 1 + share * tolerance, role="opposed", seed=1, scale=1.0, time=50.0)
    assert verdict("remark_2", loss) == expected


def test_remark_2_counts_flows_from_opposed_layers():
    assert evaluation_on("remark_2").facts["stuck"] == 4 * 2  # four signals at two scales


@pytest.mark.parametrize(("share", "expected"), [(0.95, "reproduced"), (1.1, "contradicted")])
def test_remark_2_refuses_layers_that_are_not_stationary_where_another_than_the_last_is_zero(share, expected):
    residual = put("stationarity_residual", share * BOUND, log_log_time=LAST, network="convolutional", seed=2)
    assert verdict("remark_2", residual) == expected


@pytest.mark.parametrize(
    "depth",
    [
        2,  # the first layer is zero
        3,  # the middle one is
    ],
)
def test_remark_2_refuses_a_loss_that_falls_too_slowly_where_another_layer_than_the_last_is_zero(depth):
    assert verdict("remark_2", put_late("margin", 1 + 1.1 * LOSS_TOLERANCE, "diagonal", EXACT, depth=depth)) == (
        "contradicted"
    )


# -- powers of log t ---------------------------------------------------------------------------------------------------

EXPONENTS = "log_time_exponents"
ENTRY = {"network": "diagonal", "scale": 1.0, "direction": 1, "log_log_time": 14.0}  # of the points of figure 3
TOLERANCE = 0.003  # the configuration's, for the fit


@pytest.mark.parametrize(("fact", "layers"), [("shallow", 2), ("deep", 3)])
def test_powers_of_fully_connected_networks_are_one_over_the_number_of_layers(fact, layers):
    assert evaluation_on(EXPONENTS).facts[fact] == pytest.approx(1 / layers, abs=0.01)


@pytest.mark.parametrize(("error", "expected"), [(0.0029, "reproduced"), (-0.0031, "contradicted")])
def test_a_power_may_be_off_by_the_tolerance_and_no_more(error, expected):
    entry = {"network": "fully_connected", "depth": 3, "seed": 1}
    assert verdict(EXPONENTS, off_prediction("vanishing_power", error, **entry)) == expected


@pytest.mark.parametrize(("beyond", "expected"), [(-1e-4, "reproduced"), (1e-4, "contradicted")])
def test_the_uncertainty_of_a_power_adds_to_its_tolerance(beyond, expected):
    uncertain = put("power_uncertainty", 0.01, **ENTRY)
    error = TOLERANCE + 0.01 + beyond
    assert verdict(EXPONENTS, off_prediction("vanishing_power", error, **ENTRY), uncertain) == expected


@pytest.mark.parametrize(
    ("quantity", "value"),
    [
        ("remaining_distance", 0.011),  # the configuration's `settled` is 0.01
        ("phase_cosine", 0.98),  # at least 0.99 is asked for
        ("power_uncertainty", 0.021),  # the configuration's `open_at_most` is 0.02
    ],
)
def test_powers_that_have_not_settled_are_left_out(quantity, value):
    wrong = off_prediction("vanishing_power", 0.3, **ENTRY)
    assert verdict(EXPONENTS, wrong, put(quantity, value, **ENTRY)) == "reproduced"


def test_powers_that_are_not_resolved_are_left_out():
    all_draws = evaluation_on(EXPONENTS).judgement.headline.draws
    headline = evaluation_on(EXPONENTS, put("vanishing_power", np.nan, **ENTRY)).judgement.headline
    assert headline.draws == all_draws - 1
    assert "left out: below what the integrator resolves" in headline.excluded


@pytest.mark.parametrize(("count", "expected"), [(5, "reproduced"), (4, "untested")])
def test_five_powers_above_three_tenths_are_needed(count, expected):
    """Where powers are small, laws a little off cannot be told apart."""

    def keep_so_many_large_powers(tables):
        to_keep = count
        for table in tables.values():
            is_large = (table["quantity"] == "vanishing_power") & (table["predicted"] > 0.3)
            large = table.index[is_large]
            table.loc[large[to_keep:], "value"] = np.nan
            to_keep -= min(to_keep, len(large))

    assert verdict(EXPONENTS, keep_so_many_large_powers) == expected


def test_powers_are_untested_where_no_network_leaves_anything_out():
    def remove_powers(tables):
        for role, table in tables.items():
            tables[role] = table[table["quantity"] != "vanishing_power"]

    assert verdict(EXPONENTS, remove_powers) == "untested"


# -- whether limits depend on the start --------------------------------------------------------------------------------

STARTS = "limits_and_starts"
ONE_LIMIT = pytest.mark.parametrize(("network", "depth"), [("fully_connected", 3), ("diagonal", 2)])
OTHERS = ["general", "filter_3"]  # networks of two layers that are neither decomposable nor fully connected


def turn_one_start(degrees, log_log_time=SECOND_HALF, **where):
    """Let limits from all starts have one direction, but from one, whose is at an angle from it."""

    def entries(rows):
        angle = np.radians(degrees) * (rows["start"] == 3)
        return np.select([rows["index"] == 1, rows["index"] == 2], [np.cos(angle), np.sin(angle)])

    return rewrite("direction", entries, log_log_time=log_log_time, **where)


# directions up to the configuration's `degrees`, 1, count as one limit


@ONE_LIMIT
@pytest.mark.parametrize(("degrees", "expected"), [(0.9, "corrected"), (1.1, "contradicted")])
def test_starts_have_one_limit_where_problems_are_convex(network, depth, degrees, expected):
    assert verdict(STARTS, turn_one_start(degrees, network=network, depth=depth, seed=1)) == expected


@ONE_LIMIT
def test_a_second_limit_that_has_not_come_to_rest_decides_nothing(network, depth):
    problem = {"network": network, "depth": depth, "seed": 1}
    # over the second half of log log t it turns by 1.1 degrees, where half a degree counts as rest
    moving = turn_one_start(0.0, **problem), turn_one_start(1.1, LAST, **problem)
    evaluated = evaluation_on(STARTS, *moving)
    assert evaluated.corrected.headline.draws_undecided == 1
    assert evaluated.verdict not in ("corrected", "reproduced")


def test_limits_of_flows_whose_loss_does_not_fall_decide_nothing():
    at_a_saddle = put("margin", 0.0, network="fully_connected", depth=3, seed=1)
    assert verdict(STARTS, at_a_saddle) == "undecided"


def test_limits_that_agree_in_every_network_are_as_printed():
    assert verdict(STARTS, turn_one_start(0.5, network=[*ORTHOGONAL, *OTHERS])) == "reproduced"


@pytest.mark.parametrize("network", OTHERS)
@pytest.mark.parametrize(
    ("degrees", "expected"),
    [
        (1.1, "corrected"),
        (0.9, "undecided"),  # on other data there may be a second limit
    ],
)
def test_starts_have_several_limits_in_other_networks_of_two_layers(network, degrees, expected):
    assert verdict(STARTS, turn_one_start(degrees, network=network)) == expected


# a limit that turns by up to half a degree over the second half of log log t is at rest
@pytest.mark.parametrize(("turn", "expected"), [(0.4, "corrected"), (0.6, "undecided")])
def test_a_second_limit_counts_as_one_only_at_rest(turn, expected):
    halfway = turn_one_start(5.0, network="filter_3")
    end = turn_one_start(5.0 + turn, LAST, network="filter_3")
    assert verdict(STARTS, halfway, end) == expected


def test_problems_are_counted_and_those_with_several_limits():
    facts = evaluation_on(STARTS).facts
    assert facts["count"] == 8  # starts
    assert facts["deep"] == 8  # two data sets; three networks of three layers, and one of four
    assert facts["others"] == 4  # three data sets of random tensors, one of filters
    assert facts["several"] < facts["deep"]
    assert 0 < facts["several_others"] < facts["others"]


def test_all_problems_have_two_limits_where_one_start_is_at_an_angle_from_the_others():
    facts = evaluation_on(STARTS, turn_one_start(60.0)).facts
    assert facts["most"] == 2
    assert facts["several"] == facts["deep"]
    assert facts["several_others"] == facts["others"]
    assert facts["apart"] == pytest.approx(60)
    assert facts["apart_others"] == pytest.approx(60)


def test_the_share_of_starts_above_the_global_minimum_is_stated():
    # up to a hundredth a start counts as at the minimum; one of eight is above
    one_above = put("quasi_norm_excess", 0.005), put("quasi_norm_excess", 0.02, start=3)
    assert evaluation_on(STARTS, *one_above).facts["above_minimum"] == pytest.approx(1 / 8)
