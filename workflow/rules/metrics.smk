rule metrics:
    """Numbers from a run."""
    input:
        unpack(run_measured),
        stamp=stamp_of("metrics"),
    output:
        "{results}/{paper}/metrics/{name}.parquet",
    log:
        "{results}/{paper}/logs/metrics/{name}.log",
    benchmark:
        "{results}/{paper}/benchmarks/metrics/{name}.tsv"
    wildcard_constraints:
        name=r"(?![^/]*\.bundle\d+\.parquet)[a-z][A-Za-z0-9_.+-]*",  # those, `bundle` makes
    priority: 1  # what is measured need not lie there any longer
    threads: threads_of("metrics")
    resources:
        mem_mb=resource("metrics", "mem_mb"),
        runtime=resource("metrics", "runtime"),
        gpu=resource("metrics", "gpu"),
        gpu_mb=resource("metrics", "gpu_mb"),
    params:
        spec=spec_of("metrics"),
        science=science_of("metrics"),
        made=lambda wc: made_of("metrics")(wc) + measured_data(wc),
    shell:
        "python -m learning_dynamics metrics {wildcards.paper} {wildcards.name}"
        " --run {input.run} --out {output} {params.made} --minutes {resources.runtime} --spec {params.spec:q} > {log} 2>&1"
