"""What the claim on discrete descent accepts and refuses: each bound met just inside, and missed by little.

Steps are a' = a + eta W^T R and R' = R - eta X^T X (W W^T + |a|^2) R - eta^2 (a^T W^T R) X^T X R, with layers W and a
and R = X^T (Y - X W a). As printed the recursion has two misprints and the claim fails, so that the verdict is
`corrected` where all is well.

The run `whitened` is on whitened data, the run `others` on ill-conditioned data. The quantities `output_step` and
`gradient_step` are the distances of a' and R' from the corrected recursion. `put` alters one draw, `everywhere` all;
see `doctored`, which also lists the verdicts.
"""

import numpy as np
import pytest

from tests.papers.spectral_bias.doctored import everywhere, put, settings_of_role, verdict_on

ALLOWED = 100 * np.finfo(float).eps  # in a step: a hundred roundings
STEPS = settings_of_role("discrete_descent", "whitened")["steps"]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([put("output_step", 0.9 * ALLOWED, role="whitened")], "corrected"),
        ([put("output_step", 1.1 * ALLOWED, role="whitened")], "contradicted"),
        ([put("output_step", 1.1 * ALLOWED, role="others")], "contradicted"),
        ([put("gradient_step", 0.9 * ALLOWED, role="others")], "corrected"),
        ([put("gradient_step", 1.1 * ALLOWED, role="others")], "contradicted"),
    ],
)
def test_every_step_is_that_of_the_corrected_recursion(alterations, verdict):
    assert verdict_on("discrete_descent", *alterations) == verdict


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # what is allowed in a step adds up over all steps
        ([put("output_turning", 0.9 * STEPS * ALLOWED, role="whitened")], "corrected"),
        ([put("output_turning", 1.1 * STEPS * ALLOWED, role="whitened")], "contradicted"),
        ([put("layer_turning", 0.9 * STEPS * ALLOWED, role="whitened")], "corrected"),
        ([put("layer_turning", 1.1 * STEPS * ALLOWED, role="whitened")], "contradicted"),
        # R shrinks, and rounds relative to its start: allowed is the root
        ([put("gradient_turning", 0.95 * ALLOWED**0.5, role="whitened")], "corrected"),
        ([put("gradient_turning", 1.05 * ALLOWED**0.5, role="whitened")], "contradicted"),
    ],
)
def test_on_whitened_data_no_direction_turns(alterations, verdict):
    """The sine of the angle from R(0) is zero, up to rounding, for a, R and W - W(0)."""
    assert verdict_on("discrete_descent", *alterations) == verdict


# norms are relative to their largest, and times count steps
@pytest.mark.parametrize(("change", "verdict"), [(0.9 * ALLOWED, "corrected"), (1.1 * ALLOWED, "contradicted")])
def test_on_whitened_data_the_norm_of_a_may_not_shrink(change, verdict):
    shrinks_in_the_last_step = [
        put("output_norm", 1.0, role="whitened", time=STEPS - 1.0),
        put("output_norm", 1.0 - change, role="whitened", time=float(STEPS)),
    ]
    assert verdict_on("discrete_descent", *shrinks_in_the_last_step) == verdict


@pytest.mark.parametrize(("change", "verdict"), [(0.9 * ALLOWED, "corrected"), (1.1 * ALLOWED, "contradicted")])
def test_on_whitened_data_the_norm_of_r_may_not_grow(change, verdict):
    grows_in_the_last_step = [
        put("gradient_norm", 0.0, role="whitened", time=STEPS - 1.0),
        put("gradient_norm", change, role="whitened", time=float(STEPS)),
    ]
    assert verdict_on("discrete_descent", *grows_in_the_last_step) == verdict


@pytest.mark.parametrize(("second_share", "verdict"), [(0.049, "corrected"), (0.051, "contradicted")])
def test_the_largest_singular_value_must_end_with_95_percent_of_the_squares(second_share, verdict):
    """The second of five has the rest, and the others are zero."""
    shares = [1 - second_share, second_share, 0.0, 0.0, 0.0]
    ends = [
        put("sigma_w1", share**0.5, role="whitened", time=float(STEPS), index=index)
        for index, share in enumerate(shares, start=1)
    ]
    assert verdict_on("discrete_descent", *ends) == verdict


@pytest.mark.parametrize(
    "alterations",
    [
        pytest.param([everywhere("gradient_step_first", 0.0)], id="no term of second order"),
        pytest.param([everywhere("gradient_step_printed", 0.0)], id="the printed term of second order"),
        pytest.param(
            [everywhere(f"{name}_turning", 0.0, role="others") for name in ("output", "gradient", "layer")],
            id="directions that stay whatever the data",
        ),
    ],
)
def test_the_claim_is_undecided_where_a_rival_fits_as_well(alterations):
    assert verdict_on("discrete_descent", *alterations) == "undecided"


def test_the_printed_recursion_with_a_residual_that_grows_would_be_accepted():
    fits = [everywhere("output_step_printed", 0.0), everywhere("gradient_step_printed", 0.0)]
    grows = [everywhere("gradient_norm", time / STEPS, role="whitened", time=float(time)) for time in range(STEPS + 1)]
    assert verdict_on("discrete_descent", *fits, *grows) == "reproduced"
