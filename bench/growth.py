"""How time and memory grow: a graph with its runs, a run with its draws and its width, `map` with its runs.

``python -m bench.growth --out docs/performance`` writes growth.csv and growth.png; it takes ten minutes of one core.
"""

import argparse
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from bench import pipeline
from bench.spent import Spent
from learning_dynamics.pipeline.store.pictures import matplotlib_defaults
from learning_dynamics.plotting import direct_labels, letters, panels, style

PAPER, RUN = "spectral_bias", "small_scale"
SETTINGS: dict[str, Any] = {"seeds": 10, "width": 10, "integration": {"points": 11}}
LEAST = {"seconds": 0.01, "MB": 1.0}  # below it a clock's ticks and a page of memory count


@dataclass(frozen=True)
class Curve:
    """A piece of work: what it takes, as `Spent.read` returns it, from the sizes at which it is measured."""

    label: str
    take: Callable[[int], dict[str, float]]
    sizes: tuple[int, ...]


def dry_run(runs: int) -> dict[str, float]:
    """Return what Snakemake takes before the first job of a sweep."""
    plan, arguments = pipeline.sweep_to_plan(runs)
    return take_command(plan, "snakemake.cli", *plan.command(*arguments)[2:])


def map_of(runs: int) -> dict[str, float]:
    """Return what `map` takes of a sweep, whose runs have 130,580 rows each."""
    from tests.pipeline.conftest import fresh
    from tests.support import SHARED

    plan = fresh(Path(tempfile.mkdtemp(dir=os.environ[SHARED]), "project"))
    overlay = ("--configfile", "sweep.yaml")
    values = ("--vary", f"gamma=1e-4:1:{runs}:log", "--name", "swept", "--out", overlay[1])
    for command in (
        (sys.executable, "-m", "learning_dynamics", "sweep", PAPER, RUN, *values),
        (sys.executable, "-m", "snakemake", "--cores", "1", *overlay, "--", f"{PAPER}_swept"),
    ):
        ended = plan.run(*command)
        assert ended.returncode == 0, ended.stderr
    drawn = ("--x", "gamma", "--quantity", "sigma_w1", "--where", "index=4", "phase=limit")
    library = "learning_dynamics.pipeline.commands.map"
    return take_command(plan, library, "learning_dynamics", "map", PAPER, "swept", *drawn, *overlay)


def take_command(plan: Any, library: str, *command: str) -> dict[str, float]:
    """Return what ``python -m ...`` takes in a workspace, from when a library is imported."""
    from learning_dynamics.starter import ADDRESS

    # without it a process that is not measured would do the work
    environment = {key: value for key, value in plan.environment.items() if key != ADDRESS}
    program = [sys.executable, str(Path(__file__).with_name("spent.py")), library, *command]
    ended = subprocess.run(program, cwd=plan.folder, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


def run_with(setting: str, size: int) -> dict[str, float]:
    """Return what a run and its metrics take in a process of their own, from when all is imported and compiled."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
        return alone.submit(_run_here, {setting: size}).result()


def _run_here(changed: Mapping[str, int]) -> dict[str, float]:
    import learning_dynamics as ld

    def work(settings: Mapping[str, Any]) -> None:
        ld.measure(PAPER, RUN, ld.simulate(PAPER, RUN, **settings))

    with redirect_stderr(io.StringIO()):  # progress bars
        work({**SETTINGS, "seeds": 1})
        counter = Spent()
        work({**SETTINGS, **changed})
        return counter.read()


TENFOLD = (10, 100, 1000, 10_000)
CURVES = (
    Curve("dry run", dry_run, TENFOLD),
    Curve("draws", lambda draws: run_with("seeds", draws), TENFOLD),
    Curve("width", lambda width: run_with("width", width), TENFOLD),
    Curve("map", map_of, (10, 30, 100)),
)


def measure(curves: Sequence[Curve] = CURVES) -> pd.DataFrame:
    """Return a row for each size of each curve: curve, size, seconds, MB."""
    from tests.support import SHARED

    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault(SHARED, folder)  # the workspaces of the tests are there
        rows = [{"curve": curve.label, "size": size, **curve.take(size)} for curve in curves for size in curve.sizes]
    return pd.DataFrame(rows)


def exponents(table: pd.DataFrame) -> pd.DataFrame:
    """Return by curve the powers of the size that seconds and megabytes follow over the last factor of ten."""
    slopes = {}
    for label, curve in table.groupby("curve", sort=False):
        last = curve[curve["size"] >= curve["size"].max() / 10]
        slopes[label] = {
            column: np.polyfit(np.log(last["size"]), np.log(last[column].clip(lower=least)), 1)[0]
            for column, least in LEAST.items()
        }
    return pd.DataFrame(slopes).T


def draw(table: pd.DataFrame) -> plt.Figure:
    """Draw seconds and megabytes against size, a line for each curve."""
    figure, axes = panels(1, 2, height=3.4)
    titles = {"seconds": "processor seconds", "MB": "memory over the start (MB)"}
    for axis, (column, title) in zip(axes.flat, titles.items(), strict=True):
        for label, curve in table.groupby("curve", sort=False):
            axis.loglog(curve["size"], curve[column].clip(lower=LEAST[column]), "o-", markersize=3.5, label=label)
        axis.set(title=title, xlabel="number of runs, draws, hidden units")
        axis.margins(x=0.02)
        direct_labels(axis, pad=3)
    letters(axes.flat)
    return figure


def main() -> None:
    """Measure, print the exponents, and write the table and the picture."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write into")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    table = measure()
    table.to_csv(out / "growth.csv", index=False, float_format="%.4g")
    with matplotlib_defaults(), style():
        draw(table).savefig(out / "growth.png")
    print(table.to_string(index=False), exponents(table).round(2).to_string(), sep="\n\n")


if __name__ == "__main__":
    main()
