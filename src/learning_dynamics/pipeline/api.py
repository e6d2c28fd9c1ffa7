"""What a notebook asks for: tables, claims, figures and trajectories of a run, and runs with other settings.

>>> import learning_dynamics as ld
>>> ld.papers()[0]
'spectral_bias'

Results are read from the project's folder, those of the scale that ``LEARNING_DYNAMICS_SCALE`` names if it is set.
Nothing here runs Snakemake: what is not there is an error that says what to run.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from matplotlib.figure import Figure

from learning_dynamics.errors import ProjectError, near
from learning_dynamics.pipeline import published
from learning_dynamics.pipeline.arrays import load_trajectory
from learning_dynamics.pipeline.config import PAPERS, ROOT, load
from learning_dynamics.pipeline.freshness import outdated_verdicts
from learning_dynamics.pipeline.project import Project
from learning_dynamics.pipeline.stages.functions import data_function, paper_function
from learning_dynamics.pipeline.stages.run import check_finite
from learning_dynamics.pipeline.stages.tables import load_table, load_tables
from learning_dynamics.pipeline.tables import read_table
from learning_dynamics.plotting import Drawn, style
from learning_dynamics.trajectory import Trajectory

SCALE = "LEARNING_DYNAMICS_SCALE"


def papers() -> list[str]:
    """Return the papers, in the order of the configuration."""
    return _project().papers


def runs(paper: str) -> list[str]:
    """Return the runs of a paper, sweeps as one.

    >>> "small_scale" in runs("spectral_bias")
    True
    """
    return list(_block(paper).get("runs", {}))


def figures(paper: str) -> list[str]:
    """Return the figures of a paper."""
    _block(paper)
    return _project().figures(paper)


def table(paper: str, run: str) -> pd.DataFrame:
    """Return the metrics of a run as a tidy table; the members of a sweep are one, with a column for what is swept.

    ``attrs["settings"]`` holds the settings that it was made with.

    Raises
    ------
    ProjectError
        If there is no such run, its metrics are not there, or they were made by other settings or other code.
    """
    _known(run, runs(paper), "run", paper)
    return load_table(_results() / paper / "metrics", _project()._roles(paper, {"run": run})["run"])


def trajectory(paper: str, run: str) -> Trajectory:
    """Return the raw states of a run: ``time``, ``series`` of shape (members, times, ...), ``constants``, ``settings``.

    Raises
    ------
    ProjectError
        As `table`.
    """
    _block(paper)
    _known(run, _project().runs(paper), "run", paper)
    project = _project()
    made = _results() / paper / "runs" / f"{project.trajectory(paper, run)}.npz"
    return load_trajectory(made, project.fingerprint("run", paper, run))[0]


def claims(paper: str | None = None) -> pd.DataFrame:
    """Return the claims with their verdicts: of the run that lies here, else the published ones.

    ``attrs["of"]`` says which of the two, ``attrs["outdated"]`` which papers' verdicts other settings, other code or an
    earlier run have made, and why; a warning says the same.
    """
    if paper is not None:
        _block(paper)
    project, wanted = _project(), [paper] if paper else papers()
    files = {name: _results() / name / "claims.parquet" for name in wanted}
    own = {name: read_table(file) for name, file in files.items() if file.is_file()}
    if own:
        found = pd.concat(own.values(), ignore_index=True)
        outdated = [outdated_verdicts(project, name, _results()) for name in own]
        outdated += [
            f"{name}: its claims were not judged here; run: snakemake {name}" for name in wanted if name not in own
        ]
        found.attrs = {"of": str(_results()), "outdated": list(filter(None, outdated))}
    else:
        known = published.read()
        if known is None:
            raise ProjectError(f"{_results()}: no claims, and nothing is published; run snakemake to make them")
        found = known[known["paper"].isin(wanted)].reset_index(drop=True)
        found.attrs = {"of": str(published.FOLDER / published.CLAIMS), "outdated": published.unlike(project, wanted)}
    for text in found.attrs["outdated"]:
        warnings.warn(text, stacklevel=2)
    return found


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
    _known(name, figures(paper), "figure", paper)
    spec = _project().figure(paper, name)
    _project()._signature(paper, "figure", spec["kind"], name).check(spec["settings"] | settings, f"{paper} {name}")
    import matplotlib.pyplot as plt

    draw = paper_function(paper, "figures", spec["kind"])
    with style(look):
        drawn = Drawn.of(
            draw(**load_tables(_results() / paper / "metrics", spec["runs"]), **spec["settings"] | settings)
        )
    plt.close(drawn.figure)  # it is returned; a notebook would show it twice
    return drawn.figure


def simulate(paper: str, run: str, **settings: Any) -> Trajectory:
    """Run a simulation of a paper here and now, with any of its settings changed; nothing is written.

    >>> few = simulate("spectral_bias", "small_scale", gamma=1.0, seeds=2)  # doctest: +SKIP

    Parameters
    ----------
    paper, run : str
        As in the configuration.
    **settings
        Settings of the run, or of its data set, over those of the configuration.

    Raises
    ------
    ProjectError
        If there is no such run or setting, or a value does not fit.
    DivergenceError
        If a state leaves the finite numbers.
    """
    project = _project()
    _block(paper)
    _known(run, project.runs(paper), "run", paper)
    spec = project.run(paper, run)
    signature = project._signature(paper, "run", spec["kind"], run)
    own = {key: value for key, value in settings.items() if key in signature.settings}
    signature.check(spec["settings"] | own, f"{paper} {run}")
    function = paper_function(paper, "runs", spec["kind"])
    arguments: dict[str, Any] = {}
    data, rest = project.run_data(paper, run), {key: settings[key] for key in settings.keys() - own.keys()}
    if data is not None:
        source = project.data(paper, data)
        function_of_data = data_function(paper, source["source"])
        known = set(inspect.signature(function_of_data).parameters)
        for key in rest:
            _known(key, sorted(known | signature.settings), "setting", f"{paper} {run}")
        arguments["data"] = function_of_data(**source["settings"] | rest)
    elif rest:
        _known(next(iter(rest)), sorted(signature.settings), "setting", f"{paper} {run}")
    with tempfile.TemporaryDirectory() as folder:
        if "resume" in inspect.signature(function).parameters:
            arguments["resume"] = Path(folder)
        found: Trajectory = function(**arguments, **spec["settings"] | own)
    check_finite(run, found, spec["settings"] | own)
    found.settings = {"kind": spec["kind"], **spec["settings"], **own}
    return found


def measure(paper: str, run: str, of: Trajectory, **settings: Any) -> pd.DataFrame:
    """Measure a trajectory as the metrics of a run do, with any settings of measuring changed; nothing is written.

    >>> measure("spectral_bias", "small_scale", few)  # doctest: +SKIP
    """
    project = _project()
    _block(paper)
    _known(run, project.runs(paper), "run", paper)
    spec = project.measure(paper, run)
    chosen = spec["settings"] | settings
    project._signature(paper, "metrics", spec["kind"], run).check(chosen, f"{paper} {run}")
    found = paper_function(paper, "metrics", spec["kind"])(of, **chosen)
    found.attrs["settings"] = {**of.settings, **chosen}
    return found


def _results() -> Path:
    scale = os.environ.get(SCALE)
    return ROOT / "results" / scale if scale else ROOT / "results"


def _project() -> Project:
    return _project_at(os.environ.get(SCALE))


@functools.cache
def _project_at(scale: str | None) -> Project:
    overlay = ROOT / PAPERS / f"{scale}.yaml"
    seed = re.fullmatch(r"seed([0-9]{1,18})", scale or "")
    return Project(load([overlay] if scale and overlay.is_file() else [], {"seed": int(seed[1])} if seed else {}))


def _block(paper: str) -> Mapping[str, Any]:
    _known(paper, _project().papers, "paper", "config.yaml")
    return _project().about(paper)


def _known(name: str, known: list[str], what: str, where: str) -> None:
    if name not in known:
        raise ProjectError(f"{where}: no {what} `{name}`{near(name, known)}")
