"""Falls and rises of an effective rank, when classes are learned, and which falls happen meanwhile.

Shapes: `series` (members, times), a rank; `probabilities` (members, times, V): the probability of a class is the mean,
over the class's examples, of the probability that an example's own class gets (under the squared loss, of the output).
`counts` (members, V), class sizes, zeros where they only pad. A place is an index along times; places of members are
arrays (members,), and a window is a pair of such: the first and the last place.

A class is learned when its probability passes `LEARNED`. The warm-up ends at the trough, the place where the rank is
lowest until the first class is learned. The rarest classes are all of the smallest size. They begin to be learned at
the record before the first of their probabilities passes `lower`, and are learned when all have passed `upper`; `lower`
and `upper` are settings of the metrics. `threshold` is the least change of the rank that counts as a fall or a rise.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

LEARNED = 0.5  # the probability, or output, of a class that is learned

# Quantities of a rank. From `FALL` to `FALL_LEARNING` a fall is one by the threshold or more, after a rise by the
# threshold or more, both from the trough on; its depth is the rank where it begins less that where it ends, 0 without
# such a fall. Of a fall partly within a window only that part has a depth.
FALL = "fall"  # depth of the deepest fall, at any time
FALL_RARE = "fall_rare"  # depth within the window from where the rarest classes begin to be learned to where they are
FALL_SINCE = "fall_since_rare"  # depth within the window from where the rarest classes begin to be learned to the end
FALL_LEARNING = "fall_learning"  # depth within the window from where the first class is learned to where all pass upper
WARM_UP = "warm_up"  # the highest rank up to the trough, less that at the trough
GROWTH = "growth"  # the highest rank from the trough on, less that at the trough
EXPANSION = "expansion"  # the rank where the rarest classes begin to be learned, less that at the trough before
# 1 where `WARM_UP` and then `FALL_RARE` reach the threshold, else 0: the rank falls, rises and falls again. The paper
# calls the three phases warm-up, entropy-seeking and compression-seeking; here they are warm-up, growth and
# compression.
PHASES = "phases"
PHASES_SINCE = "phases_since_rare"  # the same with `FALL_SINCE`: the last fall may go on once the rarest are learned
NET = "net"  # the rank where the rarest classes are learned, less that where they begin to be
PEAK = "peak"  # the highest rank from the trough on
END = "end"  # the rank at the last time


def turning_points(values: np.ndarray, threshold: float) -> list[int]:
    """Return where a series turns: places of alternating extrema, consecutive ones at least `threshold` apart.

    A swing is a rise or a fall. It ends at an extremum from which the series goes back by `threshold` or more; where it
    goes back by less, the swing goes on. The last swing ends at its highest value, or its lowest, which may be the end
    of the series. The list is empty for a series that changes by less than `threshold`, and has two places or more for
    any other: the first place is where the first swing begins.

    At a threshold of 0.2 the series 1.0, 0.5, 0.55, 0.4, 0.9 turns at the places 0, 3 and 4: the rise to 0.55 is too
    small, and belongs to the fall from 1.0 to 0.4.
    """
    points: list[int] = []
    # `direction` is 1 in a rise, -1 in a fall, 0 before the first swing. `low` and `high` are the places of the lowest
    # and the highest value since the last turn, or since the start. Where the series is a threshold below its `high` in
    # a rise, or above its `low` in a fall, that place was a turn.
    series = values.tolist()
    direction = 0
    low = high = 0
    for place, value in enumerate(series):
        if value < series[low]:
            low = place
        if value > series[high]:
            high = place
        if direction >= 0 and value <= series[high] - threshold:
            points = [high] if direction == 0 else [*points, high]
            direction, low = -1, place
        elif direction <= 0 and value >= series[low] + threshold:
            points = [low] if direction == 0 else [*points, low]
            direction, high = 1, place
    if direction:
        points.append(high if direction > 0 else low)
    return points


def swings(series: np.ndarray, threshold: float, count: int) -> np.ndarray:
    """Return the first `count` swings of each series, shape (members, count), zeros after the last.

    A swing is the change from one of the `turning_points` to the next: negative for a fall, positive for a rise. nan
    for a series that is not finite.
    """
    changes = np.zeros((len(series), count))
    for member, values in enumerate(series):
        # `count` swings lie between `count + 1` places
        turning = turning_points(values, threshold)[: count + 1] if np.isfinite(values).all() else []
        changes[member, : max(len(turning) - 1, 0)] = np.diff(values[turning])
    changes[~np.isfinite(series).all(axis=1)] = np.nan
    return changes


def learned_at(times: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return when each class's probability passes `LEARNED` for good, interpolated; infinite if it never does.

    For good: at all later records it is above. A class above from the first record on has the first time.

    Parameters
    ----------
    times : ndarray, shape (times,)
    probabilities : ndarray, shape (members, times, classes)

    Returns
    -------
    ndarray, shape (members, classes)
        nan for members that are not finite.
    """
    below = ~(probabilities > LEARNED)
    # `first` is the place from which on a class stays learned: the one after the last `below`, or 0 if it is below
    # nowhere; `len(times)` if it is below at the last record. In the reversed series the last `below` comes first, and
    # `argmax` counts the records after it.
    records_since = np.argmax(below[:, ::-1], axis=1)
    first = np.where(below.any(axis=1), len(times) - records_since, 0)
    # Linear between the records before and after the passage. `clip` gives classes whose `first` is 0 or `len(times)`
    # two records as well; their results are replaced below.
    after = np.clip(first, 1, len(times) - 1)
    before = after - 1
    # shape (members, classes), as `before` and `after`
    p_before = np.take_along_axis(probabilities, before[:, None], axis=1)[:, 0]
    p_after = np.take_along_axis(probabilities, after[:, None], axis=1)[:, 0]
    # how much of the way from one record to the other the probability has gone at the passage
    share = np.clip((LEARNED - p_before) / np.where(p_after > p_before, p_after - p_before, 1.0), 0.0, 1.0)
    passage = times[before] + share * (times[after] - times[before])
    passage = np.where(first == 0, times[0], passage)
    passage = np.where(first == len(times), np.inf, passage)
    finite = np.isfinite(probabilities).all(axis=(1, 2))
    return np.where(finite[:, None], passage, np.nan)


