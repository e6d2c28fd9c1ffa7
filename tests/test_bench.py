"""A benchmark compares results before times, scales a peer that does a part, and names what it could not measure."""

import json
import re
import subprocess
import sys
import time

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from bench import flow, growth, memory
from bench.harness import MISSING, Row, close, timed

from tests.support import ROOT


def sleeping(seconds: float, result: float):
    def work():
        time.sleep(seconds)
        return np.array([result])

    return work


def test_a_peer_that_does_a_tenth_is_scaled():
    row = timed(
        Row(
            "sleep",
            "itself",
            goal=5.0,
            ours=sleeping(0.01, 1.0),
            theirs=sleeping(0.01, 1.0),
            agree=close(1e-9),
            share=0.1,
        ),
        2,
    )
    assert 5 < row["ratio"] < 20
    assert row["met"]


def test_outcomes_that_differ_are_not_timed():
    row = Row("sleep", "another", goal=1.0, ours=sleeping(0.0, 1.0), theirs=sleeping(0.0, 1.1), agree=close(1e-3))
    with pytest.raises(AssertionError):
        timed(row, repeats=1)


def test_a_package_that_is_missing_leaves_the_other_rows(monkeypatch):
    monkeypatch.setattr(flow, "installed", lambda module: False)
    scipys, diffraxs = flow.network()
    scipys.agree(scipys.ours(), scipys.theirs())
    row = timed(diffraxs, repeats=1)
    assert row["note"] == MISSING
    assert row["met"] is None


def test_memory_beside_the_result_is_what_a_process_held():
    examples = 20_000
    command = [sys.executable, "-m", "bench.memory", "class moments", "numpy, all examples at once", str(examples)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    # features in float32, and their class means beside them
    assert float(ended.stdout) == pytest.approx(2 * 4e-6 * examples * memory.FEATURES, rel=0.3)


def test_a_peak_is_that_of_the_work_also_where_memory_is_given_back(tmp_path):
    (tmp_path / "hungry.py").write_text("b'x' * 50_000_000\n")
    command = [sys.executable, ROOT / "bench/spent.py", "json", "hungry"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    # what starting the module takes comes to it
    assert 50 <= json.loads(ended.stdout.splitlines()[-1])["MB"] < 55


# what Snakemake and `map` read takes megabytes at any size; so small a run takes hardly any
@pytest.mark.parametrize(
    ("label", "size", "at_least"),
    [
        ("draws", 2, 0.0),
        ("width", 10, 0.0),
        ("dry run", 2, 10.0),
        pytest.param("map", 2, 10.0, marks=pytest.mark.long),
    ],
)
def test_growth_is_measured(label, size, at_least):
    (take,) = (curve.take for curve in growth.CURVES if curve.label == label)
    table = growth.measure([growth.Curve(label, take, (size,))])
    assert list(table.columns) == ["curve", "size", "seconds", "MB"]
    assert table["seconds"].item() > 0
    assert at_least <= table["MB"].item() < 500


def test_growth_is_drawn_with_a_line_for_each_curve():
    table = pd.read_csv(ROOT / "docs/performance/growth.csv")
    figure = growth.draw(table)
    assert [axis.get_title() for axis in figure.axes] == ["(a) processor seconds", "(b) memory over the start (MB)"]
    for axis in figure.axes:
        assert [line.get_label() for line in axis.get_lines()] == [curve.label for curve in growth.CURVES]
        assert len(axis.texts) == len(growth.CURVES)
    plt.close(figure)


def test_the_guide_has_the_measured_exponents():
    guide = (ROOT / "docs/performance.md").read_text(encoding="utf-8").partition("## Growth")[2]
    for of_curve in growth.exponents(pd.read_csv(ROOT / "docs/performance/growth.csv")).to_dict("records"):
        assert re.search(rf"\| {of_curve['seconds']:.2f} \| [\d,]+ \| {of_curve['MB']:.2f} \|", guide)


def test_an_exponent_is_that_of_the_last_factor_of_ten():
    size = np.array([10.0, 100.0, 1000.0, 10_000.0])
    table = pd.DataFrame({"curve": "runs", "size": size, "seconds": 5 + size**2, "MB": np.maximum(size, 5000.0)})
    found = growth.exponents(table).loc["runs"]
    assert found["seconds"] == pytest.approx(2, abs=1e-5)
    assert found["MB"] == pytest.approx(np.log10(2))
