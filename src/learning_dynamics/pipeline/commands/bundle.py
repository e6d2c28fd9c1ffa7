"""Simulate and measure many runs of a sweep in one process: one table, with the swept settings as columns."""

import itertools
import types
import typing
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
from learning_dynamics.pipeline.plan.signatures import signature_of
from learning_dynamics.pipeline.plan.sweeps import runs_of_sweep
from learning_dynamics.pipeline.store.arrays import load_arrays
from learning_dynamics.pipeline.store.stamps import digest
from learning_dynamics.pipeline.store.stamps import fingerprint as fingerprint_of
from learning_dynamics.pipeline.store.tables import add_settings, read_arrow, read_stamp, to_arrow, write_arrow
from learning_dynamics.trajectories import Trajectory

MAX_FAILURES_SHOWN = 3  # runs that failed, named in one line
COLUMN_TYPES = {int: "int", float: "float", bool: "bool"}  # of swept settings; others are text


@dataclass(frozen=True)
class BundledRun:
    """One run of a bundle: what it differs in, the specs of its own jobs, the fingerprints of their outputs."""

    name: str
    differing: Mapping[str, Any]
    data: str | None
    run_spec: Mapping[str, Any]
    metrics_spec: Mapping[str, Any]
    run_fingerprint: str
    fingerprint: str


def execute(
    paper: str, name: str, /, plan: Path | None = None, fingerprint: str | None = None, files: Sequence[Path] = ()
) -> None:
    """Make the bundle's table: its runs' one below the other, their swept settings as columns.

    A run is found by its values: its rows are taken from a bundle of this paper that has them, made before for
    another range of the sweep, or left by a job that failed or was interrupted. A run that fails leaves the others
    alone.

    Raises
    ------
    ProjectError
        If runs failed: how many, the first of them, and why.
    """
    job = find_job("bundle", paper, name, plan=plan, planned_fingerprint=fingerprint, files=files)
    spec, out = job.spec, Path(job.output)

    data_sets = {Path(file).stem: load_arrays(file) for file in job.inputs["data"]}
    columns = paper_function(paper, "metrics", spec["function"]).columns
    paper_function(paper, "runs", spec["function"])  # read before its digest is
    runs = list(_runs_of_bundle(paper, spec, {key: record["fingerprint"] for key, (_, record) in data_sets.items()}))
    if digest([run.fingerprint for run in runs]) != job.fingerprint:
        raise ProjectError(f"bundle {paper} {name}: {CHANGED}")

    first_run = runs[0]
    settings = {"function": spec["function"], **first_run.run_spec["settings"], **first_run.metrics_spec["settings"]}
    digests = {**science("run", paper, spec["function"]), **science("metrics", paper, spec["function"])}
    record = record_of(job, settings, digests)
    column_types = types_of_columns(paper, spec["function"], spec["axes"])

    resume = Path(job.folder, "resume")
    tables = dict(_rows_made_before(out, resume, runs, [column.name for column in columns]))  # by run
    failures: dict[str, ProjectError] = {}
    if tables:
        print(f"{len(tables)} of {len(runs)} runs were measured before")
    try:
        # runs that differ in settings of measuring alone follow each other, and share a trajectory
        simulated: str | None = None
        trajectory: Trajectory | None = None
        # what was measured before comes first: whatever interrupts the others, all tables have the same columns
        for run in sorted(runs, key=lambda run: run.name not in tables):
            try:
                if run.name not in tables:
                    if trajectory is None or simulated != run.run_fingerprint:
                        arrays = None if run.data is None else data_sets[run.data][0]
                        trajectory = simulate(paper, run.name, run.run_spec, arrays)
                        simulated = run.run_fingerprint
                    table = measure(paper, run.name, run.metrics_spec, trajectory)
                    tables[run.name] = to_arrow(run.name, table, columns)
                tables[run.name] = add_settings(tables[run.name], run.differing, column_types)
            except ProjectError as error:
                tables.pop(run.name, None)
                failures[run.name] = error
    finally:
        ready = [run for run in runs if run.name in tables]
        record["contents"] = {run.name: [run.fingerprint, tables[run.name].num_rows] for run in ready}
        if 0 < len(ready) < len(runs):
            write_arrow(resume / out.name, pa.concat_tables([tables[run.name] for run in ready]), record)

    if failures:
        listed = "; ".join(f"{failed}: {failures[failed]}" for failed in list(failures)[:MAX_FAILURES_SHOWN])
        ellipsis = "; ..." if len(failures) > MAX_FAILURES_SHOWN else ""
        raise ProjectError(
            f"{len(failures)} of {len(runs)} runs failed; what the others gave is kept: {listed}{ellipsis}"
        )
    write_arrow(out, pa.concat_tables([tables[run.name] for run in runs]), record)
    _put_away(out, resume, record["contents"])


def types_of_columns(paper: str, function_name: str, settings: Sequence[str]) -> dict[str, str]:
    """Return the type of the column of each swept setting, as `tidy.Column` has it: the same for any of its values."""
    fields: dict[str, Any] = {}
    for stage in ("metrics", "run"):
        fields |= signature_of(stage, paper, function_name, function_name).fields
    return {key: _column_type(fields[key].annotation) if key in fields else "str" for key in settings}


