rule figure:
    """A figure, from metrics alone."""
    input:
        metrics=metrics_for("figure"),
        stale=stale("figure"),
    output:
        pdf="<figures>/{paper}/{name}.pdf",
        png=report(
            "<figures>/{paper}/{name}.png",
            caption="../report/figure.rst",
            category="{paper}",
            labels={"figure": "{name}"},
        ),
        svg="<figures>/{paper}/{name}.svg",
    log:
        "<results>/{paper}/logs/figures/{name}.log",
    benchmark:
        "<results>/{paper}/benchmarks/figures/{name}.tsv"
    priority: priority("figure")
    resources:
        mem_mb=resource("figure", "mem_mb"),
        runtime=resource("figure", "runtime"),
    params:
        spec=spec("figure"),
        science=science("figure"),
        fingerprints=fingerprints("figure"),
        metrics=lambda wc: f"{plan.results}/{wc.paper}/metrics",
    shell:
        "python -m learning_dynamics figure {wildcards.paper} {wildcards.name} --metrics {params.metrics}"
        " --pdf {output.pdf} --png {output.png} --svg {output.svg}"
        " {params.fingerprints} --spec {params.spec:q} > {log} 2>&1"


# as a film, and as a chart whose reader moves a parameter
for stage, ending in (("motion", "webp"), ("interactive", "json")):

    rule:
        name:
            stage
        input:
            metrics=metrics_for(stage),
            stale=stale(stage),
        output:
            f"<figures>/{{paper}}/{{name}}.{ending}",
        log:
            f"<results>/{{paper}}/logs/{stage}/{{name}}.log",
        benchmark:
            f"<results>/{{paper}}/benchmarks/{stage}/{{name}}.tsv"
        priority: priority(stage)
        resources:
            mem_mb=resource(stage, "mem_mb"),
            runtime=resource(stage, "runtime"),
        params:
            spec=spec(stage),
            science=science(stage),
            fingerprints=fingerprints(stage),
            metrics=lambda wc: f"{plan.results}/{wc.paper}/metrics",
            stage=stage,  # the command is put together when the job runs, after the loop
        shell:
            "python -m learning_dynamics {params.stage} {wildcards.paper} {wildcards.name} --metrics {params.metrics}"
            " --out {output} {params.fingerprints} --spec {params.spec:q} > {log} 2>&1"
