"""The report as Markdown, formulas in GitHub's dialect: LaTeX as code between dollars."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.pipeline.plan.config_files import ROOT
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.contents import (
    Exhibit,
    OtherScales,
    Paper,
    Row,
    count_verdicts,
    describe_draws,
    rejected,
    rejects,
)
from learning_dynamics.pipeline.report.robustness import meanings
from learning_dynamics.pipeline.report.source_links import DOCS, ERRATA, link_to_docs
from learning_dynamics.pipeline.report.templates import MATHS
from learning_dynamics.pipeline.report.verdict_styles import QUANTIFIERS, VERDICT_STYLES
from learning_dynamics.pipeline.store.records import printed_check

GUIDE = DOCS / "how_a_verdict_is_made.md"
SETTINGS = ROOT / "workflow/config"
FILM = ".motion.webp"  # how the file of a published film ends


def results_page(papers: Sequence[Paper], folder: Path, judged_again: str | None) -> str:
    """Return the first page: how many claims have which verdict, the papers, claims that do not hold as printed.

    Parameters
    ----------
    folder : path
        Where the page will be.
    judged_again : str or None
        The earlier commit at which claims were judged again, "" if it is this commit; None if they were not.
    """
    claims = [claim for paper in papers for claim in paper.claims]
    n_observations = sum(len(paper.observations) for paper in papers)
    outcome = (
        f"The default run tested {_plural(len(claims), 'claim')} of {_plural(len(papers), 'paper')}: "
        f"{_verdict_counts(count_verdicts(claims))}."
    )
    if n_observations:
        outcome += f" It also tested {_plural(n_observations, 'statement')} that no paper makes."
    lines = [
        "# Results",
        f"{outcome} All numbers: [claims.csv](claims.csv). `make figures` makes the full report, `make publish` these "
        "pages; `python -m learning_dynamics compare` compares your run with them.",
    ]
    for paper in papers:
        lines.append(f"## {prose(paper.title)}")
        lines.append(prose(paper.summary))
        if paper.lead:
            lines.append(_image(paper.lead.figure))
        lines.append(f"{_verdict_counts(paper.counts)}. [All figures and claims]({paper.name}.md)")
    failed = [claim for paper in papers for claim in paper.of("corrected", "contradicted")]
    contradicted = any(claim["verdict"] == "contradicted" for claim in failed)
    lines.append(f"## Corrected {'and contradicted ' if contradicted else ''}claims")
    if not failed:
        lines.append("None.")
    else:
        if ERRATA.is_dir():
            lines.append(f"Derivations and counterexamples: [errata]({os.path.relpath(ERRATA, folder.resolve())}).")
        head = "| where | as printed | what holds |\n|---|---|---|\n"
        lines.append(head + "\n".join(map(_failed_claim, failed)))
    open_claims = [claim for paper in papers for claim in paper.of("not reproduced", "undecided", "untested")]
    if open_claims:
        head = "| where | claim | verdict | why |\n|---|---|---|---|\n"
        lines.append("## Claims that are not reproduced, undecided or untested")
        lines.append(head + "\n".join(map(_open_claim, open_claims)))
        lines.append("; ".join(meanings(claim["marks"] for claim in open_claims)))
    if judged_again is not None:
        n_judged_again = sum(bool(claim["variations"]) for paper in papers for claim in paper.all_claims)
        lines += [
            "## Robustness",
            f"{n_judged_again} of {len(claims) + n_observations} claims and statements were judged again, each under "
            "the changes that apply to it: other thresholds, other values of settings (most of them not stated in the "
            "paper), other seeds, random settings. See [robustness.md](robustness.md) and "
            "[robustness.csv](robustness.csv).",
        ]
    if judged_again:  # "" is this commit
        lines.append(f"Some of them were judged with the code of an earlier commit, `{judged_again[:7]}`.")
    return _join(lines)


def scale_page(
    scale: str,
    titles: Mapping[str, str],
    claims: pd.DataFrame,
    comparison: pd.DataFrame,
    of_another_criterion: Collection[str],
) -> str:
    """Return the first page of another scale: which verdicts are those of the default run, and which are others.

    Verdicts of another criterion than the default run's are compared with none: they have a table of their own.

    Parameters
    ----------
    titles : mapping of str to str
        Of the papers that were judged at this scale, by name.
    claims : DataFrame
        This scale's, with columns claim and reference.
    comparison : DataFrame
        As `published.compare_claims` returns it: ``verdict`` is this scale's, ``verdict_published`` the default run's.
    of_another_criterion : collection of str
        The claims that checks of other names decided than at the default run.
    """
    references = dict(zip(claims["claim"], claims["reference"], strict=True))
    in_both = comparison[comparison["claim"].isin(references) & comparison["verdict_published"].notna()]
    has_another_criterion = in_both["claim"].isin(of_another_criterion)
    comparable, not_comparable = in_both[~has_another_criterion], in_both[has_another_criterion]
    turned = comparable["verdict"] != comparable["verdict_published"]
    pages = ", ".join(f"[{prose(title)}]({paper}.md)" for paper, title in titles.items())
    lines = [
        f"# Results at the scale `{scale}`",
        f"{_plural(len(in_both), 'claim')} were judged at this scale. {int((~turned).sum())} get the verdict of [the "
        f"default run](../../results/README.md), {int(turned.sum())} another; {len(not_comparable)} were judged by "
        f"checks of other names. Figures and the evidence for each verdict: {pages}. The table: "
        f"[claims.csv](claims.csv). Written by `python -m learning_dynamics publish --configfile "
        f"workflow/config/{scale}.yaml`, from the commit in [versions.json](versions.json). The criteria are those of "
        "that commit. Where the default run has another one by now, a difference of verdicts says nothing about the "
        "scale.",
    ]
    for title, chosen in (
        ("Another verdict than in the default run", comparable[turned]),
        ("The verdict of the default run", comparable[~turned]),
        ("Judged by a check of another name than in the default run", not_comparable),
    ):
        rows = [
            _table_row(
                f"[{row['claim']}]({row['claim'].partition('.')[0]}.md#{row['claim']})",
                _cell(references[row["claim"]]),
                row["verdict_published"],
                compared_number(row, "_published"),
                row["verdict"],
                compared_number(row),
            )
            for row in chosen.to_dict("records")
        ]
        if rows:
            head = _table_row("claim", "where", "default run", "its number", "this scale", "its number")
            lines += [f"## {title}", "\n".join([head, "|---|---|---|---:|---|---:|", *rows])]
    return _join(lines)


def readme_table(papers: Sequence[Paper], folder: str) -> str:
    """Return what the project's README shows first: one figure, and how many claims of each verdict; one link."""
    lead = next((paper.lead for paper in papers if paper.lead), None)
    verdicts = list(count_verdicts([claim for paper in papers for claim in paper.claims]))
    lines = []
    if lead:
        figure = lead.figure
        page = f"{folder}/{figure.paper}.md"
        lines += [_image(figure, f"{folder}/"), "", f"*{prose(figure.title)}.* [The figure and its claims]({page})", ""]
    lines += ["Claims by verdict:", "", _table_row("paper", "its name here", *verdicts)]
    lines.append("|---|---|" + "---:|" * len(verdicts))
    for paper in papers:
        counts = (str(paper.counts.get(verdict, "")) for verdict in verdicts)
        lines.append(_table_row(f"[{_cell(paper.title)}]({folder}/{paper.name}.md)", f"`{paper.name}`", *counts))
    last = f"All figures and numbers: [{folder}]({folder}/README.md)."
    if "contradicted" not in verdicts:
        last = f"No claim is contradicted. {last}"
    lines += ["", last]
    return "\n".join(lines)


