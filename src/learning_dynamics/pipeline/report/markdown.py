"""What there is to tell as Markdown, formulas as GitHub's dialect has them: LaTeX as code between dollars."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.contents import Exhibit, Paper, Row, counted
from learning_dynamics.pipeline.report.looks import LOOKS
from learning_dynamics.pipeline.report.templates import MATHS
from learning_dynamics.pipeline.study.config import ROOT

BESIDE = {
    "replication": [
        "## Under other seeds",
        "Every verdict under every seed tried: [replication.md](replication.md).",
        "![A matrix of claims against seeds, coloured by verdict](replication.png)",
    ],
    "wild": [
        "## On wild draws",
        "Theorems and formulas on draws of what their hypotheses leave free: [wild.md](wild.md), [wild.csv](wild.csv).",
        "![A matrix of claims against draws, coloured by verdict](wild.png)",
    ],
    "turning": [
        "## Where verdicts turn",
        "Settings that the papers do not state, varied: [turning.md](turning.md), [turning.csv](turning.csv).",
        "![A bar for each claim and setting, in stretches coloured by verdict](turning.png)",
    ],
}
ERRATA = ROOT / "docs/errata"
PICTURES = 3  # on the first screen of the README
MOST_OTHERS = 4  # variants of a claim with another verdict that are named


def of_all(papers: Sequence[Paper], folder: Path, beside: Mapping[str, str]) -> str:
    """Return the first page: what was found, what turned out otherwise.

    `folder` is where it will lie; `beside` names what else was judged, with the commit where it was another one.
    """
    claims = [claim for paper in papers for claim in paper.claims]
    ours = sum(len(paper.observations) for paper in papers)
    lines = [
        "# Results",
        f"{_several(len(claims), 'claim')} of {_several(len(papers), 'paper')}, held against what the default run "
        f"measured: {_counts(counted(claims))}."
        + (f" Apart from them: {_several(ours, 'observation')} of ours." if ours else "")
        + " Written by `make publish`; the page with everything that stands behind a verdict is made by `make figures`."
        " The table: [claims.csv](claims.csv). Compare a run of your own: `python -m learning_dynamics compare`.",
    ]
    for paper in papers:
        lines.append(f"## {prose(paper.title)}")
        lines.append(prose(paper.summary))
        if paper.telling:
            lines.append(_image(paper.telling))
        lines.append(f"{_counts(paper.counts)}. [All figures and claims]({paper.name}.md)")
    lines.append("## What turned out otherwise")
    otherwise = [claim for paper in papers for claim in paper.of("corrected", "contradicted")]
    if otherwise and ERRATA.is_dir():
        lines.append(f"Derivations, and counterexamples to try: [errata]({os.path.relpath(ERRATA, folder.resolve())}).")
    if not otherwise:
        lines.append("Nothing: no claim had to be corrected, none is contradicted.")
    for claim in otherwise:
        lines.append(_otherwise(claim, folder))
    for name, commit in beside.items():
        lines += BESIDE[name] + ([f"Made earlier, at commit `{commit[:7]}`."] if commit else [])
    return _joined(lines)


def of_scale(scale: str, papers: Sequence[Paper], both: pd.DataFrame) -> str:
    """Return the first page of another scale: which verdicts carry from the default run, which turn.

    Parameters
    ----------
    both : DataFrame
        As `published.compared` returns it.
    """
    references = {claim["claim"]: claim for paper in papers for claim in (*paper.claims, *paper.observations)}
    both = both[both["claim"].isin(references)]
    known = both[both["verdict_published"].notna()]
    turned = known["verdict"] != known["verdict_published"]
    lines = [
        f"# Results at the scale `{scale}`",
        f"{len(known)} verdicts beside those of the default run: {int((~turned).sum())} are the same, "
        f"{int(turned.sum())} are others. Figures and what stands behind each verdict: "
        + ", ".join(f"[{prose(paper.title)}]({paper.name}.md)" for paper in papers)
        + f". The table: [claims.csv](claims.csv). Written by `python -m learning_dynamics publish --configfile "
        f"workflow/config/{scale}.yaml`; [the default run](../../results/README.md).",
    ]
    for title, chosen in (("Verdicts that turn", known[turned]), ("Verdicts that carry", known[~turned])):
        rows = [
            f"| [{row['claim']}]({row['claim'].partition('.')[0]}.md#{row['claim']}) "
            f"| {_cell(references[row['claim']]['reference'])} "
            f"| {row['verdict_published']} | {_shown(row['measured_published'])} "
            f"| {row['verdict']} | {_shown(row['measured'])} |"
            for row in chosen.to_dict("records")
        ]
        if rows:
            head = "| claim | where | default | measured | here | measured |\n|---|---|---|---:|---|---:|\n"
            lines += [f"## {title}", head + "\n".join(rows)]
    return _joined(lines)


def _shown(value: float) -> str:
    return "" if pd.isna(value) else _number(value)


def in_short(papers: Sequence[Paper], folder: str) -> str:
    """Return what the project's README shows first: three figures, and how many claims of each verdict; one link."""
    told = [paper for paper in papers if paper.telling][:PICTURES]
    claims = [claim for paper in papers for claim in paper.claims]
    verdicts = list(counted(claims))
    lines = []
    if told:
        lines += ["| " + " | ".join(_image(paper.telling, f"{folder}/") for paper in told if paper.telling) + " |"]
        lines += ["|" + "---|" * len(told)]
        lines += ["| " + " | ".join(_cell(paper.telling.title) for paper in told if paper.telling) + " |", ""]
    lines += ["| claims of | " + " | ".join(verdicts) + " |", "|---|" + "---:|" * len(verdicts)]
    for paper in papers:
        counts = " | ".join(str(paper.counts.get(verdict, "")) for verdict in verdicts)
        lines.append(f"| [{_cell(paper.title)}]({folder}/{paper.name}.md) | {counts} |")
    lines += ["", f"What they say, what was found, and what turned out otherwise: [{folder}]({folder}/README.md)."]
    return "\n".join(lines)


