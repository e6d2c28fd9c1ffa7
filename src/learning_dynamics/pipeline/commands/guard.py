"""What every command is run in: bounds on time and memory, warnings kept apart, and any failure told in one line."""

import faulthandler
import os
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError

TRACEBACK = "LEARNING_DYNAMICS_TRACEBACK"  # set: failures come with Python's traceback
GRACE = 30.0  # seconds that compiled code is given to come back to Python, where the bound on time is noticed


def run_guarded(command: Callable[[], int | None]) -> int:
    """Run a command and return its exit status; what goes wrong is one line on standard error, and status 1."""
    for stream in (sys.stdout, sys.stderr):
        # a terminal that knows no Greek shows escapes
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        with _collect_warnings():
            return command() or 0
    except ProjectError as error:
        _print_error(str(error))
    except KeyboardInterrupt:
        _print_error("interrupted; run the same command again to go on")
        return 130
    except MemoryError:
        _print_error("does not fit into this machine's memory; ask for less, or use a larger machine")
    except BrokenPipeError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        if os.environ.get(TRACEBACK):
            raise
        _print_error(
            f"{error.filename or 'a file'}: {error.strerror or error}; mend that, and run the same command again"
        )
    except Exception as error:
        if os.environ.get(TRACEBACK) or (isinstance(error, EOFError) and "marshal" in str(error)):
            raise  # of a compiled file: `__main__` tells of it
        frame = traceback.extract_tb(error.__traceback__)[-1]
        text = " ".join(str(error).split())
        _print_error(
            f"{type(error).__name__}: {text} ({Path(frame.filename).name}:{frame.lineno}); {TRACEBACK}=1 shows more"
        )
    return 1


def _print_error(text: str) -> None:
    with suppress(OSError, ValueError):
        print(f"error: {' '.join(text.splitlines())}", file=sys.stderr, flush=True)


@contextmanager
def _collect_warnings() -> Iterator[None]:
    """Show each warning once, at the end, and only if nothing failed: a failure is told alone."""
    if os.environ.get(TRACEBACK):
        yield
        return
    with warnings.catch_warnings(record=True) as caught:
        yield
    for text in dict.fromkeys(
        f"warning: {warning.category.__name__}: {warning.message} ({Path(warning.filename).name}:{warning.lineno})"
        for warning in caught
    ):
        print(text, file=sys.stderr)


def limit_memory() -> None:
    """Let what cannot fit into this machine fail when it is asked for, before the machine starts to swap or to kill.

    Not where there is a GPU: its driver reserves more addresses than there is memory.
    """
    if Path("/dev/nvidiactl").exists():
        return
    limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):
        limit = min(limit, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if soft == resource.RLIM_INFINITY or soft > limit:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def limit_time(minutes: float) -> None:
    """End this process after some minutes with one line; a run that never ends would hold its place for ever."""

    def raise_timeout(*_: Any) -> None:
        raise ProjectError(
            f"not finished after {minutes:g} minutes; give it more under `resources: {{runtime: MINUTES}}` "
            "of the run, or mend its settings"
        )

    signal.signal(signal.SIGALRM, raise_timeout)
    signal.setitimer(signal.ITIMER_REAL, 60 * minutes)
    # compiled loops do not look at signals
    faulthandler.dump_traceback_later(60 * minutes + GRACE, exit=True)
