"""The stages as commands: every job that Snakemake runs is one of these, and can be copied and run by hand."""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError, near, shortened
from learning_dynamics.pipeline.commands.guard import bound_memory, bound_time, guarded
from learning_dynamics.pipeline.store.seals import refuse_foreign
from learning_dynamics.pipeline.study import cluster
from learning_dynamics.pipeline.study.sources import papers
from learning_dynamics.pipeline.study.sweeps import GRAMMAR
from learning_dynamics.progress import grant

# what a job must be told, and of which type
NEEDED: dict[str, dict[str, type]] = {
    "data": {"source": str, "settings": dict},
    "run": {"kind": str, "settings": dict},
    "metrics": {"kind": str, "settings": dict},
    "bundle": {"kind": str, "settings": dict, "measure": dict, "sweep": str, "axes": list, "members": list},
    "figure": {"kind": str, "runs": dict, "settings": dict},
    "motion": {"kind": str, "runs": dict, "settings": dict},
    "interactive": {"kind": str, "runs": dict, "settings": dict},
    "claims": {"claims": dict, "sensitivity": dict},
}
CLAIM = {"kind": str, "runs": dict, "settings": dict, "vary": dict, "expected": str}
CHECK = {"run": str, "setting": str, "claims": list, "members": list}
RUN = {"name": str}
NAMES: dict[type, str] = {str: "text", dict: "an object", list: "a list"}
COPY = "copy the command from Snakemake's log"
WRITTEN = {"out", "pdf", "png", "svg", "markdown", "csv"}  # options that name a file to write
OWN = {"claims", "csv", "sweep"}  # stages that write folders, or know their files by other marks
LOOKS = ("paper", "talk", "thesis")  # `plotting.LOOKS`, without waiting for matplotlib


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    root = argparse.ArgumentParser(prog="python -m learning_dynamics", description=__doc__)
    stages = root.add_subparsers(dest="stage", required=True, metavar="stage")

    def stage(name: str, about: str, *, paper: bool = True, job: bool = True, spec: bool = True) -> Any:
        command = stages.add_parser(name, help=about, description=about)
        if paper:
            command.add_argument("paper", help="paper, for example spectral_bias")
        if job:
            command.add_argument("name", help="name in config.yaml")
        if spec:
            command.add_argument("--spec", type=_spec, required=True, help="what to do, as JSON")
        return command

    def made(command: Any, source: bool = True) -> None:
        if source:
            command.add_argument("--made-from", metavar="DIGEST", help="fingerprint that the input must have")
        command.add_argument("--fingerprint", metavar="DIGEST", help="fingerprint that the output must get")
        command.add_argument("--minutes", type=_minutes, help="how long it may take; without, as long as it takes")

    def path(command: Any, flag: str, about: str, *, required: bool = True, ending: str = "") -> None:
        command.add_argument(flag, type=_written(ending), required=required, metavar="PATH", help=about)

    def configured(command: Any) -> None:
        command.add_argument(
            "--config", type=_given, default={"files": [], "given": {}}, help="configuration files and values, as JSON"
        )

    def overlays(command: Any) -> None:
        command.add_argument(
            "--configfile", nargs="*", type=Path, default=[], dest="files", help="overlays, as for Snakemake"
        )

    data = stage("data", "make a data set: settings in, .npz of named arrays out")
    path(data, "--out", "the .npz to write", ending=".npz")
    made(data, source=False)

    run = stage("run", "simulate or train: data .npz and settings in, .npz trajectory out")
    path(run, "--data", "the data set's .npz, for runs that take one", required=False)
    path(run, "--out", "the .npz to write", ending=".npz")
    made(run)

    metrics = stage("metrics", "measure a run: .npz trajectory in, tidy parquet out")
    path(metrics, "--run", "the run's .npz")
    path(metrics, "--data", "the .npz of the run's data set, for metrics that take it", required=False)
    path(metrics, "--out", "the .parquet to write", ending=".parquet")
    made(metrics)

    bundle = stage("bundle", "simulate and measure many members of a sweep: data and settings in, one parquet out")
    bundle.add_argument("--data", nargs="*", type=Path, default=[], metavar="PATH", help="the data sets' .npz")
    path(bundle, "--out", "the .parquet to write", ending=".parquet")
    made(bundle, source=False)

    figure = stage("figure", "draw a figure, also for a talk or a thesis: parquet in, PDF, PNG and SVG out", spec=False)
    figure.add_argument("--spec", type=_spec, help="what to do, as JSON; by default what the configuration says")
    figure.add_argument("--style", choices=LOOKS, default="paper", dest="look", help="what it is drawn for")
    path(figure, "--metrics", "folder of the runs' .parquet", required=False)
    path(
        figure,
        "--pdf",
        "the .pdf to write, figures/<style>/<paper>/<name>.pdf by default",
        required=False,
        ending=".pdf",
    )
    path(figure, "--png", "the .png to write", required=False, ending=".png")
    path(figure, "--svg", "the .svg to write", required=False, ending=".svg")
    made(figure, source=False)

    for name, about, ending in (
        ("motion", "draw a figure that moves: parquet in, animated WebP out", ".webp"),
        ("interactive", "draw a figure whose reader moves it: parquet in, Vega-Lite's JSON out", ".json"),
    ):
        moving = stage(name, about, spec=False)
        moving.add_argument("--spec", type=_spec, help="what to do, as JSON; by default what the configuration says")
        path(moving, "--metrics", "folder of the runs' .parquet", required=False)
        told = f"the {ending} to write; by default figures/<paper>/<name>{ending}"
        path(moving, "--out", told, required=False, ending=ending)
        made(moving, source=False)

    claims = stage("claims", "check a paper's claims: parquet in, verdicts out", job=False)
    path(claims, "--metrics", "folder of the runs' .parquet")
    path(claims, "--out", "folder for claims, parts, variants and sensitivity .parquet")
    made(claims, source=False)

    report = stage("report", "write the page: figures and claims in, HTML out", paper=False, job=False, spec=False)
    report.add_argument("--config", type=_given, required=True, help="which configuration files and values, as JSON")
    path(report, "--results", "folder that holds <paper>/claims.parquet")
    path(report, "--figures", "folder that holds <paper>/<figure>.png")
    path(report, "--out", "the .html to write", ending=".html")
    path(report, "--claims", "the .parquet of all papers' claims to write", ending=".parquet")

    verdicts = stage(
        "verdicts",
        "print the table of claims; exit 1 if a verdict is not the expected one",
        paper=False,
        job=False,
        spec=False,
    )
    verdicts.add_argument("claims", type=Path, help="the .parquet of all papers' claims")
    path(verdicts, "--page", "the page to name below the table", required=False)
    path(
        verdicts,
        "--out",
        "the .txt to write, if all is as expected, instead of printing it",
        required=False,
        ending=".txt",
    )

    replication = stage(
        "replication",
        "compare the verdicts found under several seeds: a table, a matrix as figure",
        paper=False,
        job=False,
        spec=False,
    )
    replication.add_argument("--folders", type=_spec, required=True, help="results folder of each seed, as JSON")
    replication.add_argument("--papers", nargs="+", required=True, help="the papers to compare")
    configured(replication)
    path(replication, "--out", "the .parquet to write", ending=".parquet")
    path(replication, "--markdown", "the .md to write", ending=".md")
    path(replication, "--pdf", "the .pdf to write", ending=".pdf")
    path(replication, "--png", "the .png to write", ending=".png")

    def region(name: str, about: str, *, job: bool) -> Any:
        command = stage(name, about, job=job, spec=False)
        configured(command)
        path(command, "--out", "the .parquet to write", ending=".parquet")
        command.add_argument("--made", default="", metavar="DIGEST", help="of all that it depends on")
        command.add_argument("--minutes", type=_minutes, help="how long it may take; without, as long as it takes")
        return command

    region("wild", "judge a paper's theorems and formulas on a wild draw", job=False).add_argument(
        "--draw", type=int, required=True, help="which draw, from 1"
    )
    region("turning", "vary a setting of the `turning` block until verdicts turn", job=True)
    regions = stage("regions", "join wild draws, or turning checks", paper=False, job=False, spec=False)
    regions.add_argument("of", choices=("wild", "turning"), help="what the files are")
    regions.add_argument("files", nargs="*", type=Path, help="the .parquet of each")
    path(regions, "--out", "the .parquet to write", ending=".parquet")
    for flag, ending in (("--csv", ".csv"), ("--markdown", ".md"), ("--pdf", ".pdf"), ("--png", ".png")):
        path(regions, flag, f"the {ending} to write", ending=ending)

    publish = stage(
        "publish",
        "write docs/results from the default run, or docs/scales from that of another scale",
        paper=False,
        job=False,
        spec=False,
    )
    publish.add_argument("--results", type=Path, default=Path("results"), metavar="PATH", help="the run's results")
    publish.add_argument("--figures", type=Path, default=Path("figures"), metavar="PATH", help="the run's figures")
    publish.add_argument("--check", action="store_true", help="write nothing; exit 1 if what is published is stale")
    publish.add_argument("--papers", nargs="+", default=[], metavar="PAPER", help="some papers, of another scale")
    overlays(publish)

    compare = stage(
        "compare",
        "compare a run's claims with the published ones of docs/results; exit 1 if a verdict differs",
        paper=False,
        job=False,
        spec=False,
    )
    compare.add_argument(
        "claims", type=Path, nargs="?", default=Path("results/claims.parquet"), help="the run's claims .parquet"
    )

    check = stage(
        "check",
        "hold everything that lies under results against the configuration",
        paper=False,
        job=False,
        spec=False,
    )
    check.add_argument(
        "--configfile", nargs="*", type=Path, default=[], dest="files", help="overlays, as for Snakemake"
    )

    stage("new", "begin a paper: a skeleton with one run, metric, figure, claim and test", job=False, spec=False)

    sweep = stage("sweep", "write a configuration overlay that repeats a run over ranges of settings", spec=False)
    sweep.add_argument("--vary", nargs="+", action="extend", required=True, metavar="SETTING=VALUES", help=GRAMMAR)
    sweep.add_argument("--called", help="the swept run's name; by default the run's, with _sweep")
    sweep.add_argument(
        "--bundle", type=int, metavar="N", help="runs that one job makes, where each takes less than a second"
    )
    path(sweep, "--out", "the .yaml to write, in place of printing it", required=False, ending=".yaml")
    overlays(sweep)

    map_ = stage("map", "draw a run or sweep: a quantity against one setting, or over two", spec=False)
    map_.add_argument(
        "--x",
        required=True,
        metavar="COLUMN",
        help="swept setting or column of the metrics, along the horizontal axis",
    )
    map_.add_argument("--y", metavar="COLUMN", help="the same along the vertical axis, for a map")
    map_.add_argument("--quantity", help="of the metrics; without it, the quantities are listed")
    map_.add_argument("--index", type=int, help="which entry of the quantity, from 1")
    map_.add_argument("--at", default="last", help="last (the default), first: in time; largest, smallest: in value")
    map_.add_argument("--above", type=float, help="draw the share of draws above this number, in place of their median")
    map_.add_argument(
        "--where", nargs="*", action="extend", default=[], metavar="COLUMN=VALUE", help="which rows of the metrics"
    )
    path(map_, "--out", "the .pdf to write; a .png comes beside it", required=False)
    overlays(map_)

    tex = stage("tex", "a paper's claims as LaTeX: a table, and every number as a macro", job=False, spec=False)
    path(tex, "--out", "the .tex to write, in place of printing it", required=False, ending=".tex")
    overlays(tex)

    csv = stage("csv", "every table of a run as CSV", paper=False, job=False, spec=False)
    csv.add_argument("papers", nargs="*", metavar="paper", help="the papers; by default all")
    path(csv, "--out", "the folder to write them into")
    overlays(csv)

    costs = stage("costs", "what jobs asked for and what they used", paper=False, job=False, spec=False)
    costs.add_argument("--every", action="store_true", help="a row for each job, not for each stage of a paper")
    overlays(costs)

    summary = stage("summary", "what a run of Snakemake has left to look at", paper=False, job=False, spec=False)
    summary.add_argument("--papers", nargs="*", default=[], help="the papers; by default all")
    summary.add_argument("--since", type=float, help="what is newer than this moment is new (seconds since 1970)")
    overlays(summary)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one stage; a mistake that a person can mend is one line on standard error and exit status 1."""
    command = parser()
    given = sys.argv[1:] if arguments is None else arguments
    for argument in given:
        if not argument.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in argument):
            command.error(f"{argument!a}: is no text in UTF-8; name another")
    options = vars(command.parse_args(given))
    return guarded(lambda: _execute(options.pop("stage"), options))


def _execute(stage: str, options: dict[str, Any]) -> int | None:
    if "paper" in options and stage != "new":
        _check_paper(options["paper"])
    for flag in WRITTEN & set(options) if stage not in OWN else ():
        if options[flag] is not None:
            refuse_foreign(options[flag])  # before anything is computed
    if "minutes" in options:
        bound_memory()
        minutes = options.pop("minutes")
        if minutes is not None:
            bound_time(minutes)
            if cluster.may_requeue():
                grant(cluster.granted(60.0 * minutes))
    if stage in NEEDED and options["spec"] is not None:
        _check_spec(stage, options["spec"])
    return importlib.import_module(f"learning_dynamics.pipeline.commands.{stage}").execute(**options)


def _check_spec(stage: str, spec: Any) -> None:
    """Refuse orders that are not as Snakemake gives them: somebody wrote them by hand."""
    _check_keys(spec, NEEDED[stage])
    if stage == "bundle":
        named = all(isinstance(axis, str) for axis in spec["axes"])
        values = [one for one in spec["members"] if isinstance(one, list) and len(one) == len(spec["axes"])]
        if not (named and values and len(values) == len(spec["members"])):
            raise ProjectError(f"--spec: `members` must be lists of values, one for each of `axes`; {COPY}")
    for block in [*spec.get("claims", {}).values(), *spec.get("sensitivity", {}).values()] if stage == "claims" else []:
        _check_keys(block, CHECK if isinstance(block, dict) and "members" in block else CLAIM)
    for block in spec["claims"].values() if stage == "claims" else [spec]:
        runs = block.get("runs", {}).values() if stage in ("figure", "motion", "interactive", "claims") else []
        for run in itertools.chain.from_iterable(given if isinstance(given, list) else [given] for given in runs):
            _check_keys(run, RUN)
            if run.get("sweep") is not None and not isinstance(run["sweep"], dict):
                raise ProjectError(f"--spec: `sweep` of {run['name']} must be a mapping; {COPY}")


def _check_keys(block: Any, needed: Mapping[str, type]) -> None:
    for key, kind in needed.items():
        if not isinstance(block, dict) or key not in block:
            raise ProjectError(f"--spec: `{key}` is missing; {COPY}")
        if not isinstance(block[key], kind):
            raise ProjectError(f"--spec: `{key}` must be {NAMES[kind]} (is {shortened(block[key])}); {COPY}")


def _written(ending: str) -> Callable[[str], Path]:
    def path(text: str) -> Path:
        if not text.endswith(ending):
            raise argparse.ArgumentTypeError(f"must end in {ending} (is {text})")
        if not text:
            raise argparse.ArgumentTypeError("must name a file or folder")
        return Path(text)

    return path


def _spec(text: str) -> dict[str, Any]:
    try:
        spec = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"not JSON ({error})") from None
    if not isinstance(spec, dict):
        raise argparse.ArgumentTypeError("must be a JSON object of keys and values")
    return spec


def _given(text: str) -> dict[str, Any]:
    spec = _spec(text)
    files, given = spec.get("files"), spec.get("given")
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files) or not isinstance(given, dict):
        raise argparse.ArgumentTypeError('must be {"files": [names of overlays], "given": {values}}')
    return spec


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < 1e6:
        raise argparse.ArgumentTypeError(f"must be a positive number (is {text})")
    return minutes


def _check_paper(paper: str) -> None:
    known = papers()
    if paper not in known:
        raise ProjectError(f"no paper `{paper}` in src/learning_dynamics/papers{near(paper, known)}")
