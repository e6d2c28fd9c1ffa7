"""Figures that the reader moves: what the stage writes, and what Snakemake, `check` and configurations make of it."""

import json

import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands import interactive
from learning_dynamics.pipeline.store.pictures import read_record
from learning_dynamics.pipeline.store.provenance import read_bytes
from tests.pipeline.conftest import PAPER

MOVED_GROWTH = '''"""Growth, by the draw."""

from __future__ import annotations

import altair as alt

from learning_dynamics.plotting.interactive import Interactive, reading, slider
from learning_dynamics.tidy import Table, select


def growth(slow: Table) -> Interactive:
    """Move the draw: slow growth of {draws} draws."""
    rows = select(slow, "x")
    draws = sorted(int(draw) for draw in rows["seed"].unique())
    line = alt.Chart(rows[["seed", "time", "value"]]).transform_filter("datum.seed == draw").mark_line()
    chart = alt.layer(line.encode(x="time:Q", y="value:Q")).add_params(slider("draw", "draw", draws, 0))
    chart = chart.properties(title=reading("draw", draws, [f"draw {draw} </script>" for draw in draws]))
    return Interactive(chart, facts={"draws": len(draws)}, alt="A curve, one of {draws}.")
'''
BLOCK = {"kind": "growth.growth", "runs": {"slow": "slow"}, "figure": "growth"}
MOVED = "figures/toy/moved.json"
PAGE = {"figures/index.html", "results/verdicts.txt"}


def declare(workspace, **changes):
    workspace.write(f"{PAPER}/growth/interactive.py", MOVED_GROWTH)
    block = {key: value for key, value in (BLOCK | changes).items() if value is not None}
    workspace.configure("interactive", "moved", value=block)


@pytest.fixture(scope="module")
def moved_once(built, tmp_path_factory):
    """The made-up paper, one figure of which is also there to be moved."""
    workspace = built.copy(tmp_path_factory.mktemp("moved") / "project")
    declare(workspace)
    assert workspace.would_run() == {MOVED} | PAGE
    workspace.snakemake()
    return workspace


@pytest.fixture
def moved(moved_once, tmp_path):
    return moved_once.copy(tmp_path / "project")


def test_a_block_makes_a_chart_that_the_page_carries(moved_once):
    record = read_record(moved_once.folder / MOVED)
    assert (record["stage"], record["name"], record["facts"]) == ("interactive", "moved", {"draws": 3})
    chart = json.loads(read_bytes(moved_once.folder / MOVED))[1]
    assert chart["description"] == "A curve, one of 3."
    page = moved_once.read("figures/toy.html")
    assert "Move the draw: slow growth of 3 draws." in page
    assert "draw 0 \\u003c/script>" in page
    assert page.count('<script type="module">') == 1
    assert '<script type="module">' not in moved_once.read("figures/index.html")
    assert "Nothing to be done" in moved_once.snakemake("--dry-run").stdout
    assert moved_once.stage("check").stdout.startswith("23 outputs checked, 0 stale")


def test_it_is_drawn_again_for_itself(moved):
    moved.configure("runs", "fast", "rate", value=0.03)  # which it does not take
    assert MOVED not in moved.would_run()
    moved.edit(f"{PAPER}/growth/interactive.py", "x=", "color=alt.value('red'), x=")
    assert MOVED in moved.would_run()


def test_a_spoilt_chart_is_named_and_made_again(moved):
    path = moved.folder / MOVED
    path.write_bytes(path.read_bytes()[:-9])
    checked = moved.stage("check")
    assert checked.returncode == 1
    assert checked.stderr.startswith(f"error: {MOVED}: damaged, or not written by learning-dynamics")
    assert MOVED in moved.would_run()


def test_a_block_that_cannot_be_drawn_is_refused_before_anything_runs(clean):
    for changes, told in (
        ({"runs": {"slow": "slwo"}}, "interactive.moved.runs.slow: no run `slwo`; did you mean `slow`?"),
        ({"figure": None}, "interactive.moved.figure: missing; add it"),
        ({"figure": "grwoth"}, "interactive.moved.figure: no figure `grwoth`; did you mean `growth`?"),
        ({"kind": "growth.shrinkage"}, "interactive.moved.kind: no function `shrinkage`"),
    ):
        declare(clean, **changes)
        ended = clean.stage("check")
        assert ended.returncode != 0
        assert told in ended.stderr
        assert ended.stderr.count("\n") == 1
    declare(clean)
    clean.configure("interactive", "again", value=BLOCK)
    said = clean.stage("check").stderr
    assert "interactive.again.figure: `moved` is below `growth` already; name another" in said


def test_one_that_is_too_large_is_refused(moved_once, monkeypatch):
    from learning_dynamics.plotting.interactive import Interactive

    monkeypatch.setattr(interactive, "MAX_BYTES", 100)
    monkeypatch.setattr(interactive, "complete", lambda drawn, said: {"values": [0.25] * 100})
    with pytest.raises(ProjectError, match=r"growth: takes 1 kB, at most 0 are shown; give it fewer points"):
        interactive.chart_json(Interactive(None), "", "growth")
