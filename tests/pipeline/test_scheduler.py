"""Snakemake's scheduler looks at its jobs about once for each that ends, and a rate limit stays in force."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# jobs that do nothing, and a count of the scheduler's turns and of the threads that live at once
SNAKEFILE = """
import json
import threading
import time

from learning_dynamics.pipeline.study.scheduler import patch_scheduler_timers

seen = {"turns": 0, "threads": 0, "started": []}

onstart:
    scheduler = workflow.scheduler
    assert hasattr(scheduler, "_schedule_reevalutation"), "nothing left to mend: remove pipeline/study/scheduler.py"
    turn, run = scheduler._finish_jobs, scheduler.run

    def counted():
        seen["turns"] += 1
        seen["threads"] = max(seen["threads"], threading.active_count())
        turn()

    def noted(jobs, executor=None):
        jobs = list(jobs)
        seen["started"] += [time.time()] * len(jobs)
        return run(jobs, executor=executor)

    scheduler._finish_jobs, scheduler.run = counted, noted
    patch_scheduler_timers(workflow)

onsuccess:
    print("SEEN", json.dumps(seen), flush=True)

rule all:
    input: [f"out/{job}" for job in range(int(config["jobs"]))]
    localrule: True

rule job:
    output: "out/{job}"
    shell: "sleep 0.05; : > {output}"
"""


def scheduled(folder: Path, jobs: int, *arguments: str) -> dict:
    """Run jobs that do nothing and return what was counted."""
    (folder / "Snakefile").write_text(SNAKEFILE)
    ended = subprocess.run(
        [sys.executable, "-m", "snakemake", "--scheduler", "greedy", "--config", f"jobs={jobs}", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    counted = re.search(r"^SEEN (.*)$", ended.stdout, re.MULTILINE)
    assert counted, ended.stdout + ended.stderr
    return json.loads(counted[1])


def test_turns_follow_jobs_and_timers_do_not_pile_up(tmp_path):
    jobs = 120
    seen = scheduled(tmp_path, jobs, "--cores", "4")
    # one for each job that ends, and one a second while jobs are ready; unmended there are three times as many
    assert seen["turns"] <= 1.3 * jobs + 10
    # four jobs, the executor's, one timer; unmended there is one for each second of each job's second
    assert seen["threads"] <= 12


def test_a_persons_rate_limit_stays_in_force(tmp_path):
    seen = scheduled(tmp_path, 30, "--cores", "30", "--max-jobs-per-timespan", "10/1s")
    started = sorted(seen["started"])
    assert len(started) == 31  # with the target itself
    # whatever ten jobs follow each other, the eleventh comes a second later
    assert all(later - earlier >= 0.9 for earlier, later in zip(started, started[10:-1], strict=False))
