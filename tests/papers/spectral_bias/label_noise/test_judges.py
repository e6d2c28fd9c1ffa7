"""The claim on the process of appendix D: which means and rates it accepts and refuses, and what it states.

Its correction leaves out matrices D with zeros, of which one is in the tables: where it does not fail, all holds as
printed.
"""

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
        (off("output_second_moment", standard_errors=4.9), "corrected"),
        (off("output_second_moment", standard_errors=5.0, share=0.1), "contradicted"),
        (off("output_second_moment", standard_errors=-5.0, share=-0.1), "contradicted"),
        (off("row_growth", index=3, standard_errors=4.9), "corrected"),
        (off("row_growth", index=3, standard_errors=5.0, share=0.1), "contradicted"),
    ],
)
def test_means_are_those_of_the_process(alteration, verdict):
    assert verdict_on(CLAIM, exact, alteration) == verdict


@pytest.mark.parametrize(("gain", "verdict"), [(0.9e-9, "corrected"), (1.1e-9, "contradicted")])
def test_the_part_outside_the_data_stays_but_for_rounding(gain, verdict):
    assert verdict_on(CLAIM, exact, put("gain_outside", gain, role="ensembles")) == verdict


def angle_rate(value, half_width):
    """Return alterations of the rate at which the angle grows, with unequal weights, and of its interval."""
    return interval("weighted", "angle_rate", 0, value, half_width)


def direction_rate(index, value, half_width):
    """Return alterations of the index-th Lyapunov exponent with five unequal weights, and of its interval."""
    return interval("five", "direction_rate", index, value, half_width)


def rate_alone(value, half_width):
    """Return alterations of the rate of the row that moves alone, that of one dimension, and of its interval."""
    return interval("one_dimension", "direction_rate", 1, value, half_width, inputs=1)


def interval(role, quantity, index, value, half_width, **where):
    columns = {"value": value, "lower": value - half_width, "upper": value + half_width}
    return [put(quantity, number, column=column, role=role, index=index, **where) for column, number in columns.items()]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        pytest.param(angle_rate(-0.02, 0.01), "corrected", id="the angle closes"),
        pytest.param(angle_rate(-0.02, 0.03), "undecided", id="the angle may open"),
        pytest.param(angle_rate(0.02, 0.01), "contradicted", id="the angle opens"),
        pytest.param(direction_rate(1, 0.02, 0.01), "corrected", id="the scale grows"),
        pytest.param(direction_rate(1, 0.02, 0.03), "undecided", id="the scale may shrink"),
        pytest.param(direction_rate(1, -0.02, 0.01), "contradicted", id="the scale shrinks"),
        pytest.param(direction_rate(2, -0.02, 0.01), "corrected", id="the second direction alone shrinks"),
        pytest.param(rate_alone(-0.02, 0.01), "corrected", id="one weight alone shrinks"),
        pytest.param(rate_alone(-0.02, 0.03), "undecided", id="one weight alone may grow"),
        pytest.param(rate_alone(0.02, 0.01), "reproduced", id="one weight alone grows"),
    ],
)
def test_the_angle_closes_and_the_scale_grows(alterations, verdict):
    assert verdict_on(CLAIM, exact, *alterations) == verdict


def test_rates_are_facts_at_which_the_angle_closes_and_the_scale_grows():
    alterations = *angle_rate(-0.25, 0.01), *direction_rate(1, 0.125, 0.01), *rate_alone(-0.5, 0.01)
    facts = evaluation_on(CLAIM, exact, *alterations).facts
    assert (facts["angle"], facts["growth"], facts["alone"]) == (0.25, 0.125, -0.5)


def what_holds_of(rival, *alterations):
    """Return the verdict on a rival where a table has been given rates: reproduced where they are the rival's."""
    return evaluation_on(CLAIM, exact, *alterations).rivals[rival]


# a rival's rates may be off by twice the half-width of the interval
@pytest.mark.parametrize(("angle", "verdict"), [(-0.019, "reproduced"), (-0.021, "contradicted")])
@pytest.mark.parametrize(("growth", "off"), [(-0.5 + 0.019, False), (-0.5 - 0.021, True)])
def test_rates_of_the_largest_weight_alone_are_a_rivals(angle, verdict, growth, off):
    rival = "the largest $D_j$ alone sets the rates, as if the others were zero"
    found = what_holds_of(rival, *angle_rate(angle, 0.01), *direction_rate(1, growth, 0.01))
    assert found == ("contradicted" if off else verdict)


@pytest.mark.parametrize(("off", "verdict"), [(0.019, "reproduced"), (0.021, "contradicted")])
def test_rates_of_the_root_mean_square_are_a_rivals(off, verdict):
    rival, weights = "paths that grow as their root mean square", np.array([1.0, 0.8, 0.6, 0.4, 0.3])
    growth = np.sqrt(np.sum(weights**4)) / 2
    assert what_holds_of(rival, *direction_rate(1, growth + off, 0.01), *rate_alone(0.5, 0.01)) == verdict
    assert what_holds_of(rival, *direction_rate(1, growth, 0.01), *rate_alone(0.5 - off, 0.01)) == verdict


def test_the_error_of_finite_steps_is_a_fact():
    assert 0 < evaluation_on(CLAIM, exact).facts["steps"] < 0.01


def test_the_change_outside_the_data_is_a_fact():
    np.testing.assert_allclose(evaluation_on(CLAIM, exact).facts["outside"], 0, atol=1e-9)


def with_as_many_samples_as_inputs(tables):
    """Let the data span all inputs, so that nothing is outside, and noise there changes nothing."""
    for table in tables["ensembles"]:
        table["samples"] = table["inputs"]


@pytest.mark.parametrize(
    ("alterations", "verdict"), [((exact,), "contradicted"), ((exact, with_as_many_samples_as_inputs), "corrected")]
)
def test_noise_outside_the_span_of_the_data_is_refused_where_there_is_an_outside(alterations, verdict):
    rivals = evaluation_on(CLAIM, *alterations).rivals
    assert rivals["noise that moves what is outside the span of the data as well"] == verdict
