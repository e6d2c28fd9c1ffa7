# One generic rule for each stage; what each job is to do comes from config.yaml, looked up by paper and name.
import functools
import json
import os
import sys
from pathlib import Path

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "src"))

from learning_dynamics.pipeline.cluster import check_nothing_left_behind, outlast_the_controller
from learning_dynamics.pipeline.config import Project, sweep_members
from learning_dynamics.errors import ProjectError
from learning_dynamics.files import hold_folder
from learning_dynamics.pipeline.sources import source_files, stage_modules


configfile: "config.yaml"


try:
    project = Project(
        config,
        schema=ROOT / "workflow/schemas/config.schema.yaml",
        file=" + ".join(os.path.relpath(file) for file in reversed(workflow.configfiles)),
    )
except ProjectError as error:
    sys.exit(f"error: {error}")


if workflow.is_main_process:
    outlast_the_controller()


# jobs run the code beside this Snakefile, which is the code that their inputs list, in this environment
shell.prefix(
    f'export PYTHONPATH="{ROOT / "src"}"; '
    + ("" if workflow.deployment_settings.deployment_method else f'PATH="{Path(sys.executable).parent}:$PATH"; ')
)


onstart:
    # in place of Snakemake's own lock, which outlives a killed Snakemake (`nolock` in profiles/default)
    if workflow.is_main_process:
        try:
            hold_folder(Path(".snakemake/learning_dynamics.lock"))
            check_nothing_left_behind(Path.cwd())
        except ProjectError as error:
            sys.exit(f"error: {error}")


wildcard_constraints:
    paper="[a-z][a-z0-9_]*",
    name=r"[a-z][A-Za-z0-9_.+-]*",


# what a paper makes besides figures and claims
TABLES = {"neural_collapse": ["results/neural_collapse/table1.parquet", "results/neural_collapse/table1.md"]}
FIGURES = {paper: [f"figures/{paper}/{name}" for name in project.figures(paper)] for paper in project.papers}


include: "workflow/rules/common.smk"


rule all:
    """Every figure, the page, and the verdicts as expected."""
    input:
        [f"{figure}.{kind}" for figures in FIGURES.values() for figure in figures for kind in ("pdf", "png")],
        "figures/index.html",
        "results/verdicts.txt",
        [table for paper in project.papers for table in TABLES.get(paper, [])],
    localrule: True


for paper in project.papers:

    rule:
        name:
            paper
        input:
            [f"{figure}.{kind}" for figure in FIGURES[paper] for kind in ("pdf", "png")],
            f"results/{paper}/claims.parquet",
            TABLES.get(paper, []),
        localrule: True

    # the metrics of every run of the paper, those of sweeps that no figure shows too
    rule:
        name:
            f"{paper}_metrics"
        input:
            every_run_of(paper),
        localrule: True


include: "workflow/rules/data.smk"
include: "workflow/rules/run.smk"
include: "workflow/rules/metrics.smk"
include: "workflow/rules/figure.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/neural_collapse.smk"
