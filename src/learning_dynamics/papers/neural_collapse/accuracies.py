"""Table 1 as parquet and Markdown, from the metrics of trainings: a command of its own."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from tabulate import tabulate

from learning_dynamics.papers.neural_collapse.generalisation.table1 import COLUMNS, accuracies
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.seals import sealing
from learning_dynamics.pipeline.store.tables import read_table, write_table


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the runs' metrics and write the table twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("metrics", type=Path, nargs="+", help="the runs' .parquet")
    parser.add_argument("--parquet", type=Path, required=True)
    parser.add_argument("--markdown", type=Path, required=True)
    options = parser.parse_args(arguments)
    table = accuracies([read_table(path) for path in options.metrics])
    runs = {"runs": [path.stem for path in options.metrics]}
    write_table(options.parquet, table, COLUMNS, provenance("table", "neural_collapse", "table1", runs))
    with sealing(options.markdown) as partial:
        text = tabulate(table, headers="keys", tablefmt="github", showindex=False, floatfmt=".2f", missingval="")
        partial.write_text(text.replace("nan", "   ") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
