"""What claims on classification refuse: each reads tables of flows at smoke scale in which one thing is altered.

Alterations are just inside of a criterion and just beyond it: `put` and the like return an alteration, which `verdict`
and `evaluation_on` apply to copies of a claim's tables. Times are log log t. X^T r is the sum of all points x_i with
the residuals of the exponential loss as weights; the theorems assume that it converges in direction.
"""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.pipeline.plan.blocks import map_roles
from tests.papers.tensor_networks.plain import (
    claim_setting,
    evaluation_on,
    off_prediction,
    put,
    rewrite,
    run_settings,
    verdict,
)

RUN = run_settings("two_layers")  # other runs of random layers have the same times and the same cap
LAST = RUN["last"] * 2 ** RUN["doublings"]  # after the time `last` the recorded times double
SECOND_HALF = [LAST / 2, LAST]  # the times recorded in it: what is at rest no longer changes between them
SLACK = claim_setting("theorem_2", "slack")  # the factor on bounds, of every claim
DRAWS = 4  # of each network at each depth: the data sets of `separable` at smoke scale
BOUND = SLACK / (np.e * LAST)  # the largest lag, `log_time_checks.largest_lag`
# the last time recorded before the exponent's cap, at a log t of a hundredth of the sharpness
RECORDED = np.linspace(0, np.sqrt(RUN["last"]), RUN["records"]) ** 2
EXACT = RECORDED[np.log1p(RUN["integration"]["sharpness"] / 100) >= RECORDED].max()
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
    """Limits of the flow's direction: gaps are of the margin to the largest in a norm, residuals of their equations.

    Theorem 2 and Corollaries 2 and 3 name stationary points of a norm-like function, and with two layers the largest
    margin in the l1 norm, of the networks' singular coordinates; Corollary 1 the largest margin in the l2 norm. By (14)
    all layers grow alike, and the coefficients of a fully connected network tend to the direction of -X^T r.
    """
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
    halfway, last = SECOND_HALF
    evaluated = evaluation_on(
        claim,
        put_late(quantity, 1.1 * BOUND, "general", halfway),
        put_late(quantity, 1.3 * BOUND, "general", last),  # a change of more than a tenth
    )
    assert evaluated.verdict == "undecided"
    assert evaluated.judgement.headline.draws_undecided == 1


# a network that the claim is on
NETWORK_OF_CLAIM = {
    "theorem_1": "general",
    "theorem_2": "decomposable",
    "corollary_1": "fully_connected",
    "corollary_2": "diagonal",
    "corollary_3": "convolutional",
    "equation_14": "general",
}
# the least margin of a loss that counts as vanished, SLACK, over log t at the last time before the cap
VANISHED_LOSS = SLACK * np.exp(-EXACT)


@pytest.mark.parametrize("claim", ["theorem_2", "corollary_2", "corollary_3"])
@pytest.mark.parametrize(("share", "expected"), [(1.05, "reproduced"), (0.95, "contradicted")])
def test_a_loss_has_vanished_before_the_cap_if_its_least_margin_exceeds_a_number_of_order_one(claim, share, expected):
    margin = share * VANISHED_LOSS  # over log t
    assert verdict(claim, put_late("margin", margin, NETWORK_OF_CLAIM[claim], EXACT)) == expected


def test_theorem_2_states_the_least_power_of_t_in_the_loss():
    slow = put_late("margin", 0.5, NETWORK_OF_CLAIM["theorem_2"], EXACT)  # over log t; all others are near one
    assert evaluation_on("theorem_2", slow).facts["least_power"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("claim", "share", "expected"),
    [
        ("theorem_1", 0.95, "undecided"),
        ("theorem_1", 1.05, "reproduced"),
        ("equation_14", 0.95, "undecided"),
        ("equation_14", 1.05, "reproduced"),
        ("corollary_1", 0.95, "undecided"),
        ("corollary_1", 1.05, "reproduced"),
    ],
)
def test_a_loss_that_may_be_above_one_before_the_cap_decides_nothing(claim, share, expected):
    # with a margin of log 100 the loss of a hundred points is one; margins are over log t
    least = np.log(100) / np.expm1(EXACT)
    assert verdict(claim, put_late("margin", share * least, NETWORK_OF_CLAIM[claim], EXACT)) == expected


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
    """Let X^T r of one draw turn by a share of what a direction at rest may; by the default it still turns."""
    return put_late("turn_of_residuals", share * TURNS_AT_MOST, network, SECOND_HALF, **where)


