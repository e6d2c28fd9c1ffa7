"""A `python` that need not read the libraries again: a process that has read them forks itself for each start.

Most of what six hundred short jobs take is reading the same libraries. Nothing of the project is read before the
fork, so that a start runs the sources of its own folder. It is no child of whoever starts it: what is to be killed,
measured or limited is started as anywhere else.
"""

import atexit
import contextlib
import functools
import gc
import importlib
import os
import pickle
import runpy
import selectors
import shlex
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

LIBRARIES = (
    "matplotlib.pyplot",
    "numba",
    "pandas",
    "pyarrow.parquet",
    "scipy.integrate",
    "snakemake.cli",
    "torch",
)
# hands on what it was given, waits for the other's end, and ends alike
START = """
import os, pickle, socket, sys
if sys.argv[1] != "-m":
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"+"], [0, 1, 2])
    server.sendall(pickle.dumps((os.getcwd(), dict(os.environ), sys.argv[1:])))
    server.shutdown(socket.SHUT_WR)
    os._exit((server.recv(1) or b"\\x01")[0])
"""


@functools.cache
def warm_python() -> str:
    """Return the path of a `python` for ``python -m MODULE ARGUMENTS``, which works as long as this process lives."""
    from tests.support import SHARED  # reads the project, which the server must not

    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):  # not Linux, or one of old
        return sys.executable
    folder = Path(tempfile.mkdtemp(prefix="warm-", dir=os.environ[SHARED]))
    address, begin, python = folder / "socket", folder / "start.py", folder / "bin/python"
    begin.write_text(START.format(python=sys.executable, address=str(address)), encoding="utf-8")
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -IS {shlex.quote(str(begin))} "$@"\n')
    python.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(address))
        listening.listen(64)
        place = listening.fileno()
        command = [sys.executable, __file__, str(place), str(python)]
        server = subprocess.Popen(command, pass_fds=[place], start_new_session=True)
    atexit.register(server.wait)
    atexit.register(server.terminate)
    return str(python)


def serve(listening: socket.socket) -> tuple[socket.socket, list[int]]:
    """Fork for each start; return, in the new process, who asked for it and its standard files."""
    tester = os.getppid()
    with selectors.DefaultSelector() as waiting:
        waiting.register(listening, selectors.EVENT_READ)
        while os.getppid() == tester:
            for key, _ in waiting.select(timeout=5):
                if key.fileobj is listening:
                    asking, _ = listening.accept()
                    _, files, _, _ = socket.recv_fds(asking, 1, 3)
                    child = os.fork()
                    if child == 0:
                        return asking, files
                    for file in files:
                        os.close(file)
                    waiting.register(os.pidfd_open(child), selectors.EVENT_READ, (child, asking))
                else:
                    child, asking = key.data
                    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                    with asking, contextlib.suppress(OSError):  # who asked may be gone
                        asking.sendall(bytes([status if status >= 0 else 128 - status]))
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    raise SystemExit


def start(asking: socket.socket, files: list[int], python: str) -> None:
    """Do in this process what ``python -m MODULE ARGUMENTS`` would."""
    with asking.makefile("rb") as request:
        folder, environment, (_, module, *arguments) = pickle.load(request)
    for place, (file, mode) in enumerate(zip(files, "rww", strict=True)):
        os.dup2(file, place)
        os.close(file)
        setattr(sys, ("stdin", "stdout", "stderr")[place], os.fdopen(place, mode, closefd=False))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.executable, sys.argv[1:] = python, arguments
    sys.path[:1] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    if not environment.get("PYTHONSAFEPATH"):
        sys.path.insert(0, folder)
    status = 1

    def end() -> None:
        """Be gone: to take down what was read would take longer than most jobs."""
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

    atexit.register(end)  # the first, and so the last to be called
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        raise


if __name__ == "__main__":
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.freeze()
    start(*serve(socket.socket(fileno=int(sys.argv[1]))), python=sys.argv[2])
