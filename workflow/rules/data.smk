rule data:
    """Make or read a data set."""
    input:
        stale=stale("data"),
    output:
        "<results>/{paper}/data/{name}.npz",
    log:
        "<results>/{paper}/logs/data/{name}.log",
    benchmark:
        "<results>/{paper}/benchmarks/data/{name}.tsv"
    resources:
        **requests("data"),
    params:
        **job("data"),
    shell:
        "python -m learning_dynamics data {wildcards.paper} {wildcards.name} --out {output}"
        " {params.fingerprints} --minutes {resources.runtime} --spec {params.spec:q} > {log} 2>&1"
