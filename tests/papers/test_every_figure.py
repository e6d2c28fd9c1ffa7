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
from tests.papers.test_every_claim import every_name
from tests.support import smoke, tables_of
from tests.typed_results import assert_filled, typed_results

mpl.use("Agg")

LETTER = re.compile(r"\(([a-z])\)")
LETTERS = re.compile(r"\(([a-z])\)(?:\s+to\s+\(([a-z])\))?")
POSITION = re.compile(r"\b(?:Left|Right|Top|Bottom|Middle|(?:First|Last) panel)\b(?! axis)[^.]*:")


@pytest.fixture
def drawn(paper, name):
    whose = smoke(paper)
    spec = whose.drawing("figure", paper, name)
    with style():
        draw = paper_function(paper, "figures", spec["function"])
        found = Plot.of(draw(**tables_of(whose, paper, spec["runs"]), **spec["settings"]))
        found.figure.canvas.draw()
        yield found
    plt.close("all")


def data_of(axis):
    """Return arrays of what is drawn on an axis: lines, points, images, bars."""
    arrays = [np.asarray(line.get_xydata(), dtype=float) for line in axis.lines if len(line.get_xydata())]
    arrays += [np.ma.getdata(points.get_offsets()) for points in axis.collections if len(points.get_offsets())]
    arrays += [path.vertices for area in axis.collections for path in area.get_paths() if len(path.vertices)]
    arrays += [np.asarray(image.get_array(), dtype=float) for image in axis.images]
    return arrays + [np.array([patch.get_extents().get_points()]) for patch in axis.patches]


def is_labelled(axis, which):
    """Whether an axis has a label of its own, shares one, or leaves its ticks to a neighbour."""
    own = axis.get_xlabel() if which == "x" else axis.get_ylabel()
    shared = getattr(axis, f"get_shared_{which}_axes")().get_siblings(axis)
    of_all = axis.figure.get_supxlabel() if which == "x" else axis.figure.get_supylabel()
    labelled = any(one.get_xlabel() if which == "x" else one.get_ylabel() for one in shared)
    ticks = (axis.xaxis if which == "x" else axis.yaxis).get_ticklabels()
    words = any(tick.get_visible() and any(letter.isalpha() for letter in tick.get_text()) for tick in ticks)
    return own or labelled or of_all or words or not any(tick.get_visible() and tick.get_text() for tick in ticks)


@pytest.mark.parametrize(("paper", "name"), every_name("figure"))
def test_it_shows_finite_data_on_labelled_axes_with_a_filled_caption(drawn, paper, name):
    shown = [axis for axis in drawn.figure.axes if axis.get_visible() and axis.axison]
    tables = [axis for axis in drawn.figure.axes if axis.tables]
    assert shown or tables, "there are no axes"
    arrays = [array for axis in shown for array in data_of(axis)]
    assert arrays or tables, "nothing is drawn"
    assert not any(np.isinf(array).any() for array in arrays), "infinite values are drawn"
    assert all(np.isfinite(array).any() for array in arrays), "a line has no finite value"
    for axis in shown:
        if axis.get_label() == "<colorbar>":
            assert axis.get_xlabel() or axis.get_ylabel() or axis.get_title(), "a colour bar without a label"
        elif data_of(axis):
            assert is_labelled(axis, "x"), f"no label on x of {axis.get_title() or axis}"
            assert is_labelled(axis, "y"), f"no label on y of {axis.get_title() or axis}"
    caption = smoke(paper).config.caption(paper, name)
    assert typed_results(caption) == []
    assert_filled(drawn.facts, caption, drawn.alt)


@pytest.mark.parametrize(("paper", "name"), every_name("figure"))
def test_its_legend_is_not_cut_off(drawn, paper, name):
    drawn.figure.canvas.draw()
    width, height = drawn.figure.bbox.size
    for legend in drawn.figure.legends:
        box = legend.get_window_extent()
        assert min(box.x0, box.y0) >= -1, "cut off on the left or below"
        assert box.x1 <= width + 1, "cut off on the right"
        assert box.y1 <= height + 1, "cut off above"


def letters_of(figure):
    """Return the letters with which titles, or labels on the left of rows, begin, in the order of the panels."""
    labels = (label for axis in figure.axes for label in (axis.get_title(), axis.get_ylabel()))
    return [found[1] for label in labels if (found := LETTER.match(label))]


def panels_of(figure):
    """Return where panels are; axes on top of others, and colour bars, are none."""
    shown = [axis for axis in figure.axes if axis.get_visible() and axis.axison and axis.get_label() != "<colorbar>"]
    return {tuple(np.round(axis.get_position().bounds, 3)) for axis in shown}


def letters_in(caption):
    """Return the letters that a caption names outside of formulas, those between two as well."""
    named = set()
    for first, last in LETTERS.findall("".join(MATHS.split(caption)[::2])):
        named |= {chr(code) for code in range(ord(first), ord(last or first) + 1)}
    return named


@pytest.mark.parametrize(("paper", "name"), every_name("figure"))
def test_its_panels_have_letters_that_its_caption_names(drawn, paper, name):
    panels, letters = panels_of(drawn.figure), letters_of(drawn.figure)
    assert letters == list(string.ascii_lowercase[: len(letters)])
    rows = {bottom for _, bottom, _, _ in panels}
    # at smoke scale a panel may have nothing to show, and a figure one panel of several
    allowed = {len(panels), len(rows), len(drawn.figure.axes)} if len(panels) > 1 else {0, 1}
    assert len(letters) in allowed, f"{len(panels)} panels, {len(letters)} letters"
    caption = fill(smoke(paper).config.caption(paper, name), plain_facts(drawn.facts))
    assert set(letters) <= letters_in(caption), f"the caption does not name {set(letters) - letters_in(caption)}"
    assert not POSITION.search(caption), "a panel is named by where it is"
