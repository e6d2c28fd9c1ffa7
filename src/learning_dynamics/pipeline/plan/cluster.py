"""Slurm jobs that go back into the queue before their time is over."""

import os
import sys
import time
from typing import NoReturn

from learning_dynamics.errors import ProjectError
from learning_dynamics.programs import run_program

# a variable of the environment, set by the executor plugin where Slurm may put a submission back into the queue
REQUEUE = "LEARNING_DYNAMICS_REQUEUE"
# A job stops this many seconds before its time is over, since Slurm's clock runs while Snakemake starts; chosen.
MARGIN = 60.0
REQUEUE_TIMEOUT = 120.0  # seconds within which Slurm ends a job that it has taken back; chosen


def may_requeue() -> bool:
    """Whether this process is the only job of a submission that Slurm may put back; the job then resumes."""
    return REQUEUE in os.environ and "SLURM_JOB_ID" in os.environ


def time_until_stop(limit: float) -> float:
    """Return after how many seconds a job that can go on later stops, given those that it may take.

    It stops `MARGIN` before its limit, but not in the first half of its time.
    """
    return max(limit - MARGIN, limit / 2)


def requeue(reason: str) -> NoReturn:
    """Put this process' job back into Slurm's queue, which ends the process.

    Raises
    ------
    ProjectError
        If Slurm refuses, or takes the job back and does not end it.
    """
    job = os.environ["SLURM_JOB_ID"]
    print(f"{reason}: job {job} goes back into Slurm's queue", file=sys.stderr, flush=True)
    answer = run_program(["scontrol", "requeue", job])
    if answer.returncode == 0:
        time.sleep(REQUEUE_TIMEOUT)  # Slurm ends this process meanwhile
        raise ProjectError(f"{reason}; Slurm took job {job} back, but did not end it in {REQUEUE_TIMEOUT:g} seconds")
    raise ProjectError(f"{reason}; Slurm did not put job {job} back ({answer.stderr.strip() or 'no reason given'})")
