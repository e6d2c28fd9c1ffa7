# Claims judged again with one thing changed: `snakemake robustness --config seeds=3 draws=20`.
from learning_dynamics.pipeline.plan.robustness import changes

papers = plan.config.papers
AGAIN = [f"{plan.results}/{paper}/again/{name}.parquet" for paper in papers for name in changes(plan.config, paper)]
# how many seeds and draws there are, and of which papers, is not what a job depends on
NUMBERS = ("seeds", "seeds_of", "draws", "papers", "sharing")
CHANGED = configuration_option({key: value for key, value in command_line.items() if key not in NUMBERS})


rule again:
    """Judge claims under a seed, on a draw, or over a range of a setting; an interrupted job goes on where it was."""
    input:
        stale=stale("again"),
    output:
        "<results>/{paper}/again/{name}.parquet",
    log:
        "<results>/{paper}/logs/again/{name}.log",
    benchmark:
        "<results>/{paper}/benchmarks/again/{name}.tsv"
    resources:
        **requests("again"),
    params:
        config=CHANGED,
        fingerprint=lookup(plan.change_fingerprint),
    shell:
        "python -m learning_dynamics again {wildcards.paper} {wildcards.name} --config {params.config:q}"
        " --out {output} --fingerprint {params.fingerprint} --minutes {resources.runtime} > {log} 2>&1"


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
        config=CHANGED,
        again=AGAIN,
    shell:
        "python -m learning_dynamics robustness --config {params.config:q} > {log} 2>&1"