def paper_page(paper: Paper, folder: Path) -> str:
    """Return a paper's page: its figures and claims by topic."""
    citation = prose(paper.citation)
    links = ", ".join(f"[{reference['place']}]({reference['url']})" for reference in paper.references)
    if links:
        citation += f": {links}"
    tally = _verdict_counts(paper.counts)
    meanings_of_marks = meanings(claim["marks"] for claim in paper.all_claims)
    if meanings_of_marks:
        tally += f" ({'; '.join(meanings_of_marks)})"
    other_pages = "[All papers](README.md)"
    if GUIDE.is_file():
        other_pages = f"[How a verdict is made]({os.path.relpath(GUIDE, folder.resolve())}). {other_pages}"
    lines = [f"# {prose(paper.title)}", citation, f"{tally}. {other_pages}"]
    lines.append(prose(paper.summary))
    lines.append("\n".join(f"{place}. {prose(finding)}" for place, finding in enumerate(paper.findings, start=1)))
    if paper.other_scales:
        lines += [
            f"{prose(paper.other_scales.summary)}. {paper.other_scales.how_to_read}",
            _scales_table(paper.other_scales),
        ]
    if paper.notation:
        lines.append("> **Model and notation.** " + prose(paper.notation))
    if paper.lead:
        file = f"{paper.name}.yaml"
        settings = os.path.relpath(SETTINGS / file, folder.resolve())
        lines.append(
            f"Below each figure is its name; `{paper.lead.figure.command}` draws one. Most names like `this` in claims "
            f"are settings and runs of [{file}]({settings}), or other claims."
        )

    scopes: dict[str, Row] = {}  # the first claim with each scope; `_details` fills it
    for topic in paper.topics:
        lines += [f"## {prose(topic.title)}", prose(topic.about)]
        for figure in topic.exhibits:
            lines += [f"### {prose(figure.title)}", _figure_or_table(figure), prose(figure.caption)]
            if figure.film:
                # a link, for those whom motion disturbs
                film = prose(figure.film.caption.removeprefix("In motion: ").partition("\n\n")[0])
                lines.append(f"[In motion]({figure.paper}/{figure.name}{FILM}): {film}")
            lines.append(f"[`{figure.name}`]({_source_link(figure.code, folder)})")
            lines += [_claim(claim, folder, scopes) for claim in figure.claims]
        lines += [_claim(claim, folder, scopes) for claim in topic.unshown_claims]

    if paper.observations:
        lines += [
            "## Further observations",
            "These statements are ours, not the paper's. The counts at the top of the page leave them out.",
        ]
        lines += [_claim(claim, folder, scopes) for claim in paper.observations]
    if paper.references:
        lines += ["## To cite", f"```bibtex\n{paper.bibtex}\n```"]
    return link_to_docs(_join(lines), paper.name, folder, "[{words}]({address})")


