rule claims:
    """The claims of a paper judged by its metrics, and again with thresholds and settings changed."""
    input:
        metrics=metrics_for("claims"),
        stale=stale("claims"),
    output:
        claims="<results>/{paper}/claims.parquet",
        checks="<results>/{paper}/checks.parquet",
        variations="<results>/{paper}/variations.parquet",
    log:
        "<results>/{paper}/logs/claims.log",
    priority: priority_of("claims")
    resources:
        mem_mb=request("claims", "mem_mb"),
        runtime=request("claims", "runtime"),
    params:
        fingerprint=fingerprint_of("claims"),
    shell:
        "python -m learning_dynamics claims {wildcards.paper} --plan {PLAN} --fingerprint {params.fingerprint}"
        " > {log} 2>&1"


rule verdicts_of_paper:
    """Fails if a verdict of the paper is not the one that the configuration expects."""
    input:
        claims="<results>/{paper}/claims.parquet",
        stale=stale("verdicts_of_paper"),
    output:
        "<results>/{paper}/verdicts.txt",
    log:
        "<results>/{paper}/logs/verdicts.log",
    localrule: True
    params:
        fingerprint=fingerprint_of("claims"),
    shell:
        "python -m learning_dynamics verdicts {input.claims} --out {output} > {log} 2>&1"
