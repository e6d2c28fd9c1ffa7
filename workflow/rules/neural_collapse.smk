def rates_metrics():
    if "neural_collapse" not in plan.config.papers:
        return []
    sweeps = [name for name in plan.config.sweeps("neural_collapse") if name.endswith("_rates")]
    return [
        file
        for sweep in sweeps
        for file in plan.metrics_files("neural_collapse", plan.config.tables("neural_collapse", sweep))
    ]


rule learning_rates:
    """For each sweep `..._rates` the learning rate with the best test error, as a configuration to lay over."""
    input:
        rates_metrics(),
    output:
        "<results>/neural_collapse/learning_rates.yaml",
    log:
        "<results>/neural_collapse/logs/learning_rates.log",
    localrule: True
    params:
        science=lambda wc: plan.science_list("data", "neural_collapse", function="selection.learning_rates"),
    shell:
        "python -m learning_dynamics text neural_collapse selection.learning_rates --metrics {input} --out {output}"
        " > {log} 2>&1"
