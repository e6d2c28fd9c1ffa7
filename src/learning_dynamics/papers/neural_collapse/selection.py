"""Learning rates chosen by a sweep: the best test error at the last epoch, as a configuration to lay over."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
import yaml

from learning_dynamics.files import replacing
from learning_dynamics.papers.neural_collapse.epochs import by_seed
from learning_dynamics.tables import read_table


def best_rate(tables: Sequence[pd.DataFrame]) -> float:
    """Return the learning rate of the training with the lowest test error at its end; the larger of equals."""
    return max(
        (-float(by_seed(table, "error", "test").iloc[-1].mean()), table.attrs["settings"]["learning_rate"])
        for table in tables
    )[1]


def overlay(rates: Mapping[str, float]) -> dict:
    """Return the configuration that gives each run its rate."""
    return {"papers": {"neural_collapse": {"runs": {run: {"learning_rate": rate} for run, rate in rates.items()}}}}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the metrics of every sweep's members and write the configuration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metrics", type=Path, required=True, help="folder of the members' .parquet")
    parser.add_argument("--sweeps", type=json.loads, required=True, help="members' names by run, as JSON")
    parser.add_argument("--out", type=Path, required=True, help="the .yaml to write")
    options = parser.parse_args(arguments)
    rates = {
        run: best_rate([read_table(options.metrics / f"{member}.parquet") for member in members])
        for run, members in options.sweeps.items()
    }
    with replacing(options.out) as partial:
        partial.write_text(
            "# learning rates chosen by test error; lay over the configuration that has the sweep\n"
            + yaml.safe_dump(overlay(rates))
        )


if __name__ == "__main__":
    main()