def of_paper(paper: Paper, folder: Path) -> str:
    """Return a paper's page: its figures and claims by topic."""
    read = ", ".join(f"[{one['place']}]({one['url']})" for one in paper.references)
    lines = [f"# {prose(paper.title)}", prose(paper.citation) + (f": {read}" if read else "")]
    lines += [f"{_counts(paper.counts)}. [All papers](README.md)"]
    if paper.notation:
        lines.append("> **Model and notation.** " + prose(paper.notation))
    for topic in paper.topics:
        lines += [f"## {prose(topic.title)}", prose(topic.about)]
        for figure in topic.exhibits:
            lines += [f"### {prose(figure.title)}", _image(figure), prose(figure.caption)]
            if figure.film:
                # a link, for those whom motion disturbs
                film = prose(figure.film.caption.removeprefix("In motion: "))
                lines.append(f"[In motion]({figure.paper}/{figure.name}.webp): {film}")
            lines.append(f"`{figure.command}` · [code]({_code(figure.code, folder)})")
            lines += [_claim(claim, folder) for claim in figure.claims]
        lines += [_claim(claim, folder) for claim in topic.loose]
    if paper.observations:
        lines += ["## Observations of ours", "No sentences of the paper; they are not in its tally."]
        lines += [_claim(claim, folder) for claim in paper.observations]
    if paper.references:
        lines += ["## To cite", f"```bibtex\n{paper.bibtex}\n```"]
    return _joined(lines)


def _claim(claim: Row, folder: Path) -> str:
    held = claim["standing"]
    lines = [
        f'- <a name="{claim["claim"]}"></a>'
        f"{LOOKS[claim['verdict']].sign} **{claim['verdict']}**{_speaks_of(claim)}: {prose(claim['reference'])}, "
        f"`{claim['claim']}` "
        f"([code]({_code(claim['code'], folder)})). {prose(claim['statement'])}"
    ]
    if claim["correction"]:
        lines.append(f"What holds: {prose(claim['correction'])}")
    if claim["reason"]:
        lines.append(f"Why: {prose(claim['reason'])}.")
    if held:
        predicted = "" if pd.isna(held["predicted"]) else f", predicted {_number(held['predicted'])}"
        lines.append(f"{prose(held['quantity'])}: **{_measured(held)}**{predicted}; {prose(held['criterion'])}.")
        draws = ", ".join(f"{held[f'draws_{kind}']} {kind}" for kind in ("for", "against", "undecided"))
        lines += [f"{prose(line)}." for line in (*claim["turning"], *_varied(claim))]
        left_out = f"; {prose(held['left_out'])}" if held["left_out"] else ""
        lines.append(f"Scope: {prose(claim['scope'])}. Draws: {draws}{left_out}.")
    if held and claim["rivals"]:
        rivals = "; ".join(f"{prose(rival)} ({got})" for rival, got in claim["rivals"].items())
        refuses = (
            "" if pd.isna(claim["refuses"]) else f"; a prediction off by a fraction of {_number(claim['refuses'], 2)}"
        )
        word = "Would have refused" if claim["verdict"] in ("reproduced", "corrected") else "Rivals"
        lines.append(f"{word}: {rivals}{refuses}.")
    return "\n  ".join(f"{line}  " for line in lines).rstrip()


