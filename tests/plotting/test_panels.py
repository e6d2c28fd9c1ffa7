"""Panels of a figure: their letters, legends, labels at the ends of lines, ticks, numbers in print, and looks."""

import inspect
from itertools import combinations, pairwise
from typing import get_args

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from learning_dynamics.pipeline.commands import figure as figure_command
from learning_dynamics.plotting import (
    COLUMN,
    LOOKS,
    WIDTH,
    direct_labels,
    legend_below,
    legible_ticks,
    letters,
    panels,
    plain_number,
    shared_legend,
    sized,
    style,
)
from learning_dynamics.plotting.panels import _label_short_range, _spread_out


@pytest.fixture(autouse=True)
def figures_in_style():
    """Draw figures in the project's style, and close them after the test."""
    with style():
        yield
    plt.close("all")


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 2)])
def test_axes_have_rows_and_columns_even_where_there_is_one_of_each(rows, columns):
    figure, axes = panels(rows, columns, width=COLUMN)
    assert axes.shape == (rows, columns)
    assert figure.get_size_inches()[0] == COLUMN


def test_a_letter_begins_each_title_or_is_the_title():
    _, axes = panels(1, 3)
    axes[0, 0].set_title("loss")
    letters(axes.flat)
    assert [axis.get_title() for axis in axes.flat] == ["(a) loss", "(b)", "(c)"]


def test_a_shared_legend_of_panels_without_labels_is_refused():
    figure, _ = panels(1, 2)
    with pytest.raises(ValueError, match="nothing is labelled"):
        shared_legend(figure)


def test_a_shared_legend_names_each_label_once():
    figure, axes = panels(1, 2)
    for axis in axes.flat:
        axis.plot([0, 1], label="one")
        axis.plot([1, 0], label="two")
    legend = shared_legend(figure)
    assert [text.get_text() for text in legend.get_texts()] == ["one", "two"]


def is_cut_off(legend):
    """Return whether a legend leaves its figure to the left or to the right."""
    legend.figure.canvas.draw()
    box = legend.get_window_extent()
    return box.x0 < legend.figure.bbox.x0 or box.x1 > legend.figure.bbox.x1


def test_a_shared_legend_has_as_many_columns_as_fit():
    figure, axes = panels(1, 2)
    for number in range(12):
        axes[0, 0].plot([0, 1], label=f"line number {number}")
    in_one_row = shared_legend(figure, ncols=12)  # as many columns as labels
    assert is_cut_off(in_one_row)
    in_one_row.remove()
    assert not is_cut_off(shared_legend(figure))


def test_a_legend_is_read_row_by_row():
    figure, _ = panels()
    entries = [Line2D([], [], label=label) for label in ("first", "second", "third", "fourth", "fifth")]
    legend_below(figure, entries, columns=3)
    figure.canvas.draw()
    places = {text.get_text(): text.get_window_extent() for text in figure.legends[0].get_texts()}
    in_reading_order = sorted(places, key=lambda label: (-round(places[label].y0), places[label].x0))
    assert in_reading_order == [entry.get_label() for entry in entries]


def test_labels_of_lines_that_end_close_together_do_not_overlap_and_are_not_cut_off():
    figure, axes = panels()
    for height in (1.0, 1.01, 1.02, 3.0):
        axes[0, 0].semilogy([0, 1], [1.0, height], label=f"to {height}")
    direct_labels(axes[0, 0])
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in axes[0, 0].texts]
    assert len(boxes) == 4
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(box.x1 <= figure.bbox.x1 for box in boxes)


def test_a_line_without_a_point_in_the_panel_has_no_label_and_moves_no_other():
    figure = plt.figure()
    panel = figure.add_axes((0, 0, 1, 1), ylim=(0, 1))
    panel.plot([0, 1], [0, 0], label="at the bottom")
    panel.plot([0, 1], [np.nan, np.nan], label="nowhere")
    panel.plot([], [], label="empty")
    direct_labels(panel)
    (label,) = panel.texts
    assert label.get_text() == "at the bottom"
    assert label.xyann == (4.0, 0.0)  # points to the right of the line's end, and none up


@pytest.mark.parametrize(
    ("scales", "x", "y", "end"),
    [
        pytest.param({"yscale": "log"}, [1, 2, 3], [1.0, 0.1, 0.0], (2, 0.1), id="y is 0 on a logarithmic scale"),
        pytest.param({"xscale": "log"}, [2, 1, 0], [1.0, 2.0, 3.0], (1, 2.0), id="x is 0 on a logarithmic scale"),
        pytest.param({}, [1, 2, 3], [1.0, 0.1, 0.0], (3, 0.0), id="y is 0 on a linear scale"),
        pytest.param({}, [1, 2, 3], [1.0, 0.1, np.inf], (2, 0.1), id="y is infinite"),
    ],
)
def test_a_label_is_at_the_last_point_that_the_scales_can_show(scales, x, y, end):
    _, axes = panels()
    axes[0, 0].set(**scales)
    axes[0, 0].plot(x, y, label="line")
    direct_labels(axes[0, 0])
    assert [text.xy for text in axes[0, 0].texts] == [end]


GAP = 10.0  # between the heights of labels


