# data -> run -> metrics -> figure (-> motion, interactive) and claims -> page: a rule for each step, for every paper.
# What a job is to do comes from the configuration: the plan has it by paper and name.
from snakemake.utils import min_version

min_version("9.12")


include: "workflow/rules/common.smk"


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


for paper in plan.config.papers:

    rule:
        """Figures and verdicts of this paper."""
        name:
            paper
        input:
            plan.figure_files(paper),
            f"{plan.results}/{paper}/verdicts.txt",
        localrule: True

    rule:
        """Metrics of all runs of this paper."""
        name:
            f"{paper}_metrics"
        input:
            plan.metrics_files(paper, plan.tables(paper)),
        localrule: True

    for sweep in plan.config.sweeps(paper):

        rule:
            """Metrics of this sweep."""
            name:
                f"{paper}_{sweep}"
            input:
                plan.metrics_files(paper, plan.config.tables(paper, sweep)),
            localrule: True


include: "workflow/rules/runs.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/claims.smk"
include: "workflow/rules/robustness.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/neural_collapse.smk"
