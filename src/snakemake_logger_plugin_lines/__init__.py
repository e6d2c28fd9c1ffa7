"""Snakemake's progress as a line for each job, with its reason, and a failure with its job's last lines.

Snakemake finds it by the folder's name; profiles/default asks for it. Snakemake's full log is in ``.snakemake/log``.
"""

import contextlib
import difflib
import logging
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

LAST_LINES = 12  # of the log of a job that failed, which are printed; chosen
# how messages begin that Snakemake adds at the end of every failing run; each failure has been shown by then
REPEATED = (
    "Exiting because a job execution failed",
    "Shutting down, this might take",
    "At least one job did not complete",
)
# what Snakemake's reasons begin with, and what a person needs of them
SHORT_REASONS = {
    "Missing output files": "new",
    "Incomplete output files": "was interrupted",
    "Forced execution": "asked for by --force",
    "Input files updated by another job": "its input is made again",
    "Params have changed": "other settings or code",
    "Updated input files": "its input is newer",
}
EXIT_STATUS = re.compile(r"returned non-zero exit status (\d+)|died with <Signals\.(\w+)")
INTERRUPTED = "ended by SIGINT"  # as by Ctrl-C: no failure, and its log has nothing to say
KILLED = 128  # a shell's exit status for a command that a signal ended is this plus the signal's number

# why outputs are made again, by path, and what may be asked for; the Snakefile fills them in
REASONS: dict[str, str] = {}
TARGETS: list[str] = []
# of a function of a rule, where the configuration has no such name
PROJECT_ERROR = re.compile(r"^ *ProjectError: (.*)$", re.MULTILINE)
NO_RULE = re.compile(r"No rule to produce (\S+)")
NO_OVERLAY = re.compile(r"in load_configfile$.*^\w+Error: \[Errno \d+\] (.+): '(.+)'$", re.MULTILINE | re.DOTALL)

# as `learning_dynamics` has it, which may itself be cut short
CUT_SHORT = (
    "a compiled file is cut short, as a full disk leaves it; free space, delete them all, and run the "
    "same command again: find . -name __pycache__ -prune -exec rm -r {} +"
)


@dataclass
class Job:
    """A job under way: what it makes, since when and why."""

    label: str
    outputs: list[str]
    logs: list[str]
    reason: str
    resources: Mapping[str, Any]
    started: float = field(default_factory=time.monotonic)

    @property
    def minutes(self) -> float:
        """The time that it asks a cluster for; 0 without."""
        return self.resources.get("runtime") or 0


