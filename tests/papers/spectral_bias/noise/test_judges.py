"""What the claims on the noise-driven process accept and refuse."""

import numpy as np
import pytest
from scipy.special import hyperu

from tests.papers.spectral_bias.doctored import evaluation_on, put, verdict_on
from tests.support import claim_tables, named_after_its_call


def rate(quantity, index, inputs, value, half=0.01, role="exponents"):
    """Let a growth rate be measured as this, with an interval of this half-width."""
    where = {"index": index, "inputs": inputs, "role": role}
    ends = {"value": value, "lower": value - half, "upper": value + half}
    return [put(quantity, number, column=column, **where) for column, number in ends.items()]


@named_after_its_call
def mean_of(quantity, role, value, half, at=None):
    """Let the mean of a quantity over paths be measured as this, at one recorded time or at all."""

    def alter(tables):
        table = tables[role]
        rows = (table["quantity"] == quantity) & (table["statistic"] == "mean")
        if at is not None:
            rows &= (table["time"] - at).abs() < 1e-6
        assert rows.any()
        for column, number in (("value", value), ("lower", value - half), ("upper", value + half)):
            table.loc[rows, column] = number

    return alter


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([], "corrected"),
        (rate("direction_rate", 2, 8, -0.2), "undecided"),  # as printed, but for five dimensions, where it is open
        (rate("direction_rate", 2, 2, 0.02), "contradicted"),
        (rate("direction_rate", 2, 8, 0.009), "undecided"),  # open
        (rate("direction_rate", 2, 3, -0.3), "contradicted"),  # falls from two dimensions to three
        (rate("direction_rate", 1, 5, -0.02), "contradicted"),
        (rate("direction_rate", 1, 3, 0.5), "contradicted"),  # not the rate derived
        (rate("direction_rate", 1, 1, 0.02), "contradicted"),  # grows in one dimension
        (rate("angle_rate", 0, 8, 0.02), "contradicted"),
    ],
)
def test_signs_of_the_exponents(alterations, verdict):
    assert verdict_on("noise_low_rank", *alterations) == verdict


def test_the_signs_that_are_shown():
    found = evaluation_on(
        "noise_low_rank",
        *rate("direction_rate", 2, 2, -0.2),
        *rate("direction_rate", 2, 5, 0.001),
        *rate("direction_rate", 2, 8, 0.2),
    ).facts
    assert (found["decay"], found["grow"], found["open"]) == ("2 to 3", "8", "; open for 5")
    assert (found["judged"], found["between"]) == ("2 to 3, 8", "5")


def test_nothing_is_said_of_open_signs_where_none_is():
    found = evaluation_on("noise_low_rank", *(part for d in (2, 3, 5, 8) for part in rate("direction_rate", 2, d, 0.2)))
    assert found.facts["open"] == ""


MOMENTS = [
    alteration
    for role, inputs in (("plane", 2), ("five", 5))
    for alteration in (
        mean_of("hidden_square", role, np.cosh(np.sqrt(inputs)), 0.01, 1.0),
        mean_of("output_square", role, np.sinh(np.sqrt(inputs)) / np.sqrt(inputs), 0.01, 1.0),
    )
]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # the plane: intervals of 0.01 and 0.014 at two standard errors, twice as much at four, and the scheme's bias
        ([mean_of("hidden_square", "plane", np.cosh(np.sqrt(2)) + 0.03, 0.01, 1.0)], "reproduced"),
        ([mean_of("hidden_square", "plane", np.cosh(np.sqrt(2)) + 0.15, 0.01, 1.0)], "contradicted"),
        ([mean_of("output_square", "five", np.sinh(np.sqrt(5)) / np.sqrt(5) * 1.3, 0.01, 1.0)], "contradicted"),
        ([mean_of("output_square", "five", np.sinh(np.sqrt(5)) / np.sqrt(5), 9.0, 1.0)], "undecided"),
    ],
)
def test_second_moments(alterations, verdict):
    assert verdict_on("proposition_4_1_a", *MOMENTS, *alterations) == verdict


GROWING = [
    mean_of(f"power_of_{layer}_{power}", "five", value, 0.1, at)
    for layer in ("W", "a")
    for power in ("0.1", "0.5", "1")
    for at, value in ((1.0, 2.0), (2.0, 3.0))
]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([mean_of("power_of_W_0.1", "five", 1.9, 0.1, 2.0)], "undecided"),
        ([mean_of("power_of_a_1", "five", 1.0, 0.1, 2.0)], "contradicted"),
        (rate("direction_rate", 1, 5, 0.5), "contradicted"),
        (rate("direction_rate", 1, 8, -0.02), "contradicted"),
        (rate("direction_rate", 1, 5, 0.235, half=0.3), "undecided"),
    ],
)
def test_every_moment_grows(alterations, verdict):
    assert verdict_on("proposition_4_1_b", *GROWING, *alterations) == verdict


def test_the_gap_in_the_proof():
    """At this power the proof's constant vanishes in five dimensions."""
    root, gap = 5**0.5, evaluation_on("proposition_4_1_b").facts["gap"]
    assert root - (1 - gap) * (root + 1) ** 2 / (2 * root) == pytest.approx(0.0, abs=1e-12)


# lambda_2 for d = 2, where lambda_1 = 0: the claim's formula for their sum, at p = d
SECOND_OF_THE_PLANE = -hyperu(2, 3 / 2, 1 / 2) / hyperu(1, 3 / 2, 1 / 2) / 2


