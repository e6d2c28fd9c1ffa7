rule interactive:
    """A figure whose reader moves a parameter, from metrics alone: a chart that the page draws."""
    input:
        metrics=lambda wc: metrics_of(RESULTS, wc.paper, project.tables_for("interactive", wc.paper, wc.name)),
        stamp=stamp_of("interactive"),
    output:
        f"{FIGURES}/{{paper}}/{{name}}.json",
    log:
        f"{RESULTS}/{{paper}}/logs/interactive/{{name}}.log",
    benchmark:
        f"{RESULTS}/{{paper}}/benchmarks/interactive/{{name}}.tsv"
    resources:
        mem_mb=resource("interactive", "mem_mb"),
        runtime=resource("interactive", "runtime"),
    params:
        spec=spec_of("interactive"),
        science=science_of("interactive"),
        made=made_of("interactive"),
        metrics=lambda wc: f"{RESULTS}/{wc.paper}/metrics",
    shell:
        "python -m learning_dynamics interactive {wildcards.paper} {wildcards.name}"
        " --metrics {params.metrics} --out {output} {params.made} --spec {params.spec:q} > {log} 2>&1"
