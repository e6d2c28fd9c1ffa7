"""What a notebook asks for: tables, claims, figures and trajectories of a run, and runs with other settings.

>>> import learning_dynamics as ld
>>> ld.paper_names()[0]
'spectral_bias'

These are methods of `Project`, a configuration with its results in the project's folder; ``ld.table`` is that of the
default configuration, ``ld.project("sweep.yaml").table`` of one with an overlay. In a notebook that is run for another
scale, the variable ``LEARNING_DYNAMICS_SCALE`` names the default: a file of ``workflow/config``, or ``seed7``.
Configuration and sources are read again when they change.
Nothing here runs Snakemake: what is not there is an error that says what to run.
"""

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from matplotlib.figure import Figure

from learning_dynamics.environment import check_checkout
from learning_dynamics.errors import ProjectError, check_known, shortened
from learning_dynamics.judging import Check, Evaluation
from learning_dynamics.pipeline.commands.claims import evaluate_claim
from learning_dynamics.pipeline.commands.data import make_data
from learning_dynamics.pipeline.commands.fresh_plan import fresh_plan
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.in_process import join_tables
from learning_dynamics.pipeline.commands.metrics import measure as measure_run
from learning_dynamics.pipeline.commands.own_torch import imports_torch, own_torch
from learning_dynamics.pipeline.commands.robustness import read_all_variations
from learning_dynamics.pipeline.commands.roles import (
    call_drawing,
    empty_table,
    load_table,
    load_tables,
    refuse_missing_tables,
)
from learning_dynamics.pipeline.commands.run import simulate as simulate_run
from learning_dynamics.pipeline.plan.blocks import flat
from learning_dynamics.pipeline.plan.config_files import PAPERS, ROOT
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import outdated_verdicts
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.robustness import count_judged_again
from learning_dynamics.pipeline.report.templates import fill
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.arrays import load_arrays, load_trajectory
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.stamps import plain_facts
from learning_dynamics.pipeline.store.tables import read_table, values_in
from learning_dynamics.plotting import LOOKS, Plot
from learning_dynamics.plotting import style as style_of
from learning_dynamics.tidy import select, swept_columns, values_of_rows
from learning_dynamics.trajectories import Trajectory

SCALE = "LEARNING_DYNAMICS_SCALE"
ROUNDED = ("float32", "float16")  # types with fewer digits than claims decide by


@dataclass(frozen=True)
class Judged(Evaluation):
    """An evaluation with the words of the claim's card on the page."""

    claim: str = ""  # paper and name
    reference: str = ""
    statement: str = ""
    scope: str = ""
    explanation: str = ""

    @property
    def headline(self) -> Check | None:
        """The first check: the correction's if the claim is corrected, else that of what is printed."""
        return self.decisive.headline if self.decisive else None

    def __repr__(self) -> str:
        of = f", of {self.quantifier}" if self.quantifier else ""
        lines = [f"{self.claim} ({self.reference}): {self.verdict}{of}", self.statement]
        if self.reason:
            lines.append(f"why: {self.reason}")
        if self.decisive:
            lines += map(str, self.decisive.checks)
        lines += [f"rival: {rival}: {verdict}" for rival, verdict in self.rivals.items()]
        if self.min_detectable_error > 0:  # false for nan
            error = f"{self.min_detectable_error:.2g}"
            lines.append(f"smallest error detected: a prediction off by a fraction of {error}")
        return "\n  ".join(map(maths.plain, lines))


class Simulated(Trajectory):
    """A trajectory that a notebook shows in a few lines."""

    def __repr__(self) -> str:
        settings = ", ".join(f"{key} {shortened(value)}" for key, value in flat(self.settings).items())
        shapes = ", ".join(f"{name} {array.shape}" for name, array in self.series.items())
        members = f"{self.members} members, " if self.series else ""
        times = f"{len(self.time)} times from {self.time[0]:g} to {self.time[-1]:g}" if len(self.time) else "no times"
        lines = [f"Trajectory: {members}{times}", f"series: {shapes}", f"constants: {', '.join(self.constants)}"]
        return "\n  ".join([*lines, f"settings: {settings}"])


