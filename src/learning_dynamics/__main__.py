"""``python -m learning_dynamics <stage> ...``, and the command ``learning-dynamics``."""

import os
import sys

from learning_dynamics import CUT_SHORT

# Python looks into the working folder first: a `random.py` there would replace the standard library's
sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != os.path.realpath("")]


def main() -> int | str:
    """Run a command; return its exit status, or the error to print."""
    try:
        return _run()
    except EOFError as error:
        if "marshal" not in str(error):
            raise
        return f"error: {CUT_SHORT}"
    except SyntaxError as error:  # in a module that the command imports
        if os.environ.get("LEARNING_DYNAMICS_TRACEBACK"):
            raise
        return f"error: {error.filename}:{error.lineno}: SyntaxError: {error.msg}; correct the syntax"


def _run() -> int | str:
    if "LEARNING_DYNAMICS_STARTER" in os.environ:
        from learning_dynamics.starter import run_elsewhere

        status = run_elsewhere("learning_dynamics", sys.argv[1:])
        if status is not None:
            return status
    from learning_dynamics.environment import check_checkout, check_docstrings, set_variables_of_commands
    from learning_dynamics.errors import ProjectError

    set_variables_of_commands()
    try:
        check_docstrings()
        check_checkout()
        from learning_dynamics.pipeline.commands.cli import main

        return main()
    except ProjectError as error:
        return f"error: {error}"


if __name__ == "__main__":
    raise SystemExit(main())
