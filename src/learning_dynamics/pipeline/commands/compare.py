"""Compare a person's own run with the published results, claim by claim."""

from pathlib import Path

from tabulate import tabulate

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.verdicts import (
    DEFAULT_FIGURES,
    DEFAULT_RESULTS,
    is_default,
    outdated_claims,
)
from learning_dynamics.pipeline.report.counts import count_differences
from learning_dynamics.pipeline.report.markdown import compared_number
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.tables import read_stamp, read_table

HEAD = ("claim", "published", "", "here", "", "")  # each verdict is followed by its number; the outcome is last


def execute(claims: Path = DEFAULT_RESULTS / "claims.parquet", /) -> int:
    """Print a run's claims beside the published ones; return 1 if one has another verdict, or is missing.

    Of the default run's table, also compare how many claims of each verdict the README, docs/results, ``verdicts.txt``
    and the pages show; print where these differ, and return 1 then as well.

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
        # a claim that one side lacks has no verdict there
        for row in comparison.fillna({"verdict": "", "verdict_published": ""}).to_dict("records")
    ]
    print(tabulate(cells, headers=HEAD, disable_numparse=True))
    counts = comparison["outcome"].value_counts()
    print(f"\n{len(comparison)} claims: " + ", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    differences = []
    if is_default(claims):
        differences = count_differences(claims.parent, DEFAULT_FIGURES)
    for difference in differences:
        print(f"counts differ: {difference}")
    return int(bool(differences) or comparison["outcome"].isin([published.OTHER_VERDICT, published.MISSING]).any())
