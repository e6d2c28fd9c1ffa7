"""What every command is run in: limits of time and memory, and any failure as one line."""

import faulthandler
import os
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError

TRACEBACK = "LEARNING_DYNAMICS_TRACEBACK"  # set: failures come with Python's traceback
# seconds that compiled code is given to come back to Python, where the limit of time is noticed; chosen
GRACE = 30.0


def run_guarded(command: Callable[[], int | None]) -> int:
    """Run a command and return its exit status; a failure is one line on standard error, and status 1.

    Warnings are shown once each after success, and not with a failure.
    """
    for stream in (sys.stdout, sys.stderr):  # a terminal that knows no Greek shows escapes
        with suppress(AttributeError, ValueError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    if os.environ.get(TRACEBACK):
        return command() or 0
    try:
        with warnings.catch_warnings(record=True) as caught:
            status = command() or 0
        lines = (f"{w.category.__name__}: {w.message} ({Path(w.filename).name}:{w.lineno})" for w in caught)
        for line in dict.fromkeys(lines):
            print(f"warning: {line}", file=sys.stderr)
        return status
    except ProjectError as error:
        text = str(error)
    except KeyboardInterrupt:
        print("error: interrupted; run the same command again to go on", file=sys.stderr)
        return 130
    except MemoryError:
        text = "does not fit into this machine's memory; ask for less, or use a larger machine"
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except OSError as error:
        text = f"{error.filename or 'a file'}: {error.strerror or error}; fix that, and run the same command again"
    except Exception as error:
        if isinstance(error, SyntaxError) and Path(error.filename or "").is_file():
            raise  # of a module that the command imports: `__main__` says so
        if isinstance(error, EOFError) and "marshal" in str(error):
            raise  # of a compiled file: `__main__` says so
        frame = traceback.extract_tb(error.__traceback__)[-1]
        at = f"({Path(frame.filename).name}:{frame.lineno})"
        text = f"{type(error).__name__}: {' '.join(str(error).split())} {at}; {TRACEBACK}=1 shows more"
    print(f"error: {text}", file=sys.stderr)
    return 1


def limit_memory() -> None:
    """Limit this process to the memory of the machine, or of its container.

    What cannot fit then fails when it is asked for, before the machine starts to swap or to kill. There is no limit
    where there is a GPU: its driver reserves more addresses than there is memory.
    """
    if Path("/dev/nvidiactl").exists():
        return
    limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # no such file, or "max" in it: no container sets a limit
        limit = min(limit, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if soft == resource.RLIM_INFINITY or soft > limit:
        with suppress(ValueError):  # the hard limit is lower
            resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))


def limit_time(minutes: float) -> None:
    """End this process after some minutes with one line; a run that never ends would block other jobs for ever."""

    def raise_timeout(*_: Any) -> None:
        raise ProjectError(
            f"not finished after {minutes:g} minutes; give it more under `resources: {{runtime: MINUTES}}` "
            "of the run, or change its settings"
        )

    signal.signal(signal.SIGALRM, raise_timeout)
    signal.setitimer(signal.ITIMER_REAL, 60 * minutes)
    # compiled loops do not look at signals
    faulthandler.dump_traceback_later(60 * minutes + GRACE, exit=True)
