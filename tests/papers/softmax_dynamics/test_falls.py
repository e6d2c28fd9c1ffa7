"""Falls of the rank, on series made by hand: when classes are learned, and which falls are within which time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.papers.softmax_dynamics.falls import (
    Windows,
    falls_by_window,
    falls_within,
    learned_at,
    swings,
    three_phases,
    troughs,
    warm_up_and_growth,
    windows,
)

THRESHOLD = 0.1  # the least change that counts as a fall or a rise


def windows_of(*, first: int, rare: tuple[int, int], last: int, members: int = 1) -> Windows:
    """Return windows that are the same in all members.

    A place is an index along times. The first class is learned at the place `first`, and all are at `last`. Learning of
    the rarest classes begins and ends at the two places of `rare`.
    """
    first_place, rare_begin, rare_end, last_place = (np.full(members, place) for place in (first, *rare, last))
    return Windows((rare_begin, rare_end), (first_place, last_place))


# swings in their order, four places for each series; zeros fill the places that it does not need
@pytest.mark.parametrize(
    ("series", "expected"),
    [
        pytest.param([2.0, 1.5, 1.55, 1.0, 2.0], [-1.0, 1.0, 0.0, 0.0], id="a rise of 0.05 is a part of the fall"),
        pytest.param([1.0, 1.05, 0.5], [-0.55, 0.0, 0.0, 0.0], id="a fall starts at its top"),
        pytest.param([1.0, 2.0, 1.95], [1.0, 0.0, 0.0, 0.0], id="a fall of 0.05 at the end is none"),
        pytest.param([1.0, 1.05, 0.98, 1.02], [0.0, 0.0, 0.0, 0.0], id="nothing swings by the threshold"),
        pytest.param([0.0, 0.1, 0.0], [0.1, -0.1, 0.0, 0.0], id="up and down by the threshold itself"),
        pytest.param([0.1, 0.0, 0.1], [-0.1, 0.1, 0.0, 0.0], id="down and up by the threshold itself"),
    ],
)
def test_swings_of_the_threshold_or_more_are_found(series, expected):
    np.testing.assert_allclose(swings(np.array([series]), THRESHOLD, count=4), [expected], rtol=0, atol=1e-15)


@settings(max_examples=100)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30).map(lambda values: np.array([values]) / 10))
def test_a_series_turned_over_has_its_swings_turned_over(series):
    upside_down = swings(-series, threshold=0.5, count=8)
    np.testing.assert_array_equal(upside_down, -swings(series, threshold=0.5, count=8))


# the fall from 2 to 1 follows no rise and does not count
@pytest.mark.parametrize(
    ("window", "depth"),
    [
        pytest.param((0, 5), 1.9 - 1.2, id="the whole series"),
        pytest.param((0, 3), 0.0, id="up to the fall"),
        pytest.param((3, 4), 1.9 - 1.5, id="its first step"),
        pytest.param((4, 5), 1.5 - 1.2, id="its second step"),
        pytest.param((5, 5), 0.0, id="an empty window"),
    ],
)
def test_only_the_part_of_a_fall_inside_the_window_counts(window, depth):
    series = np.array([[2.0, 1.0, 1.5, 1.9, 1.5, 1.2]])
    begin, end = window
    trough = np.array([0])  # made up, at the start, so that the series since then begins with a fall
    depths = falls_within(series, THRESHOLD, (np.array([begin]), np.array([end])), trough)
    assert depths == pytest.approx([depth])


ONE_NOT_FINITE = np.array([[1.0, np.nan, 0.0], [1.0, 2.0, 1.0]])  # two series of three places


def test_falls_of_a_series_that_is_not_finite_are_nan():
    first_places, last_places = np.array([0, 0]), np.array([2, 2])
    depths = falls_within(ONE_NOT_FINITE, THRESHOLD, (first_places, last_places), trough=first_places)
    np.testing.assert_array_equal(depths, [np.nan, 1.0])


def test_swings_of_a_series_that_is_not_finite_are_nan():
    np.testing.assert_array_equal(swings(ONE_NOT_FINITE, THRESHOLD, count=2), [[np.nan, np.nan], [1.0, -1.0]])


def test_a_warm_up_ends_at_the_trough_and_growth_begins_there():
    """The first class is learned at the place 3: what is lower later is no trough."""
    falls_first = [1.5, 1.6, 1.0, 1.2, 1.9, 0.8]  # to 1.0; 0.8 comes later
    lowest_at_the_start = [1.0, 1.1, 1.2, 1.3, 1.1, 1.2]
    windows_of_both = windows_of(first=3, rare=(3, 4), last=4, members=2)
    changes = warm_up_and_growth(np.array([falls_first, lowest_at_the_start]), windows_of_both)
    np.testing.assert_allclose(changes["warm_up"], [1.6 - 1.0, 0.0])
    np.testing.assert_allclose(changes["growth"], [1.9 - 1.0, 1.3 - 1.0])
    np.testing.assert_allclose(changes["expansion"], [1.2 - 1.0, 1.3 - 1.0])


def test_there_is_no_expansion_where_the_rarest_begin_before_the_trough():
    changes = warm_up_and_growth(np.array([[1.5, 1.6, 1.0, 1.2]]), windows_of(first=3, rare=(1, 3), last=3, members=1))
    assert changes["expansion"] == 0


def test_a_trough_is_the_place_of_the_lowest_finite_number():
    first_learned = np.array([2, 2])  # the last place: troughs are sought in all of the series
    assert troughs(ONE_NOT_FINITE, until=first_learned).tolist() == [2, 0]


def test_a_class_is_learned_when_it_stays_above_one_half():
    times = np.array([0.0, 1.0, 2.0, 3.0])
    probability = np.array([[0.0, 0.6, 0.4, 0.8], [0.0, 0.1, 0.2, 0.3], [0.6, 0.7, 0.8, 0.9]])
    learned = learned_at(times, probability.T[None])
    # the first passes one half for good between 0.4 at time 2 and 0.8 at time 3, a quarter of the way; the second
    # never; the third from the start
    np.testing.assert_allclose(learned, [[2.25, np.inf, 0.0]])


def test_a_member_that_is_not_finite_has_no_time_of_learning():
    probabilities = np.full((2, 3, 2), 0.8)
    probabilities[0, 1, 1] = np.nan  # of one class at one time
    np.testing.assert_array_equal(learned_at(np.arange(3.0), probabilities), [[np.nan, np.nan], [0.0, 0.0]])


@pytest.fixture
def windows_of_two_rare_classes() -> Windows:
    """Return the windows of one member at six times, with a frequent class and two of one example.

    A class begins to be learned at a probability of 0.3, and is learned at 0.9.
    """
    frequent = [0.2, 0.4, 0.6, 0.8, 0.95, 0.95]
    rare = [0.2, 0.2, 0.35, 0.95, 0.95, 0.95]
    equally_rare = [0.2, 0.2, 0.2, 0.95, 0.95, 0.95]
    no_class = [0.0] * 6  # of no examples: it only fills the array
    probabilities = np.stack([frequent, rare, equally_rare, no_class], axis=-1)[None]
    return windows(probabilities, np.array([[4, 1, 1, 0]]), lower=0.3, upper=0.9)


def test_the_window_of_the_rarest_begins_before_one_begins_to_be_learned_and_ends_when_all_are(
    windows_of_two_rare_classes,
):
    # the first of them passes 0.3 at the place 2, and both pass 0.9 at the place 3
    assert [place.tolist() for place in windows_of_two_rare_classes.rare] == [[2 - 1], [3]]


def test_the_window_of_learning_begins_with_the_first_class_learned_and_ends_when_all_are(windows_of_two_rare_classes):
    # the frequent class passes one half at the place 2, and 0.9, as the last of all, at the place 4
    assert [place.tolist() for place in windows_of_two_rare_classes.learning] == [[2], [4]]


@pytest.mark.parametrize(
    ("series", "first", "fall"),  # `first`: the place at which the first class is learned
    [
        # it is the warm-up, though a rise comes before it: its trough is the lowest value
        pytest.param([1.2, 1.8, 1.0, 1.5, 2.0], 2, 0.0, id="a fall to the trough"),
        # the trough is then the start
        pytest.param([1.2, 1.8, 1.0, 1.5, 2.0], 1, 1.8 - 1.0, id="the same fall after the first class is learned"),
        pytest.param([1.8, 1.0, 2.0, 1.7, 1.9], 1, 2.0 - 1.7, id="a fall after the trough"),
        pytest.param([1.0, 2.0, 1.5], 0, 2.0 - 1.5, id="the first class is learned at the start"),
    ],
)
def test_only_falls_since_the_trough_count(series, first, fall):
    # the quantity "fall" reads neither `rare` nor `last`
    falls = falls_by_window(np.array([series]), THRESHOLD, windows_of(first=first, rare=(0, 4), last=4))
    assert falls["fall"] == pytest.approx([fall])


# the window of the last fall ends where the rarest classes are learned (`phases`), or with the series (`since_rare`)
@pytest.mark.parametrize(
    ("series", "first", "rare", "phases", "since_rare"),  # `first` and `rare` as for `windows_of`
    [
        pytest.param([1.8, 1.0, 2.0, 1.7, 1.7], 1, (2, 4), True, True, id="all three"),
        pytest.param([1.8, 1.0, 2.0, 1.95, 1.95], 1, (2, 4), False, False, id="the last fall is too small"),
        pytest.param([1.04, 1.0, 2.0, 1.7, 1.7], 1, (2, 4), False, False, id="no warm-up"),
        pytest.param([1.8, 1.0, 1.04, 0.7, 0.7], 1, (2, 4), False, False, id="no growth"),
        # but for 0.05
        pytest.param([1.8, 1.0, 2.0, 1.7, 1.65], 1, (3, 4), False, False, id="a fall before rare classes are learned"),
        pytest.param([1.8, 1.0, 2.0, 1.98, 1.7], 1, (2, 3), False, True, id="a fall after rare classes are learned"),
        pytest.param([1.2, 1.8, 1.0, 2.0, 1.7], 2, (3, 4), True, True, id="a rise before the warm-up"),
    ],
)
def test_three_phases_follow_one_another(series, first, rare, phases, since_rare):
    shows = three_phases(np.array([series]), THRESHOLD, windows_of(first=first, rare=rare, last=4))
    assert shows["phases"].tolist() == [phases]
    assert shows["phases_since_rare"].tolist() == [since_rare]


def test_phases_of_a_series_that_is_not_finite_are_nan():
    series = np.array([[1.8, 1.0, 2.0, 1.7, 1.7], [1.8, 1.0, 2.0, 1.7, np.nan]])
    shows = three_phases(series, THRESHOLD, windows_of(first=1, rare=(2, 4), last=4, members=2))
    np.testing.assert_array_equal(shows["phases"], [1.0, np.nan])
    np.testing.assert_array_equal(shows["phases_since_rare"], [1.0, np.nan])


# from the value at the place where the rarest begin to be learned to the last value, 1.75
@pytest.mark.parametrize(("rare", "fall"), [((2, 3), 2.0 - 1.75), ((3, 4), 1.95 - 1.75), ((4, 4), 0.0)])
def test_a_fall_counts_from_where_the_rare_classes_begin_to_be_learned_to_the_end(rare, fall):
    series = np.array([[1.8, 1.0, 2.0, 1.95, 1.75]])
    falls = falls_by_window(series, THRESHOLD, windows_of(first=1, rare=rare, last=4))
    assert falls["fall_since_rare"] == pytest.approx([fall])


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("fall", 5),  # all of it, to the place 7
        ("fall_rare", 1),  # from 3 to 4
        ("fall_since_rare", 4),  # from 3 to 7
        ("fall_learning", 3),  # to 5, where all are learned; the first is learned before the fall
    ],
)
def test_each_fall_is_the_part_in_its_window(name, steps):
    """The series falls by 0.3 at each step from the place 2 on."""
    series = np.array([[1.8, 1.0, 2.5, 2.2, 1.9, 1.6, 1.3, 1.0]])
    falls = falls_by_window(series, THRESHOLD, windows_of(first=1, rare=(3, 4), last=5))
    assert falls[name] == pytest.approx([0.3 * steps])
