"""How long the files of `make test` take, by the durations that the last `make test-all` here wrote."""

import os

import pandas as pd
import pytest

from tests.support import ROOT

DURATIONS = ROOT / ".cache/durations.csv"
SECONDS = 40.0  # of one process at speed one that a file may take
# the regression net simulates every run at smoke scale
NET = {"tests/papers/test_every_claim.py": 360.0, "tests/papers/test_every_quantity.py": 120.0}
WHOLE = 2 * 8 * 60.0  # eight minutes of two processes


def over_budget(durations: pd.DataFrame) -> dict[str, float]:
    """Return the files that take too long, and all together if they do, with their seconds."""
    short = durations[~durations["long"]]
    seconds = short.groupby(short["test"].str.partition("::")[0])["seconds_at_speed_one"].sum()
    seconds["all"] = seconds.sum()
    return {file: spent for file, spent in seconds.items() if spent > ({"all": WHOLE} | NET).get(file, SECONDS)}


def test_make_test_keeps_to_its_budget():
    if "BUDGET" not in os.environ or not DURATIONS.exists():
        pytest.skip("run `make test-all` on an idle machine, then `make budget`")
    assert over_budget(pd.read_csv(DURATIONS)) == {}


def test_a_file_that_takes_too_long_is_named():
    rows = [("a.py::x", False, 30.0), ("a.py::y", False, 11.0), ("b.py::x", False, 39.0), ("c.py::x", True, 500.0)]
    rows.append(("tests/papers/test_every_claim.py::x", False, 300.0))
    durations = pd.DataFrame(rows, columns=["test", "long", "seconds_at_speed_one"])
    assert over_budget(durations) == {"a.py": 41.0}
    durations["seconds_at_speed_one"] *= 3
    assert {"a.py", "b.py", "tests/papers/test_every_claim.py", "all"} == set(over_budget(durations))
