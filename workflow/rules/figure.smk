# A figure, from metrics alone: as a picture, as a film, and as a chart whose reader moves a parameter.


rule figure:
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


rule motion:
    input:
        metrics=metrics_for("motion"),
        stale=stale("motion"),
    output:
        "<figures>/{paper}/{name}.webp",
    log:
        "<results>/{paper}/logs/motion/{name}.log",
    benchmark:
        "<results>/{paper}/benchmarks/motion/{name}.tsv"
    resources:
        mem_mb=resource("motion", "mem_mb"),
        runtime=resource("motion", "runtime"),
    params:
        spec=spec("motion"),
        science=science("motion"),
        fingerprints=fingerprints("motion"),
        metrics=lambda wc: f"{plan.results}/{wc.paper}/metrics",
    shell:
        "python -m learning_dynamics motion {wildcards.paper} {wildcards.name} --metrics {params.metrics}"
        " --out {output} {params.fingerprints} --spec {params.spec:q} > {log} 2>&1"


rule interactive:
    input:
        metrics=metrics_for("interactive"),
        stale=stale("interactive"),
    output:
        "<figures>/{paper}/{name}.json",
    log:
        "<results>/{paper}/logs/interactive/{name}.log",
    benchmark:
        "<results>/{paper}/benchmarks/interactive/{name}.tsv"
    resources:
        mem_mb=resource("interactive", "mem_mb"),
        runtime=resource("interactive", "runtime"),
    params:
        spec=spec("interactive"),
        science=science("interactive"),
        fingerprints=fingerprints("interactive"),
        metrics=lambda wc: f"{plan.results}/{wc.paper}/metrics",
    shell:
        "python -m learning_dynamics interactive {wildcards.paper} {wildcards.name} --metrics {params.metrics}"
        " --out {output} {params.fingerprints} --spec {params.spec:q} > {log} 2>&1"
