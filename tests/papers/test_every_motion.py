"""Every figure that moves, at smoke scale: it changes, it is small, and its numbers fill what is said of it."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.motion import MAX_BYTES, encode_webp, render_frames
from learning_dynamics.pipeline.report.templates import fields
from learning_dynamics.plotting import style
from learning_dynamics.plotting.motion import MOVING
from tests.papers.test_every_claim import every_name
from tests.support import smoke, tables_of
from tests.typed_results import assert_filled, typed_results

mpl.use("Agg")


@pytest.fixture
def motion(paper, name):
    whose = smoke(paper)
    spec = whose.drawing("motion", paper, name)
    with style():
        move = paper_function(paper, "motion", spec["function"])
        yield move(**tables_of(whose, paper, spec["runs"]), **spec["settings"])
    plt.close("all")


@pytest.mark.parametrize(("paper", "name"), every_name("motion"))
def test_it_moves_and_is_small(motion, name):
    assert motion.figure.get_size_inches()[0] == MOVING
    frames = render_frames(motion)
    assert 3 <= motion.seconds <= 4.5  # the last frame is held for another 1.5
    different = {frame.tobytes() for frame in frames}
    assert len(different) > 10
    assert len(encode_webp(frames, motion.seconds, "", name)) < MAX_BYTES
    assert (np.asarray(frames[0]) != np.asarray(frames[-1])).any()


@pytest.mark.parametrize(("paper", "name"), every_name("motion"))
def test_its_numbers_fill_what_is_said_of_it(motion, paper, name):
    caption = smoke(paper).config.caption(paper, name, "motion")
    assert typed_results(caption) == []
    assert motion.alt
    assert fields(caption) | fields(motion.alt) == set(motion.facts)
    assert_filled(motion.facts, caption, motion.alt)
