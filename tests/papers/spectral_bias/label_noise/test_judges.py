"""What the claim on the process of appendix D accepts and refuses: means beyond their errors, rates of either sign."""

import numpy as np
import pytest

from tests.papers.spectral_bias.doctored import evaluation_on, put, verdict_on
from tests.support import named_after_its_call


@named_after_its_call
def away(quantity, errors, beyond, index=None):
    """Let a mean at the end be its prediction and so many standard errors, of one data set."""

    def alter(tables):
        table = tables["ensembles"][0]
        at = (table["quantity"] == quantity) & (table["seed"] == 0) & (table["time"] == table["time"].max())
        if index is not None:
            at &= table["index"] == index
        assert at.any()
        predicted, error = table.loc[at, "predicted"], table.loc[at, "error"]
        table.loc[at, "value"] = predicted * (1 + beyond) + errors * error

    return alter


def exact(tables):
    """Let every mean be its prediction, at the end and before."""
    for table in tables["ensembles"]:
        known = table["quantity"].isin(["output_second_moment", "row_growth"])
        table.loc[known, "value"] = table.loc[known, "predicted"]


@pytest.mark.parametrize(
    ("alteration", "verdict"),
    [
        (away("output_second_moment", 4.9, 0.0), "reproduced"),
        (away("output_second_moment", 5.0, 0.1), "contradicted"),
        (away("output_second_moment", -5.0, -0.1), "contradicted"),
        (away("row_growth", 4.9, 0.0, index=3), "reproduced"),
        (away("row_growth", 5.0, 0.1, index=3), "contradicted"),
        (put("gain_outside", 0.9e-9, role="ensembles"), "reproduced"),
        (put("gain_outside", 1.1e-9, role="ensembles"), "contradicted"),
    ],
)
def test_means_are_those_of_the_process(alteration, verdict):
    assert verdict_on("label_noise_sde", exact, alteration) == verdict


def rate(role, quantity, value, half, index):
    ends = {"value": value, "lower": value - half, "upper": value + half}
    return [put(quantity, number, column=column, role=role, index=index) for column, number in ends.items()]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        (rate("weighted", "angle_rate", -0.02, 0.01, 0), "reproduced"),
        (rate("weighted", "angle_rate", -0.02, 0.03, 0), "undecided"),
        (rate("weighted", "angle_rate", 0.02, 0.01, 0), "contradicted"),
        (rate("five", "direction_rate", 0.02, 0.01, 1), "reproduced"),
        (rate("five", "direction_rate", 0.02, 0.03, 1), "undecided"),
        (rate("five", "direction_rate", -0.02, 0.01, 1), "contradicted"),
        (rate("five", "direction_rate", -0.02, 0.01, 2), "reproduced"),  # of another direction
    ],
)
def test_rates_have_their_sign(alterations, verdict):
    assert verdict_on("label_noise_sde", exact, *alterations) == verdict


def test_rates_are_shown_with_their_sign():
    altered = [*rate("weighted", "angle_rate", -0.25, 0.01, 0), *rate("five", "direction_rate", 0.125, 0.01, 1)]
    facts = evaluation_on("label_noise_sde", exact, *altered).facts
    assert (facts["angle"], facts["growth"]) == (0.25, 0.125)
    assert 0 < facts["steps"] < 0.01
    np.testing.assert_allclose(facts["outside"], 0, atol=1e-9)


@pytest.mark.parametrize(("outside", "verdict"), [(True, "contradicted"), (False, "reproduced")])
def test_noise_outside_the_span_of_the_data_is_told_where_there_is_an_outside(outside, verdict):
    """With as many samples as inputs nothing is outside the span, and such noise would change nothing."""

    def fill_the_span(tables):
        for table in tables["ensembles"]:
            table["samples"] = table["samples"] if outside else table["inputs"]

    (told,) = [
        state
        for phrase, state in evaluation_on("label_noise_sde", exact, fill_the_span).rivals.items()
        if phrase.startswith("noise that moves what is outside")
    ]
    assert told == verdict
