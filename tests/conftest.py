"""How tests are shared between processes, named, timed and chosen, so that they are the same in every run.

A file's tests stay in one process; results that tests of several files need are in one folder, made by the first test
that needs them.
"""

import os
import re
import shutil
import tempfile
import textwrap
from pathlib import Path, PurePosixPath
from types import NoneType
from typing import Any

import hypothesis
import numpy as np
import pandas as pd
import pytest
from bench import clock
from xdist.scheduler import LoadScopeScheduling

from learning_dynamics.pipeline.plan.sweeps import runs_of_sweep
from tests.support import PAPERS, SHARED, as_text, each_of_roles, smoke

# the same examples each time, however long a busy machine takes over one
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis.settings.load_profile("repeatable")

# the folder of results that several processes share: the first process makes it, names it to those that it starts, and
# removes it
OWNER = os.environ.setdefault(SHARED, "") == ""
if OWNER:
    os.environ[SHARED] = tempfile.mkdtemp(prefix="learning-dynamics-tests-")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "fault(fault, promise): what is done to the pipeline, and what it promises then")
    config.addinivalue_line("markers", "quick: the library, theory, and one claim of each topic; `make quick`")
    config.addinivalue_line("markers", "long: only `make test-all` runs it, and the nightly workflow")


PLAIN = (NoneType, bool, int, float, complex, list, tuple, range, np.generic, np.ndarray)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a case by what it is given: `depth=2`, `holds=False`, `put(drift, 2e-10)`, not `2`, `False`, `alterations0`.

    Words, functions, tables and settings stand alone, numbers and lists beside the name of their argument.
    """
    if isinstance(val, bytes | re.Pattern):
        return None  # by pytest, as they are
    words = val if isinstance(val, str) else as_text(val)
    if isinstance(val, PLAIN):
        words = f"{argname}={words}"
    return textwrap.shorten(words, 120, placeholder=" ...")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--durations-csv", type=Path, metavar="FILE", help="write how long every test took to this file")


DURATIONS: dict[str, dict[str, Any]] = {}  # by test: whether it is long, and its seconds


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    row = DURATIONS.setdefault(report.nodeid, {"long": "long" in report.keywords, "seconds": 0.0})
    row["seconds"] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    if OWNER:
        shutil.rmtree(os.environ[SHARED], ignore_errors=True)
    file = session.config.getoption("durations_csv")
    if file and DURATIONS and not hasattr(session.config, "workerinput"):
        table = pd.DataFrame.from_dict(DURATIONS, orient="index").rename_axis("test")
        table["seconds_at_speed_one"] = table["seconds"] * clock.speed()
        file.parent.mkdir(parents=True, exist_ok=True)
        table.round(3).to_csv(file)


# files and tests that only `make test-all` runs: every paper by Snakemake, clusters, kills at any moment, a browser,
# settings at random, the digests of every job, the commands, examples and reference of the documentation
LONG = {
    *("test_whole.py", "test_slurm.py", "test_page.py", "test_docs_commands.py"),
    *("test_any_settings.py", "test_adding_a_figure.py", "test_reference.py"),
    *("test_executor.py", "test_notebooks_run"),
    "test_a_kill_at_any_moment_loses_nothing",
    *("test_what_an_orphan_writes_is_made_again", "test_spoilt_outputs_are_made_again"),
    "test_a_broken_cache_is_replaced",
}
# files whose tests take long, which processes begin first, in this order; `test_whole.py` makes all papers by
# Snakemake, and the last files read what it has made
FIRST = (
    *("test_whole.py", "test_slurm.py", "test_faults.py", "test_docs_commands.py", "test_reruns.py"),
    *("test_page.py", "test_every_claim.py"),
)


def group(test: str) -> str:
    """Return the group of a test by its node id: its file, whose tests share what it makes."""
    return test.split("::")[0]


class ByGroup(LoadScopeScheduling):
    """Hands whole groups to processes, in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


