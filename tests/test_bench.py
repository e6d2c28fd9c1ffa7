"""A benchmark compares outcomes before times, scales a peer that does a part, and says what it could not measure."""

import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from bench import flow, growth, log_time, memory, page, pipeline
from bench.harness import MISSING, Row, close, timed

from tests.support import ROOT


def sleeping(seconds: float, result: float):
    def work():
        time.sleep(seconds)
        return np.array([result])

    return work


def test_a_peer_that_does_a_tenth_is_scaled():
    row = Row("sleep", "a slower sleep", 5.0, sleeping(0.01, 1.0), sleeping(0.01, 1.0), close(1e-9), share=0.1)
    found = timed(row, repeats=2)
    assert 5 < found["ratio"] < 20
    assert found["met"]


def test_outcomes_that_differ_are_not_timed():
    row = Row("sleep", "another", 1.0, sleeping(0.0, 1.0), sleeping(0.0, 1.1), close(1e-3))
    with pytest.raises(AssertionError):
        timed(row, repeats=1)


def test_a_peer_that_is_not_installed_has_a_row_and_no_times():
    found = timed(Row("sleep", "absent", 10.0, sleeping(0.0, 1.0), None, close(0.0)), repeats=1)
    assert found["note"] == MISSING
    assert found["met"] is None
    assert f"| {MISSING} |" in page.table(pd.DataFrame([found])).replace("  ", "")


def test_missing_packages_leave_the_other_rows(monkeypatch):
    monkeypatch.setattr(flow, "installed", lambda module: False)
    rows = flow.network()
    assert [row.theirs is None for row in rows] == [False, False, True, True, True]


def test_each_size_is_timed():
    curve = growth.Curve("sleep", "size", (1.0, 8.0), lambda size: sleeping(0.01 * size, 0.0), 1.0, "")
    short, long = growth.timed(curve, 2)
    assert (short["value"], long["value"]) == (1.0, 8.0)
    assert long["seconds"] > 0.08 > short["seconds"] > 0.01


@pytest.mark.parametrize("power", [0.125, 1.0, 3.0])
def test_the_fitted_exponent_is_that_of_a_power_law(power):
    sizes = np.array([1.0, 2.0, 4.0])
    assert growth.exponent(sizes, 0.3 * sizes**power) == pytest.approx(power, rel=1e-12)


def test_the_chart_holds_every_curve(tmp_path):
    points = pd.DataFrame(
        [
            {"work": work, "size": "n", "expected": 1, "because": "", "value": size, "seconds": 1e-3 * size}
            for work in ("one", "two", "three")
            for size in (1.0, 2.0)
        ]
    )
    page.draw(points, tmp_path / "chart.png")
    assert (tmp_path / "chart.png").stat().st_size > 10_000


def test_memory_beside_the_result_is_what_a_process_held():
    examples = 20_000
    command = [sys.executable, "-m", "bench.memory", "class moments", "numpy, all examples at once", str(examples)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    # features in float32, and their class means beside them
    assert float(ended.stdout) == pytest.approx(2 * 4e-6 * examples * memory.FEATURES, rel=0.3)


def test_logarithmic_time_and_descent_are_at_the_same_place():
    (row,) = log_time.rows()
    row.agree(row.ours(), row.theirs())
    with pytest.raises(AssertionError):
        row.agree(1.001 * row.ours(), row.theirs())


def test_a_log_tells_how_long_cores_had():
    text = (
        "Provided cores: 2\n    benchmark: results/toy/benchmarks/runs/slow.tsv\nElapsed time: 1 day, 0:10:36.960702\n"
    )
    found = pipeline.in_log(text)
    assert found["seconds"] == pytest.approx(86400 + 636.960702)
    assert found["cores"] == 2
    assert found["benchmarks"] == ["results/toy/benchmarks/runs/slow.tsv"]
    assert pipeline.in_log("Nothing to be done") == {}


def test_a_dry_run_of_a_sweep_is_timed(monkeypatch):
    monkeypatch.setattr(pipeline, "RUNS", ("rate=0.1,0.2", "steps=10"))
    (row,) = pipeline.rows("dry run for Slurm")
    assert row["at speed one"] == pytest.approx(row["measured"] * pipeline._speed())
    assert row["met"]


def test_the_page_has_a_place_for_every_table(tmp_path, monkeypatch):
    text = page.PAGE.read_text(encoding="utf-8")
    assert len(page.MARKS.findall(text)) == 1
    monkeypatch.setattr(page, "PAGE", tmp_path / "performance.md")
    monkeypatch.setattr(page, "CHART", tmp_path / "performance.png")
    page.PAGE.write_text(text, encoding="utf-8")
    growing = {"work": "one", "size": "n", "expected": 1, "because": "", "value": 1.0, "seconds": 1.0}
    side = {"work": "one", "size": "n", "goal": None, "by": "ours", "value": 1, "MB": 1.0}
    row = timed(Row("sleep", "another", 1.0, sleeping(0.01, 1.0), sleeping(0.01, 1.0), close(0.0)), repeats=1)
    tables = {name: pd.DataFrame([{"what": name}]) for name in page.HEADINGS}
    tables |= {
        "comparisons": pd.DataFrame([row]),
        "growth": pd.DataFrame([growing, {**growing, "value": 2.0}]),
        "memory": pd.DataFrame([side, {**side, "value": 2}]),
    }
    page.write(tables, 1)
    written = page.PAGE.read_text(encoding="utf-8")
    assert all(f"## {heading}" in written for heading in page.HEADINGS.values())
    assert page.CHART.is_file()
