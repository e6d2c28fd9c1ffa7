# Where verdicts hold: on wild draws (`snakemake replicate --config wild=20`), and over ranges (`snakemake turning`).
rule wild:
    """Judge a paper's theorems and formulas on one wild draw, in one process."""
    input:
        stamp=stamp_of("wild"),
    output:
        "{results}/{paper}/wild/draw{draw}.parquet",
    log:
        "{results}/{paper}/logs/wild/draw{draw}.log",
    benchmark:
        "{results}/{paper}/benchmarks/wild/draw{draw}.tsv"
    wildcard_constraints:
        draw="[0-9]+",
    resources:
        mem_mb=resource("wild", "mem_mb"),
        runtime=resource("wild", "runtime"),
    params:
        config=compact(GIVEN),
        made=lambda wc: region_fingerprint(project, wc.paper, wild_layer(study, wc.paper, int(wc.draw))),
    shell:
        "python -m learning_dynamics wild {wildcards.paper} --draw {wildcards.draw} --config {params.config:q}"
        " --out {output} --made {params.made} --minutes {resources.runtime} > {log} 2>&1"


rule turning_check:
    """Vary one setting until verdicts turn, in one process; it takes up where it was interrupted."""
    input:
        stamp=stamp_of("turning_check"),
    output:
        "{results}/{paper}/turning/{name}.parquet",
    log:
        "{results}/{paper}/logs/turning/{name}.log",
    benchmark:
        "{results}/{paper}/benchmarks/turning/{name}.tsv"
    resources:
        mem_mb=resource("turning", "mem_mb"),
        runtime=resource("turning", "runtime"),
    params:
        config=compact(GIVEN),
        made=lambda wc: region_fingerprint(project, wc.paper, wc.name),
    shell:
        "python -m learning_dynamics turning {wildcards.paper} {wildcards.name} --config {params.config:q}"
        " --out {output} --made {params.made} --minutes {resources.runtime} > {log} 2>&1"


rule wild_draws:
    """The verdicts on all wild draws: a table, a page, a matrix."""
    input:
        DRAWS,
    output:
        table=f"{RESULTS}/wild.parquet",
        csv=f"{RESULTS}/wild.csv",
        markdown=f"{RESULTS}/wild.md",
        pdf=f"{FIGURES}/wild.pdf",
        png=f"{FIGURES}/wild.png",
    log:
        f"{RESULTS}/logs/wild.log",
    benchmark:
        f"{RESULTS}/benchmarks/wild.tsv"
    localrule: True
    resources:
        mem_mb=1000,
        runtime=10,
    shell:
        "python -m learning_dynamics regions wild {input} --out {output.table} --csv {output.csv}"
        " --markdown {output.markdown} --pdf {output.pdf} --png {output.png} > {log} 2>&1"


rule turning_points:
    """Where every verdict turns: a table, a page, a picture."""
    input:
        list(TURNING.values()),
    output:
        table=f"{RESULTS}/turning.parquet",
        csv=f"{RESULTS}/turning.csv",
        markdown=f"{RESULTS}/turning.md",
        pdf=f"{FIGURES}/turning.pdf",
        png=f"{FIGURES}/turning.png",
    log:
        f"{RESULTS}/logs/turning.log",
    benchmark:
        f"{RESULTS}/benchmarks/turning.tsv"
    localrule: True
    resources:
        mem_mb=1000,
        runtime=10,
    shell:
        "python -m learning_dynamics regions turning {input} --out {output.table} --csv {output.csv}"
        " --markdown {output.markdown} --pdf {output.pdf} --png {output.png} > {log} 2>&1"


rule turning:
    """Every setting of a `turning:` block varied until verdicts turn."""
    input:
        f"{RESULTS}/turning.parquet",
        f"{RESULTS}/turning.md",
        f"{FIGURES}/turning.pdf",
    localrule: True