@pytest.hookimpl(optionalhook=True)  # the suite runs without xdist as well
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByGroup:
    config.option.loadscopereorder = False
    return ByGroup(config, log)


# not in the quick loop: tests of every paper or of the project as a whole, judges but for one claim a topic, and every
# example of a test but its first
THOROUGH = (
    *("test_any_settings.py", "test_every_figure.py", "test_every_motion.py", "test_every_interactive.py"),
    *("test_docs_commands.py", "test_bench.py", "test_mutation.py", "test_mnist.py"),
    *("test_every_quantity.py", "test_unrelated_features_have_the_level_of_chance"),
    *("test_judges.py", "test_limits.py", "test_claims.py", "test_against_plain.py", "test_against_layers.py"),
    *("test_against_flows.py", "test_memory.py", "test_bounds.py", "test_training.py", "test_local_optima.py"),
    "test_a_submodule_is_imported_by_the_file_that_uses_it_or_comes_with_its_package",
    "test_where_no_cache_can_be_written_a_function_is_compiled_all_the_same",
    "test_what_the_documentation_says_of_each_cell_is_counted",
    "test_a_network_that_minimises_the_nuclear_norm_leaves_that_norm",
    "test_a_power_of_which_no_other_matrix_has_less_is_left",
    "test_flows_that_are_lost_leave_a_power_open",
)
# nor claims on what takes more than some seconds to simulate
SLOW_RUNS = (
    *("training.", "acceleration.two_samples", "completion", "compression.", "classification.", "regression."),
    *("convergence.", "phases.", "relu.", "local_optima.from_scaled"),
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort the tests by `FIRST`, and mark those that are long and those of the quick loop."""
    items.sort(key=_rank)
    for item in items:
        if {_file(item).name, getattr(item, "originalname", None)} & LONG:
            item.add_marker("long")
        if "whole" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(3600))  # all papers by Snakemake, on a slow machine beside other tests
    if "quick" in config.option.markexpr:
        mark_quick(items)


def _file(item: pytest.Item) -> PurePosixPath:
    return PurePosixPath(group(item.nodeid))


def _rank(item: pytest.Item) -> int:
    name = _file(item).name
    return FIRST.index(name) if name in FIRST else len(FIRST)


def mark_quick(items: list[pytest.Item]) -> None:
    """Mark the tests of the quick loop: one claim a topic, and of a paper's other tests the first example of each."""
    claims = {f"{paper}.{name}" for paper in PAPERS for name in one_claim_a_topic(paper)}
    with_example = set()  # tests of which there has been an example
    for item in items:
        file = _file(item)
        if file.name == "test_every_claim.py":
            callspec = getattr(item, "callspec", None)
            if callspec is not None and callspec.id in claims:
                item.add_marker("quick")
            continue
        test = item.nodeid.partition("[")[0]
        is_first = "papers" not in file.parts or test not in with_example
        with_example.add(test)
        function = test.rpartition("::")[2]
        if is_first and "pipeline" not in file.parts and not {file.name, function} & set(THOROUGH):
            item.add_marker("quick")


def one_claim_a_topic(paper: str) -> list[str]:
    """Return for each topic of a paper the claim that reads the fewest runs, none of them a slow one."""
    plan = smoke(paper)
    fewest: dict[str, tuple[int, str]] = {}  # by topic: the number of runs, and the claim
    for name in plan.config.paper_block(paper)["claims"]:
        claim = plan.claim(paper, name)
        runs = each_of_roles(claim["runs"])
        functions = [plan.config.resolved_block(paper, "runs", run["name"])["function"] for run in runs]
        if any(function.startswith(SLOW_RUNS) for function in functions):
            continue
        count = sum(len(runs_of_sweep(run["name"], run["sweep"])) for run in runs)
        topic = claim["function"].partition(".")[0]
        fewest[topic] = min(fewest.get(topic, (count, name)), (count, name))
    return [name for _, name in fewest.values()]
