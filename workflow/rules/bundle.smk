rule bundle:
    """Many short runs of a sweep and their metrics, in one process: one table of all of them."""
    input:
        data=lambda wc: [
            f"{wc.results}/{wc.paper}/data/{data}.npz"
            for data in project_of(wc.results).bundle_data(wc.paper, wc.name)
        ],
        stamp=stamp_of("bundle"),
    output:
        "{results}/{paper}/metrics/{name}.parquet",
    log:
        "{results}/{paper}/logs/bundles/{name}.log",
    benchmark:
        "{results}/{paper}/benchmarks/bundles/{name}.tsv"
    wildcard_constraints:
        name=r"[a-z][A-Za-z0-9_.+-]*\.bundle\d+",
    threads: threads_of("bundle")
    resources:
        mem_mb=resource("bundle", "mem_mb"),
        runtime=resource("bundle", "runtime"),
        gpu=resource("bundle", "gpu"),
    params:
        spec=spec_of("bundle"),
        science=science_of("bundle"),
        made=made_of("bundle"),
        data=lambda wc, input: f"--data {input.data}" if input.data else "",
    shell:
        "python -m learning_dynamics bundle {wildcards.paper} {wildcards.name} {params.data}"
        " --out {output} {params.made} --minutes {resources.runtime} --spec {params.spec:q} > {log} 2>&1"
