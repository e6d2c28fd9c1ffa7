"""Simulate and measure many members of a sweep in one process: one table, ``<sweep>@0001.parquet``."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.metrics import measure
from learning_dynamics.pipeline.commands.planned import CHANGED, find_job, record_of
from learning_dynamics.pipeline.commands.run import simulate
from learning_dynamics.pipeline.plan.blocks import flat, overlay
from learning_dynamics.pipeline.plan.digests import science
from learning_dynamics.pipeline.plan.sweeps import sweep_members
from learning_dynamics.pipeline.store.arrays import load_arrays
from learning_dynamics.pipeline.store.provenance import digest
from learning_dynamics.pipeline.store.provenance import fingerprint as fingerprint_of
from learning_dynamics.pipeline.store.tables import read_arrow, to_arrow, write_arrow
from learning_dynamics.trajectories import Trajectory

MAX_FAILURES_SHOWN = 3  # members that failed, named in one line


@dataclass(frozen=True)
class Member:
    """One run of a bundle: the specs of its own jobs, and the fingerprints that their outputs would carry."""

    name: str
    data: str | None
    run: Mapping[str, Any]
    metrics: Mapping[str, Any]
    run_fingerprint: str
    fingerprint: str


def execute(
    paper: str, name: str, /, plan: Path | None = None, fingerprint: str | None = None, files: Sequence[Path] = ()
) -> None:
    """Make the bundle's table, its members' one below the other, the record telling which rows are whose.

    A member that fails leaves the others alone: what they gave is kept beside the results, by fingerprint, and taken
    from there when the bundle is run again. So it is where the process is interrupted.

    Raises
    ------
    ProjectError
        If members failed: how many, the first of them, and why.
    """
    job = find_job("bundle", paper, name, plan, fingerprint, files)
    spec, out = job.spec, Path(job.output)
    data_sets = {Path(file).stem: load_arrays(file) for file in job.inputs["data"]}
    columns = paper_function(paper, "metrics", spec["function"]).columns
    paper_function(paper, "runs", spec["function"])  # read before its digest is
    members = list(_members(paper, spec, {key: record["fingerprint"] for key, (_, record) in data_sets.items()}))
    if digest([member.fingerprint for member in members]) != job.fingerprint:
        raise ProjectError(f"bundle {paper} {name}: {CHANGED}")
    first_member = members[0]
    settings = {"function": spec["function"], **first_member.run["settings"], **first_member.metrics["settings"]}
    digests = {**science("run", paper, spec["function"]), **science("metrics", paper, spec["function"])}
    record = record_of(job, settings, digests)
    kept_files = {member.name: out.parent.parent / "resume" / f"{member.fingerprint}.parquet" for member in members}
    tables, failures = {}, {}
    for kept, file in kept_files.items():
        with suppress(ProjectError):  # the member has not been made yet
            tables[kept] = read_arrow(file)[0]
    try:
        latest: tuple[str, Trajectory] | None = None
        for member in members:
            if member.name in tables:
                continue
            try:
                if latest is None or latest[0] != member.run_fingerprint:
                    arrays = None if member.data is None else data_sets[member.data][0]
                    latest = member.run_fingerprint, simulate(paper, member.name, member.run, arrays)
                table = measure(paper, member.name, member.metrics, latest[1])
                tables[member.name] = to_arrow(member.name, table, columns)
            except ProjectError as error:
                failures[member.name] = error
    finally:
        for member in members if len(tables) < len(members) else ():
            if member.name in tables:
                write_arrow(kept_files[member.name], tables[member.name], record)
    if failures:
        listed = "; ".join(f"{failed}: {failures[failed]}" for failed in list(failures)[:MAX_FAILURES_SHOWN])
        ellipsis = "; ..." if len(failures) > MAX_FAILURES_SHOWN else ""
        raise ProjectError(
            f"{len(failures)} of {len(members)} members failed; what the others gave is kept: {listed}{ellipsis}"
        )
    record["members"] = [(member.fingerprint, tables[member.name].num_rows) for member in members]
    write_arrow(out, pa.concat_tables([tables[member.name] for member in members]), record)
    for file in kept_files.values():
        with suppress(OSError):
            file.unlink(missing_ok=True)


def _members(paper: str, spec: Mapping[str, Any], data_fingerprints: Mapping[str, str]) -> Iterator[Member]:
    """Yield the members of a bundle, given the fingerprints of its data sets."""
    function_name = spec["function"]
    simulating, measuring = science("run", paper, function_name), science("metrics", paper, function_name)
    for values in spec["members"]:
        differing = dict(zip(spec["axes"], values, strict=True))
        ((name, _),) = sweep_members(spec["sweep"], {key: [value] for key, value in differing.items()})
        data = differing.pop("data", spec["data"])
        measured = {key: differing.pop(key) for key in flat(spec["measure"]) if key in differing}
        run = {"function": function_name, "settings": overlay(spec["settings"], differing)}
        metrics = {"function": function_name, "settings": overlay(spec["measure"], measured)}
        simulated = fingerprint_of("run", run, simulating, None if data is None else data_fingerprints[data])
        yield Member(name, data, run, metrics, simulated, fingerprint_of("metrics", metrics, measuring, simulated))