class LogHandler(LogHandlerBase):
    """Writes to standard error, a dry run to standard output; on a terminal the last line names what runs."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin with no jobs known; Snakemake looks for user and home after that."""
        with contextlib.suppress(EOFError):  # of a compiled file: reading the Snakefile meets it again
            from learning_dynamics.environment import set_variables_of_user

            set_variables_of_user()
        self.total, self.done, self.failed = 0, 0, 0
        self.jobs: dict[int, Job] = {}
        self.planned: list[Job] = []
        self.submissions = 0
        self.errors: list[str] = []  # of shells, until the failure of their job is printed
        self.stream = sys.stdout if self.common_settings.dryrun else sys.stderr
        self.terminal = self.stream.isatty() and not self.common_settings.dryrun

    def emit(self, record: logging.LogRecord) -> None:
        """Print what a record means to a person, if anything."""
        handlers = {
            LogEvent.RUN_INFO: self._plan,
            LogEvent.JOB_INFO: self._start,
            LogEvent.GROUP_INFO: self._start_group,
            LogEvent.JOB_FINISHED: self._finish,
            LogEvent.JOB_ERROR: self._fail,
        }
        event = getattr(record, "event", None)
        try:
            if event in handlers:
                handlers[event](vars(record))
            elif event in (None, LogEvent.ERROR):
                self._say(record.getMessage() if record.msg else "", record.levelno)
        except BrokenPipeError:  # `| head` has seen enough; jobs go on
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())
        except OSError:  # the disk of the file that it goes to is full; the next line may fit
            pass

    def _say(self, text: str, level: int) -> None:
        """Print a message of Snakemake's: an error as one line, without tracebacks; of the rest warnings alone."""
        if "CalledProcessError" in text:
            self.errors.append(text)
            return
        if text.startswith("WorkflowError:\n"):  # with the place in Snakemake or in an executor that raised it
            lines = text.splitlines()[1:]
            text = "\n".join(line for line in lines if not line.startswith('  File "'))
            if not text.startswith(REPEATED):
                text = f"error: {text}"
        if "marshal data too short" in text:
            text = f"error: {CUT_SHORT}"
        no_overlay = NO_OVERLAY.search(text)
        if no_overlay:
            text = f"error: {no_overlay[2]}: cannot be read ({no_overlay[1]}); name another with --configfile"
        project_error, no_rule = PROJECT_ERROR.search(text), NO_RULE.search(text)
        if project_error:
            text = f"error: {project_error[1]}"
        elif no_rule:
            text = f"error: {_unknown_target(no_rule[1])}"

        is_worth_showing = level >= logging.WARNING or "Nothing to be done" in text
        if is_worth_showing and text.strip() and not text.startswith(REPEATED):
            self._print(text)

    # -- what is to be done ------------------------------------------------------------------------

    def _plan(self, known: Mapping[str, Any]) -> None:
        counts = dict(known.get("stats", {}))
        self.total = counts.pop("total", 0)
        if not self.common_settings.dryrun:
            self._print(f"{self.total} jobs to run")
        elif self.planned:  # Snakemake counts before the jobs and after them
            self._summarise(counts)

    def _summarise(self, counts: Mapping[str, int]) -> None:
        self._print(f"{self.total} jobs: {', '.join(f'{count} {rule}' for rule, count in counts.items())}")
        earlier = [_seconds_before(job) for job in self.planned]
        seconds = [duration for duration in earlier if duration is not None]
        if seconds:
            minutes = sum(seconds) / 60
            self._print(f"{len(seconds)} of them took {minutes:.1f} minutes when they ran last, one after the other")
        cpu = sum(job.minutes * job.resources.get("_cores", 1) for job in self.planned) / 60
        gpu = sum(job.minutes * (job.resources.get("gpu") or 0) for job in self.planned) / 60
        longest = max(self.planned, key=lambda job: job.minutes)
        self._print(
            f"at most, by what they ask a cluster for: {self.submissions} submissions, {cpu:,.0f} CPU hours, "
            f"{gpu:,.0f} GPU hours; the longest is {longest.label}, {longest.minutes:,.0f} minutes"
        )

    def _start_group(self, known: Mapping[str, Any]) -> None:
        self.submissions += 1  # of the jobs that follow, indented

    def _start(self, known: Mapping[str, Any]) -> None:
        outputs = list(known.get("output") or [])
        job = Job(
            label=_label(known["rule_name"], known.get("wildcards") or {}),
            outputs=outputs,
            logs=list(known.get("log") or []),
            reason=_reason(outputs, known.get("reason") or ""),
            resources=dict(known["resources"].items()) if known.get("resources") else {},
        )
        if self.common_settings.dryrun:
            self.planned.append(job)
            if outputs and not known.get("indent"):  # indented are the jobs of a group, which is counted by itself
                self.submissions += 1
            if outputs:
                self._print(f"{known['rule_name']:<12s} {outputs[0]:<60s} {job.reason}")
            return
        self.jobs[known["jobid"]] = job
        self._status()

    # -- what came of it ---------------------------------------------------------------------------

    def _finish(self, known: Mapping[str, Any]) -> None:
        job = self.jobs.pop(known["job_id"], None)
        if job is None:
            return
        self.done += 1
        width = len(str(self.total))
        seconds = time.monotonic() - job.started
        why = "" if job.reason in SHORT_REASONS.values() else f"  {job.reason}"
        self._print(f"{self.done:{width}d}/{self.total}  {job.label:<60s} {seconds:6.1f} s{why}")

    def _fail(self, known: Mapping[str, Any]) -> None:
        job = self.jobs.pop(known["jobid"], None)
        label = job.label if job else known["rule_name"]
        self._explain(label, known, job.resources if job else {})

    def _explain(self, label: str, known: Mapping[str, Any], resources: Mapping[str, Any]) -> None:
        self.failed += 1
        how_it_ended = self._how_it_ended(known.get("shellcmd") or "", resources)
        if how_it_ended == INTERRUPTED:
            self._print(f"interrupted  {label}; to go on, type the same command again")
            return
        self._print(f"FAILED  {label}")
        reasons = (_executors_reason(known.get("rule_msg") or ""), how_it_ended)
        self._print_all(f"        {reason}" for reason in reasons if reason)
        for log in known.get("log") or []:
            self._print_all(f"        {line}" for line in last_lines(Path(log)))
            self._print(f"        (all of it: {log})")
        if known.get("shellcmd"):
            self._print(f"        again, alone: {known['shellcmd'].partition(' > ')[0]}")

    def _how_it_ended(self, command: str, resources: Mapping[str, Any]) -> str:
        """Return which signal ended a job's command, and the memory that it had asked for; "" if none did."""
        error = next((text for text in self.errors if command and command in text), "")
        if error:
            self.errors.remove(error)
        match = EXIT_STATUS.search(error)
        if match is None:
            return ""
        number = int(match[1]) - KILLED if match[1] else signal.Signals[match[2]].value
        if number <= 0:
            return ""
        name = signal.Signals(number).name
        if name != "SIGKILL":
            return f"ended by {name}"
        asked = resources.get("mem_mb")
        return f"ended by SIGKILL, as where memory runs out; it had asked for {asked} MB (`resources: {{mem_mb: ...}}`)"

    def _status(self) -> None:
        if self.terminal and self.jobs:
            running = ", ".join(job.label for job in self.jobs.values() if job.outputs)
            room = shutil.get_terminal_size().columns - 1
            self.stream.write("\r\033[K" + f"{self.done}/{self.total}  now: {running}"[:room])
            self.stream.flush()

    def _print_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._print(line)

    def _print(self, line: str) -> None:
        self.stream.write(("\r\033[K" if self.terminal else "") + line.rstrip() + "\n")
        self._status()
        self.stream.flush()


