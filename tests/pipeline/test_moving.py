"""Films (`motion.py`) and charts with a slider (`interactive.py`): files, place on the page, reruns and refusals."""

import io
import json
import re
import shutil

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from learning_dynamics.pipeline.commands import interactive, motion
from learning_dynamics.pipeline.store.pictures import read_record
from learning_dynamics.pipeline.store.stamps import read_bytes
from learning_dynamics.plotting import style
from learning_dynamics.plotting.interactive import Interactive
from learning_dynamics.plotting.motion import MOVING as MOVING_WIDTH  # inches
from learning_dynamics.plotting.motion import Motion
from tests.pipeline.conftest import PAPER, TOY, refusal

FIGURE = "figures/toy/growth.pdf"
FILM = "figures/toy/growth.webp"  # of this figure
CHART = "figures/toy/moved.json"  # below this figure
REMADE_BY_EVERY_CHANGE = {"figures/index.html", "results/texts.filled", "results/verdicts.txt"}
CHART_BLOCK = {"function": "growth.growth", "runs": {"slow": "slow"}, "figure": "growth"}  # of the configuration
CHART_SCRIPT = '<script type="module">'  # begins the script that draws all charts of a page
FRAMES_OF_DOT, SECONDS_OF_DOT = 20, 4.0  # of the film of a dot, its last frame's extra time left out


def add_film_and_chart(workspace, **changes):
    """Add to the made-up paper the film `FILM`, and the chart `CHART` below the figure `growth`; build neither.

    `changes` are of the chart's block in the configuration; None leaves a key out.
    """
    for part in ("motion", "interactive"):
        shutil.copy(TOY / f"moving/{part}.py", workspace.folder / PAPER / "growth")
    block = {key: value for key, value in (CHART_BLOCK | changes).items() if value is not None}
    workspace.configure("interactive", "moved", value=block)


@pytest.fixture(scope="module")
def built_moving(built, tmp_path_factory):
    """The made-up paper with a film and a chart of one figure, built; not to be changed."""
    workspace = built.copy(tmp_path_factory.mktemp("moving") / "project")
    add_film_and_chart(workspace)
    workspace.snakemake()
    return workspace


@pytest.fixture
def moving(built_moving, tmp_path):
    """A copy of this project, to be changed freely."""
    return built_moving.copy(tmp_path / "project")


@pytest.fixture(scope="module")
def film_of_a_dot():
    """The frames of a film, and where its axes are: a dot moves along a line, and words are beside the axes.

    The words become longer: if the axes were laid out again for every frame, they would shrink.
    """
    with style():
        figure, axis = plt.subplots(figsize=(MOVING_WIDTH, 1.5))
        axis.plot([0, 1], [0, 1])
        (dot,) = axis.plot([], [], "o")
        words = axis.text(1.01, 0.5, "", transform=axis.transAxes)

        def draw(number):
            dot.set_data([number / FRAMES_OF_DOT], [number / FRAMES_OF_DOT])
            words.set_text("far" if number < FRAMES_OF_DOT / 2 else "further")

        frames = motion.render_frames(Motion(figure, draw, frames=FRAMES_OF_DOT))
        return frames, axis.get_position()


@pytest.fixture(scope="module")
def webp(film_of_a_dot):
    """This film, encoded as bytes."""
    frames, _ = film_of_a_dot
    return encode(frames)


def encode(frames):
    """Return frames as the bytes of a film of `SECONDS_OF_DOT`, of which errors are called `motion dot`."""
    return motion.encode_webp(frames, seconds=SECONDS_OF_DOT, described="a record", label="motion dot")


def test_a_film_is_a_webp_of_all_frames_that_repeats_for_ever(webp):
    with Image.open(io.BytesIO(webp)) as image:
        assert (image.format, image.n_frames) == ("WEBP", FRAMES_OF_DOT)
        assert image.info["loop"] == 0  # for ever


def test_a_film_takes_the_seconds_asked_for_and_then_shows_its_last_frame_for_a_while(webp):
    with Image.open(io.BytesIO(webp)) as image:
        image.seek(FRAMES_OF_DOT - 1)  # the last frame
        image.load()  # reads when the frame begins and how long it stays, in milliseconds
        end = image.info["timestamp"] + image.info["duration"]
    assert end == 1000 * SECONDS_OF_DOT + motion.LAST_FRAME_TIME


def test_a_film_has_the_resolution_and_the_white_background_of_figures(webp):
    with style(), Image.open(io.BytesIO(webp)) as image:
        assert image.width == round(plt.rcParams["savefig.dpi"] * MOVING_WIDTH)
        for number in range(FRAMES_OF_DOT):
            image.seek(number)
            upper_left_corner = image.convert("RGB").getpixel((0, 0))
            assert upper_left_corner == (255, 255, 255), f"frame {number}"


