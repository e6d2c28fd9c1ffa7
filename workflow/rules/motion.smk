rule motion:
    """A figure that moves, from the same metrics, where its topic's motion.py has a function of its kind's name."""
    input:
        metrics=lambda wc: metrics_of(RESULTS, wc.paper, project.tables_for("motion", wc.paper, wc.name)),
        stamp=stamp_of("motion"),
    output:
        f"{FIGURES}/{{paper}}/{{name}}.webp",
    log:
        f"{RESULTS}/{{paper}}/logs/motion/{{name}}.log",
    benchmark:
        f"{RESULTS}/{{paper}}/benchmarks/motion/{{name}}.tsv"
    resources:
        mem_mb=resource("motion", "mem_mb"),
        runtime=resource("motion", "runtime"),
    params:
        spec=spec_of("motion"),
        science=science_of("motion"),
        made=made_of("motion"),
        metrics=lambda wc: f"{RESULTS}/{wc.paper}/metrics",
    shell:
        "python -m learning_dynamics motion {wildcards.paper} {wildcards.name}"
        " --metrics {params.metrics} --out {output} {params.made} --spec {params.spec:q} > {log} 2>&1"
