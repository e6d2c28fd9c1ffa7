rule data:
    """Make or read a data set."""
    input:
        code=code("data"),
    output:
        "results/{paper}/data/{name}.npz",
    log:
        "results/{paper}/logs/data/{name}.log",
    benchmark:
        "results/{paper}/benchmarks/data/{name}.tsv"
    conda:
        "../envs/learning-dynamics.yaml"
    resources:
        mem_mb=resource("data", "resources", "mem_mb", 1000),
        runtime=resource("data", "resources", "runtime", 30),
    params:
        spec=lambda wc: without_resources(project.data(wc.paper, wc.name)),
    shell:
        "python -m learning_dynamics data {wildcards.paper} {wildcards.name}"
        " --out {output} --spec {params.spec:q} > {log} 2>&1"
