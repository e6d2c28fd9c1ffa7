"""The job that a command carries out: as Snakemake has planned it, or as the configuration has it now.

`Job` describes the fields that are read here.
"""

import resource
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.plan.digests import science
from learning_dynamics.pipeline.plan.jobs import Job, read_configuration, read_job
from learning_dynamics.pipeline.store.stamps import fingerprint, stamp

CHANGED = "the source or the settings have changed since Snakemake planned this job; run the same command again"


def find_job(
    stage: str,
    paper: str,
    name: str,
    *,
    plan: Path | None,
    planned_fingerprint: str | None,
    files: Sequence[Path],
) -> Job:
    """Return a job, from the plan or, without one, from the configuration.

    Parameters
    ----------
    plan : path, optional
        The plan that Snakemake wrote.
    planned_fingerprint : str, optional
        The fingerprint that Snakemake planned the job with.
    files : sequence of path
        Overlays of the configuration; a plan has them already.

    Raises
    ------
    ProjectError
        If there is no such job, or it has another fingerprint.
    """
    if plan is not None:
        job = read_job(plan, stage, paper, name)
    else:
        # imported late: a job that Snakemake starts has a plan, and needs neither module
        from learning_dynamics.pipeline.plan.config_files import load
        from learning_dynamics.pipeline.plan.plan import Plan

        job = Plan(load(files, {"papers": [paper]})).job(stage, paper, name)
    if planned_fingerprint is not None and planned_fingerprint != job.fingerprint:
        raise ProjectError(f"{stage} {paper} {name}: {CHANGED}")
    return job


def write_usage(job: Job, started: float) -> None:
    """Write what a job took, as a table of one row: seconds, processor seconds, megabytes of memory at most.

    `started` is the ``time.monotonic()`` of its start. Snakemake's own benchmark would miss it: a job that `starter`
    forks is not Snakemake's child process.
    """
    usage = resource.getrusage(resource.RUSAGE_SELF)
    row = (time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
    with atomic_write(Path(job.folder, "benchmarks", job.stage, f"{job.name}.tsv")) as partial:
        partial.write_text("s\tcpu_time\tmax_rss\n" + "\t".join(f"{number:.2f}" for number in row) + "\n")


def configuration_option(plan: Path | None, files: Sequence[Path]) -> dict[str, Any]:
    """Return what `Plan.read` reads: the configuration of a plan or, without one, that of overlays."""
    return read_configuration(plan) if plan is not None else {"files": list(map(str, files)), "given": {}}


def verify_science(job: Job, *function_names: str) -> Mapping[str, str]:
    """Return the digests of the modules that a job computes with, as their sources are now.

    Call it after the import of the job's functions. Sources that were edited since the job was planned are refused;
    later edits no longer change what runs.

    Raises
    ------
    ProjectError
        If the sources give another fingerprint than the plan's.
    """
    digests = science(job.stage, job.paper, *function_names)
    if fingerprint(job.stage, job.spec, digests, job.made_from) != job.fingerprint:
        raise ProjectError(f"{job.stage} {job.paper} {job.name}: {CHANGED}")
    return digests


def record_of(job: Job, settings: Mapping[str, Any], digests: Mapping[str, str]) -> dict[str, Any]:
    """Return the stamp of a job's output, and under ``made_of`` what its fingerprint is the digest of."""
    made_of = {"spec": job.spec, "science": dict(digests), "made_from": job.made_from}
    return stamp(job.stage, job.paper, job.name, settings, job.fingerprint) | {"made_of": made_of}
