"""What a notebook asks for: tables, claims, figures and trajectories of a run, and runs with other settings.

>>> import learning_dynamics as ld
>>> ld.paper_names()[0]
'spectral_bias'

Results are read from the project's folder; ``LEARNING_DYNAMICS_SCALE`` names another scale of ``workflow/config``, or
``seed7``.
Nothing here runs Snakemake: what is not there is an error that says what to run.
"""

import functools
import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from matplotlib.figure import Figure

from learning_dynamics.environment import check_checkout
from learning_dynamics.errors import ProjectError, check_known, shortened
from learning_dynamics.judging import Check, Evaluation
from learning_dynamics.pipeline.commands.claims import evaluate_claim
from learning_dynamics.pipeline.commands.data import make_data
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.in_process import join_tables
from learning_dynamics.pipeline.commands.metrics import measure as measure_run
from learning_dynamics.pipeline.commands.roles import call_drawing, load_table, load_tables
from learning_dynamics.pipeline.commands.run import simulate as simulate_run
from learning_dynamics.pipeline.plan.blocks import flat
from learning_dynamics.pipeline.plan.config_files import PAPERS, ROOT, load
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import outdated_verdicts
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.templates import fill
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.arrays import load_arrays, load_trajectory
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.pipeline.store.provenance import plain_facts
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.tables import read_table
from learning_dynamics.plotting import LOOKS, Drawn, style
from learning_dynamics.trajectories import Trajectory

SCALE = "LEARNING_DYNAMICS_SCALE"


def paper_names() -> list[str]:
    """Return the names of the papers, in the order of the configuration."""
    return _plan().config.papers


def runs(paper: str) -> list[str]:
    """Return the runs of a paper, sweeps as one.

    >>> "small_scale" in runs("spectral_bias")
    True
    """
    return list(_plan(paper).config.blocks(paper, "runs"))


def figures(paper: str) -> list[str]:
    """Return the figures of a paper."""
    return _plan(paper).config.figures(paper)


def table(paper: str, run: str) -> pd.DataFrame:
    """Return the metrics of a run as a tidy table; the members of a sweep are one, with a column for what is swept.

    ``attrs["settings"]`` holds the settings that it was made with.

    Raises
    ------
    ProjectError
        If there is no such run, its metrics are not there, or they were made by other settings or other code.
    """
    check_known(run, runs(paper), "run", paper)
    return load_table(_results(paper, "metrics"), _plan().describe_run(paper, run))


def trajectory(paper: str, run: str) -> Trajectory:
    """Return the raw states of a run: ``time``, ``series`` of shape (members, times, ...), ``constants``, ``settings``.

    Raises
    ------
    ProjectError
        As `table`.
    """
    plan = _plan(paper)
    check_known(run, plan.config.runs[paper], "run", paper)
    if any(run in members for members in plan.config.bundles[paper].values()):
        raise ProjectError(
            f"{paper} {run}: bundles leave no trajectories; make it here: ld.simulate({paper!r}, {run!r})"
        )
    file = _results(paper, "runs", f"{plan.trajectory(paper, run)}.npz")
    states = load_trajectory(file, plan.fingerprint("run", paper, run))[0]
    data = plan.measured_data(paper, run)
    if data is not None:  # which the file does not repeat
        file_of_data = _results(paper, "data", f"{data}.npz")
        states.constants = load_arrays(file_of_data, plan.fingerprint("data", paper, data))[0] | states.constants
    return states


def claims(paper: str | None = None) -> pd.DataFrame:
    """Return the claims with their verdicts: of the run that lies here, else the published ones.

    ``attrs["of"]`` says which of the two, ``attrs["outdated"]`` which papers' verdicts other settings, other code or an
    earlier run have made, and why; a warning says the same.
    """
    plan = _plan(paper)
    names = [paper] if paper else paper_names()
    judged = [name for name in names if _results(name, "claims.parquet").is_file()]
    if judged:
        source, lacking = _results(), "its claims were not judged here"
        rows = pd.concat(
            [read_table(_results(name, "claims.parquet"), declared=COLUMNS) for name in judged], ignore_index=True
        )
        outdated = [text for name in judged if (text := outdated_verdicts(plan, name, _results()))]
    else:
        source, lacking = published.FOLDER / published.CLAIMS, "was neither judged here nor published"
        all_rows = published.read_claims()
        if all_rows is None:
            raise ProjectError(f"{_results()}: no claims, and nothing is published; run snakemake to make them")
        rows = all_rows[all_rows["paper"].isin(names)].reset_index(drop=True)
        outdated = published.find_outdated_papers({n: plan.fingerprint("claims", n, "claims") for n in names})
    outdated += [f"{name}: {lacking}; run: snakemake {name}" for name in names if name not in set(rows["paper"])]
    for text in outdated:
        warnings.warn(text, stacklevel=2)
    rows.attrs = {"of": str(source), "outdated": outdated}
    return rows


