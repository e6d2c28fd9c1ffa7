# The same papers under other seeds: `snakemake replicate --config replications=5`; on wild draws: `wild=20`.
rule replicate:
    """The verdict of every claim under every seed: a table, a figure, and which claims hang on the seed."""
    input:
        []
        if CONFIGURATION.wild and not REPLICATES
        else [f"{RESULTS}/replication.parquet", f"{FIGURES}/replication.pdf"],
        [f"{RESULTS}/wild.parquet", f"{RESULTS}/wild.md", f"{FIGURES}/wild.pdf"] if CONFIGURATION.wild else [],
    localrule: True


rule replication:
    """The verdicts found under each seed, beside those of the configuration's own."""
    input:
        own=[f"{RESULTS}/{paper}/claims.parquet" for paper in CONFIGURATION.replicated],
        others=[f"{folder}/{paper}/claims.parquet" for folder in REPLICATES for paper in CONFIGURATION.replicated],
    output:
        table=f"{RESULTS}/replication.parquet",
        markdown=f"{RESULTS}/replication.md",
        pdf=f"{FIGURES}/replication.pdf",
        png=f"{FIGURES}/replication.png",
    log:
        f"{RESULTS}/logs/replication.log",
    benchmark:
        f"{RESULTS}/benchmarks/replication.tsv"
    localrule: True
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        folders=compact({study.seed: RESULTS} | {seed: folder for folder, seed in REPLICATES.items()}),
        papers=" ".join(CONFIGURATION.replicated),
        config=compact(GIVEN),
    shell:
        "python -m learning_dynamics replication --folders {params.folders:q} --papers {params.papers}"
        " --config {params.config:q}"
        " --out {output.table} --markdown {output.markdown} --pdf {output.pdf} --png {output.png} > {log} 2>&1"
