# What the generic stages do not cover: the learning rates that a sweep chooses, Table 1 as a table, throughput.


rule learning_rates:
    """For each swept run the learning rate with the best test error at the end, as a configuration to lay over."""
    input:
        metrics=lambda wc: [
            f"{RESULTS}/neural_collapse/metrics/{name}.parquet"
            for members in rate_sweeps().values()
            for name in members
        ],
    output:
        f"{RESULTS}/neural_collapse/learning_rates.yaml",
    log:
        f"{RESULTS}/neural_collapse/logs/learning_rates.log",
    benchmark:
        f"{RESULTS}/neural_collapse/benchmarks/learning_rates.tsv"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        science=reached_by("neural_collapse", "selection"),
        sweeps=compact(rate_sweeps()),
        metrics=f"{RESULTS}/neural_collapse/metrics",
    shell:
        "python -m learning_dynamics.papers.neural_collapse.selection --metrics {params.metrics}"
        " --sweeps {params.sweeps:q} --out {output} > {log} 2>&1"


rule accuracies:
    """Table 1 as parquet and Markdown, the paper's numbers beside ours."""
    input:
        metrics=lambda wc: [
            f"{RESULTS}/neural_collapse/metrics/{name}.parquet"
            for name in project.tables_for("figure", "neural_collapse", "table1")
        ],
    output:
        parquet=f"{RESULTS}/neural_collapse/table1.parquet",
        markdown=f"{RESULTS}/neural_collapse/table1.md",
    log:
        f"{RESULTS}/neural_collapse/logs/table1.log",
    benchmark:
        f"{RESULTS}/neural_collapse/benchmarks/table1.tsv"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        science=reached_by("neural_collapse", "accuracies"),
    shell:
        "python -m learning_dynamics.papers.neural_collapse.accuracies {input.metrics}"
        " --parquet {output.parquet} --markdown {output.markdown} > {log} 2>&1"


rule throughput:
    """How fast the configured networks train on this machine: images per second and share of its peak."""
    output:
        parquet=f"{RESULTS}/neural_collapse/throughput.parquet",
        markdown=f"{RESULTS}/neural_collapse/throughput.md",
    log:
        f"{RESULTS}/neural_collapse/logs/throughput.log",
    benchmark:
        f"{RESULTS}/neural_collapse/benchmarks/throughput.tsv"
    threads: 16  # all cores that there are: nothing else may run beside it
    resources:
        mem_mb=16000,
        runtime=60,
        gpu=1,
    params:
        runs=lambda wc: compact(networks()),
    shell:
        "python -m learning_dynamics.papers.neural_collapse.throughput --runs {params.runs:q}"
        " --parquet {output.parquet} --markdown {output.markdown} > {log} 2>&1"
