"""Benchmarks: results are compared before times, memory is that of the work, and growth has the published exponents."""

import json
import re
import subprocess
import sys
import time
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from bench import flow, growth, memory, noise, training
from bench.harness import MISSING, Row, close, timed

from tests.support import ROOT


def sleeping(seconds: float, result: float):
    """Return work that takes these seconds and returns this result."""

    def work():
        time.sleep(seconds)
        return np.array([result])

    return work


def test_the_time_of_a_peer_that_does_a_tenth_of_the_work_counts_tenfold():
    whole = sleeping(seconds=0.01, result=1.0)
    tenth = sleeping(seconds=0.01, result=1.0)
    goal = 5.0
    row = Row("sleep", "a tenth of it", goal=goal, ours=whole, theirs=tenth, agree=close(rtol=1e-9), share=0.1)
    measured = timed(row, repeats=2)
    # a tenth takes as long as the whole: the ratio is ten, within the factor of two by which a busy machine oversleeps
    assert goal < measured["ratio"] < 20
    assert measured["met"]


def test_outcomes_that_differ_are_refused_before_they_are_timed():
    ours, theirs = sleeping(seconds=0.0, result=1.0), sleeping(seconds=0.0, result=1.1)
    row = Row("sleep", "another", goal=1.0, ours=ours, theirs=theirs, agree=close(rtol=1e-3))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        timed(row, repeats=1)


def row_against(peer, rows):
    """Return the one row whose peer begins with these words."""
    (row,) = [row for row in rows if row.peer.startswith(peer)]
    return row


def test_without_diffrax_its_row_says_so_and_scipys_row_is_still_compared(monkeypatch):
    monkeypatch.setattr(flow, "installed", lambda module: False)
    rows = flow.network()
    against_scipy, against_diffrax = row_against("scipy", rows), row_against("diffrax", rows)
    against_scipy.agree(against_scipy.ours(), against_scipy.theirs())
    measured = timed(against_diffrax, repeats=1)
    assert measured["note"] == MISSING
    assert measured["met"] is None


# The peer of some rows is a limit: a part of the work that no method can leave out. Such a row compares that part.


def test_the_limit_of_flows_evaluates_the_vector_field_at_the_states_where_they_end():
    limit = row_against("their vector field alone", flow.ensemble())
    states, slopes = limit.ours(), limit.theirs()
    limit.agree(states, slopes)
    until_the_time_before = states[:, :-1]
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        limit.agree(until_the_time_before, slopes)


@pytest.fixture(scope="module")
def random_numbers():
    """Return the numbers that the limit of label noise draws, shape (paths, inputs)."""
    return noise.random_numbers()


OURS = None  # the comparison does not read what the whole work returns


def test_the_limit_of_label_noise_draws_standard_normal_numbers(random_numbers):
    noise.standard_normal(OURS, random_numbers)


COUNT = noise.PATHS * noise.INPUTS
# mean and variance may differ from 0 and 1 by five standard errors
FIVE_ERRORS_OF_MEAN = 5 / np.sqrt(COUNT)
FIVE_ERRORS_OF_VARIANCE = 5 * np.sqrt(2 / COUNT)


def with_moments(random_numbers, *, mean, variance):
    """Return random numbers moved and scaled so that they have exactly this mean and this variance."""
    standardised = (random_numbers - random_numbers.mean()) / random_numbers.std()
    return mean + np.sqrt(variance) * standardised


@pytest.mark.parametrize("share", [-0.9, 0.9])
def test_the_limit_of_label_noise_accepts_moments_just_within_five_standard_errors(share, random_numbers):
    mean, variance = share * FIVE_ERRORS_OF_MEAN, 1 + share * FIVE_ERRORS_OF_VARIANCE
    noise.standard_normal(OURS, with_moments(random_numbers, mean=mean, variance=variance))  # raises where it refuses


