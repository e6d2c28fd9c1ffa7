"""Snakemake's Slurm executor, patient with a controller that is away, and with one Snakemake for each submission.

It subclasses the executor of ``snakemake-executor-plugin-slurm``, has its settings under the prefix
``--slurm-patient-``, and overrides only methods that Snakemake's executor interface names. Tried with versions 2.6.1
to 2.8 of that plugin. Without it, asking for this executor prints what to install.
"""

import asyncio
import errno
import logging
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.settings import CommonSettings, ExecutorSettingsBase

from snakemake_executor_plugin_slurm_patient import submitters

missing = ""
try:
    from snakemake_executor_plugin_slurm import Executor as SlurmExecutor
    from snakemake_executor_plugin_slurm import ExecutorSettings as SlurmSettings
    from snakemake_executor_plugin_slurm import common_settings
except ImportError as error:
    from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

    common_settings = CommonSettings(non_local_exec=True, implies_no_shared_fs=False, job_deploy_sources=False)
    missing = str(error)

    class SlurmSettings(ExecutorSettingsBase):  # type: ignore[no-redef]
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


@dataclass
class ExecutorSettings(SlurmSettings):
    """The settings of ``snakemake-executor-plugin-slurm``, and one more."""

    gpu_options: Optional[str] = field(  # noqa: UP045 - Snakemake makes an option of this spelling alone
        default=None,
        metadata={
            "help": "Options of sbatch for jobs that ask for a GPU, and for no others, such as '--constraint=a100'. "
            "They need --slurm-patient-pass-command-as-script.",
            "env_var": False,
            "required": False,
        },
    )


REQUEUE = "LEARNING_DYNAMICS_REQUEUE"  # as `learning_dynamics.pipeline.plan.cluster` has it
PAUSE = 2.0  # seconds between questions to a controller that does not answer; chosen
# refusals that a second submission would meet as well; a limit on the number of jobs, or a time-out, may pass
PERMANENT = re.compile(
    r"account \S+ appears to be invalid|supported accounting_storage plugin"
    r"|invalid (account|partition|qos|feature|generic resource|reservation|wckey|cluster)"
    r"|not permitted to use this partition|node configuration is not available|unrecognized option",
    re.IGNORECASE,
)
# in a job's log: what another attempt with more time and memory would meet as well
FUTILE = re.compile(
    r"(?:No space left on device|Disk quota exceeded|Read-only file system|have changed since Snakemake planned).*"
)
FULL = (errno.ENOSPC, errno.EDQUOT)
PROBE = 1 << 20  # bytes of a file that is written to see whether a disk has room
# Slurm's reasons for which a job waits a moment only: they are not shown
PASSING_REASONS = ("None", "BeginTime", "Cleaning")
# The plugin asks `sacct` for an account, with an option that no `sacct` has, and goes on without: Slurm then takes the
# user's default account. It advises against a Snakemake that is a job itself, which this executor is made for.
NOISE = re.compile(
    r"No SLURM account given|Unable to guess SLURM account|No account was given, not able to get a SLURM account"
    r"|You are running snakemake in a SLURM job context"
)