def figure(paper: str, name: str, *, look: Literal["paper", "talk", "thesis"] = "paper", **settings: Any) -> Figure:
    """Draw a figure again from its metrics, in a look, with any of its settings changed.

    Raises
    ------
    ProjectError
        As `table`; also for a setting that the figure does not have.
    """
    check_known(name, figures(paper), "figure", paper)
    check_known(look, list(LOOKS), "look", f"{paper} {name}")
    import matplotlib.pyplot as plt

    plan = _plan()
    spec = plan.drawing("figure", paper, name)
    spec["settings"] = plan.config.settings("figure", paper, name, **settings)
    with matplotlib_defaults(), style(look):
        drawn = Drawn.of(call_drawing("figure", paper, name, spec, _results(paper, "metrics")))
    plt.close(drawn.figure)  # it is returned; a notebook would show it twice
    return drawn.figure


def simulate(
    paper: str, run: str, *, data: str | Mapping[str, Any] | None = None, seed: int | None = None, **settings: Any
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
        From which data and start are drawn alike.
    **settings
        Settings of the run, or of its data set, over those of the configuration; of a class, those to be changed, as
        ``limit={"rtol": 1e-8}``.

    Returns
    -------
    Trajectory
        Of a sweep, one for each member, by the member's name.

    Raises
    ------
    ProjectError
        If there is no such run or setting, or a value does not fit.
    DivergenceError
        If a state leaves the finite numbers.
    """
    plan = _plan_with(paper, run)
    if seed is not None:
        settings["seed"] = seed
    trajectories = {}
    for member, differing in plan.config.members(paper, run):
        swept = next((key for key in flat(settings) if key in differing), None)
        if swept is not None:
            raise ProjectError(f"{paper} {run}.{swept}: is swept; name one of its members: {member}")
        trajectories[member] = _simulate_with(plan, paper, member, data, settings)
    return trajectories if run in plan.config.sweeps(paper) else trajectories[run]


def _simulate_with(
    plan: Plan, paper: str, run: str, data: str | Mapping[str, Any] | None, settings: Mapping[str, Any]
) -> Trajectory:
    function = plan.config.signature("run", paper, run)
    of_run = function.settings | set(function.fields)
    name = plan.run_data(paper, run)
    if name is None and data is not None:
        raise ProjectError(f"{paper} {run}: takes no data set")
    if not (data is None or isinstance(data, str | Mapping)):
        raise ProjectError(f"{paper} {run}: data: the name of a data set, or settings of one (is {shortened(data)})")
    name = data if isinstance(data, str) else name
    of_data = plan.config.signature("data", paper, name).settings if name is not None else set()
    for key in settings:
        check_known(key, sorted(of_data | of_run), "setting", f"{paper} {run}")
    arrays = None
    if name is not None:
        changes = {key: value for key, value in settings.items() if key not in of_run or {key} & of_data == {"seed"}}
        changes |= data if isinstance(data, Mapping) else {}
        arrays = make_data(paper, name, plan.data(paper, name, **changes))
    spec = plan.run(paper, run, **{key: value for key, value in settings.items() if key in of_run})
    return simulate_run(paper, run, spec, arrays)


def measure(paper: str, run: str, of: Trajectory | Mapping[str, Trajectory], **settings: Any) -> pd.DataFrame:
    """Measure a trajectory as the metrics of a run do, with any settings of measuring changed; nothing is written.

    Of a sweep, as `simulate` returns it, the members are one table.

    >>> measure("spectral_bias", "small_scale", few)  # doctest: +SKIP
    """
    plan = _plan_with(paper, run)
    members = plan.config.members(paper, run)
    if isinstance(of, Trajectory):
        member = members[0][0]
        measured = measure_run(paper, member, plan.measure(paper, member, **settings), of)
        measured.attrs["run"] = run
        return measured
    tables = []
    for member, differing in members:
        check_known(member, list(of), "trajectory", f"{paper} {run}")
        spec = plan.measure(paper, member, **settings)
        tables.append((differing, measure_run(paper, member, spec, of[member])))
    return join_tables(run, plan.describe_run(paper, run)["sweep"], tables)


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
        """The headline of the prediction that stands: the correction's where it is what holds."""
        return self.decisive.headline if self.decisive else None

    def __repr__(self) -> str:
        of = f", of {self.quantifier}" if self.quantifier else ""
        lines = [f"{self.claim} ({self.reference}): {self.verdict}{of}", self.statement]
        lines += [f"why: {self.reason}"] if self.reason else []
        lines += map(str, self.decisive.checks if self.decisive else ())
        lines += [f"rival: {rival}: {verdict}" for rival, verdict in self.rivals.items()]
        lines += (
            [f"smallest error detected: a prediction off by a fraction of {self.min_detectable_error:.2g}"]
            if self.min_detectable_error > 0
            else []
        )
        return "\n  ".join(map(maths.plain, lines))


def judge(paper: str, claim: str, tables_by_role: Mapping[str, Any] | None = None, **settings: Any) -> Judged:
    """Judge a claim on any tables or trajectories of the right kind, as its card on the page does.

    >>> judge("spectral_bias", "corollary_3_1", {"flows": [few]})  # doctest: +SKIP

    Parameters
    ----------
    paper, claim : str
        As in the configuration.
    tables_by_role : mapping, optional
        By the claim's roles a table of metrics, a trajectory (of a sweep all of its members, as `simulate` returns
        them), or a list of such; roles that are not given, or all of them, are those of the run that lies here.
    **settings
        The claim's own settings, over those of the configuration.

    Raises
    ------
    ProjectError
        If there is no such claim, role or setting, what is given is of another kind, or a run's metrics are not there.
    """
    plan = _plan(paper, check=True)
    check_known(claim, list(plan.config.blocks(paper, "claims")), "claim", paper)
    spec, given_tables = plan.claim(paper, claim, **settings), tables_by_role or {}
    for role in given_tables:
        check_known(role, list(spec["runs"]), "role", f"{paper} {claim}")
    tables = {
        role: _as_role(paper, f"{claim}, role `{role}`", spec["runs"][role], given_tables[role])
        if role in given_tables
        else load_tables(_results(paper, "metrics"), {role: spec["runs"][role]})[role]
        for role in spec["runs"]
    }
    function = paper_function(paper, "claims", spec["function"])
    evaluation = evaluate_claim(claim, function, tables, spec["settings"])
    facts = plain_facts(evaluation.facts)
    return Judged(
        **vars(evaluation),
        claim=f"{paper}.{claim}",
        reference=function.claim.reference,
        statement=plan.config.statement(paper, claim),
        scope=function.claim.scope,
        explanation=fill(plan.config.explanation(paper, claim), facts) if facts else "",
    )


def _as_role(paper: str, where: str, role: Any, value: Any) -> Any:
    """Return what is given for a role as tables: a list where the role holds a list of runs."""
    if not isinstance(role, list):
        if isinstance(value, list | tuple):
            raise ProjectError(f"{paper} {where}: holds one run, not a list")
        return _as_table(paper, where, role["name"], value)
    values = value if isinstance(value, list | tuple) else [value]
    # what is given beyond the configured runs is of the kind of the last
    return [_as_table(paper, where, role[min(n, len(role) - 1)]["name"], item) for n, item in enumerate(values)]


def _as_table(paper: str, where: str, run: str, value: Any) -> pd.DataFrame:
    if not isinstance(value, pd.DataFrame | Trajectory | Mapping):
        raise ProjectError(f"{paper} {where}: takes a table of metrics or a trajectory (is {type(value).__name__})")
    rows = value if isinstance(value, pd.DataFrame) else measure(paper, run, value)
    function_name = _plan().config.function_name("metrics", paper, _plan().config.members(paper, run)[0][0])
    declared = paper_function(paper, "metrics", function_name).columns
    missing = [column.name for column in declared if column.name not in rows]
    if missing or "settings" not in rows.attrs:
        lacks = f"the columns {', '.join(missing)}" if missing else "the settings that it was made with"
        raise ProjectError(
            f"{paper} {where}: the table lacks {lacks}; make it with ld.measure({paper!r}, {run!r}, trajectory)"
        )
    if rows.index.has_duplicates:
        raise ProjectError(f"{paper} {where}: rows of the table repeat, and would count as draws of their own")
    rows.attrs = {"run": run, "draw": tuple(column.name for column in declared if column.draw)} | rows.attrs
    return rows.sort_index()  # as it was measured: claims read trajectories from first to last


def _results(*path: str) -> Path:
    return ROOT.joinpath("results", os.environ.get(SCALE, ""), *path)


def _plan(paper: str | None = None, check: bool = False) -> Plan:
    """Return the plan of all papers, to be read; with `check` of one, checked, for what calls its functions."""
    check_checkout()
    scale = os.environ.get(SCALE)
    plan = _plan_at(scale, None)
    if paper is not None:
        check_known(paper, plan.config.papers, "paper", "config.yaml")
    return _plan_at(scale, paper) if check else plan


@functools.cache
def _plan_at(scale: str | None, paper: str | None) -> Plan:
    overlay = ROOT / PAPERS / f"{scale}.yaml"
    seed = re.fullmatch(r"seed([0-9]{1,18})", scale or "")
    if scale and not (seed or overlay.is_file()):
        raise ProjectError(f"{SCALE}={scale[:40]}: no such scale in {PAPERS}; put its overlay there, or unset it")
    overrides = ({"seed": int(seed[1])} if seed else {}) | ({"papers": [paper]} if paper else {})
    return Plan(load([overlay] if scale and overlay.is_file() else [], overrides), check=paper is not None)


def _plan_with(paper: str, run: str) -> Plan:
    """Return the checked plan of a paper that has a run, or member of a sweep."""
    plan = _plan(paper, check=True)
    check_known(run, [*runs(paper), *plan.config.runs[paper]], "run", paper)
    return plan
