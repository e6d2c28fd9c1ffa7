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