def _scales_table(scales: OtherScales) -> str:
    """Return a table of the claims with another verdict at some scale; empty if there are none."""
    if not scales.turned:
        return ""
    lines = [_table_row("claim", "here", *scales.trained_on), "|---|---|" + "---|" * len(scales.trained_on)]
    for claim, texts in scales.turned:
        name = f"[{_cell(claim['reference'])}](#{claim['claim']}) (`{claim['id']}`)"
        lines.append(_table_row(name, *map(_cell, texts)))
    return "\n".join(lines)


def _claim(claim: Row, folder: Path, scopes: dict[str, Row]) -> str:
    """Return a claim as an item of a list: verdict, statement, numbers; below "Details" its scope, draws and rivals."""
    decisive = claim["decisive"]
    verdict = f"{VERDICT_STYLES[claim['verdict']].sign} **{claim['verdict']}**{claim['marks']}"
    if claim["quantifier"]:
        verdict += f" (a claim about {QUANTIFIERS[claim['quantifier']]})"
    name = f"[`{claim['id']}`]({_source_link(claim['code'], folder)})"
    lines = [
        f'- <a name="{claim["claim"]}"></a>{verdict}. {prose(claim["reference"])} ({name}): {prose(claim["statement"])}'
    ]
    if claim["correction"]:
        opening = "What holds" if claim["verdict"] == "corrected" else "Proposed correction"
        lines.append(f"{opening}: {prose(claim['correction'])}")
    if claim["reason"]:
        lines.append(f"Why: {prose(_reason(claim))}.")
    if decisive:
        lines.append(_numbers(decisive, claim["quantifier"]))
        if claim["verdict"] == "corrected":
            lines.append(f"As printed: {_numbers(printed_check(claim), claim['quantifier'])}")
        if claim["robustness"]:
            lines.append(f"{prose(claim['robustness'])}.")
    if claim["on_other_processors"]:
        lines.append(f"{prose(claim['on_other_processors'])}.")
    if claim["elsewhere"]:
        lines.append(f"{prose(claim['elsewhere'])}.")
    # two spaces at the end of a line break it
    text = "\n  ".join(f"{line}  " for line in lines).rstrip()
    if not decisive:
        return text
    details = [_details(claim, scopes)]
    if claim["explanation"]:
        details.insert(0, prose(claim["explanation"]).replace("\n", "\n  "))
    folded = "\n\n  ".join(details)
    return f"{text}\n\n  <details><summary>Details</summary>\n\n  {folded}\n\n  </details>"


