"""The results that come with the project, ``docs/results``: read, held against the configuration and against a run."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.store.provenance import digest
from learning_dynamics.pipeline.store.records import is_expected
from learning_dynamics.pipeline.study.config import ROOT
from learning_dynamics.pipeline.study.project import Project

FOLDER = ROOT / "docs/results"
SCALES = ROOT / "docs/scales"  # of other scales, a folder each
CLAIMS = "claims.csv"
VERSIONS = "versions.json"
DIGITS = 6  # of numbers: more would change with every rounding
TEXT_COLUMNS = ("statement", "scope", "correction", "quantity", "interval", "criterion", "left_out", "reason")
COLUMNS = (
    *("paper", "claim", "reference", "origin", "statement", "scope", "correction", "quantity", "predicted", "measured"),
    *("lower", "upper", "interval", "criterion", "margin", "draws", "draws_for", "draws_against", "draws_undecided"),
    *("left_out", "rivals", "refuses", "agreement", "verdict", "figure", "reason"),
)
RELATIVE_TOLERANCE = 1e-3  # relative difference above which a number counts as another


def to_csv(claims: pd.DataFrame) -> str:
    """Return a table of claims as CSV: formulas in Unicode, numbers in a few digits."""
    table = claims[list(COLUMNS)].copy()
    for column in (*TEXT_COLUMNS, "reference"):
        table[column] = table[column].map(maths.plain)
    table["rivals"] = [
        "; ".join(f"{maths.plain(rival)} ({verdict})" for rival, verdict in json.loads(rivals).items())
        for rivals in table["rivals"]
    ]
    return table.to_csv(index=False, float_format=f"%.{DIGITS}g", lineterminator="\n")


def published_folders() -> list[Path]:
    """Return where published results lie: the default run's, and those of other scales."""
    return [FOLDER, *sorted(path.parent for path in SCALES.glob(f"*/{VERSIONS}"))]


def file_digests(folder: Path) -> dict[str, str]:
    """Return the digest of every published file but the one that holds them, by its path below the folder."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / VERSIONS)
    return {path.relative_to(folder).as_posix(): _file_digest(path) for path in files}


def find_damaged(folder: Path = FOLDER) -> list[str]:
    """Return what is wrong with the published files: changed since they were written, missing, or foreign."""
    if not folder.is_dir():
        return []
    try:
        recorded, present = _load_versions(folder)["files"], file_digests(folder)
    except ProjectError as error:
        return [str(error)]
    return [
        f"{folder / name}: is not what was published; git checkout {folder / name}"
        for name in sorted(present.keys() | recorded.keys())
        if present.get(name) != recorded.get(name)
    ]


def published_files(folder: Path) -> list[str]:
    """Return the files that were published into a folder, by their paths below it; none if that is not known."""
    return list(read_versions(folder).get("files", ()))


def read_versions(folder: Path = FOLDER) -> dict[str, Any]:
    """Return what was published with: seed, commit, versions, the digest of each file; nothing if that is not known."""
    try:
        return _load_versions(folder)
    except ProjectError:
        return {}


def _file_digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=32).hexdigest()


def _load_versions(folder: Path) -> dict[str, Any]:
    path = folder / VERSIONS
    try:
        block = json.loads(path.read_text(encoding="utf-8"))
        expected = block.pop("digest")
        if digest(block) == expected and block["files"] is not None:
            return block
    except FileNotFoundError:
        raise ProjectError(f"{path}: is not there; write it anew with: make publish") from None
    except OSError as error:
        raise ProjectError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        pass
    raise ProjectError(f"{path}: is not what was published; git checkout {path}, or write it anew with: make publish")


def read_claims(folder: Path = FOLDER) -> pd.DataFrame | None:
    """Return the published claims, or None if there are none.

    Raises
    ------
    ProjectError
        If the file is not the one that was written.
    """
    path = folder / CLAIMS
    if not path.is_file():
        return None
    if _load_versions(folder)["files"].get(CLAIMS) != _file_digest(path):
        raise ProjectError(
            f"{path}: is not what was published; git checkout {path}, or write it anew with: make publish"
        )
    try:
        table = pd.read_csv(path, keep_default_na=False, na_values=[""], encoding="utf-8")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ProjectError(f"{path}: is no table of claims ({error}); git checkout {path}") from None
    missing = set(COLUMNS) - set(table.columns)
    if missing:
        raise ProjectError(f"{path}: lacks the columns {', '.join(sorted(missing))}; write it anew with: make publish")
    return table


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
        Columns: claim, verdict_published, verdict, measured_published, measured, and ``comes`` in words: as published,
        with another number, with another verdict, new, missing.
    """
    published = published[published["paper"].isin(claims["paper"])]
    columns = ["claim", "verdict", "measured", "lower", "upper"]
    merged = published[columns].merge(claims[columns], on="claim", how="outer", suffixes=("_published", ""), sort=False)
    order = {claim: position for position, claim in enumerate([*claims["claim"], *published["claim"]][::-1])}
    merged = merged.sort_values("claim", key=lambda column: -column.map(order), kind="stable").reset_index(drop=True)
    merged["comes"] = [_comparison_word(row) for row in merged.to_dict("records")]
    return merged.drop(columns=["lower", "upper", "lower_published", "upper_published"])


