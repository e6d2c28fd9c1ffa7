"""The stages as commands: every job that Snakemake runs is one of these, and can be copied and run by hand."""

import argparse
import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from learning_dynamics.errors import ProjectError, suggest_name
from learning_dynamics.pipeline.commands.guard import limit_memory, limit_time, run_guarded
from learning_dynamics.pipeline.store.seals import refuse_foreign
from learning_dynamics.pipeline.study import cluster
from learning_dynamics.pipeline.study.sources import papers
from learning_dynamics.pipeline.study.sweeps import GRAMMAR
from learning_dynamics.progress import grant

OUTPUT_OPTIONS = {"out", "pdf", "png", "svg", "markdown", "csv"}  # options that name a file to write
# stages that write folders, or know their files by other marks
STAGES_WITHOUT_FILE_CHECK = {"claims", "sweep", "table"}
LOOKS = ("paper", "talk", "thesis")  # `plotting.LOOKS`, without waiting for matplotlib


def parser() -> argparse.ArgumentParser:
    """Return the command line's parser."""
    root = argparse.ArgumentParser(prog="python -m learning_dynamics", description=__doc__)
    stages = root.add_subparsers(dest="stage", required=True, metavar="stage")

    def add_stage(name: str, about: str, *, paper: bool = True, job: bool = True, spec: bool = True) -> Any:
        command = stages.add_parser(name, help=about, description=about)
        if paper:
            command.add_argument("paper", help="paper, for example spectral_bias")
        if job:
            command.add_argument("name", help="name in config.yaml")
        if spec:
            command.add_argument("--spec", type=_parse_spec, required=True, help="what to do, as JSON")
        return command

    def add_fingerprints(command: Any, source: bool = True) -> None:
        if source:
            command.add_argument("--made-from", metavar="DIGEST", help="fingerprint that the input must have")
        command.add_argument("--fingerprint", metavar="DIGEST", help="fingerprint that the output must get")
        command.add_argument(
            "--minutes", type=_parse_minutes, help="how long it may take; without, as long as it takes"
        )

    def add_path(command: Any, flag: str, about: str, *, required: bool = True, ending: str = "") -> None:
        command.add_argument(flag, type=_path_ending_in(ending), required=required, metavar="PATH", help=about)

    def add_config(command: Any) -> None:
        command.add_argument(
            "--config",
            type=_parse_config,
            default={"files": [], "given": {}},
            help="configuration files and values, as JSON",
        )

    def add_overlays(command: Any) -> None:
        command.add_argument(
            "--configfile", nargs="*", type=Path, default=[], dest="files", help="overlays, as for Snakemake"
        )

    data = add_stage("data", "make a data set: settings in, .npz of named arrays out")
    add_path(data, "--out", "the .npz to write", ending=".npz")
    add_fingerprints(data, source=False)

    run = add_stage("run", "simulate or train: data .npz and settings in, .npz trajectory out")
    add_path(run, "--data", "the data set's .npz, for runs that take one", required=False)
    add_path(run, "--out", "the .npz to write", ending=".npz")
    add_fingerprints(run)

    metrics = add_stage("metrics", "measure a run: .npz trajectory in, tidy parquet out")
    add_path(metrics, "--run", "the run's .npz")
    add_path(metrics, "--data", "the .npz of the run's data set, for metrics that take it", required=False)
    add_path(metrics, "--out", "the .parquet to write", ending=".parquet")
    add_fingerprints(metrics)

    bundle = add_stage("bundle", "simulate and measure many members of a sweep: data and settings in, one parquet out")
    bundle.add_argument("--data", nargs="*", type=Path, default=[], metavar="PATH", help="the data sets' .npz")
    add_path(bundle, "--out", "the .parquet to write", ending=".parquet")
    add_fingerprints(bundle, source=False)

    figure = add_stage(
        "figure", "draw a figure, also for a talk or a thesis: parquet in, PDF, PNG and SVG out", spec=False
    )
    figure.add_argument("--spec", type=_parse_spec, help="what to do, as JSON; by default what the configuration says")
    figure.add_argument("--style", choices=LOOKS, default="paper", dest="look", help="what it is drawn for")
    add_path(figure, "--metrics", "folder of the runs' .parquet", required=False)
    add_path(
        figure,
        "--pdf",
        "the .pdf to write, figures/<style>/<paper>/<name>.pdf by default",
        required=False,
        ending=".pdf",
    )
    add_path(figure, "--png", "the .png to write", required=False, ending=".png")
    add_path(figure, "--svg", "the .svg to write", required=False, ending=".svg")
    add_fingerprints(figure, source=False)

    for name, about, ending in (
        ("motion", "draw a figure that moves: parquet in, animated WebP out", ".webp"),
        ("interactive", "draw a figure whose reader moves it: parquet in, Vega-Lite's JSON out", ".json"),
    ):
        moving = add_stage(name, about, spec=False)
        moving.add_argument(
            "--spec", type=_parse_spec, help="what to do, as JSON; by default what the configuration says"
        )
        add_path(moving, "--metrics", "folder of the runs' .parquet", required=False)
        about_out = f"the {ending} to write; by default figures/<paper>/<name>{ending}"
        add_path(moving, "--out", about_out, required=False, ending=ending)
        add_fingerprints(moving, source=False)

    table = add_stage("table", "a table of a paper's own, from metrics", job=False, spec=False)
    table.add_argument("function", help="module.function of the paper")
    table.add_argument("--metrics", nargs="+", type=Path, required=True, metavar="PATH", help="the runs' .parquet")
    table.add_argument("--out", nargs="+", type=Path, required=True, metavar="PATH", help=".parquet, .md or .yaml")

    claims = add_stage("claims", "check a paper's claims: parquet in, verdicts out", job=False)
    add_path(claims, "--metrics", "folder of the runs' .parquet")
    add_path(claims, "--out", "folder for claims, parts, variants and sensitivity .parquet")
    add_fingerprints(claims, source=False)

    report = add_stage("report", "write the page: figures and claims in, HTML out", paper=False, job=False, spec=False)
    report.add_argument(
        "--config", type=_parse_config, required=True, help="which configuration files and values, as JSON"
    )
    add_path(report, "--results", "folder that holds <paper>/claims.parquet")
    add_path(report, "--figures", "folder that holds <paper>/<figure>.png")
    add_path(report, "--out", "the .html to write", ending=".html")
    add_path(report, "--claims", "the .parquet of all papers' claims to write", ending=".parquet")

    verdicts = add_stage(
        "verdicts",
        "print the table of claims; exit 1 if a verdict is not the expected one",
        paper=False,
        job=False,
        spec=False,
    )
    verdicts.add_argument(
        "claims",
        type=Path,
        nargs="?",
        default=Path("results/claims.parquet"),
        help="the .parquet of a paper's claims, or of all papers' (the default run's: %(default)s)",
    )
    add_path(verdicts, "--page", "the page to name below the table", required=False)
    add_path(
        verdicts,
        "--out",
        "the .txt to write, if all is as expected, instead of printing it",
        required=False,
        ending=".txt",
    )

    replication = add_stage(
        "replication",
        "compare the verdicts found under several seeds: a table, a matrix as figure",
        paper=False,
        job=False,
        spec=False,
    )
    replication.add_argument("--folders", type=_parse_spec, required=True, help="results folder of each seed, as JSON")
    replication.add_argument("--papers", nargs="+", required=True, help="the papers to compare")
    add_config(replication)
    add_path(replication, "--out", "the .parquet to write", ending=".parquet")
    add_path(replication, "--markdown", "the .md to write", ending=".md")
    add_path(replication, "--pdf", "the .pdf to write", ending=".pdf")
    add_path(replication, "--png", "the .png to write", ending=".png")

    def add_region(name: str, about: str, *, job: bool) -> Any:
        command = add_stage(name, about, job=job, spec=False)
        add_config(command)
        add_path(command, "--out", "the .parquet to write", ending=".parquet")
        command.add_argument("--made", default="", metavar="DIGEST", help="of all that it depends on")
        command.add_argument(
            "--minutes", type=_parse_minutes, help="how long it may take; without, as long as it takes"
        )
        return command

    add_region("wild", "judge a paper's theorems and formulas on a wild draw", job=False).add_argument(
        "--draw", type=int, required=True, help="which draw, from 1"
    )
    add_region("turning", "vary a setting of the `turning` block until verdicts turn", job=True)
    regions = add_stage("regions", "join wild draws, or turning checks", paper=False, job=False, spec=False)
    regions.add_argument("of", choices=("wild", "turning"), help="what the files are")
    regions.add_argument("files", nargs="*", type=Path, help="the .parquet of each")
    add_path(regions, "--out", "the .parquet to write", ending=".parquet")
    for flag, ending in (("--csv", ".csv"), ("--markdown", ".md"), ("--pdf", ".pdf"), ("--png", ".png")):
        add_path(regions, flag, f"the {ending} to write", ending=ending)

    publish = add_stage(
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
    add_overlays(publish)

    compare = add_stage(
        "compare",
        "compare a run's claims with the published ones of docs/results; exit 1 if a verdict differs",
        paper=False,
        job=False,
        spec=False,
    )
    compare.add_argument(
        "claims", type=Path, nargs="?", default=Path("results/claims.parquet"), help="the run's claims .parquet"
    )

    check = add_stage(
        "check",
        "hold everything that lies under results against the configuration",
        paper=False,
        job=False,
        spec=False,
    )
    check.add_argument(
        "--configfile", nargs="*", type=Path, default=[], dest="files", help="overlays, as for Snakemake"
    )

    add_stage("new", "begin a paper: a skeleton with one run, metric, figure, claim and test", job=False, spec=False)

    sweep = add_stage("sweep", "write a configuration overlay that repeats a run over ranges of settings", spec=False)
    sweep.add_argument("--vary", nargs="+", action="extend", required=True, metavar="SETTING=VALUES", help=GRAMMAR)
    sweep.add_argument("--called", help="the swept run's name; by default the run's, with _sweep")
    sweep.add_argument(
        "--bundle", type=int, metavar="N", help="runs that one job makes, where each takes less than a second"
    )
    add_path(sweep, "--out", "the .yaml to write, in place of printing it", required=False, ending=".yaml")
    add_overlays(sweep)

    map_ = add_stage("map", "draw a run or sweep: a quantity against one setting, or over two", spec=False)
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
    add_path(map_, "--out", "the .pdf to write; a .png comes beside it", required=False, ending=".pdf")
    add_overlays(map_)

    summary = add_stage("summary", "what a run of Snakemake has left to look at", paper=False, job=False, spec=False)
    summary.add_argument("--papers", nargs="*", default=[], help="the papers; by default all")
    summary.add_argument("--since", type=float, help="what is newer than this moment is new (seconds since 1970)")
    add_overlays(summary)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one stage; a mistake that a person can mend is one line on standard error and exit status 1."""
    command = parser()
    options = vars(command.parse_args(arguments))
    return run_guarded(lambda: _execute(options.pop("stage"), options))


def _execute(stage: str, options: dict[str, Any]) -> int | None:
    if "paper" in options and stage != "new":
        _check_paper(options["paper"])
    for flag in OUTPUT_OPTIONS & set(options) if stage not in STAGES_WITHOUT_FILE_CHECK else ():
        if options[flag] is not None:
            refuse_foreign(options[flag])  # before anything is computed
    if "minutes" in options:
        limit_memory()
        minutes = options.pop("minutes")
        if minutes is not None:
            limit_time(minutes)
            if cluster.may_requeue():
                grant(cluster.time_until_requeue(60.0 * minutes))
    return importlib.import_module(f"learning_dynamics.pipeline.commands.{stage}").execute(**options)


def _path_ending_in(ending: str) -> Callable[[str], Path]:
    def path(text: str) -> Path:
        if not text.endswith(ending):
            raise argparse.ArgumentTypeError(f"must end in {ending} (is {text})")
        if not text:
            raise argparse.ArgumentTypeError("must name a file or folder")
        return Path(text)

    return path


def _parse_spec(text: str) -> dict[str, Any]:
    try:
        spec = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"not JSON ({error})") from None
    if not isinstance(spec, dict):
        raise argparse.ArgumentTypeError("must be a JSON object of keys and values")
    return spec


def _parse_config(text: str) -> dict[str, Any]:
    spec = _parse_spec(text)
    files, given = spec.get("files"), spec.get("given")
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files) or not isinstance(given, dict):
        raise argparse.ArgumentTypeError('must be {"files": [names of overlays], "given": {values}}')
    return spec


def _parse_minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < 1e6:
        raise argparse.ArgumentTypeError(f"must be a positive number (is {text})")
    return minutes


def _check_paper(paper: str) -> None:
    known_papers = papers()
    if paper not in known_papers:
        raise ProjectError(f"no paper `{paper}` in src/learning_dynamics/papers{suggest_name(paper, known_papers)}")
