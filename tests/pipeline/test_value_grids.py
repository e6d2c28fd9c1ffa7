"""The values at which a claim is judged again over a range: a grid, and then bisection where its verdict turns."""

import pytest

from learning_dynamics.pipeline.commands import variation
from learning_dynamics.pipeline.plan import value_grids


@pytest.mark.parametrize(
    ("entry", "grid"),
    [
        pytest.param({"range": [1e-4, 1.0]}, [1e-4, 1e-3, 1e-2, 0.1, 1.0], id="a value for each decade"),
        pytest.param({"range": [0.0, 1.0], "points": 3}, [0.0, 0.5, 1.0], id="evenly where an end is zero"),
        pytest.param({"range": [1, 4]}, [1, 2, 3, 4], id="whole numbers, each once"),
        pytest.param({"grid": ["a", "b"]}, ["a", "b"], id="words that are listed"),
        pytest.param({"range": [5e-324, 1.0], "points": 2}, [5e-324, 1.0], id="from the smallest positive number"),
    ],
)
def test_an_entry_has_the_values_that_it_lists_or_a_grid_over_its_range(entry, grid):
    assert value_grids.grid_of(entry) == grid


def bisect_at(low, high, turn):
    """Return the values that bisection tries between two ends, where the verdict is reproduced up to `turn` alone."""
    return variation.bisect(lambda value: "reproduced" if value <= turn else "not reproduced", low, high)


def bracket_of_turn(low, high, turn):
    """Return the values next to the one at which a verdict turns, below and above, after bisection."""
    tried = bisect_at(low, high, turn)
    below = max(value for value in [low, *tried] if value <= turn)
    above = min(value for value in [high, *tried] if value > turn)
    return below, above


@pytest.mark.parametrize(
    ("low", "high", "turn"),
    [
        pytest.param(1e-8, 1e-2, 3e-5, id="over decades"),
        pytest.param(0.1, 9, 5, id="an end is whole"),
    ],
)
def test_bisection_between_positive_numbers_ends_within_a_tenth(low, high, turn):
    below, above = bracket_of_turn(low, high, turn)
    assert above <= 1.1 * below


def test_bisection_from_a_negative_number_ends_within_a_tenth_of_the_turn():
    below, above = bracket_of_turn(-1.0, 2.0, 0.71)
    assert above - below <= 0.1 * above


def test_bisection_between_whole_numbers_ends_at_neighbours():
    assert bracket_of_turn(1, 1000, 137) == (137, 138)


def test_bisection_stops_after_twelve_values():
    # the logarithm of 1e300 is 7200 times that of 1.1: a tenth would take 13 halvings, as 2^13 = 8192
    assert len(bisect_at(1e-300, 1.0, turn=1e-100)) == 12


@pytest.mark.parametrize(
    "verdict_at",
    [
        pytest.param(lambda value: "undecided" if value < 3 else "reproduced", id="the lower end is undecided"),
        pytest.param(lambda value: "reproduced" if value < 3 else "untested", id="the upper end is untested"),
        pytest.param(lambda value: "reproduced", id="the verdict does not turn"),
    ],
)
def test_nothing_is_tried_where_an_end_is_not_decided_or_the_verdict_does_not_turn(verdict_at):
    assert variation.bisect(verdict_at, 1, 1000) == []