def second_rate_of_the_plane(off, scheme=0.0):
    """Let lambda_2 for d = 2, about -0.2374, be measured off by this, with an interval of 0.01 to each side."""
    measured = SECOND_OF_THE_PLANE + off
    return [*rate("difference_between_steps", 0, 2, scheme), *rate("direction_rate", 2, 2, measured)]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        # twice the interval is allowed, and a tenth of the scheme's error
        (second_rate_of_the_plane(0.019), "reproduced"),
        (second_rate_of_the_plane(-0.019), "reproduced"),
        (second_rate_of_the_plane(0.021), "contradicted"),
        (second_rate_of_the_plane(-0.021), "contradicted"),
        (second_rate_of_the_plane(0.029, scheme=0.1), "reproduced"),
        (second_rate_of_the_plane(0.031, scheme=0.1), "contradicted"),
        (rate("direction_rate", 6, 8, 0.5), "contradicted"),
        (rate("direction_rate", 9, 8, -7.0), "contradicted"),  # by the sum rule about -7.75
        (rate("direction_rate", 1, 12, 5.0), "contradicted"),  # in the second table
        (rate("volume_rate", 0, 5, 0.1), "contradicted"),
    ],
)
def test_every_measured_rate_must_be_the_derived_one(alterations, verdict):
    assert verdict_on("lyapunov_spectrum", *alterations) == verdict


def moved(quantity, index, inputs, allowances):
    """Let a rate be off the predicted one by so many times what is allowed, with an interval as it was measured."""

    def alter(tables):
        for table in tables["exponents"]:
            of_dimension = table["inputs"] == inputs
            rows = of_dimension & (table["quantity"] == quantity) & (table["index"] == index)
            if rows.any():
                ((predicted, lower, upper),) = table.loc[rows, ["predicted", "lower", "upper"]].to_numpy()
                (scheme,) = table.loc[of_dimension & (table["quantity"] == "difference_between_steps"), "value"]
                half = (upper - lower) / 2
                value = predicted + allowances * (2 * half + 0.1 * abs(scheme))
                table.loc[rows, ["value", "lower", "upper"]] = value, value - half, value + half
                return
        raise AssertionError(f"no {quantity} {index} of {inputs} dimensions")

    return alter


DIMENSIONS = (2, 3, 5, 8, 12)  # of the tables at smoke scale
ALL_RATES = [
    *[("direction_rate", index, inputs) for inputs in DIMENSIONS for index in range(1, inputs + 2)],
    *[("volume_rate", 0, inputs) for inputs in DIMENSIONS if inputs > 2],
]


@pytest.mark.parametrize(("quantity", "index", "inputs"), ALL_RATES)
def test_no_rate_may_be_off_by_more_than_is_allowed(quantity, index, inputs):
    for allowances, verdict in ((0.9, "reproduced"), (1.5, "contradicted"), (-1.5, "contradicted")):
        altered = moved(quantity, index, inputs, allowances)
        assert verdict_on("lyapunov_spectrum", altered) == verdict, allowances


def test_no_measured_rate_is_missing_above():
    measured = set()
    for table in claim_tables("spectral_bias", "lyapunov_spectrum")["exponents"]:
        for quantity, lowest in (("direction_rate", 2), ("volume_rate", 3)):
            rows = table[(table["quantity"] == quantity) & (table["inputs"] >= lowest)]
            measured |= {(quantity, index, inputs) for index, inputs in zip(rows["index"], rows["inputs"], strict=True)}
    assert measured == set(ALL_RATES)


@pytest.mark.parametrize(
    ("index", "value", "verdict"),
    [
        # in twelve dimensions three grow: the third and the fourth are left out
        (2, -0.1, "contradicted"),
        (2, 0.005, "undecided"),
        (3, -0.5, "reproduced"),
        (4, 0.5, "reproduced"),
        (5, 0.1, "contradicted"),
        (12, 0.1, "contradicted"),
    ],
)
def test_how_many_grow(index, value, verdict):
    assert verdict_on("quarter_grows", *rate("direction_rate", index, 12, value, role="many_dimensions")) == verdict


@named_after_its_call
def length(inputs, value, half=0.01, at=2.0):
    """Let the mean length of the commutator be measured as this."""

    def alter(tables):
        table = tables["higher_dimensions"][{3: 0, 5: 1}[inputs]]
        mean_of("commutator_length", "one", value, half, at)({"one": table})

    return alter


# exact lengths at time 2: 1.070 in three dimensions and 1.875 in five; lags of the scheme of 0.064 and 0.19
LENGTHS = [length(3, 0.823, at=1.0), length(5, 1.011, at=1.0), length(3, 1.070), length(5, 1.875)]


@pytest.mark.parametrize(
    ("alterations", "verdict"),
    [
        ([length(3, 1.070 + 0.08)], "corrected"),
        ([length(3, 1.070 + 0.09)], "contradicted"),
        ([length(5, 1.875 - 0.20)], "corrected"),
        ([length(5, 1.875 - 0.22)], "contradicted"),
        ([length(3, 1.1, at=1.0)], "contradicted"),  # it falls
        ([mean_of("commutator_entry", "plane", 0.30, 0.01)], "contradicted"),
        ([mean_of("commutator_entry_squared", "plane", 0.2, 0.01)], "contradicted"),
        (rate("commutator_rate", 0, 2, 0.1), "contradicted"),
        (rate("commutator_rate", 0, 8, -0.1), "contradicted"),
        (rate("commutator_rate", 0, 5, 0.9), "contradicted"),
        (rate("angle_rate", 0, 5, 0.1), "contradicted"),
    ],
)
def test_the_mean_commutator(alterations, verdict):
    assert verdict_on("proposition_4_1_c", *LENGTHS, *alterations) == verdict
