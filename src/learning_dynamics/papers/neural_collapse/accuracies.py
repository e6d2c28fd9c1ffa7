"""Table 1: test accuracy where train errors end and at the end of training, the paper's numbers beside ours."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from tabulate import tabulate

from learning_dynamics.files import replacing
from learning_dynamics.papers.neural_collapse import theory
from learning_dynamics.papers.neural_collapse.epochs import at_zero_error_and_end, by_seed
from learning_dynamics.pipeline.provenance import provenance
from learning_dynamics.tables import Column, read_table, write_table

COLUMNS = (
    Column("data", "str", "data set"),
    Column("network", "str", "network family"),
    Column("seeds", "int", "trainings that reached zero train error"),
    Column("zero_error", "float", "test accuracy at the first measured epoch without a train error, percent", True),
    Column("zero_error_se", "float", "its standard error over seeds", True),
    Column("end", "float", "test accuracy at the last epoch, percent", True),
    Column("end_se", "float", "its standard error over seeds", True),
    Column("change", "float", "end less zero_error, percentage points", True),
    Column("change_se", "float", "its standard error over seeds", True),
    Column("paper_zero_error", "float", "the paper's accuracy at zero error, where it has the data set", True),
    Column("paper_end", "float", "the paper's accuracy at the end", True),
)


def accuracies(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return one row for each run, named ``<data set>_<network>_<loss>``; see `COLUMNS`."""
    rows = []
    for run, table in tables.items():
        data, network, _ = run.rsplit("_", 2)
        start, end = at_zero_error_and_end(100 * (1 - by_seed(table, "error", "test")), table)
        row = {"data": data, "network": network, "seeds": int(start.notna().sum())}
        for name, values in (("zero_error", start), ("end", end), ("change", end - start)):
            row[name] = values.mean()
            row[f"{name}_se"] = values.std() / np.sqrt(values.notna().sum())
        published = theory.PAPER_TABLE_1.get((data, network), (np.nan, np.nan))
        row["paper_zero_error"], row["paper_end"] = published
        rows.append(row)
    return pd.DataFrame(rows, columns=[column.name for column in COLUMNS])


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the runs' metrics and write the table twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("metrics", type=Path, nargs="+", help="the runs' .parquet")
    parser.add_argument("--parquet", type=Path, required=True)
    parser.add_argument("--markdown", type=Path, required=True)
    options = parser.parse_args(arguments)
    table = accuracies({path.stem: read_table(path) for path in options.metrics})
    runs = {"runs": [path.stem for path in options.metrics]}
    write_table(options.parquet, table, COLUMNS, provenance("table", "neural_collapse", "table1", runs))
    with replacing(options.markdown) as partial:
        text = tabulate(table, headers="keys", tablefmt="github", showindex=False, floatfmt=".2f", missingval="")
        partial.write_text(text.replace("nan", "   ") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