@dataclass(frozen=True)
class Windows:
    """Two windows of learning: the first and the last place of each in each member, shape (members,).

    Attributes
    ----------
    rare : pair of ndarray
        From the record before the first at which the probability of one of the rarest classes is above `lower`, to the
        first at which those of all of them are above `upper`.
    learning : pair of ndarray
        From the first record at which the probability of some class is above `LEARNED`, to the first at which those of
        all classes are above `upper`.
    """

    rare: tuple[np.ndarray, np.ndarray]
    learning: tuple[np.ndarray, np.ndarray]


def windows(probabilities: np.ndarray, counts: np.ndarray, lower: float, upper: float) -> Windows:
    """Return when the rarest classes are learned, and when all classes after the first are.

    Where a probability is never reached, the last record counts as reaching it: the window `rare` then begins at the
    record before the last.

    Parameters
    ----------
    probabilities : ndarray, shape (members, times, classes)
    counts : ndarray of int, shape (members, classes)
        Class sizes; a class of size 0 only pads the array.
    lower, upper : float
        Probabilities of a class at which learning it begins, and ends.
    """
    smallest = np.where(counts > 0, counts, np.inf).min(axis=1, keepdims=True)
    real, rarest = (counts > 0)[:, None], (counts == smallest)[:, None]  # shape (members, 1, classes)
    # the masks let the rarest classes alone decide; the 1 is the record before the first passes `lower`
    rare_begins = _first_place(((probabilities > lower) & rarest).any(axis=2)) - 1
    rare_end = _first_place(((probabilities > upper) | ~rarest).all(axis=2))
    first_learned = _first_place(((probabilities > LEARNED) & real).any(axis=2))
    all_end = _first_place(((probabilities > upper) | ~real).all(axis=2))
    return Windows(rare=(np.maximum(rare_begins, 0), rare_end), learning=(first_learned, all_end))


def troughs(series: np.ndarray, until: np.ndarray) -> np.ndarray:
    """Return where each series is lowest up to a place, shape (members,): the end of the warm-up.

    Parameters
    ----------
    series : ndarray, shape (members, times)
    until : ndarray of int, shape (members,)
        Where the first class is learned.
    """
    is_candidate = np.isfinite(series) & (np.arange(series.shape[1]) <= until[:, None])
    return np.argmin(np.where(is_candidate, series, np.inf), axis=1)


