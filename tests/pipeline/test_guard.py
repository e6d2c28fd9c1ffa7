"""Whatever goes wrong in a command is one line on standard error, and exit status 1."""

import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.functions import error_context
from learning_dynamics.pipeline.commands.guard import TRACEBACK, run_guarded
from tests.support import ROOT, named_after_its_call


@named_after_its_call
def raising(error):
    def command():
        raise error

    return command


def test_any_failure_is_one_line_and_a_traceback_for_who_asks(capsys, monkeypatch):
    for error, line, status in (
        (ProjectError("f.yaml: width: must be above 0"), "error: f.yaml: width: must be above 0", 1),
        (ProjectError("two\nlines"), "error: two lines", 1),
        (MemoryError(), "error: does not fit into this machine's memory", 1),
        (KeyboardInterrupt(), "error: interrupted; run the same command again", 130),
        (KeyError("kind"), "error: KeyError: 'kind' (test_guard.py:", 1),
        (OSError(28, "No space left on device"), "error: a file: No space left on device; fix that", 1),
    ):
        assert run_guarded(raising(error)) == status, error
        told_of = capsys.readouterr().err
        assert told_of.startswith(line), error
        assert told_of.count("\n") == 1, error
    monkeypatch.setenv(TRACEBACK, "1")
    with pytest.raises(KeyError):
        run_guarded(raising(KeyError("kind")))


def test_warnings_come_after_success_and_not_with_a_failure(capsys):
    def warn(error=None):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            for _ in range(3):
                np.log(np.array([0.0]))
        if error:
            raise error

    assert run_guarded(warn) == 0
    assert capsys.readouterr().err.count("warning: RuntimeWarning: divide by zero") == 1
    assert run_guarded(lambda: warn(ProjectError("no"))) == 1
    assert capsys.readouterr().err == "error: no\n"


def test_what_a_papers_function_raises_names_its_settings():
    for fail, reason in (
        (lambda: np.empty((10**6, 10**7)), "does not fit into this machine's memory (Unable to allocate 72.8 TiB"),
        (lambda: np.zeros(3)[99], "IndexError: index 99 is out of bounds"),
        (lambda: np.linalg.inv(np.zeros((2, 2))), "LinAlgError: Singular matrix"),
        (lambda: np.empty(2**63 - 1), "ValueError: array is too big"),
    ):
        with (
            pytest.raises(ProjectError) as error,
            error_context("run flow", {"width": 99, "scales": list(range(1000))}),
        ):
            fail()
        text = str(error.value)
        assert text.startswith("run flow: "), fail
        assert reason.split(" (")[0] in text, fail
        assert "settings {width: 99, scales: [0, 1," in text, fail
        assert "\n" not in text, fail
        assert len(text) < 700, fail


def python(code, *arguments, options=(), **variables):
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "src"), **variables}
    return subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(code), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
    )


def test_a_locale_that_knows_no_greek_is_no_reason_to_stop():
    code = """
        from learning_dynamics.pipeline.commands.guard import run_guarded
        run_guarded(lambda: print('\\u03c3 \\u2013 \\xfc'))
    """
    ended = python(code, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == "\\u03c3 \\u2013 \\xfc\n"


def test_what_never_ends_is_ended():
    for loop in ("import time; time.sleep(60)", "sum(iter(int, 1))"):
        code = f"""
            from learning_dynamics.pipeline.commands import guard
            guard.GRACE = 0.5
            def endless():
                guard.limit_time(0.01)
                {loop}
            raise SystemExit(guard.run_guarded(endless))
        """
        ended = python(code)
        assert ended.returncode == 1, loop
        # compiled code that does not look at signals is ended with the place where it was
        assert "error: not finished after 0.01 minutes; give it more" in ended.stderr or "Timeout" in ended.stderr, loop
