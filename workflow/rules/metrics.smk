rule metrics:
    """Numbers from a run."""
    input:
        run=lookup(lambda paper, name: f"<results>/{paper}/{plan.run_file(paper, name)}"),
        data=lookup(lambda paper, name: plan.data_files(paper, plan.measured_data(paper, name))),
        stale=stale("metrics"),
    output:
        "<results>/{paper}/metrics/{name}.parquet",
    log:
        "<results>/{paper}/logs/metrics/{name}.log",
    benchmark:
        "<results>/{paper}/benchmarks/metrics/{name}.tsv"
    priority: priority("metrics")
    threads: threads("metrics")
    resources:
        **requests("metrics"),
    params:
        **job("metrics"),
        data=data_option,
    shell:
        "python -m learning_dynamics metrics {wildcards.paper} {wildcards.name} --run {input.run} {params.data}"
        " --out {output} {params.fingerprints} --minutes {resources.runtime} --spec {params.spec:q} > {log} 2>&1"
