"""Make or read a data set: ``<name>.npz`` of named arrays, leading axis the ensemble's members."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from learning_dynamics.pipeline.provenance import provenance
from learning_dynamics.trajectory import save_arrays


def execute(paper: str, name: str, spec: Mapping[str, Any], out: Path) -> None:
    """Call the data set's function with its settings and save what it returns."""
    module, _, function = spec["source"].rpartition(".")
    make = getattr(importlib.import_module(f"learning_dynamics.datasets.{module}"), function)
    save_arrays(out, make(**spec["settings"]), provenance("data", paper, name, spec["settings"]))
