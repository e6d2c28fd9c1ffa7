"""``python -m learning_dynamics <stage> ...``."""

try:
    from learning_dynamics.pipeline.commands.cli import main

    status: int | str = main()
except EOFError as error:
    if "marshal" not in str(error):
        raise
    # Python writes what it compiles without a look at how much of it the disk has taken
    status = (
        "error: a compiled file is cut short, as a full disk leaves it; free space, delete them all, and run the same "
        "command again: find . -name __pycache__ -prune -exec rm -r {} +"
    )
raise SystemExit(status)
