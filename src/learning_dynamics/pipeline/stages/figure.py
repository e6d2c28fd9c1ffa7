"""Draw a figure from parquet alone: the same picture as PDF and PNG, provenance and facts in both files' metadata."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from learning_dynamics.pipeline.pictures import drawn_alike
from learning_dynamics.pipeline.provenance import KEY, provenance
from learning_dynamics.pipeline.records import plain_facts
from learning_dynamics.pipeline.seals import sealing
from learning_dynamics.pipeline.stages.functions import fingerprint_here, paper_function, told
from learning_dynamics.pipeline.stages.tables import load_tables
from learning_dynamics.plotting import Drawn, legible_ticks, sized, style

logging.getLogger("fontTools").setLevel(logging.ERROR)  # what it says is of the fonts' own dates


def execute(
    paper: str,
    name: str,
    spec: Mapping[str, Any] | None = None,
    metrics: Path | None = None,
    pdf: Path | None = None,
    png: Path | None = None,
    fingerprint: str | None = None,
    look: str = "paper",
) -> None:
    """Call the figure's function with its runs' tables by role and save what it draws.

    What is not given is the configuration's: a person names paper, figure and look, and finds ``figures/<look>/``.
    """
    if spec is None:
        # a job is told its spec, and waits for no configuration
        from learning_dynamics.pipeline.config import load
        from learning_dynamics.pipeline.project import Project

        spec = Project(load()).figure(paper, name)
    metrics = metrics or Path("results", paper, "metrics")
    pdf = pdf or Path("figures", *([look] if look != "paper" else []), paper, f"{name}.pdf")
    png = png or pdf.with_suffix(".png")
    draw = paper_function(paper, "figures", spec["kind"])
    made = fingerprint_here("figure", paper, spec["kind"], spec, None, fingerprint)
    tables = load_tables(metrics, spec["runs"])
    record = provenance("figure", paper, name, {"runs": spec["runs"], **spec["settings"]}, made)
    with drawn_alike(), style(look):
        with told(f"figure {name}", spec["settings"]):
            drawn = Drawn.of(draw(**tables, **spec["settings"]))
        legible_ticks(sized(drawn.figure, look))
        described = json.dumps(record | {"facts": plain_facts(drawn.facts), "alt": drawn.alt})
        with sealing(pdf) as partial:
            # no creation date: the same data give the same bytes
            metadata = {"Title": f"{paper} {name}", "Subject": f"{KEY}: {json.dumps(record)}", "CreationDate": None}
            drawn.figure.savefig(partial, format="pdf", metadata=metadata)
        with sealing(png) as partial:
            drawn.figure.savefig(partial, format="png", metadata={"Title": f"{paper} {name}", KEY: described})
