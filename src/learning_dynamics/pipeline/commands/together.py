"""Several short jobs of a topic in one process: starting Python takes longer than most of them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands import data, metrics, run

COMMANDS: dict[str, Callable[..., None]] = {"data": data.execute, "run": run.execute, "metrics": metrics.execute}


def execute(paper: str, topic: str, /, jobs: Mapping[str, Any]) -> None:
    """Make data sets, simulate and measure, one after the other, each as its own job would.

    Parameters
    ----------
    jobs : mapping
        By stage and name (`run small`) the options of the stage's command.

    Raises
    ------
    ProjectError
        If jobs failed: which, and why. All that need nothing of them are done before.
    """
    failures: dict[str, str] = {}  # by the file that is not there
    for job, options in jobs.items():
        stage, _, name = job.partition(" ")
        files = {key: Path(options[key]) for key in ("data", "run", "out") if options.get(key)}
        if any(str(file) in failures for file in files.values()):
            continue
        try:
            COMMANDS[stage](paper, name, **options | files)
        except ProjectError as error:
            failures[str(files["out"])] = f"{job}: {error}"
    if failures:
        raise ProjectError(f"{len(failures)} of {len(jobs)} jobs failed; {'; '.join(failures.values())}")
