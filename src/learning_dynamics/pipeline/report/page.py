"""Fill the page's template from the configuration, the claims and the drawn figures."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup, escape

from learning_dynamics.claims import VERDICTS
from learning_dynamics.pipeline.project import Project
from learning_dynamics.pipeline.records import as_expected
from learning_dynamics.pipeline.stages.figure import read_record
from learning_dynamics.pipeline.templates import fill


def render(
    project: Project,
    found: Mapping[str, Mapping[str, pd.DataFrame]],
    figures: Path,
    folder: Path,
    record: Mapping[str, Any],
) -> str:
    """Return the page as one HTML text that needs no other file.

    Parameters
    ----------
    project : Project
        The configuration.
    found : mapping of paper to mapping of table to DataFrame
        As in ``claims.parquet``, ``parts.parquet``, ``variants.parquet`` and ``sensitivity.parquet``.
    figures : path
        Holds ``<paper>/<figure>.png``.
    folder : path
        Where the page will lie; links to data are relative to it.
    record : mapping
        Provenance, for the page's foot.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "paragraphs": _paragraphs,
        "number": _number,
        "slug": lambda verdict: verdict.replace(" ", "-"),
    }
    papers = [_paper(project, paper, found[paper], figures, folder) for paper in project.papers]
    every = [claim for paper in papers for claim in paper["claims"]]
    counts = {verdict: sum(claim["verdict"] == verdict for claim in every) for verdict in VERDICTS}
    unexpected = [claim for claim in every if not as_expected(claim["verdict"], claim["expected"])]
    return environment.get_template("page.html").render(
        papers=papers, counts=counts, unexpected=unexpected, total=len(every), record=record
    )


def _paper(
    project: Project, paper: str, found: Mapping[str, pd.DataFrame], figures: Path, folder: Path
) -> dict[str, Any]:
    block = project.about(paper)
    rows = [_claim(project, paper, row, folder) for row in found["claims"].to_dict("records")]
    told = {f"{row['id']}.{key}": value for row in rows for key, value in row["facts"].items()}
    drawn = []
    for name in project.figures(paper):
        drawing = read_record(figures / paper / f"{name}.png")
        heading, _, caption = fill(project.caption(paper, name), drawing["facts"]).partition("\n\n")
        drawn.append(
            {
                "name": name,
                "title": " ".join(heading.split()),
                "caption": caption,
                "image": base64.b64encode((figures / paper / f"{name}.png").read_bytes()).decode(),
                "pdf": os.path.relpath(figures / paper / f"{name}.pdf", folder),
                "claims": [row for row in rows if row["figure"] == name],
            }
        )
    return {
        "name": paper,
        "title": block["title"],
        "citation": block["citation"],
        "summary": fill(block.get("summary", ""), told),
        "figures": drawn,
        "claims": rows,
        "loose": [row for row in rows if row["figure"] not in project.figures(paper)],
        "chosen": _grouped(project.chosen(paper)),
        "sensitivity": found["sensitivity"].to_dict("records"),
    }


def _claim(project: Project, paper: str, row: dict[str, Any], folder: Path) -> dict[str, Any]:
    evidence = [path for path in row["evidence"].split(", ") if path]
    name, facts = row["claim"].partition(".")[2], json.loads(row["facts"])
    return row | {
        "id": name,
        "facts": facts,
        "rivals": json.loads(row["rivals"]),
        "explanation": fill(project.explanation(paper, name), facts) if facts else "",
        "links": [{"name": Path(path).name, "href": os.path.relpath(path, folder)} for path in evidence],
    }


def _grouped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Join rows that differ only in the run or data set that uses the setting."""
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        key = (row["setting"], str(row["value"]), row["origin"], row["reason"])
        if key in groups:
            groups[key]["name"] += f", {row['name']}"
        else:
            groups[key] = dict(row)
    return sorted(groups.values(), key=lambda row: row["setting"])


def _paragraphs(text: str) -> Markup:
    """Return plain paragraphs as HTML; text between backquotes becomes code."""
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text.strip()) if part.strip())
    return Markup("").join(
        Markup("<p>{}</p>").format(Markup(re.sub(r"`+([^`]+)`+", r"<code>\1</code>", str(escape(part)))))
        for part in paragraphs
    )


def _number(value: Any) -> Markup:
    if value is None or pd.isna(value):
        return Markup("–")
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return Markup("{} · 10<sup>{}</sup>").format(mantissa, int(exponent)) if exponent else Markup(mantissa)
