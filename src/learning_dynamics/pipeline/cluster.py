"""Slurm where Snakemake's executor leaves gaps: a controller away, jobs that outlived their Snakemake, job steps."""

from __future__ import annotations

import getpass
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

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


def outlast_the_controller() -> None:
    """Let Snakemake's Slurm executor wait for a controller that does not answer, as during a restart.

    Version 2.8 of the executor forgets its jobs when a look at the queue fails, and then waits for ever; a
    submission that fails uses up one of the job's attempts. Here a failed look leaves every job as it was, and
    submissions wait until the controller answers. Does nothing where the executor is not installed.
    """
    try:
        import snakemake_executor_plugin_slurm as slurm
    except ImportError:
        return
    look, executor = slurm.query_job_status, slurm.Executor
    shutdown = executor.shutdown

    async def patient_look(command: str, logger: Any) -> tuple[dict[str, str], float]:
        states, seconds = await look(command, logger)
        if states is None:
            logger.warning("Slurm's controller does not answer; its jobs are looked for again later.")
            return {}, 0.0
        return states, seconds

    def when_answered(submit: Any) -> Any:
        def submit_later(self: Any, jobs: Any) -> None:
            if controller_is_down():
                self.logger.warning("Slurm's controller does not answer; the submission waits for it.")
                while controller_is_down():
                    if not self.wait:
                        return
                    time.sleep(2)
            try:
                submit(self, jobs)
            except Exception as error:  # in a thread whose result nobody asks for: Snakemake would wait for ever
                first: BaseException = error
                while first.__context__ is not None:  # the executor's own handler fails for groups, over the reason
                    first = first.__context__
                why = f"a submission failed: {type(first).__name__}: {first}"
                for job in jobs if isinstance(jobs, list) else [jobs]:
                    self._report_job_error_threadsafe(slurm.SubmittedJobInfo(job), why)

        return submit_later

    def shutdown_without_waiting(self: Any) -> None:
        self.wait = False
        shutdown(self)

    slurm.query_job_status = patient_look
    executor.run_job = when_answered(executor.run_job)
    executor.run_array_jobs = when_answered(executor.run_array_jobs)
    executor.shutdown = shutdown_without_waiting


def submissions_do_their_own_work() -> None:
    """Let one Snakemake do all jobs of a submission, one after the other, on the processors that they asked for.

    Version 2.8 of the executor starts a job step (``srun``) and in it another Snakemake for every job of a
    submission: three seconds of a processor each, ten times what a short run takes. Arrays of jobs are left as they
    are. Does nothing where the executor is not installed.
    """
    try:
        import snakemake_executor_plugin_slurm as slurm
    except ImportError:
        return
    executor = slurm.Executor
    by_steps, job_args = executor.additional_general_args, executor.get_job_args

    def here(self: Any) -> str:
        # `abreast` is declared by the rules whose jobs travel together
        return by_steps(self) if self.array_jobs else "--executor local --resources abreast=1"

    def on_their_processors(self: Any, job: Any, **given: Any) -> str:
        asked = job_args(self, job, **given)
        return asked if self.array_jobs else f"{asked} --cores {job.threads}"  # the last one counts

    executor.additional_general_args = here
    executor.get_job_args = on_their_processors


def controller_is_down() -> bool:
    """Whether Slurm says that its controller, and the backup if there is one, takes no requests."""
    if shutil.which("scontrol") is None:
        return False
    ping = subprocess.run(["scontrol", "ping"], capture_output=True, text=True, check=False)
    return " is DOWN" in ping.stdout and " is UP" not in ping.stdout
