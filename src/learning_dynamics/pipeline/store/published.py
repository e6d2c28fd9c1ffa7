"""The results that come with the project, ``docs/results``: read, and compared with a run. Git guards the files."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.store import records

ROOT = Path(__file__).resolve().parents[4]
FOLDER = ROOT / "docs/results"
SCALES = ROOT / "docs/scales"  # of other scales, a folder each
CLAIMS = "claims.csv"
ROBUSTNESS = "robustness.csv"
VERSIONS = "versions.json"
# columns of a table of claims that the published one leaves out
UNPUBLISHED = ("quantifier", "uncertainty", "expected", "evidence", "facts")
COLUMNS = tuple(column.name for column in records.COLUMNS if column.name not in UNPUBLISHED)
COMPARED = ("paper", "claim", "verdict", "measured", "lower", "upper")
RELATIVE_TOLERANCE = 1e-3  # relative difference above which a number counts as another; chosen
# outcomes of `compare_claims`
AS_PUBLISHED, OTHER_NUMBER, OTHER_VERDICT = "as published", "with another number", "with another verdict"
NEW, MISSING = "new", "missing"


def folder_of(scale: str | None) -> Path:
    """Return where the results of a scale are published; None is the default's."""
    return SCALES / scale if scale else FOLDER


def read_versions(folder: Path = FOLDER) -> dict[str, Any]:
    """Return what was published with (seed, commit, versions, fingerprints); nothing if that is not known."""
    with suppress(OSError, ValueError):
        return dict(json.loads((folder / VERSIONS).read_text(encoding="utf-8")))
    return {}


def describe_outdated_papers(fingerprints: Mapping[str, str], folder: Path = FOLDER) -> list[str]:
    """Return a message for each paper whose published verdicts were made by other settings or other code.

    A paper of which no fingerprint is published gets none.

    Parameters
    ----------
    fingerprints : mapping of str to str
        By paper, the fingerprint that its claims have in the plan.
    """
    as_published = read_versions(folder).get("verdicts", {})  # the fingerprint of each paper's claims
    return [
        f"{paper}: published verdicts of other settings or other code; run: snakemake {paper}"
        for paper, fingerprint in fingerprints.items()
        if as_published.get(paper, fingerprint) != fingerprint
    ]


def read_claims(folder: Path = FOLDER) -> pd.DataFrame | None:
    """Return the published claims, or None if there are none.

    Raises
    ------
    ProjectError
        If the file is no table of claims, as where a merge left its marks in it.
    """
    path = folder / CLAIMS
    if not path.is_file():
        return None
    try:
        # an empty cell alone is a missing value: a text such as "None" stays a text
        table = pd.read_csv(path, keep_default_na=False, na_values=[""], encoding="utf-8")
        table[list(COMPARED)]  # other columns may be of another version
    except (ValueError, KeyError) as error:
        raise ProjectError(f"{path}: is no table of claims ({error}); git checkout {path}") from None
    return table.reindex(columns=COLUMNS)


def read_variations(folder: Path = FOLDER) -> pd.DataFrame:
    """Return what was published of claims judged again, with the paper before the columns of the file."""
    path = folder / ROBUSTNESS
    if not path.is_file():
        return pd.DataFrame(columns=[column.name for column in records.VARIATION_COLUMNS])
    text = {"value": str, "what": str, "reason": str}
    rows = pd.read_csv(path, dtype=text, keep_default_na=False, na_values={"measured": [""]}, encoding="utf-8")
    rows.insert(0, "paper", rows["claim"].str.partition(".")[0])
    return rows


