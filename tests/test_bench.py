"""A benchmark compares results before times, scales a peer that does a part, and names what it could not measure."""

import subprocess
import sys
import time

import numpy as np
import pytest
from bench import flow, memory
from bench.harness import MISSING, Row, close, timed

from tests.support import ROOT


def sleeping(seconds: float, result: float):
    def work():
        time.sleep(seconds)
        return np.array([result])

    return work


def test_a_peer_that_does_a_tenth_is_scaled():
    row = timed(Row("sleep", "itself", 5.0, sleeping(0.01, 1.0), sleeping(0.01, 1.0), close(1e-9), share=0.1), 2)
    assert 5 < row["ratio"] < 20
    assert row["met"]


def test_outcomes_that_differ_are_not_timed():
    row = Row("sleep", "another", 1.0, sleeping(0.0, 1.0), sleeping(0.0, 1.1), close(1e-3))
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
