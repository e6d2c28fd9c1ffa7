"""Draw a figure from parquet alone: one picture as PDF, PNG and SVG, provenance in the metadata, facts in the PNG's."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

from learning_dynamics.pipeline.commands.drawing import prepared
from learning_dynamics.pipeline.commands.functions import told
from learning_dynamics.pipeline.report.vectors import KEPT
from learning_dynamics.pipeline.store.pictures import drawn_alike
from learning_dynamics.pipeline.store.provenance import KEY, plain_facts
from learning_dynamics.pipeline.store.seals import sealing
from learning_dynamics.plotting import Drawn, legible_ticks, sized, style

logging.getLogger("fontTools").setLevel(logging.ERROR)  # what it says is of the fonts' own dates


def execute(
    paper: str,
    name: str,
    spec: Mapping[str, Any] | None = None,
    metrics: Path | None = None,
    pdf: Path | None = None,
    png: Path | None = None,
    svg: Path | None = None,
    fingerprint: str | None = None,
    look: str = "paper",
) -> None:
    """Call the figure's function with its runs' tables by role and save what it draws.

    What is not given is the configuration's: a person names paper, figure and look, and finds ``figures/<look>/``.
    """
    pdf = pdf or Path("figures", *([look] if look != "paper" else []), paper, f"{name}.pdf")
    png = png or pdf.with_suffix(".png")
    svg = svg or pdf.with_suffix(".svg")
    drawing = prepared("figure", paper, name, spec, metrics, fingerprint)
    with drawn_alike(), style(look):
        with told(f"figure {name}", drawing.settings):
            drawn = Drawn.of(drawing())
        legible_ticks(sized(drawn.figure, look))
        described = json.dumps(drawing.record | {"facts": plain_facts(drawn.facts), "alt": drawn.alt})
        with sealing(pdf) as partial:
            # no creation date: the same data give the same bytes
            metadata = {
                "Title": f"{paper} {name}",
                "Subject": f"{KEY}: {json.dumps(drawing.record)}",
                "CreationDate": None,
            }
            drawn.figure.savefig(partial, format="pdf", metadata=metadata)
        with sealing(png) as partial:
            drawn.figure.savefig(partial, format="png", metadata={"Title": f"{paper} {name}", KEY: described})
        ready_for_svg(drawn.figure)
        with sealing(svg) as partial:
            metadata = {"Title": metadata["Title"], "Description": metadata["Subject"], "Date": None}
            drawn.figure.savefig(partial, format="svg", metadata=metadata)


def ready_for_svg(figure: Figure) -> None:
    """Let nothing but maps be pixels; give ids to what lies on maps: its colours stay on a dark screen as theirs do."""
    for one in figure.findobj(lambda one: one.get_rasterized() and not isinstance(one, QuadMesh)):
        one.set_rasterized(False)
    for panel, axis in enumerate(figure.axes):
        if axis.images or any(isinstance(one, QuadMesh) for one in axis.collections):
            for place, one in enumerate((*axis.texts, *axis.lines, *axis.patches)):
                if one.get_transform().contains_branch(axis.transData):
                    one.set_gid(f"{KEPT}_{panel}_{place}")
