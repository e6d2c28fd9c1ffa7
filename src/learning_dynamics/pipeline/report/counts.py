"""How many claims of each verdict every place counts that shows verdicts, and in which places the counts differ.

Counts are those of the papers' own claims, by paper; `ALL` is the key of their sum.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from learning_dynamics.judging import VERDICTS
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.tables import read_table

ALL = "all papers"
Counts = Mapping[str, Counter[str]]


def count_differences(results: Path, figures: Path, root: Path = published.ROOT) -> list[str]:
    """Return where counts differ, a line for each place: among published pages, in a run, and between the two.

    Parameters
    ----------
    results, figures : path
        Folders of the run; without ``claims.parquet`` in the first there is no run to compare.
    root : path
        Folder of the project's ``README.md`` and ``docs/results``.
    """
    in_documents, in_run = published_counts(root), run_counts(results, figures)
    lines = [*differences(in_documents), *differences(in_run)]
    if in_documents and in_run:
        document, table = next(iter(in_documents)), next(iter(in_run))
        # a run may be of some papers
        both = [paper for paper in in_run[table] if paper in in_documents[document] and paper != ALL]
        lines += differences(
            {document: _of_papers(in_documents[document], both), table: _of_papers(in_run[table], both)}
        )
    return lines


def published_counts(root: Path = published.ROOT) -> dict[str, Counts]:
    """Return what each document counts, by its path in the project; first the table that others are made from."""
    folder = root / "docs/results"
    table = published.read_claims(folder)
    if table is None:
        return {}
    counts = {"docs/results/claims.csv": counts_of_table(table)}
    papers = list(table["paper"].unique())
    counts["docs/results/README.md"] = counts_of_results_page(_read(folder / "README.md"))
    counts["docs/results/<paper>.md"] = {paper: counts_of_paper_page(_read(folder / f"{paper}.md")) for paper in papers}
    readme = counts_of_readme(_read(root / "README.md"))
    return counts | ({"README.md": readme} if readme else {})


def run_counts(results: Path, figures: Path) -> dict[str, Counts]:
    """Return what each output of a run counts, by its path; first the table that the others are made from."""
    path, printed = results / "claims.parquet", results / "verdicts.txt"
    if not path.is_file():
        return {}
    table = read_table(path, declared=COLUMNS)
    counts: dict[str, Counts] = {str(path): counts_of_table(table)}
    if printed.is_file():
        counts[str(printed)] = {ALL: counts_of_terminal(_read(printed))}
    if (figures / "index.html").is_file():
        counts[str(figures / "index.html")] = {ALL: counts_of_page(_read(figures / "index.html"))}
    pages = {paper: figures / f"{paper}.html" for paper in table["paper"].unique()}
    if all(page.is_file() for page in pages.values()):
        counts[f"{figures}/<paper>.html"] = {paper: counts_of_page(_read(page)) for paper, page in pages.items()}
    return counts


def differences(places: Mapping[str, Counts]) -> list[str]:
    """Return a line for each place whose counts differ from those of the first."""
    if not places:
        return []
    first, *others = places
    lines = []
    for place in others:
        counts, expected = places[place], places[first]
        keys = [*counts]
        if set(counts) != {ALL}:  # it names papers, and should name every one
            keys += [paper for paper in expected if paper not in counts and paper != ALL]
        wrong = []
        for key in keys:
            here, there = counts.get(key, Counter()), expected.get(key, Counter())
            wrong += [
                f"{key}: {here[verdict]} {verdict}, {there[verdict]} in {first}"
                for verdict in VERDICTS
                if here[verdict] != there[verdict]
            ]
        if wrong:
            lines.append(f"{place}: {'; '.join(wrong)}")
    return lines


def counts_of_table(table: pd.DataFrame) -> Counts:
    """Return the counts of a table of claims, whose observations of our own are in no count."""
    own = table[table["origin"] != "ours"]
    by_paper = {paper: Counter(own["verdict"][own["paper"] == paper]) for paper in table["paper"].unique()}
    return by_paper | {ALL: Counter(own["verdict"])}


def counts_of_results_page(text: str) -> Counts:
    """Return the counts of ``docs/results/README.md``: of its first sentence, and of each paper."""
    counts = {ALL: _parse_counts(_first_match(r"tested \d+ claims? of \d+ papers?: ([^.]*)", text))}
    tallies = re.findall(r"^(.*)\. \[All figures and claims\]\((\w+)\.md\)", text, re.MULTILINE)
    return counts | {paper: _parse_counts(tally) for tally, paper in tallies}


def counts_of_paper_page(text: str) -> Counter[str]:
    """Return the counts of ``docs/results/<paper>.md``."""
    return _parse_counts(_first_match(r"^(.*)\. \[All papers\]", text))


def counts_of_readme(text: str) -> Counts:
    """Return the counts of the table in the project's README; none where there is no such table."""
    head = _cells(_first_match(r"^(\| paper \|.*)$", text))[2:]  # behind the title and the name
    counts: dict[str, Counter[str]] = {}
    for row, paper in re.findall(r"^(\| \[.*\]\(docs/results/(\w+)\.md\) \|.*)$", text, re.MULTILINE):
        # a title may contain a bar; counts are the last cells
        numbers = _cells(row)[-len(head) :]
        counts[paper] = Counter({verdict: int(number or 0) for verdict, number in zip(head, numbers, strict=True)})
    return counts


def counts_of_terminal(text: str) -> Counter[str]:
    """Return the counts that `verdicts.describe` prints below its tables."""
    return _parse_counts(_first_match(r"^\d+ claims: ([^;\n]*)", text))


def counts_of_page(html: str) -> Counter[str]:
    """Return the counts of the first bar of verdicts on a page."""
    return _parse_counts(re.sub("<[^>]*>", " ", _first_match(r'(?s)<div class="tally">(.*?)</p>', html)))


def _of_papers(counts: Counts, papers: Sequence[str]) -> Counts:
    return {paper: counts[paper] for paper in papers}


def _first_match(pattern: str, text: str) -> str:
    """Return what the group of a pattern matches first; "" if nothing does."""
    match = re.search(pattern, text, re.MULTILINE)
    return match[1] if match else ""


def _parse_counts(text: str) -> Counter[str]:
    """Return the counts in a list such as ``21 reproduced, 9 corrected``."""
    pairs = re.findall(rf"(\d+) ({'|'.join(VERDICTS)})\b", text)
    return Counter({verdict: int(count) for count, verdict in pairs})


def _cells(row: str) -> list[str]:
    """Return the cells of a row of a table in Markdown."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
