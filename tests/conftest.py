"""How tests are shared between processes, and that they are the same in every run.

A file's tests stay together; what tests of several files need lies in one folder, made by whoever comes first.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import PurePosixPath
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.support import SHARED

# the same examples each time, however long a busy machine takes over one
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis.settings.load_profile("repeatable")

# what several processes make once: the first one makes the folder, those that it starts are told of it, it clears up
OWNER = os.environ.setdefault(SHARED, "") == ""
if OWNER:
    os.environ[SHARED] = tempfile.mkdtemp(prefix="learning-dynamics-tests-")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "fault(fault, promise): what is done to the pipeline, and what it promises then")


def pytest_sessionfinish() -> None:
    if OWNER:
        shutil.rmtree(os.environ[SHARED], ignore_errors=True)


# files whose tests take long, in this order: whoever is free takes the next
LONG = ("test_whole.py", "test_slurm.py", "test_faults.py", "test_page.py", "test_every_claim.py", "test_reruns.py")


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        name = PurePosixPath(group(item.nodeid)).name
        return LONG.index(name) if name in LONG else len(LONG)

    items.sort(key=place)