def _numbers(check: Row, quantifier: str) -> str:
    """Return a check's quantity with its number, what is predicted, and what the number has to satisfy."""
    numbers = f"{prose(check['quantity'])}: **{measurement(check) or '–'}**"
    if not pd.isna(check["predicted"]):
        numbers += f", predicted {number(check['predicted'])}"
    interval = check.get("interval", "")  # results keep none of the printed check of a corrected claim
    # as `criteria.every_draw` writes it where bounds differ: "...; each draw has its own bound, and the largest ..."
    if " value of any draw is " in interval:
        numbers += f" ({prose(interval)})"
    criterion = check["criterion"]
    if quantifier == "all draws":
        criterion = criterion.replace(" on every draw", "")
    return f"{_capitalised(numbers)}. Criterion: {prose(criterion)}."


def _details(claim: Row, scopes: dict[str, Row]) -> str:
    """Return scope, draws and rivals; for a scope that a claim above has too, a link to that claim."""
    decisive = claim["decisive"]
    first = scopes.setdefault(claim["scope"], claim)
    scope = prose(claim["scope"])
    if first is not claim:
        scope = f"the same as [`{first['id']}`](#{first['claim']})"
    text = f"Tested on: {scope}. {_capitalised(prose(describe_draws(decisive)))}."
    if not claim["rivals"]:
        return text
    # where the claim holds, as printed or corrected, the heading says "rejected": only other outcomes are named
    rivals = []
    for rival, verdict in claim["rivals"].items():
        if rejects(claim) and rejected(verdict):
            rivals.append(prose(rival))
        else:
            rivals.append(f"{prose(rival)} ({verdict})")
    head = "Rejected rivals (wrong predictions)" if rejects(claim) else "Rivals (wrong predictions), by the same test"
    text += f" {head}: {'; '.join(rivals)}."
    if not pd.isna(claim["min_detectable_error"]):
        error = number(claim["min_detectable_error"], 2)
        text += f" A prediction that is wrong by more than {error} (relative error) would have been rejected."
    return text


def _failed_claim(claim: Row) -> str:
    """Return the row of a claim in the table of those that do not hold as printed."""
    if claim["verdict"] == "corrected":
        holds = _cell(claim["correction"])
    else:
        holds = f"contradicted: {_cell(claim['quantity'])}: {measurement(claim) or '–'}"
    paper = claim["claim"].partition(".")[0]
    return _table_row(f"[{_cell(claim['reference'])}]({paper}.md#{claim['claim']})", _cell(claim["statement"]), holds)


def _open_claim(claim: Row) -> str:
    """Return the row of a claim in the table of those that are not reproduced, undecided or untested."""
    why = [_capitalised(_cell(_reason(claim)))] if claim["reason"] else []
    if claim["decisive"]:
        why.append(_without_bars(_numbers(claim["decisive"], claim["quantifier"])).rstrip("."))
    paper = claim["claim"].partition(".")[0]
    name = f"[{_cell(claim['reference'])}]({paper}.md#{claim['claim']})"
    return _table_row(name, _cell(claim["statement"]), f"{claim['verdict']}{claim['marks']}", ". ".join(why))


def _reason(claim: Row) -> str:
    """Return why a claim has its verdict, without the name of the quantity whose number follows."""
    if not claim["decisive"]:
        return claim["reason"]
    return claim["reason"].replace(f"{claim['decisive']['quantity']}: ", "")


def _table_row(*cells: str) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    """Return prose for a cell of a table."""
    return _without_bars(prose(text))


