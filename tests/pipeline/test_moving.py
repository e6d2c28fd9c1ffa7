"""Films, and charts that their reader moves: their files, their place on the page, their reruns, and refusals."""

import io
import json
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
from learning_dynamics.plotting.motion import MOVING, Motion
from tests.pipeline.conftest import PAPER, TOY, refusal

FILM, CHART, STILL = "figures/toy/growth.webp", "figures/toy/moved.json", "figures/toy/growth.pdf"
PAGE = {"figures/index.html", "results/verdicts.txt"}
# of the made-up paper without its film and its chart
OUTPUTS = 22
DPI = 220  # of the project's pictures, `savefig.dpi`
MARGIN = 40  # pixels along the left and the bottom, which have the numbers and labels of the axes
BLOCK = {"function": "growth.growth", "runs": {"slow": "slow"}, "figure": "growth"}  # of the chart


def add_film_and_chart(workspace, **changes):
    """Add a film and a chart of the made-up paper's growth.

    `changes` are of the chart's block; None leaves a key out.
    """
    for part in ("motion", "interactive"):
        shutil.copy(TOY / f"moving/{part}.py", workspace.folder / PAPER / "growth")
    block = {key: value for key, value in (BLOCK | changes).items() if value is not None}
    workspace.configure("interactive", "moved", value=block)


@pytest.fixture(scope="module")
def moving_once(built, tmp_path_factory):
    """The made-up paper, of which one figure moves; not to be changed."""
    workspace = built.copy(tmp_path_factory.mktemp("moving") / "project")
    add_film_and_chart(workspace)
    assert workspace.would_run() == {FILM, CHART} | PAGE
    workspace.snakemake()
    return workspace


@pytest.fixture
def moving(moving_once, tmp_path):
    return moving_once.copy(tmp_path / "project")


@pytest.fixture(scope="module")
def frames():
    """The frames of a film of a dot that moves along a line."""
    with style():
        figure, axis = plt.subplots(figsize=(MOVING, 1.5))
        axis.plot([0, 1], [0, 1])
        (dot,) = axis.plot([], [], "o")
        film = Motion(figure, lambda number: dot.set_data([number / 20], [number / 20]), frames=20)
        return list(motion.render_frames(film))


@pytest.fixture(scope="module")
def webp(frames):
    """These frames as a film of four seconds, bytes."""
    return motion.encode_webp(frames, 4.0, "of a test", "motion test")


def test_a_film_is_small(webp):
    assert len(webp) <= motion.MAX_BYTES


def test_a_film_repeats_and_lasts_some_seconds(webp):
    with Image.open(io.BytesIO(webp)) as image:
        assert image.format == "WEBP"
        assert image.n_frames == 20
        assert image.info["loop"] == 0  # for ever
        image.seek(19)
        image.load()
        assert 3000 <= image.info["timestamp"] + image.info["duration"] <= 6000  # milliseconds, when the last one ends


def test_a_film_has_the_resolution_and_the_white_ground_of_figures(webp):
    with Image.open(io.BytesIO(webp)) as image:
        assert image.width == round(DPI * MOVING)
        image.seek(19)
        assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


def test_a_film_holds_its_axes_still(frames):
    first, last = np.asarray(frames[0]), np.asarray(frames[-1])
    rows, columns = np.nonzero((first != last).any(axis=2))
    assert columns.min() > MARGIN
    assert 0 < rows.max() < len(first) - MARGIN


def test_a_film_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(motion, "MAX_BYTES", 4000)
    noise = np.random.default_rng(0).integers(0, 255, (12, 30, 50, 3), dtype=np.uint8)
    message = refusal(motion.encode_webp, [Image.fromarray(frame) for frame in noise], 4.0, "", "motion test")
    assert message.startswith("motion test: takes ")
    assert "kB, at most 4 are shown" in message


def test_a_chart_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(interactive, "MAX_BYTES", 100)
    monkeypatch.setattr(interactive, "complete", lambda chart, description: {"values": [0.25] * 100})
    message = refusal(interactive.chart_json, Interactive(None), "", "growth")
    assert message.startswith("growth: takes 1 kB, at most 0 are shown; give it fewer points")


def test_a_film_is_made_beside_its_figure_with_its_record(moving_once):
    record = read_record(moving_once.folder / FILM)
    assert (record["stage"], record["name"], record["facts"]) == ("motion", "growth", {"draws": 3})
    assert list(record["settings"]["runs"]) == ["slow"]
    with Image.open(moving_once.folder / FILM) as image:
        assert image.n_frames > 10


