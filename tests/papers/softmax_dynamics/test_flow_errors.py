"""Errors along flows, where some flows failed."""

import numpy as np
import pandas as pd

from learning_dynamics.papers.softmax_dynamics.flow_errors import at_each_time, rate_errors


def test_a_failed_flow_stays_in_its_place_and_times_without_a_simple_spectrum_do_not_count():
    """Member 1 failed; of the others the error of 0.5 lies where the gap is too small."""
    measured = {(0, 0.0): (1.5, 1e-6), (0, 1.0): (1.01, 0.3), (2, 0.0): (1.5, 1e-6), (2, 1.0): (1.02, 0.3)}
    failed = {(1, 0.0): (np.nan, np.nan), (1, 1.0): (np.nan, np.nan)}
    table = pd.DataFrame(
        [
            {"seed": seed, "time": time, "quantity": quantity, "value": value, "predicted": 1.0}
            for (seed, time), (rate, gap) in (measured | failed).items()
            for quantity, value in (("rate", rate), ("speed", 2.0 if np.isfinite(rate) else np.nan), ("gap", gap))
        ]
    )
    errors = rate_errors(table, "rate", "speed", at_each_time(table, "gap") > 0.01)
    np.testing.assert_allclose(errors, [0.005, np.nan, 0.01])
