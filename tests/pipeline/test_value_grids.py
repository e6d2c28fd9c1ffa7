"""Grids of ranges, and bisection where a verdict turns."""

import pytest

from learning_dynamics.pipeline.commands import variation
from learning_dynamics.pipeline.plan import value_grids


@pytest.mark.parametrize(
    ("entry", "grid"),
    [
        pytest.param({"range": [1e-4, 1.0]}, [1e-4, 1e-3, 1e-2, 0.1, 1.0], id="a value a decade"),
        pytest.param({"range": [0.0, 1.0], "points": 3}, [0.0, 0.5, 1.0], id="evenly where zero is an end"),
        pytest.param({"range": [1, 4]}, [1, 2, 3, 4], id="whole numbers"),
        pytest.param({"grid": ["a", "b"]}, ["a", "b"], id="words"),
        pytest.param({"range": [5e-324, 1.0], "points": 2}, [5e-324, 1.0], id="the smallest number"),
    ],
)
def test_the_grid_of_a_range(entry, grid):
    assert value_grids.grid_of(entry) == grid


@pytest.mark.parametrize(("low", "high", "turn"), [(1e-8, 1e-2, 3e-5), (-1.0, 2.0, 0.71), (1, 1000, 137), (0.1, 9, 5)])
def test_bisection_ends_within_a_tenth_of_the_turn(low, high, turn):
    tried = variation.bisect(lambda value: "reproduced" if value <= turn else "not reproduced", low, high)
    below = max(value for value in [low, *tried] if value <= turn)
    above = min(value for value in [high, *tried] if value > turn)
    assert above - below <= max(0.1 * abs(above) + 1e-9, 1)  # whole numbers, to the next
    assert len(tried) <= value_grids.MAX_BISECTIONS


def test_nothing_is_bisected_where_an_end_is_undecided_or_the_verdict_does_not_turn():
    assert variation.bisect(lambda value: "undecided" if value < 3 else "reproduced", 1, 1000) == []
    assert variation.bisect(lambda value: "reproduced", 1, 1000) == []
