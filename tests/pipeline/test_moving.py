"""Figures that move, by themselves or by the reader: what is written, and what is made of it."""

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
# the made-up paper without what moves; the film and the chart are two more
OUTPUTS = 22
DPI = 220  # of the project's pictures, `savefig.dpi`
MARGIN = 40  # pixels along the left and the bottom, in which numbers and labels of the axes stand: they stay
BLOCK = {"function": "growth.growth", "runs": {"slow": "slow"}, "figure": "growth"}


def declare(workspace, **changes):
    """Have the growth of the made-up paper move, in a film and in a chart."""
    for part in ("motion", "interactive"):
        shutil.copy(TOY / f"moving/{part}.py", workspace.folder / PAPER / "growth")
    block = {key: value for key, value in (BLOCK | changes).items() if value is not None}
    workspace.configure("interactive", "moved", value=block)


@pytest.fixture(scope="module")
def moving_once(built, tmp_path_factory):
    """The made-up paper, of which one figure moves; not to be changed."""
    workspace = built.copy(tmp_path_factory.mktemp("moving") / "project")
    declare(workspace)
    assert workspace.would_run() == {FILM, CHART} | PAGE
    workspace.snakemake()
    return workspace


@pytest.fixture
def moving(moving_once, tmp_path):
    return moving_once.copy(tmp_path / "project")


def test_a_film_is_small_repeats_lasts_some_seconds_and_holds_its_axes_still(tmp_path):
    with style():
        figure, axis = plt.subplots(figsize=(MOVING, 1.5))
        axis.plot([0, 1], [0, 1])
        (dot,) = axis.plot([], [], "o")
        film = Motion(figure, lambda number: dot.set_data([number / 20], [number / 20]), frames=20)
        frames = list(motion.render_frames(film))
        data = motion.encode_webp(frames, 4.0, "of a test", "motion test")
    assert len(data) <= motion.MAX_BYTES
    (tmp_path / "film.webp").write_bytes(data)
    with Image.open(tmp_path / "film.webp") as image:
        repeats = image.info["loop"] == 0
        assert (image.format, image.is_animated, image.n_frames, repeats) == ("WEBP", True, 20, True)
        assert image.width == round(DPI * MOVING)
        image.seek(19)
        assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)  # a corner of the paper, still white
        assert 3000 <= image.info["timestamp"] + image.info["duration"] <= 6000  # milliseconds, when the last one ends
    first, last = (np.asarray(frames[place], dtype=int) for place in (0, -1))
    rows, columns = (np.flatnonzero((first != last).any(axis=(other, 2))) for other in (1, 0))
    assert columns.min() > MARGIN
    assert 0 < rows.max() < len(first) - MARGIN


def test_a_film_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(motion, "MAX_BYTES", 4000)
    noise = np.random.default_rng(0).integers(0, 255, (12, 30, 50, 3), dtype=np.uint8)
    said = refusal(motion.encode_webp, [Image.fromarray(one) for one in noise], 4.0, "", "motion test")
    assert said.startswith("motion test: takes ")
    assert "kB, at most 4 are shown" in said


def test_a_chart_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(interactive, "MAX_BYTES", 100)
    monkeypatch.setattr(interactive, "complete", lambda drawn, said: {"values": [0.25] * 100})
    said = refusal(interactive.chart_json, Interactive(None), "", "growth")
    assert said.startswith("growth: takes 1 kB, at most 0 are shown; give it fewer points")


def test_a_film_and_a_chart_are_made_beside_their_figure_with_their_record(moving_once):
    film, chart = (read_record(moving_once.folder / path) for path in (FILM, CHART))
    assert (film["stage"], film["name"], film["facts"]) == ("motion", "growth", {"draws": 3})
    assert list(film["settings"]["runs"]) == ["slow"]
    assert (chart["stage"], chart["name"], chart["facts"]) == ("interactive", "moved", {"draws": 3})
    with Image.open(moving_once.folder / FILM) as image:
        assert image.n_frames > 10
    assert json.loads(read_bytes(moving_once.folder / CHART))[1]["description"] == "A curve, one of 3."


