"""What tests share: the project's configuration, and runs measured in-process at smoke scale, once for all tests."""

import fcntl
import functools
import inspect
import itertools
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.judging import Evaluation
from learning_dynamics.pipeline.commands import data, metrics, run
from learning_dynamics.pipeline.commands.claims import evaluate_claim
from learning_dynamics.pipeline.commands.functions import arguments_for, paper_function
from learning_dynamics.pipeline.commands.roles import load_tables
from learning_dynamics.pipeline.plan.blocks import map_roles, overlay
from learning_dynamics.pipeline.plan.config_files import ROOT, load, read_yaml
from learning_dynamics.pipeline.plan.jobs import Job, write_plan
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import fault
from learning_dynamics.pipeline.plan.sweeps import runs_of_sweep
from learning_dynamics.pipeline.store.stamps import fingerprint

SMOKE = ROOT / "workflow/config/smoke.yaml"
PAPERS: list[str] = read_yaml(ROOT / "config.yaml")["papers"]

Tables = dict[str, Any]  # by role: a table, or a list of tables


def plan(*overlays: Path, papers: list[str] | None = None, **given: Any) -> Plan:
    """Return the shipped configuration with overlays, restricted to some papers."""
    if papers:
        given["papers"] = papers
    return Plan(load(overlays, given))


@functools.cache
def smoke(paper: str) -> Plan:
    """Return one paper at smoke scale."""
    return plan(SMOKE, papers=[paper])


def every_name(stage: str) -> list[Any]:
    """Return the cases of a test of every claim, figure, motion or interactive figure: its paper and its name."""
    found = []
    for paper in PAPERS:
        config = smoke(paper).config
        names = config.paper_block(paper)["claims"] if stage == "claim" else config.drawings(paper)[stage]
        found += [pytest.param(paper, name, id=f"{paper}.{name}") for name in names]
    return found


# environment variable: one folder for all processes of a test run (see conftest); files in it are named by fingerprint
SHARED = "LEARNING_DYNAMICS_TESTS"
WHOLE = "whole/project"  # in it: where Snakemake makes all papers at smoke scale


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one process at a time make a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def metrics_file(whose: Plan, paper: str, name: str) -> Path:
    """Return the metrics file of one run: Snakemake's if a test has made it, else made here, once for all processes."""
    folder = Path(os.environ[SHARED], paper)
    fingerprint = whose.fingerprint("metrics", paper, name)
    built = Path(os.environ[SHARED], WHOLE, "results/smoke", paper, "metrics", f"{name}.parquet")
    if built.exists() and fault(built, fingerprint) is None:
        return built
    out = folder / fingerprint / f"{name}.parquet"
    with _locked(out):
        if out.exists():
            return out
        inputs: dict[str, str] = {}
        data_set = whose.run_data(paper, name)
        if data_set is not None:
            source = folder / f"{whose.fingerprint('data', paper, data_set)}.npz"
            _make_once(data.execute, whose.job("data", paper, data_set), source, {})
            inputs["data"] = str(source)
        trajectory = folder / f"{whose.fingerprint('run', paper, name)}.npz"
        _make_once(run.execute, whose.job("run", paper, name), trajectory, inputs)
        measured = {"run": str(trajectory)}
        if whose.measured_data(paper, name):
            measured |= inputs
        do_job(metrics.execute, whose.job("metrics", paper, name), out, measured)
    return out


def _make_once(execute: Callable[..., None], job: Job, output: Path, inputs: Mapping[str, str]) -> None:
    with _locked(output):
        if not output.exists():
            do_job(execute, job, output, inputs)


def do_job(execute: Callable[..., None], job: Job, output: Path, inputs: Mapping[str, str], folder: str = "") -> None:
    """Do a job in this process, with other files than planned; a paper's results are in `folder`, or by the output."""
    job = replace(job, output=str(output), inputs=dict(inputs), folder=folder or str(output.parent))
    with tempfile.TemporaryDirectory() as there:
        path = Path(there, "plan.jsonl")
        write_plan(path, {"files": [], "given": {}}, [job])
        execute(job.paper, job.name, plan=path)


def with_settings(whose: Plan, job: Job, made_from: str | None = None, **settings: Any) -> Job:
    """Return a job with other settings and their fingerprint, made from another input if one is named."""
    spec = {**job.spec, "settings": job.spec["settings"] | settings}
    made_from = made_from or job.made_from
    digests = whose.science(job.stage, job.paper, job.name)
    return replace(job, spec=spec, made_from=made_from, fingerprint=fingerprint(job.stage, spec, digests, made_from))


