"""Write an overlay that a paper's function computes from tables of metrics, such as the rates that a sweep selects."""

from collections.abc import Sequence
from pathlib import Path

from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.functions import data_function
from learning_dynamics.pipeline.store.tables import read_table


def execute(paper: str, function: str, /, metrics: Sequence[Path], out: Path) -> None:
    """Call ``module.function`` of a paper with the tables and write the text that it returns."""
    # the function is outside topics, as data sources are
    compute = data_function(paper, function)
    tables = [read_table(path) for path in metrics]
    for path, table in zip(metrics, tables, strict=True):
        table.attrs["run"] = path.stem  # for the function, which tells the runs of a sweep by their names
    with atomic_write(out) as partial:
        partial.write_text(compute(tables), encoding="utf-8")
