rule claims:
    """A paper's claims held against its metrics, with our own choices varied, and again with chosen settings varied."""
    input:
        metrics=lambda wc: metrics_of(wc.results, wc.paper, project_of(wc.results).tables_for("claims", wc.paper)),
        stamp=stamp_of("claims"),
    output:
        claims="{results}/{paper}/claims.parquet",
        parts="{results}/{paper}/parts.parquet",
        variants="{results}/{paper}/variants.parquet",
        sensitivity="{results}/{paper}/sensitivity.parquet",
    log:
        "{results}/{paper}/logs/claims.log",
    benchmark:
        "{results}/{paper}/benchmarks/claims.tsv"
    resources:
        mem_mb=resource("claims", "mem_mb"),
        runtime=resource("claims", "runtime"),
    params:
        spec=lambda wc: compact(project_of(wc.results).claims(wc.paper)),
        science=science_of("claims"),
        made=made_of("claims"),
    shell:
        "python -m learning_dynamics claims {wildcards.paper} --metrics {wildcards.results}/{wildcards.paper}/metrics"
        " --out {wildcards.results}/{wildcards.paper} {params.made} --spec {params.spec:q} > {log} 2>&1"