def tables_of(whose: Plan, paper: str, roles: Mapping[str, Any]) -> Tables:
    """Return fresh tables by role, sweeps joined, as a figure's or claim's function is given them."""
    with tempfile.TemporaryDirectory() as folder:
        for spec in each_of_roles(roles):
            for name, _ in runs_of_sweep(spec["name"], spec["sweep"]):
                link = Path(folder, f"{name}.parquet")
                if not link.exists():
                    link.symlink_to(metrics_file(whose, paper, name))
        # without its fingerprint a table is not compared with the plan
        unchecked = map_roles(lambda spec: {"name": spec["name"], "sweep": spec["sweep"]}, roles)
        return load_tables(Path(folder), unchecked)


def each_of_roles(roles: Mapping[str, Any]) -> list[Any]:
    """Return the runs, tables or specs of all roles, whether a role has one or a list of them."""
    found: list[Any] = []
    for given in roles.values():
        found += given if isinstance(given, list) else [given]
    return found


def metrics_table(paper: str, name: str) -> pd.DataFrame:
    """Return a fresh copy of the metrics of one run at smoke scale, sweeps joined."""
    whose = smoke(paper)
    return tables_of(whose, paper, {"run": whose.describe_run(paper, name)})["run"]


def claim_tables(paper: str, claim: str) -> Tables:
    """Return fresh copies of the smoke-scale tables that a claim reads, by role."""
    whose = smoke(paper)
    return tables_of(whose, paper, whose.claim(paper, claim)["runs"])


def evaluation(paper: str, claim: str, tables: Mapping[str, Any], **settings: Any) -> Evaluation:
    """Return what a claim says of given tables, with the configuration's settings where none are given."""
    spec = smoke(paper).claim(paper, claim)
    function = paper_function(paper, "claims", spec["function"])
    return evaluate_claim(claim, function, tables, spec["settings"] | settings)


def trajectory_of(function: Callable[..., Any], *arguments: Any, **settings: Any) -> Any:
    """Return a run's trajectory; settings that its function does not name, as `rtol`, are of its integration."""
    return function(*arguments, **arguments_for(function, with_integration(function, settings)))


def with_integration(function: Callable[..., Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as a run records them: `rtol=1e-9`, if it does not name that, as `integration={"rtol": 1e-9}`."""
    own = inspect.signature(function).parameters
    return overlay({}, {key if key in own else f"integration.{key}": value for key, value in settings.items()})


def verdict(paper: str, claim: str, tables: Mapping[str, Any], **settings: Any) -> str:
    """Return the verdict of a claim on given tables."""
    return evaluation(paper, claim, tables, **settings).verdict


def as_text(value: object) -> str:
    """Return a value as a test's case shows it: functions by their name, settings as `name=value`."""
    if isinstance(value, np.ndarray) and value.size <= 12:
        return as_text(value.tolist())
    if isinstance(value, np.ndarray | pd.DataFrame):
        shape = f"{type(value).__name__} of shape {value.shape}"
        return getattr(value, "attrs", {}).get("call", shape)
    if isinstance(value, dict):
        return ", ".join(f"{key}={as_text(item)}" for key, item in value.items()) or "nothing"
    if isinstance(value, tuple | list):
        words = []
        for word, repeats in itertools.groupby(as_text(item) for item in value):
            count = len(list(repeats))
            words.append(word if count == 1 else f"{count} times {word}")  # [0, 0, 1] reads `[2 times 0, 1]`
        return f"[{', '.join(words)}]"
    return str(getattr(value, "__name__", value))


def named_after_its_call(factory: Callable[..., Any]) -> Callable[..., Any]:
    """Name the function or table that `factory` returns after the call: a case reads `put(drift, 2e-10, depth=3)`."""

    @functools.wraps(factory)
    def make(*arguments: Any, **options: Any) -> Any:
        product = factory(*arguments, **options)
        words = [as_text(argument) for argument in arguments]
        if options:
            words.append(as_text(options))
        call = f"{factory.__name__}({', '.join(words)})"
        if isinstance(product, pd.DataFrame):
            product.attrs["call"] = call
        else:
            product.__name__ = call
        return product

    return make
