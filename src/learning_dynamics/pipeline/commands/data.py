"""Make or read a data set: ``<name>.npz`` of named arrays, leading axis the ensemble's members."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from learning_dynamics.pipeline.commands.functions import arguments_for, data_function, error_context
from learning_dynamics.pipeline.commands.planned import find_job, record_of, verify_science
from learning_dynamics.pipeline.store.arrays import save_arrays


def execute(
    paper: str, name: str, /, plan: Path | None = None, fingerprint: str | None = None, files: Sequence[Path] = ()
) -> None:
    """Call the data set's function with its settings and save what it returns."""
    job = find_job("data", paper, name, plan=plan, planned_fingerprint=fingerprint, files=files)
    spec = job.spec
    data_function(paper, spec["source"])  # read before its digest is
    digests = verify_science(job, spec["source"])
    save_arrays(job.output, make_data(paper, name, spec), record_of(job, spec["settings"], digests))


def make_data(paper: str, name: str, spec: Mapping[str, Any]) -> Any:
    """Return a data set's arrays, given its source and settings as `Plan.data` has them."""
    function = data_function(paper, spec["source"])
    with error_context(f"data {name}", spec["settings"]):
        return function(**arguments_for(function, spec["settings"]))
