"""Where mutants are planted: copies of the sources, one a worker, and a process of its own for each, forked from one
that has imported the libraries but nothing of this project.
"""

import ctypes
import gc
import hashlib
import importlib
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import warnings
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".cache" / "mutation"
COPIED = ("src", "tests")  # all else that tests read is linked
SCIENCE = (*COPIED, "workflow/config", "config.yaml")
HEAVY = (
    *("numpy", "scipy.integrate", "scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats", "pandas"),
    *("pyarrow.parquet", "numba", "torch", "torch.func", "matplotlib.pyplot", "sklearn.datasets", "cvxpy", "clarabel"),
    *("sympy", "pydantic", "yaml", "jinja2", "tqdm", "hypothesis", "pytest", "pytest_timeout"),
)
TABLES = "LEARNING_DYNAMICS_TESTS"  # as tests/support.py calls the folder of shared tables
MEMORY = 6 * 2**30  # bytes that one mutant may have
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def version() -> str:
    """Return a digest of sources, tests and configuration: what results belong to."""
    found = hashlib.sha256()
    for name in SCIENCE:
        top = ROOT / name
        for file in [top] if top.is_file() else sorted(top.rglob("*")):
            if file.is_file() and file.suffix != ".pyc":
                found.update(str(file.relative_to(ROOT)).encode() + b"\0" + file.read_bytes())
    return found.hexdigest()[:12]


def copy_of(project: Path, place: Path) -> Path:
    """Return a folder that looks like a project's: sources and tests copied, with their times, all else linked."""
    if not (place / "complete").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for entry in project.iterdir():
            if entry.name in COPIED:
                shutil.copytree(entry, place / entry.name)
            elif not entry.name.startswith(".") and entry.name not in ("results", "figures", "site", "complete"):
                (place / entry.name).symlink_to(entry)
        (place / "complete").touch()
    return place


def import_libraries() -> None:
    """Import what every test would, once, before processes are forked.

    Raises
    ------
    RuntimeError
        If that imported something of this project, which mutants would then not reach.
    """
    os.environ.update(dict.fromkeys(THREADS, "1"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in HEAVY:
            try:
                importlib.import_module(name)
            except ImportError:
                continue
    if "learning_dynamics" in sys.modules:
        raise RuntimeError("the project itself was imported before a mutant was planted")
    gc.collect()
    gc.freeze()


def fork(work: Callable[..., None], place: Path, tables: Path, log: Path, *arguments: Any) -> BaseProcess:
    """Start a function in a process of its own, in a copy of the project."""
    process = multiprocessing.get_context("fork").Process(target=_inside, args=(work, place, tables, log, arguments))
    process.start()
    return process


def _inside(work: Callable[..., None], place: Path, tables: Path, log: Path, arguments: tuple[Any, ...]) -> None:
    with open(log, "w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(place)
    sys.path[:] = [str(place / "src"), str(place), *(one for one in sys.path if one not in ("", str(ROOT)))]
    os.environ[TABLES] = str(tables)
    os.environ["PYTHONPATH"] = f"{place / 'src'}:{place}"
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # ends when the process that it was forked from does
    limit = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, limit))
    # what was compiled from other sources is not to be found
    import numba

    numba.config.CACHE_DIR = str(tables / "compiled")  # type: ignore[attr-defined]
    work(*arguments)


def allow(seconds: float) -> None:
    """Let this process compute for so long from now on, on a processor that others may share."""
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + 1, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def linked(tables: Path, place: Path) -> Path:
    """Return a folder in which known tables are found, and to which those of a mutant are added."""
    shutil.rmtree(place, ignore_errors=True)
    for paper in [folder for folder in tables.iterdir() if folder.is_dir()]:
        (place / paper.name).mkdir(parents=True)
        for entry in paper.iterdir():
            (place / paper.name / entry.name).symlink_to(entry)
    place.mkdir(parents=True, exist_ok=True)
    return place
