"""Write ``docs/results``: what the default run gave, to be read without running anything."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.check import find_stale
from learning_dynamics.pipeline.commands.report import read_claim_tables
from learning_dynamics.pipeline.commands.robustness import read_variations
from learning_dynamics.pipeline.commands.robustness import to_csv as variations_to_csv
from learning_dynamics.pipeline.plan.config_files import ROOT, load, output_folders
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import expected_outputs
from learning_dynamics.pipeline.report import markdown, maths, robustness, tables
from learning_dynamics.pipeline.report.contents import Paper, claims_of_another_criterion, gather
from learning_dynamics.pipeline.report.pictures import compress_to_fit
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.stamps import read_bytes, stamp

MAX_BYTES = 4_700_000  # bytes of all figures together; chosen: docs/results stays below six megabytes
TEXT_COLUMNS = (
    *("reference", "statement", "scope", "correction"),
    *("quantity", "interval", "criterion", "excluded", "reason"),
    *("quantity_as_printed", "criterion_as_printed"),
)
DIGITS = 6  # of numbers: more would change with every rounding
MARKS = ("<!-- findings -->", "<!-- end of findings -->")  # of the README


def execute(files: Sequence[Path] = (), papers: Sequence[str] = ()) -> None:
    """Write README, a page of Markdown for each paper, claims as CSV, versions, and the figures.

    What was published of claims judged again stays where this configuration has not judged them by draws, seeds or
    ranges. With the default run, the first pages of other scales are written again, since they show its verdicts.

    With `files` another scale is published, of some `papers`: each verdict beside that of the default run.

    Parameters
    ----------
    files : sequence of path
        Overlays of another scale, as for Snakemake.
    papers : sequence of str
        Its papers; without it all.

    Raises
    ------
    ProjectError
        If results or figures were made by other settings or other code.
    """
    configuration = load(files, {"papers": list(papers)} if papers else {})
    plan, scale = Plan(configuration), configuration.scale
    if (files or papers) and not scale:
        raise ProjectError("docs/results are of the default run and all papers; name another scale with --configfile")
    out = published.folder_of(scale)
    results, figures = output_folders(configuration)
    refuse_stale(plan, results, figures)

    tables_of_papers = read_claim_tables(plan, results)
    variations = pd.concat([tables["variations"] for tables in tables_of_papers.values()], ignore_index=True)
    judged_again = find_judged_again(plan, results, variations, out)
    papers_shown = gather(plan.config, tables_of_papers, figures, {})
    record = stamp("publish", "all", "results", {"papers": plan.config.papers})
    claims = pd.concat([tables["claims"] for tables in tables_of_papers.values()], ignore_index=True)

    titles = {paper.name: paper.title for paper in papers_shown}
    texts: dict[str, str] = {}  # by file
    if judged_again is not None:
        phrases = {paper: plan.config.phrases(paper) for paper in plan.config.papers}
        texts["robustness.md"] = robustness.page(claims, variations, phrases)
        texts[published.ROBUSTNESS] = variations_to_csv(variations)
    if scale:
        default = published.read_default_claims()
        of_another_criterion = claims_of_another_criterion(papers_shown, default)
        comparison = published.compare_claims(claims, default)
        texts["README.md"] = markdown.scale_page(scale, titles, claims, comparison, of_another_criterion)
    else:
        texts["README.md"] = markdown.results_page(papers_shown, out, judged_again)
    texts |= {f"{paper.name}.md": markdown.paper_page(paper, out) for paper in papers_shown}
    texts[published.CLAIMS] = to_csv(claims)
    versions = {
        "seed": plan.config.seed,
        **{key: record[key] for key in ("commit", "dirty", "python", "versions")},
        "verdicts": {paper: plan.fingerprint("claims", paper, "claims") for paper in plan.config.papers},
        "judged_again": judged_again,
    }
    texts[published.VERSIONS] = json.dumps(versions, indent=1) + "\n"

    shutil.rmtree(out, ignore_errors=True)  # git has it
    for name, text in texts.items():
        _write(out / name, text)
    write_figures(papers_shown, out)
    if not scale:
        update_readme(ROOT / "README.md", markdown.readme_table(papers_shown, out.relative_to(ROOT).as_posix()))
        update_scale_pages(papers_shown)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"wrote {out}: {len(papers_shown)} papers, {len(claims)} claims, {size / 1e6:.1f} MB")
    if record["dirty"]:
        print("the checkout has local changes: commit first and publish again, so that versions.json names a commit")


def refuse_stale(plan: Plan, results: Path, figures: Path) -> None:
    """Raise `ProjectError` if a result or figure was not made by the present configuration and sources."""
    pngs = {
        str(figures / paper / f"{name}.png"): plan.fingerprint("figure", paper, name)
        for paper in plan.config.papers
        for name in plan.config.figures(paper)
    }
    _, problems = find_stale(expected_outputs(plan, str(results)) | pngs)
    if problems:
        and_more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise ProjectError(f"{problems[0]}{and_more}; what is published is a run of this commit: make figures")


def write_figures(papers: list[Paper], folder: Path) -> None:
    """Write every figure into ``<paper>/<figure>.webp``, as fine as fits into `MAX_BYTES`, films beside them.

    Of a table there is a CSV and a LaTeX file instead.
    """
    exhibits = [figure for paper in papers for topic in paper.topics for figure in topic.exhibits]
    pictures = compress_to_fit([figure.png for figure in exhibits if figure.table is None], MAX_BYTES)
    for figure in exhibits:
        path = folder / figure.paper / f"{figure.name}.webp"
        path.parent.mkdir(parents=True, exist_ok=True)
        if figure.table is not None:
            _write(path.with_suffix(".csv"), tables.to_csv(figure.table))
            _write(path.with_suffix(".tex"), tables.to_latex(figure.table))
            continue
        path.write_bytes(pictures[figure.png].data)
        if figure.film:
            path.with_suffix(markdown.FILM).write_bytes(read_bytes(figure.film.webp))


def update_readme(readme: Path, findings: str) -> None:
    """Put the findings between their marks in the README; a README without marks is left alone."""
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    before, begin, rest = text.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if begin and end:
        _write(readme, f"{before}{begin}\n{findings}\n{end}{after}")


def update_scale_pages(papers: Sequence[Paper]) -> None:
    """Write the first page of every other published scale again: it shows the default run's verdicts beside its own.

    Parameters
    ----------
    papers : sequence of Paper
        As the default run, which has just been published, gave them.
    """
    default = published.read_default_claims()
    for path in sorted(published.SCALES.glob(f"*/{published.CLAIMS}")):
        folder = path.parent
        claims = published.read_claims(folder)
        if claims is None:
            continue
        titles = {paper.name: paper.title for paper in papers if paper.name in set(claims["paper"])}
        comparison = published.compare_claims(claims, default)
        of_another_criterion = claims_of_another_criterion(papers, claims)
        _write(folder / "README.md", markdown.scale_page(folder.name, titles, claims, comparison, of_another_criterion))


def find_judged_again(plan: Plan, results: Path, variations: pd.DataFrame, out: Path) -> str | None:
    """Return the earlier commit from which some of the variations are.

    It is "" if all were judged here, and None if no seed and no draw was ever judged.
    """
    here, outdated = read_variations(plan, results)
    if outdated:
        print(f"left out: {len(outdated)} files of other settings or code, as {outdated[0]}; run: make robustness")
    if len(variations) > len(here):
        published_with = published.read_versions(out)
        return str(published_with.get("judged_again") or published_with.get("commit", ""))
    was_judged = here["change"].isin(["seed", "draw"]).any() or (out / published.ROBUSTNESS).is_file()
    return "" if was_judged else None


def to_csv(claims: pd.DataFrame) -> str:
    """Return a table of claims as CSV: formulas in Unicode, numbers in a few digits."""
    table = claims[list(published.COLUMNS)].copy()
    for column in TEXT_COLUMNS:
        table[column] = table[column].map(maths.plain)
    table["rivals"] = [
        "; ".join(f"{maths.plain(rival)} ({verdict})" for rival, verdict in json.loads(rivals).items())
        for rivals in table["rivals"]
    ]
    return table.to_csv(index=False, float_format=f"%.{DIGITS}g", lineterminator="\n")


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as partial:
        partial.write_text(text, encoding="utf-8")