def _column_type(annotation: Any) -> str:
    """Return the type of a column for a setting's annotation, ``Annotated[int, Ge(1)] | None``: numbers, else text."""
    if typing.get_origin(annotation) is typing.Annotated:
        return _column_type(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        kinds = {_column_type(kind) for kind in typing.get_args(annotation) if kind is not types.NoneType}
        if kinds == {"int", "float"}:
            return "float"
        return kinds.pop() if len(kinds) == 1 else "str"
    return COLUMN_TYPES.get(annotation, "str")


def _other_tables(folder: Path, out: Path) -> Iterator[tuple[Path, dict[str, list[Any]]]]:
    """Yield the other tables of bundles in a folder, with the fingerprint and the number of rows of each run."""
    for file in sorted(folder.glob("*@*.parquet")):
        if file != out:
            with suppress(ProjectError):  # damaged, or put away meanwhile
                yield file, read_stamp(file).get("contents", {})


def _rows_made_before(
    out: Path, resume: Path, runs: Sequence[BundledRun], columns: Sequence[str]
) -> Iterator[tuple[str, pa.Table]]:
    """Yield the runs that other tables hold, made by the same settings and code, each with its rows.

    A table's ``contents`` say how many of its rows, from the first on, belong to each run. Its columns are the declared
    ones: swept settings are added again.
    """
    wanted = {run.fingerprint: run.name for run in runs}
    # tables are moved from the results to `resume`: in this order one that is moved meanwhile is seen there
    for file, contents in itertools.chain(_other_tables(out.parent, out), _other_tables(resume, out)):
        if not any(fingerprint in wanted for fingerprint, _ in contents.values()):
            continue
        with suppress(ProjectError):  # damaged, or put away meanwhile
            arrow, _ = read_arrow(file)
            arrow, start = arrow.select(columns), 0
            for fingerprint, length in contents.values():
                if fingerprint in wanted:
                    yield wanted.pop(fingerprint), arrow.slice(start, length)
                start += length


def _put_away(out: Path, resume: Path, contents_of_new: Mapping[str, Sequence[Any]]) -> None:
    """Take tables out of the results that were made for another range of the sweep and share runs with the new one.

    A run of a sweep is in one table: a table that shares some with the new one is not of the sweep as it is now. It is
    put into `resume`, from where other bundles may take runs, and is deleted when all of its runs are in the results.
    Runs are the same if their values or their fingerprints are.
    """
    (resume / out.name).unlink(missing_ok=True)
    sweep = out.name.partition("@")[0]
    # Read before the results: read after them, a table that another bundle moves meanwhile would be in both lists, and
    # its runs would count as those of the results
    in_resume = list(_other_tables(resume, out))
    in_results = _names_and_fingerprints(contents_of_new)
    for file, contents in _other_tables(out.parent, out):
        if file.name.partition("@")[0] != sweep:
            continue
        if _names_and_fingerprints(contents) & _names_and_fingerprints(contents_of_new):
            resume.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):  # another bundle was first
                file.replace(resume / file.name)
            in_resume.append((resume / file.name, contents))
        else:
            in_results |= _names_and_fingerprints(contents)
    for file, contents in in_resume:
        if file.name.partition("@")[0] != sweep:
            continue
        if all(_names_and_fingerprints({name: entry}) & in_results for name, entry in contents.items()):
            file.unlink(missing_ok=True)


def _names_and_fingerprints(contents: Mapping[str, Sequence[Any]]) -> set[str]:
    """Return the names and the fingerprints of a table's runs."""
    return {*contents, *(fingerprint for fingerprint, _ in contents.values())}


def _runs_of_bundle(paper: str, spec: Mapping[str, Any], data_fingerprints: Mapping[str, str]) -> Iterator[BundledRun]:
    """Yield the runs of a bundle, given the fingerprints of its data sets.

    A bundle's job has what its runs share, and for each of them a row of values. With axes ``data, width, every``,
    the first of which names a data set, the second a setting of the run and the third one of measuring, the row
    ``[problems, 20, 2]`` stands for the run ``<sweep>--data-problems--width-20--every-2``. Its data set is `problems`;
    its settings are the shared ones with ``width: 20``, those of its metrics the shared ones with ``every: 2``. Both
    fingerprints are those that jobs of its own would have, so that a run's metrics are the same file content whether
    they are made alone or in a bundle, and two runs that differ in ``every`` alone share one trajectory.
    """
    function_name = spec["function"]
    science_of_run, science_of_metrics = science("run", paper, function_name), science("metrics", paper, function_name)
    for values in spec["rows"]:
        differing = dict(zip(spec["axes"], values, strict=True))
        ((name, swept),) = runs_of_sweep(spec["sweep"], {key: [value] for key, value in differing.items()})

        # each value belongs to the data set, to the metrics or, what is left, to the run
        data = differing.pop("data", spec["data"])
        of_metrics = {key: differing.pop(key) for key in flat(spec["measure"]) if key in differing}
        run_spec = {"function": function_name, "settings": overlay(spec["settings"], differing)}
        metrics_spec = {"function": function_name, "settings": overlay(spec["measure"], of_metrics)}

        data_fingerprint = None if data is None else data_fingerprints[data]
        run_fingerprint = fingerprint_of("run", run_spec, science_of_run, data_fingerprint)
        yield BundledRun(
            name=name,
            differing=swept,
            data=data,
            run_spec=run_spec,
            metrics_spec=metrics_spec,
            run_fingerprint=run_fingerprint,
            fingerprint=fingerprint_of("metrics", metrics_spec, science_of_metrics, run_fingerprint),
        )
