"""How tests are shared between processes: a file's tests stay together, and so do those that run Snakemake."""

from __future__ import annotations

from pathlib import Path

import pytest

PIPELINE = Path(__file__).parent / "pipeline"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(item.iter_markers("xdist_group")):
            continue
        group = "pipeline" if PIPELINE in item.path.parents else item.path.stem
        item.add_marker(pytest.mark.xdist_group(group))
    # the long group first, so that the other process takes all the rest meanwhile
    items.sort(key=lambda item: PIPELINE not in item.path.parents)
