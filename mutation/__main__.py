"""Draw mutants of each topic, run them with cosmic-ray, print the score and the mutants that survive.

Sessions are under ``.cache/mutation``, in a folder for each version of sources and tests; a second call goes on where
the first stopped. ``cr-report`` and ``cr-html`` read a session too.
"""

import argparse
import hashlib
import os
import queue
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cosmic_ray.config import serialize_config
from tqdm import tqdm

from mutation import drawing, score, trial

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("src", "tests", "mutation")  # into each copy of the project; all else that tests read is linked there
SOURCES = (*COPIED, "workflow/config", "config.yaml")
NOT_LINKED = (*COPIED, "results", "figures", "site")
SECONDS = 1800  # after which a mutant is ended, computing or waiting; `trial` limits what it computes


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--each", type=int, default=12, help="mutants of each topic")
    parser.add_argument("--workers", type=int, default=2, help="mutants at a time")
    parser.add_argument("--only", nargs="*", default=[], help="papers, topics (paper/topic) or parts of the library")
    options = parser.parse_args()
    known = drawing.groups(ROOT)
    unknown = set(options.only) - {*known, *(group.partition("/")[0] for group in known)}
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    groups = [name for name in known if not options.only or {name, name.partition("/")[0]} & set(options.only)]
    os.chdir(ROOT)
    home = ROOT / ".cache/mutation" / version()
    sessions = {
        name: home / f"seed-{options.seed}-{options.each}" / f"{name.replace('/', '+')}.sqlite" for name in groups
    }
    for group in tqdm(groups, "drawing", disable=all(file.exists() for file in sessions.values())):
        drawing.write_session(sessions[group], group, known[group], options.seed, options.each)
    check_without_mutant(home, [file for group in groups for file in known[group]], options.workers)
    run(home, sessions, options.workers)
    print(score.report(sessions))


def version() -> str:
    """Return a digest of sources, tests and configuration, to which results belong."""
    digest = hashlib.sha256()
    for name in SOURCES:
        for file in sorted([ROOT / name, *(ROOT / name).rglob("*")]):
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def copy_of_project(place: Path) -> Path:
    """Return a fresh copy of sources and tests, with their times and compiled files; all else is linked."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name in COPIED:
            shutil.copytree(entry, place / entry.name)
        elif not entry.name.startswith(".") and entry.name not in NOT_LINKED:
            (place / entry.name).symlink_to(entry)
    return place


def environment(place: Path, tables: Path) -> dict[str, str]:
    """Return the environment of processes that work in a copy: its modules, its tables, one thread each."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    return {**os.environ, **threads, "PYTHONPATH": f"{place / 'src'}:{place}", trial.TABLES: str(tables)}


def check_without_mutant(home: Path, files: list[Path], workers: int) -> None:
    """Run the tests that mutants will face, and write down the numbers of their papers; exit if a test fails."""
    papers = sorted({paper for file in files for paper in trial.papers_of(file)})
    if all((home / "numbers" / f"{paper}.json").exists() for paper in papers):
        return
    place = copy_of_project(home / "original")
    tests = dict.fromkeys(test for file in files for test in trial.test_files(file))
    for command in (
        ["-m", "compileall", "-q", "src", "tests"],
        ["-m", "pytest", *trial.OPTIONS, "-n", str(workers), *tests],
        ["-m", "pytest", *trial.OPTIONS, "-n", str(workers), "-k", " or ".join(papers), *trial.NET],
        ["-m", "mutation.trial", "--numbers", *papers],
    ):
        if subprocess.run([sys.executable, *command], cwd=place, env=environment(place, home / "tables")).returncode:
            sys.exit("a test fails without a mutant, and would notice every mutant; fix it first")


def run(home: Path, sessions: dict[str, Path], workers: int) -> None:
    """Let cosmic-ray run what is pending in each session, in as many copies of the project as there are workers."""
    places: queue.Queue[Path] = queue.Queue()
    for number in range(workers):
        places.put(home / f"copy-{number}")
        shutil.rmtree(home / f"copy-{number}", ignore_errors=True)

    def execute(session: Path) -> None:
        place = places.get()
        if not place.exists():
            copy_of_project(place)
        command = f"{sys.executable} -m mutation.trial"
        config = {"module-path": "src", "timeout": SECONDS, "test-command": command, "distributor": {"name": "local"}}
        session.with_suffix(".toml").write_text(serialize_config(config))
        cosmic_ray = [str(Path(sys.executable).with_name("cosmic-ray")), "exec", str(session.with_suffix(".toml"))]
        subprocess.run([*cosmic_ray, str(session)], cwd=place, env=environment(place, place / "tables"), check=True)
        places.put(place)

    with ThreadPoolExecutor(workers) as pool:
        list(tqdm(pool.map(execute, sessions.values()), "running", len(sessions)))


if __name__ == "__main__":
    main()
