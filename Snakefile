# One generic rule for each stage; what a job is to do comes from the configuration, looked up by paper and name.
from snakemake.utils import min_version

min_version("9.12")


include: "workflow/rules/common.smk"


pathvars:
    results=plan.results,
    figures=plan.figures,


wildcard_constraints:
    paper="|".join(plan.config.papers),
    name=NAME,


rule all:
    """Every figure, the page, and the verdicts as expected."""
    input:
        [plan.figure_files(paper) for paper in plan.config.papers],
        "<figures>/index.html",
        "<results>/verdicts.txt",
    localrule: True


targets = plan.targets()  # a paper; the metrics of all its runs; the metrics of one sweep
for target, files in targets.items():

    rule:
        name:
            target
        input:
            files,
        localrule: True


include: "workflow/rules/computed.smk"
include: "workflow/rules/drawn.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/robustness.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/neural_collapse.smk"
