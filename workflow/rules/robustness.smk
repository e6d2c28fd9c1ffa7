# Claims judged again with one thing changed: `snakemake robustness --config seeds=3 draws=20`.
from learning_dynamics.pipeline.plan.variations import names_of_changes

papers = plan.config.papers
VARIATIONS = [
    f"{plan.results}/{paper}/variations/{name}.parquet"
    for paper in papers
    for name in names_of_changes(plan.config, paper)
]


rule variation:
    """Judge claims under a seed, on a draw, or over a range of a setting; an interrupted job goes on where it was."""
    input:
        stale=stale("variation"),
    output:
        "<results>/{paper}/variations/{name}.parquet",
    log:
        "<results>/{paper}/logs/variations/{name}.log",
    resources:
        mem_mb=request("variation", "mem_mb"),
        runtime=request("variation", "runtime"),
    params:
        fingerprint=of_job(plan.change_fingerprint),
    shell:
        "python -m learning_dynamics variation {wildcards.paper} {wildcards.name} --plan {PLAN}"
        " --fingerprint {params.fingerprint} --minutes {resources.runtime} > {log} 2>&1"


rule robustness:
    """All that was judged again: a table, the same as CSV, a page."""
    input:
        VARIATIONS,
        claims=expand("<results>/{paper}/{table}.parquet", paper=papers, table=["claims", "variations"]),
    output:
        table="<results>/variations.parquet",
        csv="<results>/robustness.csv",
        markdown="<results>/robustness.md",
    log:
        "<results>/logs/robustness.log",
    localrule: True
    params:
        overlays=overlays,
        variations=VARIATIONS,
    shell:
        "python -m learning_dynamics robustness --plan {PLAN} > {log} 2>&1"