def test_the_axes_of_a_film_do_not_move(film_of_a_dot):
    """The numbers left of the axes and below them stay from the first frame to the last, while the dot moves."""
    (first, *others), axes = film_of_a_dot
    height, width, _ = np.asarray(first).shape  # pixels, the uppermost row first
    # of the axes; those of the figure have the origin at the lower left and sides of length 1
    left, bottom = int(axes.x0 * width), int((1 - axes.y0) * height)
    for number, frame in enumerate(others, start=1):
        has_changed = (np.asarray(frame) != np.asarray(first)).any(axis=2)  # shape (height, width)
        left_of_axes, below_axes = has_changed[:, :left], has_changed[bottom:]
        within_axes_and_right_of_them = has_changed[:bottom, left:]
        assert within_axes_and_right_of_them.any(), f"nothing has moved until frame {number}"
        assert not left_of_axes.any(), f"frame {number}"
        assert not below_axes.any(), f"frame {number}"


def test_a_film_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(motion, "MAX_BYTES", 4000)
    # noise cannot be compressed: 12 frames of 30 x 50 pixels, each one of 64 colours (`motion.COLOURS`), take 13 kB
    noise = np.random.default_rng(0).integers(0, 255, (12, 30, 50, 3), dtype=np.uint8)
    frames = [Image.fromarray(frame) for frame in noise]
    assert re.match(r"motion dot: takes \d\d kB, at most 4 are shown; let less of it move", refusal(encode, frames))


def test_a_film_may_have_as_many_bytes_as_are_shown_and_not_one_more(film_of_a_dot, webp, monkeypatch):
    frames, _ = film_of_a_dot
    monkeypatch.setattr(motion, "MAX_BYTES", len(webp))
    assert encode(frames) == webp
    monkeypatch.setattr(motion, "MAX_BYTES", len(webp) - 1)
    refusal(encode, frames)


def test_a_chart_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(interactive, "MAX_BYTES", 1000)
    # in place of a chart's specification: 400 points, of five characters with their commas
    monkeypatch.setattr(interactive, "complete", lambda chart, description: {"values": [0.25] * 400})
    message = refusal(interactive.chart_json, Interactive(None), description="", label="interactive growth")
    assert message == "interactive growth: takes 2 kB, at most 1 are shown; give it fewer points"


def test_a_chart_may_have_as_many_bytes_as_are_shown_and_not_one_more(monkeypatch):
    monkeypatch.setattr(interactive, "complete", lambda chart, description: {"σ": 1})
    text = '{"σ":1}'  # seven characters in eight bytes
    monkeypatch.setattr(interactive, "MAX_BYTES", 8)
    assert interactive.chart_json(Interactive(None), description="", label="interactive growth") == text
    monkeypatch.setattr(interactive, "MAX_BYTES", 7)
    refusal(interactive.chart_json, Interactive(None), description="", label="interactive growth")


def test_a_film_is_made_beside_its_figure_with_its_record(built_moving):
    record = read_record(built_moving.folder / FILM)
    assert (record["stage"], record["name"], record["facts"]) == ("motion", "growth", {"draws": 3})
    assert list(record["settings"]["runs"]) == ["slow"]  # the figure draws `fast` as well


def test_a_film_has_the_frames_that_its_function_asks_for(built_moving):
    with Image.open(built_moving.folder / FILM) as image:
        assert image.n_frames == 41  # the start of the run `slow`, and each of its 40 steps


def test_a_chart_is_made_beside_its_figure_with_its_record(built_moving):
    record = read_record(built_moving.folder / CHART)
    assert (record["stage"], record["name"], record["facts"]) == ("interactive", "moved", {"draws": 3})


def test_a_charts_description_has_the_facts_of_its_function(built_moving):
    _, chart = json.loads(read_bytes(built_moving.folder / CHART))
    assert chart["description"] == "A curve, one of 3."


@pytest.mark.parametrize(
    "words",
    [
        pytest.param("In motion: slow growth of 3 draws.", id="caption of the film"),
        pytest.param("A curve of 3 draws.", id="description of the film"),
        pytest.param("Move the draw: slow growth of 3 draws.", id="caption of the chart"),
        pytest.param("draw 0 \\u003c/script>", id="title of the chart, whose `<` would end the page's script"),
    ],
)
def test_the_page_of_a_paper_has_its_films_and_charts_with_their_texts(built_moving, words):
    assert words in built_moving.read("figures/toy.html")


def test_a_page_of_two_charts_has_the_script_that_draws_them_once(moving):
    moving.configure("interactive", "below_decay", value=CHART_BLOCK | {"figure": "decay"})
    moving.snakemake()
    page = moving.read("figures/toy.html")
    assert page.count('<div class="interactive"') == 2
    assert page.count(CHART_SCRIPT) == 1


