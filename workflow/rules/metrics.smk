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
    resources:
        # measuring a trained network needs the memory and time that training it did; it runs without a GPU
        mem_mb=resource("run", "mem_mb", 2000),
        runtime=resource("run", "runtime", 30),
    shell:
        "python -m learning_dynamics metrics {wildcards.paper} {wildcards.name}"
        " --run {input.run} --out {output} > {log} 2>&1"
