"""Every figure of every paper at smoke scale: finite data on labelled axes, and a caption that its numbers fill."""

import re
import string

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.report.templates import MATHS, fill
from learning_dynamics.pipeline.store.stamps import plain_facts
from learning_dynamics.plotting import Plot, style
from tests.support import every_name, smoke, tables_of
from tests.typed_results import assert_filled, typed_results

mpl.use("Agg")

# one figure after another, each drawn once for all tests
every_figure = pytest.mark.parametrize(("paper", "name"), every_name("figure"), scope="module")


@pytest.fixture(scope="module")
def plot(paper, name):
    """The figure with its facts and alternative text, rendered so that positions and labels are those of the page."""
    plan = smoke(paper)
    spec = plan.drawing("figure", paper, name)
    with style():
        draw = paper_function(paper, "figures", spec["function"])
        drawn = Plot.of(draw(**tables_of(plan, paper, spec["runs"]), **spec["settings"]))
        drawn.figure.canvas.draw()
        yield drawn
    plt.close("all")


# -- data and labels -------------------------------------------------------------------------------


def shown_axes(figure):
    """Return axes that are visible and have a frame: not those that hold a table or a legend alone."""
    return [axis for axis in figure.axes if axis.get_visible() and axis.axison]


def is_colour_bar(axis):
    return axis.get_label() == "<colorbar>"


def data_of(axis):
    """Return an array for each line, set of points, area, image and bar that is drawn on an axis."""
    arrays = [np.asarray(line.get_xydata(), dtype=float) for line in axis.lines if len(line.get_xydata())]
    arrays += [np.ma.getdata(points.get_offsets()) for points in axis.collections if len(points.get_offsets())]
    arrays += [path.vertices for area in axis.collections for path in area.get_paths() if len(path.vertices)]
    arrays += [np.asarray(image.get_array(), dtype=float) for image in axis.images]
    return arrays + [patch.get_extents().get_points() for patch in axis.patches]


def is_labelled(axis, which):
    """Whether x or y of an axis has a label, its own or a shared one, words at its ticks, or no visible ticks."""
    shared = getattr(axis, f"get_shared_{which}_axes")().get_siblings(axis)  # the axis itself among them
    labels = [getattr(sibling, f"get_{which}label")() for sibling in shared]
    labels.append(getattr(axis.figure, f"get_sup{which}label")())
    ticks = [tick.get_text() for tick in getattr(axis, f"get_{which}ticklabels")() if tick.get_visible()]
    has_words = any(letter.isalpha() for letter in re.sub(r"\$[^$]*\$", "", "".join(ticks)))  # 10^0 is no word
    return any(labels) or has_words or not any(ticks)


@every_figure
def test_it_shows_finite_data(plot):
    has_table = any(axis.tables for axis in plot.figure.axes)
    shown = shown_axes(plot.figure)
    assert shown or has_table, "there are no axes"
    arrays = [array for axis in shown for array in data_of(axis)]
    assert arrays or has_table, "nothing is drawn"
    assert not any(np.isinf(array).any() for array in arrays), "infinite values are drawn"
    assert all(np.isfinite(array).any() for array in arrays), "a line has no finite value"


@every_figure
def test_its_axes_and_colour_bars_have_labels(plot):
    for axis in shown_axes(plot.figure):
        if is_colour_bar(axis):
            assert axis.get_xlabel() or axis.get_ylabel() or axis.get_title(), "a colour bar without a label"
        elif data_of(axis):
            assert is_labelled(axis, "x"), f"no label on x of {axis.get_title() or axis}"
            assert is_labelled(axis, "y"), f"no label on y of {axis.get_title() or axis}"


@every_figure
def test_its_legend_is_not_cut_off(plot):
    width, height = plot.figure.bbox.size
    for legend in plot.figure.legends:
        box = legend.get_window_extent()
        # a pixel may be lost to rounding
        assert min(box.x0, box.y0) >= -1, "cut off on the left or below"
        assert box.x1 <= width + 1, "cut off on the right"
        assert box.y1 <= height + 1, "cut off above"


# -- captions --------------------------------------------------------------------------------------


@every_figure
def test_its_texts_are_filled_by_its_numbers_and_have_no_typed_results(plot, paper, name):
    caption = smoke(paper).config.caption(paper, name)
    assert typed_results(caption) == typed_results(plot.alt) == []
    assert_filled(plot.facts, caption, plot.alt)


LETTER = re.compile(r"\(([a-z])\)")  # (a)
LETTERS = re.compile(r"\(([a-z])\)(?:\s+to\s+\(([a-z])\))?")  # (a), or (a) to (c)
# "Left:", "Top right panels:", "Last panel:", but not "Left axis:"
POSITION = re.compile(r"\b(?:Left|Right|Top|Bottom|Middle|(?:First|Last) panel)\b(?! axis)[^.]*:")


def letter_of(axis):
    """Return the letter with which the title of an axis begins, or else its label on the left; None without one."""
    match = LETTER.match(axis.get_title()) or LETTER.match(axis.get_ylabel())
    return match[1] if match else None


def letters_of_panels(figure):
    """Return the letters of panels or of rows, in the order of the panels."""
    return [letter for axis in figure.axes if (letter := letter_of(axis))]


def place_of(axis):
    """Return left, bottom, width and height of an axis; axes on top of each other are in one place."""
    return tuple(np.round(axis.get_position().bounds, 3).tolist())


def places_of_panels(figure):
    return {place_of(axis) for axis in shown_axes(figure) if not is_colour_bar(axis)}


def leftmost_of_each_row(places):
    """Return of all places with one bottom the leftmost."""
    by_bottom = {}
    for left, bottom, *size in sorted(places):
        by_bottom.setdefault(bottom, (left, bottom, *size))
    return set(by_bottom.values())


def letters_in_caption(caption):
    """Return the letters that a caption names outside of formulas: "(a) to (c)" names (b) as well."""
    prose = "".join(MATHS.split(caption)[::2])  # what is between formulas
    letters = set()
    for first, last in LETTERS.findall(prose):
        letters |= {chr(code) for code in range(ord(first), ord(last or first) + 1)}
    return letters


@every_figure
def test_its_panels_have_letters_in_order(plot):
    letters = letters_of_panels(plot.figure)
    assert letters == list(string.ascii_lowercase[: len(letters)])


@every_figure
def test_all_its_panels_or_rows_have_letters(plot):
    panels = places_of_panels(plot.figure)
    # at smoke scale some of them may have nothing to show, and are no panels then
    with_letter = [place_of(axis) for axis in plot.figure.axes if letter_of(axis)]
    assert len(set(with_letter)) == len(with_letter), "two letters in one place"
    if len(panels) <= 1:
        # one panel needs no letter, and has one if it is one of several at full scale
        assert len(with_letter) <= 1, "letters, but no panels"
        return
    rows = leftmost_of_each_row(panels)
    every_row_has_one = len(rows) > 1 and set(with_letter) == rows
    without_letter = panels - set(with_letter)
    assert every_row_has_one or not without_letter, f"no letter at left, bottom, width, height: {without_letter}"


@every_figure
def test_its_caption_names_panels_by_their_letters(plot, paper, name):
    caption = fill(smoke(paper).config.caption(paper, name), plain_facts(plot.facts))
    missing = set(letters_of_panels(plot.figure)) - letters_in_caption(caption)
    assert not missing, f"the caption does not name {missing}"
    assert not POSITION.search(caption), "a panel is named by where it is"
