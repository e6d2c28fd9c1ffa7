"""Snakemake's progress as one line for each job that ends, and a failure with its job's last lines.

Snakemake finds it by the folder's name: ``snakemake --logger lines``. Its full log stays in ``.snakemake/log``.
"""

import logging
import shutil
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

LAST_LINES = 12
# said again at the end of every failing run; each failure has been shown by then
WORN = ("Exiting because a job execution failed", "Shutting down, this might take", "At least one job did not complete")


@dataclass
class Job:
    """A job under way: what it makes and since when."""

    label: str
    outputs: list[str]
    logs: list[str]
    started: float = field(default_factory=time.monotonic)


class LogHandler(LogHandlerBase):
    """Writes to standard error; on a terminal the last line names what runs."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin with no jobs known."""
        self.total, self.done, self.failed = 0, 0, 0
        self.jobs: dict[int, Job] = {}
        self.terminal = sys.stderr.isatty()

    def emit(self, record: logging.LogRecord) -> None:
        """Print what a record means to a person, if anything."""
        handlers = {
            LogEvent.RUN_INFO: self._plan,
            LogEvent.JOB_INFO: self._start,
            LogEvent.JOB_FINISHED: self._finish,
            LogEvent.JOB_ERROR: self._fail,
            LogEvent.GROUP_ERROR: self._fail_group,
        }
        event = getattr(record, "event", None)
        known = vars(record)
        if event in handlers:
            handlers[event](known)
        elif event in (None, LogEvent.ERROR):
            text = record.getMessage() if record.msg else ""
            worth = record.levelno >= logging.WARNING or "Nothing to be done" in text
            if worth and text.strip() and not text.startswith(WORN):
                self._print(text)

    def _plan(self, known: Mapping[str, Any]) -> None:
        self.total = known.get("stats", {}).get("total", 0)
        self._print(f"{self.total} jobs to run")

    def _start(self, known: Mapping[str, Any]) -> None:
        label = _label(known["rule_name"], known.get("wildcards") or {})
        self.jobs[known["jobid"]] = Job(label, list(known.get("output") or []), list(known.get("log") or []))
        self._status()

    def _finish(self, known: Mapping[str, Any]) -> None:
        job = self.jobs.pop(known["job_id"], None)
        if job is None:
            return
        self.done += 1
        width = len(str(self.total))
        seconds = time.monotonic() - job.started
        self._print(f"{self.done:{width}d}/{self.total}  {job.label:<60s} {seconds:6.1f} s")

    def _fail(self, known: Mapping[str, Any]) -> None:
        job = self.jobs.pop(known["jobid"], None)
        label = job.label if job else known["rule_name"]
        self._explain(label, list(known.get("output") or []), list(known.get("log") or []))

    def _fail_group(self, known: Mapping[str, Any]) -> None:
        for one in known.get("job_error_info", []):
            self._explain(one["rule_name"], list(one.get("output") or []), list(one.get("log") or []))

    def _explain(self, label: str, outputs: list[str], logs: list[str]) -> None:
        self.failed += 1
        self._print(f"FAILED  {label}")
        for log in logs:
            self._print_all(f"        {line}" for line in last_lines(Path(log)))
            self._print(f"        (all of it: {log})")
        if outputs:
            self._print(f"        again, alone: snakemake --cores 1 {outputs[0]}")

    def _status(self) -> None:
        if self.terminal and self.jobs:
            running = ", ".join(job.label for job in self.jobs.values() if job.outputs)
            room = shutil.get_terminal_size().columns - 1
            sys.stderr.write("\r\033[K" + f"{self.done}/{self.total}  now: {running}"[:room])
            sys.stderr.flush()

    def _print_all(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._print(line)

    def _print(self, line: str) -> None:
        sys.stderr.write(("\r\033[K" if self.terminal else "") + line + "\n")
        self._status()
        sys.stderr.flush()


def last_lines(log: Path) -> list[str]:
    """Return the last lines of a job's log, without progress bars; none if it cannot be read."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [line.rpartition("\r")[2] for line in lines if line.strip()][-LAST_LINES:]


def _label(rule: str, wildcards: Mapping[str, Any]) -> str:
    named = [str(wildcards[key]) for key in ("paper", "name") if key in wildcards]
    scale = str(wildcards.get("results", "")).removeprefix("results").strip("/")
    return " ".join([rule, *named, *([f"({scale})"] if scale else [])])
