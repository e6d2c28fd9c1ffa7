"""A configuration's data, runs, metrics and claims, made here and now in one process; nothing is written."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import Evaluation
from learning_dynamics.pipeline.commands.claims import judged
from learning_dynamics.pipeline.commands.functions import arguments_for, data_function, paper_function, told
from learning_dynamics.pipeline.commands.run import check_finite
from learning_dynamics.pipeline.study.blocks import overlaid
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.tidy import Settings
from learning_dynamics.trajectories import Trajectory

Spec = Mapping[str, Any]  # as a job is told: `Project.data`, `Project.run`, `Project.measure`


def make_data(paper: str, name: str, spec: Spec) -> Any:
    """Return a data set's arrays."""
    function = data_function(paper, spec["source"])
    with told(f"data {name}", spec["settings"]):
        return function(**arguments_for(function, spec["settings"]))


def simulate(paper: str, name: str, spec: Spec, data: Any = None) -> Trajectory:
    """Return the trajectory of a run, given its data if it takes any.

    Raises
    ------
    ProjectError
        If the run's function refuses its settings.
    DivergenceError
        If a state leaves the finite numbers.
    """
    function = paper_function(paper, "runs", spec["kind"])
    arguments = {} if data is None else {"data": data}
    with tempfile.TemporaryDirectory() as folder:
        if "resume" in inspect.signature(function).parameters:
            arguments["resume"] = Path(folder)
        with told(f"run {name}", spec["settings"]):
            trajectory: Trajectory = function(**arguments, **arguments_for(function, spec["settings"]))
    check_finite(name, trajectory, spec["settings"])
    trajectory.settings = {"kind": spec["kind"], **spec["settings"]}
    return trajectory


def measure(paper: str, name: str, spec: Spec, trajectory: Trajectory) -> pd.DataFrame:
    """Return the metrics of a trajectory, with the settings of run and metrics in ``attrs``.

    What its constants hold is the data set of a trajectory that was simulated here.

    Raises
    ------
    ProjectError
        If the trajectory is of another kind of run.
    """
    kind = trajectory.settings.get("kind")
    if kind != spec["kind"]:
        raise ProjectError(f"{paper} {name}: measures {spec['kind']}; this trajectory is of {kind or 'nothing known'}")
    settings = Settings({**trajectory.settings, **spec["settings"]})
    function = paper_function(paper, "metrics", spec["kind"])
    takes_data = "data" in inspect.signature(function).parameters
    arguments = {"data": trajectory.constants} if takes_data else {}
    with told(f"metrics of {name}", settings):
        table = function(trajectory, **arguments, **arguments_for(function, spec["settings"]))
    table.attrs |= {"settings": settings, "run": name}
    return table


def joined(name: str, sweep: Mapping[str, Any], members: Sequence[tuple[Mapping[str, Any], pd.DataFrame]]) -> Any:
    """Return the tables of a sweep's members as one, with a column for each swept setting."""
    merged = pd.concat([table.assign(**differing) for differing, table in members], ignore_index=True)
    attrs = members[0][1].attrs
    merged.attrs = attrs | {"settings": Settings(overlaid(attrs["settings"], sweep)), "run": name}
    return merged


@dataclass
class Workbench:
    """What a configuration describes, made when it is asked for and kept by fingerprint."""

    project: Project
    made: dict[str, Any] = field(default_factory=dict)

    def data(self, paper: str, name: str) -> Any:
        """Return a data set's arrays."""
        made = self.project.fingerprint("data", paper, name)
        if made not in self.made:
            self.made[made] = make_data(paper, name, self.project.data(paper, name))
        return self.made[made]

    def trajectory(self, paper: str, member: str) -> Trajectory:
        """Return the trajectory of a run, or of a sweep's member."""
        made = self.project.fingerprint("run", paper, member)
        if made not in self.made:
            data = self.project.run_data(paper, member)
            try:
                arrays = self.data(paper, data) if data else None
                self.made[made] = simulate(paper, member, self.project.run(paper, member), arrays)
            except ProjectError as error:
                self.made[made] = error
        if isinstance(self.made[made], ProjectError):
            raise self.made[made]  # once is enough: other claims ask for it again
        return self.made[made]

    def table(self, paper: str, run: str) -> pd.DataFrame:
        """Return the metrics of a run; a sweep's members are one table."""
        members = self.project.study.members(paper, run)
        measured = [(differing, self._measured(paper, member)) for member, differing in members]
        sweep = self.project.described(paper, run)["sweep"]
        return joined(run, sweep, measured) if sweep else measured[0][1]

    def _measured(self, paper: str, member: str) -> pd.DataFrame:
        made = self.project.fingerprint("metrics", paper, member)
        if made not in self.made:
            spec = self.project.measure(paper, member)
            self.made[made] = measure(paper, member, spec, self.trajectory(paper, member))
        return self.made[made]

    def tables(self, paper: str, claim: str) -> dict[str, Any]:
        """Return the tables of a claim by role."""
        return {
            role: [self.table(paper, one["name"]) for one in given]
            if isinstance(given, list)
            else self.table(paper, given["name"])
            for role, given in self.project.claim(paper, claim)["runs"].items()
        }

    def judge(self, paper: str, claim: str) -> Evaluation:
        """Return a claim's evaluation."""
        spec = self.project.claim(paper, claim)
        return judged(claim, paper_function(paper, "claims", spec["kind"]), self.tables(paper, claim), spec["settings"])
