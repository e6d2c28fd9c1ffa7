"""Figures that move: what the stage writes, and what Snakemake, `check` and the configuration make of them."""

import shutil

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands import motion
from learning_dynamics.pipeline.commands.motion import MAX_BYTES, encode_webp, render_frames
from learning_dynamics.pipeline.store.pictures import read_record
from learning_dynamics.plotting import style
from learning_dynamics.plotting.motion import MOVING, Motion
from tests.pipeline.conftest import PAPER

MOVING_GROWTH = '''"""Growth, in motion."""

from __future__ import annotations

import matplotlib.pyplot as plt

from learning_dynamics.plotting.motion import MOVING, Motion
from learning_dynamics.tidy import Table, select


def growth(slow: Table) -> Motion:
    """In motion: slow growth of {draws} draws."""
    table = select(slow, "x", seed=0)
    figure, axis = plt.subplots(figsize=(MOVING, 2.0))
    (line,) = axis.plot(table["time"], table["value"])
    axis.set(xlabel="step", ylabel="$x$")

    def draw(number: int) -> None:
        line.set_data(table["time"][: number + 1], table["value"][: number + 1])

    return Motion(figure, draw, frames=len(table), facts={"draws": 3}, alt="A curve of {draws} draws.")
'''
FILM, STILL = "figures/toy/growth.webp", "figures/toy/growth.pdf"
PAGE = {"figures/index.html", "results/verdicts.txt"}


def film(frames=20):
    """Return a dot that moves along a line."""
    with style():
        figure, axis = plt.subplots(figsize=(MOVING, 1.5))
        axis.plot([0, 1], [0, 1])
        (dot,) = axis.plot([], [], "o")
    return Motion(figure, lambda number: dot.set_data([number / frames], [number / frames]), frames=frames)


def test_a_film_is_small_repeats_and_lasts_some_seconds(tmp_path):
    with style():
        data = encode_webp(render_frames(film()), 4.0, "of a test", "motion test")
    assert len(data) <= MAX_BYTES
    path = tmp_path / "film.webp"
    path.write_bytes(data)
    with Image.open(path) as image:
        assert (image.format, image.is_animated, image.n_frames, image.info["loop"]) == ("WEBP", True, 20, 0)
        assert image.width == round(220 * MOVING)
        corners, ends = set(), 0
        for number in range(image.n_frames):
            image.seek(number)
            corners.add(image.convert("RGB").getpixel((0, 0)))
            ends = image.info["timestamp"] + image.info["duration"]
    assert corners == {(255, 255, 255)}
    assert 3000 <= ends <= 6000


def test_what_stands_still_in_a_figure_stands_still_in_its_film():
    with style():
        first, *_, last = (np.asarray(one, dtype=int) for one in render_frames(film()))
    rows = np.flatnonzero((first != last).any(axis=(1, 2)))
    assert 0 < len(rows) < len(first)
    # axes, ticks and labels are where they were: below and left of the axes nothing changes
    columns = np.flatnonzero((first != last).any(axis=(0, 2)))
    assert columns.min() > 40
    assert rows.max() < len(first) - 40


def test_what_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(motion, "MAX_BYTES", 4000)
    noise = np.random.default_rng(0).integers(0, 255, (12, 30, 50, 3), dtype=np.uint8)
    with pytest.raises(ProjectError, match=r"motion test: takes \d+ kB, at most 4 are shown"):
        encode_webp([Image.fromarray(one) for one in noise], 4.0, "", "motion test")


@pytest.fixture(scope="module")
def moving_once(built, tmp_path_factory):
    """The made-up paper, of which one figure moves."""
    workspace = built.copy(tmp_path_factory.mktemp("moving") / "project")
    workspace.write(f"{PAPER}/growth/motion.py", MOVING_GROWTH)
    assert workspace.would_run() == {FILM} | PAGE
    workspace.snakemake()
    return workspace


@pytest.fixture
def moving(moving_once, tmp_path):
    return moving_once.copy(tmp_path / "project")


def test_a_function_in_motion_py_makes_a_film_beside_the_figure(moving_once):
    record = read_record(moving_once.folder / FILM)
    assert (record["stage"], record["name"], record["facts"]) == ("motion", "growth", {"draws": 3})
    assert list(record["settings"]["runs"]) == ["slow"]
    with Image.open(moving_once.folder / FILM) as image:
        assert image.n_frames > 10
    page = moving_once.read("figures/toy.html")
    assert "In motion: slow growth of 3 draws." in page
    assert "A curve of 3 draws." in page
    assert "Nothing to be done" in moving_once.snakemake("--dry-run").stdout
    assert moving_once.stage("check").stdout.startswith("23 outputs checked, 0 stale")


def test_figure_and_film_are_drawn_again_each_for_itself(moving):
    moving.edit(f"{PAPER}/growth/figures.py", '"blue"', '"green"')
    moving.configure("runs", "fast", "rate", value=0.03)  # which the film does not take
    assert {STILL} <= moving.would_run()
    assert FILM not in moving.would_run()
    moving.edit(f"{PAPER}/growth/motion.py", "2.0))", "2.1))")
    assert FILM in moving.would_run()


def test_a_spoilt_film_is_named_and_made_again(moving):
    film = moving.folder / FILM
    shutil.copy(film.with_name("growth.png"), film)
    checked = moving.stage("check")
    assert checked.returncode == 1
    assert checked.stderr.startswith(f"error: {FILM}: damaged, or not written by learning-dynamics")
    assert FILM in moving.would_run()


def test_a_function_that_moves_nothing_is_refused_before_anything_runs(clean):
    for old, new, told in (
        ("slow: Table", "idle: Table", "figures.growth.runs.idle: missing"),
        ("def growth(", "def grwoth(", "`grwoth` moves no figure; did you mean `growth`?"),
    ):
        clean.write(f"{PAPER}/growth/motion.py", MOVING_GROWTH.replace(old, new))
        ended = clean.snakemake("--dry-run", check=False)
        assert ended.returncode != 0
        assert told in ended.stderr
        assert "Traceback" not in ended.stderr


def test_a_figure_that_does_not_move_has_no_film(moving_once):
    ended = moving_once.snakemake("--dry-run", "figures/toy/decay.webp", check=False)
    assert ended.returncode != 0
    assert "figures.decay: does not move; those that do: growth" in ended.stderr + ended.stdout
    ended = moving_once.stage("motion", "toy", "decay")
    assert "figures.decay: does not move; those that do: growth" in ended.stderr
