"""Fill the pages' templates with what `contents` gathered: a first page, and one for each paper with its figures."""

import math
import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jinja2
import pandas as pd
from markupsafe import Markup

from learning_dynamics.judging import VERDICTS
from learning_dynamics.pipeline.plan.config_files import ROOT
from learning_dynamics.pipeline.report import maths, tables
from learning_dynamics.pipeline.report.charts import library_uri, read_chart
from learning_dynamics.pipeline.report.citing import edition
from learning_dynamics.pipeline.report.contents import (
    Exhibit,
    Paper,
    Row,
    count_verdicts,
    describe_draws,
    describe_margin,
    rejected,
    rejects,
)
from learning_dynamics.pipeline.report.pictures import (
    Picture,
    compress,
    compress_to_fit,
    read_film,
    read_vector,
)
from learning_dynamics.pipeline.report.robustness import MARKS
from learning_dynamics.pipeline.report.source_links import link_to_docs
from learning_dynamics.pipeline.report.verdict_styles import QUANTIFIERS, VERDICT_STYLES

MAX_BYTES = 1_000_000  # of a paper's figures, still and in motion; its page holds them as text, a third longer
THUMBNAIL = 210  # CSS pixels of width
MAX_VARIATIONS = 24  # times that a claim was judged again that are listed
MAX_DIGITS = 5  # of a measurement with an interval


def render(
    papers: Sequence[Paper], folder: Path, record: Mapping[str, Any], written: Collection[str] | None = None
) -> dict[str, str]:
    """Return the pages by the names of their files: the first, ``index.html``, and one for each paper.

    Parameters
    ----------
    papers : sequence of Paper
        Content of the report.
    folder : path
        Where the pages will be; links to data and code are relative to it.
    record : mapping
        The stamp that a page's foot shows. Besides, ``checked`` is the number of outputs that were compared with the
        configuration, and ``stale`` says what is wrong with them.
    written : collection of str, optional
        The papers whose pages are returned; without it all.
    """
    claims = [claim for paper in papers for claim in paper.claims]
    all_claims = [claim for paper in papers for claim in paper.all_claims]
    shared = {"papers": papers, "record": record, "verdict_styles": VERDICT_STYLES, "edition": edition(record)}
    pages = {
        _file(): _template("front", None, folder).render(
            shared,
            claims=claims,
            every=all_claims,
            counts=count_verdicts(claims),
            observations=len(all_claims) - len(claims),
            verdicts=[verdict for verdict in VERDICTS if any(claim["verdict"] == verdict for claim in all_claims)],
            unexpected=_unexpected(all_claims),
            figures=sum(len(paper.exhibits) for paper in papers),
        )
    }
    for paper in papers:
        if written is not None and paper.name not in written:
            continue
        films = {figure.film.webp: read_film(figure.film.webp) for figure in paper.exhibits if figure.film}
        charts = {
            figure.interactive.json: read_chart(figure.interactive.json)
            for figure in paper.exhibits
            if figure.interactive
        }
        drawings = [figure for figure in paper.exhibits if figure.table is None]
        vectors = {}
        for figure in drawings:
            vector = read_vector(figure.svg)
            if vector is not None:
                vectors[figure.png] = vector
        # a film is its file and its last frame alone
        bytes_of_films = sum(len(picture.data) for pictures in films.values() for picture in pictures)
        pages[_file(paper.name)] = _template("paper", paper.name, folder).render(
            shared,
            paper=paper,
            unexpected=_unexpected(paper.all_claims),
            pictures=compress_to_fit([figure.png for figure in drawings], MAX_BYTES - bytes_of_films, vectors),
            films=films,
            charts=charts,
            library=library_uri() if charts else "",
        )
    return pages


def _file(paper: str | None = None) -> str:
    return f"{paper or 'index'}.html"


def _unexpected(claims: Sequence[Row]) -> list[Row]:
    return [claim for claim in claims if not claim["as_expected"]]


