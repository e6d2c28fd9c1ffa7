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
        mem_mb=lambda wc, attempt: 2000 * attempt,
        runtime=lambda wc, attempt: 30 * attempt,
    shell:
        "python -m learning_dynamics metrics {wildcards.paper} {wildcards.name}"
        " --run {input.run} --out {output} > {log} 2>&1"
