"""Draw a figure from parquet alone: the same picture as PDF and PNG, provenance in both files' metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from learning_dynamics.files import replacing
from learning_dynamics.pipeline.provenance import KEY, provenance
from learning_dynamics.pipeline.stages.papers import paper_function
from learning_dynamics.pipeline.stages.tables import load_tables
from learning_dynamics.plotting import style


def execute(paper: str, name: str, spec: Mapping[str, Any], metrics: Path, pdf: Path, png: Path) -> None:
    """Call the figure's function with its runs' tables and save what it draws."""
    draw = paper_function(paper, "figures", name)
    record = json.dumps(provenance("figure", paper, name, {"runs": spec["runs"], **spec["settings"]}))
    with style():
        figure = draw(load_tables(metrics, spec["runs"]), **spec["settings"])
        with replacing(pdf) as partial:
            # no creation date: the same data give the same bytes
            metadata = {"Title": f"{paper} {name}", "Subject": f"{KEY}: {record}", "CreationDate": None}
            figure.savefig(partial, format="pdf", metadata=metadata)
        with replacing(png) as partial:
            figure.savefig(partial, format="png", metadata={"Title": f"{paper} {name}", KEY: record})