@UNDER_A_PREMISE
@pytest.mark.parametrize(("residual", "expected"), [(0.95, "reproduced"), (1.1, "contradicted")])
def test_a_draw_that_hardly_turns_is_at_rest_and_judged(claim, quantity, network, residual, expected):
    at_rest = let_turn(network, share=0.95)
    evaluated = evaluation_on(claim, at_rest, put_late(quantity, residual * BOUND, network, SECOND_HALF))
    assert evaluated.verdict == expected
    assert evaluated.facts["left_out"] == 0


def falling_beyond_the_bound(quantity, network):
    """Let a residual end beyond the bound, having fallen by more than a tenth since halfway."""
    halfway, last = SECOND_HALF
    return put_late(quantity, 1.3 * BOUND, network, halfway), put_late(quantity, 1.1 * BOUND, network, last)


@UNDER_A_PREMISE
def test_a_draw_that_turns_and_whose_residual_falls_is_left_out(claim, quantity, network):
    evaluated = evaluation_on(claim, let_turn(network), *falling_beyond_the_bound(quantity, network))
    assert evaluated.verdict == "reproduced"
    assert evaluated.facts["left_out"] == 1
    (excluded,) = [check.excluded for check in evaluated.judgement.checks if check.excluded]
    assert excluded.startswith("1 left out: $X^T r$ still turns")


@UNDER_A_PREMISE
def test_a_draw_that_turns_and_whose_residual_is_within_the_bound_is_left_out(claim, quantity, network):
    small = put_late(quantity, 0.95 * BOUND, network, SECOND_HALF)
    assert evaluation_on(claim, let_turn(network), small).facts["left_out"] == 1


@UNDER_A_PREMISE
def test_the_largest_turn_that_is_stated_is_of_draws_that_are_not_left_out(claim, quantity, network):
    # half of what a draw at rest may turn is more than any other draw turns
    at_rest = let_turn(network, share=0.5, seed=1)
    evaluated = evaluation_on(claim, let_turn(network), at_rest, *falling_beyond_the_bound(quantity, network))
    assert evaluated.facts["largest_turn"] == pytest.approx(0.5 * TURNS_AT_MOST)


@UNDER_A_PREMISE
@pytest.mark.parametrize(
    "share_halfway",
    [
        pytest.param(1.1, id="stays"),
        pytest.param(0.95, id="grows from within the bound"),
        pytest.param(0.9 * 1.1, id="grows by a ninth"),
        pytest.param(1.09 * 1.1, id="falls by less than a tenth"),
    ],
)
def test_a_draw_that_turns_and_whose_residual_does_not_fall_is_undecided(claim, quantity, network, share_halfway):
    """More time might not help it: it ends at 1.1 times the bound, and has not fallen by a tenth since halfway."""
    halfway, last = SECOND_HALF
    residual_halfway = put_late(quantity, share_halfway * BOUND, network, halfway)
    residual_at_last = put_late(quantity, 1.1 * BOUND, network, last)
    evaluated = evaluation_on(claim, let_turn(network), residual_halfway, residual_at_last)
    assert evaluated.verdict == "undecided"
    assert evaluated.facts["left_out"] == 0
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
    stays_large = put_late(quantity, 1.1 * BOUND, network, SECOND_HALF, depth=2)
    evaluated = evaluation_on(claim, let_turn(network, depth=2), stays_large)
    assert evaluated.verdict == "undecided"
    assert evaluated.facts["left_out"] == 0


@UNDER_A_PREMISE
def test_a_draw_at_rest_that_fails_is_not_hidden_by_one_that_is_undecided(claim, quantity, network):
    undecided = let_turn(network), put_late(quantity, 1.1 * BOUND, network, SECOND_HALF)
    at_rest_and_fails = put_late(quantity, 1.1 * BOUND, network, SECOND_HALF, seed=1)
    assert verdict(claim, *undecided, at_rest_and_fails) == "contradicted"


@UNDER_A_PREMISE
def test_a_draw_at_rest_that_fails_is_not_hidden_by_one_that_is_left_out(claim, quantity, network):
    at_rest_and_fails = put_late(quantity, 1.1 * BOUND, network, SECOND_HALF, seed=1)
    assert verdict(claim, let_turn(network), at_rest_and_fails) == "contradicted"


def double_the_draws(tables):
    """Add every draw a second time, under a number of its own: eight draws of each architecture and depth."""

    def doubled(table):
        both = pd.concat([table, table.assign(seed=table["seed"] + DRAWS)], ignore_index=True)
        both.attrs = table.attrs
        return both

    tables |= map_roles(doubled, tables)


