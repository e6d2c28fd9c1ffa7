# What the rules share: the plan, and functions of a job's wildcards that look up in it.
import functools
import hashlib
import sys
from pathlib import Path

from learning_dynamics.environment import check_snakefile, numba_disabled, set_variables_of_jobs
from learning_dynamics.errors import ProjectError
from learning_dynamics.files import check_writable
from learning_dynamics.pipeline.report.text_digest import digest_of_texts
from learning_dynamics.pipeline.plan.config_files import ROOT, load
from learning_dynamics.pipeline.plan.default_resources import REQUESTS
from learning_dynamics.pipeline.plan.jobs import plan_path, write_plan
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import StaleOutputs, checked_outputs
from learning_dynamics.starter import start_server
from snakemake_logger_plugin_lines import REASONS, TARGETS

NAME = r"[a-z][A-Za-z0-9_.+-]*"  # of data sets, runs and figures
set_variables_of_jobs()
try:
    check_snakefile(workflow.basedir)
    # read again, since Snakemake reads configuration files as YAML 1.1, in which `no` is false and 1e-4 a text
    overlays, given = [str(file) for file in workflow.configfiles], workflow.config_settings.config
    configuration = load([Path(file) for file in overlays], given, ROOT)
    plan = Plan(configuration, check=False)
    if workflow.is_main_process:
        check_writable(Path.cwd())
        Path(".snakemake").mkdir(exist_ok=True)  # `refusals` writes there what it has checked
        with numba_disabled():
            outputs = checked_outputs(plan)
        stale_outputs = StaleOutputs(plan, outputs, REASONS)
        # of these the logger suggests the nearest where a target is misspelt
        for paper in plan.config.papers:
            TARGETS.extend([paper, f"{paper}_metrics", *(f"{paper}_{sweep}" for sweep in plan.config.sweeps(paper))])
        TARGETS.extend(outputs)
except ProjectError as error:
    sys.exit(f"error: {error}")


pathvars:  # here, since Snakemake 8 does not read them: the Snakefile says which version is needed
    results=plan.results,
    figures=plan.figures,


option = {"files": overlays, "given": given}  # which configuration: its overlays, what the command line set
PLAN = plan_path(option)  # every job's argument: it finds there what it is to do


onstart:
    if workflow.is_main_process:  # not the Snakemake that a cluster's node starts
        write_plan(PLAN, option, plan.jobs())
        # Snakemake's default limit of 100 jobs a second costs it time for each job that has ended (its issue 3744)
        limiter = workflow.scheduler.job_rate_limiter
        if limiter and (limiter.max_jobs, limiter.timespan) == (100, 1):
            workflow.scheduler.job_rate_limiter = None
        if workflow.local_exec:
            start_server()


def stale(rule):
    """Return an input function: a file that is newer than the rule's outputs, if one of these is stale.

    The fingerprint in an output decides, not Snakemake's record of the job; see `StaleOutputs`.
    """

    def further_input(wildcards):
        if not workflow.is_main_process:
            return []
        return stale_outputs.inputs(pattern.apply_wildcards(wildcards) for pattern in getattr(rules, rule).output)

    return further_input


def of_job(function):
    """Return a function of wildcards that calls `function(paper, name)`, once for each job.

    Snakemake calls it many times. The job that judges all claims has no wildcard `name`.
    """
    cached = functools.cache(function)
    return lambda wildcards: cached(wildcards.paper, wildcards.get("name", "claims"))


def input_of(stage, key):
    """Return an input function: the files that a job of a stage reads, under a key of `plan.inputs`."""
    return of_job(lambda paper, name: plan.inputs(stage, paper, name).get(key, []))


def metrics_for(stage):
    """Return an input function: the tables of metrics that a figure, or all claims of a paper, are made from."""
    return of_job(lambda paper, name: plan.metrics_files(paper, plan.tables_for(stage, paper, name)))


def fingerprint_of(stage):
    """Return a parameter function: a digest of all that a job's output depends on."""
    return of_job(lambda paper, name: plan.fingerprint(stage, paper, name))


def request(stage, resource):
    """Return a resource function: what a job asks for; memory and time grow with each attempt."""

    def amount(wildcards, attempt):
        asked = REQUESTS[stage] | plan.resources(stage, wildcards.get("paper"), wildcards.get("name"))
        if resource == "mem_mb":
            return asked["mem_mb"] * attempt
        if resource == "runtime":
            # `--config sharing=4`: four jobs share a GPU, and take so much longer
            sharing = config.get("sharing", 1) if asked.get("gpu") else 1
            return asked["runtime"] * attempt * sharing
        return asked[resource]

    return amount


def priority_of(stage):
    """Return a priority function: the papers in their order, what reads a run before runs."""
    order = plan.config.papers[::-1]
    makes_a_run = stage in ("data", "run", "bundle")

    return of_job(lambda paper, name: 2 * order.index(paper) + (not makes_a_run))


def short_runs(wildcards):
    """Return the group in which a cluster's submissions gather short runs; none for a long one."""
    return None if plan.is_long("run", wildcards.paper, wildcards.name) else "runs"


def threads_of(stage):
    """Return a function of wildcards: the threads that the configuration gives a job."""
    return of_job(lambda paper, name: plan.resources(stage, paper, name).get("threads", 1))


def rates_metrics():
    """Return the metrics of every sweep `..._rates` of neural_collapse."""
    if "neural_collapse" not in plan.config.papers:
        return []
    files = []
    for sweep in plan.config.sweeps("neural_collapse"):
        if sweep.endswith("_rates"):
            files += plan.metrics_files("neural_collapse", plan.config.tables("neural_collapse", sweep))
    return files


def digest_of_variations():
    """Return a digest of what was judged again, here or as published: if it changes, the page is written again.

    These files are no input of the page: it would wait for `snakemake robustness`.
    """
    scale = plan.config.configuration.scale
    folder = Path("docs/scales", scale) if scale else Path("docs/results")
    files = [Path(plan.results, "variations.parquet"), folder / "robustness.csv"]
    files += sorted(Path("docs/scales").glob("*/claims.csv"))
    contents = [file.read_bytes() for file in files if file.is_file()]
    return hashlib.sha256(b"".join(contents)).hexdigest()[:20] if contents else ""
