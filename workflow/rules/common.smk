# What the rules share: the plan, and functions of the wildcards that look up in it.
import functools
import hashlib
import json
import sys
from fnmatch import fnmatch
from pathlib import Path

from learning_dynamics.environment import set_variables_of_jobs
from learning_dynamics.errors import ProjectError
from learning_dynamics.files import check_writable
from learning_dynamics.pipeline.report.text_digest import digest_of_texts
from learning_dynamics.pipeline.plan.config_files import ROOT, load
from learning_dynamics.pipeline.plan.default_resources import REQUESTS
from learning_dynamics.pipeline.plan.plan import Plan
from learning_dynamics.pipeline.plan.stale_outputs import StaleOutputs, expected_outputs

NAME = r"[a-z][A-Za-z0-9_.+-]*"  # of data sets, runs and figures
set_variables_of_jobs()
try:
    if ROOT != Path(workflow.basedir).resolve():
        raise ProjectError(
            f"{workflow.basedir}: this environment runs the code of {ROOT}; activate the environment of this checkout"
        )
    command_line = workflow.config_settings.config  # Snakemake reads files as YAML 1.1: they are read again
    configuration = load([Path(file) for file in workflow.configfiles], command_line, ROOT)
    plan = Plan(configuration, check=workflow.is_main_process)
    if workflow.is_main_process:
        check_writable(Path.cwd())
        stale_outputs = StaleOutputs(expected_outputs(plan, plan.results, plan.figures), workflow)
except ProjectError as error:
    sys.exit(f"error: {error}")


def stale(rule):
    """Return an input function: a file that is newer than the rule's outputs, if one is of other settings or code."""

    def further_input(wildcards):
        if not workflow.is_main_process:
            return []
        return stale_outputs.inputs(pattern.apply_wildcards(wildcards) for pattern in getattr(rules, rule).output)

    return further_input


def lookup(function):
    """Return a parameter function that calls `function(paper, name)` once for each job."""
    cached = functools.cache(function)
    return lambda wildcards: cached(wildcards.paper, wildcards.get("name", "claims"))


def files_of(data_sets):
    return lookup(lambda paper, name: plan.data_files(paper, *data_sets(paper, name)))


def compact(content):
    return json.dumps(content, separators=(",", ":"))


def configuration_option(given):
    """Return the configuration as a command reads it: overlays, and values from the command line."""
    return compact({"files": [str(file) for file in workflow.configfiles], "given": given})


def judged_again(wildcards):
    """Return a digest of what was judged again, if it was; no input of the page, which does not wait for it."""
    table = Path(plan.results, "again.parquet")
    return hashlib.sha256(table.read_bytes()).hexdigest()[:20] if table.is_file() else ""


def job(stage):
    """Return the parameters of a stage's jobs: what to do, as JSON; the science that does it; options of the command."""

    def fingerprints(paper, name):
        source = plan.made_from(stage, paper, name)
        return (f"--made-from {source} " if source else "") + f"--fingerprint {plan.fingerprint(stage, paper, name)}"

    return {
        "spec": lookup(lambda paper, name: compact(plan.spec(stage, paper, name))),
        "science": lookup(lambda paper, name: plan.science_list(stage, paper, name)),
        "fingerprints": lookup(fingerprints),
        # Snakemake does not compare parameters that take the input
        "stage": lambda wildcards, input: stage,
        "inputs": lambda wildcards, input: " ".join(
            f"--{key} {input[key]}" for key in ("run", "data") if input.get(key)
        ),
    }


def requests(stage):
    """Return the resources that a stage's jobs ask for; memory and time grow with each attempt."""

    def resource(key):
        def amount(wildcards, attempt):
            request = REQUESTS[stage] | plan.resources(stage, wildcards.get("paper"), wildcards.get("name"))
            if key not in ("mem_mb", "runtime"):
                return request[key]
            # jobs that share a GPU take so much longer
            shared = config.get("sharing", 1) if key == "runtime" and request.get("gpu") else 1
            return request[key] * attempt * shared

        return amount

    return {key: resource(key) for key in REQUESTS[stage]}


def priority(stage, paper=""):
    """Return a priority function: long jobs first, then the papers in their order, drawings before runs."""
    order = plan.config.papers[::-1]
    own = {"data": 100, "run": 100, "metrics": 101, "together": 0, "bundle": 0}.get(stage, 1)
    return lambda wildcards: own + 2 * order.index(paper or wildcards.paper)


def threads(stage):
    return lookup(lambda paper, name: plan.resources(stage, paper, name).get("threads", 1))


def metrics_for(stage):
    """Return an input function: the tables of metrics that a figure, or all claims of a paper, are made from."""
    return lookup(lambda paper, name: plan.metrics_files(paper, plan.tables_for(stage, paper, name)))
