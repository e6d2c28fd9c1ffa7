"""Every figure that moves, at smoke scale: it changes, it is small, and its numbers fill what is said of it."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.motion import encode_webp, render_frames
from learning_dynamics.pipeline.report.templates import fields
from learning_dynamics.plotting import style
from learning_dynamics.plotting.motion import MOVING
from tests.support import every_name, smoke, tables_of
from tests.typed_results import assert_filled, typed_results

mpl.use("Agg")


@pytest.fixture
def motion(paper, name):
    """The figure that moves, at smoke scale, as the command draws it.

    Its function is called with the tables of its runs, in the project's style.
    """
    plan = smoke(paper)
    spec = plan.drawing("motion", paper, name)
    with style():
        move = paper_function(paper, "motion", spec["function"])
        yield move(**tables_of(plan, paper, spec["runs"]), **spec["settings"])
    plt.close("all")


@pytest.mark.parametrize(("paper", "name"), every_name("motion"))
def test_it_moves_and_is_small(motion, name):
    assert motion.figure.get_size_inches()[0] == MOVING  # the width of all that move
    frames = render_frames(motion)
    assert 3 <= motion.seconds <= 4.5  # as long as one looks; the command then lets the last frame stay
    different = {frame.tobytes() for frame in frames}
    assert len(different) > 10  # of `FRAMES`, 60
    encode_webp(frames, motion.seconds, motion.alt, name)  # raises if it takes more than `MAX_BYTES`, half a megabyte
    assert (np.asarray(frames[0]) != np.asarray(frames[-1])).any()  # it does not end where it began


@pytest.mark.parametrize(("paper", "name"), every_name("motion"))
def test_its_numbers_fill_what_is_said_of_it(motion, paper, name):
    caption = smoke(paper).config.caption(paper, name, "motion")
    assert motion.alt
    # no number is typed into the texts: each is a field, and every field a fact
    assert typed_results(caption) == typed_results(motion.alt) == []
    assert fields(caption) | fields(motion.alt) == set(motion.facts)
    assert_filled(motion.facts, caption, motion.alt)
