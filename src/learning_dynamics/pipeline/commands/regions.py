"""Join what wild draws, or turning checks, have found: a table, as CSV too, a page of Markdown, a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands import turning, wild
from learning_dynamics.pipeline.commands.replication import save_figure
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.tables import read_provenance, read_table, write_table


def execute(
    of: Literal["wild", "turning"],
    files: Sequence[Path],
    /,
    out: Path,
    csv: Path,
    markdown: Path,
    pdf: Path,
    png: Path,
) -> None:
    """Write the five files."""
    part = {"wild": wild, "turning": turning}[of]
    tables = [read_table(file, declared=part.COLUMNS) for file in files]
    empty = pd.DataFrame(columns=[column.name for column in part.COLUMNS])
    rows = pd.concat(tables, ignore_index=True) if tables else empty
    part.check_joined(files, rows)
    made = {f"{file.parent.parent.name}/{file.stem}": read_provenance(file).get("fingerprint", "") for file in files}
    write_table(out, rows, part.COLUMNS, provenance(of, "all", out.stem, {"made": made}))
    with atomic_write(csv) as partial:
        partial.write_text(part.to_csv(rows), encoding="utf-8")
    with atomic_write(markdown) as partial:
        partial.write_text(part.describe(rows), encoding="utf-8")
    save_figure(lambda: part.draw(rows), pdf, png)
