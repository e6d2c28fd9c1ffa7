# From metrics alone to what is drawn.
rule figure:
    """A figure: PDF, PNG and SVG."""
    input:
        metrics=metrics_for("figure"),
        stale=stale("figure"),
    output:
        "<figures>/{paper}/{name}.pdf",
        report("<figures>/{paper}/{name}.png", category="{paper}", labels={"figure": "{name}"}),
        "<figures>/{paper}/{name}.svg",
    log:
        "<results>/{paper}/logs/figure/{name}.log",
    priority: priority_of("figure")
    resources:
        mem_mb=request("figure", "mem_mb"),
        runtime=request("figure", "runtime"),
    params:
        fingerprint=fingerprint_of("figure"),
    shell:
        "python -m learning_dynamics figure {wildcards.paper} {wildcards.name} --plan {PLAN}"
        " --fingerprint {params.fingerprint} > {log} 2>&1"


rule motion:
    """The film of a figure that moves."""
    input:
        metrics=metrics_for("motion"),
        stale=stale("motion"),
    output:
        "<figures>/{paper}/{name}.webp",
    log:
        "<results>/{paper}/logs/motion/{name}.log",
    priority: priority_of("motion")
    resources:
        mem_mb=request("motion", "mem_mb"),
        runtime=request("motion", "runtime"),
    params:
        fingerprint=fingerprint_of("motion"),
    shell:
        "python -m learning_dynamics motion {wildcards.paper} {wildcards.name} --plan {PLAN}"
        " --fingerprint {params.fingerprint} > {log} 2>&1"


rule interactive:
    """A figure with a slider, as Vega-Lite for the page."""
    input:
        metrics=metrics_for("interactive"),
        stale=stale("interactive"),
    output:
        "<figures>/{paper}/{name}.json",
    log:
        "<results>/{paper}/logs/interactive/{name}.log",
    priority: priority_of("interactive")
    resources:
        mem_mb=request("interactive", "mem_mb"),
        runtime=request("interactive", "runtime"),
    params:
        fingerprint=fingerprint_of("interactive"),
    shell:
        "python -m learning_dynamics interactive {wildcards.paper} {wildcards.name} --plan {PLAN}"
        " --fingerprint {params.fingerprint} > {log} 2>&1"
