"""The largest relative error of rates along each flow, with rates whose error is known."""

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.papers.softmax_dynamics.flow_errors import at_each_time, rate_errors

SPEED = 2.0  # the unit of errors
SIMPLE = 0.3  # the gap of a simple spectrum
LEAST_GAP = 0.01  # below it a spectrum does not count as simple


def flow_of(seed: int, *, rates: list[float], gaps: list[float], speed: float = SPEED) -> pd.DataFrame:
    """Return the table of one flow, a rate and a gap at each of the times 0, 1, ...; rates are predicted as 1."""
    rows = []
    for time, (rate, gap) in enumerate(zip(rates, gaps, strict=True)):
        for quantity, value in {"rate": rate, "speed": speed, "gap": gap}.items():
            rows.append({"seed": seed, "time": float(time), "quantity": quantity, "value": value, "predicted": 1.0})
    return pd.DataFrame(rows)


def errors_of(*flows: pd.DataFrame) -> np.ndarray:
    """Return the largest error of a rate along each flow, over the speed, shape (flows,)."""
    table = pd.concat(flows, ignore_index=True)
    is_simple = at_each_time(table, "gap") > LEAST_GAP
    return rate_errors(table, quantity="rate", speed="speed", smooth=is_simple)


def test_the_error_is_the_largest_along_the_flow_over_the_speed():
    # rates are predicted as 1
    assert errors_of(flow_of(0, rates=[1.01, 0.96], gaps=[SIMPLE, SIMPLE])) == pytest.approx([0.04 / SPEED])


def test_times_without_a_simple_spectrum_do_not_count():
    # the larger error, 0.5, is at a time whose gap is too small
    assert errors_of(flow_of(0, rates=[1.5, 1.01], gaps=[1e-6, SIMPLE])) == pytest.approx([0.01 / SPEED])


def test_the_error_of_a_failed_flow_is_nan_between_those_of_its_siblings():
    failed = flow_of(1, rates=[np.nan, np.nan], gaps=[np.nan, np.nan], speed=np.nan)
    before = flow_of(0, rates=[1.0, 1.01], gaps=[SIMPLE, SIMPLE])
    after = flow_of(2, rates=[1.0, 1.02], gaps=[SIMPLE, SIMPLE])
    np.testing.assert_allclose(errors_of(before, failed, after), [0.01 / SPEED, np.nan, 0.02 / SPEED])
