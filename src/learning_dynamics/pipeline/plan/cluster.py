"""Slurm jobs that go back into the queue before their time is over."""

import os
import sys
import time
from typing import NoReturn

from learning_dynamics.errors import ProjectError
from learning_dynamics.programs import run_program

REQUEUE = "LEARNING_DYNAMICS_REQUEUE"  # set in submissions that may be put back into the queue
# seconds of a job's time that are left when it stops: Slurm's clock runs while Snakemake starts; chosen
MARGIN = 60.0
REQUEUE_TIMEOUT = 120.0  # seconds within which Slurm ends a job that it has taken back; chosen


def may_requeue() -> bool:
    """Whether this process is a job by itself that Slurm would start again from the beginning."""
    return REQUEUE in os.environ and "SLURM_JOB_ID" in os.environ


def time_until_stop(limit: float) -> float:
    """Return after how many seconds of its limit a job stops that can go on later: a minute before the end, of short
    limits halfway.
    """
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
    answer = run_program(["scontrol", "requeue", job])
    if answer.returncode == 0:
        time.sleep(REQUEUE_TIMEOUT)  # Slurm ends this process meanwhile
    raise ProjectError(f"{reason}; Slurm did not put job {job} back ({answer.stderr.strip() or 'no reason given'})")
