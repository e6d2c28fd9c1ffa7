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

from learning_dynamics.judging import Evaluation
from learning_dynamics.pipeline.commands import data, metrics, run
from learning_dynamics.pipeline.commands.claims import evaluate_claim
from learning_dynamics.pipeline.commands.functions import arguments_for, paper_function
from learning_dynamics.pipeline.commands.roles import load_tables
from learning_dynamics.pipeline.plan.blocks import overlay
from learning_dynamics.pipeline.plan.config_files import ROOT, load, read_yaml
from learning_dynamics.pipeline.plan.jobs import Job, write_plan
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import fault
from learning_dynamics.pipeline.plan.sweeps import runs_of_sweep
from learning_dynamics.pipeline.store.stamps import fingerprint

__all__ = [
    "PAPERS",
    "ROOT",
    "SMOKE",
    "as_text",
    "called",
    "claim_tables",
    "evaluation",
    "measured",
    "named_after_its_call",
    "plan",
    "scaled",
    "smoke",
    "verdict",
    "with_integration",
]

SMOKE = ROOT / "workflow/config/smoke.yaml"
PAPERS: list[str] = read_yaml(ROOT / "config.yaml")["papers"]

Tables = dict[str, Any]  # by role: a table, or a list of tables


def plan(*overlays: Path, papers: list[str] | None = None, **given: Any) -> Plan:
    """Return the shipped configuration with overlays, restricted to some papers."""
    return Plan(load(overlays, {**given, **({"papers": papers} if papers else {})}))


@functools.cache
def smoke(paper: str) -> Plan:
    """Return one paper at smoke scale."""
    return plan(SMOKE, papers=[paper])


# one folder for all processes of a test run (see conftest); files in it are named by what they are made from
SHARED = "LEARNING_DYNAMICS_TESTS"
WHOLE = "whole/project"  # in it: where Snakemake makes all papers at smoke scale


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one process at a time make a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.with_suffix(".lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def made(whose: Plan, paper: str, name: str) -> Path:
    """Return the metrics file of one run, made once in a test run: by Snakemake if it has, else in this process."""
    folder = Path(os.environ[SHARED], paper)
    fingerprint = whose.fingerprint("metrics", paper, name)
    built = Path(os.environ[SHARED], WHOLE, "results/smoke", paper, "metrics", f"{name}.parquet")
    if built.exists() and fault(built, fingerprint) is None:
        return built
    out = folder / fingerprint / f"{name}.parquet"
    trajectory = folder / f"{whose.fingerprint('run', paper, name)}.npz"
    with _alone(out):
        if not out.exists():
            inputs: dict[str, str] = {}
            data_set = whose.run_data(paper, name)
            if data_set is not None:
                source = folder / f"{whose.fingerprint('data', paper, data_set)}.npz"
                with _alone(source):
                    if not source.exists():
                        do_job(data.execute, whose.job("data", paper, data_set), source, {})
                inputs["data"] = str(source)
            with _alone(trajectory):
                if not trajectory.exists():
                    do_job(run.execute, whose.job("run", paper, name), trajectory, inputs)
            inputs = inputs if whose.measured_data(paper, name) else {}
            job = whose.job("metrics", paper, name)
            do_job(metrics.execute, job, out, {**inputs, "run": str(trajectory)})
    return out


def do_job(execute: Callable[..., None], job: Job, output: Path, inputs: Mapping[str, str], folder: str = "") -> None:
    """Do a job in this process, with its files elsewhere; the paper's results are in `folder`, or beside the output."""
    job = replace(job, output=str(output), inputs=dict(inputs), folder=folder or str(output.parent))
    with tempfile.TemporaryDirectory() as there:
        path = Path(there, "plan.jsonl")
        write_plan(path, {"files": [], "given": {}}, [job])
        execute(job.paper, job.name, plan=path)


def with_settings(whose: Plan, job: Job, made_from: str | None = None, **settings: Any) -> Job:
    """Return a job with other settings, made from another input if one is named, and the fingerprint of that."""
    spec = {**job.spec, "settings": job.spec["settings"] | settings}
    made_from = made_from or job.made_from
    digests = whose.science(job.stage, job.paper, job.name)
    return replace(job, spec=spec, made_from=made_from, fingerprint=fingerprint(job.stage, spec, digests, made_from))


def tables_of(whose: Plan, paper: str, roles: Mapping[str, Any]) -> Tables:
    """Return fresh tables by role, sweeps joined, as a figure's or claim's function is given them."""
    runs = [one for given in roles.values() for one in (given if isinstance(given, list) else [given])]
    with tempfile.TemporaryDirectory() as folder:
        for spec in runs:
            for name, _ in runs_of_sweep(spec["name"], spec["sweep"]):
                link = Path(folder, f"{name}.parquet")
                if not link.exists():
                    link.symlink_to(made(whose, paper, name))
        return load_tables(Path(folder), _unchecked(roles))


def _unchecked(roles: Mapping[str, Any]) -> dict[str, Any]:
    def one(spec: Mapping[str, Any]) -> dict[str, Any]:
        return {"name": spec["name"], "sweep": spec["sweep"]}

    return {
        role: [one(spec) for spec in given] if isinstance(given, list) else one(given) for role, given in roles.items()
    }


def measured(paper: str, name: str) -> pd.DataFrame:
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


def called(function: Callable[..., Any], *arguments: Any, **settings: Any) -> Any:
    """Return what a run makes of settings of which those that it does not name itself are of its integration."""
    return function(*arguments, **arguments_for(function, with_integration(function, settings)))


def with_integration(function: Callable[..., Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's settings as they are recorded, from such in which those of the integration stand beside others."""
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
        return ", ".join(f"{key}={as_text(one)}" for key, one in value.items()) or "nothing"
    if isinstance(value, tuple | list):
        runs = [(word, len(list(equal))) for word, equal in itertools.groupby(as_text(one) for one in value)]
        return f"[{', '.join(word if count == 1 else f'{count} times {word}' for word, count in runs)}]"
    return str(getattr(value, "__name__", value))


def named_after_its_call(factory: Callable[..., Any]) -> Callable[..., Any]:
    """Name the function or table that `factory` returns after the call: a case reads `put(drift, 2e-10, depth=3)`."""

    @functools.wraps(factory)
    def make(*arguments: Any, **options: Any) -> Any:
        made = factory(*arguments, **options)
        given = [as_text(one) for one in arguments]
        if options:
            given.append(as_text(options))
        call = f"{factory.__name__}({', '.join(given)})"
        if isinstance(made, pd.DataFrame):
            made.attrs["call"] = call
        else:
            made.__name__ = call
        return made

    return make


@named_after_its_call
def scaled(quantity: str, factor: float, **where: object) -> Callable[[Tables], Tables]:
    """Return an alteration of tables: multiply the values of a quantity, in the rows where columns match."""

    def alter(tables: Tables) -> Tables:
        found = False
        for given in tables.values():
            for table in given if isinstance(given, list) else [given]:
                rows = table["quantity"] == quantity
                for column, value in where.items():
                    rows &= table[column] == value if column in table else False
                table.loc[rows, "value"] *= factor
                found |= bool(rows.any())
        assert found, f"no rows of {quantity!r} where {where}"
        return tables

    return alter