def test_a_chart_is_made_beside_its_figure_with_its_record(moving_once):
    record = read_record(moving_once.folder / CHART)
    assert (record["stage"], record["name"], record["facts"]) == ("interactive", "moved", {"draws": 3})
    _, chart = json.loads(read_bytes(moving_once.folder / CHART))
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
def test_a_film_and_a_chart_are_on_the_page_of_their_paper(moving_once, words):
    assert words in moving_once.read("figures/toy.html")


def test_the_script_that_draws_charts_is_once_on_a_page_with_charts_and_on_no_other(moving_once):
    assert moving_once.read("figures/toy.html").count('<script type="module">') == 1
    assert '<script type="module">' not in moving_once.read("figures/index.html")


def test_films_and_charts_that_are_made_are_up_to_date(moving_once):
    assert "Nothing to be done" in moving_once.snakemake("--dry-run").stdout


def test_films_and_charts_are_checked_with_the_other_outputs(moving_once):
    assert moving_once.stage("check").stdout.startswith(f"{OUTPUTS + 2} outputs checked, 0 stale")


def test_a_film_of_a_figure_that_does_not_move_is_refused(moving_once):
    ended = moving_once.snakemake("--dry-run", "figures/toy/decay.webp", check=False)
    assert ended.returncode != 0
    assert "figures.decay: does not move; those that do: growth" in ended.stderr + ended.stdout


def test_a_change_of_the_figure_or_its_other_run_redraws_neither_film_nor_chart(moving):
    moving.edit(f"{PAPER}/growth/figures.py", '"blue"', '"green"')
    moving.configure("runs", "fast", "rate", value=0.03)  # which only the figure draws
    planned = moving.would_run()
    assert STILL in planned
    assert not {FILM, CHART} & planned


def test_a_film_and_a_chart_whose_function_changes_are_redrawn(moving):
    moving.edit(f"{PAPER}/growth/motion.py", "figsize=(MOVING, 2.0)", "figsize=(MOVING, 2.1)")
    moving.edit(f"{PAPER}/growth/interactive.py", "x=", "color=alt.value('red'), x=")
    assert {FILM, CHART} <= moving.would_run()


def test_spoilt_films_and_charts_are_named_and_redrawn(moving):
    film, chart = moving.folder / FILM, moving.folder / CHART
    shutil.copy(film.with_name("growth.png"), film)  # no film
    chart.write_bytes(chart.read_bytes()[:-9])  # cut off
    checked = moving.stage("check")
    assert checked.returncode == 1
    for path in (FILM, CHART):
        assert f"error: {path}: damaged, or not written by learning-dynamics" in checked.stderr, path
    assert {FILM, CHART} <= moving.would_run()
    moving.snakemake()
    assert moving.stage("check").returncode == 0


def test_a_block_that_does_not_fit_is_refused_before_anything_runs(clean):
    for changes, message in (
        ({"runs": {"slow": "slwo"}}, "interactive.moved.runs.slow: no run `slwo`; did you mean `slow`?"),
        ({"figure": None}, "interactive.moved.figure: missing; add it"),
        ({"figure": "grwoth"}, "interactive.moved.figure: no figure `grwoth`; did you mean `growth`?"),
        ({"function": "growth.shrinkage"}, "interactive.moved.function: no function `shrinkage`"),
    ):
        add_film_and_chart(clean, **changes)
        ended = clean.stage("check")
        assert ended.returncode != 0, changes
        assert message in ended.stderr, changes
        assert ended.stderr.count("\n") == 1, changes


def test_a_second_chart_below_one_figure_is_refused(clean):
    add_film_and_chart(clean)
    clean.configure("interactive", "again", value=BLOCK)
    message = "interactive.again.figure: `moved` is below `growth` already; name another"
    assert message in clean.stage("check").stderr


def test_a_film_whose_function_does_not_fit_its_figure_is_refused_before_anything_runs(clean):
    for old, new, message in (
        ("slow: Table", "another: Table", "figures.growth.runs.another: missing"),
        ("def growth(", "def grrowth(", "`grrowth` moves no figure; did you mean `growth`?"),
    ):
        add_film_and_chart(clean)  # with the function as it is shipped
        clean.configure("interactive", value={})  # films need no block
        clean.edit(f"{PAPER}/growth/motion.py", old, new)
        ended = clean.snakemake("--dry-run", check=False)
        assert ended.returncode != 0, old
        assert message in ended.stderr, old
        assert "Traceback" not in ended.stderr, old
