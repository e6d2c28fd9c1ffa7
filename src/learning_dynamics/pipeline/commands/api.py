"""What a notebook asks for: tables, claims, figures and trajectories of a run, and runs with other settings.

>>> import learning_dynamics as ld
>>> ld.paper_names()[0]
'spectral_bias'

Results are read from the project's folder, those of the scale that ``LEARNING_DYNAMICS_SCALE`` names if it is set.
Nothing here runs Snakemake: what is not there is an error that says what to run.
"""

import functools
import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from matplotlib.figure import Figure

from learning_dynamics.environment import check_checkout
from learning_dynamics.errors import ProjectError, check_known, shortened
from learning_dynamics.judging import About, Check, Evaluation
from learning_dynamics.pipeline.commands import in_process
from learning_dynamics.pipeline.commands.claims import evaluate_claim
from learning_dynamics.pipeline.commands.functions import paper_function
from learning_dynamics.pipeline.commands.roles import load_table, load_tables
from learning_dynamics.pipeline.report import maths
from learning_dynamics.pipeline.report.templates import fill
from learning_dynamics.pipeline.store import published
from learning_dynamics.pipeline.store.arrays import load_arrays, load_trajectory
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.pipeline.store.provenance import plain_facts
from learning_dynamics.pipeline.store.records import COLUMNS
from learning_dynamics.pipeline.store.tables import read_table
from learning_dynamics.pipeline.study.blocks import flat
from learning_dynamics.pipeline.study.config import PAPERS, ROOT, load
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.stale_outputs import outdated_verdicts
from learning_dynamics.plotting import LOOKS, Drawn, style
from learning_dynamics.trajectories import Trajectory

SCALE = "LEARNING_DYNAMICS_SCALE"


def paper_names() -> list[str]:
    """Return the names of the papers, in the order of the configuration."""
    return _project().study.papers


def runs(paper: str) -> list[str]:
    """Return the runs of a paper, sweeps as one.

    >>> "small_scale" in runs("spectral_bias")
    True
    """
    return list(_block(paper).get("runs", {}))


def figures(paper: str) -> list[str]:
    """Return the figures of a paper."""
    _block(paper)
    return _project().study.figures(paper)


def table(paper: str, run: str) -> pd.DataFrame:
    """Return the metrics of a run as a tidy table; the members of a sweep are one, with a column for what is swept.

    ``attrs["settings"]`` holds the settings that it was made with.

    Raises
    ------
    ProjectError
        If there is no such run, its metrics are not there, or they were made by other settings or other code.
    """
    check_known(run, runs(paper), "run", paper)
    return load_table(_results() / paper / "metrics", _project().describe_run(paper, run))


def trajectory(paper: str, run: str) -> Trajectory:
    """Return the raw states of a run: ``time``, ``series`` of shape (members, times, ...), ``constants``, ``settings``.

    Raises
    ------
    ProjectError
        As `table`.
    """
    _block(paper)
    check_known(run, _project().study.runs[paper], "run", paper)
    project = _project()
    if any(run in members for members in project.study.bundles[paper].values()):
        raise ProjectError(
            f"{paper} {run}: bundles leave no trajectories; make it here: ld.simulate({paper!r}, {run!r})"
        )
    file_of_run = _results() / paper / "runs" / f"{project.trajectory(paper, run)}.npz"
    run_trajectory = load_trajectory(file_of_run, project.fingerprint("run", paper, run))[0]
    data = project.measured_data(paper, run)
    if data is not None:  # which the file does not repeat
        file_of_data = _results() / paper / "data" / f"{data}.npz"
        run_trajectory.constants = (
            load_arrays(file_of_data, project.fingerprint("data", paper, data))[0] | run_trajectory.constants
        )
    return run_trajectory


def claims(paper: str | None = None) -> pd.DataFrame:
    """Return the claims with their verdicts: of the run that lies here, else the published ones.

    ``attrs["of"]`` says which of the two, ``attrs["outdated"]`` which papers' verdicts other settings, other code or an
    earlier run have made, and why; a warning says the same.
    """
    if paper is not None:
        _block(paper)
    project, names = _project(), [paper] if paper else paper_names()
    files = {name: _results() / name / "claims.parquet" for name in names}
    own_tables = {name: read_table(file, declared=COLUMNS) for name, file in files.items() if file.is_file()}
    if own_tables:
        joined = pd.concat(own_tables.values(), ignore_index=True)
        outdated = [outdated_verdicts(project, name, _results()) for name in own_tables]
        outdated += [
            f"{name}: its claims were not judged here; run: snakemake {name}"
            for name in names
            if name not in own_tables
        ]
        joined.attrs = {"of": str(_results()), "outdated": list(filter(None, outdated))}
    else:
        published_claims = published.read_claims()
        if published_claims is None:
            raise ProjectError(f"{_results()}: no claims, and nothing is published; run snakemake to make them")
        joined = published_claims[published_claims["paper"].isin(names)].reset_index(drop=True)
        missing = [name for name in names if name not in set(joined["paper"])]
        unlike = published.find_outdated_papers(
            {paper: project.fingerprint("claims", paper, "claims") for paper in names}
        )
        unlike += [f"{name}: was neither judged here nor published; run: snakemake {name}" for name in missing]
        joined.attrs = {"of": str(published.FOLDER / published.CLAIMS), "outdated": unlike}
    for text in joined.attrs["outdated"]:
        warnings.warn(text, stacklevel=2)
    return joined


