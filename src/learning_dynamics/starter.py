"""Short jobs without a second of imports: a process that has read the libraries forks itself for each of them.

``python -m learning_dynamics run ...`` takes a second to import NumPy, pandas and matplotlib, longer than most jobs.
Snakemake therefore starts this file as a process of its own (`start_server`), which imports them once, when it is first
needed. A command that finds it (`run_elsewhere`) hands on its folder, environment, arguments and standard files, waits
for the fork that does its work, and ends as that does. Where no such process is, as on a cluster's node, a command does
its work itself. Nothing of the project is imported before the fork: a job runs the sources as they are when it starts.

Libraries read the environment when they are imported (the number of threads, say). A command whose environment differs
in such a variable does its work itself.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

PACKAGE = "learning_dynamics"
ADDRESS = "LEARNING_DYNAMICS_STARTER"  # in the environment of commands: the path of the process' socket
LIBRARIES = ("matplotlib.pyplot", "numba", "pandas", "pyarrow.parquet", "scipy.integrate")
# what libraries read at import begins with one of these
READ_AT_IMPORT = ("GOTO", "MKL", "MPL", "NUMBA", "NUMEXPR", "OMP", "OPENBLAS", "PYTHON", "TORCH", "VECLIB")
# whatever the shell has, commands and jobs set these, see `environment`
SET_BY_COMMANDS = ("MPLBACKEND", "NUMBA_DISABLE_JIT", "PYTHONSAFEPATH")
# as Snakemake sets them for a job of one thread
ONE_THREAD = {
    f"{name}_THREADS": "1"
    for name in ("OMP_NUM", "GOTO_NUM", "OPENBLAS_NUM", "MKL_NUM", "VECLIB_MAXIMUM", "NUMEXPR_NUM")
}


def relevant(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that libraries may read when they are imported.

    Of PYTHONPATH only absolute folders, which are the same in every working folder; `Command.run` adds the others.
    """
    read = {name: value for name, value in environment.items() if name.startswith(READ_AT_IMPORT)}
    folders = read.pop("PYTHONPATH", "").split(os.pathsep)
    kept = {name: value for name, value in read.items() if name not in SET_BY_COMMANDS}
    return kept | {"PYTHONPATH": os.pathsep.join(folder for folder in folders if os.path.isabs(folder))}


# -- the command that asks ---------------------------------------------------------------------------------------------


def run_elsewhere(module: str, arguments: Sequence[str]) -> int | None:
    """Have ``python -m module arguments`` done by a fork of the waiting process; return its exit status.

    None where no process waits, or not for a command of this environment. A signal that ends the fork ends this process
    too. What asks this process to end goes to the fork; so does Ctrl-C, unless a terminal sends it to both because they
    are of one group of processes.
    """
    address = os.environ.get(ADDRESS)
    if not address:
        return None
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.connect(address)
            socket.send_fds(server, [b"+"], [0, 1, 2])
            _send(server, [os.getcwd(), dict(os.environ), module, list(arguments)])
            process = _receive(server)
        except (OSError, EOFError):
            return None
        if process is None:
            return None
        handed_on = [signal.SIGTERM, signal.SIGHUP]
        if _in_my_group(process):
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        else:
            handed_on.append(signal.SIGINT)
        for number in handed_on:
            signal.signal(number, lambda sent, _frame: _signal(process, sent))
        try:
            status, megabytes = _receive(server)
        except (OSError, EOFError):
            _signal(process, signal.SIGKILL)  # nobody would wait for it
            print("error: the process that starts jobs has ended; run the same command again", file=sys.stderr)
            return 1
    if status >= 0:
        return int(status)
    if status == -signal.SIGKILL:
        print(f"error: killed, as where memory runs out; it had used {megabytes:.0f} MB", file=sys.stderr, flush=True)
    else:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
    return 128 - int(status)


def _in_my_group(process: int) -> bool:
    try:
        return os.getpgid(process) == os.getpgrp()
    except ProcessLookupError:  # it has ended already
        return True


def _signal(process: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _send(connection: socket.socket, content: Any) -> None:
    """Send one message: its length in eight bytes, then JSON."""
    message = json.dumps(content).encode()
    connection.sendall(len(message).to_bytes(8, "little") + message)


def _receive(connection: socket.socket) -> Any:
    length = int.from_bytes(_receive_exactly(connection, 8), "little")
    return json.loads(_receive_exactly(connection, length))


def _receive_exactly(connection: socket.socket, length: int) -> bytes:
    received = b""
    while len(received) < length:
        part = connection.recv(length - len(received))
        if not part:
            raise EOFError
        received += part
    return received


# -- the process that waits --------------------------------------------------------------------------------------------


def start_server(libraries: Sequence[str] = LIBRARIES) -> None:
    """Start the process that forks for commands which this process starts; it ends with this one.

    It is not started where there is one already, where the system cannot say that a process has ended (no Linux, or an
    old one), where no temporary file can be made, or where its path is too long for a socket.
    """
    if ADDRESS in os.environ:
        return
    try:
        os.close(os.pidfd_open(os.getpid()))
        folder = Path(tempfile.mkdtemp(prefix="learning-dynamics-"))  # of this user alone
    except (AttributeError, OSError):
        return
    address = folder / "socket"
    environment = os.environ | ONE_THREAD | {"MPLBACKEND": "agg", "PYTHONSAFEPATH": "1"}
    environment.pop("NUMBA_DISABLE_JIT", None)
    with socket.socket(socket.AF_UNIX) as listening:
        try:
            listening.bind(str(address))
        except OSError:
            folder.rmdir()
            return
        listening.listen(128)
        number = listening.fileno()
        command = [sys.executable, __file__, str(number), str(address), *libraries]
        server = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number], env=environment)
    os.environ[ADDRESS] = str(address)
    atexit.register(_stop, server)