class Executor(SlurmExecutor):
    """Slurm's executor with seven gaps closed; see docs/upstream.md for the reports.

    - A look at the queue that fails leaves every job as it was (the executor forgets its jobs, and waits for ever).
    - A submission waits until the controller answers, and one that raises fails its jobs with the reason (the
      exception is lost in a thread, and Snakemake waits for ever).
    - One Snakemake does all jobs of a submission, one after the other, on the processors that they asked for (each
      job gets a job step and another Snakemake: ten times what a short job takes). Job arrays are left as they are.
    - The reason why a group was refused is logged (Snakemake drops it), and what Slurm will always refuse, such as a
      misspelt account or partition, is not submitted again.
    - Nothing is submitted while another Snakemake makes the same files, nor while jobs that do are left of one that
      was killed: it could not cancel them, and one that starts late would first delete what its successor has made.
    - Slurm's reason for a job that waits is shown, once (the executor waits without a word). SIGTERM cancels jobs that
      wait, and lets those that run end (the executor waits for both).
    - A job that failed because a disk is full is not submitted again with more memory.

    Besides, a submission of one job knows that Slurm may requeue it: it can go back into the queue by itself.
    """

    def __init__(self, workflow: Any, logger: Any) -> None:
        if not missing and shutil.which("sbatch") is None:
            raise WorkflowError(
                "this machine has no Slurm (no sbatch on PATH): go to a login node of the cluster, or load its module; "
                "without a cluster leave out --profile profiles/slurm"
            )
        logger.addFilter(_is_worth_showing)
        # before the base starts the thread that looks at the queue
        self.loop: asyncio.AbstractEventLoop | None = None
        self.reported: set[int] = set()
        self.submitter: submitters.Submitter | None = None
        self.reasons_shown: set[str] = set()
        self.is_ending = False
        super().__init__(workflow, logger)

    # -- looks at the queue ----------------------------------------------------------------------------------------

    async def check_active_jobs(self, active_jobs: list[SubmittedJobInfo]) -> AsyncIterator[SubmittedJobInfo]:
        """Yield the jobs that are still active; jobs of which the queue says nothing count as active."""
        if self.submitter is not None:
            submitters.write(self.folder, self.submitter)
        if active_jobs:
            self._look_at_waiting_jobs()
        # of each active job the base yields it, or reports how it ended, or, where the queue is silent, does neither
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
        """Report a job that failed; one that another attempt cannot help is not tried again."""
        self.reported.add(id(job_info))
        job = job_info.job
        if msg and job.is_group():  # whose reason Snakemake does not print
            self.logger.error(f"group {job.name}: {msg.partition('    sbatch call:')[0].strip()}")
        futile = why_futile(job.log, job.output) if job_info.external_jobid else ""
        if futile:
            self.logger.error(f"{job.name} is not submitted again, since more memory and time would not help: {futile}")
        if futile or (msg and PERMANENT.search(msg)):
            job.attempt = max(job.attempt, job.restart_times + 1)
        super().report_job_error(job_info, msg=msg, **named)

    # -- submissions -----------------------------------------------------------------------------------------------

    def run_jobs(self, jobs: list[Any]) -> None:
        """Submit jobs; the loop that asks for it is the one that learns when a submission fails.

        Raises
        ------
        WorkflowError
            If another Snakemake makes the same files, or jobs of one that has ended do.
        """
        if self.submitter is None:  # at the first submission, when the folder is locked for this Snakemake
            makes, reads = files_of(self.dag)
            self._check_others(makes | reads)
            self.submitter = submitters.this_process(self.run_uuid, makes)
            submitters.write(self.folder, self.submitter)
            self._hear_sigterm()
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
        """Call the base's method once the controller answers; if it raises, all jobs of the submission fail."""
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
        if self.submitter is not None:
            submitters.remove(self.folder, self.submitter.job_name)

    # -- others in this folder, and jobs that wait -----------------------------------------------------------------

    @property
    def folder(self) -> Path:
        """The folder from which jobs are submitted."""
        return Path(self.workflow.workdir_init)

    def _check_others(self, files: set[str]) -> None:
        """Raise `WorkflowError` if another Snakemake, or a job that one has left in the queue, makes one of the files.

        Snakemake's own lock refuses the first case, unless somebody has removed it.
        """
        queued = queued_jobs(self.folder)
        owners: dict[str, submitters.Submitter] = {}  # by the name of their jobs in the queue
        names_at_work: set[str] = set()
        for other, at_work in submitters.read(self.folder):
            owners[other.job_name] = other
            if at_work:
                names_at_work.add(other.job_name)
            shared = sorted(files.intersection(other.makes))
            if at_work and shared:
                raise WorkflowError(
                    f"another Snakemake ({other}) is at work in {self.folder} and makes {shared[0]} as well; wait for "
                    "it, or end it first: kill its process, which lets its running jobs end"
                )
            if not at_work and other.job_name not in queued:
                submitters.remove(self.folder, other.job_name)
        for name, jobs in queued.items():
            if name in names_at_work:
                continue
            owner = owners.get(name)
            if owner is None or files.intersection(owner.makes):
                raise WorkflowError(
                    f"{len(jobs)} jobs of a Snakemake that has ended{f' ({owner})' if owner else ''} are still in "
                    f"Slurm's queue for {self.folder}; cancel them, then start again: scancel {' '.join(jobs)}"
                )
            self.logger.warning(
                f"{len(jobs)} jobs of a Snakemake that has ended ({owner}) continue; they make no file that is asked "
                f"for now: {' '.join(jobs)}"
            )

    def _look_at_waiting_jobs(self) -> None:
        """Show each of Slurm's reasons for jobs that wait once; cancel these jobs if this Snakemake is to end."""
        waiting = waiting_jobs(self.run_uuid)
        if self.is_ending and waiting:
            self._cancel_waiting_jobs()
            return
        by_reason: dict[str, list[str]] = {}
        for job, (label, reason) in waiting.items():
            if reason not in PASSING_REASONS:
                by_reason.setdefault(reason, []).append(f"{job} ({label})")
        for reason, jobs in by_reason.items():
            if reason not in self.reasons_shown:
                self.reasons_shown.add(reason)
                others = f" and {len(jobs) - 1} more" if len(jobs) > 1 else ""
                self.logger.warning(f"Slurm keeps job {jobs[0]}{others} waiting: {reason}")

    def _cancel_waiting_jobs(self) -> None:
        _run(["scancel", "--state=PENDING", f"--name={self.run_uuid}"])

    def _hear_sigterm(self) -> None:
        """Let SIGTERM cancel jobs that wait, besides what Snakemake does: no job is submitted, running ones end."""
        previous = signal.getsignal(signal.SIGTERM)

        def end(*given: Any) -> None:
            self.is_ending = True
            threading.Thread(target=self._cancel_waiting_jobs, daemon=True).start()
            if callable(previous):
                previous(*given)

        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, end)

    # -- what a submission runs ------------------------------------------------------------------------------------

    def additional_general_args(self) -> str:
        """Return how the Snakemake of a submission runs its jobs."""
        # `profiles/slurm` gives jobs that travel together `abreast: 1`: one of them runs at a time
        if self.array_jobs:
            return super().additional_general_args()
        return "--executor local --resources abreast=1"

    def format_job_exec(self, job: Any) -> str:
        """Return what a submission executes; one that Slurm may requeue has a variable that says so."""
        script = super().format_job_exec(job)
        settings = self.workflow.executor_settings
        if settings.requeue and not job.is_group():
            script = f"export {REQUEUE}=1; {script}"
        if settings.gpu_options and job.resources.get("gpu"):  # sbatch reads options at the beginning of a script
            return f"#SBATCH {settings.gpu_options}\n{script}"
        return script

    def get_job_args(self, job: Any, **given: Any) -> str:
        """Return the arguments of a submission's Snakemake, with the processors that it asked for."""
        arguments = super().get_job_args(job, **given)
        if self.array_jobs:
            return arguments
        return f"{arguments} --cores {job.threads}"  # the last of several counts


