"""``python -m learning_dynamics <stage> ...``, and the command ``learning-dynamics``."""

import os
import sys

# Python looks into the working folder first: a `random.py` that lies there is not the standard library's
sys.path[:] = [folder for folder in sys.path if os.path.realpath(folder) != os.path.realpath("")]


def main() -> int | str:
    """Run a command; return its exit status, or the error to print."""
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
    except EOFError as error:
        if "marshal" not in str(error):
            raise
        # Python writes what it compiles without a look at how much of it the disk has taken
        return (
            "error: a compiled file is cut short, as a full disk leaves it; free space, delete them all, and run the "
            "same command again: find . -name __pycache__ -prune -exec rm -r {} +"
        )


if __name__ == "__main__":
    raise SystemExit(main())
