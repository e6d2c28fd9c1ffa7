rule learning_rates:
    """For each sweep `..._rates` the learning rate with the best test error, as a configuration to lay over."""
    input:
        lambda wc: [
            file
            for target, files in plan.targets().items()
            if target.startswith("neural_collapse_") and target.endswith("_rates")
            for file in files
        ],
    output:
        "<results>/neural_collapse/learning_rates.yaml",
    log:
        "<results>/neural_collapse/logs/learning_rates.log",
    localrule: True
    params:
        function="selection.learning_rates",
        tables=lambda wc, input: list(input),
        science=lambda wc: plan.science_list("data", "neural_collapse", function="selection.learning_rates"),
    shell:
        "python -m learning_dynamics text neural_collapse {params.function} --metrics {input} --out {output}"
        " > {log} 2>&1"
