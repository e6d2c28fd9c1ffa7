# Claims judged again with one thing changed: `snakemake robustness --config seeds=3 draws=20`.
from learning_dynamics.pipeline.plan.robustness import changes

papers = plan.config.papers
AGAIN = [f"{plan.results}/{paper}/again/{name}.parquet" for paper in papers for name in changes(plan.config, paper)]


rule again:
    """Judge claims under a seed, on a draw, or over a range of a setting; an interrupted job goes on where it was."""
    input:
        stale=stale("again"),
    output:
        "<results>/{paper}/again/{name}.parquet",
    log:
        "<results>/{paper}/logs/again/{name}.log",
    resources:
        mem_mb=request("again", "mem_mb"),
        runtime=request("again", "runtime"),
    params:
        fingerprint=of_job(plan.change_fingerprint),
    shell:
        "python -m learning_dynamics again {wildcards.paper} {wildcards.name} --plan {PLAN}"
        " --fingerprint {params.fingerprint} --minutes {resources.runtime} > {log} 2>&1"


rule robustness:
    """All that was judged again: a table, the same as CSV, a page."""
    input:
        AGAIN,
        claims=expand("<results>/{paper}/{table}.parquet", paper=papers, table=["claims", "again"]),
    output:
        table="<results>/again.parquet",
        csv="<results>/robustness.csv",
        markdown="<results>/robustness.md",
    log:
        "<results>/logs/robustness.log",
    localrule: True
    params:
        overlays=overlays,
        again=AGAIN,
    shell:
        "python -m learning_dynamics robustness --plan {PLAN} > {log} 2>&1"
