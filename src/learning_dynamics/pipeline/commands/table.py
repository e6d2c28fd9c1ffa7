"""A table of a paper's own from metrics: what one of its functions returns, as parquet, Markdown or text."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from tabulate import tabulate

from learning_dynamics.files import atomic_write
from learning_dynamics.pipeline.commands.functions import data_function
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.tables import read_table, write_table


def execute(paper: str, function: str, /, metrics: Sequence[Path], out: Sequence[Path]) -> None:
    """Call ``module.function`` of a paper with the tables of metrics; write what it returns to every file of `out`."""
    compute = data_function(paper, function)
    tables = [read_table(path) for path in metrics]
    for path, table in zip(metrics, tables, strict=True):
        table.attrs["run"] = path.stem
    result = compute(tables)
    for file in out:
        if file.suffix == ".parquet":
            runs = {"runs": [path.stem for path in metrics]}
            write_table(file, result, compute.columns, provenance("table", paper, file.stem, runs))
            continue
        with atomic_write(file) as partial:
            partial.write_text(_text(result), encoding="utf-8")


def _text(result: pd.DataFrame | str) -> str:
    if isinstance(result, str):
        return result
    text = tabulate(result, headers="keys", tablefmt="github", showindex=False, floatfmt=".2f", missingval="")
    return text.replace("nan", "   ") + "\n"
