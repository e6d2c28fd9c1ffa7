rule claims:
    """A paper's claims held against its metrics, and again with chosen settings varied."""
    input:
        metrics=metrics_of(lambda wc: project.claims_runs(wc.paper)),
        code=code("claims"),
    output:
        claims="results/{paper}/claims.parquet",
        sensitivity="results/{paper}/sensitivity.parquet",
    log:
        "results/{paper}/logs/claims.log",
    benchmark:
        "results/{paper}/benchmarks/claims.tsv"
    conda:
        "../envs/learning-dynamics.yaml"
    resources:
        mem_mb=lambda wc, attempt: 2000 * attempt,
        runtime=lambda wc, attempt: 10 * attempt,
    params:
        spec=lambda wc: compact(project.claims(wc.paper)),
    shell:
        "python -m learning_dynamics claims {wildcards.paper} --metrics results/{wildcards.paper}/metrics"
        " --out {output.claims} --sensitivity {output.sensitivity} --spec {params.spec:q} > {log} 2>&1"
