rule config:
    """The resolved configuration, beside the results that it gave."""
    output:
        "results/config.json",
    log:
        "results/logs/config.log",
    localrule: True
    params:
        config=compact(config),
    run:
        Path(output[0]).write_text(params.config)


rule page:
    """The page to read, and all papers' claims in one table."""
    input:
        config="results/config.json",
        claims=[f"results/{paper}/claims.parquet" for paper in project.papers],
        figures=[f"{figure}.png" for figures in FIGURES.values() for figure in figures],
        code=code("report"),
    output:
        page="figures/index.html",
        claims="results/claims.parquet",
    log:
        "results/logs/page.log",
    benchmark:
        "results/benchmarks/page.tsv"
    localrule: True
    conda:
        "../envs/learning-dynamics.yaml"
    resources:
        mem_mb=lambda wc, attempt: 1000 * attempt,
        runtime=10,
    shell:
        "python -m learning_dynamics report --config {input.config} --results results --figures figures"
        " --out {output.page} --claims {output.claims} > {log} 2>&1"


rule verdicts:
    """Fails, and says so, when a verdict is not the one that the configuration expects."""
    input:
        claims="results/claims.parquet",
        page="figures/index.html",
    output:
        "results/verdicts.txt",
    log:
        "results/logs/verdicts.log",
    benchmark:
        "results/benchmarks/verdicts.tsv"
    localrule: True
    conda:
        "../envs/learning-dynamics.yaml"
    resources:
        mem_mb=500,
        runtime=5,
    shell:
        "python -m learning_dynamics verdicts {input.claims} --out {output} > {log} 2>&1"
