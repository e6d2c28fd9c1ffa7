"""Every film, at smoke scale: its width, length and size, that it moves, and that its numbers fill its texts."""

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


# one film after another, each drawn once for all tests
every_motion = pytest.mark.parametrize(("paper", "name"), every_name("motion"), scope="module")


@pytest.fixture(scope="module")
def motion(paper, name):
    """The film as its function returns it, from tables at smoke scale and in the project's style."""
    plan = smoke(paper)
    spec = plan.drawing("motion", paper, name)
    with style():
        move = paper_function(paper, "motion", spec["function"])
        yield move(**tables_of(plan, paper, spec["runs"]), **spec["settings"])
    plt.close("all")


@pytest.fixture(scope="module")
def frames(motion):
    """The pictures of the film, 60."""
    return render_frames(motion)


@every_motion
def test_it_has_the_width_of_films_and_is_as_long_as_one_looks(motion):
    assert motion.figure.get_size_inches()[0] == MOVING
    assert 3 <= motion.seconds <= 4.5  # the command then lets the last frame stay


@every_motion
def test_it_moves_and_does_not_end_where_it_began(frames):
    different = {frame.tobytes() for frame in frames}
    assert len(different) > 10
    assert (np.asarray(frames[0]) != np.asarray(frames[-1])).any()


@every_motion
def test_it_takes_half_a_megabyte_at_most(motion, frames, name):
    encode_webp(frames, motion.seconds, motion.alt, name)  # raises if it takes more than `MAX_BYTES`


@every_motion
def test_its_texts_have_no_typed_result_and_its_facts_fill_them(motion, paper, name):
    caption = smoke(paper).config.caption(paper, name, "motion")
    assert motion.alt
    assert typed_results(caption) == typed_results(motion.alt) == []
    assert fields(caption) | fields(motion.alt) == set(motion.facts)
    assert_filled(motion.facts, caption, motion.alt)
