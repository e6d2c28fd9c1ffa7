"""Join what wild draws, or turning checks, have found: a table, as CSV too, a page of Markdown, a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from learning_dynamics.pipeline.commands import turning, wild

COLLECT = {"wild": wild.collect, "turning": turning.collect}


def execute(
    of: Literal["wild", "turning"],
    files: Sequence[Path],
    out: Path,
    csv: Path,
    markdown: Path,
    pdf: Path,
    png: Path,
) -> None:
    """Write the five files."""
    COLLECT[of](files, out, csv, markdown, pdf, png)
