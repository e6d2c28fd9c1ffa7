"""Snakemake's Slurm executor, patient with a controller that is away, and with one Snakemake for each submission.

It subclasses the executor of ``snakemake-executor-plugin-slurm``, has its settings under the prefix
``--slurm-patient-``, and overrides only methods that Snakemake's executor interface names. Tried with versions 2.6.1
to 2.8 of that plugin. Without it, asking for this executor prints what to install.
"""

import asyncio
import re
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.settings import CommonSettings, ExecutorSettingsBase

try:
    from snakemake_executor_plugin_slurm import Executor as SlurmExecutor
    from snakemake_executor_plugin_slurm import ExecutorSettings, common_settings
except ImportError as error:
    from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

    common_settings = CommonSettings(non_local_exec=True, implies_no_shared_fs=False, job_deploy_sources=False)
    missing = str(error)

    class ExecutorSettings(ExecutorSettingsBase):  # type: ignore[no-redef]
        """No settings."""

    class SlurmExecutor(RemoteExecutor):  # type: ignore[no-redef]
        """Stand-in for the executor that cannot be imported."""

        def __init__(self, *_: Any, **__: Any) -> None:
            raise WorkflowError(
                f"the executor slurm-patient needs snakemake-executor-plugin-slurm 2.6.1 to 2.8 ({missing}); "
                "pip install 'learning-dynamics[cluster]'"
            )

        def run_job(self, job: Any) -> None:
            """Nothing: there is no such object."""

        def cancel_jobs(self, active_jobs: list[SubmittedJobInfo]) -> None:
            """Nothing: there is no such object."""


__all__ = ["Executor", "ExecutorSettings", "common_settings", "controller_is_down", "queued_jobs"]
REQUEUE = "LEARNING_DYNAMICS_REQUEUE"  # as `learning_dynamics.pipeline.plan.cluster` has it
PAUSE = 2.0  # seconds between questions to a controller that does not answer
# refusals that a second submission would meet as well; a limit on the number of jobs, or a time-out, may pass
PERMANENT = re.compile(
    r"account \S+ appears to be invalid|supported accounting_storage plugin"
    r"|invalid (account|partition|qos|feature|generic resource|reservation|wckey|cluster)"
    r"|not permitted to use this partition|node configuration is not available|unrecognized option",
    re.IGNORECASE,
)


