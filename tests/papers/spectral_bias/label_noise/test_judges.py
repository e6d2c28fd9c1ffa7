"""The claim on the process of appendix D: which means and rates it accepts and refuses, and its facts.

The process is dW = D dB a^T, da = W^T D dB, with a diagonal matrix D of weights D_j above zero. One with zeros is in
the tables, in the role `one_dimension`: the claim is not about it, and says its rate alone. Verdicts are listed in
`doctored`.
"""

import numpy as np
import pytest

from tests.papers.spectral_bias.doctored import evaluation_on, put, put_rate, settings_of_role, verdict_on
from tests.support import named_after_its_call

CLAIM = "label_noise_sde"


def means_as_predicted(tables):
    """Let every mean be its prediction, on all data sets and at all times."""
    for table in tables["ensembles"]:
        is_mean = table["quantity"].isin(["output_second_moment", "row_growth"])
        table.loc[is_mean, "value"] = table.loc[is_mean, "predicted"]


@named_after_its_call
def mean_off_by(quantity, *, standard_errors, share=0.0, index=None):
    """Return an alteration: a mean at the end is off its prediction, by standard errors and a share of the prediction.

    The mean is that of the first data set of the first table; with `index` that of one row of V^T W alone.
    """

    def alter(tables):
        table = tables["ensembles"][0]
        at_end = (table["seed"] == 0) & (table["time"] == table["time"].max())
        moved = at_end & (table["quantity"] == quantity)
        if index is not None:
            moved &= table["index"] == index
        assert moved.any()
        predicted, error = table.loc[moved, "predicted"], table.loc[moved, "error"]
        table.loc[moved, "value"] = predicted * (1 + share) + standard_errors * error

    return alter


# allowed are five standard errors, and for finite steps and the drift together less than a tenth of the prediction
@pytest.mark.parametrize(
    ("alteration", "verdict"),
    [
        (mean_off_by("output_second_moment", standard_errors=4.9), "reproduced"),
        (mean_off_by("output_second_moment", standard_errors=5.0, share=0.1), "contradicted"),
        (mean_off_by("output_second_moment", standard_errors=-5.0, share=-0.1), "contradicted"),
        (mean_off_by("row_growth", index=3, standard_errors=4.9), "reproduced"),
        (mean_off_by("row_growth", index=3, standard_errors=5.0, share=0.1), "contradicted"),
    ],
)
def test_means_must_be_those_of_the_process(alteration, verdict):
    """E|a|^2, and the growth of the mean square of each row of V^T W, with the data X = U D V^T."""
    assert verdict_on(CLAIM, means_as_predicted, alteration) == verdict


@pytest.mark.parametrize(("gain", "verdict"), [(0.9e-9, "reproduced"), (1.1e-9, "contradicted")])
def test_the_part_of_w_outside_the_data_must_stay_up_to_rounding_of_1e_9(gain, verdict):
    assert verdict_on(CLAIM, means_as_predicted, put("gain_outside", gain, role="ensembles")) == verdict


# each of the following returns an alteration that sets a measured growth rate, and its interval


def ratio_rate(value, *, half=0.01):
    """Set the rate of the second direction over the first, with unequal weights."""
    return put_rate("ratio_rate", value, half, role="weighted")


def scale_rate(value, *, half=0.01):
    """Set the rate of |W|, the first Lyapunov exponent, with five unequal weights."""
    return put_rate("direction_rate", value, half, role="five", index=1)


def second_rate(value, *, half=0.01):
    """Set the second Lyapunov exponent, with five unequal weights."""
    return put_rate("direction_rate", value, half, role="five", index=2)


def one_weight_rate(value, *, half=0.01):
    """Set the rate of |a| where one weight alone is not zero, that of one dimension."""
    return put_rate("direction_rate", value, half, role="one_dimension", index=1, inputs=1)


@pytest.mark.parametrize(
    ("alteration", "verdict"),
    [
        pytest.param(ratio_rate(-0.02), "reproduced", id="the ratio decays"),
        pytest.param(ratio_rate(-0.02, half=0.03), "undecided", id="the ratio may grow"),
        pytest.param(ratio_rate(0.02), "contradicted", id="the ratio grows"),
        pytest.param(scale_rate(0.02), "reproduced", id="the scale grows"),
        pytest.param(scale_rate(0.02, half=0.03), "undecided", id="the scale may shrink"),
        pytest.param(scale_rate(-0.02), "contradicted", id="the scale shrinks"),
        pytest.param(second_rate(-0.02), "reproduced", id="the second direction alone shrinks"),
    ],
)
def test_the_ratio_must_decay_and_the_scale_grow(alteration, verdict):
    assert verdict_on(CLAIM, means_as_predicted, alteration) == verdict


