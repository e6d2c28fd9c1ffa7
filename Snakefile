# One generic rule for each stage; what each job is to do comes from the configuration, looked up by paper and name.
import functools
import gc
import hashlib
import json
import os
import re
import shlex
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")
gc.set_threshold(100_000, 20, 20)  # syntax trees and jobs stay: looking for what may go takes a quarter of reading them
ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "src"))

from learning_dynamics.errors import ProjectError
from learning_dynamics.files import check_writable, hold_folder, take_lease
from learning_dynamics.pipeline.study.cluster import check_no_orphaned_jobs
from learning_dynamics.pipeline.study.config import load
from learning_dynamics.pipeline.study.default_resources import REQUESTS
from learning_dynamics.pipeline.study.disk_space import check_disk_space
from learning_dynamics.pipeline.study.project import Project
from learning_dynamics.pipeline.study.scheduler import patch_scheduler_timers
from learning_dynamics.pipeline.study.stale_outputs import (
    STAMP,
    StaleOutputs,
    check_clock,
    expected_outputs,
    settle_times,
)
from learning_dynamics.pipeline.study.targets import requested_targets, check_targets

try:
    check_writable(Path.cwd()) if workflow.is_main_process else None
    CONFIGURATION = load([Path(file) for file in workflow.configfiles], workflow.config_settings.config, ROOT)
    project = Project(CONFIGURATION, check=workflow.is_main_process)
    study = project.study
    project.outputs if workflow.is_main_process else None  # reads all science: a mistake in it is one line, now
except ProjectError as error:
    sys.exit(f"error: {error}")


# jobs run the code beside this Snakefile, which is the code whose digests they carry, in this environment; the path is
# relative because a colon in a folder's name would part it in two, and braces are doubled because this is a template
SOURCES = os.path.relpath(ROOT / "src")
BINARIES = str(Path(sys.executable).parent)
shell.prefix(
    f'export PYTHONPATH={shlex.quote(SOURCES)}; PATH={shlex.quote(BINARIES)}:"$PATH"; '.replace("{", "{{").replace(
        "}", "}}"
    )
)


onstart:
    if workflow.is_main_process:
        patch_scheduler_timers(workflow)
        # in place of Snakemake's own lock, which outlives a killed Snakemake (`nolock` in profiles/default)
        try:
            hold_folder(Path(".snakemake/learning_dynamics.lock"))
            check_no_orphaned_jobs(Path.cwd())
            take_lease(Path(".snakemake/learning_dynamics.lease"))
            check_disk()
        except ProjectError as error:
            sys.exit(f"error: {error}")


include: "workflow/rules/common.smk"


# what is not of this configuration is no paper and no folder of its results
wildcard_constraints:
    results="|".join(map(re.escape, [RESULTS, *REPLICATES])),
    paper="|".join(study.papers),
    name=r"[a-z][A-Za-z0-9_.+-]*",


if workflow.is_main_process:
    for target, line in foreseen().items() if {"turning", "replicate"} & set(sys.argv) else ():
        if target in sys.argv:
            print(line, file=sys.stderr)
    EXPECTED = expected_outputs(project, RESULTS, FIGURES)
    for folder in REPLICATES:
        EXPECTED |= expected_outputs(project_of(folder), folder)
    try:
        check_clock(EXPECTED)
        check_targets(requested_targets(), EXPECTED, [RESULTS, FIGURES, *REPLICATES], study.papers)
        settle_times(project, EXPECTED, RESULTS, FIGURES)
        for folder in REPLICATES:
            settle_times(project_of(folder), EXPECTED, folder)
        OUTDATED = StaleOutputs(EXPECTED, workflow)
    except ProjectError as error:
        sys.exit(f"error: {error}")


rule all:
    """Every figure, the page, and the verdicts as expected."""
    input:
        [file for paper in study.papers for file in drawn_of(paper)],
        f"{FIGURES}/index.html",
        f"{RESULTS}/verdicts.txt",
        [table for paper in study.papers for table in TABLES.get(paper, [])],
    localrule: True


for paper in study.papers:

    rule:
        name:
            paper
        input:
            drawn_of(paper),
            f"{RESULTS}/{paper}/verdicts.txt",
            TABLES.get(paper, []),
        localrule: True

    # the metrics of every run of the paper, those of sweeps that no figure shows too
    rule:
        name:
            f"{paper}_metrics"
        input:
            every_run_of(paper),
        localrule: True


# the metrics of one sweep
for paper in study.papers:
    for name in study.sweeps(paper):

        rule:
            name:
                f"{paper}_{name}"
            input:
                metrics_of(RESULTS, paper, study.tables(paper, name)),
            localrule: True


include: "workflow/rules/data.smk"
include: "workflow/rules/run.smk"
include: "workflow/rules/metrics.smk"
include: "workflow/rules/bundle.smk"
include: "workflow/rules/figure.smk"
include: "workflow/rules/motion.smk"
include: "workflow/rules/interactive.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/replicate.smk"
include: "workflow/rules/regions.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/neural_collapse.smk"