class Executor(SlurmExecutor):
    """Slurm's executor with five gaps closed; see docs/upstream.md for the reports.

    - A look at the queue that fails leaves every job as it was (the executor forgets its jobs, and waits for ever).
    - A submission waits until the controller answers, and one that raises fails its jobs with the reason (the
      exception is lost in a thread, and Snakemake waits for ever).
    - One Snakemake does all jobs of a submission, one after the other, on the processors that they asked for (each
      job gets a job step and another Snakemake: ten times what a short job takes). Job arrays are left as they are.
    - The reason why a group was refused is logged (Snakemake drops it), and what Slurm will always refuse, such as a
      misspelt account or partition, is not submitted again.
    - Nothing is submitted while jobs of a Snakemake that was killed are in the queue for this folder: it could not
      cancel them, and one that starts late would first delete what its successor has made.

    Besides, a submission of one job knows that Slurm may requeue it: it can go back into the queue by itself.
    """

    def __post_init__(self, *given: Any, **named: Any) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.reported: set[int] = set()
        self.looked_for_orphans = False
        super().__post_init__(*given, **named)

    # -- looks at the queue ----------------------------------------------------------------------------------------

    async def check_active_jobs(self, active_jobs: list[SubmittedJobInfo]) -> AsyncIterator[SubmittedJobInfo]:
        """Yield the jobs that are still active; those of which the queue said nothing are."""
        self.reported, kept = set(), set()
        async for job in super().check_active_jobs(active_jobs):
            kept.add(id(job))
            yield job
        unknown = [job for job in active_jobs if id(job) not in kept | self.reported]
        if unknown:
            self.logger.warning("Slurm's controller does not answer; its jobs are looked for again later.")
        for job in unknown:
            yield job

    def report_job_success(self, job_info: SubmittedJobInfo) -> None:
        """Report a job that ended well."""
        self.reported.add(id(job_info))
        super().report_job_success(job_info)

    def report_job_error(self, job_info: SubmittedJobInfo, msg: str | None = None, **named: Any) -> None:
        """Report a job that failed; one that was refused for good is not tried again."""
        self.reported.add(id(job_info))
        job = job_info.job
        if msg and job.is_group():  # whose reason Snakemake does not print
            self.logger.error(f"group {job.name}: {msg.partition('    sbatch call:')[0].strip()}")
        if msg and PERMANENT.search(msg):
            job.attempt = max(job.attempt, job.restart_times + 1)
        super().report_job_error(job_info, msg=msg, **named)

    # -- submissions -----------------------------------------------------------------------------------------------

    def run_jobs(self, jobs: list[Any]) -> None:
        """Submit jobs; the loop that asks for it is the one that learns when a submission fails.

        Raises
        ------
        WorkflowError
            If jobs of an earlier Snakemake are in the queue for this folder; it names the command that cancels them.
        """
        if not self.looked_for_orphans:  # at the first submission, when the folder is locked for this Snakemake
            folder = Path(self.workflow.workdir_init)
            if orphans := queued_jobs(folder):
                raise WorkflowError(
                    f"{len(orphans)} jobs of a Snakemake that is no longer running are still in Slurm's queue for "
                    f"{folder}; cancel them, then start again: scancel {' '.join(orphans)}"
                )
            self.looked_for_orphans = True
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:
            self.loop = None
        super().run_jobs(jobs)

    def run_job(self, job: Any) -> None:
        """Submit one job, or a group, once the controller answers."""
        self._submit(super().run_job, job, [job])

    def run_array_jobs(self, jobs: list[Any]) -> None:
        """Submit an array of jobs, once the controller answers."""
        self._submit(super().run_array_jobs, jobs, jobs)

    def _submit(self, submit: Callable[[Any], None], what: Any, jobs: list[Any]) -> None:
        if controller_is_down():
            self.logger.warning("Slurm's controller does not answer; the submission waits for it.")
            while controller_is_down():
                if not self.wait:
                    return
                time.sleep(PAUSE)
        try:
            submit(what)
        except Exception as error:  # in a thread whose result nobody asks for
            first: BaseException = error
            while first.__context__ is not None:  # the executor's own handler fails for groups, over the reason
                first = first.__context__
            why = f"a submission failed: {type(first).__name__}: {first}"
            for job in jobs:
                self._report_failed(SubmittedJobInfo(job), why)

    def _report_failed(self, job_info: SubmittedJobInfo, why: str) -> None:
        if self.loop is None:
            self.report_job_error(job_info, msg=why)
        else:
            self.loop.call_soon_threadsafe(lambda: self.report_job_error(job_info, msg=why))

    def shutdown(self) -> None:
        """End; submissions that wait for the controller are called off."""
        self.wait = False
        super().shutdown()

    # -- what a submission runs ------------------------------------------------------------------------------------

    def additional_general_args(self) -> str:
        """Return how the Snakemake of a submission runs its jobs."""
        # `abreast` is declared by the rules whose jobs travel together
        return super().additional_general_args() if self.array_jobs else "--executor local --resources abreast=1"

    def format_job_exec(self, job: Any) -> str:
        """Return what a submission executes; one that Slurm may requeue has a variable that says so."""
        executed = super().format_job_exec(job)
        alone = self.workflow.executor_settings.requeue and not job.is_group()
        return f"export {REQUEUE}=1; {executed}" if alone else executed

    def get_job_args(self, job: Any, **given: Any) -> str:
        """Return the arguments of a submission's Snakemake, with the processors that it asked for."""
        asked = super().get_job_args(job, **given)
        return asked if self.array_jobs else f"{asked} --cores {job.threads}"  # the last one counts


def queued_jobs(folder: Path) -> list[str]:
    """Return the ids of the jobs in Slurm's queue that a Snakemake submitted from a folder; none without Slurm."""
    if shutil.which("squeue") is None:
        return []
    command = ["squeue", "--noheader", "--me", "--format", "%A|%k|%Z"]
    try:
        queue = _run(command, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return []  # a controller that does not answer will be noticed by the submission
    rows = [line.split("|", 2) for line in queue.splitlines() if line.count("|") >= 2]
    # the executor's comment begins with the rule; it tells its jobs from a shell or a Snakemake run under Slurm
    return sorted(
        {job for job, comment, where in rows if comment.startswith("rule_") and Path(where) == folder}, key=int
    )


def controller_is_down() -> bool:
    """Whether Slurm says that its controller, and the backup if there is one, takes no requests."""
    if shutil.which("scontrol") is None:
        return False
    ping = _run(["scontrol", "ping"])
    return " is DOWN" in ping.stdout and " is UP" not in ping.stdout


def _run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    from learning_dynamics.programs import run_program  # of the checkout that the Snakefile names, which is read later

    return run_program(command, **options)
