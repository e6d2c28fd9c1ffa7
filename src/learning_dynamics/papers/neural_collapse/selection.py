"""Learning rates chosen by a sweep: the best test error at the last epoch, as a configuration to lay over."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from learning_dynamics.evidence import Optimum, optimum
from learning_dynamics.papers.neural_collapse.trainings import at_the_end
from learning_dynamics.pipeline.seals import sealing
from learning_dynamics.pipeline.tables import read_table
from learning_dynamics.tidy import Table, settings_of


def best_rate(tables: Sequence[Table]) -> Optimum:
    """Return the learning rate with the lowest mean test error over seeds at its end; the larger of equals.

    A training that diverged counts as untrained, and keeps the rate before it off the grid's edge.
    """
    # in descending order, the first of equals is the larger
    errors = {
        -settings_of(table)["learning_rate"]: float(at_the_end([table], "error", "test").mean()) for table in tables
    }
    found = optimum(list(errors), list(errors.values()))
    return Optimum(tuple(-rate for rate in found.grid), -found.at, found.value, found.at_edge)


def overlay(rates: Mapping[str, float]) -> dict:
    """Return the configuration that gives each run its rate."""
    reason = {"learning_rate": {"chosen": "by the paper's recipe: the sweep's best test error at the last epoch"}}
    runs = {run: {"learning_rate": rate, "provenance": reason} for run, rate in rates.items()}
    return {"papers": {"neural_collapse": {"runs": runs}}}


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the metrics of every sweep's members and write the configuration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metrics", type=Path, required=True, help="folder of the members' .parquet")
    parser.add_argument("--sweeps", type=json.loads, required=True, help="members' names by run, as JSON")
    parser.add_argument("--out", type=Path, required=True, help="the .yaml to write")
    options = parser.parse_args(arguments)
    best = {
        run: best_rate([read_table(options.metrics / f"{member}.parquet") for member in members])
        for run, members in options.sweeps.items()
    }
    notes = "".join(f"# {run}: {found}\n" for run, found in best.items())
    with sealing(options.out) as partial:
        partial.write_text(
            "# learning rates chosen by test error; lay over the configuration that has the sweep\n"
            + notes
            + yaml.safe_dump(overlay({run: found.at for run, found in best.items()}))
        )


if __name__ == "__main__":
    main()
