"""Write ``docs/results``: what the default run gave, to be read without running anything."""

import json
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands import robustness as joined
from learning_dynamics.pipeline.commands.check import find_stale
from learning_dynamics.pipeline.commands.report import read_claim_tables
from learning_dynamics.pipeline.plan.config_files import ROOT, load
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import fault
from learning_dynamics.pipeline.report import markdown, maths, robustness
from learning_dynamics.pipeline.report.contents import Paper, gather
from learning_dynamics.pipeline.report.pictures import compress_to_fit
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.provenance import provenance, read_bytes
from learning_dynamics.pipeline.store.records import is_expected

MAX_BYTES = 5_000_000  # bytes of all figures together
JUDGED_AGAIN = ("robustness.md", "robustness.csv")  # made only when it is asked for
TEXT_COLUMNS = ("statement", "scope", "correction", "quantity", "interval", "criterion", "left_out", "reason")
DIGITS = 6  # of numbers: more would change with every rounding
MARKS = ("<!-- findings -->", "<!-- end of findings -->")  # of the README


def execute(
    results: Path = Path("results"),
    figures: Path = Path("figures"),
    out: Path | None = None,
    check: bool = False,
    files: Sequence[Path] = (),
    papers: Sequence[str] = (),
) -> int:
    """Write README, a page of Markdown for each paper, claims as CSV, versions, and the figures.

    What was judged again stays as it was published where no draw, seed or range is there of this configuration. With
    `check` nothing is written: the published results are compared with the configuration; the status is 1 if they are
    stale. With `files` it is another scale's, of some `papers`: verdict by verdict beside the default run's.

    Raises
    ------
    ProjectError
        If results or figures are not those of the configuration as it stands.
    """
    configuration = load(files, {"papers": list(papers)} if papers else {})
    plan, scale = Plan(configuration), configuration.scale or ""
    if files and not scale:
        raise ProjectError(f"{files[-1]}: names no scale; docs/results are those of the default run, of all papers")
    if papers and not scale:
        raise ProjectError("--papers: docs/results are those of all papers; name another scale with --configfile")
    results, figures = results / scale, figures / scale
    out = out or (published.SCALES / scale if scale else published.FOLDER)
    if check:
        problems = find_differences(plan, out)
        for text in problems:
            print(f"error: {text}; make publish", file=sys.stderr)
        return int(bool(problems))
    refuse_stale(plan, results, figures)
    tables_of_papers = read_claim_tables(plan, results)
    papers_shown = gather(plan.config, tables_of_papers, figures, {})
    record = provenance("publish", "all", "results", {"papers": plan.config.papers})
    claims = pd.concat([tables["claims"] for tables in tables_of_papers.values()], ignore_index=True)
    with tempfile.TemporaryDirectory() as folder:
        new_folder = Path(folder, "results")
        new_folder.mkdir()
        write_figures(papers_shown, new_folder)
        judged_again = write_judged_again(plan, results, new_folder, claims)
        if judged_again is None:
            judged_again = carry_over(out, new_folder)
        for paper in papers_shown:
            _write(new_folder / f"{paper.name}.md", markdown.paper_page(paper, out))
        first_page = markdown.scale_page(scale, papers_shown, published.compare_with_default(claims)) if scale else ""
        _write(new_folder / "README.md", first_page or markdown.results_page(papers_shown, out, judged_again))
        _write(new_folder / published.CLAIMS, to_csv(claims))
        versions_of_tools = {key: record[key] for key in ("commit", "dirty", "python", "versions")}
        versions = {paper: plan.fingerprint("claims", paper, "claims") for paper in plan.config.papers}
        block = {"seed": plan.config.seed, **versions_of_tools, "verdicts": versions, "judged_again": judged_again}
        _write(new_folder / published.VERSIONS, json.dumps(block, indent=1) + "\n")
        shutil.rmtree(out, ignore_errors=True)  # git has it
        shutil.copytree(new_folder, out)
    if out == published.FOLDER:
        update_readme(ROOT / "README.md", markdown.readme_table(papers_shown, out.relative_to(ROOT).as_posix()))
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    print(f"wrote {out}: {len(papers_shown)} papers, {len(claims)} claims, {size / 1e6:.1f} MB")
    if record["dirty"]:
        print("the checkout has local changes: commit first and publish again, so that versions.json names a commit")
    return 0


