"""Slurm jobs: those that outlived their Snakemake, and those that go back into the queue before their time is over."""

import getpass
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

from learning_dynamics.errors import ProjectError

REQUEUE = "LEARNING_DYNAMICS_REQUEUE"  # set in submissions that may be put back into the queue
# seconds of a job's time that are left when it goes back: Slurm's clock runs while Snakemake starts
MARGIN = 60.0
REQUEUE_TIMEOUT = 120.0  # seconds within which Slurm ends a job that it has taken back


def check_no_orphaned_jobs(folder: Path) -> None:
    """Refuse to start while jobs of an earlier Snakemake wait or run in this folder.

    A Snakemake that was killed cannot cancel its jobs, and its successor does not know them: one that
    starts late would first delete the outputs that the successor has made. Called once the folder's lock
    is held, so that no living Snakemake's jobs are meant.

    Raises
    ------
    ProjectError
        If there are such jobs; it names the command that cancels them.
    """
    jobs = queued_jobs(folder)
    if jobs:
        raise ProjectError(
            f"{len(jobs)} jobs of a Snakemake that is no longer running are still in Slurm's queue for {folder}; "
            f"cancel them, then start again: scancel {' '.join(jobs)}"
        )


def queued_jobs(folder: Path) -> list[str]:
    """Return the ids of the jobs in Slurm's queue that a Snakemake submitted from a folder; none without Slurm."""
    if shutil.which("squeue") is None:
        return []
    command = ["squeue", "--noheader", "--user", getpass.getuser(), "--format", "%A|%k|%Z"]
    try:
        listed = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return []  # a controller that does not answer will be noticed by the first submission
    rows = [line.split("|", 2) for line in listed.splitlines() if line.count("|") >= 2]
    # the executor's comment begins with the rule; it tells its jobs from a shell or a Snakemake run under Slurm
    job_ids = {job for job, comment, where in rows if comment.startswith("rule_") and Path(where) == folder}
    return sorted(job_ids, key=int)


def may_requeue() -> bool:
    """Whether this process is a job by itself that Slurm would start again from the beginning."""
    return REQUEUE in os.environ and "SLURM_JOB_ID" in os.environ


def time_until_requeue(limit: float) -> float:
    """Return after how many seconds of its limit a job goes back: a minute before the end, of short limits halfway."""
    return max(limit - MARGIN, limit / 2)


def requeue(reason: str) -> NoReturn:
    """Put this process' job back into Slurm's queue, which ends the process.

    Raises
    ------
    ProjectError
        If Slurm refuses, or takes it back and leaves it alive.
    """
    job = os.environ["SLURM_JOB_ID"]
    print(f"{reason}: job {job} goes back into Slurm's queue", file=sys.stderr, flush=True)
    ended = subprocess.run(["scontrol", "requeue", job], capture_output=True, text=True, check=False)
    if ended.returncode == 0:
        time.sleep(REQUEUE_TIMEOUT)
    raise ProjectError(f"{reason}; Slurm did not put job {job} back ({ended.stderr.strip() or 'no reason given'})")