def compare_with_default(claims: pd.DataFrame) -> pd.DataFrame:
    """Return another scale's claims beside those of the default run as published; see `compare_claims`.

    Raises
    ------
    ProjectError
        If nothing is published of the default run.
    """
    default = read_claims()
    if default is None:
        raise ProjectError(f"{FOLDER / CLAIMS}: is not there; write it first with: make publish")
    return compare_claims(claims, default)


def _comparison_word(row: dict[str, Any]) -> str:
    if pd.isna(row["verdict_published"]):
        return "new"
    if pd.isna(row["verdict"]):
        return "missing"
    if row["verdict"] != row["verdict_published"]:
        return "with another verdict"
    measured, published = row["measured"], row["measured_published"]
    if pd.isna(measured) or pd.isna(published):
        return "as published"
    inside = row["lower_published"] <= measured <= row["upper_published"]  # False where there is no interval
    return (
        "as published"
        if inside or abs(measured - published) <= RELATIVE_TOLERANCE * max(abs(measured), abs(published))
        else "with another number"
    )


def find_outdated_papers(project: Project, papers: Sequence[str], folder: Path = FOLDER) -> list[str]:
    """Return of which papers other settings or other code than those that stand here made the published verdicts."""
    path = folder / VERSIONS
    fingerprints = json.loads(path.read_text(encoding="utf-8")).get("verdicts", {})
    return [
        f"{paper}: published verdicts of other settings or other code; run: snakemake {paper}"
        for paper in papers
        if paper in fingerprints and fingerprints[paper] != project.fingerprint("claims", paper, "claims")
    ]


def write_versions(folder: Path, versions: Mapping[str, Any]) -> None:
    """Write what published files were made with, and the digest of each; to be called last."""
    block = {**versions, "files": file_digests(folder)}
    text = json.dumps({**block, "digest": digest(block)}, indent=1) + "\n"
    (folder / VERSIONS).write_text(text, encoding="utf-8")


def find_differences(project: Project, folder: Path = FOLDER) -> list[str]:
    """Return in what the published results are not those of the configuration, without running anything."""
    published = read_claims(folder)
    if published is None:
        return [f"{folder / CLAIMS}: is not there"]
    differences = find_damaged(folder)
    verdicts = dict(zip(published["claim"], published["verdict"], strict=True))
    # a paper that is begun here is published with the next publication
    papers = [paper for paper in project.study.papers if paper in set(published["paper"])]
    configured = {f"{paper}.{name}": block for paper in papers for name, block in _claims(project, paper)}
    differences += [f"{claim}: is configured, not published" for claim in configured if claim not in verdicts]
    differences += [f"{claim}: is published, not configured" for claim in verdicts if claim not in configured]
    for claim, block in configured.items():
        expected = block["expected"]
        if claim in verdicts and not is_expected(verdicts[claim], expected):
            differences.append(f"{claim}: is published as {verdicts[claim]}, expected {expected}")
    present = {path.relative_to(folder).as_posix() for kind in ("png", "webp") for path in folder.glob(f"*/*.{kind}")}
    figures = {f"{paper}/{name}.png" for paper in papers for name in project.study.figures(paper)}
    figures |= {f"{paper}/{name}.webp" for paper in papers for name in project.study.motions(paper)}
    differences += [f"{figure}: is configured, not published" for figure in sorted(figures - present)]
    differences += [f"{figure}: is published, not configured" for figure in sorted(present - figures)]
    return differences


def _claims(project: Project, paper: str) -> list[tuple[str, dict[str, Any]]]:
    return [(name, project.claim(paper, name)) for name in project.claims(paper)["claims"]]