def _executors_reason(message: str) -> str:
    """Return why an executor says that a job failed, on a line, without the call that it made and general advice."""
    text = message.partition("For further error details see")[0].partition("    sbatch call:")[0]
    return " ".join(text.split())


def last_lines(log: Path) -> list[str]:
    """Return the last lines of a job's log, without progress bars; none if it cannot be read."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [line.rpartition("\r")[2] for line in lines if line.strip()][-LAST_LINES:]


def _unknown_target(target: str) -> str:
    nearest = difflib.get_close_matches(target, TARGETS, n=1)
    advice = f"did you mean `{nearest[0]}`?" if nearest else "snakemake --list-rules names those that are no files"
    return f"nothing makes `{target}`; {advice}"


def _reason(outputs: Iterable[str], text: str) -> str:
    """Return why a job runs: what changed since its outputs were made, or Snakemake's own reason in a few words."""
    changed = next((REASONS[path] for path in outputs if path in REASONS), "")
    if changed:
        return changed
    return next((short for beginning, short in SHORT_REASONS.items() if beginning in text), text)


def _seconds_before(job: Job) -> float | None:
    """Return how long a job took when it last ran, as it wrote down itself; None if it did not."""
    for log in job.logs:
        usage = Path(log.replace("/logs/", "/benchmarks/")).with_suffix(".tsv")
        try:
            return float(usage.read_text(encoding="utf-8").splitlines()[1].split("\t")[0])
        except (OSError, ValueError, IndexError):
            continue
    return None


def _label(rule: str, wildcards: Mapping[str, Any]) -> str:
    named = [str(wildcards[key]) for key in ("paper", "name") if key in wildcards]
    scale = str(wildcards.get("results", "")).removeprefix("results").strip("/")
    return " ".join([rule, *named, *([f"({scale})"] if scale else [])])