class SimulatedSweep(dict[str, Trajectory]):
    """The trajectories of a sweep's runs by name, which a notebook shows in a line."""

    def __repr__(self) -> str:
        return f"{len(self)} trajectories, by name: {shortened(list(self))}"


def project(*configfiles: str | Path, **config: Any) -> "Project":
    """Return the project with overlays and values of the configuration, as Snakemake takes them.

    >>> project("workflow/config/smoke.yaml", seed=7).paper_names()[0]
    'spectral_bias'

    Parameters
    ----------
    *configfiles : str or path
        As after ``--configfile``; relative to the working folder, or else to the project's.
    **config
        As after ``--config``.
    """
    files = [Path(file).expanduser() for file in configfiles]
    return Project(tuple(file.absolute() if file.exists() else ROOT / file for file in files), config)


@dataclass(frozen=True)
class Project:
    """A configuration, and its results in the project's folder.

    Attributes
    ----------
    files : tuple of path
        Overlays, later ones laid over earlier ones.
    config : mapping
        Values laid over the files.
    """

    files: tuple[Path, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)

    def paper_names(self) -> list[str]:
        """Return the names of the papers, in the order of the configuration."""
        return self._plan().config.papers

    def runs(self, paper: str) -> list[str]:
        """Return the runs of a paper, sweeps as one.

        >>> "small_scale" in runs("spectral_bias")
        True
        """
        return list(self._plan(paper).config.blocks(paper, "runs"))

    def figures(self, paper: str) -> list[str]:
        """Return the figures of a paper."""
        return self._plan(paper).config.figures(paper)

    def table(self, paper: str, run: str, quantity: str | list[str] | None = None, **where: Any) -> pd.DataFrame:
        """Return the metrics of a run as a tidy table, or some rows of it.

        The runs of a sweep are one table: a row for each run, draw and measurement, with a column for each swept
        setting. ``attrs["settings"]`` holds the settings that it was made with, of a swept one all values.

        >>> scan = project("sweep.yaml")  # doctest: +SKIP
        >>> scan.table("spectral_bias", "small_scale_sweep", "sigma_w1", index=4, phase="limit")  # doctest: +SKIP

        Parameters
        ----------
        paper, run : str
            As in the configuration.
        quantity, **where
            Which rows, as for `tidy.select`. Of a large sweep they are read in little more memory than they take.

        Raises
        ------
        ProjectError
            If there is no such run or no such row; or if the run's metrics are not there, or were made by other
            settings or other code.
        """
        plan = self._plan(paper)
        check_known(run, list(plan.config.blocks(paper, "runs")), "run", paper)
        described, folder = plan.describe_run(paper, run), self._results(paper, "metrics")
        refuse_missing_tables(plan, paper, run, folder, *self._configuration())
        if quantity is None and not where:
            return load_table(folder, described)
        for column in where:
            check_known(column, list(empty_table(folder, described)), "column", f"{paper} {run}")
        conditions = {"quantity": quantity, **where} if quantity is not None else where
        # what reading the files can select by: single values of their own columns; `select` does the rest
        selected_in_files = {
            key: value
            for key, value in conditions.items()
            if key not in (described["sweep"] or {}) and isinstance(value, str | float | int)
        }
        rows = load_table(folder, described, selected_in_files)
        if rows.empty and isinstance(quantity, str):
            first_run = next(iter(plan.config.tables(paper, run)))
            known = values_in(folder / f"{first_run}.parquet", "quantity", {})
            check_known(quantity, known, "quantity", f"{paper} {run}")
        return select(rows, **conditions)

    def trajectory(self, paper: str, run: str) -> Trajectory:
        """Return the raw states of a run: ``time``, ``series``, each of shape (members, times, ...), ``constants``.

        Raises
        ------
        ProjectError
            As `table`; also for a run of a bundle, which leaves no trajectory.
        """
        plan = self._plan(paper)
        check_known(run, plan.config.runs[paper], "run", paper)
        if any(run in runs for runs in plan.config.bundles[paper].values()):
            raise ProjectError(f"{paper} {run}: bundles leave no trajectories; make it here with `simulate`")
        file = self._results(paper, "runs", f"{plan.measured_run(paper, run)}.npz")
        states, _ = load_trajectory(file, plan.fingerprint("run", paper, run))
        data = plan.measured_data(paper, run)
        if data is not None:  # the file of the run does not repeat its data set
            file_of_data = self._results(paper, "data", f"{data}.npz")
            arrays, _ = load_arrays(file_of_data, plan.fingerprint("data", paper, data))
            states.constants = arrays | states.constants
        return Simulated(**vars(states))

    def claims(self, paper: str | None = None) -> pd.DataFrame:
        """Return the claims with their verdicts: those of the run on disk, else the published ones.

        ``attrs["of"]`` says which of the two. ``attrs["outdated"]`` says which papers' verdicts were made by other
        settings, other code or an earlier run, and why; a warning names these papers.
        """
        plan = self._plan(paper)
        names = [paper] if paper else self.paper_names()
        judged = [name for name in names if self._results(name, "claims.parquet").is_file()]
        if judged:
            source, why_missing = self._results(), "its claims were not judged here"
            tables = [read_table(self._results(name, "claims.parquet"), declared=COLUMNS) for name in judged]
            rows = pd.concat(tables, ignore_index=True)
            rows = count_judged_again(rows, read_all_variations(plan, self._results(), rows))
            problems = [outdated_verdicts(plan, name, self._results()) for name in judged]
            outdated = [problem for problem in problems if problem]
        else:
            source, why_missing = published.FOLDER / published.CLAIMS, "was neither judged here nor published"
            all_rows = published.read_claims()
            if all_rows is None:
                raise ProjectError(
                    f"{self._results()}: no claims, and nothing is published; run snakemake to make them"
                )
            rows = all_rows[all_rows["paper"].isin(names)].reset_index(drop=True)
            fingerprints = {name: plan.fingerprint("claims", name, "claims") for name in names}
            outdated = published.describe_outdated_papers(fingerprints)
        missing = [name for name in names if name not in set(rows["paper"])]
        outdated += [f"{name}: {why_missing}; run: snakemake {name}" for name in missing]

        if len(outdated) == 1:
            warnings.warn(outdated[0], stacklevel=2)
        elif outdated:
            of_papers = ", ".join(text.partition(":")[0] for text in outdated)
            warnings.warn(f"verdicts to be made again: {of_papers}; attrs['outdated'] says why", stacklevel=2)
        rows.attrs = {"of": str(source), "outdated": outdated}
        return rows

    def figure(
        self, paper: str, name: str, *, style: Literal["paper", "talk", "thesis"] = "paper", **settings: Any
    ) -> Figure:
        """Draw a figure again from its metrics, in a style, with any of its settings changed.

        Raises
        ------
        ProjectError
            As `table`; also for a setting that the figure does not have.
        """
        plan = self._plan(paper)
        check_known(name, plan.config.figures(paper), "figure", paper)
        if "look" in settings:
            raise ProjectError(f"{paper} {name}: look is now style: style={settings['look']!r}")
        check_known(style, list(LOOKS), "style", f"{paper} {name}")
        import matplotlib.pyplot as plt

        spec = plan.drawing("figure", paper, name)
        spec["settings"] = plan.config.settings("figure", paper, name, **settings)
        with matplotlib_defaults(), style_of(style):
            drawn = Plot.of(call_drawing("figure", paper, name, spec, self._results(paper, "metrics")))
        plt.close(drawn.figure)  # it is returned; a notebook would show it twice
        return drawn.figure

    def simulate(
        self,
        paper: str,
        run: str,
        *,
        data: str | Mapping[str, Any] | None = None,
        seed: int | None = None,
        **settings: Any,
    ) -> Trajectory | dict[str, Trajectory]:
        """Run a simulation of a paper here and now, with any of its settings changed; nothing is written.

        >>> few = simulate("spectral_bias", "small_scale", gamma=1.0, seeds=2)  # doctest: +SKIP

        Parameters
        ----------
        paper, run : str
            As in the configuration.
        data : str or mapping, optional
            Another data set of the paper, or settings of the run's own data set alone: with ``seed=7,
            data={"seed": 2023}`` the data stay and the start is drawn again.
        seed : int, optional
            Of the data and the start.
        **settings
            Settings of the run, or of its data set, over those of the configuration; of a class, those to be changed,
            as ``limit={"rtol": 1e-8}``.

        Returns
        -------
        Trajectory
            Of a sweep, one for each run, by the run's name.

        Raises
        ------
        ProjectError
            If there is no such run or setting, or a value does not fit.
        DivergenceError
            If a state leaves the finite numbers.
        """
        plan = self._plan_with(paper, run)
        if seed is not None:
            settings["seed"] = seed
        trajectories = {}
        for name, differing in plan.config.runs_of(paper, run):
            # a swept setting is refused, with a run to name instead
            swept = next((key for key in flat(settings) if key in differing), None)
            if swept is not None:
                raise ProjectError(f"{paper} {run}.{swept}: is swept; name one of its runs: {name}")
            trajectories[name] = self._simulate_with(plan, paper, name, data, settings)
        return SimulatedSweep(trajectories) if run in plan.config.sweeps(paper) else trajectories[run]

    def _simulate_with(
        self, plan: Plan, paper: str, run: str, data: str | Mapping[str, Any] | None, settings: Mapping[str, Any]
    ) -> Trajectory:
        """Return the trajectory of one run; each setting goes to the run or to its data set, the seed to both."""
        function = plan.config.signature("run", paper, run)
        of_run = function.settings | set(function.fields)  # its keywords, and keys of classes, as `limit`
        data_set = plan.run_data(paper, run)
        if data_set is None and data is not None:
            raise ProjectError(f"{paper} {run}: takes no data set")
        if not (data is None or isinstance(data, str | Mapping)):
            raise ProjectError(
                f"{paper} {run}: data: the name of a data set, or settings of one (is {shortened(data)})"
            )
        if isinstance(data, str):
            data_set = data
        of_data = plan.config.signature("data", paper, data_set).settings if data_set is not None else set()
        for key in settings:
            check_known(key, sorted(of_data | of_run), "setting", f"{paper} {run}")
        arrays = None
        if data_set is not None:
            # what the run does not take is of the data set; the seed is of both
            shared = {"seed"} & of_data
            changes = {key: value for key, value in settings.items() if key not in of_run or key in shared}
            if isinstance(data, Mapping):
                changes |= data
            arrays = make_data(paper, data_set, plan.data(paper, data_set, **changes))
        spec = plan.run(paper, run, **{key: value for key, value in settings.items() if key in of_run})
        with _as_job(plan, "run", paper, run):
            return Simulated(**vars(simulate_run(paper, run, spec, arrays)))

    def measure(self, paper: str, run: str, of: Trajectory | Mapping[str, Trajectory], **settings: Any) -> pd.DataFrame:
        """Measure a trajectory as the metrics of a run do, with any settings of measuring changed; nothing is written.

        Of a sweep, as `simulate` returns it, the runs are one table.

        >>> measure("spectral_bias", "small_scale", few)  # doctest: +SKIP
        """
        plan = self._plan_with(paper, run)
        runs = plan.config.runs_of(paper, run)
        if isinstance(of, Trajectory):
            first_run, _ = runs[0]
            with _as_job(plan, "metrics", paper, first_run):
                measured = measure_run(paper, first_run, plan.measure(paper, first_run, **settings), of)
            measured.attrs["run"] = run
            return measured
        tables = []
        for name, differing in runs:
            check_known(name, list(of), "trajectory", f"{paper} {run}")
            spec = plan.measure(paper, name, **settings)
            with _as_job(plan, "metrics", paper, name):
                tables.append((differing, measure_run(paper, name, spec, of[name])))
        return join_tables(run, plan.describe_run(paper, run)["sweep"], tables)

    def judge(self, paper: str, claim: str, tables_by_role: Mapping[str, Any] | None = None, **settings: Any) -> Judged:
        """Judge a claim on any tables or trajectories of the right kind, as its card on the page does.

        >>> judge("spectral_bias", "corollary_3_1", {"flows": [few]})  # doctest: +SKIP

        Parameters
        ----------
        paper, claim : str
            As in the configuration.
        tables_by_role : mapping, optional
            For each role of the claim a table of metrics, a trajectory (of a sweep all of its runs, as `simulate`
            returns them), or a list of such. A role that is not given has the tables on disk.
        **settings
            The claim's own settings, over those of the configuration.

        Raises
        ------
        ProjectError
            If there is no such claim, role or setting; if a table is of another kind of run, is rounded to single
            precision or has several values of a swept setting; or if a run's metrics are not there.
        """
        plan = self._plan(paper, check=True)
        check_known(claim, list(plan.config.blocks(paper, "claims")), "claim", paper)
        spec, given_tables = plan.claim(paper, claim, **settings), tables_by_role or {}
        for role in given_tables:
            check_known(role, list(spec["runs"]), "role", f"{paper} {claim}")
        tables = {}
        for role, run in spec["runs"].items():
            if role in given_tables:
                tables[role] = self._as_role(paper, f"{claim}, role `{role}`", run, given_tables[role])
            else:
                folder = self._results(paper, "metrics")
                for described in run if isinstance(run, list) else [run]:
                    refuse_missing_tables(plan, paper, described["name"], folder, *self._configuration())
                tables |= load_tables(folder, {role: run})
        function = paper_function(paper, "claims", spec["function"])
        evaluation = evaluate_claim(claim, function, tables, spec["settings"])
        facts = plain_facts(evaluation.facts)
        return Judged(
            **vars(evaluation),
            claim=f"{paper}.{claim}",
            reference=function.claim.reference,
            statement=plan.config.statement(paper, claim),
            scope=function.claim.scope,
            # an untested claim has no facts for it
            explanation=fill(plan.config.explanation(paper, claim), facts) if facts else "",
        )

    def _as_role(self, paper: str, where: str, runs: Any, value: Any) -> Any:
        """Return what is given in place of a role's run, or list of runs, as a table, or a list of tables."""
        if not isinstance(runs, list):
            if isinstance(value, list | tuple):
                raise ProjectError(f"{paper} {where}: holds one run, not a list")
            return self._as_table(paper, where, runs["name"], value)
        values = value if isinstance(value, list | tuple) else [value]
        tables = []
        for number, item in enumerate(values):
            # what is given beyond the configured runs is of the kind of the last
            run = runs[min(number, len(runs) - 1)]
            tables.append(self._as_table(paper, where, run["name"], item))
        return tables

    def _as_table(self, paper: str, where: str, run: str, value: Any) -> pd.DataFrame:
        """Return a table or trajectory as the table of a run that a claim can read; `where` is for errors."""
        if not isinstance(value, pd.DataFrame | Trajectory | Mapping):
            raise ProjectError(f"{paper} {where}: takes a table of metrics or a trajectory (is {type(value).__name__})")
        rows = value if isinstance(value, pd.DataFrame) else self.measure(paper, run, value)
        config = self._plan().config
        first_run, _ = config.runs_of(paper, run)[0]
        function_name = config.function_name("metrics", paper, first_run)
        declared = paper_function(paper, "metrics", function_name).columns
        needed = [*(column.name for column in declared), *rows.attrs.get("swept", ())]
        missing = [name for name in needed if name not in rows]
        if missing or "settings" not in rows.attrs:
            lacks = f"the columns {', '.join(missing)}" if missing else "the settings that it was made with"
            raise ProjectError(
                f"{paper} {where}: the table lacks {lacks}; make it with ld.measure({paper!r}, {run!r}, trajectory)"
            )
        for column in declared:
            if column.type == "float" and rows[column.name].dtype in ROUNDED:
                raise ProjectError(
                    f"{paper} {where}: column {column.name!r} is {rows[column.name].dtype}, and claims decide by more "
                    "digits than it has; give the float64 table that was measured"
                )
        swept = config.resolved_block(paper, "runs", run).get("sweep", {})
        for column in swept_columns(rows):
            values = values_of_rows(rows, column)
            if column not in swept and len(values) > 1:
                raise ProjectError(
                    f"{paper} {where}: the table has {len(values)} values of `{column}`, and the claim is judged at "
                    f"one; give table[table[{column!r}] == {values[0]!r}]"
                )
        if rows.index.has_duplicates:
            raise ProjectError(f"{paper} {where}: rows of the table repeat, and would count as draws of their own")
        # a copy, in the order of measuring: claims read trajectories from first to last
        rows = rows.sort_index()
        rows.attrs = {"run": run, "draw": tuple(column.name for column in declared if column.draw)} | rows.attrs
        return rows

    def _results(self, *path: str) -> Path:
        return ROOT.joinpath(self._plan().results, *path)

    def _plan(self, paper: str | None = None, check: bool = False) -> Plan:
        """Return the plan of all papers, unchecked; with `check` that of one paper, checked, to call its functions."""
        check_checkout()
        files, config = self._configuration()
        plan = fresh_plan(files, config, check=False)
        if paper is not None:
            check_known(paper, plan.config.papers, "paper", "config.yaml")
        return fresh_plan(files, {**config, "papers": [paper]}, check=True) if check else plan

    def _configuration(self) -> tuple[tuple[Path, ...], Mapping[str, Any]]:
        """Return the overlays and values of the configuration."""
        return (self.files, self.config) if self.files or self.config else _default_configuration()

    def _plan_with(self, paper: str, run: str) -> Plan:
        """Return the checked plan of a paper that has a run, by itself or of a sweep."""
        plan = self._plan(paper, check=True)
        check_known(run, [*plan.config.blocks(paper, "runs"), *plan.config.runs[paper]], "run", paper)
        return plan


def _default_configuration() -> tuple[tuple[Path, ...], dict[str, Any]]:
    """Return the overlays and values of the project that is not opened by `project`."""
    scale = os.environ.get(SCALE)
    if not scale:
        return (), {}
    seed = re.fullmatch(r"seed([0-9]{1,18})", scale)
    if seed:
        return (), {"seed": int(seed[1])}
    overlay = ROOT / PAPERS / f"{scale}.yaml"
    if not overlay.is_file():
        raise ProjectError(f"{SCALE}={scale[:40]}: no such scale in {PAPERS}; put its overlay there, or unset it")
    return (overlay,), {}


@contextmanager
def _as_job(plan: Plan, stage: str, paper: str, run: str) -> Iterator[None]:
    """Compute as the job of a run would: with its threads, and without the notebook's settings of PyTorch."""
    if imports_torch(plan.science(stage, paper, run)):
        with own_torch(plan.resources(stage, paper, run).get("threads", 1)):
            yield
    else:
        yield


default = Project()
claims = default.claims
figure = default.figure
figures = default.figures
judge = default.judge
measure = default.measure
paper_names = default.paper_names
runs = default.runs
simulate = default.simulate
table = default.table
trajectory = default.trajectory
