"""What tests share: the project's configuration, and runs measured in-process at smoke scale."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from learning_dynamics.claims import evaluate
from learning_dynamics.pipeline.config import Project, load_config
from learning_dynamics.pipeline.stages import data, metrics, run
from learning_dynamics.pipeline.stages.papers import paper_function
from learning_dynamics.pipeline.stages.tables import load_tables

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
SMOKE = (ROOT / "config.yaml", ROOT / "workflow/config/smoke.yaml")

Tables = dict[str, pd.DataFrame]


def project(*files: Path) -> Project:
    return Project(load_config(*(files or (ROOT / "config.yaml",))), SCHEMA)


@functools.cache
def _measured(paper: str, name: str) -> pd.DataFrame:
    """Metrics of one run at smoke scale, made once in each test process."""
    smoke = project(*SMOKE)
    spec = smoke.run(paper, name)
    with tempfile.TemporaryDirectory() as folder:
        made = None
        if spec["data"]:
            made = Path(folder, "data.npz")
            data.execute(paper, spec["data"], smoke.data(paper, spec["data"]), made)
        run.execute(paper, name, spec, made, Path(folder, "run.npz"))
        metrics.execute(paper, name, Path(folder, "run.npz"), Path(folder, f"{name}.parquet"))
        return load_tables(Path(folder), {name: None})[name]


def claim_tables(paper: str, claim: str) -> Tables:
    """Return fresh copies of the smoke-scale tables that a claim reads."""
    runs = project(*SMOKE).claims(paper)["claims"][claim]["runs"]
    assert not any(runs.values()), "swept runs: build the tables in the test"
    return {name: _measured(paper, name).copy() for name in runs}


def verdict(paper: str, claim: str, tables: Tables) -> str:
    """Return the verdict of a claim on given tables, with the configuration's settings."""
    settings = project(*SMOKE).claims(paper)["claims"][claim]["settings"]
    return evaluate(paper_function(paper, "claims", claim), tables, settings)["verdict"]


def scaled(quantity: str, factor: float, **where: object) -> Callable[[Tables], Tables]:
    """Return an alteration of tables: multiply the values of a quantity, in the rows where columns match."""

    def alter(tables: Tables) -> Tables:
        for table in tables.values():
            rows = table["quantity"] == quantity
            for column, value in where.items():
                rows &= table[column] == value
            assert rows.any(), f"no rows of {quantity!r} where {where}"
            table.loc[rows, "value"] *= factor
        return tables

    return alter
