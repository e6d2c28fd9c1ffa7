"""The pipeline's own time, from commands that run no job, and Snakemake's part in it."""

import functools
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.pipeline.conftest import Workspace

ROOT = Path(__file__).resolve().parent.parent
RUNS = 10_000
GOAL = 0.5  # least share of our time that Snakemake alone takes, on as many jobs


def rows(wanted: str = "") -> Iterator[dict[str, Any]]:
    """Yield a row for each measurement of the pipeline whose name contains a text.

    Each is compared with its limit: Snakemake alone, on as large a graph in plain rules.
    """
    from tests.support import SHARED

    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault(SHARED, folder)  # the workspaces of the tests lie there
        measurements = {
            "a second `make figures`": second_run,
            f"dry run of {RUNS:,} runs": dry_run,
            f"dry run of {RUNS:,} runs for Slurm": lambda name: dry_run(name, "--profile", "profiles/slurm"),
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
        return _row(name, None, None, "results are not up to date: `make figures` first")
    # untimed: the first one makes the environment where there is none
    subprocess.run(["make", "--no-print-directory", "figures"], cwd=ROOT, capture_output=True, check=False)
    jobs = sum(1 for _ in (ROOT / "results").glob("*/benchmarks/*/*.tsv"))  # each job has left one
    # whether verdicts are as expected is not asked here
    ours, _ = _timed("make", "--no-print-directory", "figures", folder=ROOT)
    # a run and its metrics are two of the plain jobs
    return _row(name, ours, plain_snakemake(jobs // 2, finished=True), f"{jobs} jobs, all finished")


def dry_run(name: str, *options: str) -> dict[str, Any]:
    """Time what Snakemake does before the first of 20,001 jobs, on the small paper of the tests."""
    plan, arguments = sweep_to_plan(RUNS)
    ours, ended = _timed(*plan.command(*options, *arguments), folder=plan.folder, environment=plan.environment)
    assert ended.returncode == 0, ended.stderr
    assert "toy_slow_sweep" in ended.stdout
    return _row(name, ours, plain_snakemake(RUNS), f"{2 * RUNS + 1:,} jobs")


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
NAMES = [f"run-{number}" for number in range(RUNS)]
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


@functools.cache
def plain_snakemake(runs: int, finished: bool = False) -> float:
    """Return the processor seconds of Snakemake alone: no resources, fingerprints or functions of wildcards.

    It plans a run and its metrics for each of so many runs; where they are `finished`, it finds nothing to do.
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "Snakefile").write_text(PLAIN_RULES.replace("RUNS", str(runs)), encoding="utf-8")
        if finished:
            outputs = ["data.npz", *(f"runs/run-{number}.npz" for number in range(runs))]
            outputs += [f"metrics/run-{number}.parquet" for number in range(runs)]  # a run is older than its metrics
            for output in outputs:
                path = Path(folder, output)
                path.parent.mkdir(exist_ok=True)
                path.touch()
        how = [] if finished else ["-n"]
        seconds, ended = _timed(sys.executable, "-m", "snakemake", *how, "--cores", "2", folder=Path(folder))
        assert ended.returncode == 0, ended.stderr
        assert ("Nothing to be done" in ended.stdout + ended.stderr) == finished
        return seconds


def _timed(
    *command: str, folder: Path, environment: dict[str, str] | None = None
) -> tuple[float, subprocess.CompletedProcess]:
    """Return the processor seconds that a command took, and how it ended."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ended


def _row(name: str, ours: float | None, limit: float | None, note: str) -> dict[str, Any]:
    """Return a row; seconds are those of the processor, and the goal is that the limit is half of them or more."""
    share = None if ours is None or limit is None else limit / ours
    return {
        "what": name,
        "ours (s)": ours,
        "Snakemake alone (s)": limit,
        "its share": share,
        "goal": GOAL,
        "met": None if share is None else share >= GOAL,
        "note": note,
    }
