"""A configuration's data, runs, metrics and claims, made here and now in one process; nothing is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import Evaluation
from learning_dynamics.pipeline.commands.claims import evaluate_claim
from learning_dynamics.pipeline.commands.data import make_data
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.metrics import measure
from learning_dynamics.pipeline.commands.run import simulate
from learning_dynamics.pipeline.plan.blocks import map_roles, overlay
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.tidy import Settings
from learning_dynamics.trajectories import Trajectory


def join_tables(name: str, sweep: Mapping[str, Any], tables: Sequence[tuple[Mapping[str, Any], pd.DataFrame]]) -> Any:
    """Return the tables of a sweep's runs as one, with a column for each swept setting."""
    merged = pd.concat([table.assign(**differing) for differing, table in tables], ignore_index=True)
    attrs = tables[0][1].attrs
    settings = Settings(overlay(attrs["settings"], sweep))
    merged.attrs = attrs | {"settings": settings, "run": name, "swept": tuple(sweep)}
    return merged


@dataclass
class Workbench:
    """What a configuration describes, made when it is asked for and kept by fingerprint."""

    plan: Plan
    results: dict[str, Any] = field(default_factory=dict)

    def data(self, paper: str, name: str) -> Any:
        """Return a data set's arrays."""
        key = self.plan.fingerprint("data", paper, name)
        if key not in self.results:
            self.results[key] = make_data(paper, name, self.plan.data(paper, name))
        return self.results[key]

    def trajectory(self, paper: str, run: str) -> Trajectory:
        """Return the trajectory of a run, by itself or of a sweep."""
        key = self.plan.fingerprint("run", paper, run)
        if key not in self.results:
            data = self.plan.run_data(paper, run)
            try:
                arrays = self.data(paper, data) if data else None
                self.results[key] = simulate(paper, run, self.plan.run(paper, run), arrays)
            except ProjectError as error:
                self.results[key] = error
        if isinstance(self.results[key], ProjectError):
            raise self.results[key]  # once is enough: other claims ask for it again
        return self.results[key]

    def table(self, paper: str, run: str) -> pd.DataFrame:
        """Return the metrics of a run; a sweep's runs are one table."""
        runs = self.plan.config.runs_of(paper, run)
        measured = [(differing, self._measured(paper, name)) for name, differing in runs]
        sweep = self.plan.describe_run(paper, run)["sweep"]
        if not sweep:
            return measured[0][1]
        return join_tables(run, sweep, measured)

    def _measured(self, paper: str, run: str) -> pd.DataFrame:
        key = self.plan.fingerprint("metrics", paper, run)
        if key not in self.results:
            spec = self.plan.measure(paper, run)
            self.results[key] = measure(paper, run, spec, self.trajectory(paper, run))
        return self.results[key]

    def tables(self, paper: str, claim: str) -> dict[str, Any]:
        """Return the tables of a claim by role."""
        return map_roles(lambda run: self.table(paper, run["name"]), self.plan.claim(paper, claim)["runs"])

    def judge(self, paper: str, claim: str) -> Evaluation:
        """Return the verdict on a claim; see `judging.evaluate`."""
        spec = self.plan.claim(paper, claim)
        function = paper_function(paper, "claims", spec["function"])
        return evaluate_claim(claim, function, self.tables(paper, claim), spec["settings"], verdict_alone=True)
