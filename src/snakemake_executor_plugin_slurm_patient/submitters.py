"""Which Snakemakes submit from a folder, which files they make, and whether each is still at work.

Each keeps a file in ``.snakemake/submitters``, named like its jobs in Slurm's queue, and touches that file whenever it
looks at the queue. A Snakemake on this machine is at work if its process is alive. For one on another machine, such as
a second login node, the time of its file says whether it has looked at the queue of late.

The executor refuses to start a Snakemake where another one at work, or a job that an ended one has left in the queue,
makes a file that it makes or reads (`Executor._check_others`).
"""

import json
import os
import socket
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

FOLDER = Path(".snakemake/submitters")
# seconds without a look at the queue after which a Snakemake counts as ended; chosen: five times the longest pause,
# 180, of snakemake-executor-plugin-slurm between two looks
SILENCE = 900.0


@dataclass(frozen=True)
class Submitter:
    """A Snakemake that submits jobs.

    Attributes
    ----------
    job_name : str
        The name of its jobs in Slurm's queue: Snakemake's ``run_uuid``.
    host : str
        The name of its machine, for messages.
    process : int
        The number of its process.
    machine : str
        Which machine, or container on it (`_machine`): a process number means something only there.
    started : float
        When the process began, which tells it from a later one: a machine uses numbers again.
    makes : tuple of str
        The files that it makes.
    """

    job_name: str
    host: str
    process: int
    machine: str
    started: float
    makes: tuple[str, ...]

    def __str__(self) -> str:
        return f"process {self.process} on {self.host}"


def this_process(job_name: str, makes: Collection[str]) -> Submitter:
    """Return this Snakemake, whose jobs have the name `job_name` in Slurm's queue."""
    return Submitter(
        job_name=job_name,
        host=socket.gethostname(),
        process=os.getpid(),
        machine=_machine(),
        started=psutil.Process().create_time(),
        makes=tuple(makes),
    )


def write(folder: Path, submitter: Submitter) -> None:
    """Write the file of a Snakemake that submits from a folder, or touch it: it is still at work."""
    file = folder / FOLDER / submitter.job_name
    if file.exists():
        os.utime(file)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f".{file.name}")
    partial.write_text(json.dumps(asdict(submitter)), encoding="utf-8")
    partial.replace(file)


def remove(folder: Path, job_name: str) -> None:
    """Remove the file of a Snakemake that has ended."""
    (folder / FOLDER / job_name).unlink(missing_ok=True)


def read(folder: Path) -> Iterator[tuple[Submitter, bool]]:
    """Yield each Snakemake that has a file, and whether it is at work."""
    # names that begin with a dot: partial files of `write`, and the files by which `_age` reads the clock
    for file in sorted((folder / FOLDER).glob("[!.]*")):
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            submitter = Submitter(**content | {"makes": tuple(content["makes"])})
        except (OSError, ValueError, TypeError, KeyError):
            continue  # it has just ended and its file is gone; or the file is damaged, or of another version
        yield submitter, _is_at_work(submitter, file)


def _is_at_work(submitter: Submitter, file: Path) -> bool:
    """Whether a Snakemake is at work: here if its process is alive, elsewhere if it touched its file of late."""
    if submitter.machine != _machine():
        try:
            return _age(file) < SILENCE
        except FileNotFoundError:  # it has just ended
            return False
    try:
        # a second is chosen: a process that began at another time has been given a number that was used before
        return abs(psutil.Process(submitter.process).create_time() - submitter.started) < 1.0
    except psutil.Error:
        return False


def _age(file: Path) -> float:
    """Return how many seconds ago a file was touched, by the clock of its file system, which all machines share."""
    new = file.with_name(f".now.{socket.gethostname()}.{os.getpid()}")
    new.touch()
    try:
        return new.stat().st_mtime - file.stat().st_mtime
    finally:
        new.unlink(missing_ok=True)


def _machine() -> str:
    """Return a text that tells a machine, and a container on it, from others: its boot and its process namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:  # not Linux
        return socket.gethostname()
