"""`run_guarded` runs a command: whatever goes wrong in it is one line on standard error, and an exit status."""

import subprocess
import sys
import textwrap
from fnmatch import fnmatchcase

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.functions import error_context
from learning_dynamics.pipeline.commands.guard import TRACEBACK, run_guarded
from tests.pipeline.conftest import LONGEST_MESSAGE
from tests.support import ROOT, named_after_its_call


@named_after_its_call
def raising(error):
    """Return a command that raises an error."""

    def command():
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "line", "status"),  # `*` in a line is any text
    [
        (ProjectError("f.yaml: width: must be above 0"), "f.yaml: width: must be above 0", 1),
        (ProjectError("two\nlines"), "two lines", 1),
        (MemoryError(), "does not fit into this machine's memory; ask for less, or use a larger machine", 1),
        (KeyboardInterrupt(), "interrupted; run the same command again to go on", 130),
        (KeyError("kind"), f"KeyError: 'kind' (test_guard.py:*); {TRACEBACK}=1 shows more", 1),
        (OSError(28, "No space left"), "a file: No space left; fix that, and run the same command again", 1),
        (OSError(2, "No such file", "f.npz"), "f.npz: No such file; fix that, and run the same command again", 1),
    ],
    ids=repr,
)
def test_any_failure_is_one_line_on_standard_error(capsys, error, line, status):
    assert run_guarded(raising(error)) == status
    printed = capsys.readouterr()
    assert fnmatchcase(printed.err, f"error: {line}\n"), printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_where_the_environment_asks_for_a_traceback_the_exception_is_not_caught(monkeypatch):
    monkeypatch.setenv(TRACEBACK, "1")
    with pytest.raises(KeyError):
        run_guarded(raising(KeyError("kind")))


@pytest.mark.parametrize(
    ("fail", "reason"),
    [
        pytest.param(lambda: np.empty((10**6, 10**7)), "does not fit into this machine's memory", id="80 TB"),
        pytest.param(lambda: np.zeros(3)[99], "IndexError: index 99 is out of bounds", id="index"),
        pytest.param(lambda: np.linalg.inv(np.zeros((2, 2))), "LinAlgError: Singular matrix", id="singular"),
        pytest.param(lambda: np.empty(2**63 - 1), "ValueError: array is too big", id="too big"),
    ],
)
def test_an_error_of_a_papers_function_is_one_short_line_with_its_settings(fail, reason):
    settings = {"width": 99, "scales": list(range(1000))}  # the list is too long to be shown
    with pytest.raises(ProjectError) as error, error_context("run flow", settings):
        fail()
    text = str(error.value)
    assert text.startswith("run flow: ")
    assert reason in text
    assert "settings {width: 99, scales: [0, 1," in text
    assert "\n" not in text
    assert len(text) < LONGEST_MESSAGE


def python(code, **variables):
    """Run code in a process of its own, with this package and no environment variables but those given."""
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "src"), **variables}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
    )


@pytest.mark.parametrize(
    ("end", "status", "line"),  # `end` is the command's last statement
    [
        pytest.param("pass", 0, "warning: RuntimeWarning: divide by zero", id="success"),
        pytest.param("raise ProjectError('no')", 1, "error: no", id="failure"),
    ],
)
def test_a_warning_is_printed_once_after_success_and_not_with_a_failure(end, status, line):
    code = f"""
        import warnings
        import numpy as np
        from learning_dynamics.errors import ProjectError
        from learning_dynamics.pipeline.commands.guard import run_guarded
        warnings.simplefilter("always")
        def warn_three_times():
            for _ in range(3):
                np.log(np.array([0.0]))
            {end}
        raise SystemExit(run_guarded(warn_three_times))
    """
    ended = python(code)  # in another process: other tests may have silenced the warnings of this one
    assert ended.returncode == status
    assert ended.stderr.startswith(line)
    assert ended.stderr.count("\n") == 1


def test_in_a_locale_without_greek_letters_these_are_printed_as_escapes():
    code = """
        from learning_dynamics.pipeline.commands.guard import run_guarded
        run_guarded(lambda: print('\\u03c3 \\u2013 \\xfc'))
    """
    ended = python(code, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "\\u03c3 \\u2013 \\xfc\n"


@pytest.mark.parametrize(
    ("loop", "message"),
    [
        pytest.param(
            "import time; time.sleep(60)", "error: not finished after 0.01 minutes; give it more", id="Python"
        ),
        # it calls `int()` for ever, and never looks at signals: faulthandler ends it, and prints where it was
        pytest.param("sum(iter(int, 1))", "Timeout", id="compiled code"),
    ],
)
def test_a_command_that_takes_longer_than_its_limit_is_ended(loop, message):
    code = f"""
        from learning_dynamics.pipeline.commands import guard
        guard.GRACE = 0.5  # seconds after the limit in which compiled code may come back to Python
        def endless():
            guard.limit_time(0.01)  # minutes: 0.6 s
            {loop}
        raise SystemExit(guard.run_guarded(endless))
    """
    ended = python(code)
    assert ended.returncode == 1
    assert message in ended.stderr