@EACH_CLAIM_UNDER_A_PREMISE
@pytest.mark.parametrize(
    ("turning", "left_out", "expected"),
    [
        pytest.param(2, 2, "reproduced", id="a quarter"),
        pytest.param(3, 0, "undecided", id="more"),
    ],
)
def test_at_most_a_quarter_of_the_draws_of_an_architecture_may_be_left_out(claim, turning, left_out, expected):
    evaluated = evaluation_on(claim, double_the_draws, let_turn(NETWORK_OF_CLAIM[claim], seed=list(range(turning))))
    assert evaluated.facts["left_out"] == left_out
    assert evaluated.verdict == expected


@EACH_CLAIM_UNDER_A_PREMISE
@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("turning", [2, 4])
def test_nothing_is_left_out_where_half_or_all_of_the_draws_turn(claim, depth, turning):
    evaluated = evaluation_on(claim, let_turn(NETWORK_OF_CLAIM[claim], depth=depth, seed=list(range(turning))))
    assert evaluated.verdict == "undecided"
    assert not any("still turns" in check.excluded for check in evaluated.judgement.checks)


@EACH_CLAIM_UNDER_A_PREMISE
def test_a_draw_whose_turn_is_nan_is_undecided_and_not_left_out(claim):
    evaluated = evaluation_on(claim, put_late("turn_of_residuals", np.nan, NETWORK_OF_CLAIM[claim], SECOND_HALF))
    assert evaluated.verdict == "undecided"
    assert evaluated.facts["left_out"] == 0


@pytest.mark.parametrize("claim", ["theorem_2", "corollary_2", "corollary_3"])
def test_the_loss_of_a_draw_that_turns_is_judged(claim):
    not_vanished = put_late("margin", 0.95 * VANISHED_LOSS, NETWORK_OF_CLAIM[claim], EXACT)
    assert verdict(claim, let_turn(NETWORK_OF_CLAIM[claim]), not_vanished) == "contradicted"


# -- the global minimum with three layers ------------------------------------------------------------------------------

# the claims that count draws above it, and of how many real networks
COUNTING = pytest.mark.parametrize(("claim", "networks"), [("theorem_2", 2), ("corollary_2", 1)])
# up to a hundredth a draw counts as at the global minimum
AT_MINIMUM = put("quasi_norm_excess", 0.0099, depth=3)
ONE_ABOVE_MINIMUM = put_late("quasi_norm_excess", 0.0101)


@COUNTING
def test_draws_at_the_global_minimum_are_not_counted_above_it(claim, networks):
    facts = evaluation_on(claim, AT_MINIMUM).facts
    assert facts["above_minimum"] == 0
    assert facts["three_layer_draws"] == DRAWS * networks


@pytest.mark.parametrize("claim", ["theorem_2", "corollary_2"])
def test_draws_above_the_global_minimum_are_counted(claim):
    assert evaluation_on(claim, AT_MINIMUM, ONE_ABOVE_MINIMUM).facts["above_minimum"] == 1


@COUNTING
def test_a_draw_that_turns_is_not_counted_above_the_global_minimum(claim, networks):
    facts = evaluation_on(claim, let_turn("diagonal"), ONE_ABOVE_MINIMUM).facts
    assert facts["three_layer_draws"] == DRAWS * networks - 1


def test_theorem_2_states_what_is_allowed_at_the_last_time():
    assert evaluation_on("theorem_2").facts["allowed"] == pytest.approx(BOUND)


def test_theorem_2_states_the_largest_gap_of_two_layers():
    largest_gap = 0.9 * BOUND  # larger than any other draw's
    facts = evaluation_on("theorem_2", put_late("gap_own", largest_gap, depth=2)).facts
    assert facts["largest_gap"] == pytest.approx(largest_gap)


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
    assert facts["at_minimum"] == 2 * DRAWS  # of two real networks
    assert facts["above_minimum"] == 0
    assert facts["largest_margin_lost"] == 0


def test_a_draw_that_misses_the_max_margin_solution_is_counted():
    """With the share of the largest margin that it loses: 1 - (1 + excess)^(-3/2)."""
    excess = 3.0
    facts = evaluation_on("max_margin_solution", ALL_AT_MINIMUM, put_late("quasi_norm_excess", excess)).facts
    assert facts["at_minimum"] == 2 * DRAWS - 1
    assert facts["above_minimum"] == 1
    assert facts["three_layer_draws"] == 2 * DRAWS
    assert facts["largest_margin_lost"] == pytest.approx(1 - (1 + excess) ** (-3 / 2))


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
    assert facts["median_share_of_z"] == 0.25
    assert facts["median_share_of_tz"] == 0.5
    assert facts["value"] == pytest.approx(0.5 * BOUND)