def test_facts_are_the_rates_of_the_ratio_of_the_scale_and_of_one_dimension():
    alterations = ratio_rate(-0.25), scale_rate(0.125), one_weight_rate(-0.5)
    facts = evaluation_on(CLAIM, means_as_predicted, *alterations).facts
    assert facts["ratio_decay_rate"] == 0.25
    assert facts["norm_growth_rate"] == 0.125
    assert facts["growth_rate_in_one_dimension"] == -0.5


# -- rivals: the verdict that each would have got, `reproduced` where the rates are the rival's ------------------------

# phrases of rivals
LARGEST_WEIGHT_ALONE = "the largest $D_j$ alone sets the rates, as if the others were zero"
ROOT_MEAN_SQUARE = "paths that grow as their root mean square"
OUTSIDE_MOVES = "noise that moves what is outside the span of the data as well"
WEIGHTS = np.array(settings_of_role(CLAIM, "five")["weights"])
GROWTH_OF_ROOT_MEAN_SQUARE = np.sqrt(np.sum(WEIGHTS**4)) / 2  # E|a|^2 grows at twice that rate


def verdict_on_rival(rival, *alterations):
    """Return the verdict of a rival where means are as predicted."""
    return evaluation_on(CLAIM, means_as_predicted, *alterations).rivals[rival]


# allowed are twice the half-width of the interval, 0.02
@pytest.mark.parametrize(
    ("ratio", "growth", "verdict"),
    [
        (-0.019, -1 / 2 + 0.019, "reproduced"),
        (-0.021, -1 / 2 + 0.019, "contradicted"),
        (-0.019, -1 / 2 - 0.021, "contradicted"),
        (-0.021, -1 / 2 - 0.021, "contradicted"),
    ],
)
def test_by_the_largest_weight_alone_the_ratio_stays_and_the_scale_shrinks(ratio, growth, verdict):
    """The largest weight is one: W + a and W - a are exp(B - t / 2) and exp(-B - t / 2), both at the rate -1/2."""
    assert verdict_on_rival(LARGEST_WEIGHT_ALONE, ratio_rate(ratio), scale_rate(growth)) == verdict


@pytest.mark.parametrize(
    ("growth", "verdict"),
    [
        (GROWTH_OF_ROOT_MEAN_SQUARE + 0.019, "reproduced"),
        (GROWTH_OF_ROOT_MEAN_SQUARE + 0.021, "contradicted"),
        (GROWTH_OF_ROOT_MEAN_SQUARE - 0.021, "contradicted"),
    ],
)
def test_as_their_root_mean_square_paths_grow_at_half_the_rate_of_the_mean_square(growth, verdict):
    """The mean square E|a|^2 grows at the root of the sum of D_j^4."""
    assert verdict_on_rival(ROOT_MEAN_SQUARE, scale_rate(growth)) == verdict


def with_as_many_samples_as_inputs(tables):
    """Let the data span all inputs, so that nothing is outside, and noise there changes nothing."""
    for table in tables["ensembles"]:
        table["samples"] = table["inputs"]


def test_the_rival_of_noise_outside_the_data_is_refused_where_there_is_an_outside():
    assert verdict_on_rival(OUTSIDE_MOVES) == "contradicted"


def test_the_rival_of_noise_outside_the_data_has_the_claims_verdict_where_nothing_is_outside():
    assert verdict_on_rival(OUTSIDE_MOVES, with_as_many_samples_as_inputs) == "reproduced"


# -- facts -------------------------------------------------------------------------------------------------------------


def test_the_largest_error_of_finite_steps_is_a_fact():
    def recursions_are_too_low(tables):
        """Let E|a|^2 of the recursion be below that of the process by a thousandth, on one data set by three."""
        for table in tables["ensembles"]:
            process = table.loc[table["quantity"] == "output_second_moment"].set_index(["seed", "time"])["predicted"]
            of_recursion = table["quantity"] == "output_second_moment_of_recursion"
            for row, seed, time in table.loc[of_recursion, ["seed", "time"]].itertuples():
                is_largest = table is tables["ensembles"][0] and seed == 1
                share = 0.003 if is_largest else 0.001
                table.loc[row, "value"] = (1 - share) * process[seed, time]

    facts = evaluation_on(CLAIM, means_as_predicted, recursions_are_too_low).facts
    assert facts["largest_error_of_steps"] == pytest.approx(0.003)


def test_the_change_outside_the_data_is_a_fact():
    largest = put("gain_outside", 2e-10, role="ensembles")  # elsewhere it is rounding
    assert evaluation_on(CLAIM, means_as_predicted, largest).facts["largest_gain_outside"] == 2e-10
