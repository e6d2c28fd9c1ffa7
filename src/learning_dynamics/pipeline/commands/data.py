"""Make or read a data set: ``<name>.npz`` of named arrays, leading axis the ensemble's members."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from learning_dynamics.pipeline.commands.functions import (
    arguments_for,
    data_function,
    error_context,
    fingerprint_here,
)
from learning_dynamics.pipeline.store.arrays import save_arrays
from learning_dynamics.pipeline.store.provenance import provenance


def execute(paper: str, name: str, /, spec: Mapping[str, Any], out: Path, fingerprint: str | None = None) -> None:
    """Call the data set's function with its settings and save what it returns."""
    data_function(paper, spec["source"])  # read before its digest is
    data_fingerprint = fingerprint_here("data", paper, spec["source"], spec, None, fingerprint)
    save_arrays(out, make_data(paper, name, spec), provenance("data", paper, name, spec["settings"], data_fingerprint))


def make_data(paper: str, name: str, spec: Mapping[str, Any]) -> Any:
    """Return a data set's arrays, given its source and settings as `Plan.data` has them."""
    function = data_function(paper, spec["source"])
    with error_context(f"data {name}", spec["settings"]):
        return function(**arguments_for(function, spec["settings"]))