@pytest.mark.parametrize(("share", "expected"), [(0.95, "reproduced"), (-1.1, "contradicted")])
def test_remark_2_refuses_opposed_layers_whose_loss_does_not_come_to_one(share, expected):
    end = run_settings("opposed")["integration"]["horizon"]
    tolerance = SLACK / (2 * np.e * end)  # |x_j| exp(-2 |x_j| t) is 1 / (2 e t) at most, whatever |x_j|
    loss = put("loss", 1 + share * tolerance, role="opposed", seed=1, scale=1.0, time=end)
    assert verdict("remark_2", loss) == expected


def test_remark_2_counts_flows_from_opposed_layers():
    def remove_one_flow(tables):
        opposed = tables["opposed"]
        tables["opposed"] = opposed[~((opposed["seed"] == 1) & (opposed["scale"] == 1.0))]

    signals, scales = 4, 2
    assert evaluation_on("remark_2", remove_one_flow).facts["opposed_flows"] == signals * scales - 1


@pytest.mark.parametrize(("share", "expected"), [(0.95, "reproduced"), (1.1, "contradicted")])
def test_remark_2_refuses_layers_that_are_not_stationary(share, expected):
    """By Remark 2 another layer than the last may be zero at the start."""
    residual = put("stationarity_residual", share * BOUND, log_log_time=LAST, network="convolutional", seed=2)
    assert verdict("remark_2", residual) == expected


@pytest.mark.parametrize(
    "depth", [pytest.param(2, id="the first layer is zero"), pytest.param(3, id="the middle layer is zero")]
)
def test_remark_2_refuses_a_loss_that_has_not_vanished(depth):
    not_vanished = put_late("margin", 0.95 * VANISHED_LOSS, "diagonal", EXACT, depth=depth)
    assert verdict("remark_2", not_vanished) == "contradicted"


# -- powers of log t ---------------------------------------------------------------------------------------------------

EXPONENTS = "log_time_exponents"
ENTRY = {"network": "diagonal", "scale": 1.0, "direction": 1, "log_log_time": 14.0}  # of the points of figure 3
TOLERANCE = claim_setting(EXPONENTS, "tolerance")  # for the fit


@pytest.mark.parametrize(("fact", "layers"), [("median_power_of_two_layers", 2), ("median_power_of_three_layers", 3)])
def test_the_median_power_of_fully_connected_networks_is_stated_for_each_depth(fact, layers):
    # both are powers that can be judged; one draw far off does not move the median
    powers = put("vanishing_power", 0.41, network="fully_connected", depth=layers)
    far_off = put("vanishing_power", 0.9, network="fully_connected", depth=layers, seed=1)
    assert evaluation_on(EXPONENTS, powers, far_off).facts[fact] == 0.41


@pytest.mark.parametrize(("share", "expected"), [(0.97, "reproduced"), (-1.03, "contradicted")])
def test_a_power_may_be_off_by_the_tolerance_and_no_more(share, expected):
    entry = {"network": "fully_connected", "depth": 3, "seed": 1}
    assert verdict(EXPONENTS, off_prediction("vanishing_power", share * TOLERANCE, **entry)) == expected


@pytest.mark.parametrize(("beyond", "expected"), [(-1e-4, "reproduced"), (1e-4, "contradicted")])
def test_the_uncertainty_of_a_power_adds_to_its_tolerance(beyond, expected):
    uncertain = put("power_uncertainty", 0.01, **ENTRY)
    error = TOLERANCE + 0.01 + beyond
    assert verdict(EXPONENTS, off_prediction("vanishing_power", error, **ENTRY), uncertain) == expected


SETTLED, OPEN_AT_MOST = claim_setting(EXPONENTS, "settled"), claim_setting(EXPONENTS, "open_at_most")


@pytest.mark.parametrize(
    ("quantity", "value", "expected"),
    [
        ("remaining_distance", 0.9 * SETTLED, "contradicted"),
        ("remaining_distance", 1.1 * SETTLED, "reproduced"),
        ("phase_cosine", 0.991, "contradicted"),  # at least 0.99 is asked for
        ("phase_cosine", 0.989, "reproduced"),
        ("power_uncertainty", 0.9 * OPEN_AT_MOST, "contradicted"),
        ("power_uncertainty", 1.1 * OPEN_AT_MOST, "reproduced"),
    ],
)
def test_a_wrong_power_contradicts_the_claim_unless_it_has_not_settled(quantity, value, expected):
    """A power that has not settled is left out."""
    wrong = off_prediction("vanishing_power", 0.3, **ENTRY)  # a hundred tolerances, and ten uncertainties
    assert verdict(EXPONENTS, wrong, put(quantity, value, **ENTRY)) == expected


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
DEGREES = claim_setting(STARTS, "degrees")  # directions up to so far apart count as one limit


