"""Slurm jobs that outlived their Snakemake."""

from __future__ import annotations

import getpass
import shutil
import subprocess
from pathlib import Path

from learning_dynamics.errors import ProjectError


def check_nothing_left_behind(folder: Path) -> None:
    """Refuse to start while jobs of an earlier Snakemake wait or run in this folder.

    A Snakemake that was killed cannot cancel its jobs, and its successor does not know them: one that
    starts late would first delete the outputs that the successor has made. Called once the folder's lock
    is held, so that no living Snakemake's jobs are meant.

    Raises
    ------
    ProjectError
        If there are such jobs; it names the command that cancels them.
    """
    jobs = jobs_of(folder)
    if jobs:
        raise ProjectError(
            f"{len(jobs)} jobs of a Snakemake that is no longer running are still in Slurm's queue for {folder}; "
            f"cancel them, then start again: scancel {' '.join(jobs)}"
        )


def jobs_of(folder: Path) -> list[str]:
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
    found = {job for job, comment, where in rows if comment.startswith("rule_") and Path(where) == folder}
    return sorted(found, key=int)