def _capitalised(text: str) -> str:
    """Return a text with a capital at its beginning; symbols, as in 'd log x', stay as they are."""
    return re.sub(r"^[a-z](?=[a-z])", lambda first: first[0].upper(), text)


def _without_bars(markdown: str) -> str:
    """Return text without bars, which would end a table's cell, in a formula too."""
    return markdown.replace("\\|", "\\Vert ").replace("|", "\\vert ")


def _figure_or_table(figure: Exhibit) -> str:
    """Return a figure, or the table that it shows with its files beside it."""
    if figure.table is None:
        return _image(figure)
    columns = list(map(_cell, figure.table.columns))
    rows = [_table_row(*columns), "|---|" + "---:|" * (len(columns) - 1)]
    rows += [_table_row(*map(_cell, cells)) for cells in figure.table.to_numpy()]
    file = f"{figure.paper}/{figure.name}"
    return "\n".join(rows) + f"\n\n[CSV]({file}.csv), [LaTeX]({file}.tex)"


def _image(figure: Exhibit, folder: str = "") -> str:
    """Return a figure's picture with its alternative text, seen from a page in `folder`."""
    alt = re.sub(r"([\[\]])", r"\\\1", maths.plain(figure.alt)).replace("|", "&#124;")
    return f"![{alt}]({folder}{figure.paper}/{figure.name}.webp)"


def _verdict_counts(counts: Mapping[str, int]) -> str:
    """Return ``3 reproduced, 1 corrected``."""
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "no claims"


def _plural(count: int, thing: str) -> str:
    """Return ``1 figure`` or ``2 figures``."""
    return f"{count} {thing}" + ("" if count == 1 else "s")


def measurement(row: Mapping[str, Any]) -> str:
    """Return a measurement with its interval; nothing where there is none."""
    if pd.isna(row["lower"]):
        return number(row["measured"], row.get("digits", 4))
    return f"{number(row['measured'], 4)} [{number(row['lower'], 3)}, {number(row['upper'], 3)}]"


def compared_number(row: Mapping[str, Any], suffix: str = "") -> str:
    """Return a number of `published.compare_claims`, of a corrected claim with that of what is printed."""
    measured, printed = number(row[f"measured{suffix}"]), number(row[f"measured_as_printed{suffix}"])
    return f"{measured} (as printed {printed})" if printed else measured


def number(value: float, digits: int = 4) -> str:
    """Return a number in plain text, powers of ten raised; nothing where there is none."""
    return "" if pd.isna(value) else maths.plain(f"{value + 0.0:.{digits}g}")  # a zero has no sign


def _source_link(path: str, folder: Path) -> str:
    """Return the path of a source file, seen from the folder of a page."""
    return os.path.relpath(ROOT / path, folder.resolve())


def formula(latex: str) -> str:
    """Return a formula as code between dollars, in which Markdown finds no markup; GitHub forbids one macro."""
    return "$`" + re.sub(r"\\operatorname\b", r"\\mathrm", latex) + "`$"


def prose(text: str) -> str:
    """Return prose, a line for each paragraph, in which Markdown finds formulas and code but no other markup."""
    # what is escaped: emphasis (an underscore only outside words and code), tags, the bracket that would make a link
    markup = r"(?<![`\w])_|[*<>]|\](?=\()"
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        pieces = MATHS.split(" ".join(paragraph.split()))  # words at even places, formulas at odd ones
        words = [re.sub(markup, r"\\\g<0>", maths.plain_words(piece)) for piece in pieces[::2]]
        # GitHub shows no formula next to a letter: a space before each, and one after it
        words[:-1] = [re.sub(r"(?<=\w)$", " ", piece) for piece in words[:-1]]
        words[1:] = [re.sub(r"^(?=\w)", " ", piece) for piece in words[1:]]
        pieces[::2] = words
        pieces[1::2] = [formula(piece[1:-1].strip()) for piece in pieces[1::2]]
        paragraphs.append("".join(pieces))
    return "\n\n".join(paragraphs)


def _join(blocks: Sequence[str]) -> str:
    """Return the blocks of a page, an empty line between them; empty blocks are left out."""
    return "\n\n".join(filter(None, blocks)) + "\n"