def turn_one_start(degrees, log_log_time=SECOND_HALF, **where):
    """Let limits from all starts have one direction, except for one start: its limit is at an angle from the others."""

    def entries(rows):
        angle = np.radians(degrees) * (rows["start"] == 3)
        return np.select([rows["index"] == 1, rows["index"] == 2], [np.cos(angle), np.sin(angle)])

    return rewrite("direction", entries, log_log_time=log_log_time, **where)


@ONE_LIMIT
@pytest.mark.parametrize(("share", "expected"), [(0.9, "corrected"), (1.1, "contradicted")])
def test_starts_have_one_limit_where_problems_are_convex(network, depth, share, expected):
    assert verdict(STARTS, turn_one_start(share * DEGREES, network=network, depth=depth, seed=1)) == expected


@ONE_LIMIT
def test_a_second_limit_that_has_not_come_to_rest_decides_nothing(network, depth):
    problem = {"network": network, "depth": depth, "seed": 1}
    # over the second half of log log t it turns by as much, where half of `DEGREES` counts as rest
    moving = turn_one_start(0.0, **problem), turn_one_start(1.1 * DEGREES, LAST, **problem)
    evaluated = evaluation_on(STARTS, *moving)
    assert evaluated.corrected.headline.draws_undecided == 1
    assert evaluated.verdict == "undecided"


def test_limits_of_flows_whose_loss_does_not_fall_decide_nothing():
    at_a_saddle = put("margin", 0.0, network="fully_connected", depth=3, seed=1)
    assert verdict(STARTS, at_a_saddle) == "undecided"


def test_limits_that_agree_in_every_network_are_as_printed():
    assert verdict(STARTS, turn_one_start(0.9 * DEGREES, network=[*ORTHOGONAL, *OTHERS])) == "reproduced"


@pytest.mark.parametrize("network", OTHERS)
@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (1.1, "corrected"),
        (0.9, "undecided"),  # on other data there may be a second limit
    ],
)
def test_starts_have_several_limits_in_other_networks_of_two_layers(network, share, expected):
    assert verdict(STARTS, turn_one_start(share * DEGREES, network=network)) == expected


# a limit that turns by up to half of `DEGREES` over the second half of log log t is at rest
@pytest.mark.parametrize(("share", "expected"), [(0.45, "corrected"), (0.55, "undecided")])
def test_a_second_limit_counts_as_one_only_at_rest(share, expected):
    apart = 5 * DEGREES  # a second limit both halfway and at the end
    halfway = turn_one_start(apart, network="filter_3")
    end = turn_one_start(apart + share * DEGREES, LAST, network="filter_3")
    assert verdict(STARTS, halfway, end) == expected


N_STARTS = run_settings("starts")["starts"]
FAR_APART = 60.0  # degrees


def test_problems_are_counted_and_those_with_several_limits():
    """A problem is a data set with a network; only networks of three layers and more, and `OTHERS`, are counted."""
    several = turn_one_start(FAR_APART, network="diagonal", depth=3), turn_one_start(FAR_APART, network="filter_3")
    facts = evaluation_on(STARTS, turn_one_start(0.0), *several).facts
    assert facts["starts_of_each"] == N_STARTS
    assert facts["deep_problems"] == 2 * (3 + 1)  # two data sets; three networks of three layers, and one of four
    assert facts["deep_with_several_limits"] == 2  # both data sets of the diagonal network
    assert facts["other_problems"] == 3 + 1  # three data sets of random tensors, one of filters
    assert facts["others_with_several_limits"] == 1  # that of filters


def test_all_problems_have_two_limits_where_one_start_is_at_an_angle_from_the_others():
    facts = evaluation_on(STARTS, turn_one_start(FAR_APART)).facts
    assert facts["most_limits"] == 2
    assert facts["deep_with_several_limits"] == facts["deep_problems"]
    assert facts["others_with_several_limits"] == facts["other_problems"]
    assert facts["largest_angle"] == pytest.approx(FAR_APART)
    assert facts["largest_angle_of_others"] == pytest.approx(FAR_APART)


def test_the_share_of_starts_above_the_global_minimum_is_stated():
    # up to a hundredth a start counts as at the minimum
    one_above = put("quasi_norm_excess", 0.0099), put("quasi_norm_excess", 0.0101, start=3)
    assert evaluation_on(STARTS, *one_above).facts["above_minimum"] == pytest.approx(1 / N_STARTS)
