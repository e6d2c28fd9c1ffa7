rule metrics:
    """Numbers from a run."""
    input:
        run="results/{paper}/runs/{name}.npz",
        code=code("metrics"),
    output:
        "results/{paper}/metrics/{name}.parquet",
    log:
        "results/{paper}/logs/metrics/{name}.log",
    benchmark:
        "results/{paper}/benchmarks/metrics/{name}.tsv"
    conda:
        "../envs/learning-dynamics.yaml"
    threads: lambda wc: project.run(wc.paper, wc.name)["measuring"].get("threads", 1)
    resources:
        mem_mb=resource("run", "measuring", "mem_mb", 2000),
        runtime=resource("run", "measuring", "runtime", 30),
        gpu=resource("run", "measuring", "gpu", 0),
    shell:
        "python -m learning_dynamics metrics {wildcards.paper} {wildcards.name}"
        " --run {input.run} --out {output} > {log} 2>&1"
