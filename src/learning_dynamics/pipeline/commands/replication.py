"""Verdicts under several seeds side by side: a table, a page of Markdown, a matrix of claims against seeds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from learning_dynamics.errors import ProjectError, shortened
from learning_dynamics.judging import VERDICTS
from learning_dynamics.pipeline.report.looks import LOOKS, key
from learning_dynamics.pipeline.store.pictures import drawn_alike
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.records import CLAIM, PAPER, VERDICT
from learning_dynamics.pipeline.store.records import COLUMNS as CLAIMS
from learning_dynamics.pipeline.store.seals import sealing
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
    made = judged_under(folders, papers, config)
    found = pd.concat(
        [
            read_table(Path(folder, paper, "claims.parquet"), declared=CLAIMS).assign(seed=int(seed))
            for seed, folder in folders.items()
            for paper in papers
        ],
        ignore_index=True,
    )[[column.name for column in COLUMNS]]
    write_table(out, found, COLUMNS, provenance("replication", "all", "replication", {"made": made}))
    with sealing(markdown) as partial:
        partial.write_text(describe(found), encoding="utf-8")
    save(lambda: matrix(found), pdf, png)


def judged_under(folders: Mapping[str, str], papers: Sequence[str], config: Mapping[str, Any]) -> dict[str, str]:
    """Return the fingerprint of every paper's claims under every seed, as ``seed/paper``.

    Raises
    ------
    ProjectError
        If claims are not those of the seed under which they are given, there is no such paper, or a seed is none.
    """
    if not folders or len(set(papers)) < len(papers):
        raise ProjectError("--folders, --papers: name at least one seed, and each paper once")
    given = {**config["given"], "papers": list(papers)}
    known = load([Path(file) for file in config["files"]], given)
    made = {}
    for seed, folder in folders.items():
        if not (re.fullmatch("0|[1-9][0-9]*", seed) and isinstance(folder, str)):
            raise ProjectError(f"--folders: seed {shortened(seed)}: write a whole number and its folder of results")
        project = Project(known.with_seed(int(seed)))
        for paper in papers:
            made[f"{seed}/{paper}"] = project.fingerprint("claims", paper, "claims")
            wrong = fault(Path(folder, paper, "claims.parquet"), made[f"{seed}/{paper}"])
            if wrong is not None:
                raise ProjectError(f"--folders: claims of seed {seed}: {wrong}")
    return made


def save(draw: Callable[[], Figure], pdf: Path, png: Path) -> None:
    """Draw a figure in the project's style and write it twice."""
    with drawn_alike(), style():
        figure = draw()
        with sealing(pdf) as partial:
            figure.savefig(partial, format="pdf", metadata={"CreationDate": None})
        with sealing(png) as partial:
            figure.savefig(partial, format="png")


def unsettled(found: pd.DataFrame) -> list[str]:
    """Return the claims whose verdict depends on the seed."""
    counts = found.groupby("claim", sort=False)["verdict"].nunique()
    return list(counts[counts > 1].index)


def describe(found: pd.DataFrame) -> str:
    """Return which claims hang on the seed, and the verdict of every claim under every seed, as Markdown."""
    wide = found.set_index(["claim", "seed"])["verdict"].unstack()  # noqa: PD010 - text, nothing to aggregate
    wide = wide.loc[list(dict.fromkeys(found["claim"]))]
    open_ = unsettled(found)
    lines = [f"{len(wide)} claims under {wide.shape[1]} seeds; {len(open_)} with a verdict that depends on the seed."]
    lines += [f"- `{claim}`: {', '.join(wide.loc[claim])}" for claim in open_]
    lines += ["", f"{key(found['verdict'])}.", "", "| claim | " + " | ".join(f"seed {seed}" for seed in wide) + " |"]
    lines += ["|---|" + "---|" * wide.shape[1]]
    for claim, row in zip(wide.index, wide.to_numpy(), strict=True):
        lines.append(f"| `{claim}` | " + " | ".join(LOOKS[verdict].sign for verdict in row) + " |")
    return "\n".join(lines) + "\n"


def matrix(found: pd.DataFrame, by: str = "seed") -> Figure:
    """Draw claims against seeds (or draws), a column of the figure for each paper, each verdict in its colour."""
    papers = list(dict.fromkeys(found["paper"]))
    tried = sorted(found[by].unique())
    longest = max(found[found["paper"] == paper]["claim"].nunique() for paper in papers)
    figure, axes = plt.subplots(
        1, len(papers), figsize=(WIDTH * len(papers) / 2.2, 0.9 + 0.17 * longest), squeeze=False
    )
    # on a draw a statement may be undecided; that is told in words
    open_ = set(unsettled(found)) if by == "seed" else set()
    for axis, paper in zip(axes[0], papers, strict=True):
        rows = found[found["paper"] == paper]
        claims = list(dict.fromkeys(rows["claim"]))
        for claim, one, verdict in zip(rows["claim"], rows[by], rows["verdict"], strict=True):
            place = (tried.index(one), claims.index(claim))
            axis.add_patch(plt.Rectangle(place, 0.92, 0.92, color=LOOKS[verdict].fill, lw=0))
        axis.set(xlim=(0, len(tried)), ylim=(longest, 0), title=paper)
        axis.set_xticks([place + 0.46 for place in range(len(tried))], [str(one) for one in tried], rotation=90)
        names = [claim.partition(".")[2] + (" *" if claim in open_ else "") for claim in claims]
        axis.set_yticks([place + 0.46 for place in range(len(claims))], names, fontsize=6)
        axis.tick_params(length=0)
        for spine in axis.spines.values():
            spine.set_visible(False)
        axis.set_xlabel(by)
    used = [verdict for verdict in VERDICTS if (found["verdict"] == verdict).any()]
    handles = [Patch(color=LOOKS[verdict].fill, label=verdict) for verdict in used]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 2 * len(papers)))
    return figure