def _is_worth_showing(record: logging.LogRecord) -> bool:
    return NOISE.match(str(record.msg)) is None


def files_of(dag: Any) -> tuple[set[str], set[str]]:
    """Return the files that a Snakemake is to make, and those that its jobs read."""
    makes = {str(file) for job in dag.needrun_jobs() for file in job.output}
    return makes, {str(file) for job in dag.jobs for file in job.input}


def queued_jobs(folder: Path) -> dict[str, list[str]]:
    """Return the ids of the jobs in Slurm's queue that Snakemakes submitted from a folder, by their name."""
    queued: dict[str, list[str]] = {}
    for job, name, comment, where in _queue("--me", columns="%A|%j|%k|%Z"):
        # the executor's comment begins with the rule; it tells its jobs from a shell or a Snakemake run under Slurm
        if comment.startswith("rule_") and Path(where) == folder:
            queued.setdefault(name, []).append(job)
    return {name: sorted(set(jobs), key=int) for name, jobs in queued.items()}


def waiting_jobs(name: str) -> dict[str, tuple[str, str]]:
    """Return what each job of a name that waits is to make, and Slurm's reason, by its id."""
    rows = _queue("--states=PENDING", "--name", name, columns="%A|%k|%r")
    return {job: (comment.removeprefix("rule_").replace("_wildcards_", " "), reason) for job, comment, reason in rows}


def _queue(*options: str, columns: str) -> list[list[str]]:
    """Return the rows of Slurm's queue; none without Slurm, or where its controller does not answer."""
    if shutil.which("squeue") is None:
        return []
    try:
        queue = _run(["squeue", "--noheader", *options, "--format", columns], check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    bars = columns.count("|")
    return [line.split("|", bars) for line in queue.splitlines() if line.count("|") >= bars]


def why_futile(logs: Iterable[str], outputs: Iterable[str]) -> str:
    """Return why another attempt at a failed job would fail as well; "" where it might not.

    Its log says so, or a disk that is full, and on which there may have been no room for a log.
    """
    for log in logs:
        try:
            line = FUTILE.search(Path(log).read_text(encoding="utf-8", errors="replace"))
        except OSError:
            continue
        if line:
            return line[0]
    for folder in {Path(output).parent for output in outputs}:
        reason = why_full(folder) if folder.is_dir() else ""
        if reason:
            return f"{folder}: {reason}"
    return ""


def why_full(folder: Path) -> str:
    """Return why a folder takes no file of a megabyte, if its disk or the user's quota is full; else ""."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x" * PROBE)
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        if error.errno in FULL:
            return error.strerror or str(error)
    return ""


def controller_is_down() -> bool:
    """Whether Slurm says that its controller, and the backup if there is one, takes no requests."""
    if shutil.which("scontrol") is None:
        return False
    ping = _run(["scontrol", "ping"])
    return " is DOWN" in ping.stdout and " is UP" not in ping.stdout


def _run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    from learning_dynamics.programs import run_program  # of the checkout that the Snakefile names, which is read later

    return run_program(command, **options)
