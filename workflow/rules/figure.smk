rule figure:
    """A figure, from metrics alone."""
    input:
        metrics=lambda wc: metrics_of(RESULTS, wc.paper, project.tables_for("figure", wc.paper, wc.name)),
        stamp=stamp_of("figure"),
    output:
        pdf=f"{FIGURES}/{{paper}}/{{name}}.pdf",
        png=report(
            f"{FIGURES}/{{paper}}/{{name}}.png",
            caption="../report/figure.rst",
            category="{paper}",
            labels={"figure": "{name}"},
        ),
        svg=f"{FIGURES}/{{paper}}/{{name}}.svg",
    log:
        f"{RESULTS}/{{paper}}/logs/figures/{{name}}.log",
    benchmark:
        f"{RESULTS}/{{paper}}/benchmarks/figures/{{name}}.tsv"
    resources:
        mem_mb=resource("figure", "mem_mb"),
        runtime=resource("figure", "runtime"),
    params:
        spec=spec_of("figure"),
        science=science_of("figure"),
        made=made_of("figure"),
        metrics=lambda wc: f"{RESULTS}/{wc.paper}/metrics",
    shell:
        "python -m learning_dynamics figure {wildcards.paper} {wildcards.name}"
        " --metrics {params.metrics} --pdf {output.pdf} --png {output.png} --svg {output.svg}"
        " {params.made} --spec {params.spec:q} > {log} 2>&1"
