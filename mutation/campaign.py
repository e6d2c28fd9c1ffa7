"""All mutants of a drawing, several at a time; what is known of one is kept, so that a campaign can be taken up."""

import fcntl
import json
import os
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from mutation import workplace
from mutation.baseline import VERDICTS, Baseline, observe_claims, observe_tests, test_files
from mutation.drawing import Mutant
from mutation.trial import attempt

SECONDS = (20.0, 40.0)  # of computing that a mutant's tests and its verdicts take, unless its topic's own take longer
PATIENCE = 20  # times the computing time allowed, on a busy machine, before a process that waits is ended


@dataclass
class Task:
    """A function to be carried out in a copy of the project, and what is done with what it wrote."""

    name: str
    work: Callable[..., None]
    arguments: tuple[Any, ...]
    done: Callable[[dict[str, Any], bool], None]
    mutant: Mutant | None = None
    seconds: float = 600.0


class Campaign:
    """A folder of results that belong to one version of the sources, and the processes that add to it."""

    def __init__(self, workers: int) -> None:
        self.version = workplace.version()
        self.home = workplace.HOME / self.version
        self.tables = self.home / "tables"
        self.tables.mkdir(parents=True, exist_ok=True)
        self.workers = workers
        self.commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=workplace.ROOT, capture_output=True, text=True, check=False
        ).stdout.strip()
        self._lock = os.open(self.home / "lock", os.O_WRONLY | os.O_CREAT)  # held until the process ends
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit("another campaign on the same sources is under way")
        self.original = workplace.copy_of(workplace.ROOT, self.home / "original")

    def baseline(self, papers: list[str]) -> Baseline:
        """Return what tests and claims reach without an error, observed once for one version of the sources."""
        folder = self.home / "baseline"
        folder.mkdir(exist_ok=True)
        files, names = test_files(self.original, papers), [f"claims-{paper}" for paper in papers]
        found, tasks = Baseline(), []

        def keep(out: Path) -> Callable[[dict[str, Any], bool], None]:
            def kept(_: dict[str, Any], ended: bool) -> None:
                if ended or not out.exists():
                    sys.exit(f"{out.stem}: not to be observed; see {out.with_suffix('.log')}")

            return kept

        outs = {file: folder / f"{file.replace('/', '+')}.json" for file in files}
        outs |= {name: folder / f"{name}.json" for name in names}
        for name, paper in zip(names, papers, strict=True):
            tasks.append(Task(outs[name].stem, observe_claims, (paper, outs[name]), keep(outs[name])))
        for file in files:
            tasks.append(Task(outs[file].stem, observe_tests, (file, outs[file]), keep(outs[file])))
        # these only read: they may share a copy
        self._carry_out(
            [task for task in tasks if not task.arguments[1].exists()],
            [self.original] * self.workers,
            folder,
            "without an error",
        )
        for file in files:
            known = json.loads(outs[file].read_text())
            if known["failed"]:
                print(f"left out, since it fails without an error: {known['failed']}")
            else:
                found.tests[file] = known
        everything: dict[str, Any] = {}
        for name in names:
            known = json.loads(outs[name].read_text())
            if known["failed"]:
                outs[name].unlink()
                sys.exit(f"fails without an error, and would notice every one: {known['failed']}")
            found.claims |= known["claims"]
            found.members |= known["members"]
            everything |= pickle.loads(outs[name].with_suffix(".pickle").read_bytes())
        (self.home / "found.pickle").write_bytes(pickle.dumps(everything))
        return found

    def results(self, seed: int) -> dict[str, dict[str, Any]]:
        """Return what is known of a seed's mutants, by their names."""
        file = self._results(seed)
        lines = file.read_text().splitlines() if file.exists() else []
        return {line["id"]: line for line in map(json.loads, lines)}

    def _results(self, seed: int) -> Path:
        return self.home / f"seed-{seed}.jsonl"

    def run(self, mutants: list[Mutant], seed: int, baseline: Baseline) -> None:
        """Try those mutants of which nothing is known yet."""
        known, folder = self.results(seed), self.home / "trials"
        folder.mkdir(exist_ok=True)
        paths = {name: member["path"] for name, member in baseline.members.items()}
        tasks = []
        for number, mutant in enumerate(one for one in mutants if one.id not in known):
            tests = baseline.tests_of(mutant.file, mutant.module, SECONDS[0])
            claims = baseline.claims_of(mutant.module, SECONDS[1])
            took = baseline.seconds_of(tests, claims, mutant.module)
            allowed = [15 + 4 * seconds for seconds in took]
            plan: dict[str, Any] = {"tests": tests, "claims": claims, "verdicts": VERDICTS, "seconds": allowed}
            plan["members"] = sorted({member for claim in claims for member in baseline.claims[claim]["members"]})
            plan |= {"found": self.home / "found.pickle", "paths": paths}
            out = folder / f"{seed}-{number}.json"
            tasks.append(
                Task(out.stem, attempt, (plan, out), self._noting(mutant, seed, out, plan), mutant, 2 * sum(allowed))
            )
        places = [workplace.copy_of(self.original, self.home / f"copy-{number}") for number in range(self.workers)]
        self._carry_out(tasks, places, folder, "mutants")

    def _noting(
        self, mutant: Mutant, seed: int, out: Path, plan: dict[str, Any]
    ) -> Callable[[dict[str, Any], bool], None]:
        def note(took: dict[str, Any], ended: bool) -> None:
            told = json.loads(out.read_text()) if out.exists() else {"stage": "tests"}
            if "outcome" not in told:  # it took too long or too much, or the interpreter crashed
                stage = told["stage"]
                told = {"outcome": "moved" if stage == "numbers" else stage, "by": f"the process ended: {took['exit']}"}
            line = {"id": mutant.id, "commit": self.commit, "seed": seed, **mutant.record(), **told, **took}
            line |= {"tests": len(plan["tests"]), "claims": len(plan["claims"])}
            with open(self._results(seed), "a") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
            for rest in out.parent.glob(f"{out.stem}*"):
                rest.unlink() if rest.is_file() else shutil.rmtree(rest)

        return note

    def _carry_out(self, tasks: list[Task], places: list[Path], folder: Path, what: str) -> None:
        """Carry out tasks, each in a copy of the project, as many at a time as there are places."""
        free, running, waiting = list(places), {}, iter(tasks)
        began, finished = time.monotonic(), 0
        while True:
            for task in _some(waiting, len(free)):
                place = free.pop()
                running[self._start(task, place, folder)] = (task, place, time.monotonic())
            if not running:
                break
            wait([process.sentinel for process in running], timeout=1.0)
            for process, (task, place, since) in list(running.items()):
                late = time.monotonic() - since > PATIENCE * task.seconds
                if process.is_alive() and not late:
                    continue
                if late:
                    process.kill()
                process.join()
                if task.mutant:
                    shutil.copy2(self.original / task.mutant.file, place / task.mutant.file)
                took = {"exit": process.exitcode, "seconds": round(time.monotonic() - since, 1)}
                task.done(took, process.exitcode != 0)
                del running[process]
                free.append(place)
                finished += 1
                print(f"\r{what}: {finished} of {len(tasks)}, {time.monotonic() - began:.0f} s", end="", flush=True)
        if tasks:
            print()

    def _start(self, task: Task, place: Path, folder: Path) -> BaseProcess:
        tables = self.tables
        if task.mutant:
            tables = workplace.linked(self.tables, folder / f"{task.name}.tables")
            file = place / task.mutant.file
            file.write_text(task.mutant.text(self.original), encoding="utf-8")
            os.utime(file, (1, 1))  # a time that no compiled copy was made for
        return workplace.fork(task.work, place, tables, folder / f"{task.name}.log", *task.arguments)


def _some(tasks: Iterator[Task], count: int) -> Iterator[Task]:
    for _ in range(count):
        task = next(tasks, None)
        if task is None:
            return
        yield task
