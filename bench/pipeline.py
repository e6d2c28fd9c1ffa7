"""The pipeline's own time, from commands that run no job."""

import functools
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import clock

if TYPE_CHECKING:
    from tests.pipeline.conftest import Workspace

ROOT = Path(__file__).resolve().parent.parent
RUNS = 10_000


def rows(wanted: str = "") -> Iterator[dict[str, Any]]:
    """Yield a row for each measurement of the pipeline whose name contains a text."""
    from tests.support import SHARED

    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault(SHARED, folder)  # the workspaces of the tests lie there
        measurements = {
            "a second `make figures`": second_run,
            "graph of 10,000 runs, dry run": lambda name: dry_run(name, 40),
            "the same graph in four plain rules": lambda name: plain_dry_run(name, 25),
            "graph of 10,000 runs, dry run for Slurm": lambda name: dry_run(name, 60, "--profile", "profiles/slurm"),
        }
        for name, measure in measurements.items():
            if wanted in name:
                yield measure(name)


def second_run(name: str) -> dict[str, Any]:
    """Time ``make figures`` where it has nothing to do."""
    planned = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--cores", "all"], cwd=ROOT, capture_output=True, text=True
    )
    if "Nothing to be done" not in planned.stdout + planned.stderr:
        return _row(name, None, 4, "results are not up to date: `make figures` first")
    # whether verdicts are as expected is not asked here
    wall, note, _ = _timed("make", "--no-print-directory", "figures", folder=ROOT)
    return _row(name, wall, 4, note)


def dry_run(name: str, goal: float, *options: str) -> dict[str, Any]:
    """Time what Snakemake does before the first of 20,001 jobs, on the small paper of the tests."""
    plan, arguments = sweep_to_plan(RUNS)
    wall, note, ended = _timed(*plan.command(*options, *arguments), folder=plan.folder, environment=plan.environment)
    assert ended.returncode == 0, ended.stderr
    assert "toy_slow_sweep" in ended.stdout
    return _row(name, wall, goal, note)


def sweep_to_plan(runs: int) -> "tuple[Workspace, list[str]]":
    """Return the small paper of the tests with a sweep, and what Snakemake is given for a dry run of it."""
    from tests.pipeline.conftest import toy
    from tests.support import SHARED

    plan = toy(Path(tempfile.mkdtemp(dir=os.environ[SHARED]), "project"))
    ranges = [f"rate=1e-6:1:{min(runs, 100)}:log"]
    if runs > 100:
        ranges.append(f"steps=100:{99 + runs // 100}:{runs // 100}")
    written = plan.cli("sweep", "toy", "slow", "--vary", *ranges, "--out", "sweep.yaml")
    assert written.returncode == 0, written.stderr
    return plan, ["-n", "--configfile", "sweep.yaml", "--", "toy_slow_sweep"]


PLAIN_RULES = """
NAMES = [f"rate-{rate}--steps-{steps}" for rate in range(100) for steps in range(100)]
rule all:
    input: expand("metrics/{name}.parquet", name=NAMES)
rule data:
    output: "data.npz"
    shell: "touch {output}"
rule run:
    input: "data.npz"
    output: "runs/{name}.npz"
    shell: "touch {output}"
rule metrics:
    input: "runs/{name}.npz", "data.npz"
    output: "metrics/{name}.parquet"
    shell: "touch {output}"
"""


def plain_dry_run(name: str, goal: float) -> dict[str, Any]:
    """Time Snakemake alone on the graph of `dry_run`: no resources, fingerprints or functions of wildcards."""
    folder = Path(tempfile.mkdtemp())
    (folder / "Snakefile").write_text(PLAIN_RULES, encoding="utf-8")
    wall, note, ended = _timed(sys.executable, "-m", "snakemake", "-n", "--cores", "2", folder=folder)
    assert ended.returncode == 0, ended.stderr
    shutil.rmtree(folder)
    return _row(name, wall, goal, note)


def _timed(
    *command: str, folder: Path, environment: dict[str, str] | None = None
) -> tuple[float, str, subprocess.CompletedProcess]:
    """Return the seconds that a command took, its processor seconds in words, and how it ended."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, f"{spent:.1f} s of the processor", ended


def _row(name: str, seconds: float | None, goal: float, note: str) -> dict[str, Any]:
    """Return a row; the goal applies at speed one."""
    at_speed_one = None if seconds is None else seconds * _speed()
    met = None if at_speed_one is None else at_speed_one <= goal
    return {"what": name, "seconds": seconds, "at speed one": at_speed_one, "goal": goal, "met": met, "note": note}


@functools.cache
def _speed() -> float:
    return clock.speed()
