"""How tests are shared between processes, and that they are the same in every run.

A file's tests stay together, and so do those that run Snakemake.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

# the same examples each time, however long a busy machine takes over one
hypothesis.settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis.settings.load_profile("repeatable")


def group(test: str) -> str:
    """Return the group of a test by its node id: what shares the costly fixtures stays in one process."""
    file = test.split("::")[0]
    in_pipeline = PurePosixPath(file).parent.name == "pipeline" and not file.endswith("test_slurm.py")
    return "pipeline" if in_pipeline else file


class ByGroup(LoadScopeScheduling):
    """Hands whole groups to processes, in the order of collection."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByGroup:
    config.option.loadscopereorder = False
    return ByGroup(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # the long groups first, so that the other process takes all the rest meanwhile
    first = {"pipeline": 0, "tests/pipeline/test_slurm.py": 1}
    items.sort(key=lambda item: first.get(group(item.nodeid), 2))
