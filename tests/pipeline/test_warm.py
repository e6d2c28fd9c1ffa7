"""A start with the libraries already read is a start like any other."""

import os
import subprocess
import sys

from tests.pipeline.warm import warm_python

ENDS = {
    "well": "print('out'); print('err', file=sys.stderr)",
    "with a status": "print('out'); sys.exit(3)",
    "with an error": "raise ValueError('no such value')",
    "in another folder": "import os, beside; print(os.getcwd(), beside.name, sys.argv[1:], os.environ['GIVEN'])",
    "fed": "print(sys.stdin.read()[::-1])",
    "having started another": "import subprocess; subprocess.run([sys.executable, '-c', 'print(6 * 7)'], check=True)",
}


def ended(python, folder, *arguments, **variables):
    command = [python, "-m", "started", *arguments]
    environment = os.environ | {"GIVEN": "x"} | variables
    return subprocess.run(command, cwd=folder, env=environment, input="fed", capture_output=True, text=True)


def test_it_ends_as_any_other_does(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/beside.py").write_text("name = 'beside'\n")
    for end in ENDS.values():
        (tmp_path / "started.py").write_text(f"import sys\n{end}\n")
        cold, warm = (
            ended(python, tmp_path, "a b", "ä", PYTHONPATH="src") for python in (sys.executable, warm_python())
        )
        assert (warm.returncode, warm.stdout) == (cold.returncode, cold.stdout)
        # a traceback has other lines above
        assert warm.stderr.splitlines()[-1:] == cold.stderr.splitlines()[-1:]


def test_one_that_is_killed_has_failed(tmp_path):
    (tmp_path / "started.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert ended(warm_python(), tmp_path).returncode == 128 + 9


def test_one_that_ended_holds_nothing_and_began_with_nothing_of_the_project(tmp_path):
    (tmp_path / "started.py").write_text(
        "import fcntl, sys\nheld = open('lock', 'a')\nfcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "print([name for name in sys.modules if 'dynamics' in name])\n"
    )
    starts = [ended(warm_python(), tmp_path) for _ in range(5)]
    assert [(start.returncode, start.stdout) for start in starts] == [(0, "[]\n")] * 5