def _varied(claim: Row) -> list[str]:
    """Return how many agree of the variants of our own choices and of the sensitivity checks, and which do not."""
    ours: Mapping[str, Any] = next((one["choices"] for one in claim["variants"] if one["ours"]), {})
    variants = [
        (one["verdict"], [f"`{key}` = {value}" for key, value in one["choices"].items() if value != ours[key]])
        for one in claim["variants"]
    ]
    checks = [
        (one["verdict"], [f"`{one['setting']}` = {one['value']} in {one['run']}"]) for one in claim["sensitivity"]
    ]
    lines = []
    for what, tried in (("Our own choices varied", variants), ("Again with a chosen setting varied", checks)):
        others = [f"{verdict} with {', '.join(named)}" for verdict, named in tried if verdict != claim["verdict"]]
        shown = others[:MOST_OTHERS] + ([f"{len(others) - MOST_OTHERS} more"] if len(others) > MOST_OTHERS else [])
        if tried:
            lines.append("; ".join([f"{what}: {len(tried) - len(others)} of {len(tried)} agree", *shown]))
    return lines


def _speaks_of(claim: Row) -> str:
    return f", of {claim['speaks_of']}" if claim["speaks_of"] else ""


def _otherwise(claim: Row, folder: Path) -> str:
    if claim["verdict"] == "corrected":
        holds = f"What holds: {prose(claim['correction'])}"
    else:
        holds = f"Measured: {prose(claim['quantity'])}: {_measured(claim)}. {prose(claim['reason'])}".rstrip()
    place = claim["claim"].partition(".")[0]
    return (
        f"- {LOOKS[claim['verdict']].sign} **{claim['verdict']}**, [{place}]({place}.md#{claim['claim']}), "
        f"{prose(claim['reference'])} ([code]({_code(claim['code'], folder)})).  \n"
        f"  As printed: {prose(claim['statement'])}  \n  {holds}"
    )


def _cell(text: str) -> str:
    return prose(text).replace("\\|", "\\Vert ").replace("|", "\\vert ")


def _image(figure: Exhibit, below: str = "") -> str:
    alt = re.sub(r"([\[\]])", r"\\\1", maths.plain(figure.alt)).replace("|", "&#124;")
    return f"![{alt}]({below}{figure.paper}/{figure.name}.png)"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) or "no claims"


def _several(count: int, thing: str) -> str:
    return f"{count} {thing}" + ("" if count == 1 else "s")


def _measured(row: Row) -> str:
    if pd.isna(row["measured"]):
        return "–"
    interval = "" if pd.isna(row["lower"]) else f" [{_number(row['lower'], 3)}, {_number(row['upper'], 3)}]"
    return _number(row["measured"]) + interval


def _number(value: float, digits: int = 4) -> str:
    return maths.plain(f"{value + 0.0:.{digits}g}")  # a zero has no sign


def _code(path: str, folder: Path) -> str:
    return os.path.relpath(ROOT / path, folder.resolve())


def formula(latex: str) -> str:
    """Return a formula in the dialect that no Markdown reads into, without the macro that GitHub forbids."""
    return "$`" + re.sub(r"\\operatorname\b", r"\\mathrm", latex) + "`$"


def prose(text: str) -> str:
    """Return prose on one line a paragraph, with what Markdown would take for markup outside of formulas escaped."""
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        pieces = MATHS.split(" ".join(paragraph.split()))
        # also what would make a link of brackets
        marks = r"(?<![`\w])([*_<>])|([*<>])|\](?=\()"
        pieces[::2] = [re.sub(marks, r"\\\g<0>", maths.words(piece)) for piece in pieces[::2]]
        # no formula is seen beside a letter
        pieces[:-1:2] = [re.sub(r"(?<=\w)$", " ", piece) for piece in pieces[:-1:2]]
        pieces[2::2] = [re.sub(r"^(?=\w)", " ", piece) for piece in pieces[2::2]]
        pieces[1::2] = [formula(piece[1:-1].strip()) for piece in pieces[1::2]]
        paragraphs.append("".join(pieces))
    return "\n\n".join(paragraphs)


def _joined(lines: Sequence[str]) -> str:
    text = ""
    for line in filter(None, lines):
        text += (
            ("\n" if text and not (line.startswith("- ") and text.rpartition("\n\n")[2].startswith("- ")) else "")
            + line
            + "\n"
        )
    return text
