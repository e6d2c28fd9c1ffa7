"""Write the text that one of a paper's functions makes of tables of metrics, as a configuration to lay over."""

from collections.abc import Sequence
from pathlib import Path

from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.functions import data_function
from learning_dynamics.pipeline.store.tables import read_table


def execute(paper: str, function: str, /, metrics: Sequence[Path], out: Path) -> None:
    """Call ``module.function`` of a paper with the tables and write what it returns."""
    compute = data_function(paper, function)
    tables = [read_table(path) for path in metrics]
    for path, table in zip(metrics, tables, strict=True):
        table.attrs["run"] = path.stem
    with atomic_write(out) as partial:
        partial.write_text(compute(tables), encoding="utf-8")
