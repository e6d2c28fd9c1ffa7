"""A `python` for tests that start Snakemake and its jobs hundreds of times: it does not import the libraries again.

A process that has imported them forks for each command, as for the project's jobs (`learning_dynamics.starter`).
Processes that tests kill, measure or limit are started by Python itself.
"""

import functools
import os
import shlex
import sys
import tempfile
from pathlib import Path

from learning_dynamics import starter
from tests.support import SHARED

LIBRARIES = (*starter.LIBRARIES, "snakemake.cli", "torch")
# `-m MODULE ARGUMENTS` is done by a fork; anything else by Python itself
START = """
import os, sys
sys.path.insert(0, {folder!r})
import starter
if sys.argv[1] == "-m":
    status = starter.run_elsewhere(sys.argv[2], sys.argv[3:])
    if status is not None:
        os._exit(status)
os.execv({python!r}, [{python!r}, *sys.argv[1:]])
"""


@functools.cache
def warm_python() -> str:
    """Return the path of a `python` for ``python -m MODULE ARGUMENTS``, which works as long as this process lives."""
    starter.start_server(LIBRARIES)
    folder = Path(tempfile.mkdtemp(prefix="warm-", dir=os.environ[SHARED]))
    begin, python = folder / "start.py", folder / "python"
    begin.write_text(START.format(python=sys.executable, folder=str(Path(starter.__file__).parent)), encoding="utf-8")
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -IS {shlex.quote(str(begin))} "$@"\n')
    python.chmod(0o755)
    return str(python)