@pytest.mark.parametrize(
    ("mean", "variance"),
    [
        pytest.param(1.1 * FIVE_ERRORS_OF_MEAN, 1.0, id="a larger mean"),
        pytest.param(-1.1 * FIVE_ERRORS_OF_MEAN, 1.0, id="a smaller mean"),
        pytest.param(0.0, 1 + 1.1 * FIVE_ERRORS_OF_VARIANCE, id="a larger variance"),
        pytest.param(0.0, 1 - 1.1 * FIVE_ERRORS_OF_VARIANCE, id="a smaller variance"),
    ],
)
def test_the_limit_of_label_noise_refuses_moments_just_beyond_five_standard_errors(mean, variance, random_numbers):
    with pytest.raises(AssertionError):
        noise.standard_normal(OURS, with_moments(random_numbers, mean=mean, variance=variance))


def test_both_sides_of_a_training_move_the_network_alike():
    row = training.rows()[training.NETWORKS.index("resnet")]
    moves = row.theirs()
    row.agree(row.ours(), moves)
    with pytest.raises(AssertionError):  # a loss twice as large moves the network twice as far
        row.agree(2 * moves, moves)


def test_memory_beside_the_result_is_that_of_all_arrays_at_once():
    examples = 20_000
    command = [sys.executable, "-m", "bench.memory", "class moments", "numpy, all examples at once", str(examples)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    megabytes_of_features = 4e-6 * examples * memory.FEATURES  # float32
    # as much again for each example's class mean; batches and labels are within the tolerance, and one copy of the
    # features more or less, a half, is not
    assert float(ended.stdout) == pytest.approx(2 * megabytes_of_features, rel=0.3)


def test_a_peak_counts_memory_that_was_given_back(tmp_path):
    (tmp_path / "hungry.py").write_text("b'x' * 50_000_000\n")
    command = [sys.executable, ROOT / "bench/spent.py", "json", "hungry"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    # the module's 50 MB, less what is resident at the start and used again, and what its start takes
    assert 48 <= json.loads(ended.stdout.splitlines()[-1])["MB"] < 55


# Snakemake and `map` read megabytes at any size; so small a run takes hardly any. A number of bytes or of kilobytes
# would be above 500 as well
@pytest.mark.parametrize(
    ("label", "size", "least_MB"),
    [
        ("draws", 2, 0.0),
        ("width", 10, 0.0),
        ("dry run", 2, 10.0),
        pytest.param("map", 2, 10.0, marks=pytest.mark.long),
    ],
)
def test_each_curve_of_growth_is_measured_in_seconds_and_megabytes(label, size, least_MB):
    (curve,) = (curve for curve in growth.CURVES if curve.label == label)
    table = growth.measure([replace(curve, sizes=(size,))])
    assert list(table.columns) == ["curve", "size", "seconds", "MB"]
    assert table["seconds"].item() > 0
    assert least_MB <= table["MB"].item() < 500


def test_growth_is_drawn_with_a_line_for_each_curve():
    table = pd.read_csv(ROOT / "docs/performance/growth.csv")
    figure = growth.draw(table)
    assert [axis.get_title() for axis in figure.axes] == ["(a) processor seconds", "(b) memory over the start (MB)"]
    for axis in figure.axes:
        assert [line.get_label() for line in axis.get_lines()] == [curve.label for curve in growth.CURVES]
        assert len(axis.texts) == len(growth.CURVES)
    plt.close(figure)


@pytest.mark.parametrize("label", [curve.label for curve in growth.CURVES])
def test_the_guide_has_the_measured_exponents(label):
    guide = (ROOT / "docs/performance.md").read_text(encoding="utf-8").partition("## Growth")[2]
    exponents = growth.exponents(pd.read_csv(ROOT / "docs/performance/growth.csv")).loc[label]
    assert re.search(rf"\| {exponents['seconds']:.2f} \| [\d,]+ \| {exponents['MB']:.2f} \|", guide)


def test_an_exponent_is_that_of_the_last_factor_of_ten():
    size = np.array([10.0, 100.0, 1000.0, 10_000.0])
    # constants that count at small sizes: 5 seconds, and memory that doubles from 5000 MB in the last step
    table = pd.DataFrame({"curve": "runs", "size": size, "seconds": 5 + size**2, "MB": np.maximum(size, 5000.0)})
    exponents = growth.exponents(table).loc["runs"]
    # from size 1000 on the 5 seconds are 5e-6 of all, and change the exponent by 5e-6 / log(10)
    assert exponents["seconds"] == pytest.approx(2, abs=1e-5)
    assert exponents["MB"] == pytest.approx(np.log10(2))