def test_a_page_without_charts_has_no_script_that_draws_them(built, built_moving):
    assert CHART_SCRIPT not in built.read("figures/toy.html")
    assert CHART_SCRIPT not in built_moving.read("figures/index.html")


def test_films_and_charts_that_are_made_are_up_to_date(built_moving):
    assert "Nothing to be done" in built_moving.snakemake("--dry-run").stdout


def count_checked_outputs(workspace) -> int:
    """Return how many outputs `check` compares, and assert that none of them is stale."""
    output = workspace.cli("check").stdout
    counted = re.match(r"(\d+) outputs checked, 0 stale", output)
    assert counted, output
    return int(counted[1])


def test_films_and_charts_are_checked_with_the_other_outputs(built, built_moving):
    assert count_checked_outputs(built_moving) == count_checked_outputs(built) + len({FILM, CHART})


def test_a_new_film_and_a_new_chart_make_nothing_else_but_the_pages_and_the_verdicts(workspace):
    add_film_and_chart(workspace)
    assert workspace.would_run() == {FILM, CHART} | REMADE_BY_EVERY_CHANGE


def test_a_film_of_a_figure_that_does_not_move_is_refused(built_moving):
    ended = built_moving.snakemake("--dry-run", "figures/toy/decay.webp", check=False)
    assert ended.returncode != 0
    assert "figures.decay: does not move; those that do: growth" in ended.stderr + ended.stdout


def draw_in_another_colour(workspace):
    workspace.edit(f"{PAPER}/growth/figures.py", '"blue"', '"green"')


def change_the_run_that_only_the_figure_draws(workspace):
    workspace.configure("runs", "fast", "rate", value=0.03)


@pytest.mark.parametrize("change", [draw_in_another_colour, change_the_run_that_only_the_figure_draws])
def test_a_change_of_the_figure_alone_redraws_neither_film_nor_chart(moving, change):
    change(moving)
    planned = moving.would_run()
    assert FIGURE in planned
    assert not {FILM, CHART} & planned


def test_a_film_whose_function_changes_is_redrawn(moving):
    moving.edit(f"{PAPER}/growth/motion.py", "figsize=(MOVING, 2.0)", "figsize=(MOVING, 2.1)")
    assert moving.would_run() == {FILM} | REMADE_BY_EVERY_CHANGE


def test_a_chart_whose_function_changes_is_redrawn(moving):
    moving.edit(f"{PAPER}/growth/interactive.py", "x=", "color=alt.value('red'), x=")
    assert moving.would_run() == {CHART} | REMADE_BY_EVERY_CHANGE


def test_spoilt_films_and_charts_are_named_and_redrawn(moving):
    film, chart = moving.folder / FILM, moving.folder / CHART
    shutil.copy(film.with_name("growth.png"), film)  # a picture that is no film
    chart.write_bytes(chart.read_bytes()[:-9])  # without its end
    checked = moving.cli("check")
    assert checked.returncode == 1
    for path in (FILM, CHART):
        assert f"error: {path}: damaged, or not written by learning-dynamics" in checked.stderr, path
    assert {FILM, CHART} <= moving.would_run()
    moving.snakemake()
    assert moving.cli("check").returncode == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runs": {"slow": "slwo"}}, "interactive.moved.runs.slow: no run `slwo`; did you mean `slow`?"),
        ({"figure": None}, "interactive.moved.figure: missing; add it"),
        ({"figure": "grwoth"}, "interactive.moved.figure: no figure `grwoth`; did you mean `growth`?"),
        ({"function": "growth.shrinkage"}, "interactive.moved.function: no function `shrinkage`"),
    ],
)
def test_a_chart_whose_configuration_does_not_fit_is_refused_before_anything_runs(clean, changes, message):
    add_film_and_chart(clean, **changes)
    ended = clean.cli("check")
    assert ended.returncode != 0
    assert message in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_a_second_chart_below_one_figure_is_refused(clean):
    add_film_and_chart(clean)
    clean.configure("interactive", "again", value=CHART_BLOCK)
    message = "interactive.again.figure: `moved` is below `growth` already; name another"
    assert message in clean.cli("check").stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param(
            "slow: Table",
            "another: Table",
            "figures.growth.runs.another: missing",
            id="a role that the figure does not have",
        ),
        pytest.param(
            "def growth(",
            "def grrowth(",
            "`grrowth` moves no figure; did you mean `growth`?",
            id="a name that no figure has",
        ),
    ],
)
def test_a_film_whose_function_does_not_fit_its_figure_is_refused(clean, old, new, message):
    """Before anything runs."""
    add_film_and_chart(clean)
    clean.configure("interactive", value={})  # so that the film alone is to blame
    clean.edit(f"{PAPER}/growth/motion.py", old, new)
    ended = clean.snakemake("--dry-run", check=False)
    assert ended.returncode != 0
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr
