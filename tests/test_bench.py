"""A benchmark compares outcomes before times, and scales a peer that does a part of the work."""

from __future__ import annotations

import time

import numpy as np
import pytest
from bench.harness import Row, close, timed


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