def net_change(series: np.ndarray, window: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Return how much each series is higher at the end of its window than at its beginning, shape (members,)."""
    at_begin, at_end = (series[np.arange(len(series)), place] for place in window)
    return at_end - at_begin


def end_and_peak(series: np.ndarray, learning_windows: Windows) -> dict[str, np.ndarray]:
    """Return the last value of each series, and its highest since the warm-up's trough, shape (members,) each."""
    after = np.arange(series.shape[1]) >= troughs(series, learning_windows.learning[0])[:, None]
    return {END: series[:, -1], PEAK: np.where(after, series, -np.inf).max(axis=1)}


def falls_within(
    series: np.ndarray, threshold: float, window: tuple[np.ndarray, np.ndarray], trough: np.ndarray
) -> np.ndarray:
    """Return the deepest fall of each series inside its window, shape (members,); nan where it is not finite.

    A fall counts if it is at least `threshold` and follows a rise of at least `threshold`, both from the trough on:
    what rises and falls before the trough is the warm-up. Of a fall that begins before the window, or ends after it,
    the part inside counts, however small it is. 0 where no fall counts.

    Parameters
    ----------
    series : ndarray, shape (members, times)
    threshold : float
    window : pair of ndarray of int, shape (members,)
        First and last place.
    trough : ndarray of int, shape (members,)
        As `troughs` returns it.
    """
    deepest = np.zeros(len(series))
    for member, values in enumerate(series):
        if not np.isfinite(values).all():
            deepest[member] = np.nan
            continue
        turning = [trough[member] + place for place in turning_points(values[trough[member] :], threshold)]
        # the first swing, from turning[0] to turning[1], is left out: if it is a fall, no rise came before it
        for top, bottom in itertools.pairwise(turning[1:]):
            if values[bottom] < values[top]:  # a fall: turns alternate
                start, end = max(top, window[0][member]), min(bottom, window[1][member])
                if end > start:
                    deepest[member] = max(deepest[member], values[start] - values[end])
    return deepest


def falls_by_window(series: np.ndarray, threshold: float, learning_windows: Windows) -> dict[str, np.ndarray]:
    """Return the deepest falls of a rank in each series, shape (members,), at any time and in windows of learning.

    Quantities
    ----------
    fall
        Depth of the rank's deepest fall after a rise. Fall and rise are by the threshold or more, and happen after the
        warm-up's trough, where the rank is lowest until the first class is learned. 0 if there is no such fall, nan for
        a failed member.
    fall_rare
        Depth of the deepest part of such a fall (see ``fall``) while the rarest classes are learned: from where the
        probability of the first of them passes `lower` to where those of all have passed `upper`.
    fall_since_rare
        Depth of the deepest part of such a fall (see ``fall``) from where the probability of the first of the rarest
        classes passes `lower` to the end.
    fall_learning
        Depth of the deepest part of such a fall (see ``fall``) while all classes after the first are learned: from
        where the first is, to where the probabilities of all have passed `upper`.
    """
    trough = troughs(series, learning_windows.learning[0])
    window_of = {
        FALL: (trough, _last_places(series)),
        FALL_RARE: learning_windows.rare,
        FALL_SINCE: (learning_windows.rare[0], _last_places(series)),
        FALL_LEARNING: learning_windows.learning,
    }
    return {name: falls_within(series, threshold, window, trough) for name, window in window_of.items()}


def warm_up_and_growth(series: np.ndarray, learning_windows: Windows) -> dict[str, np.ndarray]:
    """Return how deep each series falls in the warm-up, and how much it rises from there, shape (members,) each.

    Quantities
    ----------
    warm_up
        The rank where it is highest up to the warm-up's trough, less that at the trough. The trough is where the rank
        is lowest until the first class is learned. 0 where it is at the start.
    growth
        The rank where it is highest from the trough on, less that at the trough. 0 where it is nowhere higher.
    expansion
        The rank where the rarest classes begin to be learned, less that at the trough. 0 where they begin before.
    """
    trough = troughs(series, learning_windows.learning[0])
    places, at_trough = np.arange(series.shape[1]), series[np.arange(len(series)), trough]
    highest_before = np.where(places <= trough[:, None], series, -np.inf).max(axis=1)
    highest_after = np.where(places >= trough[:, None], series, -np.inf).max(axis=1)
    rare_begin, _ = learning_windows.rare
    at_rare_begin = series[np.arange(len(series)), np.maximum(rare_begin, trough)]
    return {
        WARM_UP: highest_before - at_trough,
        GROWTH: highest_after - at_trough,
        EXPANSION: at_rare_begin - at_trough,
    }


def three_phases(series: np.ndarray, threshold: float, learning_windows: Windows) -> dict[str, np.ndarray]:
    """Return which series show a warm-up, a growth and a compression, in this order, shape (members,).

    Quantities
    ----------
    phases
        1 where a warm-up, a growth and a compression follow one another, each by the threshold or more; 0 elsewhere;
        nan for a failed member. The warm-up is the rank's fall to the trough, where it is lowest until the first class
        is learned. The growth is a rise after the trough. The compression is the part of a fall after that rise while
        the rarest classes are learned (see ``fall_rare``).
    phases_since_rare
        The same, where the compression is the part of that fall from where the rarest classes begin to be learned to
        the end (see ``fall_since_rare``).
    """
    trough = troughs(series, learning_windows.learning[0])
    warms_up = warm_up_and_growth(series, learning_windows)[WARM_UP] >= threshold
    window_of = {PHASES: learning_windows.rare, PHASES_SINCE: (learning_windows.rare[0], _last_places(series))}
    # growth needs no test of its own: `falls_within` counts a fall only after a rise by the threshold
    falls = {name: falls_within(series, threshold, window, trough) for name, window in window_of.items()}
    return {name: np.where(np.isnan(fall), np.nan, warms_up & (fall >= threshold)) for name, fall in falls.items()}


def _last_places(series: np.ndarray) -> np.ndarray:
    """Return the last place of each series, shape (members,)."""
    return np.full(len(series), series.shape[1] - 1)


def _first_place(reached: Any) -> np.ndarray:
    """Return the first place at which `reached` is true in each member, or else the last place, shape (members,).

    Parameters
    ----------
    reached : ndarray of bool, shape (members, times)
    """
    return np.where(reached.any(axis=1), np.argmax(reached, axis=1), reached.shape[1] - 1)
