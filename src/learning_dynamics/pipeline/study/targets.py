"""What a person asks Snakemake for by path, held against what the configuration makes, before anything is planned."""

import io
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from pathlib import Path

from learning_dynamics.errors import ProjectError, suggest_name

OTHER_FOLDERS = ("logs", "benchmarks", "replicates", "wild", "turning")  # folders beside those of papers


def requested_targets() -> list[str]:
    """Return the files and rules that this Snakemake's command line asks for.

    A Snakefile is read before Snakemake tells its workflow the targets, so that its parser is asked again.
    """
    if Path(sys.argv[0]).name not in ("snakemake", "__main__.py"):
        return []
    with suppress(ImportError), redirect_stderr(io.StringIO()):  # it names the profile again
        from snakemake.cli import parse_args

        _, arguments = parse_args(sys.argv[1:])
        return [os.path.relpath(path) for path in {*arguments.targets, *arguments.forcerun, *arguments.until}]
    return []


def check_targets(
    targets: Iterable[str], expected: Mapping[str, str], folders: Sequence[str], papers: Sequence[str]
) -> None:
    """Refuse a path that lies where the configuration's outputs lie and is none of them.

    Parameters
    ----------
    expected : mapping
        The outputs of this configuration, by path.
    folders : sequence of str
        The folders of its results and figures.
    papers : sequence of str

    Raises
    ------
    ProjectError
        It names the nearest output.
    """
    for target in map(str, targets):
        folder = max((candidate for candidate in folders if target.startswith(f"{candidate}/")), key=len, default=None)
        if folder is None or target in expected:
            continue
        paper, *rest = target.removeprefix(f"{folder}/").split("/")
        if rest and paper not in papers and paper not in OTHER_FOLDERS:
            raise ProjectError(f"{target}: no paper `{paper}` in this configuration{suggest_name(paper, papers)}")
        # what else lies in a folder of a paper, its own rules make
        siblings = [path for path in expected if path.rpartition("/")[0] == target.rpartition("/")[0]]
        if siblings and (len(rest) > 1 or folder.startswith("figures")):
            raise ProjectError(f"{target}: nothing makes it{suggest_name(target, siblings)}")
