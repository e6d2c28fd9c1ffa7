"""The pipeline's own time, and its stages' memory: from what a run leaves, and from commands that make nothing."""

import functools
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.measures import clock

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / ".snakemake/log"
RUNS = ("rate=1e-6:1:100:log", "steps=100:199:100")  # 100 times 100


def rows(wanted: str = "") -> Iterator[dict[str, Any]]:
    """Yield a row for each measurement of the pipeline whose name holds a text."""
    from tests.support import SHARED

    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault(SHARED, folder)  # the workspaces of the tests lie there
        found = {
            "share of the first run that is not jobs": not_jobs,
            "a second `make figures`": second_run,
            "graph of 10,000 runs, dry run": lambda name: dry_run(name, 40),
            "graph of 10,000 runs, dry run for Slurm": lambda name: dry_run(name, 60, "--profile", "profiles/slurm"),
        }
        for name, measure in found.items():
            if wanted in name:
                yield measure(name)


def not_jobs(name: str) -> dict[str, Any]:
    """What cores did besides jobs in the run that did most of them, by its log and the jobs' benchmarks."""
    unit, goal = "%", 5.0
    runs = [read for file in sorted(LOGS.glob("*.log")) if (read := in_log(file.read_text(encoding="utf-8")))]
    if not runs:
        return _row(name, None, unit, goal, "no run has ended here")
    run = max(runs, key=lambda run: len(run["benchmarks"]))
    files = [ROOT / file for file in run["benchmarks"] if (ROOT / file).is_file()]
    spent = sum(float(pd.read_csv(file, sep="\t")["s"].iloc[-1]) for file in files)
    note = f"{len(files)} jobs took {spent:.0f} s on {run['cores']} cores in {run['seconds']:.0f} s"
    return _row(name, 100 * (1 - spent / (run["cores"] * run["seconds"])), unit, goal, note)


def in_log(text: str) -> dict[str, Any]:
    """Return what a log of Snakemake says of a run that ended well: seconds, cores, its jobs' benchmark files."""
    elapsed = re.search(r"^Elapsed time: (?:(\d+) days?, )?(\d+):(\d+):([\d.]+)$", text, re.MULTILINE)
    cores = re.search(r"^Provided cores: (\d+)", text, re.MULTILINE)
    if not (elapsed and cores):
        return {}
    days, hours, minutes, seconds = (float(part or 0) for part in elapsed.groups())
    return {
        "seconds": ((24 * days + hours) * 60 + minutes) * 60 + seconds,
        "cores": int(cores[1]),
        "benchmarks": re.findall(r"^    benchmark: (\S+)$", text, re.MULTILINE),
    }


def second_run(name: str) -> dict[str, Any]:
    """Time ``make figures`` where it has nothing to do."""
    planned = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--cores", "all"], cwd=ROOT, capture_output=True, text=True
    )
    if "Nothing to be done" not in planned.stdout + planned.stderr:
        return _row(name, None, "s", 4, "results are not up to date: `make figures` first")
    # whether verdicts are as expected is not asked here
    wall, note, _ = _timed("make", "--no-print-directory", "figures", folder=ROOT)
    return _row(name, wall, "s", 4, note)


def dry_run(name: str, goal: float, *options: str) -> dict[str, Any]:
    """Time what Snakemake does before the first of 20,001 jobs, on the small paper of the tests."""
    from tests.pipeline.conftest import toy
    from tests.support import SHARED

    project = toy(Path(tempfile.mkdtemp(dir=os.environ[SHARED]), "project"))
    written = project.stage("sweep", "toy", "slow", "--vary", *RUNS, "--out", "sweep.yaml")
    assert written.returncode == 0, written.stderr
    command = project.command("-n", *options, "--configfile", "sweep.yaml", "--", "toy_slow_sweep")
    wall, note, ended = _timed(*command, folder=project.folder)
    assert ended.returncode == 0, ended.stderr
    assert "toy_slow_sweep" in ended.stdout
    return _row(name, wall, "s", goal, note)


def stages() -> pd.DataFrame:
    """Return, for each stage, its jobs, what they took here and at speed one, and the most memory that one needed."""
    files = sorted((ROOT / "results").glob("*/benchmarks/*/*.tsv")) + sorted(
        (ROOT / "results").glob("*/benchmarks/*.tsv")
    )
    rows_of_jobs = []
    for file in [*files, *sorted((ROOT / "results/benchmarks").glob("*.tsv"))]:
        paper = file.relative_to(ROOT / "results").parts[0].replace("benchmarks", "")
        stage = file.stem if file.parent.name == "benchmarks" else file.parent.name
        rows_of_jobs.append({"paper": paper, "stage": stage, "name": file.stem} | _benchmark(file))
    jobs = pd.DataFrame(rows_of_jobs)
    if jobs.empty:
        return jobs
    jobs["which"] = (jobs["paper"] + " " + jobs["name"]).str.strip()
    found, fast = [], _speed()
    for stage, of_stage in jobs.groupby("stage", sort=False):
        weighed = of_stage.dropna(subset="MB")
        if weighed.empty:
            continue
        largest = weighed.loc[weighed["MB"].idxmax()]
        found.append(
            {
                "stage": stage,
                "jobs": len(of_stage),
                "seconds in all": of_stage["seconds"].sum(),
                "at speed one": fast * of_stage["seconds"].sum(),
                "largest, MB": largest["MB"],
                "of": largest["which"],
                "goal": 1000,
                "met": bool(largest["MB"] <= 1000),
            }
        )
    return pd.DataFrame(found)


def _benchmark(file: Path) -> dict[str, float]:
    measured = pd.read_csv(file, sep="\t").iloc[-1]
    return {"seconds": measured["s"], "MB": pd.to_numeric(measured["max_rss"], errors="coerce")}


def _timed(*command: str, folder: Path) -> tuple[float, str, subprocess.CompletedProcess]:
    """Return the seconds that a command took, its processor seconds in words, and how it ended."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, f"{spent:.1f} s of the processor", ended


def _row(name: str, value: float | None, unit: str, goal: float, note: str) -> dict[str, Any]:
    """Return a row; seconds are held to a goal at speed one."""
    held = value if value is None or unit != "s" else value * _speed()
    met = None if held is None else bool(held <= goal)
    at_speed_one = held if unit == "s" else None
    row = {"what": name, "measured": value, "unit": unit, "at speed one": at_speed_one, "goal": goal, "met": met}
    return {**row, "note": note}


@functools.cache
def _speed() -> float:
    return clock.speed()
