"""Claims on fibres and frames refuse a draw that is off by twice what rounding or differences may leave."""

import numpy as np
import pytest

from learning_dynamics.tidy import select
from tests import support
from tests.papers.neural_collapse import altered

FIRST = {"classes": 3, "seed": 0}
ROUNDING = 2.2e-13  # a thousand units of float64
DIFFERENCES = 1e-7
BASIS = 2.2e-11  # ten units times the square of a condition number of 100
# claim, what it reads, in which rows, and the largest value that it takes
BOUNDED = [
    *[("invariance", quantity, {"index": 2}, BASIS) for quantity in ("predictions_change", "loss_change")],
    *[
        ("tangent_space", quantity, {"flow": "printed"}, ROUNDING)
        for quantity in ("image_tangency_gap", "idempotence_gap", "tangent_change")
    ],
    ("tangent_space", "curve_equation_gap", {}, DIFFERENCES),
    ("tangent_space", "curve_velocity_gap", {}, DIFFERENCES),
    *[
        ("projection_self_adjoint", quantity, {"flow": "orthogonal"}, ROUNDING)
        for quantity in ("asymmetry", "image_tangency_gap", "tangent_change")
    ],
    ("lemma_4", "velocity_gap--means", {"flow": "orthogonal"}, ROUNDING),
    ("lemma_4", "velocity_gap--means_faster", {"flow": "printed"}, ROUNDING),
    ("lemma_7", "simplex_frame_gap", {}, ROUNDING),
]
VERDICTS = {"projection_self_adjoint": "corrected", "lemma_4": "corrected"}


@pytest.fixture
def tables():
    return support.claim_tables("neural_collapse", "tangent_space")


@pytest.mark.parametrize(("claim", "quantity", "where", "bound"), BOUNDED)
def test_one_draw_beyond_its_bound_or_without_a_number_is_refused(claim, quantity, where, bound, tables):
    expected = VERDICTS.get(claim, "reproduced")
    for value, said in ((0.9 * bound, expected), (2 * bound, "refused"), (np.nan, "refused")):
        altered.put(tables, "features", quantity, value, **FIRST, **where)
        assert altered.verdict(claim, tables) == said, value


def test_a_rank_off_by_one_is_refused(tables):
    altered.put(tables, "features", "codimension", lambda rank: rank - 1, **FIRST)
    assert altered.verdict("tangent_space", tables) == "refused"


def test_a_printed_map_that_were_self_adjoint_would_need_no_correction(tables):
    altered.put(tables, "features", "asymmetry", 1e-15, flow="printed")
    assert altered.verdict("projection_self_adjoint", tables) == "reproduced"


@pytest.mark.parametrize("flow", ["orthogonal", "printed"])
def test_lemma_4_would_need_no_correction_if_it_held_under_both_maps(flow, tables):
    altered.put(tables, "features", "velocity_gap--lemma_4", 1e-15)
    assert altered.verdict("lemma_4", tables) == "reproduced"
    altered.put(tables, "features", "velocity_gap--lemma_4", 0.01, flow=flow, **FIRST)
    altered.put(tables, "features", "velocity_gap--means", 0.01, flow="orthogonal", **FIRST)
    assert altered.verdict("lemma_4", tables) == "refused"


@pytest.mark.parametrize(
    ("change", "expected"), [(0.03, "reproduced"), (0.1, "refused"), (-0.1, "refused"), (np.nan, "refused")]
)
def test_the_order_of_a_remainder_is_seen_in_its_second_decimal(change, expected, tables):
    altered.put(
        tables, "features", "step_remainder", lambda left: left * 2.0**-change, flow="printed", index=3, **FIRST
    )
    assert altered.verdict("lemma_2", tables) == expected


@pytest.mark.parametrize(("change", "expected"), [(5e-8, "reproduced"), (2e-7, "refused"), (np.nan, "refused")])
def test_slopes_are_held_to_the_error_of_differences(change, expected, tables):
    # the entry with the largest slope of its draw, against which errors are counted
    rows = altered.rows_of(tables["features"], "slope", **FIRST)
    index = tables["features"].loc[tables["features"].loc[rows, "value"].abs().idxmax(), "index"]
    altered.put(tables, "features", "slope", lambda slope: slope * (1 + change), index=index, **FIRST)
    assert altered.verdict("lemma_3", tables) == expected


def test_the_numbers_in_the_text_are_extremes_over_draws(tables):
    found = support.evaluation("neural_collapse", "projection_self_adjoint", tables).facts
    features = tables["features"]
    assert found["printed"] == select(features, "asymmetry", flow="printed")["value"].max()
    assert found["adjoint"] == select(features, "adjoint_gradient_change")["value"].max()
    assert found["moved"] == select(features, "printed_gradient_change")["value"].min()
    assert found["normal"] == select(features, "gradient_normal_share")["value"].min()
    off = support.evaluation("neural_collapse", "lemma_4", tables).facts
    for flow in ("orthogonal", "printed"):
        assert off[f"off_{flow}"] == select(features, "velocity_gap--lemma_4", flow=flow)["value"].min(), flow
    left = [select(features, "step_remainder", flow="orthogonal", index=index)["value"].to_numpy() for index in (2, 3)]
    orders = np.median(np.log2(left[0] / left[1]))
    assert support.evaluation("neural_collapse", "lemma_2", tables).facts["orthogonal"] == pytest.approx(orders)