def _template(name: str, current: str | None, folder: Path) -> jinja2.Template:
    """Return a template, with the functions and filters that it may use; `current` is the paper that a page is of."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )

    def address_of(paper: str | None = None, anchor: str = "") -> str:
        """Return the address of a place on the page of a paper, or on the first, as links on this page write it."""
        if paper == current:
            return f"#{anchor or paper or 'main'}"
        return f"{_file(paper)}#{anchor}" if anchor else _file(paper)

    def with_links(words: Markup) -> Markup:
        """Return prose with links to the letter of the paper that this page is of, and to derivations."""
        return Markup(link_to_docs(words, current or "", folder, '<a href="{address}">{words}</a>'))

    environment.globals |= {
        "at": address_of,
        "here": current,
        "address": lambda paper, verdict: "claims?" + urlencode({"paper": paper, "verdict": verdict}),
        "detail": lambda lead: compress(lead.figure.png, box=lead.box),
        "thumbnail": _thumbnail,
        "measured": format_measurement,
        "shown_variations": _shown_variations,
        "meaning_of_mark": MARKS,
        "quantifiers": QUANTIFIERS,
    }
    environment.filters |= {
        "prose": lambda text: with_links(maths.html(text)),
        "plain": maths.plain,
        "paragraphs": lambda text: with_links(maths.paragraphs(text)),
        "number": format_number,
        "factor": describe_margin,
        "draws": describe_draws,
        "table_html": tables.to_html,
        "table_csv": tables.to_csv,
        "table_latex": tables.to_latex,
        "rejects": rejects,
        "rejected": rejected,
        "capital": lambda text: text[:1].upper() + text[1:],
        "sentence": lambda text: text[:1].upper() + text[1:].rstrip(".") + ".",
        "first_sentence": lambda text: re.split(r"(?<=\.)\s+(?=[A-Z])", text, maxsplit=1)[0],
        "slug": lambda verdict: verdict.replace(" ", "-"),
        "link": lambda path: os.path.relpath(path, folder),
        "code": lambda path: os.path.relpath(ROOT / path, folder.resolve()),
        "ours": lambda path: ROOT / path,
        "there": lambda path: Path(path).is_file(),
        "name": lambda path: Path(path).name,
        "known": lambda value: value is not None and not pd.isna(value),
    }
    return environment.get_template(f"{name}.html")


def _thumbnail(figure: Exhibit) -> Picture:
    """Return the first panel of a figure, which can be read where all of them would be too small."""
    box = figure.panels[0] if figure.panels else None
    return compress(figure.png, rounded=True, box=box, widest=THUMBNAIL)


def format_number(value: Any, digits: int = 4) -> Markup:
    """Return a number in so many digits, its power of ten raised; a dash where there is none."""
    return Markup("–") if value is None or pd.isna(value) else maths.html(f"{value + 0.0:.{digits}g}")


def format_measurement(row: Row) -> Markup:
    """Return a measurement with its interval, rounded to where the interval begins to say something."""
    value, lower, upper = row["measured"], row["lower"], row["upper"]
    if pd.isna(lower) or pd.isna(value):
        return format_number(value, row.get("digits", 4))
    magnitude, width = max(abs(value), abs(lower), abs(upper)), abs(upper - lower)
    digits = MAX_DIGITS
    if width > 0:
        digits = min(digits, max(2, 2 + math.ceil(math.log10(magnitude / width))))
    texts = [format_number(number, digits) for number in (value, lower, upper)]
    if len(set(texts)) == 1:
        return texts[0]
    return Markup('{} <span class="interval">[{}, {}]</span>').format(*texts)


def _shown_variations(claim: Row) -> list[Row]:
    """Return the times that a claim was judged again to list: those with another verdict first."""
    return sorted(claim["variations"], key=lambda row: row["verdict"] == claim["verdict"])[:MAX_VARIATIONS]
