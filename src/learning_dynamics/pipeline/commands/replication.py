"""Verdicts under several seeds side by side: a table, a page of Markdown, a matrix of claims against seeds."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from learning_dynamics.errors import ProjectError, shortened
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.report.verdict_styles import VERDICT_STYLES, draw_legend, legend, sign_table
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.records import CLAIM, PAPER, VERDICT
from learning_dynamics.pipeline.store.records import COLUMNS as CLAIMS
from learning_dynamics.pipeline.store.tables import read_table, write_table
from learning_dynamics.pipeline.study.config import load
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.stale_outputs import fault
from learning_dynamics.plotting import WIDTH, style
from learning_dynamics.tidy import Column

COLUMNS = (
    PAPER,
    CLAIM,
    Column("seed", "int", "the seed of the whole"),
    Column("measured", "float", "the headline quantity under this seed", nullable=True),
    Column("margin", "float", "factor by which the measurement stays inside its bound", nullable=True),
    VERDICT,
)


def execute(
    folders: Mapping[str, str],
    papers: Sequence[str],
    config: Mapping[str, Any],
    out: Path,
    markdown: Path,
    pdf: Path,
    png: Path,
) -> None:
    """Read the claims of every seed; write table, Markdown and figure."""
    fingerprints = claim_fingerprints(folders, papers, config)
    verdicts = pd.concat(
        [
            read_table(Path(folder, paper, "claims.parquet"), declared=CLAIMS).assign(seed=int(seed))
            for seed, folder in folders.items()
            for paper in papers
        ],
        ignore_index=True,
    )[[column.name for column in COLUMNS]]
    write_table(out, verdicts, COLUMNS, provenance("replication", "all", "replication", {"made": fingerprints}))
    with atomic_write(markdown) as partial:
        partial.write_text(describe(verdicts), encoding="utf-8")
    save_figure(lambda: draw_matrix(verdicts), pdf, png)


def claim_fingerprints(folders: Mapping[str, str], papers: Sequence[str], config: Mapping[str, Any]) -> dict[str, str]:
    """Return the fingerprint of every paper's claims under every seed, as ``seed/paper``.

    Raises
    ------
    ProjectError
        If claims are not those of the seed under which they are given, there is no such paper, or a seed is none.
    """
    if not folders or len(set(papers)) < len(papers):
        raise ProjectError("--folders, --papers: name at least one seed, and each paper once")
    overrides = {**config["given"], "papers": list(papers)}
    configuration = load([Path(file) for file in config["files"]], overrides)
    fingerprints = {}
    for seed, folder in folders.items():
        if not (re.fullmatch("0|[1-9][0-9]*", seed) and isinstance(folder, str)):
            raise ProjectError(f"--folders: seed {shortened(seed)}: write a whole number and its folder of results")
        project = Project(configuration.with_seed(int(seed)), check=False)
        for paper in papers:
            fingerprints[f"{seed}/{paper}"] = project.fingerprint("claims", paper, "claims")
            problem = fault(Path(folder, paper, "claims.parquet"), fingerprints[f"{seed}/{paper}"])
            if problem is not None:
                raise ProjectError(f"--folders: claims of seed {seed}: {problem}")
    return fingerprints


def save_figure(draw: Callable[[], Figure], pdf: Path, png: Path) -> None:
    """Draw a figure in the project's style and write it twice."""
    with matplotlib_defaults(), style():
        figure = draw()
        with atomic_write(pdf) as partial:
            figure.savefig(partial, format="pdf", metadata={"CreationDate": None})
        with atomic_write(png) as partial:
            figure.savefig(partial, format="png")


def seed_dependent_claims(verdicts: pd.DataFrame) -> list[str]:
    """Return the claims whose verdict depends on the seed."""
    counts = verdicts.groupby("claim", sort=False)["verdict"].nunique()
    return list(counts[counts > 1].index)


def describe(verdicts: pd.DataFrame) -> str:
    """Return which claims hang on the seed, and the verdict of every claim under every seed, as Markdown."""
    by_seed = verdicts.set_index(["claim", "seed"])["verdict"].unstack()  # noqa: PD010 - text, nothing to aggregate
    by_seed = by_seed.loc[list(dict.fromkeys(verdicts["claim"]))]
    dependent = seed_dependent_claims(verdicts)
    lines = [
        f"{len(by_seed)} claims under {by_seed.shape[1]} seeds; "
        f"{len(dependent)} with a verdict that depends on the seed."
    ]
    lines += [f"- `{claim}`: {', '.join(by_seed.loc[claim])}" for claim in dependent]
    lines += [
        "",
        f"{legend(verdicts['verdict'])}.",
        "",
        *sign_table(by_seed.add_prefix("seed ", axis="columns")),
    ]
    return "\n".join(lines) + "\n"


def draw_matrix(verdicts: pd.DataFrame, by: str = "seed") -> Figure:
    """Draw claims against seeds (or draws), a column of the figure for each paper, each verdict in its colour."""
    papers = list(dict.fromkeys(verdicts["paper"]))
    columns = sorted(verdicts[by].unique())
    longest = max(verdicts[verdicts["paper"] == paper]["claim"].nunique() for paper in papers)
    figure, axes = plt.subplots(
        1, len(papers), figsize=(WIDTH * len(papers) / 2.2, 0.9 + 0.17 * longest), squeeze=False
    )
    # on a draw a statement may be undecided; that is told in words
    dependent = set(seed_dependent_claims(verdicts)) if by == "seed" else set()
    for axis, paper in zip(axes[0], papers, strict=True):
        rows = verdicts[verdicts["paper"] == paper]
        claims = list(dict.fromkeys(rows["claim"]))
        for claim, value, verdict in zip(rows["claim"], rows[by], rows["verdict"], strict=True):
            position = (columns.index(value), claims.index(claim))
            axis.add_patch(plt.Rectangle(position, 0.92, 0.92, color=VERDICT_STYLES[verdict].fill, lw=0))
        axis.set(xlim=(0, len(columns)), ylim=(longest, 0), title=paper)
        axis.set_xticks(
            [position + 0.46 for position in range(len(columns))], [str(value) for value in columns], rotation=90
        )
        names = [claim.partition(".")[2] + (" *" if claim in dependent else "") for claim in claims]
        axis.set_yticks([position + 0.46 for position in range(len(claims))], names, fontsize=6)
        axis.tick_params(length=0)
        for spine in axis.spines.values():
            spine.set_visible(False)
        axis.set_xlabel(by)
    draw_legend(figure, verdicts["verdict"], 2 * len(papers))
    return figure
