"""The claim on the process of appendix D: which means and rates it accepts and refuses, and what it states."""

import numpy as np
import pytest

from tests.papers.spectral_bias.doctored import evaluation_on, put, verdict_on
from tests.support import named_after_its_call

CLAIM = "label_noise_sde"


def exact(tables):
    """Let every mean be its prediction, at all times."""
    for table in tables["ensembles"]:
        is_mean = table["quantity"].isin(["output_second_moment", "row_growth"])
        table.loc[is_mean, "value"] = table.loc[is_mean, "predicted"]


@named_after_its_call
def off(quantity, *, standard_errors, share=0.0, index=None):
    """Move a mean of one data set at the end from its prediction, by standard errors and a share of the prediction."""

    def alter(tables):
        table = tables["ensembles"][0]
        rows = (table["quantity"] == quantity) & (table["seed"] == 0) & (table["time"] == table["time"].max())
        if index is not None:
            rows &= table["index"] == index
        assert rows.any()
        predicted, error = table.loc[rows, "predicted"], table.loc[rows, "error"]
        table.loc[rows, "value"] = predicted * (1 + share) + standard_errors * error

    return alter


# allowed are five standard errors, and for finite steps and the drift together less than a tenth of the prediction
@pytest.mark.parametrize(
    ("alteration", "verdict"),
    [
        (off("output_second_moment", standard_errors=4.9), "reproduced"),
        (off("output_second_moment", standard_errors=5.0, share=0.1), "contradicted"),
        (off("output_second_moment", standard_errors=-5.0, share=-0.1), "contradicted"),
        (off("row_growth", index=3, standard_errors=4.9), "reproduced"),
        (off("row_growth", index=3, standard_errors=5.0, share=0.1), "contradicted"),
    ],
)
def test_means_are_those_of_the_process(alteration, verdict):
    assert verdict_on(CLAIM, exact, alteration) == verdict


@pytest.mark.parametrize(("gain", "verdict"), [(0.9e-9, "reproduced"), (1.1e-9, "contradicted")])
def test_the_part_outside_the_data_stays_but_for_rounding(gain, verdict):
    assert verdict_on(CLAIM, exact, put("gain_outside", gain, role="ensembles")) == verdict


def angle_rate(value, half_width):
    """Return alterations of the rate at which the angle grows, with unequal weights, and of its interval."""
    return interval("weighted", "angle_rate", 0, value, half_width)


def direction_rate(index, value, half_width):
    """Return alterations of the index-th Lyapunov exponent with five unequal weights, and of its interval."""
    return interval("five", "direction_rate", index, value, half_width)


def interval(role, quantity, index, value, half_width):
    columns = {"value": value, "lower": value - half_width, "upper": value + half_width}
    return [put(quantity, number, column=column, role=role, index=index) for column, number in columns.items()]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        pytest.param(angle_rate(-0.02, 0.01), "reproduced", id="the angle closes"),
        pytest.param(angle_rate(-0.02, 0.03), "undecided", id="the angle may open"),
        pytest.param(angle_rate(0.02, 0.01), "contradicted", id="the angle opens"),
        pytest.param(direction_rate(1, 0.02, 0.01), "reproduced", id="the scale grows"),
        pytest.param(direction_rate(1, 0.02, 0.03), "undecided", id="the scale may shrink"),
        pytest.param(direction_rate(1, -0.02, 0.01), "contradicted", id="the scale shrinks"),
        pytest.param(direction_rate(2, -0.02, 0.01), "reproduced", id="the second direction alone shrinks"),
    ],
)
def test_the_angle_closes_and_the_scale_grows(alterations, verdict):
    assert verdict_on(CLAIM, exact, *alterations) == verdict


def test_rates_are_facts_at_which_the_angle_closes_and_the_scale_grows():
    facts = evaluation_on(CLAIM, exact, *angle_rate(-0.25, 0.01), *direction_rate(1, 0.125, 0.01)).facts
    assert (facts["angle"], facts["growth"]) == (0.25, 0.125)


def test_the_error_of_finite_steps_is_a_fact():
    assert 0 < evaluation_on(CLAIM, exact).facts["steps"] < 0.01


def test_the_change_outside_the_data_is_a_fact():
    np.testing.assert_allclose(evaluation_on(CLAIM, exact).facts["outside"], 0, atol=1e-9)


def with_as_many_samples_as_inputs(tables):
    """Let the data span all inputs, so that nothing is outside, and noise there changes nothing."""
    for table in tables["ensembles"]:
        table["samples"] = table["inputs"]


@pytest.mark.parametrize(
    ("alterations", "verdict"), [((exact,), "contradicted"), ((exact, with_as_many_samples_as_inputs), "reproduced")]
)
def test_noise_outside_the_span_of_the_data_is_refused_where_there_is_an_outside(alterations, verdict):
    rivals = evaluation_on(CLAIM, *alterations).rivals
    assert rivals["noise that moves what is outside the span of the data as well"] == verdict
