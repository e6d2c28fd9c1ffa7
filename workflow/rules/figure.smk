rule figure:
    """A figure, from metrics alone."""
    input:
        metrics=metrics_of(lambda wc: project.figure_runs(wc.paper, wc.name)),
        code=code("figure"),
    output:
        pdf="figures/{paper}/{name}.pdf",
        png=report(
            "figures/{paper}/{name}.png",
            caption="../report/figure.rst",
            category="{paper}",
            labels={"figure": "{name}"},
        ),
    log:
        "results/{paper}/logs/figures/{name}.log",
    benchmark:
        "results/{paper}/benchmarks/figures/{name}.tsv"
    conda:
        "../envs/learning-dynamics.yaml"
    resources:
        mem_mb=lambda wc, attempt: 1000 * attempt,
        runtime=lambda wc, attempt: 10 * attempt,
    params:
        spec=lambda wc: compact(project.figure(wc.paper, wc.name)),
        caption=lambda wc: project.caption(wc.paper, wc.name),
    shell:
        "python -m learning_dynamics figure {wildcards.paper} {wildcards.name}"
        " --metrics results/{wildcards.paper}/metrics --pdf {output.pdf} --png {output.png}"
        " --spec {params.spec:q} > {log} 2>&1"
