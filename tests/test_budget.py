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


def durations_of(seconds: dict[str, float], *, long: bool = False) -> pd.DataFrame:
    """Return durations as `make test-all` writes them, of tests by their node ids."""
    return pd.DataFrame({"test": list(seconds), "long": long, "seconds_at_speed_one": list(seconds.values())})


def test_a_file_whose_tests_together_take_longer_than_a_file_may_is_named():
    slow = {"slow.py::first": SECONDS - 10, "slow.py::second": 11.0}
    assert over_budget(durations_of(slow | {"quick.py::first": SECONDS - 1})) == {"slow.py": SECONDS + 1}


def test_the_files_of_the_regression_net_have_limits_of_their_own():
    net = "tests/papers/test_every_claim.py"
    assert over_budget(durations_of({f"{net}::first": NET[net]})) == {}
    assert over_budget(durations_of({f"{net}::first": NET[net] + 1})) == {net: NET[net] + 1}


def test_tests_that_only_make_test_all_runs_do_not_count():
    long, short = durations_of({"file.py::long": 2 * WHOLE}, long=True), durations_of({"file.py::short": 1.0})
    assert over_budget(pd.concat([long, short])) == {}


def test_many_files_that_each_keep_their_limit_may_be_too_long_together():
    files = int(WHOLE / SECONDS) + 1
    many = {f"file_{number}.py::first": SECONDS for number in range(files)}
    assert over_budget(durations_of(many)) == {"all": files * SECONDS}
