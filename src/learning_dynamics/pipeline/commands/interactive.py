"""Draw a figure whose reader moves it from parquet alone: a Vega-Lite chart with provenance and facts, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.commands.drawing import prepared
from learning_dynamics.pipeline.commands.functions import told
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.templates import fill
from learning_dynamics.pipeline.store.provenance import plain_facts
from learning_dynamics.pipeline.store.seals import sealing
from learning_dynamics.plotting.interactive import Interactive, complete

LARGEST = 500_000  # bytes


def execute(
    paper: str,
    name: str,
    spec: Mapping[str, Any] | None = None,
    metrics: Path | None = None,
    out: Path | None = None,
    fingerprint: str | None = None,
) -> None:
    """Call the interactive figure's function with its runs' tables by role and save the chart that it returns.

    What is not given is the configuration's.
    """
    out = out or Path("figures", paper, f"{name}.json")
    drawing = prepared("interactive", paper, name, spec, metrics, fingerprint)
    with told(f"interactive {name}", drawing.settings):
        drawn: Interactive = drawing()
        facts = plain_facts(drawn.facts)
        chart = chart_of(drawn, maths.plain(fill(drawn.alt, facts)), f"interactive {name}")
    with sealing(out) as partial:
        # the digest becomes the last value of the list, and closes it
        partial.write_text(
            f"[{json.dumps(drawing.record | {'facts': facts, 'alt': drawn.alt})},\n{chart},\n", encoding="utf-8"
        )


def chart_of(drawn: Interactive, said: str, what: str) -> str:
    """Return a chart as the page carries it, no character of which ends a script.

    Raises
    ------
    ProjectError
        If it takes more than `LARGEST`.
    """
    text = json.dumps(complete(drawn, said), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    if len(text.encode()) > LARGEST:
        raise ProjectError(
            f"{what}: takes {len(text.encode()) / 1000:.0f} kB, at most {LARGEST / 1000:.0f} are shown; "
            "give it fewer points"
        )
    return text
