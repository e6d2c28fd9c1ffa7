"""Compare a person's own run with the published results, claim by claim."""

from pathlib import Path

from tabulate import tabulate

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.verdicts import DEFAULT_RESULTS, outdated_claims
from learning_dynamics.pipeline.report.counts import count_differences
from learning_dynamics.pipeline.report.markdown import compared_number
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.tables import read_stamp, read_table

DEFAULT_FIGURES = Path("figures")
HEAD = ("claim", "published", "", "here", "", "")


def execute(claims: Path = Path("results/claims.parquet"), /) -> int:
    """Print a run's claims beside the published ones, and places that count verdicts otherwise; return 1 if any differ.

    Counts are compared for the default run's table: those of the README, docs/results, the tables, what the terminal
    prints, and the pages.

    Parameters
    ----------
    claims : path
        The run's table of all claims.
    """
    published_claims = published.read_claims()
    if published_claims is None:
        raise ProjectError(
            f"{published.FOLDER / published.CLAIMS}: no published results; write them with: make publish"
        )
    comparison = published.compare_claims(read_table(claims, declared=COLUMNS), published_claims)
    for outdated in outdated_claims(claims, read_stamp(claims)):
        print(f"outdated: {outdated}")
    cells = [
        [
            row["claim"],
            row["verdict_published"],
            compared_number(row, "_published"),
            row["verdict"],
            compared_number(row),
            row["outcome"],
        ]
        for row in comparison.fillna({"verdict": "", "verdict_published": ""}).to_dict("records")
    ]
    print(tabulate(cells, headers=HEAD, disable_numparse=True))
    counts = comparison["outcome"].value_counts()
    print(f"\n{len(comparison)} claims: " + ", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    differences = []
    if claims.parent == DEFAULT_RESULTS:
        differences = count_differences(claims.parent, DEFAULT_FIGURES)
    for difference in differences:
        print(f"counts differ: {difference}")
    return int(bool(differences) or comparison["outcome"].isin(["with another verdict", "missing"]).any())