def refuse_stale(plan: Plan, results: Path, figures: Path) -> None:
    """Raise `ProjectError` if a result or figure was not made by the configuration and the source as they stand."""
    pngs = {
        str(figures / paper / f"{name}.png"): plan.fingerprint("figure", paper, name)
        for paper in plan.config.papers
        for name in plan.config.figures(paper)
    }
    problems = find_stale(plan, results)[1] + [text for png, made in pngs.items() if (text := fault(png, made))]
    if problems:
        and_more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise ProjectError(f"{problems[0]}{and_more}; what is published is a run of this commit: make figures")


def write_figures(papers: list[Paper], folder: Path) -> None:
    """Write every figure into ``<paper>/<figure>.png``, as fine as fits into `MAX_BYTES`, films beside them."""
    exhibits = [figure for paper in papers for topic in paper.topics for figure in topic.exhibits]
    pictures = compress_to_fit([figure.png for figure in exhibits], MAX_BYTES)
    for figure in exhibits:
        path = folder / figure.paper / f"{figure.name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pictures[figure.png].data)
        if figure.film:
            path.with_suffix(".webp").write_bytes(read_bytes(figure.film.webp))


def update_readme(readme: Path, findings: str) -> None:
    """Put the findings between their marks in the README; a README without marks is left alone."""
    text = readme.read_text(encoding="utf-8") if readme.is_file() else ""
    before, begin, rest = text.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if begin and end:
        _write(readme, f"{before}{begin}\n{findings}\n{end}{after}")


def write_judged_again(plan: Plan, results: Path, folder: Path, claims: pd.DataFrame) -> str | None:
    """Write all that was judged again, if a seed, draw or range is there of this configuration; return "", or None."""
    again, outdated = joined.read_again(plan, results)
    if outdated:
        print(f"left out: {len(outdated)} files of other settings or code, as {outdated[0]}; run: make robustness")
    if not again["change"].isin(["seed", "draw"]).any():
        return None
    _write(folder / "robustness.md", robustness.page(claims, again))
    _write(folder / "robustness.csv", joined.to_csv(again))
    return ""


def carry_over(out: Path, new_folder: Path) -> str | None:
    """Carry over what was judged again beside an earlier default run; return of which commit, None if nothing was."""
    files = [out / name for name in JUDGED_AGAIN]
    if not all(file.is_file() for file in files):
        return None
    for file in files:
        shutil.copyfile(file, new_folder / file.name)
    versions_before = published.read_versions(out)
    return str(versions_before.get("judged_again") or versions_before.get("commit", ""))


def to_csv(claims: pd.DataFrame) -> str:
    """Return a table of claims as CSV: formulas in Unicode, numbers in a few digits."""
    table = claims[list(published.COLUMNS)].copy()
    for column in (*TEXT_COLUMNS, "reference"):
        table[column] = table[column].map(maths.plain)
    table["rivals"] = [
        "; ".join(f"{maths.plain(rival)} ({verdict})" for rival, verdict in json.loads(rivals).items())
        for rivals in table["rivals"]
    ]
    return table.to_csv(index=False, float_format=f"%.{DIGITS}g", lineterminator="\n")


def find_differences(plan: Plan, folder: Path) -> list[str]:
    """Return in what the published results are not those of the configuration, without running anything."""
    claims = published.read_claims(folder)
    if claims is None:
        return [f"{folder / published.CLAIMS}: is not there"]
    config, verdicts = plan.config, dict(zip(claims["claim"], claims["verdict"], strict=True))
    # a paper that is begun here is published with the next publication
    papers = [paper for paper in config.papers if paper in set(claims["paper"])]
    expected = {f"{p}.{name}": config.expected(p, name) for p in papers for name in config.blocks(p, "claims")}
    figures = {f"{p}/{name}.png" for p in papers for name in config.figures(p)}
    figures |= {f"{p}/{name}.webp" for p in papers for name in config.motions(p)}
    present = {path.relative_to(folder).as_posix() for kind in ("png", "webp") for path in folder.glob(f"*/*.{kind}")}
    configured, there = {**expected, **dict.fromkeys(sorted(figures))}, {**verdicts, **dict.fromkeys(sorted(present))}
    return [
        *(f"{name}: is configured, not published" for name in configured if name not in there),
        *(f"{name}: is published, not configured" for name in there if name not in configured),
        *(
            f"{claim}: is published as {verdicts[claim]}, expected {verdict}"
            for claim, verdict in expected.items()
            if claim in verdicts and not is_expected(verdicts[claim], verdict)
        ),
    ]


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as partial:
        partial.write_text(text, encoding="utf-8")
