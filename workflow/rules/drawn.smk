# From metrics alone: a figure, one that moves, and one whose reader moves a parameter.
DRAWN = {
    "figure": {
        "drawn": "<figures>/{paper}/{name}.pdf",
        "png": report("<figures>/{paper}/{name}.png", category="{paper}", labels={"figure": "{name}"}),
        "svg": "<figures>/{paper}/{name}.svg",
    },
    "motion": {"drawn": "<figures>/{paper}/{name}.webp"},
    "interactive": {"drawn": "<figures>/{paper}/{name}.json"},
}
for stage, files in DRAWN.items():

    rule:
        name:
            stage
        input:
            metrics=metrics_for(stage),
            stale=stale(stage),
        output:
            **files,
        log:
            f"<results>/{{paper}}/logs/{stage}/{{name}}.log",
        benchmark:
            f"<results>/{{paper}}/benchmarks/{stage}/{{name}}.tsv"
        priority: priority(stage)
        resources:
            **requests(stage),
        params:
            **job(stage),
            metrics=lambda wc: f"{plan.results}/{wc.paper}/metrics",
        shell:
            "python -m learning_dynamics {params.stage} {wildcards.paper} {wildcards.name} --metrics {params.metrics}"
            " --out {output.drawn} {params.fingerprints} --spec {params.spec:q} > {log} 2>&1"