def test_a_film_and_a_chart_stand_on_the_page_of_their_paper(moving_once):
    page = moving_once.read("figures/toy.html")
    for words in (
        *("In motion: slow growth of 3 draws.", "A curve of 3 draws."),
        *("Move the draw: slow growth of 3 draws.", "draw 0 \\u003c/script>"),  # whose `<` would end the page's script
    ):
        assert words in page, words
    # what draws charts is there once, and only where there are charts
    assert page.count('<script type="module">') == 1
    assert '<script type="module">' not in moving_once.read("figures/index.html")


def test_once_made_films_and_charts_are_up_to_date_and_checked_with_the_rest(moving_once):
    assert "Nothing to be done" in moving_once.snakemake("--dry-run").stdout
    assert moving_once.stage("check").stdout.startswith(f"{OUTPUTS + 2} outputs checked, 0 stale")


def test_a_film_of_a_figure_that_does_not_move_is_refused(moving_once):
    ended = moving_once.snakemake("--dry-run", "figures/toy/decay.webp", check=False)
    assert ended.returncode != 0
    assert "figures.decay: does not move; those that do: growth" in ended.stderr + ended.stdout


def test_a_change_redraws_only_what_it_touches(moving):
    moving.edit(f"{PAPER}/growth/figures.py", '"blue"', '"green"')
    moving.configure("runs", "fast", "rate", value=0.03)  # which the figure draws, and neither film nor chart
    planned = moving.would_run()
    assert STILL in planned
    assert not {FILM, CHART} & planned
    moving.edit(f"{PAPER}/growth/motion.py", "figsize=(MOVING, 2.0)", "figsize=(MOVING, 2.1)")
    moving.edit(f"{PAPER}/growth/interactive.py", "x=", "color=alt.value('red'), x=")
    assert {FILM, CHART} <= moving.would_run()


def test_spoilt_films_and_charts_are_named_and_redrawn(moving):
    film, chart = moving.folder / FILM, moving.folder / CHART
    # a still in a film's place, and a chart that is cut off
    shutil.copy(film.with_name("growth.png"), film)
    chart.write_bytes(chart.read_bytes()[:-9])
    checked = moving.stage("check")
    assert checked.returncode == 1
    for path in (FILM, CHART):
        assert f"error: {path}: damaged, or not written by learning-dynamics" in checked.stderr, path
    assert {FILM, CHART} <= moving.would_run()
    moving.snakemake()
    assert moving.stage("check").returncode == 0


def test_a_block_that_does_not_fit_is_refused_before_anything_runs(clean):
    for changes, told in (
        ({"runs": {"slow": "slwo"}}, "interactive.moved.runs.slow: no run `slwo`; did you mean `slow`?"),
        ({"figure": None}, "interactive.moved.figure: missing; add it"),
        ({"figure": "grwoth"}, "interactive.moved.figure: no figure `grwoth`; did you mean `growth`?"),
        ({"function": "growth.shrinkage"}, "interactive.moved.function: no function `shrinkage`"),
    ):
        declare(clean, **changes)
        ended = clean.stage("check")
        assert ended.returncode != 0, changes
        assert told in ended.stderr, changes
        assert ended.stderr.count("\n") == 1, changes


def test_a_figure_moves_by_one_chart_alone(clean):
    declare(clean)
    clean.configure("interactive", "again", value=BLOCK)
    told = "interactive.again.figure: `moved` is below `growth` already; name another"
    assert told in clean.stage("check").stderr


def test_a_film_whose_function_does_not_fit_its_figure_is_refused_before_anything_runs(clean):
    for old, new, told in (
        ("slow: Table", "another: Table", "figures.growth.runs.another: missing"),
        ("def growth(", "def grrowth(", "`grrowth` moves no figure; did you mean `growth`?"),
    ):
        declare(clean)  # the function as it was
        clean.configure("interactive", value={})  # films need no block
        clean.edit(f"{PAPER}/growth/motion.py", old, new)
        ended = clean.snakemake("--dry-run", check=False)
        assert ended.returncode != 0, old
        assert told in ended.stderr, old
        assert "Traceback" not in ended.stderr, old
