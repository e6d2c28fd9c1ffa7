"""The results that come with the project, ``docs/results``: read, held against the configuration and against a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline import maths
from learning_dynamics.pipeline.config import ROOT
from learning_dynamics.pipeline.project import Project

FOLDER = ROOT / "docs/results"
CLAIMS = "claims.csv"
VERSIONS = "versions.json"
DIGITS = 6  # of numbers: more would change with every rounding
WORDS = ("statement", "scope", "correction", "quantity", "interval", "criterion", "left_out", "reason")
COLUMNS = (
    *("paper", "claim", "reference", "origin", "statement", "scope", "correction", "quantity", "predicted", "measured"),
    *("lower", "upper", "interval", "criterion", "margin", "draws", "draws_for", "draws_against", "draws_undecided"),
    *("left_out", "rivals", "refuses", "agreement", "verdict", "figure", "reason"),
)
CLOSE = 1e-3  # relative difference above which a number counts as another


def as_csv(claims: pd.DataFrame) -> str:
    """Return a table of claims as CSV: formulas in Unicode, numbers in a few digits."""
    shown = claims[list(COLUMNS)].copy()
    for column in (*WORDS, "reference"):
        shown[column] = shown[column].map(maths.plain)
    shown["rivals"] = [
        "; ".join(f"{maths.plain(rival)} ({got})" for rival, got in json.loads(rivals).items())
        for rivals in shown["rivals"]
    ]
    return shown.to_csv(index=False, float_format=f"%.{DIGITS}g", lineterminator="\n")


def read(folder: Path = FOLDER) -> pd.DataFrame | None:
    """Return the published claims, or None if there are none.

    Raises
    ------
    ProjectError
        If the file is not one that `as_csv` wrote.
    """
    path = folder / CLAIMS
    if not path.is_file():
        return None
    try:
        table = pd.read_csv(path, keep_default_na=False, na_values=[""], encoding="utf-8")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ProjectError(f"{path}: is no table of claims ({error}); git checkout {path}") from None
    missing = set(COLUMNS) - set(table.columns)
    if missing:
        raise ProjectError(f"{path}: lacks the columns {', '.join(sorted(missing))}; write it anew with: make publish")
    return table


def compared(claims: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return published and own verdicts and numbers side by side, claim by claim.

    Parameters
    ----------
    claims : DataFrame
        A run's claims; papers that it does not have are left out.
    published : DataFrame

    Returns
    -------
    DataFrame
        Columns: claim, verdict_published, verdict, measured_published, measured, and ``comes`` in words: as published,
        with another number, with another verdict, new, missing.
    """
    published = published[published["paper"].isin(claims["paper"])]
    kept = ["claim", "verdict", "measured", "lower", "upper"]
    both = published[kept].merge(claims[kept], on="claim", how="outer", suffixes=("_published", ""), sort=False)
    order = {claim: place for place, claim in enumerate([*claims["claim"], *published["claim"]][::-1])}
    both = both.sort_values("claim", key=lambda column: -column.map(order), kind="stable").reset_index(drop=True)
    both["comes"] = [_comes(row) for row in both.to_dict("records")]
    return both.drop(columns=["lower", "upper", "lower_published", "upper_published"])


def _comes(row: dict[str, Any]) -> str:
    if pd.isna(row["verdict_published"]):
        return "new"
    if pd.isna(row["verdict"]):
        return "missing"
    if row["verdict"] != row["verdict_published"]:
        return "with another verdict"
    ours, theirs = row["measured"], row["measured_published"]
    if pd.isna(ours) or pd.isna(theirs):
        return "as published"
    inside = row["lower_published"] <= ours <= row["upper_published"]  # False where there is no interval
    return (
        "as published" if inside or abs(ours - theirs) <= CLOSE * max(abs(ours), abs(theirs)) else "with another number"
    )


def stale(project: Project, folder: Path = FOLDER) -> list[str]:
    """Return in what the published results are not those of the configuration, without running anything."""
    published = read(folder)
    if published is None:
        return [f"{folder / CLAIMS}: is not there"]
    wrong = []
    verdicts = dict(zip(published["claim"], published["verdict"], strict=True))
    configured = {f"{paper}.{name}": block for paper in project.papers for name, block in _claims(project, paper)}
    wrong += [f"{claim}: is configured, not published" for claim in configured if claim not in verdicts]
    wrong += [f"{claim}: is published, not configured" for claim in verdicts if claim not in configured]
    for claim, block in configured.items():
        expected = block["expected"]
        if expected and claim in verdicts and verdicts[claim] != expected:
            wrong.append(f"{claim}: is published as {verdicts[claim]}, expected {expected}")
    drawn = {path.relative_to(folder).as_posix() for kind in ("png", "webp") for path in folder.glob(f"*/*.{kind}")}
    figures = {f"{paper}/{name}.png" for paper in project.papers for name in project.figures(paper)}
    figures |= {f"{paper}/{name}.webp" for paper in project.papers for name in project.motions(paper)}
    wrong += [f"{figure}: is configured, not published" for figure in sorted(figures - drawn)]
    wrong += [f"{figure}: is published, not configured" for figure in sorted(drawn - figures)]
    return wrong


def _claims(project: Project, paper: str) -> list[tuple[str, dict[str, Any]]]:
    return [(name, project.claim(paper, name)) for name in project.claims(paper)["claims"]]
