"""Draw a figure whose reader moves it from parquet alone: a Vega-Lite chart with its stamp and facts, as JSON."""

import json
from collections.abc import Sequence
from pathlib import Path

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.planned import find_job
from learning_dynamics.pipeline.commands.roles import draw
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.templates import fill
from learning_dynamics.pipeline.store.stamps import plain_facts
from learning_dynamics.plotting.interactive import Interactive, complete

MAX_BYTES = 500_000  # of a chart; chosen


def execute(
    paper: str, name: str, /, plan: Path | None = None, fingerprint: str | None = None, files: Sequence[Path] = ()
) -> None:
    """Call the interactive figure's function with its runs' tables by role and save the chart that it returns."""
    job = find_job("interactive", paper, name, plan=plan, planned_fingerprint=fingerprint, files=files)
    drawn, record = draw(job)
    facts = plain_facts(drawn.facts)
    chart = chart_json(drawn, maths.plain(fill(drawn.alt, facts)), f"interactive {name}")
    with atomic_write(job.output) as partial:
        described = json.dumps(record | {"facts": facts, "alt": drawn.alt})
        partial.write_text(f"[{described},\n{chart}]\n", encoding="utf-8")


def chart_json(interactive: Interactive, description: str, label: str) -> str:
    """Return a chart as the page carries it, no character of which ends a script.

    Raises
    ------
    ProjectError
        If it takes more than `MAX_BYTES`.
    """
    text = json.dumps(complete(interactive, description), ensure_ascii=False, separators=(",", ":")).replace(
        "<", "\\u003c"
    )
    if len(text.encode()) > MAX_BYTES:
        raise ProjectError(
            f"{label}: takes {len(text.encode()) / 1000:.0f} kB, at most {MAX_BYTES / 1000:.0f} are shown; "
            "give it fewer points"
        )
    return text