def test_labels_closer_than_the_gap_are_moved_apart_evenly_and_others_stay():
    np.testing.assert_allclose(_spread_out(np.array([50.0, 3.0, 0.0]), GAP), [50.0, 1.5 + GAP / 2, 1.5 - GAP / 2])


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12))
def test_labels_moved_apart_keep_their_order_and_their_mean(heights):
    heights = np.array(heights)
    moved = _spread_out(heights, GAP)
    order = np.argsort(heights, kind="stable")
    # each of twelve numbers below 1e3 is rounded, and summed with the others up to twelve times
    rounding = 12 * 12 * 1e3 * np.finfo(float).eps
    assert np.all(np.diff(moved[order]) >= GAP - rounding)
    assert moved.mean() == pytest.approx(heights.mean(), rel=0, abs=rounding)


# labels are 1, 2 and 5 in a decade, or two of few digits in a shorter range; from two decades on they are matplotlib's
@pytest.mark.parametrize(
    ("limits", "labels"),
    [
        ((0.3, 4.0), ["0.5", "1", "2"]),
        ((1e-6, 1e-5), ["$10^{-6}$", "$2 \\cdot 10^{-6}$", "$5 \\cdot 10^{-6}$", "$10^{-5}$"]),
        ((1.2, 1.6), ["1.3", "1.5"]),
        ((1.51, 1.53), ["1.517", "1.523"]),
        ((1.0, 100.0), ["$\\mathdefault{10^{0}}$", "$\\mathdefault{10^{1}}$", "$\\mathdefault{10^{2}}$"]),
    ],
)
def test_short_logarithmic_ranges_have_labels_of_few_digits(limits, labels):
    figure, axes = panels()
    axes[0, 0].set(yscale="log", ylim=limits)
    axis = axes[0, 0].yaxis
    _label_short_range(axis)
    figure.canvas.draw()
    low, high = limits
    ticks = axis.get_major_ticks()
    assert [tick.label1.get_text() for tick in ticks if low <= tick.get_loc() <= high] == labels


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.0248412, 3, "0.0248"),
        (6.31456e-5, 2, r"$6.3 \cdot 10^{-5}$"),
        (9.996e-6, 3, "$10^{-5}$"),
        (2e4, 6, r"$2 \cdot 10^{4}$"),
        (99960.0, 6, "$10^{5}$"),
        (0.00099996, 6, "$10^{-3}$"),
        (1234.5678, 8, "1234.57"),
    ],
)
def test_numbers_are_written_as_print_has_them(value, digits, shown):
    assert plain_number(value, digits) == shown


def boxes_of_labels(axis):
    """Return the boxes of the labels that a drawn axis shows, in the order of their ticks."""
    low, high = axis.get_view_interval()
    shown = {}  # by place
    for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
        within = low * (1 - 1e-9) <= tick.get_loc() <= high * (1 + 1e-9)  # powers of ten are rounded
        if within and tick.label1.get_visible() and tick.label1.get_text():
            shown[tick.get_loc()] = tick.label1.get_window_extent()
    return [shown[place] for place in sorted(shown)]


@pytest.mark.parametrize(
    ("limits", "most_ticks"),
    [
        pytest.param((1e-17, 1), 18, id="a tick at each of 18 powers of ten"),
        pytest.param((1e-3, 0.05), None, id="matplotlib's ticks between powers of ten"),
    ],
)
def test_labels_of_logarithmic_ticks_do_not_touch_and_two_at_least_are_left(limits, most_ticks):
    figure, axes = panels(width=1.4, height=1.5)  # inches: too narrow for the labels
    axes[0, 0].set(xscale="log", xlim=limits)
    axis = axes[0, 0].xaxis
    if most_ticks is not None:
        axis.set_major_locator(LogLocator(numticks=most_ticks))
    figure.canvas.draw()
    assert labels_overlap(axis)
    legible_ticks(figure)
    figure.canvas.draw()
    assert not labels_overlap(axis)
    assert len(boxes_of_labels(axis)) >= 2


def labels_overlap(axis):
    return any(box.overlaps(next_box) for box, next_box in pairwise(boxes_of_labels(axis)))


@pytest.mark.parametrize("look", LOOKS)
def test_a_figure_in_a_look_has_its_width_and_is_not_cut_off(look):
    _sheet, width = LOOKS[look]
    with style(look):
        figure, axes = panels(1, 2)
        axes[0, 0].set(xlabel="time $t$", ylabel=r"$\sigma_i(W_1)$", title="large scale")
        # labels beside the panel leave the figure unless panels make room for them
        axes[0, 1].plot([0, 1], label="a line with a long label")
        direct_labels(axes[0, 1])
        sized(figure, look)
        figure.canvas.draw()
        assert figure.get_size_inches()[0] == pytest.approx(width)
        box = figure.get_tightbbox()
    assert box.x0 >= 0
    assert box.x1 <= width


def test_the_look_of_the_paper_has_the_width_that_panels_have_by_default():
    _sheet, width = LOOKS["paper"]
    assert width == WIDTH


def test_the_command_that_draws_a_figure_takes_every_look():
    look = inspect.signature(figure_command.execute).parameters["look"]
    assert set(get_args(look.annotation)) == set(LOOKS)
