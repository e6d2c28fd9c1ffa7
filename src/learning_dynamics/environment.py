"""What a process is started in: variables that libraries read at import, and the folder that it works in."""

import getpass
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from learning_dynamics.errors import ProjectError

BACKEND_VARIABLE = "MPLBACKEND"
MODULE_PREFIX = "module://"  # of a backend that is a module, as Jupyter's is
NO_JIT_VARIABLE = "NUMBA_DISABLE_JIT"
THREADS_VARIABLE = "NUMBA_NUM_THREADS"
ROOT = Path(__file__).resolve().parents[2]  # the checkout: this file is ROOT/src/learning_dynamics/environment.py


def replace_missing_backend() -> None:
    """Make matplotlib draw into files if the backend named in the environment is a missing module.

    Jupyter and Colab name a backend of their kernel's Python to whatever they start; matplotlib refuses to be imported
    where it is missing. In a kernel of this Python it is there, and stays.
    """
    backend = os.environ.get(BACKEND_VARIABLE, "")
    package = backend.removeprefix(MODULE_PREFIX).partition(".")[0]
    if backend.startswith(MODULE_PREFIX) and importlib.util.find_spec(package) is None:
        os.environ[BACKEND_VARIABLE] = "agg"


def set_variables_of_commands() -> None:
    """Set what matplotlib and numba read at import, whatever the shell has set; a valid number of threads is kept.

    Call it before either is imported.
    """
    os.environ[BACKEND_VARIABLE] = "agg"
    os.environ.pop(NO_JIT_VARIABLE, None)  # runs would take hundreds of times as long
    threads = os.environ.get(THREADS_VARIABLE)
    if threads is not None and not (threads.isdecimal() and int(threads) > 0):
        del os.environ[THREADS_VARIABLE]  # numba refuses a number below one, and warns of a text that is no number


def set_variables_of_jobs() -> None:
    """Set what child processes inherit: this Python first on PATH, no imports from the working folder, docstrings kept.

    Captions and statements of claims are docstrings.
    """
    path = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ.pop("PYTHONOPTIMIZE", None)


@contextmanager
def numba_disabled() -> Iterator[None]:
    """Disable numba for the modules that are imported within this context; they stay uncompiled in this process.

    For a process that reads functions' signatures and runs none of them: in a fresh clone compiling takes fifteen
    seconds, and each job compiles what it needs.
    """
    set_before = os.environ.get(NO_JIT_VARIABLE)
    os.environ[NO_JIT_VARIABLE] = "1"
    try:
        yield
    finally:
        if set_before is None:
            del os.environ[NO_JIT_VARIABLE]
        else:
            os.environ[NO_JIT_VARIABLE] = set_before


def set_variables_of_user() -> None:
    """Give a user without a name, or without a home that can be written, what Snakemake and matplotlib ask for.

    Containers run under numbers that no passwd has; caches are then in the working folder.
    """
    try:
        getpass.getuser()
    except (KeyError, OSError):
        os.environ["LOGNAME"] = str(os.getuid())
    cache_root = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # Path.home() fails without a home
    snakemake_cache = Path(cache_root, "snakemake")
    with suppress(OSError):
        snakemake_cache.mkdir(parents=True, exist_ok=True)
    if not os.access(snakemake_cache, os.W_OK):
        os.environ["XDG_CACHE_HOME"] = str(Path.cwd() / ".cache")
        os.environ.setdefault("MPLCONFIGDIR", str(Path.cwd() / ".cache/matplotlib"))


def check_docstrings(level: int = sys.flags.optimize) -> None:
    """Refuse to run where Python drops docstrings: captions and statements of claims are docstrings.

    Raises
    ------
    ProjectError
        If `level`, as of ``-OO`` or PYTHONOPTIMIZE=2, is 2 or more.
    """
    if level >= 2:
        raise ProjectError(
            "Python drops docstrings, which hold captions and statements; type: unset PYTHONOPTIMIZE, and start Python "
            "without -OO"
        )


def check_checkout(root: Path = ROOT) -> None:
    """Refuse to work with a package that is a copy, or inside another checkout than the one that it belongs to.

    Raises
    ------
    ProjectError
        If `root` has no Snakefile, or the working folder is in another checkout.
    """
    _check_has_checkout(root)
    folders_above = (Path.cwd(), *Path.cwd().parents)  # the innermost first
    checkouts = [
        folder
        for folder in folders_above
        if (folder / "Snakefile").is_file() and (folder / "src/learning_dynamics").is_dir()
    ]
    if checkouts and not checkouts[0].samefile(root):
        raise ProjectError(
            f"this is the code of {root}, and the working folder belongs to {checkouts[0]}; "
            f"activate the environment of {checkouts[0]}, or work outside of it"
        )


def check_snakefile(folder: str | Path, root: Path = ROOT) -> None:
    """Refuse the Snakefile of another checkout than the one that this code belongs to.

    Raises
    ------
    ProjectError
        If `root` has no Snakefile, or `folder` is another checkout.
    """
    _check_has_checkout(root)
    if not Path(folder).samefile(root):
        raise ProjectError(
            f"{folder}: this environment runs the code of {root}; activate the environment of this checkout"
        )


def _check_has_checkout(root: Path) -> None:
    """Refuse a package that was copied where it is installed, without the Snakefile and configuration of a checkout."""
    if not (root / "Snakefile").is_file():
        raise ProjectError(
            f"{Path(__file__).parent}: is a copy of the package, installed without its configuration; install the "
            "checkout itself, in its folder: pip install --editable ."
        )
