"""What the claims on the flow's limit accept and refuse: each bound met just inside, and missed by little."""

import pytest

from tests.papers.spectral_bias.doctored import everywhere, put, verdict_on, with_steps

# a thousand steps at 1e-12 each: errors up to 1e-9 are the integrator's
EXACT = with_steps(1000, 1e-12)
NOTHING_OPEN = [EXACT, *(everywhere(name, 0.0, phase="limit") for name in ("distance_bound", "sigma_w1_left_open"))]
WELL = [EXACT, everywhere("condition_of_Z1", 10.0)]
LIMIT = {"phase": "limit"}


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("distance_over_its_bound", 0.99)], "reproduced"),
        ([put("distance_over_its_bound", 1.01)], "contradicted"),
        ([put("bound_at_end", 0.9e-6)], "reproduced"),
        ([put("bound_at_end", 1.1e-6)], "contradicted"),
        ([everywhere("distance_over_its_bound", 0.49)], "undecided"),  # half the way would pass as well
        ([everywhere("inverse_condition_of_X", 1.0)], "undecided"),  # the other eigenvalue would pass as well
    ],
)
def test_theorem_3_1_i(alterations, verdict):
    assert verdict_on("theorem_3_1_i", EXACT, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("distance", 0.9e-9, **LIMIT)], "reproduced"),
        ([put("distance", 1.1e-9, **LIMIT)], "contradicted"),
        ([put("distance", 1.01e-8, **LIMIT), put("distance_bound", 1e-8, **LIMIT)], "reproduced"),
        ([put("distance", 1.2e-8, **LIMIT), put("distance_bound", 1e-8, **LIMIT)], "contradicted"),
        ([everywhere("distance", 0.0, **LIMIT)], "undecided"),  # unequal rows would end there too
    ],
)
def test_theorem_3_1_ii(alterations, verdict):
    arrived = everywhere("distance", 0.0, role="flows", **LIMIT)
    assert verdict_on("theorem_3_1_ii", *NOTHING_OPEN, arrived, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("gradient_W1", 0.9e-8)], "reproduced"),
        ([put("gradient_W1", 1.1e-8)], "contradicted"),
        ([put("gradient_W2", 0.9e-7)], "reproduced"),
        ([put("gradient_W2", 1.1e-7)], "contradicted"),
        ([put("increase", 0.0)], "reproduced"),
        ([put("increase", -1e-9)], "contradicted"),
        ([everywhere("gradient_W1_without_log_det", 0.0)], "undecided"),
        ([everywhere("gradient_W1_twice_log_det", 0.0)], "undecided"),
        ([everywhere("gradient_W2_elsewhere", 0.0)], "undecided"),
        ([everywhere("increase_without_log_det", 1.0)], "undecided"),
        ([everywhere("increase_twice_log_det", 1.0)], "undecided"),
    ],
)
def test_theorem_3_1_iii(alterations, verdict):
    assert verdict_on("theorem_3_1_iii", *WELL, *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("sigma_w1", times=1 + 0.8e-9, index=1, **LIMIT)], "reproduced"),
        ([put("sigma_w1", times=1 - 1.2e-9, index=1, **LIMIT)], "contradicted"),
        ([put("sigma_w1", times=1 + 1e-6, index=6, **LIMIT)], "contradicted"),
        ([put("sigma_w1", times=1 + 1e-8, **LIMIT), put("sigma_w1_left_open", 1.1e-8, **LIMIT)], "reproduced"),
        # the second layer is allowed the ratio of the layers squared, which is 2.42 on this draw
        ([put("sigma_w2", times=1 + 2.3e-9, index=1, **LIMIT)], "reproduced"),
        ([put("sigma_w2", times=1 + 2.6e-9, index=1, **LIMIT)], "contradicted"),
    ],
)
def test_corollary_3_1(alterations, verdict):
    assert verdict_on("corollary_3_1", *NOTHING_OPEN, *alterations) == verdict