def figure(paper: str, name: str, *, look: Literal["paper", "talk", "thesis"] = "paper", **settings: Any) -> Figure:
    """Draw a figure anew from its metrics, with any of its settings changed.

    Parameters
    ----------
    paper, name : str
        As in the configuration.
    look : str
        The style: ``paper``, ``talk`` or ``thesis``.
    **settings
        The figure's own settings, over those of the configuration.

    Raises
    ------
    ProjectError
        As `table`; also for a setting that the figure does not have.
    """
    check_known(name, figures(paper), "figure", paper)
    check_known(look, list(LOOKS), "look", f"{paper} {name}")
    spec = _project().drawing("figure", paper, name)
    settings = _project().study.settings("figure", paper, name, **settings)
    import matplotlib.pyplot as plt

    draw = paper_function(paper, "figures", spec["kind"])
    with matplotlib_defaults(), style(look):
        drawn = Drawn.of(draw(**load_tables(_results() / paper / "metrics", spec["runs"]), **settings))
    plt.close(drawn.figure)  # it is returned; a notebook would show it twice
    return drawn.figure


def simulate(
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
        data={"seed": 2023}`` the data stay and the start is drawn anew.
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
    project = _project()
    _block(paper)
    check_known(run, [*runs(paper), *project.study.runs[paper]], "run", paper)
    if seed is not None:
        settings["seed"] = seed
    trajectories = {}
    for member, differing in project.study.members(paper, run):
        for key in flat(settings):
            if key in differing:
                raise ProjectError(f"{paper} {run}.{key}: is swept; name one of its members: {member}")
        trajectories[member] = _simulate_with(project, paper, member, data, settings)
    return trajectories if run in project.study.sweeps(paper) else trajectories[run]


def _simulate_with(
    project: Project, paper: str, run: str, data: str | Mapping[str, Any] | None, settings: Mapping[str, Any]
) -> Trajectory:
    function = project.study.signature("run", paper, run)
    accepted = function.settings | set(function.fields)
    run_settings = {key: value for key, value in settings.items() if key in accepted}
    name = project.run_data(paper, run)
    if name is None and data is not None:
        raise ProjectError(f"{paper} {run}: takes no data set")
    if not (data is None or isinstance(data, str | Mapping)):
        raise ProjectError(f"{paper} {run}: data: the name of a data set, or settings of one (is {shortened(data)})")
    name = data if isinstance(data, str) else name
    data_settings = project.study.signature("data", paper, name).settings if name is not None else set()
    for key in settings:
        check_known(key, sorted(data_settings | accepted), "setting", f"{paper} {run}")
    arrays = None
    if name is not None:
        changes = {key: value for key, value in settings.items() if key not in accepted}
        if "seed" in settings and "seed" in data_settings:
            changes["seed"] = settings["seed"]
        if isinstance(data, Mapping):
            changes |= data
        arrays = in_process.make_data(paper, name, project.data(paper, name, **changes))
    return in_process.simulate(paper, run, project.run(paper, run, **run_settings), arrays)


def measure(paper: str, run: str, of: Trajectory | Mapping[str, Trajectory], **settings: Any) -> pd.DataFrame:
    """Measure a trajectory as the metrics of a run do, with any settings of measuring changed; nothing is written.

    Of a sweep, as `simulate` returns it, the members are one table.

    >>> measure("spectral_bias", "small_scale", few)  # doctest: +SKIP
    """
    project = _project()
    _block(paper)
    check_known(run, [*runs(paper), *project.study.runs[paper]], "run", paper)
    if isinstance(of, Trajectory):
        member = project.study.members(paper, run)[0][0]
        table = in_process.measure(paper, member, project.measure(paper, member, **settings), of)
        table.attrs["run"] = run
        return table
    members = []
    for member, differing in project.study.members(paper, run):
        check_known(member, list(of), "trajectory", f"{paper} {run}")
        spec = project.measure(paper, member, **settings)
        members.append((differing, in_process.measure(paper, member, spec, of[member])))
    return in_process.join_tables(run, project.describe_run(paper, run)["sweep"], members)


@dataclass(frozen=True)
class Judged:
    """What a claim's card on the page shows.

    Attributes
    ----------
    paper, claim, reference, statement, scope, explanation : str
    verdict : str
    speaks_of : str
        All draws, most draws, an average, some setting: of what the claim speaks.
    reason : str
        Why the verdict is not `reproduced`.
    headline : Check or None
        Of the prediction that stands: the correction's where it is what holds.
    parts : tuple of Check
        What else must hold.
    rivals : mapping from str to str
        Wrong predictions, and the verdict that each would get.
    refuses : float
        Smallest relative error of the prediction that would have been refused.
    evaluation : Evaluation
        Everything that stands behind it.
    """

    paper: str
    claim: str
    reference: str
    statement: str
    scope: str
    explanation: str
    verdict: str
    speaks_of: str
    reason: str
    headline: Check | None
    parts: tuple[Check, ...]
    rivals: Mapping[str, str]
    refuses: float
    evaluation: Evaluation = field(repr=False)

    def __repr__(self) -> str:
        of = f", of {self.speaks_of}" if self.speaks_of else ""
        lines = [f"{self.paper}.{self.claim} ({self.reference}): {self.verdict}{of}", self.statement]
        lines += [f"why: {self.reason}"] if self.reason else []
        lines += [str(check) for check in (self.headline, *self.parts) if check is not None]
        lines += [f"rival: {rival}: {verdict}" for rival, verdict in self.rivals.items()]
        lines += [f"refuses: a prediction off by a fraction of {self.refuses:.2g}"] if self.refuses > 0 else []
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
    project = _project()
    check_known(claim, list(_block(paper).get("claims", {})), "claim", paper)
    spec = project.claim(paper, claim, **settings)
    given_tables = tables_by_role or {}
    for role in given_tables:
        check_known(role, list(spec["runs"]), "role", f"{paper} {claim}")
    configured_roles = {role: runs for role, runs in spec["runs"].items() if role not in given_tables}
    tables = load_tables(_results() / paper / "metrics", configured_roles)
    for role, value in given_tables.items():
        tables[role] = _as_role(paper, f"{claim}, role `{role}`", spec["runs"][role], value)
    function = paper_function(paper, "claims", spec["kind"])
    evaluation = evaluate_claim(claim, function, {role: tables[role] for role in spec["runs"]}, spec["settings"])
    about: About = function.claim
    facts = plain_facts(evaluation.facts)
    return Judged(
        paper,
        claim,
        about.reference,
        project.study.statement(paper, claim),
        about.scope,
        fill(project.study.explanation(paper, claim), facts) if facts else "",
        evaluation.verdict,
        evaluation.speaks_of,
        evaluation.reason,
        evaluation.standing.headline if evaluation.standing else None,
        evaluation.standing.parts if evaluation.standing else (),
        evaluation.rivals,
        evaluation.refuses,
        evaluation,
    )


def _as_role(paper: str, where: str, role: Any, value: Any) -> Any:
    """Return what is given for a role as tables: a list where the role holds a list of runs."""
    is_list = isinstance(value, list | tuple)
    if is_list and not isinstance(role, list):
        raise ProjectError(f"{paper} {where}: holds one run, not a list")
    if isinstance(role, list):
        value = value if is_list else [value]
        # what is given beyond the configured runs is of the kind of the last
        runs = [*role, *[role[-1]] * (len(value) - len(role))]
        return [_as_table(paper, where, run["name"], item) for run, item in zip(runs, value, strict=False)]
    return _as_table(paper, where, role["name"], value)


def _as_table(paper: str, where: str, run: str, value: Any) -> pd.DataFrame:
    table = value if isinstance(value, pd.DataFrame) else measure(paper, run, value)
    project = _project()
    member = project.study.members(paper, run)[0][0]
    declared = paper_function(paper, "metrics", project.measure(paper, member)["kind"]).columns
    missing = [column.name for column in declared if column.name not in table]
    if missing or "settings" not in table.attrs:
        lacks = f"the columns {', '.join(missing)}" if missing else "the settings that it was made with"
        raise ProjectError(
            f"{paper} {where}: the table lacks {lacks}; make it with ld.measure({paper!r}, {run!r}, trajectory)"
        )
    if table.index.has_duplicates:
        raise ProjectError(f"{paper} {where}: rows of the table repeat, and would count as draws of their own")
    table.attrs.setdefault("run", run)
    table.attrs.setdefault("draw", tuple(column.name for column in declared if column.draw))
    return table.sort_index()  # as it was measured: claims read trajectories from first to last


def _results() -> Path:
    scale = os.environ.get(SCALE)
    return ROOT / "results" / scale if scale else ROOT / "results"


def _project() -> Project:
    check_checkout()
    return _project_at(os.environ.get(SCALE))


@functools.cache
def _project_at(scale: str | None) -> Project:
    overlay = ROOT / PAPERS / f"{scale}.yaml"
    seed = re.fullmatch(r"seed([0-9]{1,18})", scale or "")
    if scale and not (seed or overlay.is_file() or (ROOT / "results" / scale).is_dir()):
        raise ProjectError(f"{SCALE}={scale[:40]}: no such scale in {PAPERS}, and no results of it; unset it")
    return Project(load([overlay] if scale and overlay.is_file() else [], {"seed": int(seed[1])} if seed else {}))


def _block(paper: str) -> Mapping[str, Any]:
    check_known(paper, _project().study.papers, "paper", "config.yaml")
    return _project().study.paper_block(paper)
