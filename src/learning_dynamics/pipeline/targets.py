"""What a person asks Snakemake for by path, held against what the configuration makes, before anything is planned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from learning_dynamics.errors import ProjectError, near

BESIDE = ("logs", "benchmarks", "replicates", "wild", "turning")  # folders beside those of papers


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
        home = max((own for own in folders if target.startswith(f"{own}/")), key=len, default=None)
        if home is None or target in expected:
            continue
        paper, *rest = target.removeprefix(f"{home}/").split("/")
        if rest and paper not in papers and paper not in BESIDE:
            raise ProjectError(f"{target}: no paper `{paper}` in this configuration{near(paper, papers)}")
        # what else lies in a folder of a paper, its own rules make
        siblings = [path for path in expected if path.rpartition("/")[0] == target.rpartition("/")[0]]
        if siblings and (len(rest) > 1 or home.startswith("figures")):
            raise ProjectError(f"{target}: nothing makes it{near(target, siblings)}")
