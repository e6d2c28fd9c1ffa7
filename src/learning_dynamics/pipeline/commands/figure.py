"""Draw a figure from parquet alone: one picture as PDF, PNG and SVG, the stamp in the metadata, facts in the PNG's."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import matplotlib
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.planned import find_job
from learning_dynamics.pipeline.commands.roles import draw
from learning_dynamics.pipeline.plan.sources import definition_of, place_of
from learning_dynamics.pipeline.report.templates import fill
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.pipeline.store.stamps import KEY, plain_facts
from learning_dynamics.plotting import Plot, legible_ticks, sized, style


def execute(
    paper: str,
    name: str,
    /,
    plan: Path | None = None,
    fingerprint: str | None = None,
    files: Sequence[Path] = (),
    look: Literal["paper", "talk", "thesis"] = "paper",
) -> None:
    """Call the figure's function with its runs' tables by role and save what it draws, PNG and SVG beside the PDF.

    A figure of another style is in a folder of that name: ``figures/talk/``.

    Raises
    ------
    ProjectError
        If it has no alternative text, or a text of it has a field that nothing fills.
    """
    job = find_job("figure", paper, name, plan=plan, planned_fingerprint=fingerprint, files=files)
    pdf = Path(job.output) if look == "paper" else Path("figures", look, paper, f"{name}.pdf")
    with matplotlib_defaults(), style(look):
        result, record = draw(job)
        drawn = Plot.of(result)
        place = place_of("figure", paper, job.spec["function"])
        if not drawn.alt:
            raise ProjectError(f"{place} has no alternative text; return Plot(figure, alt=...)")
        facts = plain_facts(drawn.facts)
        for text in (definition_of("figure", paper, job.spec["function"], name).caption, drawn.alt):
            fill(text, facts, place)
        figure = sized(drawn.figure, look)
        figure.set_dpi(matplotlib.rcParams["savefig.dpi"])  # at another resolution letters have other widths
        legible_ticks(figure)
        figure.set_layout_engine("none")  # all three formats have the layout of the PNG
        shown = {"facts": facts, "alt": drawn.alt, "panels": panel_boxes(figure)}
        if drawn.table is not None:
            shown["table"] = drawn.table.to_dict(orient="split", index=False)
        described = json.dumps(record | shown)
        with atomic_write(pdf) as partial:
            # no creation date: the same data give the same bytes
            metadata = {
                "Title": f"{paper} {name}",
                "Subject": f"{KEY}: {json.dumps(record)}",
                "CreationDate": None,
            }
            figure.savefig(partial, format="pdf", metadata=metadata)
        with atomic_write(pdf.with_suffix(".png")) as partial:
            figure.savefig(partial, format="png", metadata={"Title": f"{paper} {name}", KEY: described})
        for artist in figure.findobj(lambda artist: artist.get_rasterized() and not isinstance(artist, QuadMesh)):
            artist.set_rasterized(False)  # in the SVG nothing but maps is pixels
        with atomic_write(pdf.with_suffix(".svg")) as partial:
            metadata = {"Title": metadata["Title"], "Description": metadata["Subject"], "Date": None}
            figure.savefig(partial, format="svg", metadata=metadata)
    print(f"{pdf}, .png and .svg beside it")


def panel_boxes(figure: Figure) -> list[list[float]]:
    """Return where each panel is, with its title and labels: left, top, right, bottom as shares of the figure.

    The panels are in the order in which they were made; a colour bar, or axes that are not shown, are none.
    """
    size = figure.bbox.size
    boxes = []
    for axis in figure.axes:
        box = axis.get_tightbbox()
        if box is None or axis.get_label() == "<colorbar>":
            continue
        corners = (box.x0 / size[0], 1 - box.y1 / size[1], box.x1 / size[0], 1 - box.y0 / size[1])
        boxes.append([round(min(max(float(corner), 0.0), 1.0), 4) for corner in corners])
    return boxes
