"""A server, which has imported the libraries, forks for each command: what a command does and how it ends.

A command prints and ends as it would by itself; no server and no fork stays behind.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from learning_dynamics import starter

# what a job is in these tests: it prints what it sees, then ends as its first argument says
PROBE = """
import os, signal, sys, time
print(os.getcwd(), sys.argv[1:], os.environ.get("COLOUR"), "numpy" in sys.modules, flush=True)
print("to the other stream", file=sys.stderr, flush=True)
way = sys.argv[1]
if way == "exit":
    sys.exit(int(sys.argv[2]))
if way == "message":
    sys.exit("a message")
if way == "raise":
    raise ValueError("a mistake")
if way == "die":
    os.kill(os.getpid(), signal.SIGKILL)
if way == "sleep":
    open("sleeping", "w").write(str(os.getpid()))
    time.sleep(60)
"""
COMMAND = """
import os, sys
from learning_dynamics.starter import run_elsewhere
status = run_elsewhere("probe", sys.argv[1:])
sys.exit("by itself" if status is None else status)
"""
# starts the server, then the command, and prints how the command ended
PARENT = """
import os, subprocess, sys
from learning_dynamics import starter
starter.start_server(["numpy"])
ended = subprocess.run([sys.executable, "-c", {command!r}, *sys.argv[1:]], env=os.environ | {{"COLOUR": "blue"}})
print("ended", ended.returncode, flush=True)
"""


@pytest.fixture
def parent(tmp_path):
    """Return a function that starts a process with a server and one command, in a folder with the module `probe`.

    Its arguments are those of the command; `before` is code that the command runs first.
    """
    (tmp_path / "probe.py").write_text(PROBE)
    folders = [str(Path(starter.__file__).parents[1]), str(tmp_path)]
    environment = os.environ | starter.ONE_THREAD | {"PYTHONPATH": os.pathsep.join(folders)}
    environment.pop(starter.ADDRESS, None)

    def start(*arguments: str, before: str = "") -> subprocess.Popen:
        code = PARENT.format(command=before + COMMAND)
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=tmp_path,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return start


@pytest.mark.parametrize(
    ("arguments", "status", "further_errors"),
    [
        (["exit", "0"], 0, ""),
        (["exit", "3"], 3, ""),
        (["message"], 1, "a message\n"),
        (["raise"], 1, "Traceback .*\nValueError: a mistake\n"),
        (["die"], -signal.SIGKILL, "error: killed[^\n]*\n"),
    ],
)
def test_a_command_prints_and_ends_as_its_fork_does(parent, tmp_path, arguments, status, further_errors):
    output, errors = parent(*arguments).communicate(timeout=60)
    # numpy, which the probe never imports, is there: the command was done by a fork of the server
    assert output.splitlines() == [f"{tmp_path} {arguments} blue True", f"ended {status}"]
    assert re.fullmatch(f"to the other stream\n{further_errors}", errors, re.DOTALL), errors


def test_a_command_under_other_variables_of_libraries_does_its_work_itself(parent):
    # libraries read the number of threads when they are imported, so those of the server have another one
    code = "import os; os.environ['OMP_NUM_THREADS'] = '2'\n"
    _, errors = parent("exit", "0", before=code).communicate(timeout=60)
    assert errors == "by itself\n"


def test_a_server_and_a_command_are_compared_by_variables_that_libraries_read():
    """Of the paths of modules those that are absolute are compared."""
    compared = starter.relevant({"OMP_NUM_THREADS": "2", "HOME": "/", "PYTHONPATH": f"src{os.pathsep}/lib"})
    assert compared == {"OMP_NUM_THREADS": "2", "PYTHONPATH": "/lib"}


# `run_elsewhere` returns None where the command is to do its work itself


def test_without_a_server_a_command_does_its_work_itself(monkeypatch):
    monkeypatch.delenv(starter.ADDRESS, raising=False)
    assert starter.run_elsewhere("probe", []) is None


def test_after_the_server_has_ended_a_command_does_its_work_itself(monkeypatch, tmp_path):
    monkeypatch.setenv(starter.ADDRESS, str(tmp_path / "socket"))
    assert starter.run_elsewhere("probe", []) is None


def test_without_a_folder_for_temporary_files_no_server_starts_and_no_folder_is_made(monkeypatch, tmp_path):
    monkeypatch.delenv(starter.ADDRESS, raising=False)
    monkeypatch.setattr(starter.tempfile, "tempdir", str(tmp_path / "missing"))
    starter.start_server()
    assert starter.ADDRESS not in os.environ
    assert list(tmp_path.rglob("*")) == []


def test_where_a_path_is_too_long_for_a_socket_no_server_starts_and_nothing_is_left(monkeypatch, tmp_path):
    monkeypatch.delenv(starter.ADDRESS, raising=False)
    long = tmp_path / ("long" * 30)  # a socket's path has 107 characters at most
    long.mkdir()
    monkeypatch.setattr(starter.tempfile, "tempdir", str(long))
    starter.start_server()
    assert starter.ADDRESS not in os.environ
    assert list(tmp_path.rglob("*")) == [long]


def wait_for(file: Path) -> int:
    """Return the process id that a file holds, once it does."""
    deadline = time.monotonic() + 60
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < deadline, f"no {file}"
        time.sleep(0.02)
    return int(file.read_text())


def child_with(parent_process: subprocess.Popen, word: str) -> psutil.Process:
    """Return the one child process that has a word in its command line."""
    children = psutil.Process(parent_process.pid).children()
    (child,) = [child for child in children if word in " ".join(child.cmdline())]
    return child


def test_a_command_that_is_killed_takes_its_fork_with_it(parent, tmp_path):
    running = parent("sleep")
    fork = psutil.Process(wait_for(tmp_path / "sleeping"))
    child_with(running, "run_elsewhere").kill()
    _ended, still_running = psutil.wait_procs([fork], timeout=20)
    assert still_running == []
    output, _errors = running.communicate(timeout=60)
    assert output.endswith(f"ended {-signal.SIGKILL}\n")


def test_a_server_that_is_killed_takes_its_forks_with_it_and_the_command_says_so(parent, tmp_path):
    started = parent("sleep")
    fork = psutil.Process(wait_for(tmp_path / "sleeping"))
    server = fork.parent()
    assert server is not None
    server.kill()
    deadline = time.monotonic() + 20
    # a container may have nobody that waits for an orphan: it stays, as a zombie
    while fork.is_running() and fork.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the fork of a server that was killed is still there"
        time.sleep(0.02)
    output, errors = started.communicate(timeout=60)
    assert output.splitlines()[-1] == "ended 1"
    assert "error: the process that starts jobs has ended; run the same command again" in errors


def test_a_signal_to_a_command_ends_its_fork_and_so_the_command(parent, tmp_path):
    running = parent("sleep")
    wait_for(tmp_path / "sleeping")
    child_with(running, "run_elsewhere").send_signal(signal.SIGTERM)
    output, _errors = running.communicate(timeout=60)
    assert output.endswith(f"ended {-signal.SIGTERM}\n")


def test_a_server_ends_with_the_process_that_started_it(parent, tmp_path):
    running = parent("exit", "0")
    deadline = time.monotonic() + 60
    servers: list[psutil.Process] = []
    while not servers and time.monotonic() < deadline and running.poll() is None:
        servers = [one for one in psutil.Process(running.pid).children() if "starter.py" in " ".join(one.cmdline())]
    assert servers, "no server was seen"
    running.communicate(timeout=60)
    _ended, still_running = psutil.wait_procs(servers, timeout=20)
    assert still_running == []