def complete_variations(variations: pd.DataFrame, claims: pd.DataFrame, folder: Path = FOLDER) -> pd.DataFrame:
    """Return the variations that were judged here, and after them published ones of papers that were not varied here.

    Published seeds are kept of papers of which no seed was judged here, published draws and settings of papers of which
    no draw was judged here. Nothing published is kept of claims that have another verdict now, and of thresholds, which
    every run tries.
    """
    published_claims, earlier = read_claims(folder), read_variations(folder)
    if published_claims is None or earlier.empty:
        return variations
    compared = compare_claims(claims, published_claims)
    same = compared.loc[compared["outcome"].isin([AS_PUBLISHED, OTHER_NUMBER]), "claim"]
    with_seeds = set(variations.loc[variations["change"] == "seed", "paper"])
    with_draws = set(variations.loc[variations["change"] == "draw", "paper"])
    is_seed = earlier["change"] == "seed"
    seeds_judged_here = is_seed & earlier["paper"].isin(with_seeds)
    others_judged_here = ~is_seed & earlier["paper"].isin(with_draws)
    judged_here = seeds_judged_here | others_judged_here
    kept = earlier[earlier["claim"].isin(same) & ~judged_here & (earlier["change"] != "threshold")]
    if kept.empty:
        return variations
    if variations.empty:  # pandas warns where an empty table is joined
        return kept.reset_index(drop=True)
    rows = pd.concat([variations, kept], ignore_index=True)
    return rows.drop_duplicates(["claim", "change", "what", "value"], ignore_index=True)


def read_scales(scales: Mapping[str, str], folder: Path = SCALES) -> pd.DataFrame:
    """Return what is published of other scales; what is not published has no rows.

    Parameters
    ----------
    scales : mapping of str to str
        What each of them trains on, by name.

    Returns
    -------
    DataFrame
        Columns: scale, trained_on, claim, verdict, quantity, measured, criterion, draws, quantity_as_printed.
    """
    of_claims = ["claim", "verdict", "quantity", "measured", "criterion", "draws", "quantity_as_printed"]
    columns = ["scale", "trained_on", *of_claims]
    tables = []
    for scale, trained_on in scales.items():
        claims = read_claims(folder / scale)
        if claims is not None:
            tables.append(claims.assign(scale=scale, trained_on=trained_on)[columns])
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def is_same_number(one: float, other: float) -> bool:
    """Return whether two measurements agree to `RELATIVE_TOLERANCE`; two that are missing do."""
    if pd.isna(one) or pd.isna(other):
        return bool(pd.isna(one) and pd.isna(other))
    return bool(abs(one - other) <= RELATIVE_TOLERANCE * max(abs(one), abs(other)))


def compare_claims(claims: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Return published and own verdicts and numbers side by side, claim by claim.

    Parameters
    ----------
    claims : DataFrame
        A run's claims; papers that it does not have are left out.
    published : DataFrame

    Returns
    -------
    DataFrame
        Columns: claim, verdict_published, verdict, measured_published, measured, the like for ``measured_as_printed``,
        and ``outcome``: as published, with another number, with another verdict, new, missing.
    """
    published = published[published["paper"].isin(claims["paper"])]
    columns = [*COMPARED[1:], "measured_as_printed"]  # an interval's ends, lower and upper, are for `_outcome` alone
    merged = published[columns].merge(claims[columns], on="claim", how="outer", suffixes=("_published", ""))
    order = dict.fromkeys([*claims["claim"], *published["claim"]])
    merged = merged.set_index("claim").loc[list(order)].reset_index()
    merged["outcome"] = [_outcome(row) for row in merged.to_dict("records")]
    return merged.drop(columns=["lower", "upper", "lower_published", "upper_published"])


def read_default_claims() -> pd.DataFrame:
    """Return what is published of the default run, as `read_claims` does.

    Raises
    ------
    ProjectError
        If nothing is published of the default run.
    """
    default = read_claims()
    if default is None:
        raise ProjectError(f"{FOLDER / CLAIMS}: is not there; write it first with: make publish")
    return default


def _outcome(row: dict[str, Any]) -> str:
    """Return how a claim's verdict and number compare with the published ones."""
    if pd.isna(row["verdict_published"]):
        return NEW
    if pd.isna(row["verdict"]):
        return MISSING
    if row["verdict"] != row["verdict_published"]:
        return OTHER_VERDICT
    measured, published = row["measured"], row["measured_published"]
    inside = (
        row["lower_published"] <= measured <= row["upper_published"]
    )  # False where a number or the interval is missing
    return AS_PUBLISHED if inside or is_same_number(measured, published) else OTHER_NUMBER