def _stop(server: subprocess.Popen) -> None:
    """Let the process end by the end of its standard input; at exit no job is left for which it would wait."""
    assert server.stdin is not None
    server.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(timeout=5)


class Server:
    """Forks for each command, tells who asked how its fork ended, and ends when standard input does."""

    def __init__(self, listening: socket.socket, libraries: Sequence[str]) -> None:
        self.listening, self.libraries = listening, libraries
        self.waiting = selectors.DefaultSelector()
        self.waiting.register(listening, selectors.EVENT_READ, self.accept)
        self.waiting.register(sys.stdin.fileno(), selectors.EVENT_READ, self.stop)
        self.ended = False
        self.forks: dict[int, socket.socket] = {}  # by process, who asked

    def serve(self) -> "Command | None":
        """Return, in each fork, the command that it is to do; None in this process, when it ends."""
        while not self.ended or self.forks:
            for key, _ in self.waiting.select():
                command = key.data(key.fileobj)
                if command is not None:
                    return command
        return None

    def accept(self, listening: socket.socket) -> "Command | None":
        """Fork for a command; return it in the fork."""
        asking, _ = listening.accept()
        try:
            _, files, _, _ = socket.recv_fds(asking, 1, 3)
            folder, environment, module, arguments = _receive(asking)
        except (OSError, EOFError):
            asking.close()
            return None
        process = self._fork() if relevant(environment) == relevant(os.environ) else None
        if process == 0:
            self.waiting.close()
            for connection in (self.listening, asking, *self.forks.values()):
                connection.close()
            return Command(folder, environment, module, arguments, files)
        for file in files:
            os.close(file)
        with contextlib.suppress(OSError):  # who asked is gone
            _send(asking, process)
        if process is None:
            asking.close()
            return None
        self.forks[process] = asking
        self.waiting.register(os.pidfd_open(process), selectors.EVENT_READ, self.end)
        self.waiting.register(asking, selectors.EVENT_READ, self.abandon)
        return None

    def _fork(self) -> int | None:
        for library in self.libraries:
            importlib.import_module(library)
        self.libraries = ()
        gc.freeze()
        try:
            return os.fork()
        except OSError:  # no more processes, or no memory for one
            return None

    def end(self, descriptor: int) -> None:
        """Tell who asked how a fork ended, and the most memory that it had."""
        self.waiting.unregister(descriptor)
        os.close(descriptor)
        for process, asking in list(self.forks.items()):
            ended, status, usage = os.wait4(process, os.WNOHANG)
            if ended:
                del self.forks[process]
                self._forget(asking)
                with contextlib.suppress(OSError):
                    _send(asking, [os.waitstatus_to_exitcode(status), usage.ru_maxrss / 1024])
                asking.close()

    def abandon(self, asking: socket.socket) -> None:
        """Kill the fork of a command that was killed."""
        self._forget(asking)
        for process, other in self.forks.items():
            if other is asking:
                _signal(process, signal.SIGKILL)

    def stop(self, standard_input: int) -> None:
        """Take no more commands: the process that started this one has ended."""
        self.ended = True
        self.waiting.unregister(standard_input)
        self._forget(self.listening)
        self.listening.close()

    def _forget(self, connection: socket.socket) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self.waiting.unregister(connection)


@dataclass(frozen=True)
class Command:
    """What ``python -m module arguments`` does in a folder, with an environment and standard files."""

    folder: str
    environment: Mapping[str, str]
    module: str
    arguments: Sequence[str]
    files: Sequence[int]

    def run(self) -> NoReturn:
        """Become that process, do its work and end."""
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for place, (file, mode) in enumerate(zip(self.files, "rww", strict=True)):
            os.dup2(file, place)
            os.close(file)
            setattr(sys, ("stdin", "stdout", "stderr")[place], os.fdopen(place, mode, closefd=False))
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update(self.environment)
        if self.module == PACKAGE:  # it would ask for a fork again
            del os.environ[ADDRESS]
        sys.argv[1:] = self.arguments
        folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:0] = [str(Path(self.folder, folder)) for folder in folders if folder and not os.path.isabs(folder)]
        status: Any = 1
        try:
            runpy.run_module(self.module, run_name="__main__", alter_sys=True)
            status = 0
        except SystemExit as ended:
            status = ended.code
            if isinstance(status, str):
                print(status, file=sys.stderr)
        except BaseException:
            sys.excepthook(*sys.exc_info())
        sys.stdout.flush()
        sys.stderr.flush()
        # to take down what was imported takes longer than most jobs
        os._exit(status if isinstance(status, int) else int(status is not None))


def main() -> None:
    """Serve, or do what a fork is for."""
    number, address, *libraries = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, which sends it to Snakemake and to forks as well
    with socket.socket(fileno=int(number)) as listening:
        command = Server(listening, libraries).serve()
        if command is not None:
            command.run()
    Path(address).unlink(missing_ok=True)
    Path(address).parent.rmdir()


if __name__ == "__main__":
    main()
