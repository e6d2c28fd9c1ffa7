rule metrics:
    """Numbers from a run."""
    input:
        run=run_measured,
    output:
        "{results}/{paper}/metrics/{name}.parquet",
    log:
        "{results}/{paper}/logs/metrics/{name}.log",
    benchmark:
        "{results}/{paper}/benchmarks/metrics/{name}.tsv"
    wildcard_constraints:
        name=r"(?![^/]*\.bundle\d+\.parquet)[a-z][A-Za-z0-9_.+-]*",  # those, `bundle` makes
    threads: threads_of("metrics")
    resources:
        mem_mb=resource("metrics", "mem_mb"),
        runtime=resource("metrics", "runtime"),
        gpu=resource("metrics", "gpu"),
    params:
        spec=spec_of("metrics"),
        science=science_of("metrics"),
        made=made_of("metrics"),
    shell:
        "python -m learning_dynamics metrics {wildcards.paper} {wildcards.name}"
        " --run {input.run} --out {output} {params.made} --minutes {resources.runtime} --spec {params.spec:q} > {log} 2>&1"
